"""Whether a program works long enough for Python's other threads to run meanwhile.

To let them, and to stop them again, takes as long as some ten elementary functions. What loops take is known where they
count up to what the program is given. A `while` that appends to a list shows that it is long when the list
needs more memory: others run from then on (`wg_let_others_run`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache

from ..form import loopform as lf

FEW_STEPS = 1000
"""Loops of fewer steps in all are not worth it."""

Factors = tuple[lf.Expr, ...]


class _Unknown(Exception):
    """How long a loop takes is not known when the program starts."""


def steps(procedure: lf.Procedure) -> list[Factors] | None:
    """How many steps loops have at most, each a product of parameters and constants; None where that is not known."""
    lengths = {slot for s in procedure.body for slot in _lengths(s)}
    bounds: dict[lf.Slot, lf.Expr] = {slot: slot for slot in (*procedure.params, *lengths)}
    try:
        found = list(_steps(procedure.body, (), bounds))
    except _Unknown:
        return None
    return [tuple(f for f in factors if f not in lengths) for factors in found]


def takes_long(
    procedure: lf.Procedure, value: Callable[[lf.Expr], str], define: Callable[[str], str]
) -> str:
    """LLVM for whether the loops of a program have many steps, or nobody knows.

    Args:
        procedure: the program's main function.
        value: gives what LLVM has for a parameter.
        define: writes an instruction, and gives its result.
    """
    found = steps(procedure)
    if found is None:
        return "true"

    @cache
    def count(factor: lf.Expr) -> str:
        number = define(f"sitofp i64 {value(factor)} to double")
        is_some = define(f"fcmp ogt double {number}, 0.0")
        return define(f"select i1 {is_some}, double {number}, double 0.0")

    total = "0.0"
    for factors in found:  # in floating point products do not overflow
        product = "1.0"
        for factor in factors:
            product = define(f"fmul double {product}, {count(factor)}")
        total = define(f"fadd double {total}, {product}")
    return define(f"fcmp oge double {total}, {FEW_STEPS}.0")


def _steps(
    statements: tuple[lf.Statement, ...], outer: Factors, bounds: dict[lf.Slot, lf.Expr]
) -> Iterator[Factors]:
    """The same for statements inside loops of so many steps; `bounds` has what is known of variables until then."""
    for statement in statements:
        _forget(statement, bounds)
        match statement:
            case lf.For(index=index, count=count, body=body):
                bounds[index] = _bound(count, bounds)
                factors = (*outer, bounds[index])
                yield factors
                yield from _steps(body, factors, bounds)
            case lf.Copy(count=count):
                yield (*outer, _bound(count, bounds))
            case lf.Assign(slot=slot, value=value) if slot not in bounds:
                with suppress(_Unknown):
                    bounds[slot] = _bound(value, bounds)
            case lf.While():
                if outer or not list(_lengths(statement)):
                    raise _Unknown
            case lf.Invoke() | lf.Spread() | lf.External() | lf.Multiply():
                raise _Unknown
            case lf.If():
                for block in lf.blocks_of(statement):
                    yield from _steps(block, outer, bounds)
                    _forget(statement, bounds)
            case _:
                pass
        if lf.blocks_of(statement):
            _forget(statement, bounds)  # it may not have run


def _forget(statement: lf.Statement, bounds: dict[lf.Slot, lf.Expr]) -> None:
    """What a statement gives a value to is not known any more; parameters and the lengths of lists stay known."""
    for slot in lf.assigned_in((statement,)):
        if bounds.get(slot) is not slot:
            bounds.pop(slot, None)


def _bound(value: lf.Expr, bounds: dict[lf.Slot, lf.Expr]) -> lf.Expr:
    """A parameter or constant that a number does not exceed, where it is positive."""
    match value:
        case lf.Constant():
            return value
        case lf.Slot() if value in bounds:
            return bounds[value]
        case lf.Apply(op="max", args=(number, lf.Constant(value=least))) if least <= 0:
            return _bound(number, bounds)
        case lf.Apply(op="sub", args=(number, lf.Constant(value=less))) if less >= 0:
            return _bound(number, bounds)
        case _:
            raise _Unknown


def _lengths(statement: lf.Statement) -> Iterator[lf.Slot]:
    """The lengths of lists that a `while` appends to in each turn, which are few until one needs more memory."""
    if not isinstance(statement, lf.While) or _loops_or_calls(statement.body):
        return
    for inside in statement.body:
        if isinstance(inside, lf.If) and any(isinstance(s, lf.Enlarge) for s in inside.then):
            yield from lf.slots_in(inside.condition)


def _loops_or_calls(statements: tuple[lf.Statement, ...]) -> bool:
    long = lf.For | lf.While | lf.Invoke | lf.Spread | lf.External | lf.Multiply | lf.Copy
    return any(isinstance(s, long) for s in lf.each(statements))
