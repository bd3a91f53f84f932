"""Linear problems of `scipy.optimize`: least squares between bounds, and linear programs.

What holds a solution back is held: the bounds that it is at, the rows that are equalities there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from ..frontend.polyfills.manifest import as_it_is
from ..intrinsics.steering import stop_gradient
from .results import Result


def lsq_linear(
    A: Any, b: Any, bounds: Any = (-np.inf, np.inf), method: Any = "trf", tol: Any = 1e-10
) -> Any:
    """`scipy.optimize.lsq_linear` of a dense matrix of full rank."""
    matrix, to = np.asarray(A) * 1.0, np.asarray(b) * 1.0
    n = np.shape(matrix)[1]
    lower, upper = bounds
    low, high = np.zeros(n) + lower, np.zeros(n) + upper
    known = stop_gradient(matrix), stop_gradient(to), (stop_gradient(low), stop_gradient(high))
    found = as_it_is(optimize.lsq_linear, *known, method, tol)
    best = np.asarray(found.x, float)
    at_low, at_high = _held(*known, best)
    held = np.where(at_low, np.where(at_low, low, 0.0), np.where(at_high, high, 0.0))
    held = np.where(at_low | at_high, held, 0.0)
    free = np.where(at_low | at_high, 0.0, 1.0)
    # the normal equations of what is free; what is held stands for itself
    reduced = matrix * free
    system = np.transpose(reduced) @ reduced + np.diag(1.0 - free)
    x = np.linalg.solve(system, np.transpose(reduced) @ (to - matrix @ held) + held)
    x = best + (x - stop_gradient(x))
    residuals = matrix @ x - to
    return Result(
        x=x,
        cost=0.5 * np.sum(residuals * residuals),
        fun=residuals,
        active_mask=found.active_mask,
        success=found.success,
        status=found.status,
        message=found.message,
        nit=found.nit,
    )


def _held(A: Any, b: Any, bounds: Any, x: Any) -> tuple[Any, Any]:
    """Which items a bound holds back, in SciPy's mask or not: a step of theirs alone would cross it."""
    slope, curvature = A.T @ (A @ x - b), np.sum(A * A, axis=0)
    at_low = (slope > 0) & ((x - bounds[0]) * curvature < slope)
    return at_low, (slope < 0) & ((x - bounds[1]) * curvature > slope)


_REACHED = 1e-8
"""How far a row may be from its bound, relative to its size, and still count as held there."""


def linprog(
    c: Any,
    A_ub: Any = None,
    b_ub: Any = None,
    A_eq: Any = None,
    b_eq: Any = None,
    bounds: Any = (0, None),
    method: Any = "highs",
) -> Any:
    """`scipy.optimize.linprog` where the solution is a single corner of as many rows as it has items."""
    c = np.asarray(c) * 1.0
    n = np.shape(c)[0]
    over, over_to = _rows(A_ub, b_ub, n)
    equal, equal_to = _rows(A_eq, b_eq, n)
    low, high = _limits(bounds, n)
    known = [stop_gradient(each) for each in (c, over, over_to, equal, equal_to)]
    between = np.stack((stop_gradient(low), stop_gradient(high)), axis=1)
    found = as_it_is(optimize.linprog, *known, between, method)
    if found.x is None:
        raise ArithmeticError(f"this program has no solution that could move: {found.message}")
    best = np.asarray(found.x, float)
    rows = np.concatenate((over, np.eye(n), np.eye(n), equal))
    to = np.concatenate((over_to, low, high, equal_to))
    reached = _reached(stop_gradient(rows), stop_gradient(to), best, len(equal_to))
    if len(reached) != n or np.linalg.matrix_rank(stop_gradient(rows)[reached]) < n:
        raise ArithmeticError(
            f"{len(reached)} rows hold the {n} items of this solution: it is not a single corner, or it has "
            "a kink there. Change the program a little, or differentiate a problem with a quadratic term."
        )
    x = np.linalg.solve(rows[reached], to[reached])
    x = best + (x - stop_gradient(x))
    return Result(
        x=x,
        fun=c @ x,
        slack=over_to - over @ x,
        con=equal_to - equal @ x,
        success=found.success,
        status=found.status,
        message=found.message,
        nit=found.nit,
    )


def _rows(A: Any, b: Any, n: Any) -> tuple[Any, Any]:
    if A is None:
        return np.zeros((0, n)), np.zeros(0)
    return np.atleast_2d(np.asarray(A) * 1.0), np.atleast_1d(np.asarray(b) * 1.0)


def _limits(bounds: Any, n: Any) -> tuple[Any, Any]:
    pairs = [(0, None)] * n if bounds is None else bounds
    if len(pairs) == 2 and np.ndim(pairs[0]) == 0:
        pairs = [pairs] * n
    low = np.array([-np.inf if pair[0] is None else 1.0 * pair[0] for pair in pairs])
    high = np.array([np.inf if pair[1] is None else 1.0 * pair[1] for pair in pairs])
    return low, high


def _reached(rows: Any, to: Any, x: Any, equalities: Any) -> Any:
    """The rows that are equalities at a solution: all that must be, and the others that are."""
    finite = np.isfinite(to)
    away = np.abs(rows @ x - np.where(finite, to, 0.0))
    held = finite & (away <= _REACHED * (1.0 + np.abs(np.where(finite, to, 0.0))))
    if equalities > 0:
        held[-equalities:] = True
    return np.nonzero(held)[0]


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (optimize.lsq_linear, lsq_linear),
    (optimize.linprog, linprog),
]
