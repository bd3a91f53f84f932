"""SciPy's integrals of samples, in Python: the front end reads these instead."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import integrate  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of
from ..numpy.statistics import trapezoid
from ..same_names import same_names

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


def romb(y: Any, dx: Any = 1.0, axis: Any = -1) -> Any:
    """`scipy.integrate.romb`: Richardson's extrapolation of trapezoidal sums."""
    y = np.moveaxis(array_of(y), axis, -1)
    count = np.shape(y)[-1] - 1
    if count < 1 or count & (count - 1):
        raise ValueError("Number of samples must be one plus a non-negative power of 2.")
    rows = []
    step = count
    while step > 0:
        part = y[..., ::step]
        rows.append(dx * step * (np.sum(part, axis=-1) - (part[..., 0] + part[..., -1]) / 2))
        step //= 2
    factor = 4
    while len(rows) > 1:
        rows = [b + (b - a) / (factor - 1) for a, b in itertools.pairwise(rows)]
        factor *= 4
    return rows[0]


# --- of functions ---------------------------------------------------------------------------


def fixed_quad(func: Any, a: Any, b: Any, args: Any = (), n: Any = 5) -> Any:
    """`scipy.integrate.fixed_quad`."""
    nodes, weights = np.polynomial.legendre.leggauss(n)
    points = (b - a) * (nodes + 1) / 2.0 + a
    return (b - a) / 2.0 * np.sum(weights * func(points, *args), axis=-1), None


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(integrate, globals()),
    (integrate.trapezoid, trapezoid),
]
