"""The loop form made ready to be read: a number that is used once stands where it is used."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ....ir.records import replace
from . import loopform as lf

LONGEST = 12
"""How many operations an expression may have before it is given a name."""
_WRITES = (
    lf.Store, lf.Copy, lf.Release, lf.Reset, lf.Enlarge, lf.For, lf.While, lf.If, lf.Invoke, lf.External, lf.Spread,
    lf.Allocate, lf.Multiply,
)  # fmt: skip


def readable(procedure: lf.Procedure) -> lf.Procedure:
    """The procedure with numbers that are used once put where they are used."""
    procedure = without_unused(procedure)
    return replace(procedure, body=_Folding(procedure).block(procedure.body))


def without_unused(procedure: lf.Procedure) -> lf.Procedure:
    """The procedure without numbers that nothing uses."""
    while True:
        used = set(procedure.results)
        for statement in lf.each(procedure.body):
            read = (
                (statement.value,)
                if isinstance(statement, lf.Assign)
                else lf.expressions_of(statement)
            )
            used.update(slot for value in read for slot in lf.slots_in(value))
        made = replace(procedure, body=_only(procedure.body, used))
        if sum(1 for _ in lf.each(made.body)) == sum(1 for _ in lf.each(procedure.body)):
            return made
        procedure = made


def _only(statements: Sequence[lf.Statement], used: set[lf.Slot]) -> tuple[lf.Statement, ...]:
    kept: list[lf.Statement] = []
    for statement in statements:
        if isinstance(statement, lf.Assign) and statement.slot not in used:
            continue
        blocks = {
            name: _only(getattr(statement, name), used)
            for name in ("body", "test", "then", "other")
            if hasattr(statement, name)
        }
        made = replace(statement, **blocks) if blocks else statement
        if not (isinstance(made, lf.If) and not made.then and not made.other):
            kept.append(made)
    return tuple(kept)


class _Folding:
    def __init__(self, procedure: lf.Procedure):
        self.uses: Counter[lf.Slot] = Counter(procedure.results)
        self.assignments: Counter[lf.Slot] = Counter(procedure.params)
        for statement in lf.each(procedure.body):
            if isinstance(statement, lf.Assign):
                self.assignments[statement.slot] += 1
            elif isinstance(statement, lf.For):
                self.assignments[statement.index] += 1
            elif isinstance(statement, (lf.Invoke, lf.Spread)):
                self.assignments.update(statement.results)
            for value in lf.expressions_of(statement):
                self.uses.update(lf.slots_in(value))
        # the target of an assignment is listed with what is read
        for slot, count in self.assignments.items():
            if count == 1 and slot not in procedure.params:
                self.uses[slot] -= 1

    def block(self, statements: Sequence[lf.Statement]) -> tuple[lf.Statement, ...]:
        waiting: dict[lf.Slot, lf.Assign] = {}
        result: list[lf.Statement] = []
        for number, statement in enumerate(statements):
            if self._can_wait(statement, statements[number + 1 :]):
                assert isinstance(statement, lf.Assign)
                value = self._put_in(statement.value, waiting)
                waiting[statement.slot] = lf.Assign(statement.slot, value)
                continue
            made = self._filled(statement, waiting)
            self._flush(statement, waiting, result)
            result.append(made)
        return (*result, *waiting.values())

    def _can_wait(self, statement: lf.Statement, rest: Sequence[lf.Statement]) -> bool:
        if not isinstance(statement, lf.Assign) or not statement.slot.name.startswith("t"):
            return False
        slot = statement.slot
        if self.uses[slot] != 1 or self.assignments[slot] != 1:
            return False
        if _size(statement.value) > LONGEST:
            return False
        return any(slot in lf.slots_in(v) for later in rest for v in lf.expressions_of(later))

    def _flush(
        self, statement: lf.Statement, waiting: dict[lf.Slot, lf.Assign], result: list[lf.Statement]
    ) -> None:
        """Write down what may not wait beyond a statement."""
        changed = {statement.slot} if isinstance(statement, lf.Assign) else set[lf.Slot]()
        writes = isinstance(statement, _WRITES)
        for slot, assign in list(waiting.items()):
            if writes or not changed.isdisjoint(lf.slots_in(assign.value)):
                result.append(waiting.pop(slot))

    def _put_in(self, value: lf.Expr, waiting: dict[lf.Slot, lf.Assign]) -> lf.Expr:
        match value:
            case lf.Slot() if value in waiting:
                return waiting.pop(value).value
            case lf.Apply(op=op, args=args, code=code):
                return lf.Apply(op, tuple(self._put_in(arg, waiting) for arg in args), code)
            case lf.Load(pointer=pointer, index=index, code=code):
                return lf.Load(pointer, self._put_in(index, waiting), code)
            case _:
                return value

    def _filled(self, statement: lf.Statement, waiting: dict[lf.Slot, lf.Assign]) -> Any:
        changes: dict[str, Any] = {}
        for name, value in _parts(statement).items():
            if isinstance(value, (lf.Slot, lf.Apply, lf.Load)) and not _is_target(statement, name):
                changes[name] = self._put_in(value, waiting)
        if isinstance(statement, (lf.Invoke, lf.Spread, lf.External)):
            changes["args"] = tuple(self._put_in(arg, waiting) for arg in statement.args)
        inner = {
            name: self.block(getattr(statement, name))
            for name in ("body", "test", "then", "other")
            if hasattr(statement, name)
        }
        return replace(statement, **changes, **inner)


def _is_target(statement: lf.Statement, name: str) -> bool:
    """Whether a part of a statement is a variable that it changes or that names memory."""
    return name in ("slot", "pointer", "target", "source", "left", "right") or (
        isinstance(statement, lf.For) and name == "index"
    )


def _parts(statement: lf.Statement) -> Mapping[str, Any]:
    return {name: getattr(statement, name) for name in type(statement).__match_args__}


def _size(value: lf.Expr) -> int:
    match value:
        case lf.Apply(args=args):
            return 1 + sum(map(_size, args))
        case lf.Load(index=index):
            return 1 + _size(index)
        case _:
            return 0
