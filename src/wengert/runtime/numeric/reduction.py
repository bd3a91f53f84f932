"""Helpers for the derivatives of reductions and scans."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def broadcast_like(x: Any, like: Any) -> Any:
    """`x` spread over the shape of `like`; a view."""
    number = np.ndim(like) == 0 and not isinstance(like, np.ndarray)
    return x if number else np.broadcast_to(x, np.shape(like))


def unreduce(y_bar: Any, x: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The cotangent of a reduction spread over the shape of what was reduced; a view."""
    if axis is not None and not keepdims and np.ndim(x):
        y_bar = np.expand_dims(y_bar, axis)
    return broadcast_like(y_bar, x)


def sum_of_products(x: Any, y: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """The sum of `x * y` along some axes, of two arrays of one shape."""
    return np.sum(x * y, axis=axis, keepdims=keepdims)


def reduced_count(x: Any, *, axis: Any = None, ddof: float = 0) -> float:
    """How many elements each result of a reduction came from, less `ddof`; NaN if none is left."""
    shape = np.shape(x)
    if not shape:
        axis = None  # what has no axes has one entry, along an axis or not
    axes = range(len(shape)) if axis is None else (axis,) if isinstance(axis, int) else axis
    count = math.prod(shape[k] for k in axes) - ddof
    return count if count > 0 else math.nan


def at_extreme(values: Any, x: Any, y: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Of `values`, the entries at the first place where `x` is its extreme `y`."""
    taken = values * first_extreme(x, y, axis=axis, keepdims=keepdims)
    return np.sum(taken, axis=axis, keepdims=keepdims)


def place_of_extreme(x: Any, *, largest: bool = True) -> int:
    """Where the item is that Python's `max` or `min` gives: the first that none after it beats, NaN or not."""
    items = x.tolist() if np.ndim(x) == 1 else list(x)
    best = max(items) if largest else min(items)
    if np.ndim(x) == 1:
        return items.index(best)  # also of NaN, by its identity
    return next(k for k, item in enumerate(items) if item is best)


def put_extreme(y_bar: Any, x: Any, y: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Zeros, and `y_bar` at the first place where `x` is its extreme `y`."""
    if isinstance(x, np.ndarray) and x.ndim and isinstance(axis, int):
        if not keepdims:
            y_bar, y = np.expand_dims(y_bar, axis), np.expand_dims(y, axis)
        result = np.zeros(x.shape, np.result_type(y_bar, 0.0))
        if result.size:
            first = np.argmax((x == y) | np.isnan(x), axis, keepdims=True)
            np.put_along_axis(result, first, y_bar, axis)
        return result
    first = first_extreme(x, y, axis=axis, keepdims=keepdims)
    return np.where(first, unreduce(y_bar, x, axis=axis, keepdims=keepdims), 0.0)[()]


def first_extreme(x: Any, y: Any, *, axis: Any = None, keepdims: bool = False) -> Any:
    """Where `x` first is its extreme `y`, in each part that was reduced to one number."""
    x = np.asarray(x)
    extreme = (x == unreduce(y, x, axis=axis, keepdims=keepdims)) | np.isnan(x)
    candidates = lanes(extreme, axis=axis)
    first = np.zeros_like(candidates)
    if first.size:
        np.put_along_axis(first, np.argmax(candidates, axis=-1)[..., None], True, axis=-1)
    return unlanes(first, x, axis=axis)


def cumsum_reversed(y_bar: Any, x: Any, *, axis: Any = None) -> Any:
    """The transpose of `cumsum`: sums from each entry to the last, in the shape of `x`."""
    along = 0 if axis is None else axis
    sums = np.flip(np.cumsum(np.flip(y_bar, along), axis=along), along)
    return sums.reshape(np.shape(x))[()]


def lanes(x: Any, *, axis: Any = None) -> Any:
    """`x` with the given axes as one last axis; without axes, one lane of everything."""
    if axis is None or np.ndim(x) == 0:
        return np.ravel(x)
    if isinstance(axis, int):
        return np.moveaxis(x, axis, -1)
    moved = np.moveaxis(x, axis, tuple(range(-len(axis), 0)))
    return moved.reshape((*moved.shape[: moved.ndim - len(axis)], -1)) if axis else moved[..., None]


def unlanes(y: Any, x: Any, *, axis: Any = None) -> Any:
    """The inverse of `lanes`, in the shape of `x`."""
    if axis is None or np.ndim(x) == 0:
        return np.reshape(y, np.shape(x))
    if isinstance(axis, int):
        return np.moveaxis(y, -1, axis)
    last = tuple(range(-len(axis), 0))
    moved = np.reshape(y, np.moveaxis(np.empty(np.shape(x), bool), axis, last).shape)
    return np.moveaxis(moved, last, axis)


def products_before(x: Any, *, reverse: bool = False) -> Any:
    """For each entry of the lanes, the product of all entries before it (after it in reverse)."""
    x = np.flip(np.atleast_1d(x), -1) if reverse else np.atleast_1d(x)
    result = np.ones_like(x)
    np.cumprod(x[..., :-1], axis=-1, out=result[..., 1:])
    return np.flip(result, -1) if reverse else result


def linear_recurrence(a: Any, b: Any, *, reverse: bool = False) -> Any:
    """The solutions of yₖ = aₖ yₖ₋₁ + bₖ along the last axis, from 0 on; in reverse of yₖ = aₖ yₖ₊₁ + bₖ."""
    a, b = np.atleast_1d(a), np.atleast_1d(b)
    if reverse:
        return np.flip(linear_recurrence(np.flip(a, -1), np.flip(b, -1)), -1)
    if b.shape[-1] == 0:
        return b.copy()
    a = a.astype(np.result_type(a, b, np.float16))
    a[..., 0] = 1
    product = np.cumprod(a, axis=-1)
    size, least = np.abs(product), np.finfo(product.dtype).tiny ** 0.25
    if np.all((size > least) & (size < 1 / least)):
        return product * np.cumsum(b / product, axis=-1)
    one = a.ndim == 1
    factors, terms = (x.tolist() if one else np.moveaxis(x, -1, 0) for x in (a, b))
    found = [terms[0]]
    for factor, term in zip(factors[1:], terms[1:], strict=True):
        found.append(factor * found[-1] + term)
    return np.stack(found, axis=-1).astype(a.dtype, copy=False)


def delayed(x: Any, *, reverse: bool = False) -> Any:
    """`x` one place later along the last axis (earlier in reverse), after a zero."""
    x = np.atleast_1d(x)
    result = np.zeros_like(x)
    if reverse:
        result[..., :-1] = x[..., 1:]
    else:
        result[..., 1:] = x[..., :-1]
    return result


def exponent_of(x: Any) -> Any:
    """The exponent that `frexp` gives."""
    return math.frexp(x)[1] if isinstance(x, (float, int)) else np.frexp(x)[1]


def spread_items(y_bar: Any, xs: Any) -> Any:
    """The cotangent of a sum, given to each item that was added up."""
    if isinstance(xs, np.ndarray):
        return np.broadcast_to(y_bar, xs.shape)
    return [y_bar for _ in xs]


def scale_items(scale: Any, xs: Any) -> Any:
    """Each item times a number."""
    if isinstance(xs, np.ndarray):
        return scale * xs
    return [scale * x for x in xs]


def inner_items(xs: Any, ys: Any) -> Any:
    """The sum of the products of the items of two lists."""
    return math.fsum(x * y for x, y in zip(xs, ys, strict=True))


def sub_items(xs: Any, ys: Any) -> Any:
    """The differences of the items of two lists."""
    if isinstance(xs, np.ndarray):
        return xs - np.asarray(ys)
    return [x - y for x, y in zip(xs, ys, strict=True)]


def neg_items(xs: Any) -> Any:
    """The items, negated."""
    if isinstance(xs, np.ndarray):
        return -xs
    return [-x for x in xs]


def items_length(xs: Any) -> float:
    """The Euclidean length of a list of numbers."""
    return math.hypot(*xs)


def lane_of(items: Any) -> Any:
    """A list of numbers as an array; a list of arrays with the items along the last axis."""
    arrays = [np.asarray(item) for item in items]
    return np.stack(arrays, axis=-1) if arrays else np.zeros(0)


def items_of(lane: Any, items: Any) -> Any:
    """The inverse of `lane_of`: a list, or an array where the `items` were one."""
    lane = np.asarray(lane)
    if isinstance(items, np.ndarray):
        return np.moveaxis(lane, -1, 0)
    if lane.ndim != 1:
        return list(np.moveaxis(lane, -1, 0))
    numbers = lane.tolist()
    if not any(isinstance(item, np.ndarray) for item in items):
        return numbers
    pairs = zip(numbers, items, strict=True)
    return [np.array(x) if isinstance(item, np.ndarray) else x for x, item in pairs]
