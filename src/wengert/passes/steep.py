"""Where a derivative may be infinite, or not a number, although nothing is wrong with the value.

Such a derivative must not be multiplied by the zero that is written out for a path which does not use the value.
"""

from __future__ import annotations

import cmath
from collections.abc import Iterable, Sequence

from ..ir.graph import CALL, Atom, Block, Callee, Const, Eqn, Function, Var, callees, walk
from ..ir.types import BOOL
from ..ops.memory import COPIES
from ..rules.registry import rule_for
from .unbound import merged, reached

_STEEP = frozenset(("sqrt", "cbrt", "pow", "asin", "acos", "acosh", "hypot", "norm", "dist"))
"""Ops whose derivative is infinite where their value is finite."""

_LINEAR = frozenset(("add", "sub", "neg", "pos"))
_BOUNDED = frozenset(("maximum", "minimum", "fmax", "fmin", "clip"))
"""Ops whose value is finite though an operand, a bound that nothing reaches, is not."""

_NAN = Const(cmath.nan)

Lost = dict[Callee, set[Var]]
"""Of each function that is called, the values that may come of constants that are not finite."""


def steep_equations(block: Block) -> frozenset[Eqn]:
    """The equations whose derivative may be infinite, or NaN, where what is made of it is neither.

    Beside the steep ops: those of a value that was set to infinity or to NaN, for a path that does not use it, and
    calls of functions that have such equations.
    """
    lost = Lost()
    own = _not_finite(block, lost)
    steep = {
        callee
        for callee, inside in lost.items()
        if any(_is_steep(eqn, inside) for eqn in walk(_function(callee).body))
    }
    leading_there = {
        callee for callee in lost if not steep.isdisjoint((callee, *callees([_function(callee)])))
    }
    return frozenset(
        eqn
        for eqn in walk(block)
        if _is_steep(eqn, own) or (eqn.op is CALL and eqn.param("callee") in leading_there)
    )


def _function(callee: Callee) -> Function:
    assert callee.function is not None, f"{callee!r} is called before it is read"
    return callee.function


def _is_steep(eqn: Eqn, lost: set[Var]) -> bool:
    if eqn.op.name in _STEEP and not _is_power_of_one_or_more(eqn):
        return True
    return (
        any(arg in lost for arg in eqn.args)
        and rule_for(eqn.op) is not None
        and eqn.op.name not in _LINEAR
    )


def _is_power_of_one_or_more(eqn: Eqn) -> bool:
    if eqn.op.name != "pow":
        return False
    exponent = eqn.args[1]
    return (
        isinstance(exponent, Const)
        and isinstance(exponent.value, (int, float))
        and exponent.value >= 1
    )


# --- what is not finite -------------------------------------------------------------------


def _not_finite(block: Block, lost: Lost) -> set[Var]:
    """The values that come of constants that are not finite; `lost` is told of the functions that are called."""
    eqns = walk(block)
    for callee in {eqn.param("callee"): None for eqn in eqns if eqn.op is CALL}:
        if callee not in lost:
            lost[callee] = set()  # where it recurses
            lost[callee] = _not_finite(_function(callee).body, lost)
    if not (any(lost.values()) or any(_is_lost(atom) for eqn in eqns for atom in _atoms(eqn))):
        return set()
    return reached([pair for eqn in eqns for pair in _flow(eqn, lost)], _is_lost)


def _atoms(eqn: Eqn) -> Sequence[Atom]:
    return (*eqn.args, *(out for block in eqn.blocks for out in block.outs))


def _flow(eqn: Eqn, lost: Lost) -> Iterable[tuple[Var, Iterable[Atom]]]:
    """Each value that an equation defines, beside those that it may come of."""
    if eqn.blocks or eqn.op in COPIES:
        return merged(eqn)
    if eqn.op.name in _BOUNDED:
        return ()
    given = [(out, eqn.args) for out in eqn.outs if out.kind != BOOL]
    return [*given, *_lost_results(eqn, lost)] if eqn.op is CALL else given


def _lost_results(eqn: Eqn, lost: Lost) -> Iterable[tuple[Var, Iterable[Atom]]]:
    """The results of a call that may not be finite, beside a constant that is not."""
    callee: Callee = eqn.param("callee")
    # results that only tell what it has changed come after its own
    pairs = zip(eqn.outs, _function(callee).body.outs, strict=False)
    return [(out, (_NAN,)) for out, atom in pairs if atom in lost[callee] or _is_lost(atom)]


def _is_lost(atom: Atom) -> bool:
    if not isinstance(atom, Const) or not isinstance(atom.value, (float, complex)):
        return False
    return not cmath.isfinite(atom.value)
