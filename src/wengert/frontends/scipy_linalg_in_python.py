"""SciPy's linear algebra in terms of NumPy's, which has rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg  # pyright: ignore[reportMissingTypeStubs]

from ..ops.shape import matrix_transpose


def det(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """`scipy.linalg.det`."""
    return np.linalg.det(a)


def inv(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """`scipy.linalg.inv`."""
    return np.linalg.inv(a)


def norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, check_finite: Any = True
) -> Any:
    """`scipy.linalg.norm`."""
    return np.linalg.norm(a, ord, axis, keepdims)


def solve(a: Any, b: Any, *, check_finite: Any = True) -> Any:
    """`scipy.linalg.solve` of a general matrix."""
    return np.linalg.solve(a, b)


def _triangle(a: Any, lower: Any, unit_diagonal: Any) -> Any:
    if unit_diagonal:
        strict = np.tril(a, -1) if lower else np.triu(a, 1)
        return strict + np.eye(np.shape(a)[-1])
    return np.tril(a) if lower else np.triu(a)


def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False
) -> Any:
    """`scipy.linalg.solve_triangular`."""
    triangle = _triangle(a, lower, unit_diagonal)
    if trans in (1, "T"):
        triangle = matrix_transpose(triangle)
    elif trans in (2, "C"):
        triangle = np.conj(matrix_transpose(triangle))
    return np.linalg.solve(triangle, b)


def cholesky(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """`scipy.linalg.cholesky`."""
    if lower:
        return np.linalg.cholesky(a)
    return np.linalg.cholesky(a, upper=True)


def cho_factor(a: Any, lower: Any = False) -> Any:
    """`scipy.linalg.cho_factor`, with zeros in the other triangle."""
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: Any, b: Any) -> Any:
    """`scipy.linalg.cho_solve`."""
    factor, lower = c_and_lower
    L = np.tril(factor) if lower else np.conj(matrix_transpose(np.triu(factor)))
    return np.linalg.solve(np.conj(matrix_transpose(L)), np.linalg.solve(L, b))


def eigh(a: Any, *, lower: Any = True, eigvals_only: Any = False) -> Any:
    """`scipy.linalg.eigh` of one matrix."""
    if eigvals_only:
        return eigvalsh(a, lower=lower)
    values, vectors = np.linalg.eigh(a, UPLO="L" if lower else "U")
    return values, vectors


def eigvalsh(a: Any, *, lower: Any = True) -> Any:
    """`scipy.linalg.eigvalsh` of one matrix."""
    return np.linalg.eigvalsh(a, UPLO="L" if lower else "U")


def block_diag(*arrs: Any) -> Any:
    """`scipy.linalg.block_diag`."""
    blocks = [np.atleast_2d(a) for a in arrs]
    widths = [np.shape(block)[1] for block in blocks]
    rows = []
    for k in range(len(blocks)):
        left, right = sum(widths[:k]), sum(widths[k + 1 :])
        rows = [*rows, np.pad(blocks[k], ((0, 0), (left, right)))]
    return np.concatenate(rows, axis=0)


def toeplitz(c: Any, r: Any = None) -> Any:
    """`scipy.linalg.toeplitz`."""
    c = np.ravel(c)
    r = np.conj(c) if r is None else np.ravel(r)
    values = np.concatenate((c[::-1], r[1:]))
    rows, columns = np.arange(np.shape(c)[0]), np.arange(np.shape(r)[0])
    start = np.shape(c)[0] - 1
    return values[start - np.expand_dims(rows, 1) + np.expand_dims(columns, 0)]


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (linalg.det, det),
    (linalg.inv, inv),
    (linalg.norm, norm),
    (linalg.solve, solve),
    (linalg.solve_triangular, solve_triangular),
    (linalg.cholesky, cholesky),
    (linalg.cho_factor, cho_factor),
    (linalg.cho_solve, cho_solve),
    (linalg.eigh, eigh),
    (linalg.eigvalsh, eigvalsh),
    (linalg.block_diag, block_diag),
    (linalg.toeplitz, toeplitz),
]
