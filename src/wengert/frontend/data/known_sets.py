"""Sets whose items are known while a program is read: they have no order, but what sorts or counts them is known."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ...ir.graph import Const, Eqn, Var
from ...ir.op import Op
from ...ops import elementwise as el, structure as st
from ...ops.program import containers as co
from ..domain.values import Value, list_of
from ..heap import now
from ..machine.interpreter import Interpreter

_PLAIN = (str, int, bool, float)
_JOINING: dict[Op, Callable[[Any, Any], Any]] = {
    co.merge_dicts: operator.or_,
    el.bitor: operator.or_,
    el.bitand: operator.and_,
    el.sub: operator.sub,
    el.bitxor: operator.xor,
}


def items_in_order(it: Interpreter, value: Value) -> Value | None:
    """The items of a set of known numbers or texts, sorted."""
    items = members(it, value)
    if items is None:
        return None
    try:
        return list_of(*map(Const, sorted(items)))
    except TypeError:  # it must fail when the program runs, not when it is read
        return None


def has(it: Interpreter, item: Value, value: Value) -> Const | None:
    """Whether a known number or text is in a set, if that is known."""
    if not isinstance(item, Const) or type(item.value) not in _PLAIN:
        return None
    items = members(it, value)
    return None if items is None else Const(item.value in items)


def members(it: Interpreter, value: Value) -> frozenset[Any] | None:
    """The items of a set, if they are known."""
    current = now(it, value)
    eqn = it.builder.visible_definition(current) if isinstance(current, Var) else None
    if eqn is None:
        return None
    if eqn.op in co.SETS and len(eqn.args) == 1:
        return _listed(it, eqn.args[0])
    if eqn.op in _JOINING and len(eqn.args) == 2:
        a, b = (members(it, arg) for arg in eqn.args)
        return None if a is None or b is None else _JOINING[eqn.op](a, b)
    return None


def _listed(it: Interpreter, atom: Any) -> frozenset[Any] | None:
    if isinstance(atom, Const):
        items = atom.value if isinstance(atom.value, (tuple, str)) else None
        return None if items is None else frozenset(items)
    eqn: Eqn | None = it.builder.visible_definition(atom)
    if eqn is None or eqn.op is not st.pack or eqn.param("form") not in ("list", "tuple"):
        return None
    items = [arg.value for arg in eqn.args if isinstance(arg, Const)]
    known = len(items) == len(eqn.args) and all(type(item) in _PLAIN for item in items)
    return frozenset(items) if known else None
