"""Operators: the ops that they emit, and what Python computes."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from ...ir.op import Op
from ...ops import elementwise as el, structure as st
from ...ops.registry import named

BINARY: dict[type[ast.operator], tuple[Op, Callable[[Any, Any], Any]]] = {
    ast.Add: (el.add, operator.add),
    ast.Sub: (el.sub, operator.sub),
    ast.Mult: (el.mul, operator.mul),
    ast.Div: (el.div, operator.truediv),
    ast.FloorDiv: (el.floordiv, operator.floordiv),
    ast.Mod: (el.mod, operator.mod),
    ast.Pow: (el.pow_, operator.pow),
    ast.BitAnd: (el.bitand, operator.and_),
    ast.BitOr: (el.bitor, operator.or_),
    ast.BitXor: (el.bitxor, operator.xor),
    ast.LShift: (el.lshift, operator.lshift),
    ast.RShift: (el.rshift, operator.rshift),
}


COMPARE: dict[type[ast.cmpop], tuple[Op, Callable[[Any, Any], Any]]] = {
    ast.Eq: (st.eq, operator.eq),
    ast.NotEq: (st.ne, operator.ne),
    ast.Lt: (st.lt, operator.lt),
    ast.LtE: (st.le, operator.le),
    ast.Gt: (st.gt, operator.gt),
    ast.GtE: (st.ge, operator.ge),
    ast.Is: (st.is_, operator.is_),
    ast.IsNot: (st.is_not, operator.is_not),
    ast.In: (st.in_, lambda a, b: a in b),
    ast.NotIn: (st.not_in, lambda a, b: a not in b),
}


def op_of(operator_: ast.operator) -> tuple[Op, Callable[[Any, Any], Any]]:
    """The op of a binary operator, and what Python computes."""
    if isinstance(
        operator_, ast.MatMult
    ):  # not in the table: linear algebra is loaded when it is met
        return named("matmul"), operator.matmul
    return BINARY[type(operator_)]
