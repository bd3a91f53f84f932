"""Writes in place: what generated code calls where Python has no statement that does the same.

A cotangent or tangent that is written to here belongs to the code that writes to it. The text of
these functions is copied into saved derivatives, so each uses NumPy and the others only.
"""

from __future__ import annotations

from array import array
from collections import defaultdict, deque
from typing import Any

import numpy as np

from .attributes import attribute
from .containers import CONTENTS, attributes_of, is_built_on_container, list_cotangent, refill
from .cotangents import unbroadcast, zeros
from .refusals import coded, unclear

# --- the user's writes --------------------------------------------------------------------


def overwrite(x: Any, value: Any) -> Any:
    """Replace everything that `x` holds; an array casts as NumPy's `out=` does."""
    if isinstance(x, np.ndarray):
        np.copyto(x, value, casting="same_kind")
    elif is_built_on_container(type(x)):
        alike = is_built_on_container(type(value))
        refill(x, attributes_of(value) if alike else {CONTENTS: value})
    elif isinstance(x, dict):
        value = dict(value)
        x.clear()
        x.update(value)
    elif isinstance(x, set):
        value = set(value)
        x.clear()
        x.update(value)
    elif isinstance(x, deque):
        value = list(value)
        x.clear()
        x.extend(value)
    elif isinstance(x, (list, bytearray)) or not hasattr(x, "__dict__"):
        x[:] = value
    else:
        x.__dict__.update(value.__dict__)
    return x


def insert(x: Any, key: Any, value: Any) -> Any:
    """`x.insert(key, value)` for a list, `x[key] = value` for a dictionary, `x.add(key)` for a set.

    A slice says where each of several values stands in the end; a value for a set is all that it then holds.
    """
    if isinstance(x, dict):
        x[key] = value
    elif isinstance(x, set):
        if value is None:
            x.add(key)
        else:
            overwrite(x, value)
    elif isinstance(key, slice):
        for k, item in zip(range(key.start, key.stop, key.step), value, strict=True):
            x.insert(k, item)
    else:
        x.insert(key, value)
    return x


def reached(view: Any, x: Any) -> Any:
    """A view or part of `x` that is about to be written to; ValueError if it is a copy."""
    arrays = isinstance(view, np.ndarray) and isinstance(x, np.ndarray)
    if not arrays or view.size == 0 or np.may_share_memory(view, x):
        return view
    raise _lost(
        "this writes to a copy of a part of an array: the array itself does not change",
        "Write to the array by an index of its own, `x[i, j] = value`, or write to a copy of the part: `.copy()`.",
    )


def accepts(x: Any, *path_and_value: Any) -> None:
    """Refuse a float that is about to be written into an array of integers, which cuts it off."""
    *path, value = path_and_value
    for step in path[:-1]:
        if isinstance(x, np.ndarray):
            break
        x = _step(x, step)
    if not isinstance(x, np.ndarray) or x.dtype.kind not in "iub":
        return
    if np.asarray(value).dtype.kind not in "fc":
        return
    raise _lost(
        f"an array of {x.dtype} is given a value that has a derivative: it would keep the integer "
        "part only",
        "Create the array with `dtype=float`.",
    )


def _lost(message: str, hint: str) -> ValueError:
    error = ValueError(f"{message}\n{hint}")
    return coded(error, "WG104")


# --- writes to tangents and cotangents ----------------------------------------------------


def stored(x: Any, *path_and_value: Any) -> Any:
    """`x[i][j] = value`; gives x, or what has to take its place."""
    *path, value = path_and_value
    first, *rest = path
    if x is None:
        x = {}  # of an object that had nothing differentiable
    if isinstance(x, (np.generic, int, float, complex)) and not isinstance(first, str):
        x = np.asarray(x)  # the tangent or cotangent of an array without axes
    if rest:
        part = _part(x, first)
        value = stored(part, *rest, value)
        if value is part:
            return x
    if isinstance(x, dict):
        x[first] = value
        return x
    if isinstance(x, (list, tuple)):
        return _stored_in_list(list(x) if isinstance(x, tuple) else x, first, value)
    if isinstance(x, np.ndarray):
        if x.dtype.kind != "c" and np.iscomplexobj(value):
            x = x.astype(complex)
        x[_index_into(x, first)] = value
        return x
    setattr(x, first, value)
    return x


def _index_into(x: Any, index: Any) -> Any:
    """An index of an array: everything is `()` of an array without axes, which has no slices."""
    return () if x.ndim == 0 and isinstance(index, slice) else index


