"""Results that are put together in Python: lists from how they lie in memory, and parts of arguments."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..form.loopform import SIZES, Code, Constant, Expr, Slot
from ..lower.sequences import columns, sequences
from ..lower.sequences.columns import Column, GrowingList
from ..values.complexes import COMPLEX
from ..values.values import AN_INTEGER, PYTHON, SINGLE, Scalar, StaticValue, Tuple, Unlowered

ITEM_TYPES = {"f64": np.float64, "i64": np.int64, "b1": np.bool_, "f32": np.float32}

_CONTAINERS = {"tuple": tuple, "list": list}


def python_number(number: Any, code: Code, origin: int) -> Any:
    """A number of the loop form as the Python form would have given it."""
    if code == "b1":
        number = bool(number & 1)
    if origin >= SINGLE:
        return ITEM_TYPES["f32" if origin == SINGLE else code](number)
    return int(number) if origin == AN_INTEGER else number


def must_be_readable(column: Column) -> None:
    """Refuse a list that nothing here can put together."""
    match column:
        case columns.Numbers() | columns.NumbersOfAnyOrigin() | columns.Arrays():
            return
        case columns.Same() | sequences.RaggedArrays():
            return
        case columns.Parts(columns=parts, template=template):
            if template.form not in ("tuple", "list", "dict", "namedtuple", COMPLEX):
                raise Unlowered("a list of objects as a result")
            for part in parts:
                must_be_readable(part)
        case columns.ListsOfOneLength(flat=flat):
            must_be_readable(flat)
        case sequences.Lists(flat=flat):
            must_be_readable(flat.column)
        case _:
            raise Unlowered("a list of such items as a result")


class ListReader:
    """Puts lists together, from what the variables of the result hold."""

    def __init__(self, words: Mapping[Slot, Any]):
        self._words = words

    def read(self, value: GrowingList, form: str) -> Any:
        """A list or tuple."""
        return _CONTAINERS[form](self._items(value.column, 0, self._number(value.length)))

    def _number(self, expr: Expr) -> Any:
        if isinstance(expr, Constant):
            return expr.value
        assert isinstance(expr, Slot)
        return self._words[expr]

    def _items(self, column: Column, start: int, count: int) -> Sequence[Any]:
        """So many items of a column from one on."""
        match column:
            case columns.Numbers(origin=origin):
                return numbers_of(self._memory(column, start, count), origin)
            case columns.NumbersOfAnyOrigin(values=values, origins=origins):
                found = self._memory(values, start, count)
                whose = self._memory(origins, start, count)
                pairs = zip(found, whose, strict=True)
                return [numbers_of(np.array([x]), int(origin))[0] for x, origin in pairs]
            case columns.Arrays(root=root, code=code, dims=dims):
                shape = [self._number(dim) for dim in dims]
                first = (start + self._number(column.offset)) * math.prod(shape)
                address = self._words[root.pointer]
                found = elements(address, code, first, count * math.prod(shape))
                return [array.copy() for array in found.reshape(count, *shape)]
            case columns.Parts(columns=parts, template=template):
                items = zip(*(self._items(part, start, count) for part in parts), strict=True)
                return [_put_together(template, item) for item in items]
            case columns.Same(value=value):
                return [self._known(value)] * count
            case _:
                return self._nested(column, start, count)

    def _nested(self, column: Column, start: int, count: int) -> list[Any]:
        match column:
            case columns.ListsOfOneLength(flat=flat, count=size):
                each = self._number(size)
                found = self._items(flat, start * each, count * each)
                return [list(found[k * each : (k + 1) * each]) for k in range(count)]
            case sequences.Lists(starts=starts, sizes=sizes, flat=flat):
                places, lengths = (self._memory(x, start, count) for x in (starts, sizes))
                pairs = zip(places.tolist(), lengths.tolist(), strict=True)
                return [list(self._items(flat.column, at, n)) for at, n in pairs]
            case sequences.RaggedArrays(starts=starts, sizes=sizes, flat=flat):
                places = self._memory(starts, start, count).tolist()
                shapes = zip(*(self._memory(x, start, count).tolist() for x in sizes), strict=True)
                assert isinstance(flat.column, columns.Numbers)
                found = [
                    self._memory(flat.column, at, math.prod(shape)).reshape(shape).copy()
                    for at, shape in zip(places, shapes, strict=True)
                ]
                return found
            case _:
                raise TypeError(f"a list kept in {type(column).__name__}")

    def _memory(self, column: columns.Numbers, start: int, count: int) -> Any:
        first = start + self._number(column.offset)
        return elements(self._words[column.root.pointer], column.code, first, count)

    def _known(self, value: StaticValue | Scalar) -> Any:
        if isinstance(value, StaticValue):
            return value.value
        number = np.array([self._number(value.expr)], ITEM_TYPES[value.code])
        assert isinstance(value.origin, int)
        return numbers_of(number, value.origin)[0]


def elements(address: int, code: Code, start: int, count: int) -> Any:
    """A copy of elements in memory."""
    if not count:
        return np.empty(0, ITEM_TYPES[code])
    raw = ctypes.string_at(address + start * SIZES[code], count * SIZES[code])
    return np.frombuffer(raw, ITEM_TYPES[code])


def numbers_of(array: Any, origin: int) -> list[Any]:
    """The elements of a vector as the Python form would have given them."""
    if origin == SINGLE:
        return list(array.astype(np.float32))
    if origin == AN_INTEGER:
        return [int(number) for number in array]
    return array.tolist() if origin == PYTHON else list(array)


def _put_together(template: Tuple, items: Sequence[Any]) -> Any:
    match template.form:
        case "complex":
            return (np.complex128 if isinstance(items[0], np.generic) else complex)(complex(*items))
        case "dict":
            return dict(zip(template.keys, items, strict=True))
        case "namedtuple":
            return template.type(*items)
        case form:
            return _CONTAINERS[form](items)


def part_of(array: Any, start: int, shape: Sequence[int], strides: Sequence[int]) -> Any:
    """A part of an array, in its memory; `start` and `strides` count elements."""
    steps = [stride * array.itemsize for stride in strides]
    return np.asarray(_Part(array, array.ctypes.data + start * array.itemsize, shape, steps))


class _Part:
    """What tells NumPy where a part of an array is, and keeps that alive."""

    def __init__(self, array: Any, address: int, shape: Sequence[int], strides: Sequence[int]):
        self.array = array
        self.__array_interface__ = {
            **array.__array_interface__,
            "data": (address, not array.flags.writeable),
            "shape": tuple(shape),
            "strides": tuple(strides),
        }
