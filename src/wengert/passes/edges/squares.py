"""Squares of what has a kink, which have none: |x|², ‖v‖², the variance as the square of a deviation, cos |x|.

In: a program, before it is differentiated. Out: the same program, in which such values have the derivative of what
they are the square of (`rules/identities/squares`). Their values are computed as they were written.
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import TRY, Atom, Block, Eqn, Function, Var, used_by, walk
from ...ir.records import replace
from ...ir.renaming import clone, renamed_atom, renamed_block, renamed_eqn
from ...ir.types import Array, Number, Seq, is_differentiable
from ...ops import structure as st
from ...rules.identities.squares import Root, Squares, is_root
from ..analysis.write_sets import written
from ..blocks.loops import LOOPS, rebuilt, view
from ..blocks.tidy import tidy


def with_squares(function: Function) -> Function:
    """The function, in which what is smooth has the derivative of a smooth expression."""
    eqns = list(walk(function.body))
    if not any(is_root(eqn) for eqn in eqns):
        return function
    finder = _Squares(written(function.body).clobbered)
    body, _ = finder.block(function.body, {}, {}, Builder())
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

    def __init__(self, changing: Container[Atom]):
        self.changing = changing
        self.found = False

    def block(
        self, block: Block, roots: Mapping[Var, Root], renamed: Mapping[Var, Atom], around: Builder
    ) -> tuple[Block, Squares]:
        """A block in which squares have other derivatives, and the roots that it has seen."""
        seen = Squares(around.child(), dict(roots), self.changing)
        same = dict(renamed)
        for old in block.eqns:
            if old.blocks and old.op is not TRY:
                eqn = renamed_eqn(replace(old, blocks=()), same)
                inner = replace(eqn, blocks=old.blocks)
                seen.builder.span = eqn.span
                (self._loop if eqn.op in LOOPS else self._branch)(seen, inner, same)
                continue
            eqn = renamed_eqn(old, same)
            seen.builder.append(eqn)
            if len(eqn.outs) == 1 and not eqn.blocks and is_differentiable(eqn.outs[0].kind):
                same |= self._followed(seen, eqn)
        outs = tuple(renamed_atom(out, same) for out in block.outs)
        return Block(block.params, tuple(seen.builder.eqns), outs), seen

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

    # --- control flow -------------------------------------------------------------------

    def _branch(self, seen: Squares, eqn: Eqn, same: Mapping[Var, Atom]) -> None:
        """What is a root on one path is one on both: any real number is a root of its square."""
        inner = [self.block(block, seen.roots, same, seen.builder) for block in eqn.blocks]
        outs, blocks = list(eqn.outs), [block for block, _ in inner]
        results = [list(block.outs) for block in blocks]
        for k, out in enumerate(eqn.outs):
            pairs = [(each, block.outs[k]) for block, each in inner]
            kinds = [kind_of_atom(atom) for _, atom in pairs]
            if not all(isinstance(kind, (Number, Array)) for kind in (out.kind, *kinds)):
                continue  # a path may leave it unbound
            if not any(each.is_root(atom) for each, atom in pairs):
                continue
            squares = [each.square_of(atom) for each, atom in pairs]
            for result, square in zip(results, squares, strict=True):
                result.append(square)
            outs.append(Var(out.kind))
            seen.roots[out] = Root((out,), outs[-1])
        made = [
            Block(block.params, tuple(each.builder.eqns), tuple(result))
            for (block, each), result in zip(inner, results, strict=True)
        ]
        seen.builder.append(replace(eqn, outs=tuple(outs), blocks=tuple(made)))

    def _loop(self, seen: Squares, eqn: Eqn, same: Mapping[Var, Atom]) -> None:
        """Items of roots are roots, and so is the list of those that a loop collects."""
        loop = view(eqn)
        pairs: list[tuple[Atom, Var]] = []
        roots = dict(seen.roots)
        for iterable, item in zip(loop.iterables, loop.items, strict=True):
            if seen.is_root(iterable) and isinstance(item.kind, (Number, Array)):
                pairs.append((seen.square_of(iterable), Var(item.kind)))
                roots[item] = Root((item,), pairs[-1][1])
        blocks = [self.block(block, roots, same, seen.builder) for block in eqn.blocks]
        body, inside = blocks[-1]
        loop = view(replace(eqn, blocks=tuple(block for block, _ in blocks)))
        collected: list[tuple[Atom, Var]] = []
        for atom, out in zip(loop.collected, loop.lists, strict=True):
            if inside.is_root(atom):
                square = inside.square_of(atom)
                collected.append((square, Var(Seq(kind_of_atom(square)))))
                seen.roots[out] = Root((out,), collected[-1][1])
        eqns = inside.builder.eqns
        read = {var for each in eqns for var in used_by(each)} | set(body.outs)
        read |= {atom for atom, _ in collected}
        pairs = [pair for pair in pairs if pair[1] in read]
        if pairs or collected:
            seen.builder.append(rebuilt(loop, eqns, iterables=pairs, collected=collected))
        else:
            seen.builder.append(loop.eqn)
