"""SciPy's interpolants that are cubics between their points, in Python: the front end reads these instead.

A curve is what it is made of: its breakpoints and, by powers and intervals, its coefficients. Where values are
arrays, their axis along the points comes first in here, and goes to its place in what a curve gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import interpolate  # pyright: ignore[reportMissingTypeStubs]

from .....ops.arrays.creation import gather as array_of
from .....ops.program.refusals import FORMULA, uncovered

# --- axes -----------------------------------------------------------------------------------


def in_front(y: Any, axis: Any) -> Any:
    """Values with their axis along the points in front."""
    y = array_of(y)
    return y if axis % np.ndim(y) == 0 else np.moveaxis(y, axis, 0)


def in_place(values: Any, rank: Any, axis: Any) -> Any:
    """What a curve gives at an array of `rank` axes, which come in front, with these where `axis` was."""
    if axis == 0:
        return values
    return np.moveaxis(values, tuple(range(rank)), tuple(range(axis, axis + rank)))


def widened(x: Any, rank: Any) -> Any:
    """Numbers that go with arrays of this rank."""
    return x if rank == 0 else np.reshape(x, (*np.shape(x), *(1,) * rank))


# --- curves ---------------------------------------------------------------------------------


class Piecewise:
    """`scipy.interpolate.PPoly`: `c[k, i]` belongs to the highest power less k on interval i."""

    def __init__(self, c: Any, x: Any, extrapolate: Any = True, axis: Any = 0):
        self.c = c
        self.x = x
        self.extrapolate = extrapolate
        self.axis = axis

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        at, beyond = array_of(x), self.extrapolate if extrapolate is None else extrapolate
        if isinstance(beyond, str):
            at = self.x[0] + (at - self.x[0]) % (self.x[-1] - self.x[0])
        c, rank = _derived(self.c, nu), np.ndim(self.c) - 2
        last = np.shape(self.x)[0] - 2
        place = np.clip(np.searchsorted(self.x, at, side="right") - 1, 0, last)
        along = widened(at - self.x[place], rank)
        total = c[0][place]
        for k in range(1, np.shape(c)[0]):
            total = total * along + c[k][place]
        if not beyond:
            outside = (at < self.x[0]) | (at > self.x[-1])
            total = np.where(widened(outside, rank), np.nan, total)
        return in_place(total, np.ndim(at), self.axis)

    def derivative(self, nu: Any = 1) -> Any:
        return Piecewise(_derived(self.c, nu), self.x, self.extrapolate, self.axis)

    def antiderivative(self, nu: Any = 1) -> Any:
        c, rank = self.c, np.ndim(self.c) - 2
        for _ in range(nu):
            highest = c / widened(np.arange(np.shape(c)[0], 0, -1), rank + 1)
            whole = widened(np.diff(self.x), rank)
            parts = whole * _at(highest, whole)
            before = np.concatenate((0.0 * parts[:1], np.cumsum(parts, axis=0)[:-1]))
            c = np.concatenate((highest, np.expand_dims(before, 0)))
        beyond = self.extrapolate and not isinstance(self.extrapolate, str)
        return Piecewise(c, self.x, beyond, self.axis)

    def integrate(self, a: Any, b: Any) -> Any:
        if isinstance(self.extrapolate, str):
            raise uncovered("an integral of a periodic curve", FORMULA)
        whole = self.antiderivative()
        return whole(b) - whole(a)

    def integral(self, a: Any, b: Any) -> Any:
        return self.integrate(a, b)


def _derived(c: Any, times: Any) -> Any:
    for _ in range(times):
        if np.shape(c)[0] == 1:
            c = 0.0 * c
        else:
            powers = np.arange(np.shape(c)[0] - 1, 0, -1)
            c = c[:-1] * widened(powers, np.ndim(c) - 1)
    return c


def _at(c: Any, along: Any) -> Any:
    total = c[0]
    for k in range(1, np.shape(c)[0]):
        total = total * along + c[k]
    return total


def hermite(x: Any, y: Any, dydx: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.CubicHermiteSpline`."""
    axis = axis % np.ndim(y)
    slopes = in_front(dydx, axis)
    beyond = True if extrapolate is None else extrapolate
    return _through(array_of(x), in_front(y, axis), slopes, axis, beyond)


