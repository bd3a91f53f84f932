"""Tuples of a length that only the run knows: their kind is that of lists."""

from __future__ import annotations

from ...ir.graph import Var
from ...ir.types import Struct
from ...ops import structure as st
from ...ops.arrays.shape import shape
from ...ops.program import containers as co
from ..domain.values import Items, Value, kind_of_value
from ..machine.interpreter import Interpreter

_MAKES = (st.as_tuple, shape)
_KEEPS = (co.join_lists, co.repeated_items)
"""Ops whose result is a tuple where their first operand is."""


def is_tuple(it: Interpreter, value: Value) -> bool:
    """Whether a value is a tuple for certain."""
    kind = kind_of_value(value)
    if isinstance(value, Items) or isinstance(kind, Struct):
        form = value.form if isinstance(value, Items) else kind.form  # type: ignore[union-attr]
        return form == "tuple"
    eqn = it.builder.visible_definition(value) if isinstance(value, Var) else None
    if eqn is None:
        return False
    keeps = eqn.op in _KEEPS or (eqn.op is st.getitem and st.is_slice(eqn.args[1]))
    return eqn.op in _MAKES or (keeps and is_tuple(it, eqn.args[0]))
