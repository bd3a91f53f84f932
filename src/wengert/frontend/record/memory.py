"""Memory of arrays that a recorded run writes to: views of it, what was saved of it, its cotangents.

An array and its views lie in one memory. A sweep keeps the cotangents of a memory in an array that is laid out
alike, its *shadow*: a view reaches the cotangents of its elements there as it reaches its elements here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...numbers.number import PerturbedNumber, value_of

NUMPYS_OWN = (np.ndarray, np.recarray, np.memmap)
"""Classes of arrays that compute as NumPy's arrays do."""


class Memory:
    """What an array and its views share."""

    __slots__ = (
        "_low",
        "active",
        "flat",
        "held_by",
        "is_changed",
        "is_given_twice",
        "notes_reads",
        "root",
        "saved",
        "size",
    )

    def __init__(self, value: Any):
        """The memory of an array, which may be a view; the array may carry derivatives of lower levels."""
        array = value_of(value)
        self.root = _root(array)
        """The array that no other one is the base of."""
        flat = _in_order(self.root)
        self.flat = relaid(value, flat)
        self.size = flat.nbytes
        self._low: int | None = None
        self.active = False
        """Whether anything in it depends on what the run is differentiated by."""
        self.is_given_twice = False
        """Whether another array of the program may lie in it, whose derivatives are kept apart."""
        self.is_changed = False
        """Whether the run has written to it."""
        self.held_by = ""
        """Of which class an object is that was there before the run, and would hand out what is written as floats."""
        self.notes_reads = False
        """Whether a sweep notes which of its elements have cotangents, be they zero."""
        self.saved: Saved | None = None
        """What has been saved since the last write."""

    @property
    def low(self) -> int:
        """Where it begins."""
        if self._low is None:
            self._low = _address(value_of(self.flat))
        return self._low

    @property
    def is_of_records(self) -> bool:
        return value_of(self.flat).dtype.names is not None

    def holds(self, array: np.ndarray[Any, Any]) -> bool:
        """Whether an array lies in it."""
        if array.base is None:
            return array is self.root
        return array.size > 0 and self.low <= _address(array) < self.low + max(self.size, 1)

    def is_all(self, view: np.ndarray[Any, Any]) -> bool:
        """Whether a view has all elements, in the order in which they lie."""
        flat = value_of(self.flat)
        return view.size == flat.size and view.flags.c_contiguous and view.dtype == flat.dtype

    def save(self) -> Saved:
        """Its contents as they are now."""
        if self.saved is None:
            self.saved = Saved()
        return self.saved

    def is_written(self) -> None:
        """Keep what was saved apart from what is about to be written."""
        self.is_changed = True
        if self.saved is not None:
            self.saved.flat = self.flat.copy()
            self.saved = None

    def order_of_copy(self, to: Any, source: np.ndarray[Any, Any]) -> Any:
        """Where each element comes from that is copied between overlapping views, if not from where it seems to.

        NumPy copies between rows that lie in one memory element by element, and may read what it has just written.
        """
        if (
            not isinstance(to, np.ndarray)
            or to.ndim != 1
            or self.is_of_records
            or source.strides[-1:] == to.strides
        ):
            return None
        if not np.may_share_memory(to, source):
            return None
        numbers = np.arange(value_of(self.flat).size).astype(value_of(self.flat).dtype)
        target, given = self.part(numbers, to), self.part(numbers, source)
        expected = np.broadcast_to(given, to.shape).copy()
        target[...] = given
        return None if np.array_equal(target, expected) else target.real.astype(np.intp)

    def shadow(self, zeros: Any) -> Any:
        """Zeros laid out like it; `zeros(n, dtype)` makes them."""
        dtype = value_of(self.flat).dtype
        return zeros(self.flat.size, dtype if dtype.kind in "fcV" else np.dtype(np.float64))

    def part(self, flat: Any, view: np.ndarray[Any, Any]) -> Any:
        """What corresponds to a view in an array that is laid out like the memory."""
        whole = value_of(flat)
        if flat is whole and view.dtype == whole.dtype and self.is_all(view):
            return whole.reshape(view.shape)
        own = value_of(self.flat).itemsize
        scale = lambda n: n if whole.itemsize == own else n // own * whole.itemsize
        is_laid_out_alike = view.dtype.kind in "fcV" or self.is_of_records
        dtype = view.dtype if is_laid_out_alike else whole.dtype
        strides = tuple(map(scale, view.strides))
        offset = scale(_address(view) - self.low) if view.size else 0
        made = np.ndarray(view.shape, dtype, buffer=whole, offset=offset, strides=strides)
        return relaid(flat, made)


