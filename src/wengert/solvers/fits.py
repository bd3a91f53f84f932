"""Least squares that `scipy.optimize` finds, as functions of what is fitted: there the cost has no slope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from ..api.gradients import grad
from ..api.jacobians import jacobian
from ..frontend.polyfills.same_names import same_names
from ..intrinsics.roots import parameter_count, root_of, solved
from ..intrinsics.steering import stop_gradient
from ..ops.program.refusals import uncovered
from .minima import held_back
from .results import Result

# --- residuals ----------------------------------------------------------------------------


def least_squares(
    fun: Any,
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = (-np.inf, np.inf),
    method: Any = "trf",
    ftol: Any = 1e-8,
    xtol: Any = 1e-8,
    gtol: Any = 1e-8,
    x_scale: Any = None,
    loss: Any = "linear",
    f_scale: Any = 1.0,
    *,
    max_nfev: Any = None,
    args: Any = (),
    kwargs: Any = {},  # noqa: B006  # as SciPy has it
    **settings: Any,
) -> Any:
    """`scipy.optimize.least_squares`; a Jacobian that is passed is not called.

    Where a bound holds a parameter back, that moves with its bound.
    """
    if callable(loss):
        raise uncovered("a loss that is a function", "Name one of SciPy's: loss='soft_l1'.")
    start = np.atleast_1d(np.asarray(x0, float))
    low, high = _limits(bounds, len(start))
    scales = {} if x_scale is None else {"x_scale": x_scale}

    def residuals(x: Any) -> Any:
        return np.atleast_1d(np.asarray(fun(x, *args, **kwargs)))

    def cost(x: Any) -> Any:
        if loss == "linear":
            return 0.5 * np.sum(residuals(x) ** 2)
        return 0.5 * f_scale**2 * np.sum(_lessened(loss, (residuals(x) / f_scale) ** 2))

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
        loss=loss,
        f_scale=f_scale,
        max_nfev=max_nfev,
        **scales,
        **settings,
    )
    best, held = np.asarray(found.x, float), np.asarray(found.active_mask)
    x = root_of(held_back(grad(cost), held < 0, held > 0, low, high), best)
    return Result(
        x=x,
        cost=cost(x),
        fun=residuals(x),
        jac=jacobian(residuals)(x),
        grad=grad(cost)(x),
        active_mask=held,
        success=found.success,
        status=found.status,
        message=found.message,
        nfev=found.nfev,
    )


def _limits(bounds: Any, n: Any) -> Any:
    if isinstance(bounds, optimize.Bounds):
        return bounds.lb + np.zeros(n), bounds.ub + np.zeros(n)
    return np.asarray(bounds[0]) + np.zeros(n), np.asarray(bounds[1]) + np.zeros(n)


def _lessened(loss: Any, z: Any) -> Any:
    """What a loss makes of squares: large ones count for less (Triggs et al., 2000)."""
    if loss == "soft_l1":
        return 2.0 * (np.sqrt(1.0 + z) - 1.0)
    if loss == "huber":
        return np.where(z <= 1.0, z, 2.0 * np.sqrt(np.where(z <= 1.0, 1.0, z)) - 1.0)
    return np.log1p(z) if loss == "cauchy" else np.arctan(z)


def leastsq(
    func: Any,
    x0: Any,
    args: Any = (),
    Dfun: Any = None,  # as SciPy has it
    *,
    ftol: Any = 1.49012e-8,
    xtol: Any = 1.49012e-8,
    gtol: Any = 0.0,
    maxfev: Any = 0,
) -> Any:
    """`scipy.optimize.leastsq` without its full output; a Jacobian that is passed is not called."""
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


# --- curves -------------------------------------------------------------------------------


def curve_fit(
    f: Any,
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: Any = False,
    check_finite: Any = None,
    bounds: Any = (-np.inf, np.inf),
    method: Any = None,
    jac: Any = None,
    *,
    full_output: Any = False,
    nan_policy: Any = None,
    maxfev: Any = None,
    **settings: Any,
) -> Any:
    """`scipy.optimize.curve_fit` without its full output; a Jacobian that is passed is not called."""
    if full_output or nan_policy is not None:
        raise uncovered("curve_fit with `full_output` or `nan_policy`", "Leave the option out.")
    count = parameter_count(f) - 1 if p0 is None else len(np.atleast_1d(p0))
    low, high = _limits(bounds, count)
    within = bool(np.any((low > -np.inf) | (high < np.inf)))
    start = _between(low, high) if p0 is None else np.atleast_1d(np.asarray(p0, float))
    at = np.asarray(xdata, float) if isinstance(xdata, (list, tuple)) else xdata
    y = np.asarray(ydata, float)

    def residuals(p: Any) -> Any:
        return _weighted(f(at, *[p[k] for k in range(count)]) - y, sigma)

    def cost(p: Any) -> Any:
        return 0.5 * np.sum(residuals(p) ** 2)

    if within or (method is not None and method != "lm"):
        more = {} if maxfev is None else {"max_nfev": maxfev}
        how = {"bounds": bounds, "method": method or "trf", **more, **settings}
        best, base, held = _fitted_within(residuals, start, how)
    else:
        more = {} if maxfev is None else {"maxfev": maxfev}
        best, base = _fitted_freely(residuals, start, {**more, **settings})
        held = np.zeros(count)
    p = root_of(held_back(grad(cost), held < 0, held > 0, low, high), best)
    slopes = jacobian(residuals)(p)
    covariance = np.linalg.inv(slopes.T @ slopes)
    covariance = base + (covariance - stop_gradient(covariance))
    if absolute_sigma:
        return p, covariance
    if len(y) <= count:
        return p, np.full((count, count), np.inf)
    return p, covariance * (2.0 * cost(p) / (len(y) - count))


def _between(low: Any, high: Any) -> Any:
    """Where SciPy starts between bounds."""
    bounded = np.stack((np.isfinite(low), np.isfinite(high)))
    below, above = np.where(bounded[0], low, 0.0), np.where(bounded[1], high, 0.0)
    one = np.where(bounded[0], below + 1.0, np.where(bounded[1], above - 1.0, 1.0))
    return np.where(bounded[0] & bounded[1], 0.5 * (below + above), one)


def _weighted(differences: Any, sigma: Any) -> Any:
    """Differences in units of their errors, of which `sigma` may be the covariance."""
    if sigma is None:
        return differences
    errors = np.asarray(sigma, float)
    if np.ndim(errors) == 2:
        return np.linalg.solve(np.linalg.cholesky(errors), differences)
    return differences / errors


def _fitted_freely(residuals: Any, start: Any, options: Any) -> Any:
    found = solved(
        optimize.leastsq, residuals, (start,), stop_gradient(start), full_output=1, **options
    )
    if found[4] not in (1, 2, 3, 4):
        raise RuntimeError(f"Optimal parameters not found: {found[3]}")
    return np.asarray(found[0], float), np.asarray(found[1], float)


def _fitted_within(residuals: Any, start: Any, options: Any) -> Any:
    found = solved(optimize.least_squares, residuals, (start,), stop_gradient(start), **options)
    if not found.success:
        raise RuntimeError(f"Optimal parameters not found: {found.message}")
    slopes = np.asarray(found.jac, float)
    return (
        np.asarray(found.x, float),
        np.linalg.inv(slopes.T @ slopes),
        np.asarray(found.active_mask),
    )


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = same_names(optimize, globals())
