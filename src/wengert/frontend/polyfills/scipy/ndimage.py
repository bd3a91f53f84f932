"""Filters of `scipy.ndimage`, in Python: sums, medians and extremes over windows of a padded array.

Windows of arrays with one or two axes; arrays of floats, whose results are arrays of floats. Also what images
measure in parts that have labels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import ndimage  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.signals import fir
from ....ops.program.refusals import FORMULA, uncovered
from ..same_names import same_names

_PADDING: dict[str, Any] = {
    "reflect": "symmetric",
    "nearest": "edge",
    "mirror": "reflect",
    "wrap": "wrap",
}
"""What NumPy calls the ways to go on beyond an edge."""


def floats(x: Any) -> Any:
    x = np.asarray(x)
    if not np.issubdtype(x.dtype, np.inexact):
        raise uncovered("a filter of whole numbers, which rounds,", "Pass an array of floats.")
    return x


def _padded(x: Any, widths: Any, mode: Any, cval: Any) -> Any:
    if mode in ("constant", "grid-constant"):
        return np.pad(x, widths, constant_values=cval)
    if mode in ("grid-wrap", "grid-mirror"):
        return np.pad(x, widths, mode="wrap" if mode == "grid-wrap" else "symmetric")
    return np.pad(x, widths, mode=_PADDING[mode])


def _reach(size: Any, origin: Any) -> Any:
    """How far a window reaches before and after the place that it belongs to."""
    before = size // 2 + origin
    return before, size - 1 - before


def _windows(x: Any, shape: Any, mode: Any, cval: Any, origin: Any) -> Any:
    """The padded array shifted to every place of a window, in C order."""
    x = floats(x)
    if np.ndim(x) == 1:
        padded = _padded(x, [_reach(shape[0], origin)], mode, cval)
        return [padded[i : i + x.shape[0]] for i in range(shape[0])]
    if np.ndim(x) != 2:
        raise uncovered("a filter of an array with more than two axes", FORMULA)
    padded = _padded(x, [_reach(shape[0], origin), _reach(shape[1], origin)], mode, cval)
    return [
        padded[i : i + x.shape[0], j : j + x.shape[1]]
        for i in range(shape[0])
        for j in range(shape[1])
    ]


# --- sums -------------------------------------------------------------------------------------


def correlate1d(
    input: Any,
    weights: Any,
    axis: Any = -1,
    *,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """`scipy.ndimage.correlate1d`."""
    x, w = np.moveaxis(floats(input), axis, -1), np.asarray(weights)
    widths = [(0, 0)] * (np.ndim(x) - 1) + [_reach(len(w), origin)]
    filtered = fir(w[::-1], _padded(x, widths, mode, cval))
    return np.moveaxis(filtered[..., len(w) - 1 :], -1, axis)


def correlate(
    input: Any, weights: Any, *, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """`scipy.ndimage.correlate`."""
    w = np.asarray(weights)
    windows = _windows(input, w.shape, mode, cval, origin)
    total = np.zeros(np.shape(input))
    for window, factor in zip(windows, np.ravel(w), strict=True):
        total = total + factor * window
    return total


def convolve(
    input: Any, weights: Any, *, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """`scipy.ndimage.convolve` with weights of odd sizes."""
    w = np.flip(np.asarray(weights))
    if 0 in [size % 2 for size in w.shape]:
        raise uncovered("a convolution with weights of an even size", "Pad them with zeros.")
    return correlate(input, w, mode=mode, cval=cval, origin=-origin)


def gaussian_filter(
    input: Any,
    sigma: Any,
    order: Any = 0,
    *,
    mode: Any = "reflect",
    cval: Any = 0.0,
    truncate: Any = 4.0,
) -> Any:
    """`scipy.ndimage.gaussian_filter` along all axes."""
    x = floats(input)
    for axis in range(np.ndim(x)):
        s = sigma if np.ndim(sigma) == 0 else sigma[axis]
        n = order if np.ndim(order) == 0 else order[axis]
        if s > 1e-15:
            x = ndimage.gaussian_filter1d(x, s, axis, n, None, mode, cval, truncate)
    return x


def _along_all_axes(input: Any, sigma: Any, order: Any, options: Any) -> Any:
    """What a Gaussian filter gives that differentiates along one axis, for each axis."""
    if np.ndim(input) == 0:
        raise uncovered("a filter of a number", "SciPy gives the number back: write that.")
    orders = [
        [order if other == axis else 0 for other in range(np.ndim(input))]
        for axis in range(np.ndim(input))
    ]
    return [gaussian_filter(input, sigma, each, **options) for each in orders]


def gaussian_gradient_magnitude(
    input: Any, sigma: Any, *, mode: Any = "reflect", cval: Any = 0.0, **options: Any
) -> Any:
    """`scipy.ndimage.gaussian_gradient_magnitude`."""
    slopes = _along_all_axes(input, sigma, 1, {"mode": mode, "cval": cval, **options})
    return np.sqrt(sum([slope * slope for slope in slopes]))


def gaussian_laplace(
    input: Any, sigma: Any, *, mode: Any = "reflect", cval: Any = 0.0, **options: Any
) -> Any:
    """`scipy.ndimage.gaussian_laplace`."""
    return sum(_along_all_axes(input, sigma, 2, {"mode": mode, "cval": cval, **options}))


def _edges(across: Any) -> Callable[..., Any]:
    """Differences along one axis of sums over the others, of three neighbours each."""

    def differences(input: Any, axis: Any = -1, *, mode: Any = "reflect", cval: Any = 0.0) -> Any:
        x = correlate1d(input, [-1.0, 0.0, 1.0], axis, mode=mode, cval=cval)
        for other in range(np.ndim(x)):
            if other != axis % np.ndim(x):
                x = correlate1d(x, across, other, mode=mode, cval=cval)
        return x

    return differences


prewitt, sobel = _edges([1.0, 1.0, 1.0]), _edges([1.0, 2.0, 1.0])


def uniform_filter1d(
    input: Any,
    size: Any,
    axis: Any = -1,
    *,
    mode: Any = "reflect",
    cval: Any = 0.0,
    origin: Any = 0,
) -> Any:
    """`scipy.ndimage.uniform_filter1d`."""
    weights = np.full(size, 1.0 / size)
    return correlate1d(input, weights, axis, mode=mode, cval=cval, origin=origin)


def uniform_filter(
    input: Any, size: Any = 3, *, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """`scipy.ndimage.uniform_filter` along all axes."""
    x = floats(input)
    for axis in range(np.ndim(x)):
        length = size if np.ndim(size) == 0 else size[axis]
        if length > 1:
            x = uniform_filter1d(x, length, axis, mode=mode, cval=cval, origin=origin)
    return x


def laplace(input: Any, *, mode: Any = "reflect", cval: Any = 0.0) -> Any:
    """`scipy.ndimage.laplace`."""
    total = np.zeros(np.shape(input))
    for axis in range(np.ndim(input)):
        total = total + correlate1d(input, [1.0, -2.0, 1.0], axis, mode=mode, cval=cval)
    return total


# --- order statistics -------------------------------------------------------------------------


def _sizes(x: Any, size: Any) -> Any:
    return [size] * np.ndim(x) if np.ndim(size) == 0 else list(size)


def median_filter(
    input: Any, size: Any, *, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
) -> Any:
    """`scipy.ndimage.median_filter` with windows of an odd number of places."""
    windows = _windows(input, _sizes(input, size), mode, cval, origin)
    if len(windows) % 2 == 0:
        raise uncovered("the median of an even number of places", "Take windows of odd sizes.")
    return np.median(np.stack(windows), axis=0)


def _extremes(choose: Any) -> Callable[..., Any]:
    def filtered(
        input: Any, size: Any, *, mode: Any = "reflect", cval: Any = 0.0, origin: Any = 0
    ) -> Any:
        return choose(np.stack(_windows(input, _sizes(input, size), mode, cval, origin)), axis=0)

    return filtered


maximum_filter, minimum_filter = _extremes(np.max), _extremes(np.min)


# --- parts of an image ------------------------------------------------------------------------


def _of_parts(measure: Any) -> Callable[..., Any]:
    """A function of the values in each part of an image that has a label."""

    def measured(input: Any, labels: Any = None, index: Any = None) -> Any:
        x = np.asarray(input)
        if labels is None:
            return measure(x)
        if index is None:
            return measure(x[np.asarray(labels) > 0])
        if np.ndim(index) == 0:
            return measure(x[np.asarray(labels) == index])
        return np.stack([measure(x[np.asarray(labels) == each]) for each in index])

    return measured


def center_of_mass(input: Any) -> Any:
    """`scipy.ndimage.center_of_mass` of a whole image."""
    x = np.asarray(input)
    places = np.indices(np.shape(x))
    return tuple([np.sum(x * place) / np.sum(x) for place in places])


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(ndimage, globals()),
    (ndimage.sum, _of_parts(np.sum)),
    (ndimage.sum_labels, _of_parts(np.sum)),
    (ndimage.mean, _of_parts(np.mean)),
    (ndimage.variance, _of_parts(np.var)),
]
