"""Roots that `scipy.optimize` finds, as functions of what their equations depend on.

The solver is run as it is; the implicit function theorem gives the derivative of what it finds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from ..frontend.polyfills.same_names import same_names
from ..intrinsics.roots import root_of, solved
from .results import Result

# --- one equation, one unknown ------------------------------------------------------------


def _between(solver: Any) -> Callable[..., Any]:
    """The equivalent of a solver that is given an interval with a change of sign."""

    def bracketed(
        f: Any, a: Any, b: Any, args: Any = (), *, full_output: Any = False, **options: Any
    ) -> Any:
        args = args if isinstance(args, tuple) else (args,)

        def equation(x: Any) -> Any:
            return f(x, *args)

        x, report = solved(solver, equation, (0.5,), a, b, full_output=True, **options)
        x = root_of(equation, float(x))
        return (x, report) if full_output else x

    return bracketed


def newton(
    func: Any,
    x0: Any,
    fprime: Any = None,
    args: Any = (),
    tol: Any = 1.48e-08,
    maxiter: Any = 50,
    fprime2: Any = None,
    x1: Any = None,
    rtol: Any = 0.0,
    full_output: Any = False,
    disp: Any = True,
) -> Any:
    """`scipy.optimize.newton`."""
    start = float(x0) if np.ndim(x0) == 0 else np.asarray(x0, float)

    def equation(x: Any) -> Any:
        return func(x, *args)

    def found(function: Any, also: Any) -> Any:
        return solved(
            optimize.newton,
            function,
            (start,),
            start,
            tol=tol,
            maxiter=maxiter,
            x1=x1,
            rtol=rtol,
            full_output=True,
            disp=disp,
            also=also,
        )

    result = _with_slopes(found, equation, fprime, fprime2, args)
    x = root_of(equation, float(result[0]) if np.ndim(x0) == 0 else np.asarray(result[0], float))
    return (x, *result[1:]) if full_output else x


def _with_slopes(found: Any, equation: Any, fprime: Any, fprime2: Any, args: Any) -> Any:
    """What a solver finds that may be given the first and the second derivative of its equation."""
    if fprime is None:
        return found(equation, ())
    if fprime2 is None:
        return found(lambda x: (equation(x), fprime(x, *args)), ("fprime",))
    return found(
        lambda x: (equation(x), fprime(x, *args), fprime2(x, *args)), ("fprime", "fprime2")
    )


def root_scalar(
    f: Any,
    args: Any = (),
    method: Any = None,
    bracket: Any = None,
    fprime: Any = None,
    fprime2: Any = None,
    x0: Any = None,
    x1: Any = None,
    xtol: Any = None,
    rtol: Any = None,
    maxiter: Any = None,
    options: Any = None,
) -> Any:
    """`scipy.optimize.root_scalar`."""
    args = args if isinstance(args, tuple) else (args,)

    def equation(x: Any) -> Any:
        return f(x, *args)[0] if fprime is True else f(x, *args)

    def slope(x: Any) -> Any:
        return f(x, *args)[1]

    def found(function: Any, also: Any) -> Any:
        return solved(
            optimize.root_scalar,
            function,
            (0.5,),
            method=method,
            bracket=bracket,
            x0=x0,
            x1=x1,
            xtol=xtol,
            rtol=rtol,
            maxiter=maxiter,
            options=options,
            also=also,
        )

    if fprime is True:
        result = _with_slopes(found, equation, slope, fprime2, ())
    else:
        result = _with_slopes(found, equation, fprime, fprime2, args)
    return Result(
        root=root_of(equation, float(result.root)),
        converged=result.converged,
        flag=result.flag,
        iterations=result.iterations,
        function_calls=result.function_calls,
    )


# --- systems of equations ------------------------------------------------------------------


def fsolve(
    func: Any,
    x0: Any,
    args: Any = (),
    fprime: Any = None,
    full_output: Any = False,
    col_deriv: Any = False,
    **options: Any,
) -> Any:
    """`scipy.optimize.fsolve`; a Jacobian that is passed is not needed and not called."""
    args = args if isinstance(args, tuple) else (args,)
    start = np.atleast_1d(np.asarray(x0, float))

    def equations(x: Any) -> Any:
        return np.ravel(np.asarray(func(x, *args)))

    found = solved(optimize.fsolve, equations, (start,), start, full_output=True, **options)
    x = root_of(equations, np.asarray(found[0], float))
    return (x, found[1], found[2], found[3]) if full_output else x


def root(
    fun: Any,
    x0: Any,
    args: Any = (),
    method: Any = "hybr",
    jac: Any = None,
    tol: Any = None,
    callback: Any = None,
    options: Any = None,
) -> Any:
    """`scipy.optimize.root`; a Jacobian that is passed is not needed and not called."""
    args = args if isinstance(args, tuple) else (args,)
    start = np.asarray(x0, float)

    def equations(x: Any) -> Any:
        values = fun(x, *args)
        return np.asarray(values[0] if jac is True else values)

    found = solved(
        optimize.root, equations, (start,), start, method=method, tol=tol, options=options
    )
    return Result(
        x=root_of(equations, np.asarray(found.x, float)),
        success=found.success,
        message=found.message,
        status=found.status,
        fun=found.fun,
    )


def fixed_point(
    func: Any, x0: Any, args: Any = (), xtol: Any = 1e-08, maxiter: Any = 500, method: Any = "del2"
) -> Any:
    """`scipy.optimize.fixed_point`."""
    start = float(x0) if np.ndim(x0) == 0 else np.asarray(x0, float)

    def step(x: Any) -> Any:
        return func(x, *args)

    def change(x: Any) -> Any:
        return np.asarray(step(x)) - x

    x = solved(optimize.fixed_point, step, (start,), start, (), xtol, maxiter, method)
    return root_of(change, float(x) if np.ndim(x0) == 0 else np.asarray(x, float))


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *(
        (solver, _between(solver))
        for solver in (
            optimize.brentq,
            optimize.brenth,
            optimize.bisect,
            optimize.ridder,
            optimize.toms748,
        )
    ),
    *same_names(optimize, globals()),
]
