"""What is read from memory that nobody writes to any more is read where it is needed: in one branch, perhaps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from ....ir.records import replace
from ..form import loopform as lf
from .memory_planning import with_blocks


def sunk(procedure: lf.Procedure, lasting: Collection[lf.Slot]) -> lf.Procedure:
    """The procedure with what is computed from lasting memory moved into the only branch that reads it.

    Args:
        procedure: the procedure.
        lasting: pointers to memory that nobody writes to any more.
    """
    if not any(isinstance(s, lf.Assign) and s.slot in lasting for s in lf.each(procedure.body)):
        return procedure
    return replace(procedure, body=_Sinking(procedure, lasting).block(procedure.body))


class _Sinking:
    def __init__(self, procedure: lf.Procedure, lasting: Collection[lf.Slot]):
        self._found = _found_in(procedure, lasting)
        self._writes = Counter(lf.assigned_in(procedure.body))
        self._writes.update(procedure.params)
        self._reads = Counter(s for statement in procedure.body for s in _read_in(statement))
        self._reads.update(procedure.results)

    def block(self, statements: Sequence[lf.Statement]) -> tuple[lf.Statement, ...]:
        made: list[lf.Statement] = []
        for statement in reversed(statements):
            place = self._branch(statement, made)
            if place is None:
                made.insert(0, statement)
            else:
                number, name = place
                branch = made[number]
                moved = (statement, *getattr(branch, name))
                made[number] = replace(branch, **{name: moved})
        return tuple(with_blocks(statement, self.block) for statement in made)

    def _branch(
        self, statement: lf.Statement, after: Sequence[lf.Statement]
    ) -> tuple[int, str] | None:
        """The branch that is all that reads what a statement computes: of which statement after it, and its name."""
        if not isinstance(statement, lf.Assign) or not self._may_move(statement):
            return None
        slot = statement.slot
        for number, reader in enumerate(after):
            if isinstance(reader, lf.If):
                for name in ("then", "other"):
                    inside = (s for each_ in getattr(reader, name) for s in _read_in(each_))
                    if sum(read == slot for read in inside) == self._reads[slot]:
                        return number, name
        return None

    def _may_move(self, statement: lf.Assign) -> bool:
        operands = {statement.slot, *lf.slots_in(statement.value)}
        once = all(self._writes[slot] == 1 for slot in operands)
        return once and statement.slot in self._found and self._reads[statement.slot] > 0


def _found_in(procedure: lf.Procedure, lasting: Collection[lf.Slot]) -> set[lf.Slot]:
    """The pointers to lasting memory, and what is read there and computed from it alone."""
    found = set(lasting)
    for statement in lf.each(procedure.body):
        if isinstance(statement, lf.Assign) and _is_from(statement.value, found):
            found.add(statement.slot)
    return found


def _is_from(value: lf.Expr, found: Collection[lf.Slot]) -> bool:
    match value:
        case lf.Slot():
            return value in found
        case lf.Load(pointer=pointer, index=index):
            return pointer in found and isinstance(index, lf.Constant)
        case lf.Apply(args=args):
            return all(isinstance(arg, lf.Constant) or _is_from(arg, found) for arg in args)
        case lf.Constant():
            return False


def _read_in(statement: lf.Statement) -> list[lf.Slot]:
    """The variables that a statement reads, and those inside it, as often as they do."""
    return [
        slot
        for s in lf.each((statement,))
        for value in _values_of(s)
        for slot in lf.slots_in(value)
    ]


def _values_of(statement: lf.Statement) -> Iterator[lf.Expr]:
    if isinstance(statement, lf.Assign):
        yield statement.value
    else:
        yield from lf.expressions_of(statement)
