"""Renaming values where they are read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .graph import Atom, Block, Eqn, Var


def clone(var: Var) -> Var:
    """Another value of the same kind, name and shape."""
    return Var(var.kind, var.name, var.shape_of)


def clones(variables: Iterable[Var]) -> dict[Var, Var]:
    """A new value for each of some values."""
    return {var: clone(var) for var in variables}


def cloned_block(block: Block, mapping: dict[Var, Atom]) -> Block:
    """A block that defines values of its own, entered into `mapping` as what they are called now."""
    params = _cloned(block.params, mapping)
    eqns = tuple(cloned_eqn(eqn, mapping) for eqn in block.eqns)
    return Block(params, eqns, tuple(renamed_atom(out, mapping) for out in block.outs))


def cloned_eqn(eqn: Eqn, mapping: dict[Var, Atom]) -> Eqn:
    """An equation whose results, and the values inside it, are values of their own."""
    args = tuple(renamed_atom(atom, mapping) for atom in eqn.args)
    params = {name: renamed_atom(atom, mapping) for name, atom in eqn.params.items()}
    blocks = tuple(cloned_block(block, mapping) for block in eqn.blocks)
    outs = _cloned(eqn.outs, mapping)
    return Eqn(outs, eqn.op, args, params, blocks, eqn.namespace, eqn.span)


def _cloned(variables: Iterable[Var], mapping: dict[Var, Atom]) -> tuple[Var, ...]:
    fresh = clones(variables)
    mapping.update(fresh)
    return tuple(fresh.values())


def renamed_eqn(eqn: Eqn, mapping: Mapping[Var, Atom]) -> Eqn:
    """An equation with the values it reads renamed, inside its blocks too."""
    args = tuple(renamed_atom(atom, mapping) for atom in eqn.args)
    params = {name: renamed_atom(atom, mapping) for name, atom in eqn.params.items()}
    blocks = tuple(renamed_block(block, mapping) for block in eqn.blocks)
    return Eqn(eqn.outs, eqn.op, args, params, blocks, eqn.namespace, eqn.span)


def renamed_block(block: Block, mapping: Mapping[Var, Atom]) -> Block:
    """A block with the values it reads renamed."""
    if not mapping:
        return block
    eqns = tuple(renamed_eqn(eqn, mapping) for eqn in block.eqns)
    return Block(block.params, eqns, tuple(renamed_atom(out, mapping) for out in block.outs))


def renamed_atom(atom: Atom, mapping: Mapping[Var, Atom]) -> Atom:
    """What an atom is called after renaming, however often it was renamed."""
    while isinstance(atom, Var) and atom in mapping:
        atom = mapping[atom]
    return atom
