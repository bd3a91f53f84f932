"""Shorten what each turn of a backward loop waits for.

In: a function with loops that run backwards, where a cotangent goes from turn to turn through several
operations, `x_bar = x_bar * a * b - x_bar * c`. Out: the same function with one operation in their place,
`x_bar = x_bar * (a * b - c)`: what does not follow from the cotangent can be computed while the turn before it
is not done yet.

The last bits differ. So may cotangents that are not finite: ∞ - ∞ may become ∞.
"""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.builder import kind_of_atom
from ....ir.graph import FOR, Atom, Block, Const, Eqn, Function, Var, used_by
from ....ir.records import replace
from ....ir.types import Number
from ....ops.registry import named

ONE = Const(1.0)
MOST_STEPS = 8
"""How many operations a factor may take: those that have other uses too are done twice."""


def factored(function: Function) -> Function:
    """The function with shorter chains from turn to turn of its backward loops."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    return replace(block, eqns=tuple(map(_eqn, block.eqns)))


def _eqn(eqn: Eqn) -> Eqn:
    if not eqn.blocks:
        return eqn
    blocks = tuple(map(_block, eqn.blocks))
    if eqn.op is FOR and eqn.param("reverse", False):
        first = eqn.param("iterables", 0)
        blocks = (_shortened(blocks[0], first, bool(eqn.param("stop", False))),)
    return replace(eqn, blocks=blocks)


def _shortened(body: Block, first: int, stop: int) -> Block:
    """The body of a backward loop whose carried parameters begin at `first`, and its results at `stop`."""
    for carried, result in zip(body.params[first:], body.outs[stop:], strict=False):
        if carried.kind == Number("float"):
            body = _with_one_step(body, carried, result)
    return body


def _with_one_step(body: Block, carried: Var, result: Atom) -> Block:
    """The body with a result as a multiple of what it follows from, if it is one and that is shorter."""
    chain = _Chain(body.eqns, carried)
    for start in chain.starts_of(result):
        made: list[Eqn] = []
        factor = chain.factor(result, start, made)
        if factor is not None and len(made) <= MOST_STEPS:
            made.append(replace(chain.made_by[result], op=named("mul"), args=(start, factor)))
            return replace(body, eqns=_with(body.eqns, made))
    return body


def _with(eqns: Sequence[Eqn], made: Sequence[Eqn]) -> tuple[Eqn, ...]:
    """Equations with others in the place of the one that has the result of their last."""
    at = next(k for k, eqn in enumerate(eqns) if eqn.outs == made[-1].outs)
    return (*eqns[:at], *made, *eqns[at + 1 :])


class _Chain:
    """What follows, in a body, from one carried number, and after how many operations."""

    def __init__(self, eqns: Sequence[Eqn], carried: Var):
        self.made_by: dict[Atom, Eqn] = {out: eqn for eqn in eqns for out in eqn.outs}
        self._length: dict[Atom, int] = {carried: 0}
        for eqn in eqns:
            before = [self._length[var] for var in used_by(eqn) if var in self._length]
            if before:
                self._length |= dict.fromkeys(eqn.outs, 1 + max(before))

    def starts_of(self, result: Atom) -> list[Atom]:
        """The numbers on the way to a result that are at least two operations away, farthest first."""
        end = self._length.get(result, 0)
        return [atom for atom, length in self._length.items() if length <= end - 2]

    def factor(self, atom: Atom, start: Atom, made: list[Eqn]) -> Atom | None:
        """What `start` has to be multiplied with to give `atom`; None if nothing that follows from it is."""
        if atom is start:
            return ONE
        eqn = self.made_by.get(atom)
        if eqn is None or eqn.op.name not in ("add", "sub", "mul", "neg"):
            return None
        if eqn.op.name == "mul":
            return self._of_product(eqn, start, made)
        factors: list[Atom] = []
        for arg in eqn.args:
            factor = self.factor(arg, start, made) if arg in self._length else None
            if factor is None:
                return None
            factors.append(factor)
        return _emitted(eqn, factors, made)

    def _of_product(self, eqn: Eqn, start: Atom, made: list[Eqn]) -> Atom | None:
        by = [arg for arg in eqn.args if arg not in self._length]
        if len(by) != 1 or kind_of_atom(by[0]) != Number("float"):
            return None
        (arg,) = (arg for arg in eqn.args if arg is not by[0])
        factor = self.factor(arg, start, made)
        if factor is None or factor is ONE:
            return factor and by[0]
        return _emitted(eqn, [factor, by[0]], made)


def _emitted(eqn: Eqn, args: Sequence[Atom], made: list[Eqn]) -> Var:
    out = Var(Number("float"))
    made.append(replace(eqn, outs=(out,), args=tuple(args)))
    return out
