"""SciPy's solvers of equations: what they find is found in Python, its derivative is that of a root.

A function that is made inside the program cannot be handed to SciPy's own solvers. These find the same
roots to the tolerance that they are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

from ..ops.creation import gather as array_of
from .equivalents import root_of

_MOST = 200


class Result:
    """What `root_scalar` and `root` give."""

    def __init__(self, found: Any):
        self.x = found
        self.root = found
        self.converged = True
        self.success = True


def _as_args(args: Any) -> Any:
    return args if isinstance(args, tuple) else (args,)


# --- one unknown ------------------------------------------------------------------------------


def brentq(f: Any, a: Any, b: Any, args: Any = (), xtol: Any = 2e-12, rtol: Any = 9e-16) -> Any:
    """`scipy.optimize.brentq`, and `brenth`, `ridder`, `bisect` and `toms748`."""
    args = _as_args(args)
    return root_of(lambda x: f(x, *args), lambda: _bracketed(f, a, b, args, xtol, rtol))


def _bracketed(f: Any, a: Any, b: Any, args: Any, xtol: Any, rtol: Any) -> Any:
    """Brent's method."""
    before, last = float(a), float(b)
    at_before, at_last = f(before, *args), f(last, *args)
    if at_before * at_last > 0:
        raise ValueError("f(a) and f(b) must have different signs")
    other, at_other, step, older = before, at_before, last - before, last - before
    for _ in range(_MOST):
        if (at_last > 0) == (at_other > 0):
            other, at_other = before, at_before
            step = older = last - before
        if abs(at_other) < abs(at_last):
            before, last, other = last, other, last
            at_before, at_last, at_other = at_last, at_other, at_last
        least = 0.5 * (xtol + rtol * abs(last))
        middle = 0.5 * (other - last)
        if at_last == 0 or abs(middle) <= least:
            break
        if abs(older) < least or abs(at_before) <= abs(at_last):
            step = older = middle
        else:
            p, q = _interpolated(before, last, other, at_before, at_last, at_other, middle)
            if 2 * p < min(3 * middle * q - abs(least * q), abs(older * q)):
                older, step = step, p / q
            else:
                step = older = middle
        before, at_before = last, at_last
        last = last + (step if abs(step) > least else (least if middle > 0 else -least))
        at_last = f(last, *args)
    return last


def _interpolated(
    before: Any, last: Any, other: Any, at_before: Any, at_last: Any, at_other: Any, middle: Any
) -> Any:
    """Numerator, not negative, and denominator of the step to where an interpolant vanishes."""
    s = at_last / at_before
    if before == other:
        p, q = 2 * middle * s, 1 - s
    else:
        r, t = at_last / at_other, at_before / at_other
        p = s * (2 * middle * t * (t - r) - (last - before) * (r - 1))
        q = (t - 1) * (r - 1) * (s - 1)
    return (p, -q) if p > 0 else (-p, q)


def newton(
    func: Any, x0: Any, fprime: Any = None, args: Any = (), tol: Any = 1.48e-8, maxiter: Any = 50
) -> Any:
    """`scipy.optimize.newton` of one number: Newton's method, or that of secants."""
    args = _as_args(args)
    return root_of(
        lambda x: func(x, *args), lambda: _from_start(func, x0, fprime, args, tol, maxiter)
    )


def _from_start(func: Any, x0: Any, fprime: Any, args: Any, tol: Any, maxiter: Any) -> Any:
    last = 1.0 * x0
    if fprime is not None:
        for _ in range(maxiter):
            step = func(last, *args) / fprime(last, *args)
            last = last - step
            if abs(step) <= tol:
                return last
        raise RuntimeError("Failed to converge")
    before, last = last, last * (1 + 1e-4) + (1e-4 if x0 >= 0 else -1e-4)
    at_before, at_last = func(before, *args), func(last, *args)
    if abs(at_last) < abs(at_before):
        before, last, at_before, at_last = last, before, at_last, at_before
    for _ in range(maxiter):
        if at_before == at_last:
            return 0.5 * (before + last)
        slope = (at_before - at_last) / (before - last)
        before, at_before, last = last, at_last, last - at_last / slope
        if abs(last - before) <= tol:
            return last
        at_last = func(last, *args)
    raise RuntimeError("Failed to converge")


def root_scalar(
    f: Any, args: Any = (), method: Any = None, bracket: Any = None, fprime: Any = None,
    x0: Any = None, xtol: Any = None, rtol: Any = None,
) -> Any:  # fmt: skip
    """`scipy.optimize.root_scalar`."""
    if bracket is not None:
        low, high = bracket
        close = 2e-12 if xtol is None else xtol
        return Result(brentq(f, low, high, args, close, 9e-16 if rtol is None else rtol))
    return Result(newton(f, x0, fprime, args, 1.48e-8 if xtol is None else xtol))


# --- several unknowns -------------------------------------------------------------------------


def fsolve(func: Any, x0: Any, args: Any = (), xtol: Any = 1.49012e-8) -> Any:
    """`scipy.optimize.fsolve`: Newton's method with a Jacobian of differences, which is damped."""
    args = _as_args(args)
    x0 = np.atleast_1d(array_of(x0) * 1.0)
    return root_of(
        lambda x: np.ravel(array_of(func(x, *args))), lambda: _damped(func, x0, args, xtol)
    )


def _damped(func: Any, x0: Any, args: Any, xtol: Any) -> Any:
    x, size = x0, np.size(x0)
    residual = np.ravel(array_of(func(x, *args)))
    for _ in range(_MOST):
        columns = []
        for k in range(size):
            apart = 1.4901161193847656e-08 * max(1.0, abs(x[k]))
            moved = x + apart * np.eye(size)[k]
            columns.append((np.ravel(array_of(func(moved, *args))) - residual) / apart)
        step = np.linalg.solve(np.stack(columns, axis=1), residual)
        length = np.sum(residual**2)
        part = 1.0
        closer = np.ravel(array_of(func(x - part * step, *args)))
        while not np.sum(closer**2) < length and part > 1e-4:
            part = part / 2
            closer = np.ravel(array_of(func(x - part * step, *args)))
        x, residual = x - part * step, closer
        if np.max(np.abs(step)) <= 1e-3 * xtol * np.max(np.abs(x)) or np.sum(residual**2) == 0:
            break
    return x


def root(fun: Any, x0: Any, args: Any = (), tol: Any = None) -> Any:
    """`scipy.optimize.root` by the default method."""
    return Result(fsolve(fun, x0, args, 1.49012e-8 if tol is None else tol))


def rosen(x: Any) -> Any:
    """`scipy.optimize.rosen`."""
    x = array_of(x)
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2.0) ** 2.0 + (1 - x[:-1]) ** 2.0, axis=0)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *(
        (getattr(optimize, name), brentq)
        for name in ("brentq", "brenth", "ridder", "bisect", "toms748")
    ),
    (optimize.newton, newton),
    (optimize.root_scalar, root_scalar),
    (optimize.fsolve, fsolve),
    (optimize.root, root),
    (optimize.rosen, rosen),
]
