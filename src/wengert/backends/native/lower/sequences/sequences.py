"""Lists whose length is known only when the program runs: what loops collect and what grows.

A list is kept by columns: a list of pairs of numbers is two arrays of numbers, a list of lists is the items of
all of them one after the other, with where each starts. A list doubles its memory when it is full; a loop
whose count is known takes all it needs before it starts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .....ir.records import mutable_record
from ...form.loopform import (
    Allocate,
    Apply,
    Assign,
    Code,
    Constant,
    Expr,
    If,
    Slot,
    While,
    assigned_in,
)
from ...values.emitter import Emitter
from ...values.numbers import as_float_origin, possible
from ...values.values import (
    NUMPY,
    ONE,
    ZERO,
    Bounds,
    DynamicOwner,
    Range,
    Root,
    Scalar,
    StaticValue,
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
from .columns import (
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
    bounds_of,
    bounds_parts,
    copy_items,
    must_be_array,
    put_elements,
    range_of,
    range_parts,
)
from .mismatches import Mismatch

FEW, MANY = integer(64), integer(512)
"""How many items a list has room for at first: of arrays or lists, and of numbers."""


def _never(expr: Expr) -> bool:
    return False


def growing(
    e: Emitter,
    template: Value,
    hint: str,
    room: Expr | None = None,
    is_outside: Callable[[Expr], bool] = _never,
) -> GrowingList:
    """An empty list.

    Args:
        e: where its memory is made.
        template: an item.
        hint: what to call it.
        room: for how many items there is room at first.
        is_outside: whether a number is known where the list is made, and is the same in all items.
    """
    items = template.items if isinstance(template, Tuple) else (template,)
    room = room or (MANY if all(isinstance(item, Scalar) for item in items) else FEW)
    capacity = e.variable(f"{hint}_room", room)
    column = _column(e, template, hint, room, is_outside)
    return GrowingList(column, e.variable(f"{hint}_length", ZERO), capacity)


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
        case Undecided():
            return item
        case StaticValue():
            return Same(item)
        case Scalar(origin=int(), expr=Slot() | Constant() as expr) if is_outside(expr):
            return Same(item)
        case Scalar(origin=int(origin), code=code, bits=bits):
            return Numbers(_memory(e, hint, room, code), code, origin, bits)
        case Scalar(code=code, bits=bits, origin=DynamicOwner(among=among)):
            values = Numbers(_memory(e, hint, room, code), code, NUMPY, bits)
            origins = Numbers(_memory(e, f"{hint}_origins", room, "i64"), "i64", NUMPY, 2)
            return NumbersOfAnyOrigin(values, origins, among)
        case View(code=code, dims=dims) if all(map(is_outside, dims)):
            return Arrays(_memory(e, hint, times(room, product(dims)), code), code, dims)
        case View(code=code, dims=dims):
            starts, *sizes = (_integers(e, f"{hint}_sizes", room) for _ in range(len(dims) + 1))
            flat = growing(e, Scalar(Slot("", code), NUMPY), f"{hint}_elements")
            return RaggedArrays(starts, sizes, flat)
        case GrowingList(count=Slot() | Constant() as count) if is_outside(count):
            template, outside = _item_of(e, item, is_outside)
            total = e.let(times(room, count))
            return ListsOfOneLength(_column(e, template, hint, total, outside), count)
        case GrowingList():
            inner = _list_of(e, hint, *_item_of(e, item, is_outside))
            starts, sizes = (_integers(e, f"{hint}_{part}", room) for part in ("starts", "sizes"))
            return Lists(starts, sizes, inner)
        case Tuple(items=items):
            columns = [_column(e, each, hint, room, is_outside) for each in items]
            return Parts(columns, item)
        case Range():
            parts = _column(e, range_parts(item), hint, room, is_outside)
            return Converted(parts, range_parts, range_of)
        case Bounds():
            parts = _column(e, bounds_parts(item), hint, room, is_outside)
            return Converted(parts, bounds_parts, bounds_of)
        case _:
            raise Unlowered("a list of such items")


def _item_of(
    e: Emitter, lists: GrowingList, is_outside: Callable[[Expr], bool]
) -> tuple[Value, Callable[[Expr], bool]]:
    """What an item of a list looks like, and what is known outside of what it is made of."""
    trial = Emitter(e.names)
    template = lists.column.item(trial, ZERO)
    made = set(assigned_in(tuple(trial.statements)))
    return template, lambda expr: expr not in made and is_outside(expr)


def _list_of(
    e: Emitter, hint: str, template: Value, is_outside: Callable[[Expr], bool]
) -> GrowingList:
    return growing(e, template, hint, None, is_outside)


def _integers(e: Emitter, hint: str, room: Expr) -> Numbers:
    return Numbers(_memory(e, hint, room, "i64"), "i64", NUMPY, 48)


# --- columns ------------------------------------------------------------------------------


@mutable_record
class RaggedArrays:
    """Arrays of any shapes, element by element."""

    starts: Numbers
    sizes: list[Numbers]
    flat: GrowingList

    def roots(self) -> list[Root]:
        return [self.starts.root, *(s.root for s in self.sizes), *self.flat.column.roots()]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        for column in (self.starts, *self.sizes):
            column.enlarge(e, room)

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        elements = self.flat.column
        assert isinstance(elements, Numbers)
        must_be_array(item, elements.code, len(self.sizes))
        count = e.let(product(item.dims))
        start = reserve(e, self.flat, count)
        self.starts.write(e, position, start)
        for column, dim in zip(self.sizes, item.dims, strict=True):
            column.write(e, position, e.let(dim))
        target = View(elements.root, elements.code, item.dims, c_strides(item.dims), start)
        put_elements(e, target, item)

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
    flat: GrowingList

    def roots(self) -> list[Root]:
        return [self.starts.root, self.sizes.root, *self.flat.column.roots()]

    def enlarge(self, e: Emitter, room: Expr) -> None:
        self.starts.enlarge(e, room)
        self.sizes.enlarge(e, room)

    def put(self, e: Emitter, position: Expr, item: Value) -> None:
        if not isinstance(item, GrowingList):
            raise Mismatch
        count = e.let(Apply("add", (item.length, ZERO), "i64"))
        start = reserve(e, self.flat, count)
        self.starts.write(e, position, start)
        self.sizes.write(e, position, count)
        copy_items(e, self.flat.column, start, item.column, count)

    def item(self, e: Emitter, position: Expr) -> GrowingList:
        start = self.starts.item(e, position).expr
        length = e.variable("size", self.sizes.item(e, position).expr)
        return GrowingList(self.flat.column.shifted(e, start), length, length)

    def shifted(self, e: Emitter, start: Expr) -> Lists:
        return Lists(self.starts.shifted(e, start), self.sizes.shifted(e, start), self.flat)


# --- growing ------------------------------------------------------------------------------


def _larger(capacity: Expr) -> Expr:
    """Twice the room, and some where there was none."""
    return plus(times(integer(2), capacity), ONE)


def push(e: Emitter, sequence: GrowingList, item: Value) -> None:
    """Append an item."""
    inner = e.block()
    double = inner.let(_larger(sequence.capacity))
    inner.add(Assign(sequence.capacity, double))
    sequence.column.enlarge(inner, double)
    full = Apply("ge", (sequence.length, sequence.capacity), "b1")
    e.add(If(full, tuple(inner.statements)))
    sequence.column.put(e, sequence.length, item)
    e.add(Assign(sequence.length, Apply("add", (sequence.length, ONE), "i64")))


def reserve(e: Emitter, sequence: GrowingList, count: Expr) -> Expr:
    """Make a list longer by so many items, which are yet to be written; gives where they start."""
    start = e.variable("start", sequence.length)
    e.add(Assign(sequence.length, Apply("add", (sequence.length, count), "i64")))
    doubled = _larger(sequence.capacity)
    short = Apply("gt", (sequence.length, sequence.capacity), "b1")
    inner = e.block()
    inner.add(While((), short, (Assign(sequence.capacity, doubled),)))
    sequence.column.enlarge(inner, sequence.capacity)
    e.add(If(short, tuple(inner.statements)))
    return start


def item_at(e: Emitter, sequence: GrowingList, position: Expr) -> Value:
    """The item at a position that is in range."""
    return sequence.column.item(e, position)


def _covering(items: Sequence[Scalar]) -> Scalar:
    """A number that stands for all of these."""
    first, bits = items[0], max(item.bits for item in items)
    if any(item.code != first.code for item in items):
        among = frozenset[int]().union(*(possible(as_float_origin(item)) for item in items))
        return Scalar(Slot("", "f64"), DynamicOwner(ZERO, among))
    if all(item.origin == first.origin for item in items):
        return Scalar(first.expr, first.origin, bits)
    among = frozenset[int]().union(*(possible(item.origin) for item in items))
    return Scalar(first.expr, DynamicOwner(ZERO, among), bits)


def numbers(e: Emitter, items: Sequence[Scalar], hint: str) -> GrowingList:
    """A list of these numbers."""
    made = growing(e, _covering(items), hint, integer(max(len(items), 1)))
    for k, item in enumerate(items):
        made.column.put(e, integer(k), item)
    e.add(Assign(made.length, integer(len(items))))
    return made
