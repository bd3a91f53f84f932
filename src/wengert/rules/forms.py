"""The public ways to add a rule.

A rule row is a function of run-time values: the operands in order, then the op's result Ω; options
such as `axis` arrive by keyword, under the names of the op's signature. The row is read and inlined,
so it is written with ops and operators: `scalar_rule(sin, lambda x, Ω: cos(x))`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from ..ir.op import Op
from .places import Place, place_of, refuse
from .registry import Form, Row, Rule, rule_for, store

Target = Op | Callable[..., Any]
Decorated = TypeVar("Decorated", bound=Callable[..., Any])


def scalar_rule(op: Target, *partials: Row | None) -> None:
    """Say what the partial derivatives of an elementwise function are.

    Args:
        op: an op, or any callable: `math.sin`, `np.sin`, a function of your own.
        partials: one row `(*operands, Ω) -> ∂Ω/∂operand` per operand, `None` for an operand without
            derivative; or a single row that returns all of them as a tuple.

    Raises:
        RuleError: a row is no function, or does not fit the op's operands.

    Broadcasting, dtypes and the conjugation of complex partials are not the rule's business.
    """
    caller = _caller()
    _register(op, "scalar", partials, caller)


def linear_rule(op: Target, transpose: Row | tuple[Row | None, ...] | None) -> None:
    """Say that a function is linear, and what its transpose is; its pushforward is itself.

    Args:
        op: an op, or any callable.
        transpose: a row `(Ω_bar, *operands, **options) -> operand_bar`; of a function that is
            jointly linear in several operands a tuple with one row for each, `None` for an operand
            it is not linear in.

    Raises:
        RuleError: a row is no function, or does not fit the op's operands.
    """
    caller = _caller()
    rows = transpose if isinstance(transpose, tuple) else (transpose,)
    _register(op, "linear", rows, caller)


def bilinear_rule(op: Target, left: Row, right: Row) -> None:
    """Say that a function of two operands is linear in each of them.

    Args:
        op: an op, or any callable.
        left: a row `(Ω_bar, a, b, **options) -> a_bar`.
        right: a row `(Ω_bar, a, b, **options) -> b_bar`.

    Raises:
        RuleError: a row is no function, or the op has not two operands.
    """
    caller = _caller()
    _register(op, "bilinear", (left, right), caller)


def zero_rule(*ops: Target) -> None:
    """Say that functions are piecewise constant: no derivative ever flows through them."""
    caller = _caller()
    for op in ops:
        _register(op, "zero", (), caller)


def differential(op: Target) -> Callable[[Decorated], Decorated]:
    """Decorate the differential of a function, as a textbook writes it.

    The row `(*d_operands, *operands, Ω, **options) -> dΩ` is linear in the d's. It is the pushforward
    as it stands; the pullback is its transpose.

    Raises:
        RuleError: the row does not take a d for each operand, the operands and Ω.
    """
    return _decorator(op, "differential", _caller())


def rrule(function: Target) -> Callable[[Decorated], Decorated]:
    """Decorate a hand-written pullback: `(*args, **kwargs) -> (y, pullback)`.

    `pullback(y_bar)` returns one cotangent per positional argument, a bare value if there is one
    argument. Both run as they are: only a derivative of what they give reads them.

    Raises:
        RuleError: the rule cannot be called with the function's arguments.
    """
    return _decorator(function, "rrule", _caller())


def frule(function: Target) -> Callable[[Decorated], Decorated]:
    """Decorate a hand-written pushforward: `(primals, tangents) -> (y, y_dot)`.

    Both arguments are tuples, one item per positional argument. An `frule` stands beside an
    `rrule` of the same function.

    Raises:
        RuleError: the rule does not take exactly primals and tangents.
    """
    return _decorator(function, "frule", _caller())


def opt_out(function: Target) -> None:
    """Use no rule for a function: its own code is read and differentiated."""
    caller = _caller()
    if isinstance(function, Op):
        message = "opt_out() needs the function itself, whose code is to be read"
        raise refuse(message, f"`{function.name}` is an op: it has no code.", caller)
    _register(function, "opt_out", (), caller)


def also_linear(op: Op, transposes: tuple[Row | None, ...]) -> None:
    """Say of an op of wengert's own with a differential in which operands it is linear, by their transposes.

    A differential that the op itself is part of can be transposed by these.
    """
    rule = rule_for(op)
    assert rule is not None
    row = next(row for row in transposes if row is not None)
    rule.also["linear"] = Rule(op, "linear", transposes, place_of(row, _caller()))


def _decorator(function: Target, form: Form, caller: Place) -> Callable[[Decorated], Decorated]:
    op = _op_of(function, caller)

    def decorate(row: Decorated) -> Decorated:
        _register(op, form, (row,), place_of(row, caller))
        return row

    return decorate


def _register(function: Target, form: Form, rows: tuple[Row | None, ...], caller: Place) -> None:
    op = _op_of(function, caller)
    place = next((place_of(row, caller) for row in rows if row is not None), caller)
    # a row that was imported belongs to the statement that registers it
    place = place if place.file == caller.file else caller
    made = Rule(op, form, rows, place)
    if not made.built_in:  # wengert's own are checked by its tests, not whenever it is imported
        from .checks import check

        check(made, caller)
    if not op.spellings and form != "frule":
        op.elementwise = form == "scalar"
    store(made)


def _op_of(function: Target, caller: Place) -> Op:
    if isinstance(function, Op):
        return function
    from .checks import target

    return target(function, caller)


def _caller() -> Place:
    """Where the function that called this one was called from."""
    frame = inspect.currentframe()
    frame = frame and frame.f_back and frame.f_back.f_back
    assert frame is not None
    return Place(frame.f_code.co_filename, (frame.f_code, frame.f_lasti))