def _stored_in_list(x: list[Any], index: Any, value: Any) -> list[Any]:
    if isinstance(index, slice) and not hasattr(value, "__len__"):
        value = [value] * len(x[index])  # the same number everywhere
    x[index] = value
    return x


def appended(x: Any, *path_and_value: Any) -> Any:
    """`x.append(value)`, or of the list that a path leads to; gives x."""
    *path, value = path_and_value
    items = _list_at(x, path)
    items.append(value)
    return stored(_as_list(x), *path, items) if path else items


def inserted(x: Any, *path_key_and_value: Any) -> Any:
    """`x.insert(key, value)`, or `x[key] = value` of a dictionary, or at a path; gives x."""
    *path, key, value = path_key_and_value
    items = _list_at(x, path)
    if items is None and (key is None or value is None):
        return x  # of a set, which holds nothing that has a derivative
    items = insert(items, key, value)
    return stored(_as_list(x), *path, items) if path else items


def dropped(x: Any, *path_and_key: Any) -> Any:
    """`del x[key]`, or of a dictionary where it has the key, or at a path; gives x."""
    *path, key = path_and_key
    items = _list_at(x, path)
    if isinstance(items, dict):
        items.pop(key, None)
    elif items is None:  # of a set, which holds nothing that has a derivative
        return x
    else:
        del items[key]
    return stored(_as_list(x), *path, items) if path else items


def _list_at(x: Any, path: list[Any]) -> Any:
    for step in path:
        x = _part(x, step)
    return _as_list(x)


def _as_list(x: Any) -> Any:
    """Something whose items are about to be more or fewer; the cotangent of a list may be an array."""
    return list(x) if isinstance(x, (tuple, np.ndarray)) else x


def given_at(x_bar: Any, *path_and_value: Any) -> Any:
    """The cotangent of a value that was stored at a path, from that of the whole; memory of its own."""
    *path, index, value = path_and_value
    for step in path:
        x_bar = _part(x_bar, step)
    if isinstance(x_bar, (np.generic, float, complex)) and not isinstance(index, str):
        x_bar = np.asarray(x_bar)  # of an array without axes
    if isinstance(x_bar, np.ndarray):
        index = _index_into(x_bar, index)
        part = unbroadcast(x_bar[index] * last_written(x_bar, index), value)
        return list_cotangent(part, value) if isinstance(value, (list, tuple)) else part
    part = _part(x_bar, index)
    if part is None:
        return zeros(value)
    return list_cotangent(part, value) if isinstance(index, slice) else part


def _part(x_bar: Any, step: Any) -> Any:
    """The part of a tangent or cotangent; None where there is none, which is a zero."""
    if isinstance(x_bar, defaultdict):
        return x_bar[step]
    if isinstance(x_bar, dict):
        return x_bar.get(step)
    if isinstance(x_bar, list) and isinstance(step, str):
        raise unclear(
            f"{step!r} of a namedtuple is changed, whose class is known only when the program runs\n"
            "Change it by index (`p[0]`), or specialise the derivative for example arguments."
        )
    if x_bar is None or isinstance(step, str):
        _refuse_number(x_bar, step)
        return getattr(x_bar, step, None)
    return x_bar[step]


def _refuse_number(x_bar: Any, step: Any) -> None:
    """Refuse a number as the cotangent of an object: an operator of its class has given it."""
    if isinstance(x_bar, (float, complex, np.generic)) and x_bar != 0:
        raise unclear(
            f"an operator is that of the class of an object with {step!r}, which is known only when the program runs\n"
            "Specialise the derivative for example arguments."
        )


def zeros_at(x: Any, *path: Any) -> Any:
    """The zero cotangent of the part of `x` that a path leads to, None if there is none yet."""
    try:
        for step in path:
            x = _step(x, _index_into(x, step) if isinstance(x, np.ndarray) else step)
    except (LookupError, AttributeError):
        return None
    return zeros(x)


def position(x: Any, *path_and_key: Any) -> Any:
    """Where `x.insert(key, …)` inserts and `del x[key]` deletes, counted from the first item."""
    *path, key = path_and_key
    for step in path:
        x = _step(x, step)
    if isinstance(key, slice):
        places = sorted(range(*key.indices(len(x))))
        step = abs(key.step or 1)
        start = places[0] if places else 0
        return slice(start, start + step * len(places), step)
    if not isinstance(x, (list, deque, array)):
        return key
    return max(key + len(x), 0) if key < 0 else min(key, len(x))


