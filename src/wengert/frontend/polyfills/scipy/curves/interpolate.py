"""SciPy's interpolants in one dimension, in Python: lines, steps and polynomials through all points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import interpolate  # pyright: ignore[reportMissingTypeStubs]

from .....ops.arrays.creation import gather as array_of
from ... import manifest
from ...same_names import same_names
from .b_splines import EQUIVALENTS as OF_B_SPLINES, Basis, b_spline, make_interp_spline
from .cubics import EQUIVALENTS as OF_CUBICS, Piecewise, in_front, in_place, widened

# --- interp1d -------------------------------------------------------------------------------


class Line:
    """What `scipy.interpolate.interp1d` goes through between neighbours: a line, or the value of one of them."""

    def __init__(self, x: Any, y: Any, kind: Any):
        self.x = x
        self.y = y
        self.kind = kind

    def __call__(self, x: Any) -> Any:
        last = np.shape(self.x)[0] - 1
        if self.kind == "previous":
            return self.y[np.clip(np.searchsorted(self.x, x, side="right") - 1, 0, last)]
        if self.kind == "next":
            return self.y[np.clip(np.searchsorted(self.x, x, side="left"), 0, last)]
        if self.kind in ("nearest", "nearest-up"):
            middles = self.x[1:] / 2 + self.x[:-1] / 2
            side = "left" if self.kind == "nearest" else "right"
            return self.y[np.searchsorted(middles, x, side=side)]
        above = np.clip(np.searchsorted(self.x, x), 1, last)
        x0, y0 = self.x[above - 1], self.y[above - 1]
        rank = np.ndim(self.y) - 1
        slope = (self.y[above] - y0) / widened(self.x[above] - x0, rank)
        return slope * widened(x - x0, rank) + y0


class Within:
    """A curve that has other values, or none, outside of the points that it goes through."""

    def __init__(self, curve: Any, x: Any, rank: Any, fill_value: Any, axis: Any):
        self.curve = curve
        self.x = x
        self.rank = rank
        self.fill_value = fill_value
        self.axis = axis

    def __call__(self, x: Any) -> Any:
        at = array_of(x)
        found = _filled(self.curve(at), at, self.x, self.rank, self.fill_value)
        return in_place(found, np.ndim(at), self.axis)


def _filled(found: Any, at: Any, x: Any, rank: Any, fill_value: Any) -> Any:
    if isinstance(fill_value, str):
        return found
    if fill_value is None:
        if np.any((at < x[0]) | (at > x[-1])):
            raise ValueError("A value in x_new is outside the interpolation range.")
        return found
    pair = isinstance(fill_value, tuple) and len(fill_value) == 2
    below, above = fill_value if pair else (fill_value, fill_value)
    within = np.where(widened(at > x[-1], rank), above, found)
    return np.where(widened(at < x[0], rank), below, within)


_DEGREES: dict[str, int] = {"zero": 0, "slinear": 1, "quadratic": 2, "cubic": 3}


def interp1d(
    x: Any, y: Any, kind: Any = "linear", axis: Any = -1, copy: Any = True, bounds_error: Any = None,
    fill_value: Any = np.nan, assume_sorted: Any = False,
) -> Any:  # fmt: skip
    """`scipy.interpolate.interp1d`."""
    axis, x, y = axis % np.ndim(y), array_of(x), in_front(y, axis)
    if not assume_sorted:
        order = np.argsort(x, kind="mergesort")
        x, y = x[order], y[order]
    beyond = isinstance(fill_value, str)
    if beyond and bounds_error:
        raise ValueError("Cannot extrapolate and raise at the same time.")
    fill = fill_value if beyond or bounds_error is False else None
    if beyond and kind == "previous":
        fill = (np.nan, y[-1])
    elif beyond and kind == "next":
        fill = (y[0], np.nan)
    degree = _DEGREES.get(kind) if isinstance(kind, str) else kind
    curve = Line(x, y, kind) if degree is None else make_interp_spline(x, y, degree)
    return Within(curve, x, np.ndim(y) - 1, fill, axis)


# --- polynomials ----------------------------------------------------------------------------


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
        return manifest.as_it_is(interpolate.BarycentricInterpolator, xi, yi)
    return Polynomial(array_of(xi) * 1.0, array_of(yi) * 1.0)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *OF_CUBICS,
    *OF_B_SPLINES,
    *same_names(interpolate, globals()),
    (interpolate.BarycentricInterpolator, barycentric),
]

# --- made outside ---------------------------------------------------------------------------


def _line_of(owner: Any) -> Any:
    """What stands for an `interp1d` that was made outside."""
    state = vars(owner)
    fill = None if owner.bounds_error else owner.fill_value
    y = np.moveaxis(owner.y, owner.axis, 0)
    curve: Any = Line(owner.x, y, state["_kind"])
    if state["_kind"] == "spline":
        spline = state["_spline"]
        curve = Basis(spline.t, np.reshape(spline.c, (-1, *np.shape(y)[1:])), spline.k)
    return Within(curve, owner.x, np.ndim(y) - 1, fill, owner.axis)


def equivalent_of(function: Any) -> Callable[..., Any] | None:
    """What stands for a spline that was made outside, or for a method of one."""
    owner: Any = getattr(function, "__self__", function)
    if isinstance(owner, interpolate.PPoly):
        made: Any = Piecewise(owner.c, owner.x, owner.extrapolate, owner.axis)
    elif isinstance(owner, interpolate.BSpline):
        made = b_spline(
            owner.t, np.moveaxis(owner.c, 0, owner.axis), owner.k, owner.extrapolate, owner.axis
        )
    elif isinstance(owner, interpolate.interp1d):
        made = _line_of(owner)
    else:
        return None
    return made if owner is function else getattr(made, function.__name__, None)
