"""Searches by comparison: loops that find a number with the argument in comparisons only, as bisection does.

What such a loop finds moves with the argument, and has no derivative: each of its turns is constant but for jumps. A
program that reads it as a root gets zero, or the derivative of the first bounds. So it is warned of. Not every loop
that compares is one: the sign of it is a number that is carried from turn to turn, gets nothing from the argument in
the loop, and is made of two that are carried, such as bounds, and of what a comparison with it decides: a branch, a
mask, a factor of 0 or 1. What is undefined before the loop, as what it returns is, is no bound.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence

from ...errors import DerivativeWarning
from ...ir.builder import kind_of_atom
from ...ir.graph import IF, UNDEFINED, Atom, Block, Function, Var, free_vars, walk
from ...ir.types import Array, Number, is_differentiable
from ...ops import structure as st
from ..analysis import activity
from ..analysis.active_operands import operands_of
from ..blocks.loops import LOOPS, Loop, view

_VARIED, _CHOSEN, _DECIDED = 1, 2, 4
_FIRST = 3
"""How many bits there are before those of the numbers that a loop carries."""


def warn_of_searches(function: Function, wrt: Sequence[int]) -> None:
    """Warn of loops whose result depends on some parameters through comparisons alone.

    Warns:
        DerivativeWarning: with the line of the loop.
    """
    body = function.body
    loops = [loop for eqn in walk(body) if eqn.op in LOOPS and _may_search(loop := view(eqn))]
    if not loops:
        return
    varied = activity.depending(body, [body.params[k] for k in wrt])
    for loop in loops:
        if _searches(loop, varied, _used(body, loop)):
            warnings.warn(
                f"{loop.eqn.span}: what this loop finds depends on what is differentiated through comparisons "
                "alone, so that it has no derivative: if it is a root, use `brentq` or `wg.implicit`, or cut it "
                "off (`wg.stop_gradient`) and make one step of Newton's method from there",
                DerivativeWarning,
                stacklevel=2,
            )


def _may_search(loop: Loop) -> bool:
    """Whether a loop carries two numbers, and something decides in it."""
    return sum(map(_is_real, loop.carried)) > 1 and any(
        not is_differentiable(out.kind) or not (each.blocks or operands_of(each))
        for each in walk(loop.body)
        for out in each.outs
    )


def _used(body: Block, loop: Loop) -> list[bool]:
    """Which results of a loop those of the function depend on."""
    bits = {out: 1 << k for k, out in enumerate((*loop.outs, *loop.lists))}
    reached = activity.dependences(body, bits)
    total = _bits(body.outs, reached)
    return [bool(total & bit) for bit in bits.values()]


def _searches(loop: Loop, varied: set[Var], used: Sequence[bool]) -> bool:
    """Whether all that is used of what a loop computes is searched for with the argument."""
    outside = [var for var in free_vars(loop.body) if var in varied]
    outside += [item for item, of in zip(loop.items, loop.iterables, strict=True) if of in varied]
    if not outside or any(used[len(loop.outs) :]):
        return False
    gains = activity.dependences_of_turns(loop, dict.fromkeys(outside, 1))
    real = [k for k, carried in enumerate(loop.carried) if _is_real(carried)]
    still = [k for k in real if loop.carried[k] not in gains and not _has(gains, loop.results[k])]
    if any(used[k] and k not in still for k in real):
        return False
    taint = dict.fromkeys(outside, _VARIED)
    bounds = [(n, k) for n, k in enumerate(still) if loop.initials[k] != UNDEFINED]
    taint |= {loop.carried[k]: 1 << (_FIRST + n) for n, k in bounds}
    _spread(loop.body, taint)
    results = [_bits([loop.results[k]], taint) for k in still]
    chosen = sum(1 << (_FIRST + n) for n, bits in enumerate(results) if bits & _CHOSEN)
    return any(used[k] and results[n] & (chosen | _CHOSEN) for n, k in enumerate(still) if chosen)


def _has(gains: Mapping[Var, int], atom: Atom) -> bool:
    return isinstance(atom, Var) and atom in gains


def _is_real(var: Var) -> bool:
    kind = kind_of_atom(var)
    if isinstance(kind, Number):
        return kind.type == "float"
    return isinstance(kind, Array) and kind.dtype.startswith("float")


def _spread(block: Block, taint: dict[Var, int]) -> None:
    """For every value of a block, which of some others it is made of, and whether a comparison decided it."""
    for eqn in block.eqns:
        if eqn.op is IF:
            for inner in eqn.blocks:
                _spread(inner, taint)
            condition = _bits(eqn.args, taint) & _DECIDED
            for k, out in enumerate(eqn.outs):
                sides = [inner.outs[k] for inner in eqn.blocks]
                taint[out] = _made_of(out, condition | _bits(sides, taint))
            continue
        bits = _bits(eqn.args, taint) | _bits(eqn.params.values(), taint)
        for inner in eqn.blocks:
            bits |= _bits(free_vars(inner), taint)
        if eqn.op is st.stop_gradient:
            bits &= ~_CHOSEN
        elif not operands_of(eqn):
            bits = _decision(bits)
        for out in eqn.outs:
            taint[out] = _made_of(out, bits)


def _made_of(out: Var, bits: int) -> int:
    """The bits of a result: what a comparison decides with carried numbers is chosen from several of them."""
    carried = bits >> _FIRST
    if not is_differentiable(out.kind):
        return _decision(bits)
    if bits & _DECIDED and carried & (carried - 1) and not bits & _VARIED:
        return bits | _CHOSEN
    return bits


def _decision(bits: int) -> int:
    """The bits of what changes by jumps only: it decides where it goes by the argument and by carried numbers."""
    return _DECIDED if bits & _DECIDED or (bits & _VARIED and bits >> _FIRST) else 0


def _bits(atoms: Iterable[Atom], taint: Mapping[Var, int]) -> int:
    found = 0
    for atom in atoms:
        found |= taint.get(atom, 0) if isinstance(atom, Var) else 0
    return found
