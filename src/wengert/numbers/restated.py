"""Ops that are said in terms of others: the equations that the engine writes for them, computed on values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..ir.builder import Builder
from ..ir.graph import Atom, Const, Var
from ..ir.op import Op
from ..ir.types import Array
from ..ops.arrays import factorisations as fa
from ..rules.registry import rule_for


def restated(
    op: Op, args: tuple[Any, ...], plain: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any] | None:
    """What an op gives that the engine writes as others, as a tuple of one; None where it does not.

    Args:
        op: any op.
        args: its operands.
        plain: their values, all derivatives left away.
        options: its options.
    """
    if op.fold is None or op.elementwise or not (rule_for(op) is None or op is fa.svd):
        return None
    return folded(op, args, plain, options)


def folded(
    op: Op, args: tuple[Any, ...], plain: tuple[Any, ...], options: dict[str, Any]
) -> tuple[Any] | None:
    """What the op's fold says it in, computed, as a tuple of one; None where it has nothing to say."""
    assert op.fold is not None
    builder = Builder()
    atoms = [_atom(x, value) for x, value in zip(args, plain, strict=True)]
    result = op.fold(builder, atoms, {name: Const(x) for name, x in options.items()}, "np")
    if result is None:
        return None
    pairs = zip(atoms, args, strict=True)
    values = {atom: x for atom, x in pairs if isinstance(atom, Var)}
    for eqn in builder.eqns:
        operands = [_value(atom, values) for atom in eqn.args]
        given = {name: _value(atom, values) for name, atom in eqn.params.items()}
        values[eqn.outs[0]] = eqn.op(*operands, **given)
    return (_value(result, values),)


def _atom(x: Any, value: Any) -> Atom:
    """An array of known dtype and rank; anything else is known itself."""
    return Var(Array(value.dtype.name, value.ndim)) if isinstance(value, np.ndarray) else Const(x)


def _value(atom: Atom, values: dict[Var, Any]) -> Any:
    return values[atom] if isinstance(atom, Var) else atom.value
