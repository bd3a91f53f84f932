"""Shapes of arrays, and arrays put together."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from ...errors import NoRule
from .duck import Array, Duck, Scalar
from .namespace import Namespace
from .table import FUNCTIONS, like_numpys


def shape(_: Namespace, x: Any) -> tuple[int, ...]:
    return x.shape if isinstance(x, Duck) else _shape_of(x)


def _shape_of(x: Any) -> tuple[int, ...]:
    if isinstance(x, (list, tuple)):
        return (len(x), *_shape_of(x[0])) if x else (0,)
    return x.shape if isinstance(x, Duck) else np.shape(x)


def ndim(_: Namespace, x: Any) -> int:
    return len(_shape_of(x))


def size(_: Namespace, x: Any, axis: int | None = None) -> int:
    whole = _shape_of(x)
    return int(np.prod(whole, dtype=int)) if axis is None else whole[axis]


def reshape(space: Namespace, x: Any, shape: Any, order: str = "C") -> Any:
    x = space.numpy.asarray(x)
    whole = tuple(map(int, shape)) if isinstance(shape, (tuple, list)) else (int(shape),)
    if order == "F":
        turned = reshape(space, transpose(space, x), whole[::-1])
        return transpose(space, turned)
    before, xp = x.shape, space.xp
    if not x.is_ordered and space.library.same_memory is None:
        return Array(space, space.copied(xp.reshape(x.raw, whole)))
    return space.view(
        x,
        lambda raw: xp.reshape(raw, whole),
        lambda _, new: xp.reshape(new, before),
        is_ordered=True,
    )


def ravel(space: Namespace, x: Any, order: str = "C") -> Any:
    return reshape(space, x, (-1,), order)


def transpose(space: Namespace, x: Any, axes: Any = None) -> Any:
    if isinstance(x, Scalar):
        return x
    x = space.numpy.asarray(x)
    order = tuple(reversed(range(x.ndim))) if axes is None else tuple(int(k) % x.ndim for k in axes)
    back = _inverse(order)
    xp = space.xp
    if x.ndim < 2:
        return x
    return space.view(
        x,
        lambda raw: xp.permute_dims(raw, order),
        lambda _, new: xp.permute_dims(new, back),
        is_ordered=x.is_ordered and order == back == tuple(range(x.ndim)),
    )


@cache
def _inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(order.index(k) for k in range(len(order)))


def permute_dims(space: Namespace, x: Any, axes: Any = None) -> Any:
    return transpose(space, x, axes)


def matrix_transpose(space: Namespace, x: Any) -> Any:
    return swapaxes(space, x, -1, -2)


def swapaxes(space: Namespace, x: Any, axis1: int, axis2: int) -> Any:
    x = space.numpy.asarray(x)
    order = list(range(x.ndim))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return transpose(space, x, order)


def moveaxis(space: Namespace, x: Any, source: Any, destination: Any) -> Any:
    x = space.numpy.asarray(x)
    sources = [k % x.ndim for k in (source if isinstance(source, Sequence) else [source])]
    places = [
        k % x.ndim for k in (destination if isinstance(destination, Sequence) else [destination])
    ]
    order = [k for k in range(x.ndim) if k not in sources]
    for place, k in sorted(zip(places, sources, strict=True)):
        order.insert(place, k)
    return transpose(space, x, order)


def expand_dims(space: Namespace, x: Any, axis: Any) -> Any:
    x = space.numpy.asarray(x)
    axes = axis if isinstance(axis, tuple) else (axis,)
    rank = x.ndim + len(axes)
    places = {k % rank for k in axes}
    lengths = iter(x.shape)
    return reshape(space, x, tuple(1 if k in places else next(lengths) for k in range(rank)))


def squeeze(space: Namespace, x: Any, axis: Any = None) -> Any:
    x = space.numpy.asarray(x)
    axes = range(x.ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    gone = {k % x.ndim for k in axes if x.shape[k] == 1 or axis is not None}
    return reshape(space, x, tuple(n for k, n in enumerate(x.shape) if k not in gone))


def _at_least(rank: int) -> None:
    def function(space: Namespace, *xs: Any) -> Any:
        found = []
        for x in map(space.numpy.asarray, xs):
            if x.ndim >= rank:
                found.append(x)
            elif rank == 3:
                found.append(x[None, :, None] if x.ndim == 1 else reshape(space, x, (*x.shape, 1)))
            else:
                found.append(reshape(space, x, (*(1,) * (rank - x.ndim), *x.shape)))
        return found[0] if len(found) == 1 else found

    function.__name__ = f"atleast_{rank}d"
    FUNCTIONS[function.__name__] = function


for each in (1, 2, 3):
    _at_least(each)


def broadcast_to(space: Namespace, x: Any, shape: Any) -> Any:
    whole = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    return Array(space, space.xp.broadcast_to(space.array(x), whole))


def broadcast_arrays(space: Namespace, *xs: Any) -> Any:
    whole = np.broadcast_shapes(*map(_shape_of, xs))
    return tuple(broadcast_to(space, x, whole) for x in xs)


# --- put together, taken apart -------------------------------------------------------------------


def _all(space: Namespace, items: Any) -> list[Any]:
    return space.arrays(*(space.array(each) for each in items))


def stack(space: Namespace, arrays: Any, axis: int = 0) -> Any:
    return Array(space, space.xp.stack(_all(space, arrays), axis=axis))


def concatenate(space: Namespace, arrays: Any, axis: Any = 0) -> Any:
    items = _all(space, arrays)
    if axis is None:
        items, axis = [space.xp.reshape(each, (-1,)) for each in items], 0
    return Array(space, space.xp.concat(items, axis=axis))


def concat(space: Namespace, arrays: Any, axis: Any = 0) -> Any:
    return concatenate(space, arrays, axis)


def hstack(space: Namespace, arrays: Any) -> Any:
    items = [space.numpy.atleast_1d(each) for each in arrays]
    return concatenate(space, items, 0 if items[0].ndim == 1 else 1)


def vstack(space: Namespace, arrays: Any) -> Any:
    return concatenate(space, [space.numpy.atleast_2d(each) for each in arrays], 0)


def dstack(space: Namespace, arrays: Any) -> Any:
    return concatenate(space, [space.numpy.atleast_3d(each) for each in arrays], 2)


def column_stack(space: Namespace, arrays: Any) -> Any:
    items = [space.numpy.asarray(each) for each in arrays]
    return concatenate(space, [x if x.ndim > 1 else reshape(space, x, (-1, 1)) for x in items], 1)


def array_split(space: Namespace, x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    x, parts = space.numpy.asarray(x), indices_or_sections
    length = x.shape[axis]
    if isinstance(parts, int):
        sizes = [length // parts + (k < length % parts) for k in range(parts)]
        parts = np.cumsum(sizes)[:-1].tolist()
    bounds = [0, *(int(k) for k in parts), length]
    before = (slice(None),) * (axis % x.ndim)
    return [x[(*before, slice(a, b))] for a, b in pairwise(bounds)]


def split(space: Namespace, x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    parts = indices_or_sections
    if isinstance(parts, int) and _shape_of(x)[axis] % parts:
        raise ValueError("array split does not result in an equal division")
    return array_split(space, x, parts, axis)


def hsplit(space: Namespace, x: Any, indices_or_sections: Any) -> Any:
    return split(space, x, indices_or_sections, 0 if ndim(space, x) == 1 else 1)


def vsplit(space: Namespace, x: Any, indices_or_sections: Any) -> Any:
    return split(space, x, indices_or_sections, 0)


def append(space: Namespace, x: Any, values: Any, axis: int | None = None) -> Any:
    return concatenate(space, [x, values], axis)


def insert(space: Namespace, x: Any, place: int, values: Any, axis: int | None = None) -> Any:
    x = ravel(space, x) if axis is None else space.numpy.asarray(x)
    axis = axis or 0
    before = (slice(None),) * axis
    new = broadcast_to(space, values, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
    parts = [x[(*before, slice(None, place))], new, x[(*before, slice(place, None))]]
    return concatenate(space, parts, axis)


# --- turned, shifted, repeated -------------------------------------------------------------------


def flip(space: Namespace, x: Any, axis: Any = None) -> Any:
    x = space.numpy.asarray(x)
    axes = range(x.ndim) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    turned = {k % x.ndim for k in axes}
    return x[tuple(slice(None, None, -1 if k in turned else None) for k in range(x.ndim))]


def fliplr(space: Namespace, x: Any) -> Any:
    return flip(space, x, 1)


def flipud(space: Namespace, x: Any) -> Any:
    return flip(space, x, 0)


def rot90(space: Namespace, x: Any, k: int = 1, axes: tuple[int, int] = (0, 1)) -> Any:
    for _ in range(k % 4):
        x = flip(space, swapaxes(space, x, *axes), axes[0])
    return x


def roll(space: Namespace, x: Any, shift: Any, axis: Any = None) -> Any:
    by = tuple(map(int, shift)) if isinstance(shift, (tuple, list)) else int(shift)
    return space.wrapped(space.xp.roll(space.array(x), by, axis=axis))


def tile(space: Namespace, x: Any, reps: Any) -> Any:
    whole = tuple(reps) if isinstance(reps, (tuple, list)) else (reps,)
    return Array(space, space.xp.tile(space.array(x), whole))


def repeat(space: Namespace, x: Any, repeats: Any, axis: int | None = None) -> Any:
    x = ravel(space, x) if axis is None else space.numpy.asarray(x)
    axis = axis or 0
    places = np.repeat(np.arange(x.shape[axis]), repeats)
    return Array(space, space.xp.take(x.raw, space.moved(places), axis=axis))


def pad(
    space: Namespace, x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0
) -> Any:
    """Of the places of the items, NumPy knows where they go."""
    x = space.numpy.asarray(x)
    places = np.arange(x.size).reshape(x.shape)
    if mode != "constant":
        if mode not in ("edge", "reflect", "symmetric", "wrap"):
            raise NoRule(
                f"`np.pad` has no mode {mode!r} for arrays of {space.library.name} yet",
                "Put the array together by `np.concatenate`.",
            )
        taken = np.pad(places, pad_width, mode=mode)  # type: ignore[call-overload]
        return x.ravel()[taken]
    taken = np.pad(places, pad_width, constant_values=-1)
    inside = x.ravel()[np.maximum(taken, 0)] if x.size else space.numpy.zeros(taken.shape, x.dtype)
    return space.numpy.where(space.moved(taken >= 0), inside, constant_values)


def diagonal(space: Namespace, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    x = moveaxis(space, x, (axis1, axis2), (-2, -1))
    rows, columns = x.shape[-2:]
    start, step = (offset, columns + 1) if offset >= 0 else (-offset * columns, columns + 1)
    count = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    places = start + step * np.arange(count)
    flat = reshape(space, x, (*x.shape[:-2], rows * columns))
    return Array(space, space.xp.take(flat.raw, space.moved(places), axis=-1))


like_numpys(globals())
