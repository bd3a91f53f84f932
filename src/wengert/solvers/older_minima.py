"""Functions of `scipy.optimize` that are older than `minimize`, and such that look for the least of many minima."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from ..api.gradients import derivative, grad
from ..frontend.polyfills.manifest import as_it_is
from ..frontend.polyfills.same_names import same_names
from ..intrinsics.roots import root_of, solved
from ..intrinsics.steering import stop_gradient
from ..ops.program.refusals import uncovered
from .minima import held_back, minimize_scalar, minimum, number


def _from_start(solver: Any) -> Any:
    def found(func: Any, x0: Any, fprime: Any = None, args: Any = (), **options: Any) -> Any:
        start = np.atleast_1d(np.asarray(x0, float))

        def objective(x: Any) -> Any:
            return number(func(x, *args))

        full = options.get("full_output")
        if options.get("retall") or (full and solver not in _COUNTING):
            raise uncovered(
                f"`{solver.__name__}` with `{'retall' if options.get('retall') else 'full_output'}`",
                "Take `minimize`, whose result has everything.",
            )

        def with_slope(x: Any) -> Any:
            return objective(x), np.asarray(fprime(x, *args))

        function, also = (objective, ()) if fprime is None else (with_slope, ("fprime",))
        result = solved(solver, function, (start,), stop_gradient(start), also=also, **options)
        best = np.asarray(result[0] if full else result, float)
        x = root_of(grad(objective), np.atleast_1d(best))
        return (x, float(objective(x)), result[2], result[3], result[4]) if full else x

    return found


_COUNTING = (optimize.fmin, optimize.fmin_cg)
"""Solvers whose full output is a minimum, the value there, and three numbers that only count."""


def _without_slope(solver: Any) -> Any:
    from_start = _from_start(solver)

    def found(func: Any, x0: Any, args: Any = (), **options: Any) -> Any:
        return from_start(func, x0, None, args, **options)

    return found


def fminbound(
    func: Any, x1: Any, x2: Any, args: Any = (), xtol: Any = 1e-5, maxfun: Any = 500
) -> Any:
    """`scipy.optimize.fminbound`."""

    def objective(x: Any) -> Any:
        return number(func(x, *args))

    between = stop_gradient((float(x1), float(x2)))
    best = solved(optimize.fminbound, objective, (0.5,), *between, xtol=xtol, maxfun=maxfun)
    return root_of(derivative(objective), float(best))


def brent(
    func: Any,
    args: Any = (),
    brack: Any = None,
    tol: Any = 1.48e-8,
    full_output: Any = 0,
    maxiter: Any = 500,
) -> Any:
    """`scipy.optimize.brent`."""
    found = _along_a_line("brent", func, args, brack, tol, maxiter)
    return (found.x, found.fun, found.nit, found.nfev) if full_output else found.x


def golden(
    func: Any, args: Any = (), brack: Any = None, tol: Any = 1.4901161193847656e-8, full_output: Any = 0,
    maxiter: Any = 5000,
) -> Any:  # fmt: skip
    """`scipy.optimize.golden`."""
    found = _along_a_line("golden", func, args, brack, tol, maxiter)
    return (found.x, found.fun, found.nfev) if full_output else found.x


def _along_a_line(method: str, func: Any, args: Any, brack: Any, tol: Any, maxiter: Any) -> Any:
    options = {"xtol": tol, "maxiter": maxiter}
    return minimize_scalar(func, stop_gradient(brack), args=args, method=method, options=options)


def _of_many(solver: Any) -> Any:
    """A solver that is given bounds, and looks for the least minimum between them."""

    def found(func: Any, bounds: Any, args: Any = (), **options: Any) -> Any:
        low = np.array([pair[0] for pair in bounds]) * 1.0
        high = np.array([pair[1] for pair in bounds]) * 1.0

        def objective(x: Any) -> Any:
            return number(func(x, *args))

        between = list(zip(stop_gradient(low), stop_gradient(high), strict=True))
        result = solved(solver, objective, (low,), between, **options)
        best = np.asarray(result.x, float)
        x = root_of(held_back(grad(objective), best <= low, best >= high, low, high), best)
        return minimum(objective, x, result)

    return found


def nnls(A: Any, b: Any, maxiter: Any = None) -> Any:
    """`scipy.optimize.nnls`: what is not held at zero solves the least squares problem without the rest."""
    matrix, rhs = np.asarray(A) * 1.0, np.asarray(b) * 1.0
    best = as_it_is(least_without_negatives, stop_gradient(matrix), stop_gradient(rhs), maxiter)
    free = best > 0
    x = np.zeros(len(best))
    x[free] = np.linalg.lstsq(matrix[:, free], rhs, rcond=None)[0]
    return x, np.linalg.norm(matrix @ x - rhs)


def least_without_negatives(matrix: Any, rhs: Any, maxiter: Any) -> Any:
    """The solution that SciPy finds; runs as it is."""
    return optimize.nnls(matrix, rhs, maxiter=maxiter)[0]


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *(
        (getattr(optimize, name), _without_slope(getattr(optimize, name)))
        for name in ("fmin", "fmin_powell")
    ),
    *(
        (getattr(optimize, name), _from_start(getattr(optimize, name)))
        for name in ("fmin_bfgs", "fmin_cg")
    ),
    *same_names(optimize, globals()),
    *(
        (getattr(optimize, name), _of_many(getattr(optimize, name)))
        for name in ("differential_evolution", "dual_annealing", "direct")
    ),
]
