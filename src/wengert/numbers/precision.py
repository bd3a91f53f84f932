"""Rule rows in the precision of their operands.

A row may hold a constant such as log 2, written to the digits of a float. For numbers of more digits the
constant is replaced by the number that it stands for, computed in their own library; so are decimals such
as 0.5, which mean exactly that. A constant that is neither is refused: its digits end where a float's do.
Integers among the operands become numbers of that library too, as 1 / 3 would be a float.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import CodeType, FunctionType
from typing import Any

from ..errors import NoRule
from ..ir.op import libraries
from ..ops.elementwise import log, sqrt
from .number import value_of

Row = Callable[..., Any]


def in_full_precision(row: Row, operands: tuple[Any, ...]) -> tuple[Row, tuple[Any, ...]]:
    """The row and its operands, as exact as the most exact of them; as they are for floats."""
    number = next((x for x in map(value_of, operands) if is_exact(x)), None)
    if number is None:
        return row, operands
    alike = tuple(_converted(Fraction(x), number) if type(x) is int else x for x in operands)
    if not isinstance(row, FunctionType):
        return row, alike
    constants = row.__code__.co_consts
    if not any(isinstance(constant, float) for constant in constants):
        return row, alike
    exact = tuple(_exact(c, number, row) if isinstance(c, float) else c for c in constants)
    code: CodeType = row.__code__.replace(co_consts=exact)
    made = FunctionType(code, row.__globals__, row.__name__, row.__defaults__, row.__closure__)
    made.__kwdefaults__ = row.__kwdefaults__
    return made, alike


def is_exact(x: Any) -> bool:
    """Whether a value is a number of a library of exact or precise numbers, or of symbols."""
    return any(base.__module__.partition(".")[0] in _PRECISE for base in type(x).__mro__[:-1])


_PRECISE = frozenset(libraries) - {"builtins"}


def _exact(constant: float, number: Any, row: Row) -> Any:
    fraction = Fraction(constant)
    if fraction.denominator <= 1024:
        return _converted(fraction, number)
    meant = _IRRATIONAL.get(constant)
    if meant is None:
        raise NoRule(
            f"a rule holds {constant!r}, which has fewer digits than {number!r}",
            f"The row is at {row.__code__.co_filename}:{row.__code__.co_firstlineno}; "
            "compute with floats.",
        )
    return meant(lambda integer: _converted(Fraction(integer), number))


def _converted(x: Fraction, number: Any) -> Any:
    """A fraction as a number of the same library."""
    if isinstance(number, Decimal):
        return Decimal(x.numerator) / Decimal(x.denominator)
    for library, name in (("mpmath", "mpf"), ("sympy", "Integer")):
        module = sys.modules.get(library)
        if type(number).__module__.partition(".")[0] == library and module is not None:
            make = getattr(module, name)
            return make(x.numerator) / make(x.denominator)
    return x


def _pi(of: Callable[[int], Any]) -> Any:
    from ..ops.elementwise import atan

    return 4 * atan(of(1))


_IRRATIONAL: dict[float, Callable[[Callable[[int], Any]], Any]] = {
    0.6931471805599453: lambda of: log(of(2)),
    1.4426950408889634: lambda of: 1 / log(of(2)),
    0.4342944819032518: lambda of: 1 / log(of(10)),
    2.302585092994046: lambda of: log(of(10)),
    1.1283791670955126: lambda of: 2 / sqrt(_pi(of)),
    -1.1283791670955126: lambda of: -2 / sqrt(_pi(of)),
    0.886226925452758: lambda of: sqrt(_pi(of)) / 2,
    0.3989422804014327: lambda of: 1 / sqrt(2 * _pi(of)),
    0.7071067811865476: lambda of: 1 / sqrt(of(2)),
}
