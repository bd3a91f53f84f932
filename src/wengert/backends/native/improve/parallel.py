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
from ..form import loopform as lf
from ..values.emitter import Names, simplified
from ..values.values import ONE, ZERO, integer, minus, plus, times
from .facts import Facts
from .independence import Accumulation, conditions_of, reads_of
from .steps import STARTS, before_and_after, in_order, is_private, leaves, step_of
from .work import weight

LEAST_WORK = 60_000
"""Work, in additions or so, from which on threads are worth waking."""
MOST_PRIVATE = 8
"""How many times as much work as elements there must be where each thread adds up in memory of its own."""

_FROM_BEFORE = frozenset(("max", "min", "last"))
"""Steps that each part may begin with what there was before the loop."""


def spread(
    procedure: lf.Procedure,
    others: Sequence[lf.Procedure],
    sizes: dict[lf.Slot, lf.Expr],
    names: Names,
) -> tuple[lf.Procedure, tuple[lf.Procedure, ...]]:
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

    sums: dict[lf.Slot, str]
    accumulations: tuple[Accumulation, ...]
    conditions: tuple[lf.Expr, ...]


class _Spreading:
    def __init__(
        self,
        procedure: lf.Procedure,
        others: Sequence[lf.Procedure],
        sizes: dict[lf.Slot, lf.Expr],
        names: Names,
    ):
        self.procedure = procedure
        self.facts = Facts(procedure, others, sizes)
        self.names = names
        self.parts: list[lf.Procedure] = []
        self._reads = Counter(reads_of(procedure.body))
        self._reads.update(procedure.results)

    def block(self, statements: Sequence[lf.Statement]) -> Iterator[lf.Statement]:
        for statement in statements:
            plan = self._plan(statement) if isinstance(statement, lf.For) else None
            if plan is not None:
                assert isinstance(statement, lf.For)
                yield from self._spread(statement, plan)
            elif lf.blocks_of(statement):
                yield self._inside(statement)
            else:
                yield statement

    def _inside(self, statement: lf.Statement) -> lf.Statement:
        match statement:
            case lf.For(body=body) | lf.While(body=body):
                return replace(statement, body=tuple(self.block(body)))
            case lf.If(then=then, other=other):
                return replace(
                    statement, then=tuple(self.block(then)), other=tuple(self.block(other))
                )
            case _:
                return statement

    # --- whether, and how -----------------------------------------------------------------

    def _plan(self, loop: lf.For) -> Plan | None:
        if leaves(loop.body) or self.facts.keeps(loop):
            return None
        sums = self._sums(loop)
        if sums is None:
            return None
        found = conditions_of(loop, self.facts)
        if found is None:
            return None
        conditions, accumulations = found
        return Plan(sums, accumulations, conditions)

    def _sums(self, loop: lf.For) -> dict[lf.Slot, str] | None:
        """The running sums of a loop; None if it carries something else."""
        own = set(lf.assigned_in(loop.body)) | {loop.index}
        inside = Counter(reads_of(loop.body))
        carried, given = before_and_after(loop.body, own - {loop.index})
        used_after = {slot for slot in own if self._reads[slot] > inside[slot]}
        sums = dict.fromkeys(in_order(used_after & given - carried), "last")
        for slot in in_order(carried | (used_after - given)):
            step = step_of(slot, loop, inside)
            if step is None:
                return None
            sums[slot] = step
        return sums

    # --- writing it -----------------------------------------------------------------------

    def slot(self, hint: str, code: lf.Code) -> lf.Slot:
        """A new variable."""
        return lf.Slot(self.names.fresh(hint), code)

    def _spread(self, loop: lf.For, plan: Plan) -> Iterator[lf.Statement]:
        part, start, stop = (self.slot(hint, "i64") for hint in ("part", "start", "stop"))
        parts = self.slot("parts", "i64")
        yield lf.Assign(parts, self._number_of_parts(loop, plan))
        made = _Part(self, part, start, stop)
        places = [made.place(found) for found in plan.accumulations]
        for place in places:
            more = simplified(times(minus(parts, ONE), place.size))
            yield lf.Allocate(place.partial, more, place.code)
        own = {*lf.assigned_in(loop.body), loop.index, *made.own}
        captured = dict.fromkeys(
            s for s in (*reads_of(loop.body), *made.reads) if s not in own and s not in plan.sums
        )
        captured = [s for s in captured if s not in (part, start, stop)]
        private = {s for s in captured if is_private(s, loop.body)}
        captured = [s for s in captured if s not in private]
        name = self.names.fresh(f"{self.procedure.name}_part")
        results = {s: self.slot("total", s.code) for s in plan.sums}
        before = {
            s: self.slot("before", s.code) for s, op in plan.sums.items() if op in _FROM_BEFORE
        }
        body = made.body(loop, plan.sums, before)
        params = (part, start, stop, *captured, *before.values())
        self.parts.append(lf.Procedure(name, params, tuple(plan.sums), body))
        yield lf.Spread(
            name, parts, loop.count, (*captured, *before), tuple(results.values()),
            tuple(plan.sums.values()),
        )  # fmt: skip
        for slot, found in results.items():
            step = plan.sums[slot]
            yield lf.Assign(
                slot, found if step == "last" else lf.Apply(step, (slot, found), slot.code)
            )
        for place in places:
            yield from place.put_together(parts, self)

    def _number_of_parts(self, loop: lf.For, plan: Plan) -> lf.Expr:
        work = times(loop.count, weight(loop.body, self.facts.fixed_in(loop)))
        enough: lf.Expr = work
        for found in plan.accumulations:
            enough = lf.Apply("sub", (enough, times(found.size, integer(MOST_PRIVATE))), "i64")
        condition: lf.Expr = lf.Apply("ge", (enough, integer(LEAST_WORK)), "b1")
        for other in plan.conditions:
            condition = lf.Apply("and", (condition, other), "b1")
        count = lf.Apply("select", (condition, loop.count, ONE), "i64")
        return lf.Apply("threads", (count,), "i64")


