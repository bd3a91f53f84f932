"""Arrays in a run: functions of NumPy that make them of boxes, or write boxes to them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.lib import stride_tricks

from ...errors import UnknownFunction
from ...ir.callers import calling_span
from ...numbers.number import PerturbedNumber, value_of
from ...numbers.refusals import lost
from ...ops.arrays.joining import stack as stack_op
from . import records
from .boxes import Recorded, boxes_in, fresh, gathered_items, recorded
from .memory import relaid
from .methods import copied, real_type
from .operations import operations


def all_plain(x: Any) -> Any:
    """A value without derivatives of any level."""
    if isinstance(x, PerturbedNumber):
        return value_of(x)
    if isinstance(x, (list, tuple)) and boxes_in(x):
        items = list(map(all_plain, x))
        return tuple.__new__(type(x), items) if isinstance(x, tuple) else items
    if type(x) is dict:
        return {key: all_plain(item) for key, item in x.items()}
    return all_plain(gathered_items(x)) if type(x) is np.ndarray and x.dtype == object else x


def array(x: Any, dtype: Any = None, copy: Any = True, *, ndmin: int = 0, **options: Any) -> Any:
    """`np.array`."""
    made = _array(x, dtype, copy, **options)
    missing = ndmin - np.ndim(value_of(made))
    return made if missing <= 0 else np.reshape(made, (*(1,) * missing, *np.shape(value_of(made))))


def _array(x: Any, dtype: Any, copy: Any, **options: Any) -> Any:
    options.pop("like", None)
    dtype = None if dtype is None else np.dtype(real_type(dtype))
    if isinstance(x, Recorded) and x.memory is not None:
        if dtype is not None and dtype != value_of(x).dtype:
            return x.astype(dtype)
        return copied(x, str(options.get("order") or "K")) if copy is True else x
    if not isinstance(x, (list, tuple, PerturbedNumber, np.ndarray)):
        inner = getattr(type(x), "__array__", None)
        return fresh(
            np.array(x, dtype=dtype, copy=copy, **options) if inner or not boxes_in((x,)) else x
        )
    if isinstance(x, (list, tuple)):
        x = _with_items_of_objects(x)
    if not boxes_in((x,)):
        return fresh(np.array(x, dtype=dtype, copy=copy, **options))
    if type(x) is np.ndarray:
        return gathered_items(x) if dtype is None or dtype.kind != "O" else x.copy()
    if dtype is not None and dtype.kind == "O":
        return _of_objects(x)
    if dtype is not None and dtype.names is not None:
        return of_records(np.array, x, dtype)
    made = stacked(x)
    return made if dtype is None or value_of(made).dtype == dtype else made.astype(dtype)


def of_records(make: Callable[..., Any], x: Any, *args: Any, **options: Any) -> Any:
    """An array of records that is made of tuples."""
    made = fresh(make(all_plain(x), *args, **options))
    made[...] = x
    return made


def _of_fields(columns: Any, *args: Any, **options: Any) -> Any:
    """`np.rec.fromarrays`."""
    made = fresh(np.rec.fromarrays(all_plain(columns), *args, **options))
    for name, column in zip(value_of(made).dtype.names, columns, strict=True):
        made[name] = column
    return made


def _with_items_of_objects(x: Any) -> Any:
    """Lists in which arrays of objects that hold boxes are boxes."""
    items = [
        _with_items_of_objects(item) if isinstance(item, (list, tuple)) else gathered_items(item)
        for item in x
    ]
    return tuple(items) if isinstance(x, tuple) else items


def _of_objects(x: Any) -> Any:
    shape = np.shape(np.array(all_plain(x)))
    made = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        item = x
        for k in index:
            item = item[k]
        made[index] = item
    return made


def asarray(x: Any, dtype: Any = None, **options: Any) -> Any:
    """`np.asarray`, `np.asanyarray`, `np.ascontiguousarray` …"""
    if isinstance(x, Recorded) and x.memory is not None and dtype is None:
        order = options.get("order")
        flags = value_of(x).flags
        fits = order in (None, "K", "A") or flags[f"{order}_CONTIGUOUS"]
        return x if fits else copied(x, str(order))
    options.pop("copy", None)
    return array(x, dtype, copy=False if isinstance(x, Recorded) else None, **options)


def ascontiguousarray(x: Any, dtype: Any = None, **options: Any) -> Any:
    made = asarray(x, dtype, order="C")
    return made if np.ndim(value_of(made)) else made.reshape(1)


def asfortranarray(x: Any, dtype: Any = None, **options: Any) -> Any:
    return asarray(x, dtype, order="F")


def stacked(x: Any) -> Any:
    """An array of numbers and arrays, of which some are boxes."""
    if isinstance(x, np.ndarray):
        made = stacked(x.ravel().tolist())
        return made.reshape(x.shape)
    if isinstance(x, Recorded):
        return x if x.memory is not None else stacked([x]).reshape(())
    items = [stacked(item) if isinstance(item, (list, tuple)) else item for item in x]
    shapes = {np.shape(value_of(item)) for item in items}
    if len(shapes) > 1:
        np.array([all_plain(item) for item in items])  # which says that they do not fit
    found = boxes_in(tuple(items))
    if not found:
        return fresh(np.array(items))
    tape = max((box.tape for box in found), key=lambda tape: tape.level)
    # NumPy reads a number of several levels below as what it is there: level by level
    return recorded(tape, stack_op, (items,), {}, _stack, (items,), {})


def _stack(items: Any) -> Any:
    return stacked(items) if boxes_in(tuple(items)) else np.array(items)


def full(shape: Any, fill_value: Any, dtype: Any = None, *order: Any, **options: Any) -> Any:
    dtype = None if dtype is None else np.dtype(real_type(dtype))
    found = all_plain(fill_value)
    made = fresh(np.empty(all_plain(shape), dtype or np.asarray(found).dtype))
    made[...] = fill_value
    return made


def arange(*args: Any, **options: Any) -> Any:
    given = {**dict(zip(("start", "stop", "step", "dtype"), args, strict=False)), **options}
    start, stop, step = (given.get(name) for name in ("start", "stop", "step"))
    start, stop = (None, start) if stop is None else (start, stop)
    start, step = 0 if start is None else start, 1 if step is None else step
    plain = np.arange(*map(all_plain, (start, stop, step)), dtype=real_type(given.get("dtype")))
    if plain.dtype.kind not in "fc" or not boxes_in((start, step)):
        return fresh(plain)
    return start + step * np.arange(len(plain), dtype=plain.dtype)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
    dtype = None if dtype is None else np.dtype(real_type(dtype))
    made = fresh(np.empty_like(all_plain(a), dtype=dtype, shape=shape))
    made[...] = fill_value
    return made


def _like(function: Any) -> Callable[..., Any]:
    def make(a: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        dtype = None if dtype is None else np.dtype(real_type(dtype))
        return fresh(function(all_plain(a), dtype, *args, **options))

    return make


def _viewed(function: Any) -> Callable[..., Any]:
    """A function that lays an array out otherwise in the same memory."""

    def make(x: Any, *args: Any, **options: Any) -> Any:
        x = asarray(x)
        if not isinstance(x, Recorded):
            return function(x, *map(all_plain, args), **options)
        options.pop("subok", None)
        plain = {name: all_plain(option) for name, option in options.items()}
        return relaid(x, function(value_of(x), *map(all_plain, args), **plain))

    return make


# --- functions that write -----------------------------------------------------------------------


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if not isinstance(dst, Recorded):
        raise lost(boxes_in((src,))[0], "what an array of floats is given")
    if where is True:
        dst[...] = src
    else:
        dst[...] = np.where(all_plain(where), src, dst)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    index = np.ravel(all_plain(ind))
    size = value_of(a).size
    if mode != "raise":
        index = np.clip(index, 0, size - 1) if mode == "clip" else index % size
    index = np.where(index < 0, index + size, index)
    values = np.ravel(v)
    values = values[np.arange(index.size) % value_of(values).size] if index.size else values[:0]
    if value_of(a).flags.c_contiguous:
        a.reshape(-1)[index] = values
    else:
        a[np.unravel_index(index, value_of(a).shape)] = values


def _chosen(mask: Any, a: Any) -> Any:
    """Which elements a mask chooses, also one of numbers."""
    return np.broadcast_to(np.asarray(all_plain(mask), dtype=bool), value_of(a).shape)


def putmask(a: Any, mask: Any, values: Any) -> None:
    chosen = _chosen(mask, a)
    size = np.size(all_plain(values))
    if np.shape(all_plain(values)) != value_of(a).shape:
        values = np.ravel(values)[(np.arange(value_of(a).size) % size).reshape(value_of(a).shape)]
    a[chosen] = asarray(values)[chosen]


def place(arr: Any, mask: Any, vals: Any) -> None:
    chosen = _chosen(mask, arr)
    count = int(chosen.sum())
    values = np.ravel(vals)
    arr[chosen] = values[np.arange(count) % value_of(values).size]


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    shape = value_of(a).shape
    if wrap or len(shape) != 2:
        raise UnknownFunction(
            "np.fill_diagonal of more than two axes", "Index the array.", calling_span()
        )
    along = np.arange(min(shape))
    values = np.ravel(val)
    a[along, along] = values[along % value_of(values).size]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    if axis is None:
        arr.reshape(-1)[np.ravel(indices)] = values
        return
    counts = np.shape(indices)
    grid = list(np.broadcast_arrays(*np.ix_(*map(np.arange, counts))))
    grid[axis] = np.asarray(indices)
    arr[tuple(grid)] = values


def _sort(a: Any, axis: Any = -1, **options: Any) -> Any:
    if axis is None:
        a, axis = np.ravel(a), 0
    if records.is_record(a):
        made = asarray(a).copy()
        made.sort(axis, **options)
        return made
    order = np.argsort(all_plain(a), axis=axis, kind="stable")
    return np.take_along_axis(asarray(a), order, axis=axis)


SPECIAL: dict[Any, Callable[..., Any]] = {
    np.array: array,
    np.asarray: asarray,
    np.asanyarray: asarray,
    np.ascontiguousarray: ascontiguousarray,
    np.asfortranarray: asfortranarray,
    np.copy: lambda a, order="K", subok=False: array(a, order=order),
    np.full: full,
    np.arange: arange,
    np.full_like: full_like,
    np.zeros_like: _like(np.zeros_like),
    np.ones_like: _like(np.ones_like),
    np.empty_like: _like(np.empty_like),
    np.copyto: copyto,
    np.put: put,
    np.putmask: putmask,
    np.place: place,
    np.fill_diagonal: fill_diagonal,
    np.put_along_axis: put_along_axis,
    np.sort: _sort,
    stride_tricks.as_strided: _viewed(stride_tricks.as_strided),
    stride_tricks.sliding_window_view: _viewed(stride_tricks.sliding_window_view),
    np.rec.array: partial(of_records, np.rec.array),
    np.rec.fromarrays: _of_fields,
}


operations.stacked = stacked
operations.put = put