def _step(x: Any, step: Any) -> Any:
    """What one step leads to; the attributes of objects are named by text."""
    if not isinstance(step, str):
        return x[step]
    is_object = is_built_on_container(type(x)) or not isinstance(x, dict)
    return attribute(x, step) if is_object else x[step]


def span_of(x: Any, *path_and_value: Any) -> Any:
    """Where the value stands after it was stored at a path, the last step of which may be a slice."""
    *path, index, value = path_and_value
    for step in path:
        x = _step(x, step)
    if not isinstance(index, slice) or not isinstance(x, list) or index.step not in (None, 1):
        return index
    start = index.indices(len(x))[0]
    return slice(start, start + len(value))


def last_written(x: Any, index: Any) -> Any:
    """For each entry of `x[index]` whether `x[index] = value` left that entry of the value there.

    1.0 if it is so for all: only an index that names an element twice writes over entries.
    """
    parts = index if isinstance(index, tuple) else (index,)
    lists = [np.asarray(part) for part in parts if not isinstance(part, slice)]
    if not isinstance(x, np.ndarray) or not any(part.ndim for part in lists):
        return 1.0
    if len(lists) == len(parts) and all(part.dtype.kind in "iu" for part in lists):
        places = np.broadcast_arrays(*lists)
        numbers = np.ravel_multi_index(places, x.shape[: len(places)], mode="wrap")
        numbers = numbers.reshape(numbers.shape + (1,) * (x.ndim - len(places)))
    else:
        numbers = np.arange(x.size).reshape(x.shape)[index]
    _, backwards = np.unique(numbers.ravel()[::-1], return_index=True)
    if backwards.size == numbers.size:
        return 1.0
    flags = np.zeros(numbers.size)
    flags[numbers.size - 1 - backwards] = 1.0
    return flags.reshape(numbers.shape)


def copied_places(value: Any, target: Any) -> Any:
    """Which entries of `value` are in `target` after `target[...] = value`, where both may be parts of one array.

    NumPy makes no copy where both have one axis and lie in one direction: the entries that it has just
    written it may read again. It is asked what it does with numbers that say where they were.
    """
    if np.ndim(value) == 0:
        return np.array(True)  # the only index by an array that there is
    size = getattr(value, "itemsize", 1)
    places = np.arange(len(value))
    if np.ndim(value) != 1 or np.shape(value) != np.shape(target) or value.dtype != target.dtype:
        return places
    if value.strides == target.strides or not np.may_share_memory(value, target):
        return places
    bounds = [np.lib.array_utils.byte_bounds(each) for each in (value, target)]
    low = min(bounds)[0]
    starts = [each.__array_interface__["data"][0] - low for each in (value, target)]
    steps = [*starts, *value.strides, *target.strides]
    if value.dtype.kind not in "fc" or not value.strides[0] or any(k % size for k in steps):
        return places
    memory = np.arange((max(bounds, key=lambda b: b[1])[1] - low) // size).astype(value.dtype)
    source, copied = (
        np.lib.stride_tricks.as_strided(memory[start // size :], places.shape, each.strides)
        for start, each in zip(starts, (value, target), strict=True)
    )
    copied[...] = source
    return (np.real(copied).astype(int) * size - starts[0]) // value.strides[0]


def as_left(value_bar: Any, x: Any, index: Any) -> Any:
    """Something like `x[index]`, zero where `x[index] = value` wrote over an entry of the value."""
    flags = last_written(x, index)
    return value_bar if isinstance(flags, float) else value_bar * flags


def summed_to(x_bar: Any, shape: tuple[int, ...]) -> Any:
    """A cotangent summed over what broadcasting a value of this shape repeated."""
    return x_bar if np.shape(x_bar) == shape else unbroadcast(x_bar, np.broadcast_to(0.0, shape))


def spread_over(value: Any, x: Any) -> Any:
    """What `x` holds once the value has taken the place of everything in it."""
    if isinstance(x, np.ndarray):
        return np.array(np.broadcast_to(value, x.shape))
    return dict(value) if isinstance(x, dict) else list(value)


def spread_from(x_bar: Any, value: Any) -> Any:
    """The transpose of `spread_over`."""
    if isinstance(x_bar, (list, dict)):
        return x_bar if isinstance(x_bar, dict) else list_cotangent(x_bar, value)
    return unbroadcast(x_bar, value)
