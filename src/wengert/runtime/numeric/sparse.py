"""Products and systems with sparse matrices, which are three vectors: entries, rows and columns.

Entries that stand at one place are added.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def _matrix(entries: Any, rows: Any, cols: Any, shape: tuple[int, int]) -> Any:
    from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

    return sparse.csc_array((np.asarray(entries), (rows, cols)), shape=shape)


def sparse_product(entries: Any, x: Any, *, rows: Any, cols: Any, size: int) -> Any:
    """`A @ x`: A has `size` rows, x is of shape (n,) or (n, k)."""
    return _matrix(entries, rows, cols, (size, len(x))) @ np.asarray(x)


def sparse_outer(y: Any, x: Any, *, rows: Any, cols: Any) -> Any:
    """The entries of y xᴴ at `rows` and `cols`: the cotangent of the entries in `A @ x`."""
    products = np.asarray(y)[rows] * np.conj(x)[cols]
    return products if products.ndim == 1 else products.sum(axis=1)


def sparse_solve(entries: Any, b: Any, *, rows: Any, cols: Any) -> Any:
    """The solution of `A @ x = b`, by SciPy's `spsolve`; b is of shape (n,) or (n, k)."""
    from scipy.sparse import linalg  # pyright: ignore[reportMissingTypeStubs]

    b = np.asarray(b)
    matrix = _matrix(entries, rows, cols, (len(b), len(b)))
    found: Any = linalg.spsolve(matrix, b)
    return found.reshape(b.shape)
