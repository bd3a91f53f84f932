"""SciPy's interpolants in one dimension, in Python: the front end reads these instead.

A spline is what it is made of: its breakpoints and, by powers and intervals, its coefficients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import interpolate  # pyright: ignore[reportMissingTypeStubs]

from ..ops.creation import gather as array_of
from ..ops.refusals import FORMULA, uncovered
from . import equivalents


class Piecewise:
    """`scipy.interpolate.PPoly`: `c[k, i]` belongs to the highest power less k on interval i."""

    def __init__(self, c: Any, x: Any, extrapolate: Any = True):
        self.c = c
        self.x = x
        self.extrapolate = extrapolate

    def __call__(self, x: Any, nu: Any = 0) -> Any:
        at = array_of(x)
        c = _derived(self.c, nu)
        last = np.shape(self.x)[0] - 2
        place = np.clip(np.searchsorted(self.x, at, side="right") - 1, 0, last)
        along = at - self.x[place]
        total = c[0][place]
        for k in range(1, np.shape(c)[0]):
            total = total * along + c[k][place]
        if self.extrapolate:
            return total
        return np.where((at < self.x[0]) | (at > self.x[-1]), np.nan, total)

    def derivative(self, nu: Any = 1) -> Any:
        return Piecewise(_derived(self.c, nu), self.x, self.extrapolate)

    def antiderivative(self) -> Any:
        powers = np.arange(np.shape(self.c)[0], 0, -1)
        highest = self.c / np.expand_dims(powers, 1)
        whole = np.diff(self.x)
        parts = whole * _at(highest, whole)
        before = np.concatenate((np.zeros(1), np.cumsum(parts)[:-1]))
        return Piecewise(np.concatenate((highest, np.expand_dims(before, 0))), self.x)

    def integrate(self, a: Any, b: Any) -> Any:
        whole = self.antiderivative()
        return whole(b) - whole(a)

    def integral(self, a: Any, b: Any) -> Any:
        return self.integrate(a, b)


def _derived(c: Any, times: Any) -> Any:
    for _ in range(times):
        powers = np.arange(np.shape(c)[0] - 1, 0, -1)
        c = c[:-1] * np.expand_dims(powers, 1)
    return c


def _at(c: Any, along: Any) -> Any:
    total = c[0]
    for k in range(1, np.shape(c)[0]):
        total = total * along + c[k]
    return total


def hermite(x: Any, y: Any, dydx: Any, *, extrapolate: Any = True) -> Any:
    """`scipy.interpolate.CubicHermiteSpline` of numbers."""
    x, y, dydx = array_of(x), array_of(y), array_of(dydx)
    dx = np.diff(x)
    slope = np.diff(y) / dx
    bend = (dydx[:-1] + dydx[1:] - 2 * slope) / dx
    c = np.stack((bend / dx, (slope - dydx[:-1]) / dx - bend, dydx[:-1], y[:-1]))
    return Piecewise(c, x, extrapolate)


def cubic_spline(x: Any, y: Any, *, bc_type: Any = "not-a-knot") -> Any:
    """`scipy.interpolate.CubicSpline` of numbers, with the same condition at both ends."""
    if not (isinstance(bc_type, str) and bc_type in ("not-a-knot", "natural", "clamped")):
        return equivalents.as_it_is(interpolate.CubicSpline, x, y, 0, bc_type)
    x, y = array_of(x), array_of(y)
    n, dx = np.shape(x)[0], np.diff(x)
    slope = np.diff(y) / dx
    if n == 2 and bc_type == "not-a-knot":
        return hermite(x, y, np.stack((slope[0], slope[0])))
    inner = 3 * (dx[1:] * slope[:-1] + dx[:-1] * slope[1:])
    (first, start), (last, end) = _at_ends(n, dx, slope, bc_type)
    rows = [first]
    for k in range(1, n - 1):
        here = np.stack((dx[k], 2 * (dx[k - 1] + dx[k]), dx[k - 1]))
        rows.append(np.pad(here, (k - 1, n - k - 2)))
    rows.append(last)
    right = np.concatenate((np.reshape(start, (1,)), inner, np.reshape(end, (1,))))
    return hermite(x, y, np.linalg.solve(np.stack(rows), right))


def _at_ends(n: Any, dx: Any, slope: Any, bc_type: Any) -> Any:
    """The first and the last equation for the slopes at the breakpoints."""
    one = np.ones(1)
    if bc_type == "clamped":
        return (np.pad(one, (0, n - 1)), 0.0), (np.pad(one, (n - 1, 0)), 0.0)
    if bc_type == "natural":
        first, last = np.array([2.0, 1.0]), np.array([1.0, 2.0])
        return (np.pad(first, (0, n - 2)), 3 * slope[0]), (np.pad(last, (n - 2, 0)), 3 * slope[-1])
    if n == 3:
        both = np.ones(2)
        return (np.pad(both, (0, 1)), 2 * slope[0]), (np.pad(both, (1, 0)), 2 * slope[1])
    a, b = dx[0] + dx[1], dx[-1] + dx[-2]
    start = ((dx[0] + 2 * a) * dx[1] * slope[0] + dx[0] ** 2 * slope[1]) / a
    end = (dx[-1] ** 2 * slope[-2] + (2 * b + dx[-1]) * dx[-2] * slope[-1]) / b
    first, last = np.stack((dx[1], a)), np.stack((b, dx[-2]))
    return (np.pad(first, (0, n - 2)), start), (np.pad(last, (n - 2, 0)), end)


def pchip(x: Any, y: Any) -> Any:
    """`scipy.interpolate.PchipInterpolator` of three numbers or more."""
    x, y = array_of(x), array_of(y)
    h = np.diff(x)
    m = np.diff(y) / h
    w1, w2 = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    same = m[1:] * m[:-1] > 0
    before, after = np.where(same, m[:-1], 1.0), np.where(same, m[1:], 1.0)
    inner = np.where(same, (w1 + w2) / (w1 / before + w2 / after), 0.0)
    first, last = _pchip_end(h[0], h[1], m[0], m[1]), _pchip_end(h[-1], h[-2], m[-1], m[-2])
    return hermite(x, y, np.concatenate((np.reshape(first, (1,)), inner, np.reshape(last, (1,)))))


def _pchip_end(h0: Any, h1: Any, m0: Any, m1: Any) -> Any:
    d = ((2 * h0 + h1) * m0 - h0 * m1) / (h0 + h1)
    if np.sign(d) != np.sign(m0):
        return 0.0 * d
    return 3.0 * m0 if np.sign(m0) != np.sign(m1) and abs(d) > 3.0 * abs(m0) else d


def akima(x: Any, y: Any, *, extrapolate: Any = False) -> Any:
    """`scipy.interpolate.Akima1DInterpolator` of three numbers or more, by its original method."""
    x, y = array_of(x), array_of(y)
    inner = np.diff(y) / np.diff(x)
    before, after = 2 * inner[0] - inner[1], 2 * inner[-1] - inner[-2]
    m = np.stack((2 * before - inner[0], before, *inner, after, 2 * after - inner[-1]))
    change = np.abs(np.diff(m))
    whole = change[2:] + change[:-2]
    bent = whole > 1e-9 * np.max(whole)
    weighted = (change[2:] * m[1:-2] + change[:-2] * m[2:-1]) / np.where(bent, whole, 1.0)
    slopes = np.where(bent, weighted, (m[3:] + m[:-3]) / 2)
    return hermite(x, y, slopes, extrapolate=bool(extrapolate))


def lagrange(x: Any, w: Any) -> Any:
    """`scipy.interpolate.lagrange`."""
    total = np.poly1d([0.0])
    for j in range(len(x)):
        part = np.poly1d(np.atleast_1d(w[j]))
        for k in range(len(x)):
            if k != j:
                part = part * np.poly1d(np.stack((1.0 + 0.0 * x[k], -x[k]))) / (x[j] - x[k])
        total = total + part
    return total


class Polynomial:
    """`scipy.interpolate.BarycentricInterpolator` of numbers, by divided differences."""

    def __init__(self, xi: Any, yi: Any):
        self.x = xi
        differences, self.c = yi, [yi[0]]
        for k in range(1, np.shape(xi)[0]):
            differences = np.diff(differences) / (xi[k:] - xi[:-k])
            self.c.append(differences[0])

    def __call__(self, x: Any) -> Any:
        at = array_of(x) * 1.0
        total = self.c[-1] + 0.0 * at
        for k in range(len(self.c) - 2, -1, -1):
            total = total * (at - self.x[k]) + self.c[k]
        return total


def barycentric(xi: Any, yi: Any = None) -> Any:
    """`scipy.interpolate.BarycentricInterpolator` of numbers."""
    if yi is None or np.ndim(yi) != 1:
        return equivalents.as_it_is(interpolate.BarycentricInterpolator, xi, yi)
    return Polynomial(array_of(xi) * 1.0, array_of(yi) * 1.0)


def barycentric_interpolate(xi: Any, yi: Any, x: Any) -> Any:
    """`scipy.interpolate.barycentric_interpolate` of numbers."""
    return barycentric(xi, yi)(x)


class Basis:
    """`scipy.interpolate.BSpline` of numbers, by de Boor's recurrence."""

    def __init__(self, t: Any, c: Any, k: Any, extrapolate: Any = True):
        self.t = t
        self.c = c
        self.k = k
        self.extrapolate = extrapolate

    def __call__(self, x: Any, nu: Any = 0) -> Any:
        if nu > self.k:
            return 0.0 * array_of(x)
        if nu > 0:
            return self.derivative(nu)(x)
        at, k, last = array_of(x), self.k, np.shape(self.t)[0] - self.k - 2
        place = np.clip(np.searchsorted(self.t, at, side="right") - 1, k, last)
        d = de_boor(self.t, k, place, at, [self.c[place - k + j] for j in range(k + 1)])
        if self.extrapolate:
            return d
        return np.where((at < self.t[k]) | (at > self.t[last + 1]), np.nan, d)

    def derivative(self, nu: Any = 1) -> Any:
        t, c, k = self.t, self.c[: np.shape(self.t)[0] - self.k - 1], self.k
        for _ in range(nu):
            c = k * np.diff(c) / (t[k + 1 : -1] - t[1 : -k - 1])
            t, k = t[1:-1], k - 1
        return Basis(t, c, k, self.extrapolate)

    def antiderivative(self, nu: Any = 1) -> Any:
        t, c, k = self.t, self.c[: np.shape(self.t)[0] - self.k - 1], self.k
        for _ in range(nu):
            sums = np.cumsum(c * (t[k + 1 :] - t[: -k - 1])) / (k + 1)
            c = np.concatenate((np.zeros(1), sums))
            t, k = np.concatenate((t[:1], t, t[-1:])), k + 1
        return Basis(t, c, k, self.extrapolate)


