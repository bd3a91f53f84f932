"""Functions of matrices in `scipy.linalg` that are given by an equation: SciPy's values, with its derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg  # pyright: ignore[reportMissingTypeStubs]

from ..frontend.polyfills.manifest import as_it_is
from ..frontend.polyfills.same_names import same_names
from ..frontend.polyfills.scipy.linalg import EQUIVALENTS as IN_PYTHON, expm
from ..intrinsics.roots import root_of
from ..intrinsics.steering import stop_gradient


def sqrtm(A: Any) -> Any:
    """`scipy.linalg.sqrtm`."""
    return root_of(lambda X: X @ X - A, as_it_is(linalg.sqrtm, stop_gradient(A)))


def logm(A: Any) -> Any:
    """`scipy.linalg.logm`."""
    return root_of(lambda X: expm(X) - A, as_it_is(linalg.logm, stop_gradient(A)))


def fractional_matrix_power(A: Any, t: Any) -> Any:
    """`scipy.linalg.fractional_matrix_power` of a matrix that has a logarithm."""
    found = as_it_is(linalg.fractional_matrix_power, stop_gradient(A), stop_gradient(t))
    power = expm(t * logm(A))
    return found + (power - stop_gradient(power))


def solve_continuous_are(a: Any, b: Any, q: Any, r: Any) -> Any:
    """`scipy.linalg.solve_continuous_are` of real matrices."""

    def residual(X: Any) -> Any:
        return np.transpose(a) @ X + X @ a - X @ b @ np.linalg.solve(r, np.transpose(b) @ X) + q

    given = stop_gradient(a), stop_gradient(b), stop_gradient(q), stop_gradient(r)
    return root_of(residual, as_it_is(linalg.solve_continuous_are, *given))


def solve_discrete_are(a: Any, b: Any, q: Any, r: Any) -> Any:
    """`scipy.linalg.solve_discrete_are` of real matrices."""

    def residual(X: Any) -> Any:
        gain = np.linalg.solve(r + np.transpose(b) @ X @ b, np.transpose(b) @ X @ a)
        return np.transpose(a) @ X @ (a - b @ gain) - X + q

    given = stop_gradient(a), stop_gradient(b), stop_gradient(q), stop_gradient(r)
    return root_of(residual, as_it_is(linalg.solve_discrete_are, *given))


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [*IN_PYTHON, *same_names(linalg, globals())]
