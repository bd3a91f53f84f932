"""Sums, extrema and what is computed with them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .duck import Duck
from .namespace import Namespace
from .table import FUNCTIONS, like_numpys


def _axes(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else axis


def _fold(name: str, neutral: Any) -> None:
    def function(
        space: Namespace,
        x: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        np_ = space.numpy
        x = np_.asarray(x)
        if where is not True:
            x = np_.where(where, x, initial if neutral is None else neutral)
        raw = x.raw if dtype is None else space.astype(x.raw, dtype)
        counts = x.dtype.kind in "bi" and name in ("sum", "prod") and dtype is None
        raw = space.astype(raw, np.int64) if counts else raw
        result = space.wrapped(_over(space, name, raw, _axes(axis), keepdims))
        if initial is not None:
            result = _WITH[name](np_)(result, initial)
        if out is not None:
            out[...] = result
            return out
        return result

    function.__name__ = name
    FUNCTIONS[function.__name__] = function


def _over(space: Namespace, name: str, raw: Any, axis: Any, keepdims: bool) -> Any:
    """A fold of the standard's, axis by axis where a library takes one at a time."""
    fold = getattr(space.xp, name)
    if axis == ():
        return raw
    if isinstance(axis, tuple) and space.library.name == "torch" and name in ("prod", "max", "min"):
        for k in sorted((k % len(raw.shape) for k in axis), reverse=True):
            raw = fold(raw, axis=k, keepdims=keepdims)
        return raw
    return fold(raw, axis=axis, keepdims=keepdims)


_WITH: dict[str, Callable[[Any], Any]] = {
    "sum": lambda np_: np_.add,
    "prod": lambda np_: np_.multiply,
    "max": lambda np_: np_.maximum,
    "min": lambda np_: np_.minimum,
    "any": lambda np_: np_.logical_or,
    "all": lambda np_: np_.logical_and,
}
for each, its_neutral in (
    *(("sum", 0), ("prod", 1), ("any", False), ("all", True)),
    *(("max", None), ("min", None)),
):
    _fold(each, its_neutral)


