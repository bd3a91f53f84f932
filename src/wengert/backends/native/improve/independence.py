"""Whether the iterations of a loop write in places of their own.

An index is taken apart into multiples of the indices of loops: `k * n + j * 1 + rest`. An iteration of the outer
loop touches the elements from the least to the greatest of these; iterations are apart if that is less than what
`k` is multiplied by.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ....ir.records import record
from ..form.loopform import (
    Allocate,
    Apply,
    Assign,
    Code,
    Constant,
    Copy,
    Enlarge,
    Expr,
    External,
    For,
    Invoke,
    Load,
    Multiply,
    Release,
    Slot,
    Spread,
    Statement,
    Store,
    blocks_of,
    each,
    expressions_of,
    slots_in,
)
from ..values.emitter import simplified
from ..values.values import ONE, integer, minus, plus
from .facts import Facts
from .multiples import Indices, values_in

# --- what is read -------------------------------------------------------------------------


def reads_of(statements: Sequence[Statement], *, inside: bool = True) -> Iterator[Slot]:
    """The variables that statements read, as often as they do; what they give values to is not listed."""
    for statement in each(tuple(statements)) if inside else statements:
        for value in _values_of(statement):
            yield from slots_in(value)


def _values_of(statement: Statement) -> Iterator[Expr]:
    match statement:
        case Assign(value=value):
            yield value
        case For(count=count):
            yield count
        case Allocate(count=count):
            yield count
        case _:
            yield from expressions_of(statement)


def loads_in(statement: Statement) -> Iterator[Load | Apply]:
    """The operations and the reads of elements of a statement itself."""
    for value in _values_of(statement):
        yield from _operations(value)


def _operations(value: Expr) -> Iterator[Load | Apply]:
    match value:
        case Apply(args=args):
            yield value
            for arg in args:
                yield from _operations(arg)
        case Load(index=index):
            yield value
            yield from _operations(index)
        case _:
            return


# --- whether iterations are apart -------------------------------------------------------------


class Accumulation(NamedTuple):
    """Memory that a loop only adds to."""

    pointer: Slot
    size: Expr
    code: Code


@record
class _Touch:
    """An access to memory: an element, or `count` of them."""

    pointer: Slot
    index: Expr
    count: Expr
    writes: bool


def conditions_of(
    loop: For, facts: Facts
) -> tuple[tuple[Expr, ...], tuple[Accumulation, ...]] | None:
    """What must hold for iterations to be apart, and what they add to; None if they are not."""
    if any(_is_out_of_reach(s, loop, facts) for s in each(loop.body)):
        return None
    private = {s.pointer for s in each(loop.body) if isinstance(s, Allocate)}
    by_root: dict[Slot, list[_Touch]] = {}
    for touch in _touches(loop.body):
        by_root.setdefault(facts.root(touch.pointer), []).append(touch)
    conditions: list[Expr] = []
    sums: list[Accumulation] = []
    indices = Indices(loop)
    for root, touches in by_root.items():
        if all(t.pointer in private for t in touches) and facts.has_one_name(root):
            continue
        if not any(t.writes for t in touches):
            continue
        apart = _apart(loop, touches, indices)
        if apart is not None:
            conditions.append(apart)
            continue
        found = _accumulation(loop, touches, facts)
        if found is None:
            return None
        sums.append(found)
    unknown = Constant(True, "b1")
    if Constant(False, "b1") in conditions:
        return None
    return tuple(c for c in conditions if c != unknown), tuple(sums)


def _is_out_of_reach(statement: Statement, loop: For, facts: Facts) -> bool:
    """Whether a statement does to memory what is not followed here."""
    private = {s.pointer for s in each(loop.body) if isinstance(s, Allocate)}
    match statement:
        case Enlarge(pointer=pointer) | Release(pointer=pointer):
            return pointer not in private or not facts.has_one_name(pointer)
        case Allocate(pointer=pointer):
            return not facts.has_one_name(pointer)
        case Assign(slot=Slot(code="ptr")) | Spread() | External():
            return True
        case Invoke(args=args, results=results):
            if any(slot.code == "ptr" for slot in results):
                return True
            return any(
                isinstance(arg, Slot) and arg.code == "ptr" and facts.may_change(statement, k)
                for k, arg in enumerate(args)
                if arg not in private
            )
        case _:
            return False


def _touches(body: Sequence[Statement]) -> Iterator[_Touch]:
    for statement in each(tuple(body)):
        for found in loads_in(statement):
            if isinstance(found, Load):
                yield _Touch(found.pointer, found.index, ONE, writes=False)
        match statement:
            case Store(pointer=pointer, index=index):
                yield _Touch(pointer, index, ONE, writes=True)
            case Copy():
                s = statement
                yield _Touch(s.target, s.target_index, s.count, writes=True)
                yield _Touch(s.source, s.source_index, s.count, writes=False)
            case Multiply(target=target, left=left, right=right):
                whole = Apply("whole", (), "i64")
                yield _Touch(target, whole, ONE, writes=True)
                yield _Touch(left, whole, ONE, writes=False)
                yield _Touch(right, whole, ONE, writes=False)
            case Invoke(args=args):
                for arg in args:
                    if isinstance(arg, Slot) and arg.code == "ptr":
                        yield _Touch(arg, Apply("whole", (), "i64"), ONE, writes=False)
            case _:
                pass


def _apart(loop: For, touches: Sequence[_Touch], indices: Indices) -> Expr | None:
    """What must hold for the places of different iterations to be apart; None if nobody can say."""
    low = high = step = None
    for touch in touches:
        found = None if _is_whole(touch.index) else indices.linear(touch.index)
        own = found.multiples.get(loop.index) if found is not None else None
        if found is None or own is None or (step is not None and own != step):
            return None
        count = indices.most(touch.count)
        reach = indices.reach(found, without=loop.index)
        if reach is None or count is None:
            return None
        step = own
        end = simplified(plus(reach[1], simplified(minus(count, ONE))))
        low = reach[0] if low is None else _extreme("min", low, reach[0])
        high = end if high is None else _extreme("max", high, end)
    assert step is not None
    assert low is not None
    assert high is not None
    span = simplified(minus(high, low))
    size = simplified(Apply("abs", (step,), "i64")) if not isinstance(step, Constant) else None
    size = integer(abs(int(step.value))) if isinstance(step, Constant) else size
    assert size is not None
    return simplified(Apply("gt", (size, span), "b1"))


def _is_whole(index: Expr) -> bool:
    return isinstance(index, Apply) and index.op == "whole"


def _extreme(op: str, a: Expr, b: Expr) -> Expr:
    return a if a == b else simplified(Apply(op, (a, b), "i64"))


def _accumulation(loop: For, touches: Sequence[_Touch], facts: Facts) -> Accumulation | None:
    """Memory that is only added to: every read of an element is part of an addition to it."""
    pointer = touches[0].pointer
    size = facts.size(pointer)
    if size is None or any(t.pointer != pointer for t in touches):
        return None
    reads = sum(1 for t in touches if not t.writes)
    inside = Counter(reads_of(loop.body))
    values = values_in(loop)
    additions = list(_additions(loop.body, pointer, values, inside))
    writes = len(touches) - reads
    if not additions or len(additions) != writes or reads != writes:
        return None
    code = additions[0]
    return Accumulation(pointer, size, code) if len(set(additions)) == 1 else None


def _additions(
    body: Sequence[Statement], pointer: Slot, values: dict[Slot, Expr], reads: Counter[Slot]
) -> Iterator[Code]:
    """The statements `pointer[i] = pointer[i] + …`, by the type of the elements."""
    for number, statement in enumerate(body):
        for block in blocks_of(statement):
            yield from _additions(block, pointer, values, reads)
        if not isinstance(statement, Store) or statement.pointer != pointer:
            continue
        value = once(statement.value, values, reads)
        if not isinstance(value, Apply) or value.op not in ("add", "add_any"):
            continue
        for arg in value.args:
            before = once(arg, values, reads)
            if not isinstance(before, Load) or before.pointer != pointer:
                continue
            if before.index == statement.index and _undisturbed(body[:number], arg, pointer):
                yield before.code
                break


def once(value: Expr, values: dict[Slot, Expr], reads: Counter[Slot]) -> Expr:
    """What a variable that is read once stands for."""
    if isinstance(value, Slot) and value in values and reads[value] == 1:
        return values[value]
    return value


def _undisturbed(before: Sequence[Statement], read: Expr, pointer: Slot) -> bool:
    """Whether nothing else is written to memory between the read of an element and its write."""
    if not isinstance(read, Slot):
        return True
    for statement in reversed(before):
        if isinstance(statement, Assign) and statement.slot == read:
            return True
        if any(isinstance(s, Store) and s.pointer == pointer for s in each((statement,))):
            return False
    return False
