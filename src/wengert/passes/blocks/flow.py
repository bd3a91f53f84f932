"""Which values a value may be, or come of, by the equation that defines it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...ir.graph import IF, TRY, Atom, Eqn, Var, alternatives
from .loops import LOOPS, view

Sources = list[tuple[Var, tuple[Atom, ...]]]
"""Values, each beside those that it may be or come of."""


def merged(eqn: Eqn) -> Sources:
    """What branches and loops define, each beside the values that it may be."""
    if eqn.op in (IF, TRY):
        outs, blocks = alternatives(eqn)
        return [(out, tuple(block.outs[k] for block in blocks)) for k, out in enumerate(outs)]
    if eqn.op not in LOOPS:
        return []
    loop = view(eqn)
    slots = list(zip(loop.initials, loop.results, strict=True))
    copies = [loop.carried, loop.outs, *([loop.test.params] if loop.test is not None else [])]
    return [pair for outs in copies for pair in zip(outs, slots, strict=True)]


def gathered(eqn: Eqn) -> Sources:
    """The items that a loop walks over, each beside what it is taken from; its lists beside what they collect."""
    if eqn.op not in LOOPS:
        return []
    loop = view(eqn)
    outs, atoms = (*loop.items, *loop.lists), (*loop.iterables, *loop.collected)
    return [(out, (atom,)) for out, atom in zip(outs, atoms, strict=True)]


def flow(eqn: Eqn) -> Sources:
    """Each value that an equation defines, beside those that it may come of."""
    if eqn.blocks:
        return [*merged(eqn), *gathered(eqn)]
    return [(out, eqn.args) for out in eqn.outs]


def reached(
    pairs: Iterable[tuple[Var, Iterable[Atom]]], starts: Callable[[Atom], bool]
) -> set[Var]:
    """The values that may be, or come from, an atom that starts: each comes from all beside it."""
    pairs = [(out, tuple(atoms)) for out, atoms in pairs]
    found: set[Var] = set()
    before = -1
    while before != len(found):
        before = len(found)
        for out, atoms in pairs:
            if out not in found and any(atom in found or starts(atom) for atom in atoms):
                found.add(out)
    return found
