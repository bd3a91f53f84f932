"""Products with SciPy's sparse matrices, which are constants here: the front end reads these instead."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]
from scipy.sparse import linalg  # pyright: ignore[reportMissingTypeStubs]

from ..frontends.equivalents import as_it_is, matrix_product
from ..roots import root_of
from ..steering import stop_gradient


def product(matrix: Any, x: Any) -> Any:
    """`matrix @ x`, `matrix.dot(x)`."""
    return matrix_product(matrix, x)


def product_from_left(matrix: Any, x: Any) -> Any:
    """`x @ matrix`."""
    return matrix_product(x, matrix)


def times(matrix: Any, x: Any) -> Any:
    """`matrix * x`, which is a product of matrices unless x is a number."""
    return matrix_product(matrix, x) if np.ndim(x) > 0 else as_it_is(operator.mul, matrix, x)


def spsolve(A: Any, b: Any) -> Any:
    """`scipy.sparse.linalg.spsolve` of one right-hand side."""
    found = as_it_is(linalg.spsolve, A, stop_gradient(b))
    return root_of(lambda x: matrix_product(A, x) - b, found)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (sparse.csr_matrix.__matmul__, product),
    (sparse.csr_matrix.__rmatmul__, product_from_left),
    (sparse.csr_matrix.__mul__, times),
    (sparse.csr_matrix.dot, product),
    (linalg.spsolve, spsolve),
]