@mutable_record
class _Place:
    """Memory that a loop adds to: the first part adds there, every other one in memory of its own."""

    found: Accumulation
    pointer: lf.Slot
    base: lf.Slot
    partial: lf.Slot

    @property
    def size(self) -> lf.Expr:
        return self.found.size

    @property
    def code(self) -> lf.Code:
        return self.found.code

    def put_together(self, parts: lf.Slot, names: _Spreading) -> Iterator[lf.Statement]:
        target, code = self.found.pointer, self.code
        which, index = names.slot("c", "i64"), names.slot("i", "i64")
        t = names.slot("t", code)
        at = plus(times(which, self.size), index)
        total = lf.Apply(
            "add", (lf.Load(target, index, code), lf.Load(self.partial, at, code)), code
        )
        inner = lf.For(
            index, self.size, (lf.Assign(t, total), lf.Store(target, index, t)), independent=True
        )
        yield lf.For(which, minus(parts, ONE), (inner,))
        yield lf.Release(self.partial)


class _Part:
    """The procedure that does a part of a loop."""

    def __init__(self, spreading: _Spreading, part: lf.Slot, start: lf.Slot, stop: lf.Slot):
        self.spreading = spreading
        self.part, self.start, self.stop = part, start, stop
        self.places: list[_Place] = []
        self.own: set[lf.Slot] = set()
        self.reads: list[lf.Slot] = []

    def place(self, found: Accumulation) -> _Place:
        """Where a part adds to memory."""
        name, make = found.pointer.name, self.spreading.slot
        made = _Place(found, make(name, "ptr"), make("base", "i64"), make(f"{name}_parts", "ptr"))
        self.places.append(made)
        self.own |= {made.pointer, made.base}
        self.reads += [made.partial, found.pointer, *lf.slots_in(found.size)]
        return made

    def body(
        self, loop: lf.For, sums: dict[lf.Slot, str], before: dict[lf.Slot, lf.Slot]
    ) -> tuple[lf.Statement, ...]:
        """What the procedure does."""
        step = self.spreading.slot("step", "i64")
        statements: list[lf.Statement] = []
        for slot, op in sums.items():
            start = before.get(slot) or lf.Constant(STARTS[op][slot.code], slot.code)
            statements.append(lf.Assign(slot, start))
        statements += map(self._own_memory, self.places)
        here = lf.Assign(loop.index, plus(self.start, step))
        inner = (here, *(self._moved(statement) for statement in loop.body))
        statements.append(lf.For(step, minus(self.stop, self.start), inner, loop.independent))
        return tuple(statements)

    def _own_memory(self, place: _Place) -> lf.Statement:
        """The first part adds to the memory itself, each other one to a piece that starts with zeros."""
        index = self.spreading.slot("i", "i64")
        zero = lf.Constant(0 if place.code == "i64" else 0.0, place.code)
        first = (lf.Assign(place.pointer, place.found.pointer), lf.Assign(place.base, ZERO))
        cleared = lf.Store(place.partial, plus(place.base, index), zero)
        other = (
            lf.Assign(place.pointer, place.partial),
            lf.Assign(place.base, times(minus(self.part, ONE), place.size)),
            lf.For(index, place.size, (cleared,), independent=True),
        )
        return lf.If(lf.Apply("eq", (self.part, ZERO), "b1"), first, other)

    def _moved(self, statement: lf.Statement) -> lf.Statement:
        """A statement that adds to the memory of this part."""
        if not self.places:
            return statement
        changes = {
            name: self._in_expr(getattr(statement, name))
            for name in type(statement).__match_args__
            if isinstance(getattr(statement, name), (lf.Apply, lf.Load))
        }
        made = replace(statement, **changes)
        if isinstance(made, lf.Store):
            place = self._place_of(made.pointer)
            if place is not None:
                made = replace(made, pointer=place.pointer, index=plus(place.base, made.index))
        blocks = {
            name: tuple(self._moved(s) for s in getattr(made, name))
            for name in ("test", "body", "then", "other")
            if hasattr(made, name)
        }
        return replace(made, **blocks) if blocks else made

    def _in_expr(self, value: lf.Expr) -> lf.Expr:
        match value:
            case lf.Apply(args=args):
                return replace(value, args=tuple(map(self._in_expr, args)))
            case lf.Load(pointer=pointer):
                place = self._place_of(pointer)
                if place is not None:
                    return replace(
                        value, pointer=place.pointer, index=plus(place.base, value.index)
                    )
                return value
            case _:
                return value

    def _place_of(self, pointer: lf.Slot) -> _Place | None:
        return next((p for p in self.places if p.found.pointer == pointer), None)
