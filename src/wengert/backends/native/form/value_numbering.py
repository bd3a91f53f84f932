"""Which variables of a procedure hold the same number, by numbering what they hold.

Two values with the same number are the same in every run; values with different numbers may be, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import loopform as lf


class Numbering:
    """The numbers of what a procedure computes.

    Attributes:
        stored: the number of the value of each `Store`, by the identity of the statement.
        passed: the numbers of the arguments of each `Invoke`, likewise.
    """

    def __init__(self, procedure: lf.Procedure):
        self._numbers: dict[Any, int] = {}
        self._exprs: dict[int, lf.Expr | None] = {}
        self._held: dict[lf.Slot, int] = {}
        self.stored: dict[int, int] = {}
        self.passed: dict[int, tuple[int, ...]] = {}
        self._params = {p: self._number(("given", p), p) for p in procedure.params}
        self._held.update(self._params)
        self._walk(procedure.body)

    def of_param(self, param: lf.Slot) -> int:
        """The number of what a parameter holds when the procedure starts."""
        return self._params[param]

    def computed_from(self, number: int, params: set[lf.Slot]) -> lf.Expr | None:
        """An expression of a value in some parameters as they are when the procedure starts; None if there is none."""
        expr = self._exprs[number]
        return expr if expr is not None and _reads_only(expr, params) else None

    # --- numbers --------------------------------------------------------------------------

    def _number(self, key: Any, expr: lf.Expr | None) -> int:
        number = self._numbers.setdefault(key, len(self._numbers))
        self._exprs.setdefault(number, expr)
        return number

    def _new(self) -> int:
        return self._number(object(), None)

    def _of(self, value: lf.Expr) -> int:
        match value:
            case lf.Constant():
                return self._number(value, value)
            case lf.Slot():
                return self._held[value] if value in self._held else self._new()
            case lf.Apply(op=op, args=args, code=code):
                numbers = tuple(map(self._of, args))
                parts = [self._exprs[n] for n in numbers]
                known = [part for part in parts if part is not None]
                expr = lf.Apply(op, tuple(known), code) if len(known) == len(parts) else None
                return self._number((op, code, numbers), expr)
            case lf.Load():
                return self._new()  # what is in memory changes

    # --- statements -----------------------------------------------------------------------

    def _walk(self, statements: Sequence[lf.Statement]) -> None:
        for statement in statements:
            self._step(statement)

    def _step(self, statement: lf.Statement) -> None:
        match statement:
            case lf.Assign(slot=slot, value=value):
                self._held[slot] = self._of(value)
            case lf.If():
                self._choose(statement)
            case lf.For(body=body):
                self._repeat(statement, body)
            case lf.While(test=test, body=body):
                self._repeat(statement, (*test, *body))
            case lf.Store(value=value):
                self.stored[id(statement)] = self._of(value)
            case lf.Invoke(args=args):
                self.passed[id(statement)] = tuple(map(self._of, args))
                self._forget(statement)
            case _:
                self._forget(statement)

    def _repeat(self, loop: lf.Statement, body: Sequence[lf.Statement]) -> None:
        self._forget(loop)
        self._walk(body)
        self._forget(loop)

    def _choose(self, statement: lf.If) -> None:
        before = dict(self._held)
        self._walk(statement.then)
        then, self._held = self._held, dict(before)
        self._walk(statement.other)
        for slot in _changed((statement,)):
            ends = then.get(slot), self._held.get(slot)
            if ends[0] != ends[1] or None in ends:
                self._held[slot] = self._number((id(statement), *ends), None)

    def _forget(self, statement: lf.Statement) -> None:
        self._held.update((slot, self._new()) for slot in _changed((statement,)))


def _changed(statements: tuple[lf.Statement, ...]) -> list[lf.Slot]:
    """The variables that statements give values to, pointers included."""
    found: list[lf.Slot] = []
    for statement in lf.each(statements):
        match statement:
            case lf.Assign(slot=slot) | lf.Mark(place=slot) | lf.For(index=slot):
                found.append(slot)
            case lf.Allocate(pointer=slot) | lf.Enlarge(pointer=slot):
                found.append(slot)
            case lf.Invoke(results=results) | lf.Spread(results=results):
                found += results
            case _:
                pass
    return list(dict.fromkeys(found))


def _reads_only(expr: lf.Expr, slots: set[lf.Slot]) -> bool:
    match expr:
        case lf.Slot():
            return expr in slots
        case lf.Apply(args=args):
            return all(_reads_only(arg, slots) for arg in args)
        case _:
            return isinstance(expr, lf.Constant)
