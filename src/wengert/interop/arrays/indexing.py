"""Items of arrays by NumPy's keys: read, written, and added to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .duck import Array, Duck, Scalar

if TYPE_CHECKING:
    from .namespace import Namespace


def read(space: Namespace, x: Duck, key: Any) -> Any:
    """`x[key]`: a view where NumPy gives one."""
    keys = _keys(space, key)
    if not all(map(_is_basic, keys)):
        raw = _gathered(space, x.raw, keys)
        return (Array if len(raw.shape) else Scalar)(space, raw)
    if len(keys) == x.ndim and not any(k is None or k is ... or isinstance(k, slice) for k in keys):
        return Scalar(space, space.copied(x.raw[keys]))  # of a library that shares memory
    if not space.library.is_mutable:
        put = lambda raw, new: raw.at[keys].set(new)
        view = Array(space, x.raw[keys], x, lambda raw: raw[keys], put)
    elif not space.library.indexes_freely or not any(map(_runs_backwards, keys)):
        view = Array(space, x.raw[_spelled(space, x.raw, keys)])
    else:
        put = lambda raw, new: _put_backwards(space, raw, keys, new)
        raw = _backwards(space, x.raw, keys)
        view = Array(space, raw, x, lambda raw: _backwards(space, raw, keys), put)
    view.root, view.place = x.root, (x, keys)
    view.is_ordered = x.is_ordered and _keeps_order(keys, x.shape)
    return view


def _keeps_order(keys: tuple[Any, ...], shape: tuple[int, ...]) -> bool:
    """Whether what keys select lies in memory as an array of its own would: some first rows of one, say."""
    axes = [key for key in keys if key is not None and key is not ...]
    last = [k for k, key in enumerate(axes) if k and not _is_whole(key, shape[k])]
    return not last and (not axes or not isinstance(axes[0], slice) or axes[0].step in (None, 1))


def _is_whole(key: Any, length: int) -> bool:
    return isinstance(key, slice) and key.indices(length) == (0, length, 1)


def write(space: Namespace, x: Array, key: Any, value: Any) -> None:
    """`x[key] = value`."""
    x.must_be_writable()
    keys = _keys(space, key)
    if isinstance(value, Array) and value.place is not None and all(map(_is_basic, keys)):
        if value.place[0] is x and value.place[1] == keys:
            return  # `x[key] += y`: what is put back is the view that has been written to
    raw = x.raw
    new = space.array(value, dtype=raw.dtype)
    if isinstance(value, Duck) and value.root is x.root:
        new = space.copied(new)  # it may overlap what it is written to
    if not space.library.is_mutable:
        x.bind(raw.at[keys].set(_trimmed(space, new, raw, keys)))
    elif x.is_plain and (_is_written_by(space, keys) or _takes(space, raw, keys)):
        if any(map(_runs_backwards, keys)) and space.library.indexes_freely:
            _put_backwards(space, raw, keys, new)
        else:
            raw[_spelled(space, raw, keys)] = _trimmed(space, new, raw, keys)
    else:
        x.bind(_scattered(space, raw, keys, new))


def add_at(space: Namespace, x: Array, key: Any, value: Any) -> None:
    """`np.add.at(x, key, value)`: each place as often as it occurs."""
    x.must_be_writable()
    keys = _keys(space, key)
    raw, new = x.raw, space.array(value)
    if space.library.add_at is not None:
        x.bind(space.library.add_at(raw, keys, new))
        return
    places = _places(space, raw, keys)
    spread = space.xp.reshape(space.xp.broadcast_to(new, places.shape), (-1,))
    for turn, where in _turns(places.ravel()):
        chosen = space.xp.take(spread, space.moved(turn), axis=0)
        before = space.xp.take(space.xp.reshape(raw, (-1,)), space.moved(where), axis=0)
        raw = _put_flat(space, raw, where, before + chosen)
    x.bind(_kept(x, raw))


def _kept(x: Array, raw: Any) -> Any:
    """New contents for an array; in its own memory where it can be written to."""
    if x.space.library.is_mutable:
        x.raw[...] = raw
        return x.raw
    return raw


# --- keys -------------------------------------------------------------------------------------


def _keys(space: Namespace, key: Any) -> tuple[Any, ...]:
    keys = key if isinstance(key, tuple) else (key,)
    return tuple([_own_key(space, each) for each in keys])


def _spelled(space: Namespace, raw: Any, keys: tuple[Any, ...]) -> tuple[Any, ...]:
    """The keys as the standard wants them: with an ellipsis where there is none for every axis."""
    if space.library.indexes_freely or any(key is ... for key in keys):
        return keys
    taken = sum(_rank_of(key) for key in keys)
    whole = taken == len(raw.shape) and not any(key is None for key in keys)
    return keys if whole else (*keys, ...)


def _rank_of(key: Any) -> int:
    """How many axes a key takes up."""
    if key is None:
        return 0
    is_mask = "bool" in str(getattr(key, "dtype", ""))
    return len(key.shape) if is_mask else 1


def _own_key(space: Namespace, key: Any) -> Any:
    if isinstance(key, slice):
        return slice(*(_bound(each) for each in (key.start, key.stop, key.step)))
    if key is None or key is ... or type(key) is int:
        return key
    if isinstance(key, Duck):
        if key.ndim or key.dtype.kind == "b" or not space.library.is_mutable:
            return key.raw
        return int(key)
    if isinstance(key, (list, np.ndarray)):
        array = np.asarray(key) if not _holds_ducks(key) else None
        if array is None:
            return space.array(key)
        return space.moved(array.astype(np.intp) if not array.size else array)
    return key.__index__() if not isinstance(key, (bool, np.bool_)) else bool(key)


def _holds_ducks(key: Any) -> bool:
    return isinstance(key, list) and any(isinstance(each, (Duck, list)) for each in key)


def _bound(x: Any) -> Any:
    return x if x is None or type(x) is int else x.__index__()


def _is_basic(key: Any) -> bool:
    if type(key) is int or key is None or key is ... or isinstance(key, slice):
        return True
    return type(key) is not bool and not key.shape and "bool" not in str(key.dtype)


def _runs_backwards(key: Any) -> bool:
    return isinstance(key, slice) and key.step is not None and key.step < 0


def _is_written_by(space: Namespace, keys: tuple[Any, ...]) -> bool:
    """Whether basic keys are ones that a library's arrays can be written to by."""
    free = space.library.indexes_freely or not any(key is None for key in keys)
    return free and all(map(_is_basic, keys))