def de_boor(t: Any, k: Any, place: Any, at: Any, d: Any) -> Any:
    """A spline by de Boor's recurrence, from the coefficients `d` that matter between two knots."""
    for r in range(1, k + 1):
        for j in range(k, r - 1, -1):
            left, right = t[place + j - k], t[place + j + 1 - r]
            alpha = (at - left) / (right - left)
            d[j] = (1 - alpha) * d[j - 1] + alpha * d[j]
    return d[k]


def b_spline(t: Any, c: Any, k: Any, extrapolate: Any = True) -> Any:
    """`scipy.interpolate.BSpline` of numbers, not periodic."""
    if extrapolate == "periodic":
        raise uncovered("a spline with extrapolate='periodic'", FORMULA)
    return Basis(array_of(t), array_of(c), k, extrapolate)


class Line:
    """`scipy.interpolate.interp1d` of the kind "linear", "nearest" or "previous"."""

    def __init__(self, x: Any, y: Any, kind: Any, fill_value: Any):
        self.x = x
        self.y = y
        self.kind = kind
        self.fill_value = fill_value

    def __call__(self, x: Any) -> Any:
        at = array_of(x)
        last = np.shape(self.x)[0] - 1
        if self.kind == "previous":
            found = self.y[np.clip(np.searchsorted(self.x, at, side="right") - 1, 0, last)]
        elif self.kind == "nearest":
            middles = (self.x[1:] + self.x[:-1]) / 2
            found = self.y[np.searchsorted(middles, at, side="left")]
        else:
            above = np.clip(np.searchsorted(self.x, at), 1, last)
            x0, y0 = self.x[above - 1], self.y[above - 1]
            found = (self.y[above] - y0) / (self.x[above] - x0) * (at - x0) + y0
        return _filled(found, at, self.x, self.fill_value)


