"""Lists whose length is known only when the program runs: what loops collect and what grows.

A list is kept by columns: a list of pairs of numbers is two arrays of numbers, a list of lists is the items of
all of them one after the other, with where each starts. A list doubles its memory when it is full; a loop
whose count is known takes all it needs before it starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .....ir.records import mutable_record
from ...form import loopform as lf
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.numbers import as_float_origin, possible
from .columns import (
    OF_NUMBERS,
    Arrays,
    Column,
    Converted,
    GrowingList,
    ListsOfOneLength,
    Numbers,
    NumbersOfAnyOrigin,
    Parts,
    Same,
    Undecided,
    copy_items,
    must_be_array,
    numbers_of,
    put_elements,
)
from .mismatches import Mismatch

FEW, MANY = nv.integer(64), nv.integer(512)
"""How many items a list has room for at first: of arrays or lists, and of numbers."""


def _never(expr: lf.Expr) -> bool:
    return False


def growing(
    e: Emitter,
    template: nv.Value,
    hint: str,
    room: lf.Expr | None = None,
    is_outside: Callable[[lf.Expr], bool] = _never,
) -> GrowingList:
    """An empty list.

    Args:
        e: where its memory is made.
        template: an item.
        hint: what to call it.
        room: for how many items there is room at first.
        is_outside: whether a number is known where the list is made, and is the same in all items.
    """
    items = template.items if isinstance(template, nv.Tuple) else (template,)
    room = room or (MANY if all(isinstance(item, nv.Scalar) for item in items) else FEW)
    capacity = e.variable(f"{hint}_room", room)
    column = _column(e, template, hint, room, is_outside)
    return GrowingList(column, e.variable(f"{hint}_length", nv.ZERO), capacity)


def _memory(e: Emitter, hint: str, count: lf.Expr, code: lf.Code) -> nv.Root:
    pointer = e.slot(hint, "ptr")
    e.add(lf.Allocate(pointer, e.let(count), code))
    root = nv.Root(pointer, hint)
    e.owned.append(root)
    return root


def _column(
    e: Emitter, item: nv.Value, hint: str, room: lf.Expr, is_outside: Callable[[lf.Expr], bool]
) -> Column:
    match item:
        case Undecided():
            return item
        case nv.StaticValue():
            return Same(item)
        case nv.Scalar(origin=int(), expr=lf.Slot() | lf.Constant() as expr) if is_outside(expr):
            return Same(item)
        case nv.Scalar(origin=int(origin), code=code, bits=bits):
            return Numbers(_memory(e, hint, room, code), code, origin, bits)
        case nv.Scalar(code=code, bits=bits, origin=nv.DynamicOwner(among=among)):
            values = Numbers(_memory(e, hint, room, code), code, nv.NUMPY, bits)
            origins = Numbers(_memory(e, f"{hint}_origins", room, "i64"), "i64", nv.NUMPY, 2)
            return NumbersOfAnyOrigin(values, origins, among)
        case nv.View(code=code, dims=dims) if all(map(is_outside, dims)):
            return Arrays(_memory(e, hint, nv.times(room, nv.product(dims)), code), code, dims)
        case nv.View(code=code, dims=dims):
            starts, *sizes = (_integers(e, f"{hint}_sizes", room) for _ in range(len(dims) + 1))
            flat = growing(e, nv.Scalar(lf.Slot("", code), nv.NUMPY), f"{hint}_elements")
            return RaggedArrays(starts, sizes, flat)
        case GrowingList(count=lf.Slot() | lf.Constant() as count) if is_outside(count):
            template, outside = _item_of(e, item, is_outside)
            total = e.let(nv.times(room, count))
            return ListsOfOneLength(_column(e, template, hint, total, outside), count)
        case GrowingList():
            inner = _list_of(e, hint, *_item_of(e, item, is_outside))
            starts, sizes = (_integers(e, f"{hint}_{part}", room) for part in ("starts", "sizes"))
            return Lists(starts, sizes, inner)
        case nv.Tuple(items=items):
            columns = [_column(e, each, hint, room, is_outside) for each in items]
            return Parts(columns, item)
        case nv.Range() | nv.Bounds():
            numbers = _column(e, numbers_of(item), hint, room, is_outside)
            return Converted(numbers, OF_NUMBERS[type(item)])
        case _:
            raise nv.Unlowered("a list of such items")


def _item_of(
    e: Emitter, lists: GrowingList, is_outside: Callable[[lf.Expr], bool]
) -> tuple[nv.Value, Callable[[lf.Expr], bool]]:
    """What an item of a list looks like, and what is known outside of what it is made of."""
    trial = Emitter(e.names)
    template = lists.column.item(trial, nv.ZERO)
    made = set(lf.assigned_in(tuple(trial.statements)))
    return template, lambda expr: expr not in made and is_outside(expr)


def _list_of(
    e: Emitter, hint: str, template: nv.Value, is_outside: Callable[[lf.Expr], bool]
) -> GrowingList:
    return growing(e, template, hint, None, is_outside)


def _integers(e: Emitter, hint: str, room: lf.Expr) -> Numbers:
    return Numbers(_memory(e, hint, room, "i64"), "i64", nv.NUMPY, 48)


# --- columns ------------------------------------------------------------------------------


@mutable_record
class RaggedArrays:
    """Arrays of any shapes, element by element."""

    starts: Numbers
    sizes: list[Numbers]
    flat: GrowingList

    def roots(self) -> list[nv.Root]:
        return [self.starts.root, *(s.root for s in self.sizes), *self.flat.column.roots()]

    def enlarge(self, e: Emitter, room: lf.Expr) -> None:
        for column in (self.starts, *self.sizes):
            column.enlarge(e, room)

    def put(self, e: Emitter, position: lf.Expr, item: nv.Value) -> None:
        elements = self.flat.column
        assert isinstance(elements, Numbers)
        must_be_array(item, elements.code, len(self.sizes))
        count = e.let(nv.product(item.dims))
        start = reserve(e, self.flat, count)
        self.starts.write(e, position, start)
        for column, dim in zip(self.sizes, item.dims, strict=True):
            column.write(e, position, e.let(dim))
        target = nv.View(elements.root, elements.code, item.dims, nv.c_strides(item.dims), start)
        put_elements(e, target, item)

    def item(self, e: Emitter, position: lf.Expr) -> nv.View:
        elements = self.flat.column
        assert isinstance(elements, Numbers)
        dims = tuple(column.item(e, position).expr for column in self.sizes)
        start = self.starts.item(e, position).expr
        strides = tuple(map(e.let, nv.c_strides(dims)))
        return nv.View(elements.root, elements.code, dims, strides, start)

    def shifted(self, e: Emitter, start: lf.Expr) -> RaggedArrays:
        sizes = [column.shifted(e, start) for column in self.sizes]
        return RaggedArrays(self.starts.shifted(e, start), sizes, self.flat)


@mutable_record
class Lists:
    """Lists: the items of all of them, one after the other."""

    starts: Numbers
    sizes: Numbers
    flat: GrowingList

    def roots(self) -> list[nv.Root]:
        return [self.starts.root, self.sizes.root, *self.flat.column.roots()]

    def enlarge(self, e: Emitter, room: lf.Expr) -> None:
        self.starts.enlarge(e, room)
        self.sizes.enlarge(e, room)

    def put(self, e: Emitter, position: lf.Expr, item: nv.Value) -> None:
        if not isinstance(item, GrowingList):
            raise Mismatch
        count = e.let(lf.Apply("add", (item.length, nv.ZERO), "i64"))
        start = reserve(e, self.flat, count)
        self.starts.write(e, position, start)
        self.sizes.write(e, position, count)
        copy_items(e, self.flat.column, start, item.column, count)

    def item(self, e: Emitter, position: lf.Expr) -> GrowingList:
        start = self.starts.item(e, position).expr
        length = e.variable("size", self.sizes.item(e, position).expr)
        return GrowingList(self.flat.column.shifted(e, start), length, length)

    def shifted(self, e: Emitter, start: lf.Expr) -> Lists:
        return Lists(self.starts.shifted(e, start), self.sizes.shifted(e, start), self.flat)


# --- growing ------------------------------------------------------------------------------


def _larger(capacity: lf.Expr) -> lf.Expr:
    """Twice the room, and some where there was none."""
    return nv.plus(nv.times(nv.integer(2), capacity), nv.ONE)


def empty(e: Emitter, sequence: GrowingList) -> None:
    """Take all items out of a list."""
    for length in lengths_of(sequence):
        e.add(lf.Assign(length, nv.ZERO))


def lengths_of(sequence: GrowingList) -> list[lf.Slot]:
    """How long a list is, and what is in memory of the lists in it."""
    lengths, columns = [sequence.length], [sequence.column]
    for column in columns:
        if isinstance(column, (Lists, RaggedArrays)):
            lengths += lengths_of(column.flat)
        elif isinstance(column, Parts):
            columns += column.columns
    return lengths


def push(e: Emitter, sequence: GrowingList, item: nv.Value) -> None:
    """Append an item."""
    inner = e.block()
    double = inner.let(_larger(sequence.capacity))
    inner.add(lf.Assign(sequence.capacity, double))
    sequence.column.enlarge(inner, double)
    full = lf.Apply("ge", (sequence.length, sequence.capacity), "b1")
    e.add(lf.If(full, tuple(inner.statements)))
    sequence.column.put(e, sequence.length, item)
    e.add(lf.Assign(sequence.length, lf.Apply("add", (sequence.length, nv.ONE), "i64")))


def reserve(e: Emitter, sequence: GrowingList, count: lf.Expr) -> lf.Expr:
    """Make a list longer by so many items, which are yet to be written; gives where they start."""
    start = e.variable("start", sequence.length)
    e.add(lf.Assign(sequence.length, lf.Apply("add", (sequence.length, count), "i64")))
    doubled = _larger(sequence.capacity)
    short = lf.Apply("gt", (sequence.length, sequence.capacity), "b1")
    inner = e.block()
    inner.add(lf.While((), short, (lf.Assign(sequence.capacity, doubled),)))
    sequence.column.enlarge(inner, sequence.capacity)
    e.add(lf.If(short, tuple(inner.statements)))
    return start


def item_at(e: Emitter, sequence: GrowingList, position: lf.Expr) -> nv.Value:
    """The item at a position that is in range."""
    return sequence.column.item(e, position)


def _covering(items: Sequence[nv.Scalar]) -> nv.Scalar:
    """A number that stands for all of these."""
    first, bits = items[0], max(item.bits for item in items)
    if any(item.code != first.code for item in items):
        among = frozenset[int]().union(*(possible(as_float_origin(item)) for item in items))
        return nv.Scalar(lf.Slot("", "f64"), nv.DynamicOwner(nv.ZERO, among))
    if all(item.origin == first.origin for item in items):
        return nv.Scalar(first.expr, first.origin, bits)
    among = frozenset[int]().union(*(possible(item.origin) for item in items))
    return nv.Scalar(first.expr, nv.DynamicOwner(nv.ZERO, among), bits)


def numbers(e: Emitter, items: Sequence[nv.Scalar], hint: str) -> GrowingList:
    """A list of these numbers."""
    made = growing(e, _covering(items), hint, nv.integer(max(len(items), 1)))
    for k, item in enumerate(items):
        made.column.put(e, nv.integer(k), item)
    e.add(lf.Assign(made.length, nv.integer(len(items))))
    return made
