"""Ops that are said in terms of others: the equations that the engine writes for them, computed on values."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Atom, Const, Var
from ..ir.op import Op
from ..ir.types import Array, Number
from ..ir.values import kind_of_constant
from ..ops import structure as st
from ..ops.arrays import factorisations as fa
from ..rules.registry import Rule, options_of, rule_for


def restated(
    op: Op, args: tuple[Any, ...], options: dict[str, Any], plain: Callable[[Any], Any]
) -> tuple[Any] | None:
    """What an op gives that the engine writes as others, as a tuple of one; None where it does not.

    Args:
        op: any op.
        args: its operands.
        options: its options.
        plain: gives the value of an operand, without its derivatives.
    """
    if op.fold is None:
        return None
    rule = rule_for(op)
    if rule is None:
        is_known = op.elementwise
    else:
        lacks_operands = len(args) < len(rule.rows)  # which the fold fills in: `x.clip(0.0)`
        is_known = not lacks_operands and _knows(rule, options, plain) and op not in _OF_PARTS
    if is_known:
        if plain(options.get("initial")) in (None, _LEAST.get(op.name)):
            return None
    return _folded(op, args, options, plain)


_LEAST = {"max": -math.inf, "min": math.inf}
"""Initial values that are never the extreme: rows know of these alone."""
_OF_PARTS = (fa.svd, fa.qr)
"""Factorisations that may be asked for some of their parts."""


def _knows(rule: Rule, options: dict[str, Any], plain: Callable[[Any], Any]) -> bool:
    """Whether a rule's rows ask for every option that is given; none of them has a derivative by it."""
    if not options:
        return True
    asked = [options_of(row) for row in rule.rows if row is not None]
    known = frozenset().union(*(names for names, _ in asked))
    takes_all = any(takes_all for _, takes_all in asked)
    return all((takes_all or name in known) and plain(x) is x for name, x in options.items())


def _folded(
    op: Op, args: tuple[Any, ...], options: dict[str, Any], plain: Callable[[Any], Any]
) -> tuple[Any] | None:
    """What the op's fold says it in, computed, as a tuple of one; None where it has nothing to say."""
    assert op.fold is not None
    builder = Builder()
    atoms = [_atom(x, plain(x)) for x in args]
    given = {name: (x, plain(x)) for name, x in options.items()}
    params = {k: Const(x) if value is x else _atom(x, value) for k, (x, value) in given.items()}
    result = op.fold(builder, atoms, params, "np")
    if result is None:
        return None
    pairs = zip((*atoms, *params.values()), (*args, *options.values()), strict=True)
    values = {atom: x for atom, x in pairs if isinstance(atom, Var)}
    for eqn in builder.eqns:
        operands = [_value(atom, values) for atom in eqn.args]
        given = {name: _value(atom, values) for name, atom in eqn.params.items()}
        if eqn.op is st.pack:
            values[eqn.outs[0]] = operands if given["form"] == "list" else tuple(operands)
        else:
            values[eqn.outs[0]] = eqn.op(*operands, **given)
    return (_value(result, values),)


def _atom(x: Any, value: Any) -> Atom:
    """An operand: what has a derivative is no constant, nor is an array."""
    if isinstance(value, np.ndarray):
        return Var(Array(value.dtype.name, value.ndim))
    kind = kind_of_constant(value)
    return Const(x) if value is x or not isinstance(kind, Number) else Var(kind)


def _value(atom: Atom, values: dict[Var, Any]) -> Any:
    return values[atom] if isinstance(atom, Var) else atom.value