class Within:
    """A curve that has other values, or none, outside of the points that it goes through."""

    def __init__(self, curve: Any, x: Any, fill_value: Any):
        self.curve = curve
        self.x = x
        self.fill_value = fill_value

    def __call__(self, x: Any) -> Any:
        at = array_of(x)
        return _filled(self.curve(at), at, self.x, self.fill_value)


def _filled(found: Any, at: Any, x: Any, fill_value: Any) -> Any:
    if isinstance(fill_value, str):
        return found
    if fill_value is None:
        if np.any((at < x[0]) | (at > x[-1])):
            raise ValueError("A value in x_new is outside the interpolation range.")
        return found
    below, above = fill_value if isinstance(fill_value, tuple) else (fill_value, fill_value)
    return np.where(at < x[0], below, np.where(at > x[-1], above, found))


def interp1d(
    x: Any, y: Any, kind: Any = "linear", *, bounds_error: Any = None, fill_value: Any = None,
    assume_sorted: Any = False,
) -> Any:  # fmt: skip
    """`scipy.interpolate.interp1d` of numbers in order."""
    if kind in ("linear", "nearest", "previous"):
        if bounds_error is False and fill_value is None:
            fill_value = np.nan
        return Line(array_of(x), array_of(y), kind, fill_value)
    if kind == "cubic":
        return cubic_spline(x, y)
    return equivalents.as_it_is(interpolate.interp1d, x, y, kind)


