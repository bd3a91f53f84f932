"""Loops whose iterations have nothing to do with each other, spread over threads: `wg.jit(f, parallel=True)`.

A loop is spread if no iteration needs what another one has computed, sums aside: each variable that it gives a
value to is its own, or a running sum, product or extreme; and memory that it writes to is written by each
iteration in a place of its own, or only added to. Whether places are apart depends on sizes and strides: where it
is not plain, the program finds out before it starts the loop.

Sums are added up by each thread for itself, so that they are the same to rounding.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ....ir.records import mutable_record, record, replace
from ..form.loopform import (
    Allocate,
    Apply,
    Assign,
    BreakIf,
    Code,
    Constant,
    Expr,
    For,
    If,
    Invoke,
    Load,
    Multiply,
    Procedure,
    Release,
    Slot,
    Spread,
    Statement,
    Store,
    While,
    assigned_in,
    blocks_of,
    each,
)
from ..values.emitter import Names, simplified
from ..values.values import ONE, ZERO, integer, minus, plus, times
from .independence import (
    Accumulation,
    Facts,
    conditions_of,
    loads_in,
    once,
    reads_of,
    values_in,
)

LEAST_WORK = 60_000
"""Work, in additions or so, from which on threads are worth waking."""
OF_A_FUNCTION, OF_A_CALL, UNKNOWN_COUNT = 8, 40, 8
MOST_PRIVATE = 8
"""How many times as much work as elements there must be where each thread adds up in memory of its own."""

_STARTS: dict[str, dict[Code, float | int | bool]] = {
    "add": {"f64": 0.0, "f32": 0.0, "i64": 0},
    "mul": {"f64": 1.0, "f32": 1.0, "i64": 1},
    "maximum": {"f64": float("-inf"), "f32": float("-inf")},
    "minimum": {"f64": float("inf"), "f32": float("inf")},
    "or": {"b1": False},
    "and": {"b1": True},
}
_FROM_BEFORE = frozenset(("max", "min", "last"))
"""Steps that each part may begin with what there was before the loop."""
_STEPS = {"add_any": "add", "mul_any": "mul"}


def spread(
    procedure: Procedure, others: Sequence[Procedure], sizes: dict[Slot, Expr], names: Names
) -> tuple[Procedure, tuple[Procedure, ...]]:
    """The procedure with its loops spread over threads, and the procedures that do a part of each.

    Args:
        procedure: what Python calls.
        others: the procedures that it calls.
        sizes: how many elements arrays have that the caller makes.
        names: where new names come from.
    """
    work = _Spreading(procedure, others, sizes, names)
    body = tuple(work.block(procedure.body))
    return replace(procedure, body=body), tuple(work.parts)


@record
class Plan:
    """How a loop is spread.

    Attributes:
        sums: variables that the loop adds up in, and by which operation.
        accumulations: memory that it only adds to.
        conditions: what must hold besides, known when the loop starts.
    """

    sums: dict[Slot, str]
    accumulations: tuple[Accumulation, ...]
    conditions: tuple[Expr, ...]


class _Spreading:
    def __init__(
        self,
        procedure: Procedure,
        others: Sequence[Procedure],
        sizes: dict[Slot, Expr],
        names: Names,
    ):
        self.procedure = procedure
        self.facts = Facts(procedure, others, sizes)
        self.names = names
        self.parts: list[Procedure] = []
        self._reads = Counter(reads_of(procedure.body))
        self._reads.update(procedure.results)

    def block(self, statements: Sequence[Statement]) -> Iterator[Statement]:
        for statement in statements:
            plan = self._plan(statement) if isinstance(statement, For) else None
            if plan is not None:
                assert isinstance(statement, For)
                yield from self._spread(statement, plan)
            elif blocks_of(statement):
                yield self._inside(statement)
            else:
                yield statement

    def _inside(self, statement: Statement) -> Statement:
        match statement:
            case For(body=body) | While(body=body):
                return replace(statement, body=tuple(self.block(body)))
            case If(then=then, other=other):
                return replace(
                    statement, then=tuple(self.block(then)), other=tuple(self.block(other))
                )
            case _:
                return statement

    # --- whether, and how -----------------------------------------------------------------

    def _plan(self, loop: For) -> Plan | None:
        if _leaves(loop.body) or self.facts.keeps(loop):
            return None
        sums = self._sums(loop)
        if sums is None:
            return None
        found = conditions_of(loop, self.facts)
        if found is None:
            return None
        conditions, accumulations = found
        return Plan(sums, accumulations, conditions)

    def _sums(self, loop: For) -> dict[Slot, str] | None:
        """The running sums of a loop; None if it carries something else."""
        own = set(assigned_in(loop.body)) | {loop.index}
        inside = Counter(reads_of(loop.body))
        carried, given = _before_and_after(loop.body, own - {loop.index})
        used_after = {slot for slot in own if self._reads[slot] > inside[slot]}
        sums = dict.fromkeys(_in_order(used_after & given - carried), "last")
        for slot in _in_order(carried | (used_after - given)):
            step = _step_of(slot, loop, inside)
            if step is None:
                return None
            sums[slot] = step
        return sums

    # --- writing it -----------------------------------------------------------------------

    def slot(self, hint: str, code: Code) -> Slot:
        """A new variable."""
        return Slot(self.names.fresh(hint), code)

    def _spread(self, loop: For, plan: Plan) -> Iterator[Statement]:
        part, start, stop = (self.slot(hint, "i64") for hint in ("part", "start", "stop"))
        parts = self.slot("parts", "i64")
        yield Assign(parts, self._number_of_parts(loop, plan))
        made = _Part(self, part, start, stop)
        places = [made.place(found) for found in plan.accumulations]
        for place in places:
            more = simplified(times(minus(parts, ONE), place.size))
            yield Allocate(place.partial, more, place.code)
        own = {*assigned_in(loop.body), loop.index, *made.own}
        captured = dict.fromkeys(
            s for s in (*reads_of(loop.body), *made.reads) if s not in own and s not in plan.sums
        )
        captured = [s for s in captured if s not in (part, start, stop)]
        private = {s for s in captured if _is_private(s, loop.body)}
        captured = [s for s in captured if s not in private]
        name = self.names.fresh(f"{self.procedure.name}_part")
        results = {s: self.slot("total", s.code) for s in plan.sums}
        before = {
            s: self.slot("before", s.code) for s, op in plan.sums.items() if op in _FROM_BEFORE
        }
        body = made.body(loop, plan.sums, before)
        params = (part, start, stop, *captured, *before.values())
        self.parts.append(Procedure(name, params, tuple(plan.sums), body))
        yield Spread(
            name, parts, loop.count, (*captured, *before), tuple(results.values()),
            tuple(plan.sums.values()),
        )  # fmt: skip
        for slot, found in results.items():
            step = plan.sums[slot]
            yield Assign(slot, found if step == "last" else Apply(step, (slot, found), slot.code))
        for place in places:
            yield from place.put_together(parts, self)

    def _number_of_parts(self, loop: For, plan: Plan) -> Expr:
        weight = _weight(loop.body, self.facts.fixed_in(loop))
        work = times(loop.count, weight)
        enough: Expr = work
        for found in plan.accumulations:
            enough = Apply("sub", (enough, times(found.size, integer(MOST_PRIVATE))), "i64")
        condition: Expr = Apply("ge", (enough, integer(LEAST_WORK)), "b1")
        for other in plan.conditions:
            condition = Apply("and", (condition, other), "b1")
        count = Apply("select", (condition, loop.count, ONE), "i64")
        return Apply("threads", (count,), "i64")


@mutable_record
class _Place:
    """Memory that a loop adds to: the first part adds there, every other one in memory of its own."""

    found: Accumulation
    pointer: Slot
    base: Slot
    partial: Slot

    @property
    def size(self) -> Expr:
        return self.found.size

    @property
    def code(self) -> Code:
        return self.found.code

    def put_together(self, parts: Slot, names: _Spreading) -> Iterator[Statement]:
        target, code = self.found.pointer, self.code
        which, index = names.slot("c", "i64"), names.slot("i", "i64")
        t = names.slot("t", code)
        at = plus(times(which, self.size), index)
        total = Apply("add", (Load(target, index, code), Load(self.partial, at, code)), code)
        inner = For(index, self.size, (Assign(t, total), Store(target, index, t)), independent=True)
        yield For(which, minus(parts, ONE), (inner,))
        yield Release(self.partial)


class _Part:
    """The procedure that does a part of a loop."""

    def __init__(self, spreading: _Spreading, part: Slot, start: Slot, stop: Slot):
        self.spreading = spreading
        self.part, self.start, self.stop = part, start, stop
        self.places: list[_Place] = []
        self.own: set[Slot] = set()
        self.reads: list[Slot] = []

    def place(self, found: Accumulation) -> _Place:
        """Where a part adds to memory."""
        name, make = found.pointer.name, self.spreading.slot
        made = _Place(found, make(name, "ptr"), make("base", "i64"), make(f"{name}_parts", "ptr"))
        self.places.append(made)
        self.own |= {made.pointer, made.base}
        self.reads += [made.partial, found.pointer, *_slots(found.size)]
        return made

    def body(
        self, loop: For, sums: dict[Slot, str], before: dict[Slot, Slot]
    ) -> tuple[Statement, ...]:
        """What the procedure does."""
        step = self.spreading.slot("step", "i64")
        statements: list[Statement] = []
        for slot, op in sums.items():
            start = before.get(slot) or Constant(_STARTS[op][slot.code], slot.code)
            statements.append(Assign(slot, start))
        statements += map(self._own_memory, self.places)
        here = Assign(loop.index, plus(self.start, step))
        inner = (here, *(self._moved(statement) for statement in loop.body))
        statements.append(For(step, minus(self.stop, self.start), inner, loop.independent))
        return tuple(statements)

    def _own_memory(self, place: _Place) -> Statement:
        """The first part adds to the memory itself, each other one to a piece that starts with zeros."""
        index = self.spreading.slot("i", "i64")
        zero = Constant(0 if place.code == "i64" else 0.0, place.code)
        first = (Assign(place.pointer, place.found.pointer), Assign(place.base, ZERO))
        cleared = Store(place.partial, plus(place.base, index), zero)
        other = (
            Assign(place.pointer, place.partial),
            Assign(place.base, times(minus(self.part, ONE), place.size)),
            For(index, place.size, (cleared,), independent=True),
        )
        return If(Apply("eq", (self.part, ZERO), "b1"), first, other)

    def _moved(self, statement: Statement) -> Statement:
        """A statement that adds to the memory of this part."""
        if not self.places:
            return statement
        changes = {
            name: self._in_expr(getattr(statement, name))
            for name in type(statement).__match_args__
            if isinstance(getattr(statement, name), (Apply, Load))
        }
        made = replace(statement, **changes)
        if isinstance(made, Store):
            place = self._place_of(made.pointer)
            if place is not None:
                made = replace(made, pointer=place.pointer, index=plus(place.base, made.index))
        blocks = {
            name: tuple(self._moved(s) for s in getattr(made, name))
            for name in ("test", "body", "then", "other")
            if hasattr(made, name)
        }
        return replace(made, **blocks) if blocks else made

    def _in_expr(self, value: Expr) -> Expr:
        match value:
            case Apply(args=args):
                return replace(value, args=tuple(map(self._in_expr, args)))
            case Load(pointer=pointer):
                place = self._place_of(pointer)
                if place is not None:
                    return replace(
                        value, pointer=place.pointer, index=plus(place.base, value.index)
                    )
                return value
            case _:
                return value

    def _place_of(self, pointer: Slot) -> _Place | None:
        return next((p for p in self.places if p.found.pointer == pointer), None)


# --- what a loop carries ------------------------------------------------------------------


def _leaves(body: Sequence[Statement]) -> bool:
    """Whether a loop may end early."""
    for statement in body:
        if isinstance(statement, BreakIf):
            return True
        if isinstance(statement, If) and (_leaves(statement.then) or _leaves(statement.other)):
            return True
    return False


def _is_private(slot: Slot, body: Sequence[Statement]) -> bool:
    """Whether memory is taken by each iteration for itself."""
    return any(isinstance(s, Allocate) and s.pointer == slot for s in each(tuple(body)))


def _in_order(slots: set[Slot]) -> list[Slot]:
    return sorted(slots, key=lambda slot: slot.name)


def _before_and_after(body: Sequence[Statement], own: set[Slot]) -> tuple[set[Slot], set[Slot]]:
    """Variables that an iteration may read before it gives them a value; those it always gives one."""
    found: set[Slot] = set()
    known: set[Slot] = set()
    _walk(body, own, known, found)
    return found, known


def _walk(body: Sequence[Statement], own: set[Slot], known: set[Slot], found: set[Slot]) -> None:
    for statement in body:
        if not isinstance(statement, While):
            read = set(reads_of((statement,), inside=False))
            found |= (read & own) - known
        match statement:
            case Assign(slot=slot):
                known.add(slot)
            case Invoke(results=results):
                known.update(results)
            case If(then=then, other=other):
                sides = [set(known), set(known)]
                for block, side in zip((then, other), sides, strict=True):
                    _walk(block, own, side, found)
                known |= sides[0] & sides[1]
            case For(index=index, body=inner):
                _walk(inner, own, {*known, index}, found)
            case While(test=test, condition=condition, body=inner):
                _walk(test, own, known, found)
                found |= {s for s in _slots(condition) if s in own and s not in known}
                _walk(inner, own, set(known), found)
            case _:
                pass


def _step_of(slot: Slot, loop: For, reads: Counter[Slot]) -> str | None:
    """How a loop adds to a variable that it does nothing else with."""
    values = values_in(loop)
    steps: set[str | None] = set()
    count = 0
    for statement in each(loop.body):
        if slot not in set(assigned_in((statement,))) or blocks_of(statement):
            continue
        value = once(statement.value, values, reads) if isinstance(statement, Assign) else None
        steps.add(_step(slot, value))
        count += 1
    (step,) = steps if len(steps) == 1 else (None,)
    return step if count == reads[slot] else None


def _step(slot: Slot, value: Expr | None) -> str | None:
    match value:
        case Apply(op=op, args=(a, b)) if (a == slot) != (b == slot):
            step = _STEPS.get(op, op)
            step = "add" if op == "sub" and a == slot else step
            known = slot.code in _STARTS.get(step, {}) or step in ("max", "min")
            return step if known else None
        case _:
            return None


def _slots(value: Expr) -> Iterator[Slot]:
    match value:
        case Slot():
            yield value
        case Apply(args=args):
            for arg in args:
                yield from _slots(arg)
        case Load(pointer=pointer, index=index):
            yield pointer
            yield from _slots(index)
        case Constant():
            return


# --- how much there is to do --------------------------------------------------------------


def _weight(body: Sequence[Statement], fixed: set[Slot]) -> Expr:
    """How much work statements are; loops count as often as is known outside of them."""
    plain, total = 0, ZERO
    for statement in body:
        match statement:
            case For(count=count, body=inner):
                known = all(slot not in fixed for slot in _slots(count))
                total = plus(
                    total, times(count if known else integer(UNKNOWN_COUNT), _weight(inner, fixed))
                )
            case While(test=test, body=inner):
                total = plus(total, times(integer(UNKNOWN_COUNT), _weight((*test, *inner), fixed)))
            case If(then=then, other=other):
                total = plus(total, _weight((*then, *other), fixed))
            case Invoke() | Multiply():
                plain += OF_A_CALL
            case _:
                plain += _work(statement)
    return plus(integer(plain), total)


_LIGHT = frozenset(
    [
        *("add", "sub", "mul", "neg", "min", "max", "abs", "fabs", "select", "outside", "address"),
        "wrapped",
        *("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "not", "xor"),
        *("shift_left", "shift_right"),
        *("add_any", "mul_any", "maximum", "minimum", "f64", "f32", "i64", "b1"),
    ]
)


def _work(statement: Statement) -> int:
    total = 1
    for load in loads_in(statement):
        total += 1 if isinstance(load, Load) or load.op in _LIGHT else OF_A_FUNCTION
    return total
