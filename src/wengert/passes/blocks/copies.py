"""Copies of equations, so that a program can stand in several places of another one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.builder import Builder
from ...ir.graph import COMMENT, Atom, Block, Eqn, Function, Var
from ...ir.records import replace
from ...ir.renaming import clones, renamed_atom, renamed_eqn


def inlined(builder: Builder, function: Function, atoms: Sequence[Atom]) -> tuple[Atom, ...]:
    """Put a copy of a function's equations into a block; gives its results."""
    mapping: dict[Var, Atom] = dict(zip(function.body.params, atoms, strict=True))
    for eqn in copied(function.body.eqns, mapping):
        builder.append(eqn, derived=builder.derived)
    return tuple(renamed_atom(out, mapping) for out in function.body.outs)


def copied(eqns: Sequence[Eqn], mapping: dict[Var, Atom]) -> list[Eqn]:
    """Equations whose results, inside blocks too, are new values, entered into `mapping`."""
    copies: list[Eqn] = []
    for eqn in eqns:
        if eqn.op is COMMENT:
            continue
        blocks = tuple(_copied_block(block, mapping) for block in eqn.blocks)
        read = renamed_eqn(replace(eqn, blocks=()), mapping)
        outs = clones(eqn.outs)
        mapping.update(outs)
        copies.append(replace(read, outs=tuple(outs.values()), blocks=blocks))
    return copies


def _copied_block(block: Block, mapping: Mapping[Var, Atom]) -> Block:
    params = clones(block.params)
    inner: dict[Var, Atom] = {**mapping, **params}
    eqns = tuple(copied(block.eqns, inner))
    return Block(
        tuple(params.values()), eqns, tuple(renamed_atom(out, inner) for out in block.outs)
    )
