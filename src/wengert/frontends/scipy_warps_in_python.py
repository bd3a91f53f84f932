"""Images of `scipy.ndimage` read between their points: moved, turned, scaled; in Python.

By the nearest point (order 0) or linearly (order 1), of arrays with one or two axes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage, special  # pyright: ignore[reportMissingTypeStubs]

from . import equivalents
from .scipy_ndimage_in_python import floats


def _is_read(order: Any, mode: Any) -> Any:
    """What is not is called as it is, and has no derivative."""
    return order in (0, 1) and mode in ("constant", "nearest")


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
    if not _is_read(order, mode):
        return equivalents.as_it_is(
            ndimage.map_coordinates, input, coordinates, None, order, mode, cval, prefilter
        )
    return _between(floats(input), np.asarray(coordinates) * 1.0, order, mode, cval)


def _between(x: Any, at: Any, order: Any, mode: Any, cval: Any) -> Any:
    """The values of an image at some places."""
    inside = np.full(at.shape[1:], fill_value=True)
    corners, shares = [], []
    for axis in range(np.ndim(x)):
        n, place = x.shape[axis], at[axis]
        inside = inside & (place >= 0) & (place <= n - 1)
        place = np.clip(place, 0.0, n - 1.0)
        low = np.floor(place + 0.5) if order == 0 else np.clip(np.floor(place), 0, max(n - 2, 0))
        low = low.astype(int)
        corners.append((low, np.minimum(low + 1, n - 1)))
        share = place * 0.0 if order == 0 else place - low
        shares.append((1.0 - share, share))
    if np.ndim(x) == 1:
        value = shares[0][0] * x[corners[0][0]] + shares[0][1] * x[corners[0][1]]
    elif np.ndim(x) == 2:
        value = np.zeros(at.shape[1:])
        for a in (0, 1):
            for b in (0, 1):
                value = value + shares[0][a] * shares[1][b] * x[corners[0][a], corners[1][b]]
    else:
        raise NotImplementedError("arrays with more than two axes")
    return value if mode == "nearest" else np.where(inside, value, cval)


def affine_transform(
    input: Any, matrix: Any, offset: Any = 0.0, output_shape: Any = None, *,
    order: Any = 3, mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    """`scipy.ndimage.affine_transform`: the result at `o` is the image at `matrix @ o + offset`."""
    if not _is_read(order, mode):
        return equivalents.as_it_is(
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
    return map_coordinates(x, coordinates, order=order, mode=mode, cval=cval)


def shift(
    input: Any, shift: Any, *, order: Any = 3, mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True
) -> Any:  # fmt: skip
    """`scipy.ndimage.shift`."""
    if not _is_read(order, mode):
        return equivalents.as_it_is(ndimage.shift, input, shift, None, order, mode, cval, prefilter)
    x = floats(input)
    by = np.zeros(np.ndim(x)) + shift
    return affine_transform(x, np.ones(np.ndim(x)), -by, order=order, mode=mode, cval=cval)


def zoom(
    input: Any, zoom: Any, *, order: Any = 3, mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True
) -> Any:  # fmt: skip
    """`scipy.ndimage.zoom`: the corners stay where they are."""
    if not _is_read(order, mode):
        return equivalents.as_it_is(ndimage.zoom, input, zoom, None, order, mode, cval, prefilter)
    x = floats(input)
    by = np.zeros(np.ndim(x)) + zoom
    shape = tuple([round(n * float(z)) for n, z in zip(np.shape(x), by, strict=True)])
    steps = [(n - 1) / max(m - 1, 1) for n, m in zip(np.shape(x), shape, strict=True)]
    return affine_transform(x, np.array(steps), 0.0, shape, order=order, mode="nearest")


def rotate(
    input: Any, angle: Any, axes: Any = (1, 0), reshape: Any = True, *,
    order: Any = 3, mode: Any = "constant", cval: Any = 0.0, prefilter: Any = True,
) -> Any:  # fmt: skip
    """`scipy.ndimage.rotate`, by degrees."""
    if (
        not _is_read(order, mode)
        or np.ndim(input) != 2
        or axes[0] not in (0, 1)
        or axes[1] != 1 - axes[0]
    ):
        return equivalents.as_it_is(
            ndimage.rotate, input, angle, axes, reshape, None, order, mode, cval, prefilter
        )
    return _turned(floats(input), angle, reshape, order, mode, cval)


def _turned(x: Any, angle: Any, reshape: Any, order: Any, mode: Any, cval: Any) -> Any:
    c, s = special.cosdg(angle), special.sindg(angle)
    turn = np.array([[c, s], [-s, c]])
    rows, columns = np.shape(x)
    shape = np.shape(x)
    if reshape:
        corners = turn @ np.array([[0.0, 0, rows, rows], [0, columns, 0, columns]])
        shape = tuple([int(float(np.ptp(row)) + 0.5) for row in corners])
    centre = turn @ (np.array([shape[0] - 1.0, shape[1] - 1.0]) / 2)
    offset = np.array([rows - 1.0, columns - 1.0]) / 2 - centre
    return affine_transform(x, turn, offset, shape, order=order, mode=mode, cval=cval)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (ndimage.map_coordinates, map_coordinates),
    (ndimage.affine_transform, affine_transform),
    (ndimage.shift, shift),
    (ndimage.zoom, zoom),
    (ndimage.rotate, rotate),
]
