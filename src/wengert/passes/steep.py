"""Where a derivative may be infinite, or not a number, although nothing is wrong with the value.

Such a derivative must not be multiplied by the zero that is written out for a path which does not use the value.
"""

from __future__ import annotations

import cmath
from collections.abc import Iterable, Sequence

from ..ir.graph import CALL, Atom, Block, Callee, Const, Eqn, Var, walk
from ..ir.types import BOOL
from ..ops.memory import COPIES
from ..rules.registry import rule_for
from .unbound import merged, reached

_STEEP = frozenset(("sqrt", "cbrt", "pow", "asin", "acos", "acosh", "hypot", "norm", "dist"))
"""Ops whose derivative is infinite where their value is finite."""

_LINEAR = frozenset(("add", "sub", "neg", "pos"))
_BOUNDED = frozenset(("maximum", "minimum", "fmax", "fmin", "clip", "min_of", "max_of"))
"""Ops whose value is finite though an operand, a bound that nothing reaches, is not."""

_NAN = Const(cmath.nan)

Lost = dict[Callee, set[Var]]
"""Of each function that is called, the values that may come of constants that are not finite."""


def steep_equations(block: Block) -> frozenset[Eqn]:
    """The equations whose derivative may be infinite, or NaN, where what is made of it is neither.

    Beside the steep ops: those of a value that was set to infinity or to NaN, for a path that does not use it, and
    calls of functions that have such equations.
    """
    callees = Lost()
    lost = _not_finite(block, callees)
    steep = {
        callee
        for callee in callees
        if callee.function and any(_is_steep(eqn, callees[callee]) for eqn in _eqns(callee))
    }
    return frozenset(
        eqn for eqn in walk(block) if _is_steep(eqn, lost) or _calls_one_of(eqn, steep)
    )


def _eqns(callee: Callee) -> Sequence[Eqn]:
    return () if callee.function is None else walk(callee.function.body)


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


def _calls_one_of(eqn: Eqn, steep: set[Callee]) -> bool:
    """Whether an equation calls one of some functions, or one that does."""
    if eqn.op is not CALL or eqn.param("checkpoint", False):
        return False
    seen: set[Callee] = set()
    waiting: list[Callee] = [eqn.param("callee")]
    while waiting:
        callee = waiting.pop()
        if callee in steep:
            return True
        if callee not in seen:
            seen.add(callee)
            waiting += [each.param("callee") for each in _eqns(callee) if each.op is CALL]
    return False


# --- what is not finite -------------------------------------------------------------------


def _not_finite(block: Block, callees: Lost) -> set[Var]:
    """The values that come of constants that are not finite."""
    eqns = walk(block)
    for callee in {eqn.param("callee"): None for eqn in eqns if eqn.op is CALL}:
        if callee not in callees and callee.function is not None:
            callees[callee] = set()  # where it recurses
            callees[callee] = _not_finite(callee.function.body, callees)
    if not (any(callees.values()) or any(_is_lost(atom) for eqn in eqns for atom in _atoms(eqn))):
        return set()
    return reached([pair for eqn in eqns for pair in _flow(eqn, callees)], _is_lost)


def _atoms(eqn: Eqn) -> Sequence[Atom]:
    return (*eqn.args, *(out for block in eqn.blocks for out in block.outs))


def _flow(eqn: Eqn, callees: Lost) -> Iterable[tuple[Var, Iterable[Atom]]]:
    """Each value that an equation defines, beside those that it may come of."""
    if eqn.blocks or eqn.op in COPIES:
        return merged(eqn)
    if eqn.op.name in _BOUNDED:
        return ()
    given = [(out, eqn.args) for out in eqn.outs if out.kind != BOOL]
    return [*given, *_lost_results(eqn, callees)] if eqn.op is CALL else given


def _lost_results(eqn: Eqn, callees: Lost) -> Iterable[tuple[Var, Iterable[Atom]]]:
    """The results of a call that may not be finite, beside a constant that is not."""
    callee: Callee = eqn.param("callee")
    given = () if callee.function is None else callee.function.body.outs
    lost = callees.get(callee, set())
    pairs = zip(eqn.outs, given, strict=False)
    return [(out, (_NAN,)) for out, atom in pairs if atom in lost or _is_lost(atom)]


def _is_lost(atom: Atom) -> bool:
    if not isinstance(atom, Const) or not isinstance(atom.value, (float, complex)):
        return False
    return not cmath.isfinite(atom.value)