def _takes(space: Namespace, raw: Any, keys: tuple[Any, ...]) -> bool:
    """Whether a library's own arrays take keys with arrays."""
    if space.library.indexes_freely:
        return not any(map(_runs_backwards, keys))
    is_mask = len(keys) == 1 and "bool" in str(getattr(keys[0], "dtype", ""))
    return is_mask and len(keys[0].shape) == len(raw.shape)


# --- slices that run backwards ------------------------------------------------------------------


def _forwards(raw: Any, keys: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int]]:
    """The same keys with slices that run forwards, and the axes of the result that are then to be flipped."""
    rank = len(raw.shape) - sum(key is not None and key is not ... for key in keys)
    whole: list[Any] = []
    for key in keys:
        whole += [slice(None)] * rank if key is ... else [key]
    found, flipped, axis, out = list[Any](), list[int](), 0, 0
    for key in whole:
        if _runs_backwards(key):
            places = range(raw.shape[axis])[key]
            found.append(slice(places[-1], places[0] + 1, -key.step) if places else slice(0, 0))
            flipped.append(out)
        else:
            found.append(key)
        axis += key is not None
        out += key is None or isinstance(key, slice)
    return tuple(found), flipped


def _backwards(space: Namespace, raw: Any, keys: tuple[Any, ...]) -> Any:
    forwards, flipped = _forwards(raw, keys)
    return space.xp.flip(raw[forwards], axis=tuple(flipped))


def _put_backwards(space: Namespace, raw: Any, keys: tuple[Any, ...], new: Any) -> Any:
    forwards, flipped = _forwards(raw, keys)
    part = raw[forwards]
    raw[forwards] = space.xp.flip(space.xp.broadcast_to(new, part.shape), axis=tuple(flipped))
    return raw


# --- by the places of items, which are found with NumPy -------------------------------------------


def _places(space: Namespace, raw: Any, keys: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """The places in the flat array of what a key selects."""
    host = tuple(space.to_host(key) if hasattr(key, "dtype") else key for key in keys)
    size = int(np.prod(raw.shape, dtype=int))
    return np.asarray(np.arange(size).reshape(tuple(raw.shape))[host])


def _gathered(space: Namespace, raw: Any, keys: tuple[Any, ...]) -> Any:
    free = space.library.indexes_freely and not any(map(_runs_backwards, keys))
    if free or not space.library.is_mutable:
        return raw[keys]
    if _takes(space, raw, keys):
        return raw[_spelled(space, raw, keys)]
    places = _places(space, raw, keys)
    flat = space.xp.reshape(raw, (-1,))
    found = space.xp.take(flat, space.moved(places.ravel()), axis=0)
    return space.xp.reshape(found, places.shape)


def _scattered(space: Namespace, raw: Any, keys: tuple[Any, ...], new: Any) -> Any:
    places = _places(space, raw, keys)
    spread = space.xp.reshape(space.xp.broadcast_to(new, places.shape), (-1,))
    changed = _put_flat(space, raw, places.ravel(), spread)
    if space.library.is_mutable:
        raw[...] = changed
        return raw
    return changed


def _put_flat(space: Namespace, raw: Any, places: Any, new: Any) -> Any:
    """An array with other items at some places of the flat array; the last of those at one place counts."""
    source = np.full(int(np.prod(raw.shape, dtype=int)), -1)
    source[places] = np.arange(len(places))
    source = source.reshape(tuple(raw.shape))
    if not len(places):
        return raw
    taken = space.xp.take(new, space.moved(np.maximum(source, 0).ravel()), axis=0)
    return space.xp.where(space.moved(source >= 0), space.xp.reshape(taken, raw.shape), raw)


def _turns(places: np.ndarray[Any, Any]) -> Any:
    """Which values go where, in turns in which no place occurs twice."""
    left = np.arange(places.size)
    while left.size:
        _, first = np.unique(places[left], return_index=True)
        yield left[first], places[left[first]]
        left = np.delete(left, first)


def _trimmed(space: Namespace, new: Any, raw: Any, keys: tuple[Any, ...]) -> Any:
    """A value without leading axes of length 1 that what it is written to lacks."""
    while len(new.shape) > len(raw.shape) and new.shape[0] == 1:
        new = space.xp.reshape(new, tuple(new.shape)[1:])
    return new
