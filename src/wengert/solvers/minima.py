"""Minima that `scipy.optimize` finds, as functions of what is minimised: there the gradient is zero."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from ..api import derivative, grad
from ..jacobians import jacobian
from ..ops.refusals import uncovered
from ..roots import parameter_count, root_of, solved
from ..steering import stop_gradient
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

    def objective(x: Any) -> Any:
        value = fun(x, *args)
        return number(value[0] if jac is True else value)

    def with_slope(x: Any) -> Any:
        if jac is True:
            value, slope = fun(x, *args)
            return number(value), np.asarray(slope)
        return objective(x), np.asarray(jac(x, *args))

    def found(function: Any, also: Any) -> Any:
        return solved(
            optimize.minimize,
            function,
            (start,),
            stop_gradient(start),
            method=method,
            bounds=bounds,
            tol=tol,
            options=options,
            also=also,
        )

    low, high = _limits(bounds, len(start))
    held = listed(constraints)
    if len(held) > 0:
        run = {"method": method, "bounds": bounds, "tol": tol, "options": options}
        x, result = constrained(objective, held, start, low, high, run)
    else:
        result = found(objective, ()) if jac is None else found(with_slope, ("jac",))
        best = np.asarray(result.x, float)
        x = root_of(held_back(grad(objective), best, low, high), best)
    return Result(
        x=x,
        fun=objective(x),
        success=result.success,
        status=result.status,
        message=result.message,
        nfev=result.nfev,
        nit=result.nit,
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


def held_back(slope: Any, best: Any, low: Any, high: Any) -> Callable[..., Any]:
    """What is zero at a minimum between bounds."""
    at_low, at_high = best <= low, best >= high

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
    return Result(
        x=x, fun=objective(x), success=found.success, message=found.message, nfev=found.nfev
    )


def least_squares(
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = (-np.inf, np.inf),
    method: Any = "trf",
    ftol: Any = 1e-8,
    xtol: Any = 1e-8,
    gtol: Any = 1e-8,
    *,
    max_nfev: Any = None,
    args: Any = (),
    kwargs: Any = {},  # noqa: B006  # as SciPy has it
) -> Any:
    """`scipy.optimize.least_squares` with the plain loss; a Jacobian that is passed is not called."""
    start = np.atleast_1d(np.asarray(x0, float))
    low, high = bounds[0] + np.zeros(len(start)), bounds[1] + np.zeros(len(start))

    def residuals(x: Any) -> Any:
        return np.atleast_1d(np.asarray(fun(x, *args, **kwargs)))

    def cost(x: Any) -> Any:
        return 0.5 * np.sum(residuals(x) ** 2)

    found = solved(
        optimize.least_squares,
        residuals,
        (start,),
        stop_gradient(start),
        bounds=bounds,
        method=method,
        ftol=ftol,
        xtol=xtol,
        gtol=gtol,
        max_nfev=max_nfev,
    )
    best = np.asarray(found.x, float)
    x = root_of(held_back(grad(cost), best, low, high), best)
    return Result(
        x=x,
        cost=cost(x),
        fun=residuals(x),
        jac=jacobian(residuals)(x),
        success=found.success,
        status=found.status,
        message=found.message,
        nfev=found.nfev,
    )


def leastsq(
    func: Any,
    x0: Any,
    args: Any = (),
    *,
    ftol: Any = 1.49012e-8,
    xtol: Any = 1.49012e-8,
    gtol: Any = 0.0,
    maxfev: Any = 0,
) -> Any:
    """`scipy.optimize.leastsq` without its full output."""
    args = args if isinstance(args, tuple) else (args,)
    start = np.atleast_1d(np.asarray(x0, float))

    def residuals(x: Any) -> Any:
        return np.atleast_1d(np.asarray(func(x, *args)))

    def cost(x: Any) -> Any:
        return 0.5 * np.sum(residuals(x) ** 2)

    found = solved(
        optimize.leastsq,
        residuals,
        (start,),
        stop_gradient(start),
        ftol=ftol,
        xtol=xtol,
        gtol=gtol,
        maxfev=maxfev,
    )
    return root_of(grad(cost), np.asarray(found[0], float)), found[1]


def curve_fit(
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: Any = False,
    *,
    maxfev: Any = None,
) -> Any:
    """`scipy.optimize.curve_fit` without bounds, of data with independent errors."""
    count = parameter_count(f) - 1 if p0 is None else len(p0)
    start = np.ones(count) if p0 is None else np.asarray(p0, float)
    y = np.asarray(ydata, float)
    errors = np.ones(len(y)) if sigma is None else np.asarray(sigma, float)
    if np.ndim(errors) > 1:
        raise uncovered(
            "a fit with errors that depend on each other", "Divide by a Cholesky factor."
        )

    def residuals(p: Any) -> Any:
        return (f(xdata, *[p[k] for k in range(count)]) - y) / errors

    def cost(p: Any) -> Any:
        return 0.5 * np.sum(residuals(p) ** 2)

    options = {} if maxfev is None else {"maxfev": maxfev}
    found = solved(
        optimize.leastsq, residuals, (start,), stop_gradient(start), full_output=1, **options
    )
    if found[4] not in (1, 2, 3, 4):
        raise RuntimeError(f"Optimal parameters not found: {found[3]}")
    p = root_of(grad(cost), np.asarray(found[0], float))
    slopes = jacobian(residuals)(p)
    covariance = np.linalg.inv(slopes.T @ slopes)
    covariance = np.asarray(found[1], float) + (covariance - stop_gradient(covariance))
    if not absolute_sigma:
        covariance = covariance * (2.0 * cost(p) / (len(y) - count))
    return p, covariance


def rosen(x: Any) -> Any:
    """`scipy.optimize.rosen`."""
    x = np.asarray(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (optimize.minimize, minimize),
    (optimize.minimize_scalar, minimize_scalar),
    (optimize.least_squares, least_squares),
    (optimize.leastsq, leastsq),
    (optimize.curve_fit, curve_fit),
    (optimize.rosen, rosen),
]
