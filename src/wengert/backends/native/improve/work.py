"""How much work statements are."""

from __future__ import annotations

from collections.abc import Sequence

from ..form.loopform import Expr, For, If, Invoke, Load, Multiply, Slot, Statement, While, slots_in
from ..values.values import ZERO, integer, plus, times
from .independence import loads_in

OF_A_FUNCTION, OF_A_CALL, UNKNOWN_COUNT = 8, 40, 8


def weight(body: Sequence[Statement], fixed: set[Slot]) -> Expr:
    """How much work statements are; loops count as often as is known outside of them."""
    plain, total = 0, ZERO
    for statement in body:
        match statement:
            case For(count=count, body=inner):
                known = all(slot not in fixed for slot in slots_in(count))
                total = plus(
                    total, times(count if known else integer(UNKNOWN_COUNT), weight(inner, fixed))
                )
            case While(test=test, body=inner):
                total = plus(total, times(integer(UNKNOWN_COUNT), weight((*test, *inner), fixed)))
            case If(then=then, other=other):
                total = plus(total, weight((*then, *other), fixed))
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
