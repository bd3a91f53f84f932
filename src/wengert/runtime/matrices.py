"""What derivatives of matrix functions need and NumPy does not have."""

from __future__ import annotations

from typing import Any

import numpy as np


def halved_tril(x: Any) -> Any:
    """The lower triangle with half the diagonal: Φ in the differential of Cholesky's factor."""
    n = np.shape(x)[-1]
    return x * (np.tri(n) - np.eye(n) / 2)


def cofactor(x: Any) -> Any:
    """The matrix of cofactors, ∂det(x)/∂x, also of singular matrices (x of shape (..., n, n))."""
    u, s, vh = np.linalg.svd(x)
    n = s.shape[-1]
    # the product of all singular values but one, without dividing by any
    others = np.prod(np.where(np.eye(n, dtype=bool), 1, s[..., None, :]), axis=-1)
    sign = np.asarray(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]
    return sign * ((np.conj(u) * others[..., None, :]) @ np.conj(vh))


def normed_rank(x: Any, axis: Any) -> int:
    """Along how many axes a norm is taken: 1 is the norm of a vector, 2 of a matrix."""
    return np.ndim(x) if axis is None else np.size(axis)


def as_columns(x: Any, *, vector: Any, result: Any) -> Any:
    """Stacked vectors as stacked one-column matrices, where a stack was solved for one vector."""
    return np.asarray(x)[..., None] if np.ndim(vector) == 1 < np.ndim(result) else x


def from_columns(x: Any, *, vector: Any, result: Any) -> Any:
    """The transpose of `as_columns`."""
    return x[..., 0] if np.ndim(vector) == 1 < np.ndim(result) else x


def least_squares(a: Any, b: Any, *, rcond: float | None = None) -> Any:
    """The least-squares solution of `a @ x = b`."""
    return np.linalg.lstsq(a, b, rcond=rcond)[0]
