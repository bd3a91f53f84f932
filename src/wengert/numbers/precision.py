"""Rule rows in the precision of their operands.

A row may hold a constant such as log 2, written to the digits of a float. For numbers of more digits the
constant is replaced by the number that it stands for, computed in their own library; so are decimals such
as 0.5, which mean exactly that. A constant that is neither is refused: its digits end where a float's do.
Integers among the operands become numbers of that library too, as 1 / 3 would be a float.
"""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from ..errors import NoRule
from ..ops.dispatch.precision import constant_in_precision_of, in_precision_of, is_exact
from .number import value_of

Row = Callable[..., Any]


def in_full_precision(row: Row, operands: tuple[Any, ...]) -> tuple[Row, tuple[Any, ...]]:
    """The row and its operands, as exact as the most exact of them; as they are for floats."""
    number = None
    for x in operands:
        if type(x) is not float and type(x) is not np.ndarray and is_exact(value_of(x)):
            number = value_of(x)
            break
    if number is None:
        return row, operands
    alike = tuple(in_precision_of(number, x) for x in operands)
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


def _exact(constant: float, number: Any, row: Row) -> Any:
    meant = constant_in_precision_of(number, constant)
    if meant is None:
        raise NoRule(
            f"a rule holds {constant!r}, which has fewer digits than {number!r}",
            f"The row is at {row.__code__.co_filename}:{row.__code__.co_firstlineno}; "
            "compute with floats.",
        )
    return meant
