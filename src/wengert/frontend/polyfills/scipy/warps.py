"""Images of `scipy.ndimage` read between their points: moved, turned, scaled; in Python.

By the nearest point (order 0), linearly (1), or by splines of a higher order through all points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage, special  # pyright: ignore[reportMissingTypeStubs]

from .. import manifest
from ..same_names import same_names
from .curves.grids import weighed
from .ndimage import floats

_MODES = ("constant", "nearest", "reflect", "grid-mirror", "mirror", "wrap", "grid-wrap")
"""What is beyond the edges; in another mode a function is called as it is, and has no derivative."""


def map_coordinates(
    input: Any,
    coordinates: Any,
    *,
    order: Any = 3,
    mode: Any = "constant",
    cval: Any = 0.0,
    prefilter: Any = True,
) -> Any:
    """`scipy.ndimage.map_coordinates`."""
    if mode not in _MODES:
        return manifest.as_it_is(
            ndimage.map_coordinates, input, coordinates, None, order, mode, cval, prefilter
        )
    at = np.asarray(coordinates) * 1.0
    return _between(floats(input), at, order, mode, cval, prefilter)


def _between(x: Any, at: Any, order: Any, mode: Any, cval: Any, prefilter: Any) -> Any:
    """The values of an image at some places."""
    if order < 0 or order > 5:
        raise RuntimeError("spline order not supported")
    inside, sizes = np.full(at.shape[1:], fill_value=True), np.shape(x)
    for axis in range(np.ndim(x)):
        inside = inside & (at[axis] >= 0) & (at[axis] <= sizes[axis] - 1)
    before = 0
    if order > 1 and prefilter:
        if mode == "nearest":
            before = _AROUND
            x = np.pad(x, before, mode="edge")
        for axis in range(np.ndim(x)):
            x = spline_filter1d(x, order, axis, mode=mode)
    sides = [_side(at[axis] + before, np.shape(x)[axis], order, mode) for axis in range(np.ndim(x))]
    value = weighed(sides, x, 0)
    return np.where(inside, value, cval) if mode == "constant" else value


_AROUND = 12
"""By how many places SciPy continues an image for splines that are to be constant outside."""


def _side(at: Any, n: Any, order: Any, mode: Any) -> Any:
    """Which places along an axis matter to numbers on it, and how much: B-splines."""
    at = _mapped(at, n, mode)
    low = np.floor(at) if order % 2 == 1 else np.floor(at + 0.5)
    share = at - low if order % 2 == 1 else at - low + 0.5
    shares = [1.0 + 0.0 * share]
    for r in range(1, order + 1):
        carried, longer = 0.0, []
        for j in range(r):
            part = shares[j] / r
            longer.append(carried + (1 + j - share) * part)
            carried = (share - 1 + r - j) * part
        shares = [*longer, carried]
    beyond = "mirror" if mode in ("constant", "wrap") else mode
    first = low.astype(int) - order // 2
    places = [_mapped(first + j, n, beyond) for j in range(order + 1)]
    return [(places[j].astype(int), shares[j]) for j in range(order + 1)]


def _mapped(at: Any, n: Any, mode: Any) -> Any:
    """Places beyond the ends of an axis by those that stand for them."""
    if n == 1 or mode in ("constant", "nearest"):
        return np.clip(at, 0, n - 1)
    if mode == "mirror":
        folded = at - 2 * (n - 1) * np.floor(at / (2 * (n - 1)))
        return np.where(folded > n - 1, 2 * (n - 1) - folded, folded)
    if mode in ("reflect", "grid-mirror"):
        outside = (at < 0) | (at > n - 1)
        folded = at - 2 * n * np.floor(at / (2 * n))
        return np.where(outside, np.where(folded >= n, 2 * n - 1 - folded, folded), at)
    period = n - 1 if mode == "wrap" else n
    outside = (at < 0) | (at > n - 1)
    return np.where(outside, at - period * np.floor(at / period), at)


def spline_filter1d(input: Any, order: Any = 3, axis: Any = -1, *, mode: Any = "mirror") -> Any:
    """`scipy.ndimage.spline_filter1d`: its matrix along an axis."""
    x = np.moveaxis(floats(input), axis, -1)
    matrix = manifest.as_it_is(_filter, np.shape(x)[-1], order, mode)
    return np.moveaxis(x @ matrix, -1, axis)


def spline_filter(input: Any, order: Any = 3, *, mode: Any = "mirror") -> Any:
    """`scipy.ndimage.spline_filter`."""
    x = floats(input)
    if order < 2 or order > 5:
        raise RuntimeError("spline order not supported")
    for axis in range(np.ndim(x)):
        x = spline_filter1d(x, order, axis, mode=mode)
    return x


def _filter(n: Any, order: Any, mode: Any) -> Any:
    return ndimage.spline_filter1d(np.eye(n), order, mode=mode)


def affine_transform(
    input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, *,
    order: Any = 3, mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    """`scipy.ndimage.affine_transform`: the result at `o` is the image at `matrix @ o + offset`."""
    if mode not in _MODES:
        return manifest.as_it_is(
            ndimage.affine_transform,
            input,
            matrix,
            offset,
            output_shape,
            None,
            order,
            mode,
            cval,
            prefilter,
        )
    x = floats(input)
    matrix = np.asarray(matrix) * 1.0
    shape = np.shape(x) if output_shape is None else tuple(output_shape)
    points = np.indices(shape).reshape(len(shape), -1) * 1.0
    moved = np.expand_dims(matrix, 1) * points if np.ndim(matrix) == 1 else matrix @ points
    moved = moved + np.reshape(np.zeros(len(shape)) + offset, (-1, 1))
    coordinates = np.reshape(moved, (len(shape), *shape))
    return _between(x, coordinates, order, mode, cval, prefilter)


def shift(
    input: Any, shift: Any, *, order: Any = 3, mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True
) -> Any:  # fmt: skip
    """`scipy.ndimage.shift`."""
    if mode not in _MODES:
        return manifest.as_it_is(ndimage.shift, input, shift, None, order, mode, cval, prefilter)
    x = floats(input)
    by = np.zeros(np.ndim(x)) + shift
    points = np.indices(np.shape(x)) - np.reshape(by, (-1, *[1] * np.ndim(x)))
    return _between(x, points, order, mode, cval, prefilter)


def zoom(
    input: Any, zoom: Any, *, order: Any = 3, mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True
) -> Any:  # fmt: skip
    """`scipy.ndimage.zoom`: the corners stay where they are."""
    if mode not in _MODES:
        return manifest.as_it_is(ndimage.zoom, input, zoom, None, order, mode, cval, prefilter)
    x = floats(input)
    by = np.zeros(np.ndim(x)) + zoom
    shape = tuple([round(n * float(z)) for n, z in zip(np.shape(x), by, strict=True)])
    steps = [(n - 1) / (m - 1) if m > 1 else 1.0 for n, m in zip(np.shape(x), shape, strict=True)]
    around = [1] * np.ndim(x)
    at = np.indices(shape) * np.reshape(np.array(steps), (-1, *around))
    ends = np.reshape(np.array(np.shape(x)) - 1.0, (-1, *around))
    return _between(x, np.minimum(at, ends), order, mode, cval, prefilter)


def rotate(
    input: Any, angle: Any, axes: Any = (1, 0), reshape: Any = True, *,
    order: Any = 3, mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    """`scipy.ndimage.rotate`, by degrees."""
    if mode not in _MODES or np.ndim(input) != 2 or axes[0] not in (0, 1) or axes[1] != 1 - axes[0]:
        return manifest.as_it_is(
            ndimage.rotate, input, angle, axes, reshape, None, order, mode, cval, prefilter
        )
    return _turned(floats(input), angle, reshape, order, mode, cval, prefilter)


def _turned(
    x: Any, angle: Any, reshape: Any, order: Any, mode: Any, cval: Any, prefilter: Any
) -> Any:
    c, s = special.cosdg(angle), special.sindg(angle)
    turn = np.array([[c, s], [-s, c]])
    rows, columns = np.shape(x)
    shape = np.shape(x)
    if reshape:
        corners = turn @ np.array([[0.0, 0, rows, rows], [0, columns, 0, columns]])
        shape = tuple([int(float(np.ptp(row)) + 0.5) for row in corners])
    centre = turn @ (np.array([shape[0] - 1.0, shape[1] - 1.0]) / 2)
    offset = np.array([rows - 1.0, columns - 1.0]) / 2 - centre
    return affine_transform(
        x, turn, offset, shape, order=order, mode=mode, cval=cval, prefilter=prefilter
    )


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = same_names(ndimage, globals())