def amax(space: Namespace, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return space.numpy.max(x, axis, keepdims=keepdims)


def amin(space: Namespace, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return space.numpy.min(x, axis, keepdims=keepdims)


def ptp(space: Namespace, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return amax(space, x, axis, keepdims) - amin(space, x, axis, keepdims)


def _count(x: Duck, axis: Any) -> int:
    axes = range(x.ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    return math.prod(x.shape[k] for k in axes)


def mean(
    space: Namespace, x: Any, axis: Any = None, keepdims: bool = False, where: Any = True
) -> Any:
    x = space.numpy.asarray(x)
    total = space.numpy.sum(x, axis, keepdims=keepdims, where=where)
    if where is not True:
        counted = space.numpy.broadcast_to(where, x.shape)
        return total / space.numpy.sum(counted, axis, keepdims=keepdims)
    return total / _count(x, _axes(axis))


def average(space: Namespace, x: Any, axis: Any = None, weights: Any = None) -> Any:
    if weights is None:
        return mean(space, x, axis)
    return space.numpy.sum(x * weights, axis) / space.numpy.sum(weights, axis)


def var(space: Namespace, x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    x = space.numpy.asarray(x)
    away = space.numpy.abs(x - mean(space, x, axis, keepdims=True))
    return space.numpy.sum(away * away, axis, keepdims=keepdims) / (_count(x, _axes(axis)) - ddof)


def std(space: Namespace, x: Any, axis: Any = None, ddof: float = 0, keepdims: bool = False) -> Any:
    return space.numpy.sqrt(var(space, x, axis, ddof, keepdims))


def _first(name: str) -> None:
    def function(space: Namespace, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        raw = space.array(x)
        raw = space.xp.reshape(raw, (-1,)) if axis is None else raw
        raw = space.astype(raw, np.int64) if "bool" in str(raw.dtype) else raw
        found = getattr(space.xp, name)(raw, axis=axis or 0, keepdims=keepdims and axis is not None)
        return space.wrapped(found)

    function.__name__ = name
    FUNCTIONS[function.__name__] = function


for each in ("argmax", "argmin"):
    _first(each)


def _running(name: str, standard: str) -> None:
    def function(
        space: Namespace, x: Any, axis: Any = None, dtype: Any = None, out: Any = None
    ) -> Any:
        raw = space.array(x, dtype=dtype)
        raw = space.xp.reshape(raw, (-1,)) if axis is None else raw
        counts = "bool" in str(raw.dtype)
        raw = space.astype(raw, np.int64) if counts else raw
        result = space.wrapped(getattr(space.xp, standard)(raw, axis=axis or 0))
        if out is None:
            return result
        out[...] = result
        return out

    function.__name__ = name
    FUNCTIONS[function.__name__] = function


_running("cumsum", "cumulative_sum")
_running("cumprod", "cumulative_prod")


def count_nonzero(space: Namespace, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return space.numpy.sum(space.numpy.asarray(x) != 0, axis, keepdims=keepdims)


def trace(space: Namespace, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return space.numpy.sum(space.numpy.diagonal(x, offset, axis1, axis2), -1)


def diff(
    space: Namespace, x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None
) -> Any:
    np_, x = space.numpy, space.numpy.asarray(x)
    ends = [prepend, x, append]
    if ends[0] is not None or ends[2] is not None:
        shape = (*x.shape[: axis % x.ndim], 1, *x.shape[axis % x.ndim + 1 :])
        given = [each for each in ends if each is not None]
        x = np_.concatenate(
            [each if np_.ndim(each) else np_.broadcast_to(each, shape) for each in given], axis
        )
    before = (slice(None),) * (axis % x.ndim)
    for _ in range(n):
        x = x[(*before, slice(1, None))] - x[(*before, slice(None, -1))]
    return x


def quantile(space: Namespace, x: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
    np_ = space.numpy
    x = np_.asarray(x)
    axes = range(x.ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    x = np_.moveaxis(x, tuple(axes), tuple(range(len(axes))))
    ordered = np_.sort(np_.reshape(x, (-1, *x.shape[len(axes) :])), 0)
    if np_.ndim(q):
        return np_.stack([_at(np_, ordered, each) for each in np_.asarray(q)])
    result = _at(np_, ordered, q)
    return np_.expand_dims(result, tuple(axes)) if keepdims else result


def _at(np_: Any, ordered: Any, q: Any) -> Any:
    place = float(q) * (len(ordered) - 1)
    low = min(int(place), len(ordered) - 1)
    high = min(low + 1, len(ordered) - 1)
    between = ordered[low] + (ordered[high] - ordered[low]) * (place - low)
    return np_.where(np_.isnan(ordered[-1]), math.nan, between)


def percentile(space: Namespace, x: Any, q: Any, axis: Any = None, keepdims: bool = False) -> Any:
    parts = space.numpy.asarray(q) / 100 if space.numpy.ndim(q) else q / 100
    return quantile(space, x, parts, axis, keepdims)


def median(space: Namespace, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return quantile(space, x, 0.5, axis, keepdims)


def _without_nan(name: str, neutral: float) -> None:
    def function(space: Namespace, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
        np_ = space.numpy
        x = np_.asarray(x)
        return getattr(np_, name)(np_.where(np_.isnan(x), neutral, x), axis, keepdims=keepdims)

    function.__name__ = f"nan{name}"
    FUNCTIONS[function.__name__] = function


for each, its_neutral in (("sum", 0.0), ("prod", 1.0), ("max", -math.inf), ("min", math.inf)):
    _without_nan(each, its_neutral)


def nanmean(space: Namespace, x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    np_ = space.numpy
    counts = np_.sum(~np_.isnan(np_.asarray(x)), axis, keepdims=keepdims)
    return np_.nansum(x, axis, keepdims=keepdims) / counts


like_numpys(globals())
