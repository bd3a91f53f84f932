"""Calls pass what differs.

In: the procedures of a program. Out: the same program without parameters that every call gives the same number, or the
same as another parameter. A view is passed as a pointer, an offset, sizes and
strides; a recursive function hands most of them on as they are, and each takes a register.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ....ir.records import replace
from ..form import loopform as lf
from ..form.loopform import each
from ..values.emitter import simplified
from ..values.values import plus, times
from .memory_planning import with_blocks


def with_lean_calls(procedures: Sequence[lf.Procedure]) -> tuple[lf.Procedure, ...]:
    """The procedures of a program, of which the first is called from outside."""
    called = {call.function for p in procedures for call in _calls(p)}
    spread = {s.function for p in procedures for s in each(p.body) if isinstance(s, lf.Spread)}
    changeable = called - spread - {procedures[0].name}
    program, before = tuple(procedures), -1
    while before != (before := sum(len(p.params) for p in program)):
        program = _changed(program, {p.name: p for p in program if p.name in changeable})
    return program


def _calls(procedure: lf.Procedure) -> list[lf.Invoke]:
    return [s for s in each(procedure.body) if isinstance(s, lf.Invoke)]


def _changed(
    procedures: Sequence[lf.Procedure], free: Mapping[str, lf.Procedure]
) -> tuple[lf.Procedure, ...]:
    known = _Arguments(procedures, free).known()
    kept = {
        name: [k for k, slot in enumerate(p.params) if slot not in known[name]]
        for name, p in free.items()
    }
    made: list[lf.Procedure] = []
    for p in procedures:
        body = _Change(p, known.get(p.name, {}), kept).block(p.body)
        params = [p.params[k] for k in kept[p.name]] if p.name in kept else p.params
        made.append(replace(p, params=tuple(params), body=tuple(body)))
    return tuple(made)


class _Arguments:
    """What the calls of a program pass."""

    def __init__(self, procedures: Sequence[lf.Procedure], free: Mapping[str, lf.Procedure]):
        self.free = free
        self.fixed = {p.name: {*p.params} - {*_targets(p)} for p in procedures}
        self.calls = {
            name: [(p.name, c.args) for p in procedures for c in _calls(p) if c.function == name]
            for name in free
        }
        self.groups: dict[str, dict[lf.Slot, Any]] = {
            name: {slot: slot.code for slot in p.params if slot in self.fixed[name]}
            for name, p in free.items()
        }
        """A parameter's group: those may be the same that are in one. There are more groups each time round."""

    def known(self) -> dict[str, dict[lf.Slot, lf.Expr]]:
        """For each procedure what stands for parameters of it: a constant, or another parameter."""
        count = -1
        while count != (count := sum(len({*each.values()}) for each in self.groups.values())):
            self.groups = {name: self._refined(name) for name in self.free}
        return {name: dict(self._standing_for(name)) for name in self.free}

    def _refined(self, name: str) -> dict[lf.Slot, Any]:
        groups = self.groups[name]
        passed = {
            slot: (groups[slot], *(self._number(caller, args[k]) for caller, args in self.calls[name]))
            for k, slot in enumerate(self.free[name].params)
            if slot in groups
        }  # fmt: skip
        numbers: dict[Any, int] = {}
        return {slot: numbers.setdefault(key, len(numbers)) for slot, key in passed.items()}

    def _number(self, caller: str, value: lf.Expr) -> Any:
        """What two arguments have in common that are the same."""
        return (
            self.groups.get(caller, {}).get(value, value) if isinstance(value, lf.Slot) else value
        )

    def _standing_for(self, name: str) -> Iterator[tuple[lf.Slot, lf.Expr]]:
        first: dict[Any, lf.Slot] = {}
        for k, slot in enumerate(self.free[name].params):
            if slot not in self.groups[name]:
                continue
            other = first.setdefault(self.groups[name][slot], slot)
            constant = self._constant(name, k, slot)
            if constant is not None:
                yield slot, constant
            elif other != slot:
                yield slot, other

    def _constant(self, name: str, k: int, slot: lf.Slot) -> lf.Constant | None:
        """The number that all calls pass, but for those which hand on what the caller has been given."""
        own = [args[k] for caller, args in self.calls[name] if (caller, args[k]) != (name, slot)]
        first = own[0] if own else None
        return first if isinstance(first, lf.Constant) and own.count(first) == len(own) else None


def _targets(procedure: lf.Procedure) -> Iterator[lf.Slot]:
    """The variables that a procedure changes."""
    yield from lf.assigned_in(procedure.body)
    for statement in each(procedure.body):
        if isinstance(statement, (lf.Allocate, lf.Enlarge)):
            yield statement.pointer


class _Change:
    """Puts what is known of parameters in their places, and passes only what calls need."""

    def __init__(
        self,
        procedure: lf.Procedure,
        known: Mapping[lf.Slot, lf.Expr],
        kept: Mapping[str, Sequence[int]],
    ):
        self.known = dict(known)
        self.kept = kept
        self.times_given = Counter([*procedure.params, *_targets(procedure)])
        self.results = procedure.results

    def block(self, statements: Sequence[lf.Statement]) -> Iterator[lf.Statement]:
        for statement in statements:
            made = self._statement(statement)
            if made == statement or not self._is_another_name(made):
                yield made

    def _is_another_name(self, statement: lf.Statement) -> bool:
        """Whether nothing is left of a number but one that has a name, by which it is called from now on."""
        if not isinstance(statement, lf.Assign) or not isinstance(
            statement.value, (lf.Slot, lf.Constant)
        ):
            return False
        slot, value = statement.slot, statement.value
        if slot in self.results or self.times_given[slot] > 1:
            return False
        if isinstance(value, lf.Slot) and self.times_given[value] > 1:
            return False
        self.known[slot] = value
        return True

    def _statement(self, statement: lf.Statement) -> lf.Statement:
        changes: dict[str, Any] = {}
        for name in type(statement).__match_args__:
            value = getattr(statement, name)
            if isinstance(value, (lf.Slot, lf.Apply, lf.Load)):
                changes[name] = self.expr(value)
            elif name == "args":
                changes[name] = tuple(map(self.expr, value))
        made = replace(statement, **changes) if changes else statement
        if isinstance(made, lf.Invoke) and made.function in self.kept:
            made = replace(made, args=tuple(made.args[k] for k in self.kept[made.function]))
        return with_blocks(made, self.block)

    def expr(self, value: lf.Expr) -> lf.Expr:
        match value:
            case lf.Slot():
                return self.known.get(value, value)
            case lf.Load(pointer=pointer, index=index):
                pointer = self.known.get(pointer, pointer)
                assert isinstance(pointer, lf.Slot)
                return replace(value, pointer=pointer, index=self.expr(index))
            case lf.Apply(op=op, args=args, code=code):
                args = tuple(map(self.expr, args))
                if code == "i64" and op in _SUMS:
                    return _SUMS[op](*args)
                return simplified(replace(value, args=args))
            case _:
                return value


_SUMS = {"add": plus, "mul": times}