def may_have_derivatives(x: Any) -> bool:
    """Whether a value is an array whose items, or some fields of them, are numbers with a derivative."""
    return type(x) in (np.ndarray, np.recarray) and of_numbers(x.dtype)


def of_numbers(dtype: Any) -> bool:
    if dtype.names is not None:
        return any(of_numbers(dtype[name].base) for name in dtype.names)
    return dtype.kind in "fc"


def number_fields(array: Any) -> Iterator[Any]:
    """An array, or of an array of records the fields that have derivatives."""
    dtype = value_of(array).dtype
    if dtype.names is None:
        if dtype.kind in "fc":
            yield array
    else:
        for name in dtype.names:
            yield from number_fields(array[name])


class Saved:
    """The contents of a memory between two writes: copied when the second one comes."""

    __slots__ = ("flat",)

    def __init__(self) -> None:
        self.flat: Any = None


def relaid(value: Any, array: np.ndarray[Any, Any]) -> Any:
    """Another view of the memory that a value with derivatives lies in."""
    if isinstance(value, PerturbedNumber):
        return value.seen_as(relaid(value.value, array))
    return array


def overlaps_itself(view: np.ndarray[Any, Any]) -> bool:
    """Whether several elements of a view may lie in one place."""
    if view.flags.c_contiguous or view.size < 2:
        return False
    reach = view.itemsize
    for stride, count in sorted(zip(map(abs, view.strides), view.shape, strict=True)):
        if count > 1:
            if stride < reach:
                return True
            reach = stride * (count - 1) + reach
    return False


def places(view: np.ndarray[Any, Any], low: int, itemsize: int) -> np.ndarray[Any, Any]:
    """Where in a flat memory the elements of a view lie."""
    found = np.full(view.shape, _address(view) - low)
    for axis, (stride, count) in enumerate(zip(view.strides, view.shape, strict=True)):
        along = np.arange(count) * stride
        found += along.reshape((-1, *(1,) * (view.ndim - axis - 1)))
    return found // itemsize


def _root(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    while isinstance(below := _below(array), np.ndarray):
        array = below
    return array


def owner(array: np.ndarray[Any, Any]) -> Any:
    """What the memory of an array belongs to, which may be no array."""
    root = _root(array)
    below = _below(root)
    return root if below is None else below


def _below(array: np.ndarray[Any, Any]) -> Any:
    """What an array is a view of."""
    below: Any = array.base
    if isinstance(below, memoryview):
        return below.obj
    is_described = not isinstance(below, np.ndarray) and hasattr(below, "__array_interface__")
    return getattr(below, "base", below) if is_described else below  # as `as_strided` has it


def _in_order(root: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """All elements of an array in the order in which they lie, without a copy."""
    if root.flags.c_contiguous:
        return root.reshape(-1)
    axes = sorted(range(root.ndim), key=lambda k: -abs(root.strides[k]))
    straight = tuple(slice(None, None, -1 if root.strides[k] < 0 else 1) for k in range(root.ndim))
    flat = root[straight].transpose(axes).reshape(-1)
    return flat if np.may_share_memory(flat, root) else _spread(root)


def _spread(root: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The memory that an array with gaps lies in, whose owner is no array."""
    low, high = np.lib.array_utils.byte_bounds(root)
    count = (high - low) // root.itemsize
    first = root[tuple(0 if s >= 0 else -1 for s in root.strides)]
    del first
    return np.lib.stride_tricks.as_strided(root, (count,), (root.itemsize,))


def _address(array: np.ndarray[Any, Any]) -> int:
    return array.__array_interface__["data"][0]
