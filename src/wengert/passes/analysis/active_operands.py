"""The operands of an equation in which its results may have a derivative."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Eqn
from ...ir.op import Op
from ...ir.types import Array, Kind, Map, Number, Seq, Struct
from ...ops import structure as st
from ...ops.array_kinds import dtype_name
from ...ops.program import cotangents as ct, memory as me
from ...rules.registry import Rule, rule_for

ZERO_OPS = frozenset(
    (
        st.zeros, st.stop_gradient, st.slice_, st.range_, st.length, st.global_, st.opaque,
        st.raise_, st.format_, st.eq, st.ne, st.lt, st.le, st.gt, st.ge, st.is_, st.is_not,
        st.in_, st.not_in, st.not_, st.both, st.either, st.truth,
        me.zeros_at, me.accepts, me.can_change, me.position, me.span_of, me.last_written, me.copied_places,
    )
)  # fmt: skip
"""Structural ops whose result never carries a derivative."""

FIRST_ONLY = frozenset(
    (
        st.getitem, st.getattr_, st.ruled, st.as_list, st.as_tuple, st.bound, st.unpackable, st.project,
        ct.collected_cotangent, ct.items_reached, ct.shadow_attr, ct.shadow_items, ct.rule_cotangents, ct.as_returned,
        ct.partial_of_row, ct.given_by_row, ct.given_by_hook,
        me.drop, me.dropped, me.snapshot, me.duplicate, me.given_at, me.as_left,
        me.summed_to, me.spread_over, me.spread_from,
    )
)  # fmt: skip
"""Structural ops that are linear in their first operand and have no derivative in the others."""


_WALKING = frozenset((st.as_list, st.as_tuple))


def has_row_by_operand(rule: Rule) -> bool:
    together = rule.form == "scalar" and len(rule.rows) == 1
    return rule.form in ("linear", "bilinear", "scalar") and not together


_INTEGERS = ("int", "uint", "bool")


def holds_integers(kind: Array) -> bool:
    return kind.dtype.startswith(_INTEGERS)


def is_inexact(kind: Kind) -> bool:
    """Whether something is a floating-point number, or holds some."""
    match kind:
        case Number(type=type_):
            return type_ in ("float", "complex")
        case Array(dtype=dtype):
            return dtype.startswith(("float", "complex"))
        case Seq(item=item) | Map(item=item):
            return is_inexact(item)
        case Struct(items=items):
            return any(map(is_inexact, items))
        case _:
            return False


def operands_of(eqn: Eqn) -> Iterable[Atom]:
    """The operands of an equation in which its results may have a derivative."""
    op = eqn.op
    if op in ZERO_OPS:
        return ()
    if op in _WALKING and isinstance(kind_of_atom(eqn.args[0]), Map):
        return ()  # its keys
    if op in FIRST_ONLY:
        return eqn.args[:1]
    if op is st.valued or (op is me.overwrite and len(eqn.args) == 2):
        return eqn.args[1:]
    if op is st.add_at or op in me.TAKING or op is me.overwrite:
        return (eqn.args[0], eqn.args[-1])
    if op is ct.add_attr:
        return (eqn.args[0], eqn.args[2])
    return _by_rule(eqn)


def _by_rule(eqn: Eqn) -> Iterable[Atom]:
    if _cuts_off(eqn):
        return ()
    rule = rule_for(eqn.op)
    if rule is None:
        return eqn.args
    if rule.form == "zero":
        return ()
    if has_row_by_operand(rule):
        return [arg for arg, row in zip(eqn.args, rule.rows, strict=False) if row is not None]
    return eqn.args


def _cuts_off(eqn: Eqn) -> bool:
    """Whether only the integer part of what is computed is kept: a step function."""
    if "dtype" in eqn.params:
        return dtype_name(eqn.params["dtype"]).startswith(_INTEGERS)
    if eqn.op.name != "full_like":
        return False
    kind = eqn.outs[0].kind
    return isinstance(kind, Array) and holds_integers(kind)


def takes_options(op: Op) -> bool:
    """Whether an op is a function of a library without a rule: whole numbers say how it is done, and how often.

    An elementwise function may be one of real numbers that is given whole ones.
    """
    function = op.implementation
    module = str(getattr(function, "__module__", "")).partition(".")[0]
    if module not in ("numpy", "scipy") or isinstance(function, (np.ufunc, type)):
        return False
    return getattr(function, "__self__", None) is None and rule_for(op) is None
