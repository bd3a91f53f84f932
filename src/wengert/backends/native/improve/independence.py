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
from ..form import loopform as lf
from ..values.emitter import simplified
from ..values.values import ONE, integer, minus, plus
from .facts import Facts
from .multiples import Indices, values_in

# --- what is read -------------------------------------------------------------------------


def reads_of(statements: Sequence[lf.Statement], *, inside: bool = True) -> Iterator[lf.Slot]:
    """The variables that statements read, as often as they do; what they give values to is not listed."""
    for statement in lf.each(tuple(statements)) if inside else statements:
        for value in _values_of(statement):
            yield from lf.slots_in(value)


def _values_of(statement: lf.Statement) -> Iterator[lf.Expr]:
    match statement:
        case lf.Assign(value=value):
            yield value
        case lf.For(count=count):
            yield count
        case lf.Allocate(count=count):
            yield count
        case _:
            yield from lf.expressions_of(statement)


def loads_in(statement: lf.Statement) -> Iterator[lf.Load | lf.Apply]:
    """The operations and the reads of elements of a statement itself."""
    for value in _values_of(statement):
        yield from _operations(value)


def _operations(value: lf.Expr) -> Iterator[lf.Load | lf.Apply]:
    match value:
        case lf.Apply(args=args):
            yield value
            for arg in args:
                yield from _operations(arg)
        case lf.Load(index=index):
            yield value
            yield from _operations(index)
        case _:
            return


# --- whether iterations are apart -------------------------------------------------------------


class Accumulation(NamedTuple):
    """Memory that a loop only adds to."""

    pointer: lf.Slot
    size: lf.Expr
    code: lf.Code


@record
class _Touch:
    """An access to memory: an element, or `count` of them."""

    pointer: lf.Slot
    index: lf.Expr
    count: lf.Expr
    writes: bool


def conditions_of(
    loop: lf.For, facts: Facts
) -> tuple[tuple[lf.Expr, ...], tuple[Accumulation, ...]] | None:
    """What must hold for iterations to be apart, and what they add to; None if they are not."""
    if any(_is_out_of_reach(s, loop, facts) for s in lf.each(loop.body)):
        return None
    private = {s.pointer for s in lf.each(loop.body) if isinstance(s, lf.Allocate)}
    by_root: dict[lf.Slot, list[_Touch]] = {}
    for touch in _touches(loop.body):
        by_root.setdefault(facts.root(touch.pointer), []).append(touch)
    conditions: list[lf.Expr] = []
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
    unknown = lf.Constant(True, "b1")
    if lf.Constant(False, "b1") in conditions:
        return None
    return tuple(c for c in conditions if c != unknown), tuple(sums)


def _is_out_of_reach(statement: lf.Statement, loop: lf.For, facts: Facts) -> bool:
    """Whether a statement does to memory what is not followed here."""
    private = {s.pointer for s in lf.each(loop.body) if isinstance(s, lf.Allocate)}
    match statement:
        case lf.Enlarge(pointer=pointer) | lf.Release(pointer=pointer):
            return pointer not in private or not facts.has_one_name(pointer)
        case lf.Allocate(pointer=pointer):
            return not facts.has_one_name(pointer)
        case lf.Assign(slot=lf.Slot(code="ptr")) | lf.Spread() | lf.External():
            return True
        case lf.Invoke(args=args, results=results):
            if any(slot.code == "ptr" for slot in results):
                return True
            return any(
                isinstance(arg, lf.Slot) and arg.code == "ptr" and facts.may_change(statement, k)
                for k, arg in enumerate(args)
                if arg not in private
            )
        case _:
            return False


def _touches(body: Sequence[lf.Statement]) -> Iterator[_Touch]:
    for statement in lf.each(tuple(body)):
        for found in loads_in(statement):
            if isinstance(found, lf.Load):
                yield _Touch(found.pointer, found.index, ONE, writes=False)
        match statement:
            case lf.Store(pointer=pointer, index=index):
                yield _Touch(pointer, index, ONE, writes=True)
            case lf.Copy():
                s = statement
                yield _Touch(s.target, s.target_index, s.count, writes=True)
                yield _Touch(s.source, s.source_index, s.count, writes=False)
            case lf.Multiply(target=target, left=left, right=right):
                whole = lf.Apply("whole", (), "i64")
                yield _Touch(target, whole, ONE, writes=True)
                yield _Touch(left, whole, ONE, writes=False)
                yield _Touch(right, whole, ONE, writes=False)
            case lf.Invoke(args=args):
                for arg in args:
                    if isinstance(arg, lf.Slot) and arg.code == "ptr":
                        yield _Touch(arg, lf.Apply("whole", (), "i64"), ONE, writes=False)
            case _:
                pass


def _apart(loop: lf.For, touches: Sequence[_Touch], indices: Indices) -> lf.Expr | None:
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
    size = (
        simplified(lf.Apply("abs", (step,), "i64")) if not isinstance(step, lf.Constant) else None
    )
    size = integer(abs(int(step.value))) if isinstance(step, lf.Constant) else size
    assert size is not None
    return simplified(lf.Apply("gt", (size, span), "b1"))


def _is_whole(index: lf.Expr) -> bool:
    return isinstance(index, lf.Apply) and index.op == "whole"


def _extreme(op: str, a: lf.Expr, b: lf.Expr) -> lf.Expr:
    return a if a == b else simplified(lf.Apply(op, (a, b), "i64"))


def _accumulation(loop: lf.For, touches: Sequence[_Touch], facts: Facts) -> Accumulation | None:
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
    body: Sequence[lf.Statement],
    pointer: lf.Slot,
    values: dict[lf.Slot, lf.Expr],
    reads: Counter[lf.Slot],
) -> Iterator[lf.Code]:
    """The statements `pointer[i] = pointer[i] + …`, by the type of the elements."""
    for number, statement in enumerate(body):
        for block in lf.blocks_of(statement):
            yield from _additions(block, pointer, values, reads)
        if not isinstance(statement, lf.Store) or statement.pointer != pointer:
            continue
        value = once(statement.value, values, reads)
        if not isinstance(value, lf.Apply) or value.op not in ("add", "add_any"):
            continue
        for arg in value.args:
            before = once(arg, values, reads)
            if not isinstance(before, lf.Load) or before.pointer != pointer:
                continue
            if before.index == statement.index and _undisturbed(body[:number], arg, pointer):
                yield before.code
                break


def once(value: lf.Expr, values: dict[lf.Slot, lf.Expr], reads: Counter[lf.Slot]) -> lf.Expr:
    """What a variable that is read once stands for."""
    if isinstance(value, lf.Slot) and value in values and reads[value] == 1:
        return values[value]
    return value


def _undisturbed(before: Sequence[lf.Statement], read: lf.Expr, pointer: lf.Slot) -> bool:
    """Whether nothing else is written to memory between the read of an element and its write."""
    if not isinstance(read, lf.Slot):
        return True
    for statement in reversed(before):
        if isinstance(statement, lf.Assign) and statement.slot == read:
            return True
        if any(isinstance(s, lf.Store) and s.pointer == pointer for s in lf.each((statement,))):
            return False
    return False
