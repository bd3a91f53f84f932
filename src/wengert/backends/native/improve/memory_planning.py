"""The same program with less memory, taken less often.

Arrays that nobody reads are not written. An array that ends up, whole, in a longer one is written there at
once. Memory that each iteration of a loop takes and releases is taken once, before the loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ....ir.records import replace
from ..form.loopform import (
    SIZES,
    Allocate,
    Apply,
    Assign,
    Constant,
    Copy,
    Enlarge,
    Expr,
    External,
    For,
    If,
    Invoke,
    Load,
    Multiply,
    Procedure,
    Release,
    Slot,
    Statement,
    Store,
    While,
    assigned_in,
    each,
    expressions_of,
    slots_in,
)
from ..values.values import ZERO, plus

BLOCKS = ("test", "body", "then", "other")
MOST_ROUNDS = 200
LARGEST_IN_FRAME = 256
LARGEST_FRAME = 2048
"""How many bytes of small arrays a procedure has in its frame: calls may be nested 900 deep."""


def compact(procedure: Procedure) -> Procedure:
    """The same procedure with less memory."""
    procedure = without_unread(procedure)
    return replace(procedure, body=tuple(_written_in_place(procedure.body)))


def frugal(procedure: Procedure) -> Procedure:
    """The same procedure with memory taken less often."""
    return in_frame(replace(procedure, body=tuple(_taken_before_loops(procedure.body))))


def with_blocks(statement: Statement, change: Any) -> Statement:
    """A statement with the blocks in it changed."""
    blocks = {
        name: tuple(change(getattr(statement, name))) for name in BLOCKS if hasattr(statement, name)
    }
    return replace(statement, **blocks) if blocks else statement


# --- what nobody reads --------------------------------------------------------------------


def without_unread(procedure: Procedure) -> Procedure:
    """The procedure without arrays and numbers that nothing depends on."""
    live = {*procedure.params, *procedure.results}
    statements = list(each(procedure.body))[::-1]
    for _ in range(MOST_ROUNDS):
        before = len(live)
        for statement in statements:
            for value in _needed(statement, live):
                live.update(slots_in(value))
        if len(live) == before:
            return replace(procedure, body=tuple(_only(procedure.body, live)))
    return procedure


def _needed(statement: Statement, live: set[Slot]) -> Iterator[Expr]:
    """What a statement reads, if anything depends on it."""
    match statement:
        case Assign(slot=slot, value=Slot(code="ptr") as other):
            if slot in live or other in live:  # two names of one piece of memory
                yield slot
                yield other
        case Assign(slot=target) | Allocate(pointer=target) | Enlarge(pointer=target):
            if target in live:
                yield from expressions_of(statement)
        case Store(pointer=target) | Copy(target=target) | Multiply(target=target):
            if target in live:
                yield from expressions_of(statement)
        case Release():
            return
        case _:
            yield from expressions_of(statement)


def _only(statements: Sequence[Statement], live: set[Slot]) -> Iterator[Statement]:
    for statement in statements:
        match statement:
            case (
                Assign(slot=target)
                | Allocate(pointer=target)
                | Enlarge(pointer=target)
                | Release(pointer=target)
                | Store(pointer=target)
                | Copy(target=target)
                | Multiply(target=target)
            ):
                if target in live:
                    yield statement
            case For() | If() | While():
                made = with_blocks(statement, lambda block: _only(block, live))
                if isinstance(made, While) or any(getattr(made, n, ()) for n in BLOCKS):
                    yield made
            case _:
                yield statement


# --- what ends up in a longer array -------------------------------------------------------


def _written_in_place(statements: Sequence[Statement]) -> list[Statement]:
    """Arrays that are copied into another one, and released, are written there instead."""
    found = [with_blocks(statement, _written_in_place) for statement in statements]
    for copy in [s for s in found if isinstance(s, Copy)]:
        found = _without_copy(found, copy)
    return found


def _without_copy(statements: list[Statement], copy: Copy) -> list[Statement]:
    own = copy.source
    end = statements.index(copy)
    start = next((k for k in range(end) if _is_allocation(statements[k], own, copy.count)), None)
    after = statements[end + 1 :]
    released = any(isinstance(s, Release) and s.pointer == own for s in after)
    if start is None or not released or copy.source_index != ZERO:
        return statements
    between = statements[start + 1 : end]
    if must_stay(statements, own) or any(_writes(s, own) for s in each(tuple(after))):
        return statements
    rest = (*statements[:end], *after)
    if any(copy.target in _slots_of(s) for s in each(rest)):
        return statements
    if any(isinstance(s, Multiply) and s.target == own for s in each(tuple(between))):
        return statements  # a product is written from the start of its memory
    moved = _moved_up(copy.target_index, between)
    if moved is None:
        return statements
    place = Place(own, copy.target, copy.target_index)
    kept = [s for s in (*between, *after) if s not in moved and not _ends(s, own)]
    return [*statements[:start], *moved, *map(place.statement, kept)]


def _is_allocation(statement: Statement, own: Slot, count: Expr) -> bool:
    return isinstance(statement, Allocate) and statement.pointer == own and statement.count == count


def _ends(statement: Statement, own: Slot) -> bool:
    return isinstance(statement, Release) and statement.pointer == own


def _slots_of(statement: Statement) -> set[Slot]:
    return {slot for value in expressions_of(statement) for slot in slots_in(value)}


def must_stay(statements: Sequence[Statement], own: Slot) -> bool:
    """Whether a piece of memory must stay one: it has another name, another size, or two origins."""
    taken = 0
    for statement in each(tuple(statements)):
        if isinstance(statement, (Assign, Invoke, Enlarge)) and own in _pointers(statement):
            return True
        if isinstance(statement, External) and any(arg.pointer == own for arg in statement.args):
            return True
        taken += isinstance(statement, Allocate) and statement.pointer == own
    return taken > 1


def _pointers(statement: Assign | Invoke | Enlarge) -> Iterator[Slot]:
    """The pieces of memory that a statement names, other than to read an element."""
    for value in expressions_of(statement):
        if isinstance(value, Slot):
            yield value
        elif isinstance(value, Apply):
            yield from (arg for arg in value.args if isinstance(arg, Slot))
    if isinstance(statement, Invoke):
        yield from statement.results


def _writes(statement: Statement, own: Slot) -> bool:
    match statement:
        case Store(pointer=target) | Copy(target=target) | Multiply(target=target):
            return target == own
        case _:
            return False


def _moved_up(index: Expr, between: Sequence[Statement]) -> list[Statement] | None:
    """The statements in between that an index needs; None if they cannot go before the others."""
    changed = Counter(assigned_in(tuple(between)))
    needed = set(slots_in(index)) & changed.keys()
    moved: list[Statement] = []
    for statement in reversed(between):
        if isinstance(statement, Assign) and statement.slot in needed:
            loads = any(isinstance(value, Load) for value in _parts(statement.value))
            if loads or changed[statement.slot] > 1:
                return None
            needed.remove(statement.slot)
            needed |= set(slots_in(statement.value)) & changed.keys()
            moved.insert(0, statement)
    return None if needed else moved


def _parts(value: Expr) -> Iterator[Expr]:
    yield value
    if isinstance(value, Apply):
        for arg in value.args:
            yield from _parts(arg)


class Place:
    """A piece of memory that has become part of another one."""

    def __init__(self, own: Slot, target: Slot, start: Expr):
        self.own = own
        self.target = target
        self.start = start

    def statement(self, statement: Statement) -> Statement:
        changes: dict[str, Any] = {}
        for name in type(statement).__match_args__:
            value = getattr(statement, name)
            if isinstance(value, (Apply, Load)):
                changes[name] = self.expr(value)
            elif isinstance(statement, (Invoke, External)) and name == "args":
                changes[name] = tuple(map(self.expr, value))
        made = replace(statement, **changes) if changes else statement
        for pointer, index in _ADDRESSES.get(type(statement), ()):
            if getattr(made, pointer) == self.own:
                at = plus(self.start, getattr(made, index))
                made = replace(made, **{pointer: self.target, index: at})
        if isinstance(made, Multiply) and made.target == self.own and self.start == ZERO:
            made = replace(made, target=self.target)  # it is written from the start of its memory
        return with_blocks(made, lambda block: map(self.statement, block))

    def expr(self, value: Expr) -> Expr:
        match value:
            case Apply(args=args):
                return replace(value, args=tuple(map(self.expr, args)))
            case Load(pointer=pointer, index=index):
                index = self.expr(index)
                if pointer == self.own:
                    return replace(value, pointer=self.target, index=plus(self.start, index))
                return replace(value, index=index)
            case _:
                return value


_ADDRESSES: dict[type, tuple[tuple[str, str], ...]] = {
    Store: (("pointer", "index"),),
    Copy: (("target", "target_index"), ("source", "source_index")),
    Multiply: (("left", "left_index"), ("right", "right_index")),
}


# --- what every iteration takes -----------------------------------------------------------


def _taken_before_loops(statements: Sequence[Statement]) -> Iterator[Statement]:
    for statement in statements:
        made = with_blocks(statement, _taken_before_loops)
        if not isinstance(made, (For, While)):
            yield made
            continue
        taken = list(_of_every_iteration(made))
        own = {allocation.pointer for allocation in taken}
        body = tuple(s for s in made.body if not _takes_or_ends(s, own))
        yield from taken
        yield replace(made, body=body)
        yield from (Release(allocation.pointer) for allocation in taken)


def _takes_or_ends(statement: Statement, own: set[Slot]) -> bool:
    return isinstance(statement, (Allocate, Release)) and statement.pointer in own


def _of_every_iteration(loop: For | While) -> Iterator[Allocate]:
    """What the body of a loop takes, always of the same size, and releases again."""
    changed = set(assigned_in((loop,)))
    released = [s.pointer for s in loop.body if isinstance(s, Release)]
    for statement in loop.body:
        if not isinstance(statement, Allocate) or released.count(statement.pointer) != 1:
            continue
        same_size = changed.isdisjoint(slots_in(statement.count))
        if same_size and not must_stay(loop.body, statement.pointer):
            yield statement


# --- small arrays -------------------------------------------------------------------------


def in_frame(procedure: Procedure) -> Procedure:
    """The procedure with small arrays of known sizes in its frame."""
    small = _small_arrays(procedure)
    return (
        replace(procedure, body=tuple(_with_frame(procedure.body, small))) if small else procedure
    )


def _small_arrays(procedure: Procedure) -> set[Slot]:
    statements = list(each(procedure.body))
    shared = {slot for s in statements for slot in _handed_on(s)} | set(procedure.results)
    taken = [s for s in statements if isinstance(s, Allocate)]
    counts = Counter(s.pointer for s in taken)
    found, total = set[Slot](), 0
    for statement in taken:
        size = _known_size(statement)
        alone = counts[statement.pointer] == 1 and statement.pointer not in shared
        if alone and size <= LARGEST_IN_FRAME and total + size <= LARGEST_FRAME:
            found.add(statement.pointer)
            total += size
    return found


def _known_size(statement: Allocate) -> int:
    if not isinstance(statement.count, Constant):
        return LARGEST_IN_FRAME + 1
    return int(statement.count.value) * SIZES[statement.code]


def _handed_on(statement: Statement) -> Iterator[Slot]:
    """The pieces of memory that a statement gives another name, another size, or to another procedure."""
    if isinstance(statement, (Assign, Invoke, Enlarge)):
        yield from _pointers(statement)
    if isinstance(statement, Enlarge):
        yield statement.pointer
    if isinstance(statement, Assign):
        yield statement.slot


def _with_frame(statements: Sequence[Statement], small: set[Slot]) -> Iterator[Statement]:
    for statement in statements:
        match statement:
            case Allocate(pointer=pointer) if pointer in small:
                yield replace(statement, in_frame=True, in_arena=False)
            case Release(pointer=pointer) if pointer in small:
                continue
            case _:
                yield with_blocks(statement, lambda block: _with_frame(block, small))
