"""Items chosen, ordered and compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from . import indexing
from .duck import Array, Duck
from .namespace import Namespace
from .table import FUNCTIONS, like_numpys


def where(space: Namespace, condition: Any, *choices: Any) -> Any:
    if not choices:
        return space.numpy.nonzero(condition)
    mask = space.array(condition)
    mask = mask if "bool" in str(mask.dtype) else mask != 0
    return space.wrapped(space.xp.where(mask, *space.arrays(*choices)))


def select(space: Namespace, conditions: Any, choices: Any, default: Any = 0) -> Any:
    result = default
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        result = where(space, condition, choice, result)
    return result


def take(space: Namespace, x: Any, indices: Any, axis: int | None = None) -> Any:
    x = space.numpy.ravel(x) if axis is None else space.numpy.asarray(x)
    before = (slice(None),) * ((axis or 0) % x.ndim)
    return x[(*before, indices)]


def take_along_axis(space: Namespace, x: Any, indices: Any, axis: int | None = -1) -> Any:
    x = space.numpy.ravel(x) if axis is None else x
    places = space.astype(space.array(indices), np.int64)
    along = 0 if axis is None else axis
    return space.wrapped(space.xp.take_along_axis(space.array(x), places, axis=along))


def put_along_axis(space: Namespace, x: Array, indices: Any, values: Any, axis: int) -> None:
    grids: list[Any] = list(np.ogrid[tuple(slice(n) for n in x.shape)])
    grids[axis] = indices
    x[tuple(grids)] = values


def compress(space: Namespace, condition: Any, x: Any, axis: int | None = None) -> Any:
    return take(space, x, nonzero(space, condition)[0], axis)


def nonzero(space: Namespace, x: Any) -> Any:
    return tuple(Array(space, raw) for raw in space.xp.nonzero(space.array(x)))


def flatnonzero(space: Namespace, x: Any) -> Any:
    return nonzero(space, space.numpy.ravel(x))[0]


def argwhere(space: Namespace, x: Any) -> Any:
    return space.numpy.stack(nonzero(space, x), axis=1)


def sort(space: Namespace, x: Any, axis: Any = -1) -> Any:
    raw = space.array(x)
    raw = space.xp.reshape(raw, (-1,)) if axis is None else raw
    return Array(space, space.xp.sort(raw, axis=-1 if axis is None else axis))


def argsort(space: Namespace, x: Any, axis: Any = -1) -> Any:
    raw = space.array(x)
    raw = space.xp.reshape(raw, (-1,)) if axis is None else raw
    return Array(space, space.xp.argsort(raw, axis=-1 if axis is None else axis, stable=True))


def partition(space: Namespace, x: Any, _: Any, axis: int = -1) -> Any:
    return sort(space, x, axis)


def argpartition(space: Namespace, x: Any, _: Any, axis: int = -1) -> Any:
    return argsort(space, x, axis)


def searchsorted(space: Namespace, x: Any, v: Any, side: str = "left") -> Any:
    ordered, values = space.arrays(x, v)
    flat = space.xp.reshape(values, (-1,))
    found = space.xp.searchsorted(ordered, flat, side=side)
    return space.wrapped(space.xp.reshape(found, tuple(values.shape)))


def unique(space: Namespace, x: Any, **options: Any) -> Any:
    found = np.unique(space.to_host(space.array(x)), **options)
    one = lambda y: Array(space, space.moved(y))
    return tuple(map(one, found)) if isinstance(found, tuple) else one(found)


def _of_places(name: str) -> None:
    """What NumPy computes of places in arrays."""

    def function(space: Namespace, *args: Any, **options: Any) -> Any:
        on_host = lambda x: space.to_host(x.raw) if isinstance(x, Duck) else x
        given = [tuple(map(on_host, x)) if isinstance(x, tuple) else on_host(x) for x in args]
        return getattr(np, name)(*given, **options)

    function.__name__ = name
    FUNCTIONS[function.__name__] = function


for each in ("unravel_index", "ravel_multi_index"):
    _of_places(each)


def result_type(_: Namespace, *args: Any) -> Any:
    return np.result_type(*(x.dtype if isinstance(x, Duck) else x for x in args))


def tril(space: Namespace, x: Any, k: int = 0) -> Any:
    return Array(space, space.xp.tril(space.array(x), k=k))


def triu(space: Namespace, x: Any, k: int = 0) -> Any:
    return Array(space, space.xp.triu(space.array(x), k=k))


def isclose(space: Namespace, x: Any, y: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    np_ = space.numpy
    return np_.logical_or(np_.abs(x - y) <= atol + rtol * np_.abs(y), np_.equal(x, y))


def allclose(space: Namespace, x: Any, y: Any, **options: Any) -> bool:
    return bool(space.numpy.all(isclose(space, x, y, **options)))


def array_equal(space: Namespace, x: Any, y: Any) -> bool:
    np_ = space.numpy
    if not isinstance(x, Duck) and not isinstance(y, Duck):
        return np.array_equal(x, y)
    return np_.shape(x) == np_.shape(y) and bool(np_.all(np_.equal(x, y)))


def iscomplexobj(_: Namespace, x: Any) -> bool:
    return x.dtype.kind == "c" if isinstance(x, Duck) else np.iscomplexobj(x)


def isrealobj(space: Namespace, x: Any) -> bool:
    return not iscomplexobj(space, x)


def copyto(space: Namespace, x: Array, y: Any, where: Any = True) -> None:
    x[...] = y if where is True else space.numpy.where(where, y, x)


def may_share_memory(space: Namespace, x: Any, y: Any) -> bool:
    """Whether two arrays lie in one memory, be it in parts of it that do not overlap."""
    if not isinstance(x, Array) or not isinstance(y, Array):
        return False
    same = space.library.same_memory
    return x.root is y.root or (same is not None and same(x.raw, y.raw))


def shares_memory(space: Namespace, x: Any, y: Any) -> bool:
    return may_share_memory(space, x, y)


def bincount(space: Namespace, x: Any, weights: Any = None, minlength: int = 0) -> Any:
    places = space.to_host(space.array(x))
    size = max(int(places.max(initial=-1)) + 1, minlength)
    if weights is None:
        return Array(space, space.moved(np.bincount(places, minlength=size)))
    result = space.numpy.zeros(size)
    indexing.add_at(space, result, places, weights)
    return result


like_numpys(globals())
