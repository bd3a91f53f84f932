"""SciPy's integrals, in Python: the front end reads these instead.

Samples are summed as SciPy sums them. `quad` bisects where the error is largest, as QUADPACK's `qag`
does, without extrapolation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate  # pyright: ignore[reportMissingTypeStubs]

from ..ops.creation import gather as array_of
from .numpy_in_python import trapezoid

# --- of samples -----------------------------------------------------------------------------


def cumulative_trapezoid(
    y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1, initial: Any = None
) -> Any:
    """`scipy.integrate.cumulative_trapezoid`."""
    y = np.moveaxis(array_of(y), axis, -1)
    steps = dx if x is None else np.diff(array_of(x))
    sums = np.cumsum(steps * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)
    if initial is not None:
        start = np.full((*np.shape(sums)[:-1], 1), initial, dtype=float)
        sums = np.concatenate((start, sums), axis=-1)
    return np.moveaxis(sums, -1, axis)


def simpson(y: Any, x: Any = None, *, dx: Any = 1.0, axis: Any = -1) -> Any:
    """`scipy.integrate.simpson`; of an even number of samples the last interval is Cartwright's."""
    y = np.moveaxis(array_of(y), axis, -1)
    n = np.shape(y)[-1]
    h = np.full(n - 1, dx, dtype=float) if x is None else np.diff(array_of(x))
    if n == 2:
        return 0.5 * h[0] * (y[..., 0] + y[..., 1])
    whole = n - 1 - (1 - n % 2)
    first, second = h[:whole:2], h[1:whole:2]
    both, ratio = first + second, first / second
    parts = (
        y[..., :whole:2] * (2.0 - 1.0 / ratio)
        + y[..., 1:whole:2] * (both * (both / (first * second)))
        + y[..., 2 : whole + 1 : 2] * (2.0 - ratio)
    )
    total = np.sum(both / 6.0 * parts, axis=-1)
    if n % 2 == 1:
        return total
    a, b = h[-2], h[-1]
    return (
        total
        + y[..., -1] * (2 * b**2 + 3 * a * b) / (6 * (a + b))
        + y[..., -2] * (b**2 + 3 * a * b) / (6 * a)
        - y[..., -3] * b**3 / (6 * a * (a + b))
    )


# --- of functions ---------------------------------------------------------------------------

_NODES = (
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452,
    0.930157491355708226001207180059508, 0.865063366688984510732096688423493,
    0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784,
    0.294392862701460198131126603103866, 0.148874338981631210884826001129720,
)  # fmt: skip
_KRONROD = (
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390,
    0.054755896574351996031381300244580, 0.075039674810919952767043140916190,
    0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109831074, 0.134709217311473325928054001771707,
    0.142775938577060080797094273138717, 0.147739104901338491374841515972068,
)  # fmt: skip
_KRONROD_MIDDLE = 0.149445554002916905664936468389821
_GAUSS = (
    0.0, 0.066671344308688137593568809893332, 0.0, 0.149451349150580593145776339657697,
    0.0, 0.219086362515982043995534934228163, 0.0, 0.269266719309996355091226921569469,
    0.0, 0.295524224714752870173892994651338,
)  # fmt: skip


def quad(
    func: Any, a: Any, b: Any, args: Any = (), *,
    epsabs: Any = 1.49e-8, epsrel: Any = 1.49e-8, limit: Any = 50,
) -> Any:  # fmt: skip
    """`scipy.integrate.quad`: the integral, and an estimate of its error."""
    args = args if isinstance(args, tuple) else (args,)
    low, high = math.isinf(a), math.isinf(b)
    if low and high:
        f = lambda t: _to_infinity(func, 0.0, 1.0, t, args) + _to_infinity(func, 0.0, -1.0, t, args)
        found, error = _adaptive(f, 0.0, 1.0, epsabs, epsrel, limit)
        return (found, error) if a < b else (-found, error)
    if high:
        way = 1.0 if b > 0 else -1.0
        f = lambda t: _to_infinity(func, a, way, t, args)
        found, error = _adaptive(f, 0.0, 1.0, epsabs, epsrel, limit)
        return way * found, error
    if low:
        way = -1.0 if a < 0 else 1.0
        f = lambda t: _to_infinity(func, b, way, t, args)
        found, error = _adaptive(f, 0.0, 1.0, epsabs, epsrel, limit)
        return -way * found, error
    return _adaptive(lambda t: func(t, *args), a, b, epsabs, epsrel, limit)


def _to_infinity(func: Any, start: Any, way: Any, t: Any, args: Any) -> Any:
    """The integrand over 0 < t <= 1 of one from `start` to plus or minus infinity."""
    return func(start + way * (1 - t) / t, *args) / (t * t)


def _adaptive(f: Any, a: Any, b: Any, epsabs: Any, epsrel: Any, limit: Any) -> Any:
    parts = [(a, b)]
    values, errors = [], []
    value, error = _on_interval(f, a, b)
    values.append(value)
    errors.append(error)
    while sum(errors) > max(epsabs, epsrel * abs(sum(values))) and len(parts) < limit:
        worst = errors.index(max(errors))
        start, stop = parts[worst]
        middle = 0.5 * (start + stop)
        parts[worst] = (start, middle)
        parts.append((middle, stop))
        value, error = _on_interval(f, start, middle)
        values[worst] = value
        errors[worst] = error
        value, error = _on_interval(f, middle, stop)
        values.append(value)
        errors.append(error)
    return sum(values), sum(errors)


def _on_interval(f: Any, a: Any, b: Any) -> Any:
    """Kronrod's rule of 21 points, and how far it is from Gauss's of 10."""
    centre, half = 0.5 * (a + b), 0.5 * (b - a)
    middle = f(centre)
    fine, coarse = _KRONROD_MIDDLE * middle, 0.0 * middle
    for node, kronrod, gauss in zip(_NODES, _KRONROD, _GAUSS, strict=True):
        both = f(centre - half * node) + f(centre + half * node)
        fine = fine + kronrod * both
        coarse = coarse + gauss * both
    return fine * half, abs((fine - coarse) * half)


def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: Any = 5) -> Any:
    """`scipy.integrate.fixed_quad`."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    points = (b - a) * (nodes + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(points, *args), axis=-1), None


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (integrate.trapezoid, trapezoid),
    (integrate.cumulative_trapezoid, cumulative_trapezoid),
    (integrate.simpson, simpson),
    (integrate.quad, quad),
    (integrate.fixed_quad, fixed_quad),
]
