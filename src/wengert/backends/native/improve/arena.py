"""Which memory lies in the arena of a call: the records of recursive functions, and what they hold.

A record lasts longer than the procedure that makes it, and so do the lists and arrays in it. They are given up
together (`resets`), so that they can lie one after the other: taking a piece is moving a pointer.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ....ir.records import replace
from ..form import loopform as lf
from .memory_planning import with_blocks


def in_arena(procedure: lf.Procedure) -> lf.Procedure:
    """The procedure with what its records hold in the arena."""
    names = _Names(procedure.body)
    kept = {names.first(slot) for slot in _addressed(procedure)}
    ends = (*procedure.params, *procedure.results, *_with_other_ends(procedure.body))
    kept -= set(map(names.first, ends))
    taken = (s.pointer for s in lf.each(procedure.body) if isinstance(s, lf.Allocate))
    mine = {pointer for pointer in taken if names.first(pointer) in kept}
    return replace(procedure, body=tuple(_placed(procedure.body, mine))) if mine else procedure


def is_elsewhere(statements: Sequence[lf.Statement], pointers: Collection[lf.Slot]) -> bool:
    """Whether memory that these variables stand for cannot lie in the arena."""
    names = _Names(statements)
    elsewhere = {names.first(slot) for slot in _with_other_ends(statements)}
    return not elsewhere.isdisjoint(map(names.first, pointers))


class _Names:
    """Which variables may stand for the same memory."""

    def __init__(self, statements: Sequence[lf.Statement]):
        self._same: dict[lf.Slot, lf.Slot] = {}
        for statement in lf.each(tuple(statements)):
            match statement:
                case lf.Assign(slot=slot, value=lf.Slot(code="ptr") as other):
                    a, b = self.first(slot), self.first(other)
                    if a != b:
                        self._same[a] = b
                case _:
                    pass

    def first(self, slot: lf.Slot) -> lf.Slot:
        """One of the variables, the same for all of them."""
        while slot in self._same:
            slot = self._same[slot]
        return slot


def _addressed(procedure: lf.Procedure) -> Iterator[lf.Slot]:
    """The memory whose address is kept."""
    for statement in lf.each(procedure.body):
        match statement:
            case lf.Assign(value=lf.Apply(op="address", args=(lf.Slot() as pointer,))):
                yield pointer
            case _:
                pass


def _with_other_ends(statements: Sequence[lf.Statement]) -> Iterator[lf.Slot]:
    """The memory that is given by calls, is released by itself, or moves."""
    for statement in lf.each(tuple(statements)):
        match statement:
            case lf.Release(pointer=pointer) | lf.Enlarge(pointer=pointer):
                yield pointer
            case lf.Invoke(results=results) | lf.Spread(results=results):
                yield from results
            case _:
                pass


def _placed(statements: Sequence[lf.Statement], mine: set[lf.Slot]) -> Iterator[lf.Statement]:
    for statement in statements:
        if isinstance(statement, lf.Allocate) and statement.pointer in mine:
            yield replace(statement, in_arena=True)
        else:
            yield with_blocks(statement, lambda block: _placed(block, mine))
