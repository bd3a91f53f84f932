"""SciPy's interpolants on grids, in Python: the front end reads these instead.

Along every axis they are sums of a few functions, whose products weigh the values at the corners.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import interpolate  # pyright: ignore[reportMissingTypeStubs]

from .....ops.arrays.creation import gather as array_of
from .....ops.structure import stop_gradient
from ... import manifest

_METHODS = ("linear", "nearest", "slinear", "cubic", "quintic")
_DEGREES = {"cubic": 3, "quintic": 5}


def _rows(xi: Any, count: Any) -> Any:
    """Points as rows, however they were passed; `count` numbers make one."""
    if isinstance(xi, tuple):
        at = [array_of(x) * 1.0 for x in xi]
        together = sum([0.0 * x for x in at])
        return np.stack([x + together for x in at], axis=-1)
    at = array_of(xi) * 1.0
    return np.reshape(at, (-1, count)) if np.ndim(at) < 2 else at


class Grid:
    """`scipy.interpolate.RegularGridInterpolator`, by a method that weighs values at corners."""

    def __init__(self, points: Any, values: Any, method: Any, bounds_error: Any, fill_value: Any):
        self.points = points
        self.values = values
        self.method = method
        self.bounds_error = bounds_error
        self.fill_value = fill_value

    def __call__(self, xi: Any, method: Any = None) -> Any:
        method = self.method if method is None else method
        count = len(self.points)
        at = _rows(xi, count)
        outside = _outside(self.points, at, self.bounds_error)
        total = self.extrapolated(at, method)
        if self.bounds_error or self.fill_value is None:
            return total
        more = np.ndim(self.values) - count
        outside = np.reshape(outside, (*np.shape(outside), *[1] * more))
        return np.where(outside, self.fill_value, total)

    def extrapolated(self, at: Any, method: Any) -> Any:
        if method not in _METHODS:
            return manifest.as_it_is(_called, self.points, self.values, at, method)
        count, values = len(self.points), self.values
        if method in _DEGREES:
            for k in range(count):
                values = coefficients(self.points[k], values, k, _DEGREES[method])
        sides = [_along(self.points[k], at[..., k], method) for k in range(count)]
        total = weighed(sides, values, np.ndim(values) - count)
        if method not in _DEGREES:
            return total
        # SciPy solves for coefficients by an iteration, which ends before they are exact
        known = stop_gradient(self.values), stop_gradient(at)
        return manifest.as_it_is(_called, self.points, *known, method) + (
            total - stop_gradient(total)
        )


def _called(points: Any, values: Any, at: Any, method: Any) -> Any:
    beyond: Any = None
    return interpolate.RegularGridInterpolator(points, values, method, False, beyond)(at)


def weighed(sides: Any, values: Any, more: Any) -> Any:
    """The sum over all corners, of which each axis gives several with their weights."""
    total = 0.0
    for corner in itertools.product(*sides):
        weight = 1.0
        for _, share in corner:
            weight = weight * share
        at_corner = values[tuple([place for place, _ in corner])]
        total = total + np.reshape(weight, (*np.shape(weight), *[1] * more)) * at_corner
    return total


def _along(points: Any, at: Any, method: Any) -> Any:
    """Which values along an axis matter to numbers on it, and how much."""
    if method in _DEGREES:
        k = _DEGREES[method]
        t = knots(points, k)
        place = np.clip(np.searchsorted(t, at, side="right") - 1, k, np.shape(t)[0] - k - 2)
        shares = weights(t, k, place, at)
        return [(place - k + j, shares[j]) for j in range(k + 1)]
    place = np.clip(np.searchsorted(points, at, side="right") - 1, 0, np.shape(points)[0] - 2)
    share = (at - points[place]) / (points[place + 1] - points[place])
    if method == "nearest":
        return [(np.where(share <= 0.5, place, place + 1), 1.0 + 0.0 * share)]
    return [(place, 1.0 - share), (place + 1, share)]


def knots(points: Any, k: Any) -> Any:
    """The knots of a spline of odd degree that has none next to its ends."""
    inner = points[(k + 1) // 2 : -((k + 1) // 2)]
    return np.concatenate((np.repeat(points[:1], k + 1), inner, np.repeat(points[-1:], k + 1)))


def coefficients(points: Any, values: Any, axis: Any, k: Any) -> Any:
    """The coefficients of the splines along an axis that go through all values."""
    matrix = manifest.as_it_is(_collocated, points, k)
    lanes = np.moveaxis(values, axis, 0)
    found = np.linalg.solve(matrix, np.reshape(lanes, (np.shape(lanes)[0], -1)))
    return np.moveaxis(np.reshape(found, np.shape(lanes)), 0, axis)


def _collocated(points: Any, k: Any) -> Any:
    return interpolate.BSpline.design_matrix(points, knots(points, k), k).toarray()


def weights(t: Any, k: Any, place: Any, at: Any) -> Any:
    """The B-splines that are not zero between two knots (Cox 1972; de Boor 1972)."""
    shares = [1.0 + 0.0 * at]
    for r in range(1, k + 1):
        carried, longer = 0.0, []
        for j in range(r):
            low, high = t[place + 1 - r + j], t[place + 1 + j]
            part = shares[j] / (high - low)
            longer.append(carried + (high - at) * part)
            carried = (at - low) * part
        shares = [*longer, carried]
    return shares


def _outside(points: Any, at: Any, refused: Any) -> Any:
    found = np.zeros(np.shape(at)[:-1], bool)
    for k in range(len(points)):
        beyond = (at[..., k] < points[k][0]) | (at[..., k] > points[k][-1])
        if refused and np.any(beyond):
            raise ValueError(f"One of the requested xi is out of bounds in dimension {k}")
        found = found | beyond
    return found


def regular_grid(
    points: Any,
    values: Any,
    method: Any = "linear",
    bounds_error: Any = True,
    fill_value: Any = np.nan,
) -> Any:
    """`scipy.interpolate.RegularGridInterpolator`: by "pchip" it is called as it is."""
    if method not in _METHODS:
        return manifest.as_it_is(
            interpolate.RegularGridInterpolator, points, values, method, bounds_error, fill_value
        )
    axes, values = [], array_of(values) * 1.0
    for k in range(len(points)):
        axis = np.asarray(points[k], dtype=float)
        if axis[-1] < axis[0]:
            axis, values = axis[::-1], np.flip(values, k)
        if not np.all(np.diff(axis) > 0):
            raise ValueError(
                f"The points in dimension {k} must be strictly ascending or descending"
            )
        axes.append(axis)
    return Grid(tuple(axes), values, method, bounds_error, fill_value)


def interpn(
    points: Any, values: Any, xi: Any, method: Any = "linear", bounds_error: Any = True,
    fill_value: Any = np.nan,
) -> Any:  # fmt: skip
    """`scipy.interpolate.interpn`."""
    if method not in _METHODS:
        return manifest.as_it_is(
            interpolate.interpn, points, values, xi, method, bounds_error, fill_value
        )
    return regular_grid(points, values, method, bounds_error, fill_value)(xi)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (interpolate.RegularGridInterpolator, regular_grid),
    (interpolate.interpn, interpn),
]


def equivalent_of(function: Any) -> Callable[..., Any] | None:
    """What stands for an interpolant on a grid that was made outside."""
    if isinstance(function, interpolate.RegularGridInterpolator) and function.method in _METHODS:
        grid, values = function.grid, function.values
        return Grid(grid, values, function.method, function.bounds_error, function.fill_value)
    return None
