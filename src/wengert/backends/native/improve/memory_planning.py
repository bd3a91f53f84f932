"""The same program with less memory, taken less often.

Arrays that nobody reads are not written. An array that ends up, whole, in a longer one is written there at
once. Memory that each iteration of a loop takes and releases is taken once, before the loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ....ir.records import replace
from ..form import loopform as lf
from ..values.values import ZERO, plus

BLOCKS = ("test", "body", "then", "other")
MOST_ROUNDS = 200
LARGEST_IN_FRAME = 256
LARGEST_FRAME = 2048
"""How many bytes of small arrays a procedure has in its frame: calls may be nested 900 deep."""


def compact(procedure: lf.Procedure) -> lf.Procedure:
    """The same procedure with less memory."""
    procedure = without_unread(procedure)
    return replace(procedure, body=tuple(_written_in_place(procedure.body)))


def frugal(procedure: lf.Procedure) -> lf.Procedure:
    """The same procedure with memory taken less often."""
    return in_frame(replace(procedure, body=tuple(_taken_before_loops(procedure.body))))


def with_blocks(statement: lf.Statement, change: Any) -> lf.Statement:
    """A statement with the blocks in it changed."""
    blocks = {
        name: tuple(change(getattr(statement, name))) for name in BLOCKS if hasattr(statement, name)
    }
    return replace(statement, **blocks) if blocks else statement


# --- what nobody reads --------------------------------------------------------------------


def without_unread(procedure: lf.Procedure) -> lf.Procedure:
    """The procedure without arrays and numbers that nothing depends on."""
    live = {*procedure.params, *procedure.results}
    statements = list(lf.each(procedure.body))[::-1]
    for _ in range(MOST_ROUNDS):
        before = len(live)
        for statement in statements:
            for value in _needed(statement, live):
                live.update(lf.slots_in(value))
        if len(live) == before:
            return replace(procedure, body=tuple(_only(procedure.body, live)))
    return procedure


def _needed(statement: lf.Statement, live: set[lf.Slot]) -> Iterator[lf.Expr]:
    """What a statement reads, if anything depends on it."""
    match statement:
        case lf.Assign(slot=slot, value=lf.Slot(code="ptr") as other):
            if slot in live or other in live:  # two names of one piece of memory
                yield slot
                yield other
        case lf.Assign(slot=target) | lf.Allocate(pointer=target) | lf.Enlarge(pointer=target):
            if target in live:
                yield from lf.expressions_of(statement)
        case lf.Store(pointer=target) | lf.Copy(target=target) | lf.Multiply(target=target):
            if target in live:
                yield from lf.expressions_of(statement)
        case lf.Release():
            return
        case _:
            yield from lf.expressions_of(statement)


def _only(statements: Sequence[lf.Statement], live: set[lf.Slot]) -> Iterator[lf.Statement]:
    for statement in statements:
        match statement:
            case (
                lf.Assign(slot=target)
                | lf.Allocate(pointer=target)
                | lf.Enlarge(pointer=target)
                | lf.Release(pointer=target)
                | lf.Store(pointer=target)
                | lf.Copy(target=target)
                | lf.Multiply(target=target)
            ):
                if target in live:
                    yield statement
            case lf.For() | lf.If() | lf.While():
                made = with_blocks(statement, lambda block: _only(block, live))
                if isinstance(made, lf.While) or any(getattr(made, n, ()) for n in BLOCKS):
                    yield made
            case _:
                yield statement


# --- what ends up in a longer array -------------------------------------------------------


def _written_in_place(statements: Sequence[lf.Statement]) -> list[lf.Statement]:
    """Arrays that are copied into another one, and released, are written there instead."""
    found = [with_blocks(statement, _written_in_place) for statement in statements]
    for copy in [s for s in found if isinstance(s, lf.Copy)]:
        if copy in found:  # and not written into what an earlier one was copied to
            found = _without_copy(found, copy)
    return found


def _without_copy(statements: list[lf.Statement], copy: lf.Copy) -> list[lf.Statement]:
    own = copy.source
    end = statements.index(copy)
    start = next((k for k in range(end) if _is_allocation(statements[k], own, copy.count)), None)
    after = statements[end + 1 :]
    released = any(isinstance(s, lf.Release) and s.pointer == own for s in after)
    if start is None or not released or copy.source_index != ZERO:
        return statements
    between = statements[start + 1 : end]
    if own in fixed_in(statements) or any(_writes(s, own) for s in lf.each(tuple(after))):
        return statements
    rest = (*statements[:end], *after)
    if any(copy.target in _slots_of(s) for s in lf.each(rest)):
        return statements
    if any(isinstance(s, lf.Multiply) and s.target == own for s in lf.each(tuple(between))):
        return statements  # a product is written from the start of its memory
    moved = _moved_up(copy.target_index, between)
    if moved is None:
        return statements
    place = Place(own, copy.target, copy.target_index)
    kept = [s for s in (*between, *after) if s not in moved and not _ends(s, own)]
    return [*statements[:start], *moved, *map(place.statement, kept)]


def _is_allocation(statement: lf.Statement, own: lf.Slot, count: lf.Expr) -> bool:
    return (
        isinstance(statement, lf.Allocate) and statement.pointer == own and statement.count == count
    )


def _ends(statement: lf.Statement, own: lf.Slot) -> bool:
    return isinstance(statement, lf.Release) and statement.pointer == own


def _slots_of(statement: lf.Statement) -> set[lf.Slot]:
    return {slot for value in lf.expressions_of(statement) for slot in lf.slots_in(value)}


def fixed_in(statements: Sequence[lf.Statement]) -> set[lf.Slot]:
    """The pieces of memory that must stay what they are: with another name, another size, or two origins."""
    fixed, taken = set[lf.Slot](), Counter[lf.Slot]()
    for statement in lf.each(tuple(statements)):
        match statement:
            case lf.Assign() | lf.Invoke() | lf.Enlarge():
                fixed.update(_pointers(statement))
            case lf.External(args=args):
                fixed.update(arg.pointer for arg in args)
            case lf.Allocate(pointer=pointer):
                taken[pointer] += 1
            case _:
                pass
    return fixed | {pointer for pointer, times in taken.items() if times > 1}


def _pointers(statement: lf.Assign | lf.Invoke | lf.Enlarge) -> Iterator[lf.Slot]:
    """The pieces of memory that a statement names, other than to read an element."""
    for value in lf.expressions_of(statement):
        if isinstance(value, lf.Slot):
            yield value
        elif isinstance(value, lf.Apply):
            yield from (arg for arg in value.args if isinstance(arg, lf.Slot))
    if isinstance(statement, lf.Invoke):
        yield from statement.results


def _writes(statement: lf.Statement, own: lf.Slot) -> bool:
    match statement:
        case lf.Store(pointer=target) | lf.Copy(target=target) | lf.Multiply(target=target):
            return target == own
        case _:
            return False


def _moved_up(index: lf.Expr, between: Sequence[lf.Statement]) -> list[lf.Statement] | None:
    """The statements in between that an index needs; None if they cannot go before the others."""
    changed = Counter(lf.assigned_in(tuple(between)))
    needed = set(lf.slots_in(index)) & changed.keys()
    moved: list[lf.Statement] = []
    for statement in reversed(between):
        if isinstance(statement, lf.Assign) and statement.slot in needed:
            loads = any(isinstance(value, lf.Load) for value in _parts(statement.value))
            if loads or changed[statement.slot] > 1:
                return None
            needed.remove(statement.slot)
            needed |= set(lf.slots_in(statement.value)) & changed.keys()
            moved.insert(0, statement)
    return None if needed else moved


def _parts(value: lf.Expr) -> Iterator[lf.Expr]:
    yield value
    if isinstance(value, lf.Apply):
        for arg in value.args:
            yield from _parts(arg)


class Place:
    """A piece of memory that has become part of another one."""

    def __init__(self, own: lf.Slot, target: lf.Slot, start: lf.Expr):
        self.own = own
        self.target = target
        self.start = start

    def statement(self, statement: lf.Statement) -> lf.Statement:
        changes: dict[str, Any] = {}
        for name in type(statement).__match_args__:
            value = getattr(statement, name)
            if isinstance(value, (lf.Apply, lf.Load)):
                changes[name] = self.expr(value)
            elif isinstance(statement, (lf.Invoke, lf.External)) and name == "args":
                changes[name] = tuple(map(self.expr, value))
        made = replace(statement, **changes) if changes else statement
        for pointer, index in _ADDRESSES.get(type(statement), ()):
            if getattr(made, pointer) == self.own:
                at = plus(self.start, getattr(made, index))
                made = replace(made, **{pointer: self.target, index: at})
        if isinstance(made, lf.Multiply) and made.target == self.own and self.start == ZERO:
            made = replace(made, target=self.target)  # it is written from the start of its memory
        return with_blocks(made, lambda block: map(self.statement, block))

    def expr(self, value: lf.Expr) -> lf.Expr:
        match value:
            case lf.Apply(args=args):
                return replace(value, args=tuple(map(self.expr, args)))
            case lf.Load(pointer=pointer, index=index):
                index = self.expr(index)
                if pointer == self.own:
                    return replace(value, pointer=self.target, index=plus(self.start, index))
                return replace(value, index=index)
            case _:
                return value


_ADDRESSES: dict[type, tuple[tuple[str, str], ...]] = {
    lf.Store: (("pointer", "index"),),
    lf.Copy: (("target", "target_index"), ("source", "source_index")),
    lf.Multiply: (("left", "left_index"), ("right", "right_index")),
}


# --- what every iteration takes -----------------------------------------------------------


def _taken_before_loops(statements: Sequence[lf.Statement]) -> Iterator[lf.Statement]:
    for statement in statements:
        made = with_blocks(statement, _taken_before_loops)
        if not isinstance(made, (lf.For, lf.While)):
            yield made
            continue
        taken = list(_of_every_iteration(made))
        own = {allocation.pointer for allocation in taken}
        body = tuple(s for s in made.body if not _takes_or_ends(s, own))
        yield from taken
        yield replace(made, body=body)
        yield from (lf.Release(allocation.pointer) for allocation in taken)


def _takes_or_ends(statement: lf.Statement, own: set[lf.Slot]) -> bool:
    return isinstance(statement, (lf.Allocate, lf.Release)) and statement.pointer in own


def _of_every_iteration(loop: lf.For | lf.While) -> Iterator[lf.Allocate]:
    """What the body of a loop takes, always of the same size, and releases again."""
    changed = set(lf.assigned_in((loop,)))
    released = Counter(s.pointer for s in loop.body if isinstance(s, lf.Release))
    taken = [s for s in loop.body if isinstance(s, lf.Allocate) and released[s.pointer] == 1]
    fixed = fixed_in(loop.body) if taken else set[lf.Slot]()
    for statement in taken:
        if statement.pointer not in fixed and changed.isdisjoint(lf.slots_in(statement.count)):
            yield statement


# --- small arrays -------------------------------------------------------------------------


def in_frame(procedure: lf.Procedure) -> lf.Procedure:
    """The procedure with small arrays of known sizes in its frame."""
    small = _small_arrays(procedure)
    return (
        replace(procedure, body=tuple(_with_frame(procedure.body, small))) if small else procedure
    )


def _small_arrays(procedure: lf.Procedure) -> set[lf.Slot]:
    statements = list(lf.each(procedure.body))
    shared = {slot for s in statements for slot in _handed_on(s)} | set(procedure.results)
    taken = [s for s in statements if isinstance(s, lf.Allocate)]
    counts = Counter(s.pointer for s in taken)
    found, total = set[lf.Slot](), 0
    for statement in taken:
        size = _known_size(statement)
        alone = counts[statement.pointer] == 1 and statement.pointer not in shared
        if alone and size <= LARGEST_IN_FRAME and total + size <= LARGEST_FRAME:
            found.add(statement.pointer)
            total += size
    return found


def _known_size(statement: lf.Allocate) -> int:
    if not isinstance(statement.count, lf.Constant):
        return LARGEST_IN_FRAME + 1
    return int(statement.count.value) * lf.SIZES[statement.code]


def _handed_on(statement: lf.Statement) -> Iterator[lf.Slot]:
    """The pieces of memory that a statement gives another name, another size, or to another procedure."""
    if isinstance(statement, (lf.Assign, lf.Invoke, lf.Enlarge)):
        yield from _pointers(statement)
    if isinstance(statement, lf.Enlarge):
        yield statement.pointer
    if isinstance(statement, lf.Assign):
        yield statement.slot


def _with_frame(statements: Sequence[lf.Statement], small: set[lf.Slot]) -> Iterator[lf.Statement]:
    for statement in statements:
        match statement:
            case lf.Allocate(pointer=pointer) if pointer in small:
                yield replace(statement, in_frame=True, in_arena=False)
            case lf.Release(pointer=pointer) if pointer in small:
                continue
            case _:
                yield with_blocks(statement, lambda block: _with_frame(block, small))
