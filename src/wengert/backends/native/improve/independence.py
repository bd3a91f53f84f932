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
    Procedure,
    Release,
    Slot,
    Spread,
    Statement,
    Store,
    assigned_in,
    blocks_of,
    each,
    expressions_of,
    slots_in,
)
from ..values.emitter import simplified
from ..values.values import ONE, ZERO, integer, minus, plus, times

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


# --- what is known of a procedure -------------------------------------------------------------


class Facts:
    """What is known of the memory of a procedure.

    Attributes:
        sizes: how many elements arrays have, where that is known.
    """

    def __init__(self, procedure: Procedure, others: Sequence[Procedure], sizes: dict[Slot, Expr]):
        self.sizes = dict(sizes)
        self._same: dict[Slot, Slot] = {}
        self._allocated: Counter[Slot] = Counter()
        self._assigned = Counter(assigned_in(procedure.body))
        for statement in each(procedure.body):
            match statement:
                case Allocate(pointer=pointer, count=count):
                    self._allocated[pointer] += 1
                    self.sizes[pointer] = count
                case Assign(slot=Slot(code="ptr") as slot, value=Slot() as value):
                    if self.root(slot) != self.root(value):
                        self._same[self.root(slot)] = self.root(value)
                case _:
                    pass
        self._changes = _changes(others)
        self._keeping = _keeping(others)

    def root(self, pointer: Slot) -> Slot:
        """One of the names of a piece of memory, the same for all of them."""
        while pointer in self._same:
            pointer = self._same[pointer]
        return pointer

    def has_one_name(self, pointer: Slot) -> bool:
        """Whether memory is known by one variable only, which always stands for the same."""
        return pointer not in self._same and pointer not in self._same.values()

    def size(self, pointer: Slot) -> Expr | None:
        """How many elements an array has, in variables that never change."""
        size = self.sizes.get(pointer)
        if size is None or self._allocated[pointer] > 1 or not self.has_one_name(pointer):
            return None
        return size if all(self._assigned[slot] <= 1 for slot in slots_in(size)) else None

    def may_change(self, call: Invoke, number: int) -> bool:
        """Whether a call may change the memory that an argument points to."""
        return number in self._changes.get(call.function, {number})

    def keeps(self, loop: For) -> bool:
        """Whether a loop calls what keeps memory that is read later: a thread's own ends with its part."""
        return any(
            isinstance(statement, Invoke) and statement.function in self._keeping
            for statement in each(loop.body)
        )

    def fixed_in(self, loop: For) -> set[Slot]:
        """The variables that a loop gives values to."""
        return {*assigned_in(loop.body), loop.index}


def _changes(procedures: Sequence[Procedure]) -> dict[str, set[int]]:
    """For each procedure the parameters whose memory it may change."""
    found: dict[str, set[int]] = {p.name: set() for p in procedures}
    while True:
        before = sum(map(len, found.values()))
        for procedure in procedures:
            found[procedure.name] |= set(_changed_by(procedure, found))
        if sum(map(len, found.values())) == before:
            return found


def _keeping(procedures: Sequence[Procedure]) -> set[str]:
    """The procedures that hand on the address of memory, or call one that does."""
    found: set[str] = set()
    while True:
        more = {p.name for p in procedures if p.name not in found and _keeps(p, found)}
        if not more:
            return found
        found |= more


def _keeps(procedure: Procedure, known: set[str]) -> bool:
    return any(
        (isinstance(statement, Invoke) and statement.function in known)
        or any(_takes_address(value) for value in expressions_of(statement))
        for statement in each(procedure.body)
    )


def _takes_address(value: Expr) -> bool:
    return isinstance(value, Apply) and (
        value.op == "address" or any(map(_takes_address, value.args))
    )


def _changed_by(procedure: Procedure, known: dict[str, set[int]]) -> Iterator[int]:
    numbers = {slot: k for k, slot in enumerate(procedure.params)}
    named: set[Slot] = set()
    for statement in each(procedure.body):
        match statement:
            case Store(pointer=target) | Copy(target=target) | Multiply(target=target):
                named.add(target)
            case Enlarge(pointer=target) | Release(pointer=target):
                named.add(target)
            case External(args=args):
                named.update(arg.pointer for arg in args)
            case Assign(value=Slot(code="ptr") as other):
                named.add(other)
            case Invoke(function=function, args=args):
                changed = known.get(function, set(range(len(args))))
                named.update(a for k, a in enumerate(args) if isinstance(a, Slot) and k in changed)
            case _:
                pass
    yield from (numbers[slot] for slot in named if slot in numbers)


