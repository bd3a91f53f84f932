"""NumPy's functions that join, insert and repeat parts of arrays, in Python: the front end reads these instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.selection import take as take_op
from ....ops.arrays.statistics import delete_places, insert_places


def block(arrays: Any) -> Any:
    """`np.block` of lists nested at most three deep."""
    if not isinstance(arrays, list):
        return array_of(arrays)
    if not isinstance(arrays[0], list):
        return _joined(arrays, -1, 1)
    if not isinstance(arrays[0][0], list):
        return _joined([_joined(row, -1, 2) for row in arrays], -2, 2)
    return _joined(
        [_joined([_joined(row, -1, 3) for row in part], -2, 3) for part in arrays], -3, 3
    )


def _joined(arrays: Any, axis: Any, least: Any) -> Any:
    rank = _greatest([least, *[np.ndim(a) for a in arrays]])
    return np.concatenate([_with_rank(a, rank) for a in arrays], axis=axis)


def _greatest(ranks: Any) -> Any:
    """As `max`, but known where the ranks are known."""
    for rank in ranks:
        if not any([other > rank for other in ranks]):  # noqa: C419 (a list is known item by item)
            return rank
    return max(ranks)


def _with_rank(a: Any, rank: Any) -> Any:
    if np.ndim(a) == rank:
        return array_of(a)
    return np.reshape(a, (*[1 for _ in range(rank - np.ndim(a))], *np.shape(a)))


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """`np.insert`."""
    arr = array_of(arr)
    if axis is None:
        arr, axis = np.ravel(arr), 0
    values = _with_rank(np.asarray(values, dtype=arr.dtype), np.ndim(arr))
    if np.ndim(obj) > 0:
        values = np.moveaxis(values, axis, 0)
    arr = np.moveaxis(arr, axis, 0)
    count = np.shape(values)[0] if np.size(obj) == 1 else np.size(obj)
    values = np.broadcast_to(values, (count, *np.shape(arr)[1:]))
    places = insert_places(np.shape(arr)[0], obj, count)
    return np.moveaxis(take_op(np.concatenate((arr, values)), places, axis=0), 0, axis)


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """`np.delete`."""
    arr = array_of(arr)
    if axis is None:
        arr, axis = np.ravel(arr), 0
    return take_op(arr, delete_places(np.shape(arr)[axis], obj), axis=axis)


def resize(a: Any, new_shape: Any) -> Any:
    """`np.resize`."""
    size = np.size(np.empty(new_shape))
    return np.reshape(take_op(np.ravel(a), np.arange(size) % np.size(a)), new_shape)
