"""Identities as patterns: the two sides of a pair of lambdas, taken apart."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...ir.op import Op
from ...ir.records import value_record
from ...ops import elementwise as el
from .algebra import GROUPS


def _compute(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Expression:
    return Expression(op, args)


def _binary(op: Op) -> Any:
    return lambda self, other: Expression(op, (self, other))


def _reflected(op: Op) -> Any:
    return lambda self, other: Expression(op, (other, self))


class Pattern:
    """A part of an identity; what is computed with it becomes an `Expression`."""

    __slots__ = ()
    __compute_op__ = staticmethod(_compute)
    compute_priority = 3
    __add__, __radd__ = _binary(el.add), _reflected(el.add)
    __sub__, __rsub__ = _binary(el.sub), _reflected(el.sub)
    __mul__, __rmul__ = _binary(el.mul), _reflected(el.mul)
    __truediv__, __rtruediv__ = _binary(el.div), _reflected(el.div)
    __pow__ = _binary(el.pow_)

    def __neg__(self) -> Expression:
        return Expression(el.neg, (self,))


class Operand(Pattern):
    """An operand, by its number; `integer` if only integer literals match it."""

    __slots__ = ("integer", "number")

    def __init__(self, number: int, integer: bool = False):
        self.number = number
        self.integer = integer


class Expression(Pattern):
    """An op and its parts: patterns and literals."""

    __slots__ = ("op", "parts")

    def __init__(self, op: Op, parts: tuple[Any, ...]):
        self.op = op
        self.parts = parts

    def __len__(self) -> int:
        return 1 + sum(len(part) for part in self.parts if isinstance(part, Expression))


@value_record
class Rewrite:
    """An identity: what to look for, how many operands it has, what to put in its place."""

    left: Expression
    operands: int
    right: Any


@cache
def rewrites(group: str) -> dict[Op, list[Rewrite]]:
    """The identities of a group, by the op on the left side."""
    table: dict[Op, list[Rewrite]] = {}
    for left, right in GROUPS[group]:
        names = left.__code__.co_varnames[: left.__code__.co_argcount]
        operands = [Operand(k, name in ("i", "j")) for k, name in enumerate(names)]
        pattern = left(*operands)
        table.setdefault(pattern.op, []).append(Rewrite(pattern, len(operands), right(*operands)))
    return table
