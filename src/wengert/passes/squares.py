"""Squares of what has a kink, which have none: |x|², ‖v‖², the variance as the square of a deviation, cos |x|.

In: a program, before it is differentiated. Out: the same program, in which such values have the derivative of what
they are the square of (`rules/squares`). Their values are computed as they were written.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from ..ir.builder import Builder
from ..ir.graph import TRY, Atom, Block, Eqn, Function, Var, walk
from ..ir.records import replace
from ..ir.renaming import clone, renamed_atom, renamed_block, renamed_eqn
from ..ir.types import is_differentiable
from ..ops import structure as st
from ..rules.squares import Root, Squares, is_root
from .tidy import tidy
from .written import written


def with_squares(function: Function) -> Function:
    """The function, in which what is smooth has the derivative of a smooth expression."""
    eqns = list(walk(function.body))
    if not any(is_root(eqn) for eqn in eqns):
        return function
    finder = _Squares(written(function.body).clobbered)
    body = finder.block(function.body, {}, {}, Builder())
    return tidy(replace(function, body=body)) if finder.found else function


def without_squares(function: Function) -> Function:
    """A function that was derived of such a program: its values are computed as they were written."""
    same = {eqn.outs[0]: eqn.args[0] for eqn in walk(function.body) if eqn.op is st.valued}
    if not same:
        return function
    return replace(function, body=_without(renamed_block(function.body, same)))


def _without(block: Block) -> Block:
    eqns = [
        replace(eqn, blocks=tuple(map(_without, eqn.blocks))) if eqn.blocks else eqn
        for eqn in block.eqns
        if eqn.op is not st.valued
    ]
    return replace(block, eqns=tuple(eqns))


class _Squares:
    """Looks for squares, block by block."""

    def __init__(self, changing: Container[Var]):
        self.changing = changing
        self.found = False

    def block(
        self, block: Block, roots: Mapping[Var, Root], renamed: Mapping[Var, Atom], around: Builder
    ) -> Block:
        seen = Squares(around.child(), dict(roots), self.changing)
        same = dict(renamed)
        for old in block.eqns:
            if old.blocks and old.op is not TRY:
                eqn = renamed_eqn(replace(old, blocks=()), same)
                blocks = [self.block(inner, seen.roots, same, seen.builder) for inner in old.blocks]
                seen.builder.append(replace(eqn, blocks=tuple(blocks)))
                continue
            eqn = renamed_eqn(old, same)
            seen.builder.append(eqn)
            if len(eqn.outs) == 1 and not eqn.blocks and is_differentiable(eqn.outs[0].kind):
                same |= self._followed(seen, eqn)
        outs = tuple(renamed_atom(out, same) for out in block.outs)
        return Block(block.params, tuple(seen.builder.eqns), outs)

    def _followed(self, seen: Squares, eqn: Eqn) -> Mapping[Var, Atom]:
        seen.builder.span = eqn.span
        (out,) = eqn.outs
        smooth = seen.smooth(eqn)
        if smooth is None:
            root = seen.root(eqn)
            if root is not None:
                seen.roots[out] = root
            return {}
        self.found = True
        valued = clone(out)
        seen.builder.append(Eqn((valued,), st.valued, (out, smooth), {}, (), "py", eqn.span))
        return {out: valued}
