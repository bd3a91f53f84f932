"""Tuples of a length that only the run knows: their kind is that of lists."""

from __future__ import annotations

from collections.abc import Container

from ...ir.graph import Var
from ...ir.op import Op
from ...ir.types import Struct
from ...ops import structure as st
from ...ops.arrays.shape import shape
from ...ops.program import containers as co, memory as me
from ..domain.values import Items, Value, kind_of_value
from ..machine.interpreter import Interpreter

_TUPLES = (st.as_tuple, shape)
_LISTS = (st.as_list, co.flatten_lists, me.append, me.appended)
_KEEP = (co.join_lists, co.repeated_items)
"""Ops whose result is a tuple, or a list, as their first operand is."""


def is_tuple(it: Interpreter, value: Value) -> bool:
    """Whether a value is a tuple for certain."""
    return _is(it, value, "tuple", _TUPLES)


def is_certainly_list(it: Interpreter, value: Value) -> bool:
    """Whether a value is a list, and no tuple, for certain."""
    return _is(it, value, "list", _LISTS)


def _is(it: Interpreter, value: Value, form: str, makes: Container[Op]) -> bool:
    if isinstance(value, Items):
        return value.form == form
    kind = kind_of_value(value)
    if isinstance(kind, Struct):
        return kind.form == form
    eqn = it.builder.visible_definition(value) if isinstance(value, Var) else None
    if eqn is None:
        return False
    keeps = eqn.op in _KEEP or (eqn.op is st.getitem and st.is_slice(eqn.args[1]))
    return eqn.op in makes or (keeps and _is(it, eqn.args[0], form, makes))