def _through(x: Any, y: Any, slopes: Any, axis: Any, extrapolate: Any) -> Any:
    """The curve of these values and slopes."""
    dx = widened(np.diff(x), np.ndim(y) - 1)
    slope = np.diff(y, axis=0) / dx
    bend = (slopes[:-1] + slopes[1:] - 2 * slope) / dx
    c = np.stack((bend / dx, (slope - slopes[:-1]) / dx - bend, slopes[:-1], y[:-1]))
    return Piecewise(c, x, extrapolate, axis)


# --- cubic splines --------------------------------------------------------------------------


def cubic_spline(
    x: Any, y: Any, axis: Any = 0, bc_type: Any = "not-a-knot", extrapolate: Any = None
) -> Any:
    """`scipy.interpolate.CubicSpline`."""
    axis, periodic = axis % np.ndim(y), isinstance(bc_type, str) and bc_type == "periodic"
    x, y = array_of(x), in_front(y, axis)
    dx = np.diff(x)
    slope = np.diff(y, axis=0) / widened(dx, np.ndim(y) - 1)
    if periodic:
        if not np.allclose(y[0], y[-1], rtol=1e-15, atol=1e-15):
            raise ValueError("The first and last `y` point must be identical when it is periodic.")
        slopes = _slopes_around(dx, slope)
    else:
        slopes = _slopes_between(dx, slope, bc_type)
    beyond = ("periodic" if periodic else True) if extrapolate is None else extrapolate
    return _through(x, y, slopes, axis, beyond)


def _slopes_around(dx: Any, slope: Any) -> Any:
    """The slopes at the breakpoints of a periodic spline."""
    count = np.shape(dx)[0]
    if count == 1:
        return np.concatenate((slope, slope))
    before, rank = np.roll(dx, 1), np.ndim(slope) - 1
    matrix = (
        np.diag(2 * (before + dx))
        + np.diag(before[:-1], 1)
        + np.diag(before[-1:], 1 - count)
        + np.diag(dx[1:], -1)
        + np.diag(dx[:1], count - 1)
    )
    rows = widened(dx, rank) * np.roll(slope, 1, axis=0) + widened(before, rank) * slope
    found = solved(matrix, 3 * rows)
    return np.concatenate((found, found[:1]))


def _slopes_between(dx: Any, slope: Any, bc_type: Any) -> Any:
    """The slopes at the breakpoints of a spline with a condition at either end."""
    start, end = (bc_type, bc_type) if isinstance(bc_type, str) else bc_type
    start, end = _condition(start, dx, slope), _condition(end, dx[::-1], slope[::-1])
    if len(dx) == 2 and start == "not-a-knot" and end == "not-a-knot":
        first, last = (1.0, 1.0, 2 * slope[0]), (1.0, 1.0, 2 * slope[1])  # a parabola
    else:
        first, last = _row(start, dx, slope, 1.0), _row(end, dx[::-1], slope[::-1], -1.0)
    wide = widened(dx, np.ndim(slope) - 1)
    inner = 3 * (wide[1:] * slope[:-1] + wide[:-1] * slope[1:])
    ends = [np.reshape(array_of(each), (1,)) for each in (*first[:2], *last[:2])]
    matrix = (
        np.diag(np.concatenate((ends[0], 2 * (dx[:-1] + dx[1:]), ends[2])))
        + np.diag(np.concatenate((ends[1], dx[:-1])), 1)
        + np.diag(np.concatenate((dx[1:], ends[3])), -1)
    )
    top, bottom = np.expand_dims(first[2], 0), np.expand_dims(last[2], 0)
    return solved(matrix, np.concatenate((top, inner, bottom)))