# --- indices as multiples -----------------------------------------------------------------


@record
class Linear:
    """`rest` and a multiple of the index of each loop."""

    rest: Expr
    multiples: dict[Slot, Expr]


def values_in(loop: For) -> dict[Slot, Expr]:
    """What the variables stand for that a loop gives a value to in one place."""
    times_assigned = Counter(assigned_in(loop.body))
    return {
        s.slot: s.value
        for s in each(loop.body)
        if isinstance(s, Assign) and times_assigned[s.slot] == 1
    }


class _Indices:
    """Takes indices apart that are computed in a loop."""

    def __init__(self, loop: For):
        self.own = {*assigned_in(loop.body), loop.index}
        self.counts = {loop.index: loop.count}
        self.values = values_in(loop)
        for statement in each(loop.body):
            if isinstance(statement, For):
                self.counts[statement.index] = statement.count

    def linear(self, value: Expr) -> Linear | None:
        """An index as multiples of those of loops; None if it is anything else."""
        match value:
            case Constant():
                return Linear(value, {})
            case Slot() if value in self.counts:
                return Linear(ZERO, {value: ONE})
            case Slot() if value not in self.own:
                return Linear(value, {})
            case Slot():
                return self.linear(self.values[value]) if value in self.values else None
            case Apply(op="add" | "sub" | "mul", args=(a, b)):
                x, y = self.linear(a), self.linear(b)
                return _combined(value.op, x, y) if x and y else None
            case Apply(args=args):
                parts = [self.linear(arg) for arg in args]
                if any(part is None or part.multiples for part in parts):
                    return None
                rests = tuple(part.rest for part in parts if part is not None)
                return Linear(simplified(Apply(value.op, rests, value.code)), {})
            case Load():
                return None

    def most(self, value: Expr) -> Expr | None:
        """The greatest number that a count can be, in variables of outside the loop."""
        match value:
            case Slot() if value in self.values:
                return self.most(self.values[value])
            case Apply(op="max" | "min", args=(a, b)):
                x, y = self.most(a), self.most(b)
                return simplified(Apply(value.op, (x, y), "i64")) if x and y else None
            case _:
                found = self.linear(value)
                return self._greatest(found) if found is not None else None

    def _greatest(self, found: Linear) -> Expr | None:
        reach = self.reach(found)
        return reach[1] if reach is not None else None

    def reach(self, found: Linear, without: Slot | None = None) -> tuple[Expr, Expr] | None:
        """The least and the greatest that an index can be."""
        low = high = found.rest
        for index, multiple in found.multiples.items():
            if index == without:
                continue
            count = self.most(self.counts[index])
            if count is None:
                return None
            last = simplified(times(multiple, simplified(minus(count, ONE))))
            low = simplified(plus(low, simplified(Apply("min", (last, ZERO), "i64"))))
            high = simplified(plus(high, simplified(Apply("max", (last, ZERO), "i64"))))
        return low, high


def _combined(op: str, x: Linear, y: Linear) -> Linear | None:
    if op == "mul":
        if x.multiples and y.multiples:
            return None
        many, one = (x, y) if x.multiples else (y, x)
        multiples = {k: simplified(times(m, one.rest)) for k, m in many.multiples.items()}
        return Linear(simplified(times(many.rest, one.rest)), multiples)
    join = plus if op == "add" else minus
    multiples = {
        k: simplified(join(x.multiples.get(k, ZERO), y.multiples.get(k, ZERO)))
        for k in dict.fromkeys((*x.multiples, *y.multiples))
    }
    return Linear(
        simplified(join(x.rest, y.rest)), {k: m for k, m in multiples.items() if m != ZERO}
    )


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
    indices = _Indices(loop)
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


def _apart(loop: For, touches: Sequence[_Touch], indices: _Indices) -> Expr | None:
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
