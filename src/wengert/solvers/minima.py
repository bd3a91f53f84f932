"""Minima that `scipy.optimize` finds, as functions of what is minimised: there the gradient is zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from ..api.gradients import derivative, grad
from ..intrinsics.roots import root_of, solved
from ..intrinsics.steering import stop_gradient
from .constrained import constrained, listed
from .results import Result


def minimize(
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = None,
    jac: Any = None,
    *,
    bounds: Any = None,
    constraints: Any = (),
    tol: Any = None,
    options: Any = None,
) -> Any:
    """`scipy.optimize.minimize`; where a bound or a constraint holds x back, x moves with that."""
    args = args if isinstance(args, tuple) else (args,)
    start = np.atleast_1d(np.asarray(x0, float))
    run = {"method": method, "bounds": bounds, "tol": tol, "options": options}

    def objective(x: Any) -> Any:
        value = fun(x, *args)
        return number(value[0] if jac is True else value)

    def with_slope(x: Any) -> Any:
        if jac is True:
            value, slope = fun(x, *args)
            return number(value), np.asarray(slope)
        return objective(x), np.asarray(jac(x, *args))

    def found(function: Any, also: Any) -> Any:
        return solved(optimize.minimize, function, (start,), stop_gradient(start), **run, also=also)

    low, high = _limits(bounds, len(start))
    held = listed(constraints)
    if len(held) > 0:
        x, result = constrained(objective, held, start, low, high, run)
    else:
        result = found(objective, ()) if jac is None else found(with_slope, ("jac",))
        best = np.asarray(result.x, float)
        x = root_of(held_back(grad(objective), best <= low, best >= high, low, high), best)
    return minimum(objective, x, result, status=result.status)


def minimum(objective: Any, x: Any, found: Any, **more: Any) -> Any:
    """The result of a solver that has found a minimum: the place that is differentiated, and what the solver says."""
    return Result(
        x=x,
        fun=objective(x),
        success=found.success,
        message=found.message,
        nfev=found.nfev,
        nit=found.nit,
        **more,
    )


def number(value: Any) -> Any:
    """The value of an objective, which may be an array of one number."""
    return value if np.ndim(value) == 0 else np.reshape(value, ())[()]


def _limits(bounds: Any, n: Any) -> tuple[Any, Any]:
    if bounds is None:
        return np.full(n, -np.inf), np.full(n, np.inf)
    if isinstance(bounds, optimize.Bounds):
        return bounds.lb + np.zeros(n), bounds.ub + np.zeros(n)
    low = np.array([-np.inf if pair[0] is None else float(pair[0]) for pair in bounds])
    high = np.array([np.inf if pair[1] is None else float(pair[1]) for pair in bounds])
    return low, high


def held_back(slope: Any, at_low: Any, at_high: Any, low: Any, high: Any) -> Callable[..., Any]:
    """What is zero at a minimum between bounds, at some of which it lies."""

    def residual(x: Any) -> Any:
        free = ~at_low & ~at_high
        to_low = np.where(at_low, x - np.where(at_low, low, 0.0), 0.0)
        to_high = np.where(at_high, x - np.where(at_high, high, 0.0), 0.0)
        return np.where(free, slope(x), to_low + to_high)

    return residual


def minimize_scalar(
    fun: Any,
    bracket: Any = None,
    bounds: Any = None,
    args: Any = (),
    method: Any = None,
    tol: Any = None,
    options: Any = None,
) -> Any:
    """`scipy.optimize.minimize_scalar`."""
    args = args if isinstance(args, tuple) else (args,)

    def objective(x: Any) -> Any:
        return number(fun(x, *args))

    found = solved(
        optimize.minimize_scalar,
        objective,
        (0.5,),
        bracket=bracket,
        bounds=bounds,
        method=method,
        tol=tol,
        options=options,
    )
    x = root_of(derivative(objective), float(found.x))
    return minimum(objective, x, found)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (optimize.minimize, minimize),
    (optimize.minimize_scalar, minimize_scalar),
]