def _condition(given: Any, dx: Any, slope: Any) -> Any:
    """A condition at an end, as the order and the value of a derivative where it is one."""
    if not isinstance(given, str):
        return given
    if given == "clamped":
        return 1, 0.0
    if given == "natural":
        return 2, 0.0
    if given != "not-a-knot":
        raise ValueError(f"bc_type={given} is not allowed.")
    return (1, slope[0]) if len(dx) == 1 else given


def _row(condition: Any, dx: Any, slope: Any, along: Any) -> Any:
    """The equation for the slope at an end: its factor, that of the next, what they give; `along` is the direction."""
    if isinstance(condition, str):
        both = dx[0] + dx[1]
        right = (dx[0] + 2 * both) * dx[1] * slope[0] + dx[0] ** 2 * slope[1]
        return dx[1], both, right / both
    order, value = condition
    value = value + 0.0 * slope[0]
    if order == 1:
        return 1.0, 0.0, value
    return 2.0, 1.0, 3 * slope[0] - along * 0.5 * value * dx[0]


def solved(matrix: Any, right: Any) -> Any:
    """The solution for right-hand sides of any rank."""
    if np.ndim(right) < 3:
        return np.linalg.solve(matrix, right)
    flat = np.reshape(right, (np.shape(right)[0], -1))
    return np.reshape(np.linalg.solve(matrix, flat), np.shape(right))


# --- curves by their neighbours -------------------------------------------------------------


def pchip(x: Any, y: Any, axis: Any = 0, extrapolate: Any = None) -> Any:
    """`scipy.interpolate.PchipInterpolator`."""
    axis, x, y = axis % np.ndim(y), array_of(x), in_front(y, axis)
    h = widened(np.diff(x), np.ndim(y) - 1)
    m = np.diff(y, axis=0) / h
    if np.shape(m)[0] == 1:
        slopes = np.concatenate((m, m))
    else:
        w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
        same = m[1:] * m[:-1] > 0
        before, after = np.where(same, m[:-1], 1.0), np.where(same, m[1:], 1.0)
        inner = np.where(same, (w1 + w2) / (w1 / before + w2 / after), 0.0)
        first, last = _pchip_end(h[0], h[1], m[0], m[1]), _pchip_end(h[-1], h[-2], m[-1], m[-2])
        slopes = np.concatenate((np.expand_dims(first, 0), inner, np.expand_dims(last, 0)))
    return _through(x, y, slopes, axis, True if extrapolate is None else extrapolate)


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    steep = (np.sign(m0) != np.sign(m1)) & (np.abs(d) > 3.0 * np.abs(m0))
    return np.where(np.sign(d) != np.sign(m0), 0.0, np.where(steep, 3.0 * m0, d))


def akima(x: Any, y: Any, axis: Any = 0, *, method: Any = "akima", extrapolate: Any = None) -> Any:
    """`scipy.interpolate.Akima1DInterpolator`."""
    axis, x, y = axis % np.ndim(y), array_of(x), in_front(y, axis)
    inner = np.diff(y, axis=0) / widened(np.diff(x), np.ndim(y) - 1)
    straight = np.shape(inner)[0] == 1
    slopes = np.concatenate((inner, inner)) if straight else _akima_slopes(inner, method)
    return _through(x, y, slopes, axis, False if extrapolate is None else extrapolate)


def _akima_slopes(inner: Any, method: Any) -> Any:
    before, after = 2 * inner[0] - inner[1], 2 * inner[-1] - inner[-2]
    m = np.stack((2 * before - inner[0], before, *inner, after, 2 * after - inner[-1]))
    change = np.abs(np.diff(m, axis=0))
    if method == "makima":
        change = change + 0.5 * np.abs(m[1:] + m[:-1])
    whole = change[2:] + change[:-2]
    bent = whole > 1e-9 * np.max(whole)
    weighted = (change[2:] * m[1:-2] + change[:-2] * m[2:-1]) / np.where(bent, whole, 1.0)
    return np.where(bent, weighted, (m[3:] + m[:-3]) / 2)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (interpolate.CubicSpline, cubic_spline),
    (interpolate.CubicHermiteSpline, hermite),
    (interpolate.PchipInterpolator, pchip),
    (interpolate.Akima1DInterpolator, akima),
]
