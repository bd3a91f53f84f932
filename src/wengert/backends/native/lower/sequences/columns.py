"""The parts of a list: numbers, arrays, tuples or lists, one after the other in memory.

A list is kept by columns: a list of pairs of numbers is two arrays of numbers, a list of lists is the items of
all of them one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Protocol

from .....ir.records import mutable_record, replace
from ...form.loopform import Code, Copy, Enlarge, Expr, For, Load, Slot, Store
from ...values import values as nv
from ...values.complexes import is_complex
from ...values.emitter import Emitter
from ...values.loops import copy_elements
from ...values.numbers import as_float_origin, exact_float, origin_expr, possible
from .mismatches import Learned, Mismatch, Widened


class Column(Protocol):
    """One part of the items of a list."""

    def roots(self) -> list[nv.Root]:
        """The memory it lies in."""
        ...

    def enlarge(self, e: Emitter, room: Expr) -> None:
        """Make room for so many items."""
        ...

    def put(self, e: Emitter, position: Expr, item: nv.Value) -> None:
        """Write an item where there is room for it."""
        ...

    def item(self, e: Emitter, position: Expr) -> nv.Value:
        """The item at a position that is in range."""
        ...

    def shifted(self, e: Emitter, start: Expr) -> Column:
        """The items from a position on."""
        ...


@mutable_record
class GrowingList:
    """A list.

    Attributes:
        column: where the items are.
        length: how many there are.
        capacity: how many there is room for.
        count: how many there are going to be, where that is known before the first.
        key: says which list of the program it is, where more may turn out about what it holds.
    """

    column: Column
    length: Slot
    capacity: Slot
    count: Expr | None = None
    key: Hashable = None


@mutable_record
class Numbers:
    root: nv.Root
    code: Code
    origin: int
    bits: int
    offset: Expr = nv.ZERO

    def roots(self) -> list[nv.Root]:
        return [self.root]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        e.add(Enlarge(self.root.pointer, room, self.code))

    def put(self, e: Emitter, position: Expr, item: nv.Value) -> None:
        if not isinstance(item, nv.Scalar) or item.code != self.code or item.origin != self.origin:
            raise Mismatch
        self.write(e, position, item.expr)

    def write(self, e: Emitter, position: Expr, value: Expr) -> None:
        e.add(Store(self.root.pointer, nv.plus(position, self.offset), value))

    def item(self, e: Emitter, position: Expr) -> nv.Scalar:
        found = e.let(Load(self.root.pointer, nv.plus(position, self.offset), self.code))
        return nv.Scalar(found, self.origin, self.bits)

    def shifted(self, e: Emitter, start: Expr) -> Numbers:
        return replace(self, offset=e.let(nv.plus(self.offset, start)))


@mutable_record
class NumbersOfAnyOrigin:
    """Numbers, and whose each of them is; `among` says whose they may be."""

    values: Numbers
    origins: Numbers
    among: frozenset[int]

    def roots(self) -> list[nv.Root]:
        return [self.values.root, self.origins.root]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        self.values.enlarge(e, room)
        self.origins.enlarge(e, room)

    def put(self, e: Emitter, position: Expr, item: nv.Value) -> None:
        code = self.values.code
        if isinstance(item, nv.Scalar) and item.code == code != "f64":
            value, origin = item.expr, item.origin
        elif isinstance(item, nv.Scalar) and code == "f64" and item.code != "b1":
            value, origin = exact_float(e, item), as_float_origin(item)
        else:
            raise Mismatch
        if not possible(origin) <= self.among:
            raise Widened if self.among == nv.OF_DOUBLES else Mismatch
        self.values.write(e, position, value)
        self.origins.write(e, position, origin_expr(origin))

    def item(self, e: Emitter, position: Expr) -> nv.Scalar:
        value = self.values.item(e, position)
        whose = nv.DynamicOwner(self.origins.item(e, position).expr, self.among)
        return nv.Scalar(value.expr, whose, value.bits)

    def shifted(self, e: Emitter, start: Expr) -> NumbersOfAnyOrigin:
        values, origins = self.values.shifted(e, start), self.origins.shifted(e, start)
        return NumbersOfAnyOrigin(values, origins, self.among)


@mutable_record
class Undecided:
    """Items of which nothing is known before the first of them; `key` says which list it is."""

    key: Hashable

    def roots(self) -> list[nv.Root]:
        return []

    def enlarge(self, e: Emitter, room: Expr) -> None:
        pass

    def put(self, e: Emitter, position: Expr, item: nv.Value) -> None:
        raise Learned(self.key, item)

    def item(self, e: Emitter, position: Expr) -> nv.Value:
        raise nv.Unlowered("a list of items of unknown types")

    def shifted(self, e: Emitter, start: Expr) -> Undecided:
        return self


@mutable_record
class Arrays:
    """Arrays of one shape."""

    root: nv.Root
    code: Code
    dims: tuple[Expr, ...]
    offset: Expr = nv.ZERO

    def roots(self) -> list[nv.Root]:
        return [self.root]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        e.add(Enlarge(self.root.pointer, e.let(nv.times(room, nv.product(self.dims))), self.code))

    def put(self, e: Emitter, position: Expr, item: nv.Value) -> None:
        must_be_array(item, self.code, len(self.dims))
        for have, want in zip(item.dims, self.dims, strict=True):
            e.must_be_same(have, want, "arrays of different shapes in one list")
        put_elements(e, self.item(e, position), item)

    def item(self, e: Emitter, position: Expr) -> nv.View:
        size = e.let(nv.product(self.dims))
        start = e.let(nv.times(nv.plus(position, self.offset), size))
        return nv.View(self.root, self.code, self.dims, nv.c_strides(self.dims), start)

    def shifted(self, e: Emitter, start: Expr) -> Arrays:
        return replace(self, offset=e.let(nv.plus(self.offset, start)))


@mutable_record
class ListsOfOneLength:
    """Lists that all have as many items: the items of all of them, one after the other."""

    flat: Column
    count: Expr

    def roots(self) -> list[nv.Root]:
        return self.flat.roots()

    def enlarge(self, e: Emitter, room: Expr) -> None:
        self.flat.enlarge(e, e.let(nv.times(room, self.count)))

    def put(self, e: Emitter, position: Expr, item: nv.Value) -> None:
        if not isinstance(item, GrowingList) or item.count != self.count:
            raise Mismatch
        start = e.let(nv.times(position, self.count))
        copy_items(e, self.flat, start, item.column, self.count)

    def item(self, e: Emitter, position: Expr) -> GrowingList:
        length = e.variable("size", self.count)
        start = e.let(nv.times(position, self.count))
        return GrowingList(self.flat.shifted(e, start), length, length, self.count)

    def shifted(self, e: Emitter, start: Expr) -> ListsOfOneLength:
        moved = self.flat.shifted(e, e.let(nv.times(start, self.count)))
        return ListsOfOneLength(moved, self.count)


@mutable_record
class Parts:
    """Tuples, part by part."""

    columns: list[Column]
    template: nv.Tuple

    def roots(self) -> list[nv.Root]:
        return [root for column in self.columns for root in column.roots()]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        for column in self.columns:
            column.enlarge(e, room)

    def put(self, e: Emitter, position: Expr, item: nv.Value) -> None:
        if (
            not isinstance(item, nv.Tuple)
            or len(item.items) != len(self.columns)
            or (is_complex(item) != is_complex(self.template))
        ):
            raise Mismatch
        for column, part in zip(self.columns, item.items, strict=True):
            column.put(e, position, part)

    def item(self, e: Emitter, position: Expr) -> nv.Tuple:
        items = tuple(column.item(e, position) for column in self.columns)
        return replace(self.template, items=items)

    def shifted(self, e: Emitter, start: Expr) -> Parts:
        return Parts([column.shifted(e, start) for column in self.columns], self.template)


@mutable_record
class Same:
    """Items that are all the same: a known value, or a number that no item changes."""

    value: nv.StaticValue | nv.Scalar

    def roots(self) -> list[nv.Root]:
        return []

    def enlarge(self, e: Emitter, room: Expr) -> None:
        pass

    def put(self, e: Emitter, position: Expr, item: nv.Value) -> None:
        if isinstance(self.value, nv.StaticValue) and isinstance(item, nv.StaticValue):
            same = self.value.value is item.value
        else:
            same = self.value == item
        if not same:
            raise Mismatch

    def item(self, e: Emitter, position: Expr) -> nv.StaticValue | nv.Scalar:
        return self.value

    def shifted(self, e: Emitter, start: Expr) -> Same:
        return self


@mutable_record
class Converted:
    """Ranges or slices, as tuples of their numbers."""

    column: Column
    of_numbers: Callable[[nv.Tuple], nv.Value]

    def roots(self) -> list[nv.Root]:
        return self.column.roots()

    def enlarge(self, e: Emitter, room: Expr) -> None:
        self.column.enlarge(e, room)

    def put(self, e: Emitter, position: Expr, item: nv.Value) -> None:
        self.column.put(e, position, numbers_of(item))

    def item(self, e: Emitter, position: Expr) -> nv.Value:
        return self.of_numbers(self.column.item(e, position))

    def shifted(self, e: Emitter, start: Expr) -> Converted:
        return replace(self, column=self.column.shifted(e, start))


def numbers_of(item: nv.Value) -> nv.Value:
    """A range or a slice as a tuple of its numbers; other values as they are."""
    match item:
        case nv.Range(start=start, count=count, step=step):
            return nv.Tuple((start, nv.Scalar(count, nv.PYTHON, 48), step))
        case nv.Bounds(start=start, stop=stop, step=step):
            return nv.Tuple(
                tuple(nv.StaticValue(None) if p is None else p for p in (start, stop, step))
            )
        case _:
            return item


def _range_of(parts: nv.Tuple) -> nv.Range:
    start, count, step = parts.items
    return nv.Range(start, count.expr, step)


def _bounds_of(parts: nv.Tuple) -> nv.Bounds:
    return nv.Bounds(*(part if isinstance(part, nv.Scalar) else None for part in parts.items))


OF_NUMBERS: dict[type, Callable[[nv.Tuple], nv.Value]] = {
    nv.Range: _range_of,
    nv.Bounds: _bounds_of,
}
"""What makes a range or a slice of its numbers."""


def must_be_array(item: nv.Value, code: Code, rank: int) -> None:
    if not isinstance(item, nv.View) or item.code != code or len(item.dims) != rank:
        raise Mismatch


def put_elements(e: Emitter, target: nv.View, item: nv.View) -> None:
    if not item.whole:
        copy_elements(e, target, item)
        return
    count = e.let(nv.product(item.dims))
    e.add(Copy(target.pointer, target.offset, item.pointer, item.offset, count, item.code))


def copy_items(e: Emitter, target: Column, start: Expr, source: Column, count: Expr) -> None:
    """Copy the first items of a column to where another has room for them."""
    match target, source:
        case Numbers(), Numbers() if (target.code, target.origin) == (source.code, source.origin):
            into = e.let(nv.plus(target.offset, start))
            e.add(
                Copy(
                    target.root.pointer,
                    into,
                    source.root.pointer,
                    source.offset,
                    count,
                    source.code,
                )
            )
        case Arrays(), Arrays() if (target.code, target.dims) == (source.code, source.dims):
            size = e.let(nv.product(source.dims))
            into = e.let(nv.times(e.let(nv.plus(target.offset, start)), size))
            of, total = e.let(nv.times(source.offset, size)), e.let(nv.times(count, size))
            e.add(Copy(target.root.pointer, into, source.root.pointer, of, total, source.code))
        case Parts(), Parts():
            for a, b in zip(target.columns, source.columns, strict=True):
                copy_items(e, a, start, b, count)
        case Same(), Same() if target.value == source.value:
            pass
        case Converted(), Converted():
            copy_items(e, target.column, start, source.column, count)
        case ListsOfOneLength(), ListsOfOneLength() if target.count == source.count:
            into = e.let(nv.times(start, target.count))
            copy_items(e, target.flat, into, source.flat, e.let(nv.times(count, target.count)))
        case _:
            index = Slot(e.names.fresh("k"), "i64")
            inner = e.block()
            target.put(inner, inner.let(nv.plus(start, index)), source.item(inner, index))
            e.add(For(index, count, tuple(inner.statements)))