def make_interp_spline(x: Any, y: Any, k: Any = 3) -> Any:
    """`scipy.interpolate.make_interp_spline`, and its like, of the third degree."""
    return (
        cubic_spline(x, y)
        if k == 3
        else equivalents.as_it_is(interpolate.make_interp_spline, x, y, k)
    )


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (interpolate.CubicSpline, cubic_spline),
    (interpolate.CubicHermiteSpline, hermite),
    (interpolate.PchipInterpolator, pchip),
    (interpolate.Akima1DInterpolator, akima),
    (interpolate.BSpline, b_spline),
    (interpolate.lagrange, lagrange),
    (interpolate.BarycentricInterpolator, barycentric),
    (interpolate.barycentric_interpolate, barycentric_interpolate),
    (interpolate.interp1d, interp1d),
    (interpolate.make_interp_spline, make_interp_spline),
]


def _line_of(owner: Any) -> Any:
    """What stands for an `interp1d` that was made outside."""
    state = vars(owner)
    fill: Any = (owner.fill_value, owner.fill_value)
    if isinstance(owner.fill_value, str):
        fill = owner.fill_value
    elif owner.bounds_error:
        fill = None
    elif isinstance(owner.fill_value, tuple):
        fill = owner.fill_value
    if state["_kind"] != "spline":
        return Line(owner.x, owner.y, state["_kind"], fill)
    spline = state["_spline"]
    return Within(Basis(spline.t, np.ravel(spline.c), spline.k), owner.x, fill)


def equivalent_of(function: Any) -> Callable[..., Any] | None:
    """What stands for a spline that was made outside, or for a method of one."""
    owner: Any = getattr(function, "__self__", function)
    if isinstance(owner, interpolate.PPoly) and owner.c.ndim == 2:
        made: Any = Piecewise(owner.c, owner.x, owner.extrapolate)
    elif isinstance(owner, interpolate.BSpline) and owner.c.ndim == 1:
        made = b_spline(owner.t, owner.c, owner.k, owner.extrapolate)
    elif isinstance(owner, interpolate.interp1d) and owner.y.ndim == 1:
        made = _line_of(owner)
    else:
        return None
    return made if owner is function else getattr(made, function.__name__, None)
