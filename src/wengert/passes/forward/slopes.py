"""How what a matrix of eigenvectors is put together of depends on each eigenvalue alone.

In: a program, before it is differentiated. Out: the same program, in which V diag(g) Vᴴ knows the slope of g, where g
is a function of the eigenvalues one by one, and of sums of them: where eigenvalues are equal, their divided difference
is the slope. What depends on them in another way (by their order, say) is left without.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.graph import ZERO, Atom, Block, Const, Eqn, Function, Var, used_by
from ...ir.records import replace
from ...ir.types import Number
from ...ops import structure as st
from ...rules.registry import rule_for
from ..analysis.uses import reads

_SYMMETRIC = frozenset(("sum", "prod", "mean", "norm"))
"""Reductions that do not see the order of what they are given."""
_IN_SHAPE = frozenset((st.unbroadcast, st.project))


def with_slopes(function: Function, read: Any) -> Function:
    """The function, in which what is put together of eigenvectors knows its slopes."""
    body = function.body
    if not any(_asks(eqn) for eqn in body.eqns):
        return function
    eqns: list[Eqn] = []
    for eqn in body.eqns:
        eqns += _with_slope(eqns, eqn, read) if _asks(eqn) else [eqn]
    return replace(function, body=replace(body, eqns=tuple(eqns)))


def _asks(eqn: Eqn) -> bool:
    return eqn.op.name == "spectral" and eqn.args[1] == Const(None)


def _with_slope(before: Sequence[Eqn], eqn: Eqn, read: Any) -> Sequence[Eqn]:
    g, _, x, w, V = eqn.args
    found, slope = _slope(before, g, w, read)
    return [eqn] if slope is None else [*found, replace(eqn, args=(g, slope, x, w, V))]


def _slope(eqns: Sequence[Eqn], g: Atom, w: Atom, read: Any) -> tuple[Sequence[Eqn], Atom | None]:
    """The equations that compute the slope of g by w, one eigenvalue by one, and what it is then called."""
    if not isinstance(w, Var):
        return (), None
    walk = _Walk(w, read)
    definition = next((eqn for eqn in eqns if w in eqn.outs), None)
    for eqn in eqns:
        if definition is not None and _computes_the_same(eqn, definition):
            walk.start(eqn.outs[0])
        walk.through(eqn)
    how = walk.how.get(g) if isinstance(g, Var) else None
    if how == _UNCLEAR:
        return (), Const(0.0) if _is_picked_from(eqns, w) else None
    dot = walk.push.tangent(g) if how == _ALONE else ZERO
    slope = walk.push.builder.emit(st.fill, Const(0.0), w) if dot == ZERO else dot
    known = {out for eqn in eqns for out in eqn.outs}
    return [eqn for eqn in walk.push.builder.eqns if known.isdisjoint(eqn.outs)], slope


def _computes_the_same(eqn: Eqn, other: Eqn) -> bool:
    return (eqn.op, eqn.args, eqn.params) == (other.op, other.args, other.params) and not eqn.blocks


def _is_picked_from(eqns: Sequence[Eqn], w: Var) -> bool:
    """Whether single eigenvalues are read, so that the others have no part in what they are put together to."""
    readers = [eqn for eqn in eqns if w in (used_by(eqn) if eqn.blocks else reads(eqn))]
    return all(
        eqn.op is st.getitem or eqn.op.name in ("spectral", "values_along") for eqn in readers
    )


_ALONE, _TOGETHER, _UNCLEAR = "alone", "together", "unclear"
"""How a value depends on eigenvalues: each element on its own, one number on all of them alike, or otherwise."""


class _Walk:
    """Pushes the slope of each eigenvalue by itself through the equations that depend on them one by one."""

    def __init__(self, w: Var, read: Any):
        from .block import Context, Push

        self.how: dict[Atom, str] = {}
        self.push = Push(Context(read, set()), Block((), (), ()))
        self.start(w)

    def start(self, w: Var) -> None:
        self.how[w] = _ALONE
        self.push.context.tangents[w] = self.push.builder.emit(st.fill, Const(1.0), w)

    def through(self, eqn: Eqn) -> None:
        read = used_by(eqn) if eqn.blocks else reads(eqn)
        ways = {self.how[atom] for atom in read if atom in self.how}
        if ways:
            found = self._way(eqn, ways)
            self.how.update(dict.fromkeys(eqn.outs, found))

    def _way(self, eqn: Eqn, ways: set[str]) -> str:
        if _UNCLEAR in ways or eqn.blocks or len(eqn.outs) != 1:
            return _UNCLEAR
        rule = rule_for(eqn.op)
        if eqn.op.elementwise and rule is not None:
            if _ALONE not in ways:
                return _TOGETHER if isinstance(eqn.outs[0].kind, Number) else _UNCLEAR
            self.push.push(eqn)
            return _ALONE
        if eqn.op in _IN_SHAPE and self.how.get(eqn.args[0]) == _ALONE:
            self.push.set(eqn.outs[0], self.push.tangent(eqn.args[0]))
            return _ALONE
        if (eqn.op is st.fill or eqn.op.name == "full") and ways == {_TOGETHER}:
            return _ALONE
        alike = (
            eqn.op.name in _SYMMETRIC and not eqn.params and isinstance(eqn.outs[0].kind, Number)
        )
        return _TOGETHER if alike else _UNCLEAR
