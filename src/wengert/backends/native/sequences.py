"""Lists whose length is known only when the program runs: what loops collect and what grows.

A list is kept by columns: a list of pairs of numbers is two arrays of numbers, a list of lists is the items of
all of them one after the other, with where each starts. A list doubles its memory when it is full; a loop
whose count is known takes all it needs before it starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ...ir.records import mutable_record, replace
from .emitter import Emitter
from .fusion import copy_elements
from .loopform import (
    Allocate,
    Apply,
    Assign,
    Code,
    Constant,
    Copy,
    Enlarge,
    Expr,
    For,
    If,
    Load,
    Slot,
    Store,
    While,
    assigned_in,
)
from .numbers import as_float_origin, exact_float, origin_expr
from .values import (
    NUMPY,
    ONE,
    PYTHON,
    ZERO,
    Bounds,
    Known,
    Range,
    Root,
    Scalar,
    Tuple,
    Unlowered,
    Value,
    View,
    c_strides,
    integer,
    plus,
    product,
    times,
)

FEW, MANY = integer(64), integer(512)
"""How many items a list has room for at first: of arrays or lists, and of numbers."""


class Column(Protocol):
    """One part of the items of a list."""

    def roots(self) -> list[Root]:
        """The memory it lies in."""
        ...

    def enlarge(self, e: Emitter, room: Expr) -> None:
        """Make room for so many items."""
        ...

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        """Write an item where there is room for it."""
        ...

    def item(self, e: Emitter, position: Expr) -> Value:
        """The item at a position that is in range."""
        ...

    def shifted(self, e: Emitter, start: Expr) -> Column:
        """The items from a position on."""
        ...


@mutable_record
class Growing:
    """A list.

    Attributes:
        column: where the items are.
        length: how many there are.
        capacity: how many there is room for.
        count: how many there are going to be, where that is known before the first.
    """

    column: Column
    length: Slot
    capacity: Slot
    count: Expr | None = None


def _never(expr: Expr) -> bool:
    return False


def growing(
    e: Emitter,
    template: Value,
    hint: str,
    room: Expr | None = None,
    is_outside: Callable[[Expr], bool] = _never,
) -> Growing:
    """An empty list.

    Args:
        e: where its memory is made.
        template: an item.
        hint: what to call it.
        room: for how many items there is room at first.
        is_outside: whether a number is known where the list is made, and is the same in all items.
    """
    room = room or (MANY if isinstance(template, Scalar) else FEW)
    capacity = e.variable(f"{hint}_room", room)
    column = _column(e, template, hint, room, is_outside)
    return Growing(column, e.variable(f"{hint}_length", ZERO), capacity)


def _memory(e: Emitter, hint: str, count: Expr, code: Code) -> Root:
    pointer = e.slot(hint, "ptr")
    e.add(Allocate(pointer, e.let(count), code))
    root = Root(pointer, hint)
    e.owned.append(root)
    return root


def _column(
    e: Emitter, item: Value, hint: str, room: Expr, is_outside: Callable[[Expr], bool]
) -> Column:
    match item:
        case Known():
            return Same(item)
        case Scalar(origin=int(), expr=Slot() | Constant() as expr) if is_outside(expr):
            return Same(item)
        case Scalar(origin=int(origin), code=code, bits=bits):
            return Numbers(_memory(e, hint, room, code), code, origin, bits)
        case Scalar(code=code, bits=bits):
            values = Numbers(_memory(e, hint, room, code), code, NUMPY, bits)
            origins = Numbers(_memory(e, f"{hint}_origins", room, "i64"), "i64", NUMPY, 2)
            return NumbersOfAnyOrigin(values, origins)
        case View(code=code, dims=dims) if all(map(is_outside, dims)):
            return Arrays(_memory(e, hint, times(room, product(dims)), code), code, dims)
        case View(code=code, dims=dims):
            starts, *sizes = (_integers(e, f"{hint}_sizes", room) for _ in range(len(dims) + 1))
            flat = growing(e, Scalar(Slot("", code), NUMPY), f"{hint}_elements")
            return RaggedArrays(starts, sizes, flat)
        case Growing(count=Slot() | Constant() as count) if is_outside(count):
            template, outside = _item_of(e, item, is_outside)
            total = e.let(times(room, count))
            return ListsOfOneLength(_column(e, template, hint, total, outside), count)
        case Growing():
            inner = _list_of(e, hint, *_item_of(e, item, is_outside))
            starts, sizes = (_integers(e, f"{hint}_{part}", room) for part in ("starts", "sizes"))
            return Lists(starts, sizes, inner)
        case Tuple(items=items):
            columns = [_column(e, each, hint, room, is_outside) for each in items]
            return Parts(columns, item)
        case Range():
            parts = _column(e, _range_parts(item), hint, room, is_outside)
            return Converted(parts, _range_parts, _range_of)
        case Bounds():
            parts = _column(e, _bounds_parts(item), hint, room, is_outside)
            return Converted(parts, _bounds_parts, _bounds_of)
        case _:
            raise Unlowered("a list of such items")


def _item_of(
    e: Emitter, lists: Growing, is_outside: Callable[[Expr], bool]
) -> tuple[Value, Callable[[Expr], bool]]:
    """What an item of a list looks like, and what is known outside of what it is made of."""
    trial = Emitter(e.names)
    template = lists.column.item(trial, ZERO)
    made = set(assigned_in(tuple(trial.statements)))
    return template, lambda expr: expr not in made and is_outside(expr)


def _list_of(e: Emitter, hint: str, template: Value, is_outside: Callable[[Expr], bool]) -> Growing:
    return growing(e, template, hint, None, is_outside)


def _integers(e: Emitter, hint: str, room: Expr) -> Numbers:
    return Numbers(_memory(e, hint, room, "i64"), "i64", NUMPY, 48)


# --- columns ------------------------------------------------------------------------------


@mutable_record
class Numbers:
    root: Root
    code: Code
    origin: int
    bits: int
    offset: Expr = ZERO

    def roots(self) -> list[Root]:
        return [self.root]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        e.add(Enlarge(self.root.pointer, room, self.code))

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        if not isinstance(item, Scalar) or item.code != self.code or item.origin != self.origin:
            raise Unlowered("a list of items of different types")
        self.write(e, position, item.expr)

    def write(self, e: Emitter, position: Expr, value: Expr) -> None:
        e.add(Store(self.root.pointer, plus(position, self.offset), value))

    def item(self, e: Emitter, position: Expr) -> Scalar:
        found = e.let(Load(self.root.pointer, plus(position, self.offset), self.code))
        return Scalar(found, self.origin, self.bits)

    def shifted(self, e: Emitter, start: Expr) -> Numbers:
        return replace(self, offset=e.let(plus(self.offset, start)))


@mutable_record
class NumbersOfAnyOrigin:
    values: Numbers
    origins: Numbers

    def roots(self) -> list[Root]:
        return [self.values.root, self.origins.root]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        self.values.enlarge(e, room)
        self.origins.enlarge(e, room)

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        if isinstance(item, Scalar) and item.code == self.values.code == "b1":
            value, origin = item.expr, item.origin
        elif isinstance(item, Scalar) and not {item.code, self.values.code} - {"f64", "i64"}:
            value, origin = exact_float(e, item), as_float_origin(item)
        else:
            raise Unlowered("a list of items of different types")
        self.values.write(e, position, value)
        self.origins.write(e, position, origin_expr(origin))

    def item(self, e: Emitter, position: Expr) -> Scalar:
        value = self.values.item(e, position)
        return Scalar(value.expr, self.origins.item(e, position).expr, value.bits)

    def shifted(self, e: Emitter, start: Expr) -> NumbersOfAnyOrigin:
        return NumbersOfAnyOrigin(self.values.shifted(e, start), self.origins.shifted(e, start))


@mutable_record
class Arrays:
    """Arrays of one shape."""

    root: Root
    code: Code
    dims: tuple[Expr, ...]
    offset: Expr = ZERO

    def roots(self) -> list[Root]:
        return [self.root]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        e.add(Enlarge(self.root.pointer, e.let(times(room, product(self.dims))), self.code))

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        _must_be_array(item, self.code, len(self.dims))
        for have, want in zip(item.dims, self.dims, strict=True):
            e.must_be_same(have, want, "arrays of different shapes in one list")
        _put_elements(e, self.item(e, position), item)

    def item(self, e: Emitter, position: Expr) -> View:
        size = e.let(product(self.dims))
        start = e.let(times(plus(position, self.offset), size))
        return View(self.root, self.code, self.dims, c_strides(self.dims), start)

    def shifted(self, e: Emitter, start: Expr) -> Arrays:
        return replace(self, offset=e.let(plus(self.offset, start)))


@mutable_record
class RaggedArrays:
    """Arrays of any shapes, element by element."""

    starts: Numbers
    sizes: list[Numbers]
    flat: Growing

    def roots(self) -> list[Root]:
        return [self.starts.root, *(s.root for s in self.sizes), *self.flat.column.roots()]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        for column in (self.starts, *self.sizes):
            column.enlarge(e, room)

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        elements = self.flat.column
        assert isinstance(elements, Numbers)
        _must_be_array(item, elements.code, len(self.sizes))
        count = e.let(product(item.dims))
        start = reserve(e, self.flat, count)
        self.starts.write(e, position, start)
        for column, dim in zip(self.sizes, item.dims, strict=True):
            column.write(e, position, e.let(dim))
        target = View(elements.root, elements.code, item.dims, c_strides(item.dims), start)
        _put_elements(e, target, item)

    def item(self, e: Emitter, position: Expr) -> View:
        elements = self.flat.column
        assert isinstance(elements, Numbers)
        dims = tuple(column.item(e, position).expr for column in self.sizes)
        start = self.starts.item(e, position).expr
        strides = tuple(map(e.let, c_strides(dims)))
        return View(elements.root, elements.code, dims, strides, start)

    def shifted(self, e: Emitter, start: Expr) -> RaggedArrays:
        sizes = [column.shifted(e, start) for column in self.sizes]
        return RaggedArrays(self.starts.shifted(e, start), sizes, self.flat)


@mutable_record
class Lists:
    """Lists: the items of all of them, one after the other."""

    starts: Numbers
    sizes: Numbers
    flat: Growing

    def roots(self) -> list[Root]:
        return [self.starts.root, self.sizes.root, *self.flat.column.roots()]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        self.starts.enlarge(e, room)
        self.sizes.enlarge(e, room)

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        if not isinstance(item, Growing):
            raise Unlowered("a list of items of different types")
        count = e.let(Apply("add", (item.length, ZERO), "i64"))
        start = reserve(e, self.flat, count)
        self.starts.write(e, position, start)
        self.sizes.write(e, position, count)
        copy_items(e, self.flat.column, start, item.column, count)

    def item(self, e: Emitter, position: Expr) -> Growing:
        start = self.starts.item(e, position).expr
        length = e.variable("size", self.sizes.item(e, position).expr)
        return Growing(self.flat.column.shifted(e, start), length, length)

    def shifted(self, e: Emitter, start: Expr) -> Lists:
        return Lists(self.starts.shifted(e, start), self.sizes.shifted(e, start), self.flat)


@mutable_record
class ListsOfOneLength:
    """Lists that all have as many items: the items of all of them, one after the other."""

    flat: Column
    count: Expr

    def roots(self) -> list[Root]:
        return self.flat.roots()

    def enlarge(self, e: Emitter, room: Expr) -> None:
        self.flat.enlarge(e, e.let(times(room, self.count)))

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        if not isinstance(item, Growing) or item.count != self.count:
            raise Unlowered("a list of items of different types")
        start = e.let(times(position, self.count))
        copy_items(e, self.flat, start, item.column, self.count)

    def item(self, e: Emitter, position: Expr) -> Growing:
        length = e.variable("size", self.count)
        start = e.let(times(position, self.count))
        return Growing(self.flat.shifted(e, start), length, length, self.count)

    def shifted(self, e: Emitter, start: Expr) -> ListsOfOneLength:
        moved = self.flat.shifted(e, e.let(times(start, self.count)))
        return ListsOfOneLength(moved, self.count)


@mutable_record
class Parts:
    """Tuples, part by part."""

    columns: list[Column]
    template: Tuple

    def roots(self) -> list[Root]:
        return [root for column in self.columns for root in column.roots()]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        for column in self.columns:
            column.enlarge(e, room)

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        if not isinstance(item, Tuple) or len(item.items) != len(self.columns):
            raise Unlowered("a list of items of different types")
        for column, part in zip(self.columns, item.items, strict=True):
            column.put(e, position, part)

    def item(self, e: Emitter, position: Expr) -> Tuple:
        items = tuple(column.item(e, position) for column in self.columns)
        return replace(self.template, items=items)

    def shifted(self, e: Emitter, start: Expr) -> Parts:
        return Parts([column.shifted(e, start) for column in self.columns], self.template)


@mutable_record
class Same:
    """Items that are all the same: a known value, or a number that no item changes."""

    value: Known | Scalar

    def roots(self) -> list[Root]:
        return []

    def enlarge(self, e: Emitter, room: Expr) -> None:
        pass

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        if isinstance(self.value, Known) and isinstance(item, Known):
            same = self.value.value is item.value
        else:
            same = self.value == item
        if not same:
            raise Unlowered("a list of items of different types")

    def item(self, e: Emitter, position: Expr) -> Known | Scalar:
        return self.value

    def shifted(self, e: Emitter, start: Expr) -> Same:
        return self


@mutable_record
class Converted:
    """Ranges or slices, as tuples of their numbers."""

    column: Column
    to_tuple: Callable[[Value], Value]
    from_tuple: Callable[[Tuple], Value]

    def roots(self) -> list[Root]:
        return self.column.roots()

    def enlarge(self, e: Emitter, room: Expr) -> None:
        self.column.enlarge(e, room)

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        self.column.put(e, position, self.to_tuple(item))

    def item(self, e: Emitter, position: Expr) -> Value:
        return self.from_tuple(self.column.item(e, position))

    def shifted(self, e: Emitter, start: Expr) -> Converted:
        return replace(self, column=self.column.shifted(e, start))


def _range_parts(item: Value) -> Value:
    if not isinstance(item, Range):
        return item
    return Tuple((item.start, Scalar(item.count, PYTHON, 48), item.step))


def _range_of(parts: Tuple) -> Range:
    start, count, step = parts.items
    return Range(start, count.expr, step)


def _bounds_parts(item: Value) -> Value:
    if not isinstance(item, Bounds):
        return item
    return Tuple(tuple(Known(None) if p is None else p for p in (item.start, item.stop, item.step)))


def _bounds_of(parts: Tuple) -> Bounds:
    return Bounds(*(part if isinstance(part, Scalar) else None for part in parts.items))


def _must_be_array(item: Value, code: Code, rank: int) -> None:
    if not isinstance(item, View) or item.code != code or len(item.dims) != rank:
        raise Unlowered("a list of items of different types")


def _put_elements(e: Emitter, target: View, item: View) -> None:
    if not item.whole:
        copy_elements(e, target, item)
        return
    count = e.let(product(item.dims))
    e.add(Copy(target.pointer, target.offset, item.pointer, item.offset, count, item.code))


# --- growing ------------------------------------------------------------------------------


def push(e: Emitter, sequence: Growing, item: Value) -> None:
    """Append an item."""
    inner = e.block()
    double = inner.let(times(integer(2), sequence.capacity))
    inner.add(Assign(sequence.capacity, double))
    sequence.column.enlarge(inner, double)
    full = Apply("ge", (sequence.length, sequence.capacity), "b1")
    e.add(If(full, tuple(inner.statements)))
    sequence.column.put(e, sequence.length, item)
    e.add(Assign(sequence.length, Apply("add", (sequence.length, ONE), "i64")))


def reserve(e: Emitter, sequence: Growing, count: Expr) -> Expr:
    """Make a list longer by so many items, which are yet to be written; gives where they start."""
    start = e.variable("start", sequence.length)
    e.add(Assign(sequence.length, Apply("add", (sequence.length, count), "i64")))
    doubled = Apply("mul", (integer(2), sequence.capacity), "i64")
    short = Apply("gt", (sequence.length, sequence.capacity), "b1")
    inner = e.block()
    inner.add(While((), short, (Assign(sequence.capacity, doubled),)))
    sequence.column.enlarge(inner, sequence.capacity)
    e.add(If(short, tuple(inner.statements)))
    return start


def copy_items(e: Emitter, target: Column, start: Expr, source: Column, count: Expr) -> None:
    """Copy the first items of a column to where another has room for them."""
    match target, source:
        case Numbers(), Numbers() if (target.code, target.origin) == (source.code, source.origin):
            into = e.let(plus(target.offset, start))
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
            size = e.let(product(source.dims))
            into = e.let(times(e.let(plus(target.offset, start)), size))
            of, total = e.let(times(source.offset, size)), e.let(times(count, size))
            e.add(Copy(target.root.pointer, into, source.root.pointer, of, total, source.code))
        case Parts(), Parts():
            for a, b in zip(target.columns, source.columns, strict=True):
                copy_items(e, a, start, b, count)
        case Same(), Same() if target.value == source.value:
            pass
        case Converted(), Converted():
            copy_items(e, target.column, start, source.column, count)
        case ListsOfOneLength(), ListsOfOneLength() if target.count == source.count:
            into = e.let(times(start, target.count))
            copy_items(e, target.flat, into, source.flat, e.let(times(count, target.count)))
        case _:
            index = Slot(e.names.fresh("k"), "i64")
            inner = e.block()
            target.put(inner, inner.let(plus(start, index)), source.item(inner, index))
            e.add(For(index, count, tuple(inner.statements)))


def item_at(e: Emitter, sequence: Growing, position: Expr) -> Value:
    """The item at a position that is in range."""
    return sequence.column.item(e, position)


def numbers(e: Emitter, items: Sequence[Scalar], hint: str) -> Growing:
    """A list of these numbers."""
    template = Scalar(items[0].expr, items[0].origin, max(item.bits for item in items))
    made = growing(e, template, hint, integer(max(len(items), 1)))
    for k, item in enumerate(items):
        made.column.put(e, integer(k), item)
    e.add(Assign(made.length, integer(len(items))))
    return made
