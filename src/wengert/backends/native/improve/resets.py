"""Where the arena is reset: what an iteration or a call has kept, and nobody can reach afterwards, is given up.

In: the procedures of a program, with records in the arena. Out: the same, in which the body of a loop, or a
procedure, notes how far the arena is filled and resets it to there in the end, if no address of what it has put
there gets out: in a variable that is known outside, in a result, or in memory that was there before. What an
address may have come to is followed through everything that can hold one: pointers, and integers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from ....ir.records import replace, value_record
from ..form import loopform as lf
from ..values.emitter import Names
from .memory_planning import with_blocks


@value_record
class _Ways:
    """What a procedure does with addresses.

    Attributes:
        keeps: whether it leaves anything in the arena.
        gives: the results, by number, that may lead to what it has put into the arena.
        passes: the results that may be what it is given.
        hides: whether what it is given, or has put into the arena, may end up in other memory.
    """

    keeps: bool
    gives: frozenset[int] = frozenset()
    passes: frozenset[int] = frozenset()
    hides: bool = False


def with_resets(procedures: Sequence[lf.Procedure], names: Names) -> tuple[lf.Procedure, ...]:
    """The procedures with the arena reset where nothing in it can be reached any more.

    The first one is what the program is called by: after it, all memory is released.
    """
    if not any(_puts(s) for p in procedures for s in lf.each(p.body)):
        return tuple(procedures)
    ways = _ways_of(procedures)
    return tuple(_Resetting(p, ways, names).procedure() for p in procedures)


def have_resets(procedures: Sequence[lf.Procedure]) -> bool:
    """Whether the arena is reset anywhere."""
    return any(isinstance(s, lf.Reset) for p in procedures for s in lf.each(p.body))


def _puts(statement: lf.Statement) -> bool:
    return isinstance(statement, lf.Allocate) and statement.in_arena


def _keeps(statements: Sequence[lf.Statement], ways: dict[str, _Ways]) -> bool:
    """Whether anything is left in the arena."""
    return any(
        _puts(s) or (isinstance(s, lf.Invoke) and ways[s.function].keeps)
        for s in lf.each(tuple(statements))
    )


# --- what becomes of addresses ------------------------------------------------------------


def _ways_of(procedures: Sequence[lf.Procedure]) -> dict[str, _Ways]:
    """The ways of all procedures: from nothing on, until no more is found."""
    ways = {p.name: _Ways(keeps=False) for p in procedures}
    while True:
        found = {p.name: _ways(p, ways) for p in procedures}
        if found == ways:
            return _without_what_is_reset(procedures, ways)
        ways = found


def _ways(procedure: lf.Procedure, ways: dict[str, _Ways]) -> _Ways:
    given = {slot for slot in procedure.params if _may_lead(slot)}
    own = _Following(procedure.body, ways)
    all_ = _Following(procedure.body, ways, given)
    return _Ways(
        keeps=_keeps(procedure.body, ways),
        gives=_numbers(procedure.results, own.leading),
        passes=_numbers(procedure.results, all_.leading),
        hides=all_.gets_out(),
    )


def _numbers(results: Sequence[lf.Slot], leading: set[lf.Slot]) -> frozenset[int]:
    return frozenset(k for k, slot in enumerate(results) if slot in leading)


def _without_what_is_reset(
    procedures: Sequence[lf.Procedure], ways: dict[str, _Ways]
) -> dict[str, _Ways]:
    """The ways of procedures, those that reset the arena leaving nothing there."""
    resetting = {p.name for p in procedures[1:] if ways[p.name].keeps and _ends_with_it(p, ways)}
    return {
        name: replace(way, keeps=way.keeps and name not in resetting) for name, way in ways.items()
    }


def _ends_with_it(procedure: lf.Procedure, ways: dict[str, _Ways]) -> bool:
    """Whether nothing can reach what a procedure has put into the arena once it has returned."""
    own = _Following(procedure.body, ways)
    return not own.gets_out() and own.leading.isdisjoint(procedure.results)


def _may_lead(value: lf.Expr) -> bool:
    """Whether a value may be an address, or the place of one."""
    return value.code in ("i64", "ptr")


class _Following:
    """Where the addresses of what statements put into the arena may get to.

    Attributes:
        leading: the variables that may hold them.
    """

    def __init__(
        self,
        statements: Sequence[lf.Statement],
        ways: dict[str, _Ways],
        given: Collection[lf.Slot] = (),
    ):
        self._all = list(lf.each(tuple(statements)))
        self._ways = ways
        self._own = {s.pointer for s in self._all if isinstance(s, lf.Allocate) and s.in_arena}
        self.leading = {*given, *self._own}
        before = -1
        while len(self.leading) > before:
            before = len(self.leading)
            for statement in self._all:
                self.leading.update(self._led_to(statement))

    def leads(self, value: lf.Expr) -> bool:
        return _may_lead(value) and any(slot in self.leading for slot in lf.slots_in(value))

    def gets_out(self) -> bool:
        """Whether memory may hold them that was there before, or that lasts longer."""
        return any(map(self._hides, self._all))

    def _led_to(self, statement: lf.Statement) -> Iterator[lf.Slot]:
        match statement:
            case lf.Assign(slot=slot, value=value):
                if self.leads(value):
                    yield slot
            case lf.Invoke(function=function, args=args, results=results):
                ways = self._ways[function]
                numbers = ways.gives | (ways.passes if any(map(self.leads, args)) else frozenset())
                yield from (results[k] for k in numbers)
            case lf.Spread(args=args, results=results):
                if any(map(self.leads, args)):
                    yield from filter(_may_lead, results)
            case _:
                pass

    def _hides(self, statement: lf.Statement) -> bool:
        match statement:
            case lf.Store(pointer=pointer, value=value):
                return pointer not in self._own and self.leads(value)
            case lf.Copy(target=target, source=source, code="i64"):
                return target not in self._own and source in self.leading
            case lf.Invoke(function=function, args=args):
                return self._ways[function].hides and any(map(self.leads, args))
            case lf.Spread(args=args):
                return any(map(self.leads, args))
            case _:
                return False


# --- writing ------------------------------------------------------------------------------


class _Resetting:
    """One procedure."""

    def __init__(self, procedure: lf.Procedure, ways: dict[str, _Ways], names: Names):
        self._procedure = procedure
        self._ways = ways
        self._names = names
        self._mentions = Counter(procedure.results)
        self._mentions.update(_mentioned(procedure.body))

    def procedure(self) -> lf.Procedure:
        p, ways = self._procedure, self._ways
        body = tuple(map(self._statement, p.body))
        if _keeps(p.body, ways) and not ways[p.name].keeps:
            body = self._reset(body)
        return replace(p, body=body)

    def _statement(self, statement: lf.Statement) -> lf.Statement:
        made = with_blocks(statement, lambda block: map(self._statement, block))
        match made:
            case lf.For(body=body) if self._can_end(body):
                return replace(made, body=self._reset(body))
            case lf.While(test=test, body=body) if self._can_end((*test, *body)):
                return self._while_reset(made)
            case _:
                return made

    def _can_end(self, body: Sequence[lf.Statement]) -> bool:
        """Whether what an iteration puts into the arena is of no use when it is over."""
        if not _keeps(body, self._ways):
            return False
        found = _Following(body, self._ways)
        inside = Counter(_mentioned(body))
        stays = all(inside[slot] == self._mentions[slot] for slot in found.leading)
        return stays and not found.gets_out()

    def _reset(self, body: Sequence[lf.Statement]) -> tuple[lf.Statement, ...]:
        place = lf.Slot(self._names.fresh("mark"), "ptr")
        return (lf.Mark(place), *body, lf.Reset(place))

    def _while_reset(self, loop: lf.While) -> lf.While:
        """A loop whose condition may keep something, too."""
        mark, *body, reset = self._reset(loop.body)
        if _keeps(loop.test, self._ways):
            return replace(loop, test=(mark, *loop.test), body=(*body, reset))
        return replace(loop, body=(mark, *body, reset))


def _mentioned(statements: Sequence[lf.Statement]) -> Iterator[lf.Slot]:
    """The variables that statements read or give values to, as often as they do."""
    for statement in lf.each(tuple(statements)):
        for value in lf.expressions_of(statement):
            yield from lf.slots_in(value)
        if isinstance(statement, (lf.Invoke, lf.Spread)):
            yield from statement.results
