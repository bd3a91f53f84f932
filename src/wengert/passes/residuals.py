"""Residuals: what a reverse sweep needs to know of the forward sweep.

A value of the forward block that the reverse block uses is either carried over (collected by a
loop, returned by a branch or a function) or, where that is as cheap, computed again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import Atom, Block, Const, Eqn, Var, free_vars
from ..ir.types import SLICE, Kind, Number, Struct
from ..ops import structure as st

_INTEGER_ARITHMETIC = frozenset(("add", "sub", "mul", "neg", "pos", "floordiv", "mod"))


class Plan(NamedTuple):
    """`carried` values are handed over; `again` are the equations to run again, in order."""

    carried: list[Var]
    again: list[Eqn]


def plan(
    forward: Sequence[Eqn],
    params: Iterable[Var],
    reverse: Block,
    available: Iterable[Var] = (),
) -> Plan:
    """How a reverse block comes by the values of its forward block.

    Args:
        forward: the equations of the forward block.
        params: the parameters of the forward block.
        reverse: the reverse block, which uses values of the forward block as if it were inside.
        available: values of the forward block that the reverse block has at no cost.
    """
    defined = {out: eqn for eqn in forward for out in eqn.outs}
    own = {*defined, *params}
    free = set(available)
    needed = [var for var in free_vars(reverse) if var in own and var not in free]
    cheap = {var for var in needed if var in defined and is_cheap(defined[var])}
    known = free | {var for var in needed if var not in cheap}
    again = _computable(forward, own, known)
    carried = [var for var in needed if var not in again]
    return Plan(carried, _closure(forward, [var for var in needed if var in again], again))


def _computable(forward: Sequence[Eqn], own: set[Var], known: set[Var]) -> set[Var]:
    """The values that cheap equations give from what is known."""
    found: set[Var] = set()
    for eqn in forward:
        if is_cheap(eqn) and all(
            not isinstance(atom, Var) or atom not in own or atom in known or atom in found
            for atom in eqn.operands()
        ):
            found.update(out for out in eqn.outs if out not in known)
    return found


def _closure(forward: Sequence[Eqn], wanted: list[Var], again: set[Var]) -> list[Eqn]:
    if not wanted:
        return []
    want = set(wanted)
    chosen: list[Eqn] = []
    for eqn in reversed(forward):
        if any(out in want for out in eqn.outs):
            chosen.append(eqn)
            want.update(atom for atom in eqn.operands() if isinstance(atom, Var) and atom in again)
    return chosen[::-1]


def is_cheap(eqn: Eqn) -> bool:
    """Whether an equation costs no more than fetching its stored result."""
    if eqn.op is st.getitem:
        return _is_basic(kind_of_atom(eqn.args[1]), eqn.args[1])
    if eqn.op in (st.getattr_, st.slice_, st.length, st.range_, st.global_):
        return True
    if eqn.op is st.pack:
        return eqn.param("form") == "tuple" and all(
            _is_basic(kind_of_atom(arg), arg) for arg in eqn.args
        )
    integers = all(kind_of_atom(arg) == Number("int") for arg in eqn.args)
    return eqn.op.name in _INTEGER_ARITHMETIC and integers


def _is_basic(kind: Kind, index: Atom) -> bool:
    """Whether reading by this index copies no array."""
    if isinstance(kind, Number):
        return True
    if isinstance(kind, Struct):
        return kind.form == "tuple" and all(_is_basic(item, index) for item in kind.items)
    if isinstance(index, Const):
        return not isinstance(index.value, list)
    return kind == SLICE or str(kind) == "str"


# --- repeated work ------------------------------------------------------------------------


def shared(eqns: Sequence[Eqn], mapping: dict[Var, Atom], before: Sequence[Eqn] = ()) -> list[Eqn]:
    """Derivative code in which nothing is computed twice in one block.

    Args:
        eqns: the equations.
        mapping: how to rename what they read; the results that are left out are entered into it.
        before: equations that run before these, whose results may be used.
    """
    known: dict[object, Var] = {}
    for eqn in before:
        if (key := _meaning(eqn)) is not None:
            known.setdefault(key, eqn.outs[0])
    kept: list[Eqn] = []
    for original in eqns:
        eqn = renamed_eqn(original, mapping) if mapping else original
        key = _meaning(eqn)
        if key is not None and key in known:
            mapping[eqn.outs[0]] = known[key]
            continue
        if key is not None:
            known[key] = eqn.outs[0]
        kept.append(eqn)
    return kept


def _meaning(eqn: Eqn) -> object | None:
    """What an equation computes, if computing it once serves as well as twice."""
    if eqn.blocks or eqn.op.effect or len(eqn.outs) != 1:
        return None
    if not (eqn.op.elementwise or eqn.op.reduction or is_cheap(eqn)):
        return None
    namespace = "" if eqn.op.reduction else eqn.namespace
    return eqn.op, eqn.args, frozenset(eqn.params.items()), namespace


# --- renaming -----------------------------------------------------------------------------


def clone(var: Var) -> Var:
    """Another value of the same kind, name and shape."""
    return Var(var.kind, var.name, var.shape_of)


def clones(variables: Iterable[Var]) -> dict[Var, Var]:
    """A new value for each of some values."""
    return {var: clone(var) for var in variables}


def recomputed(again: Sequence[Eqn], mapping: dict[Var, Atom]) -> list[Eqn]:
    """Equations run a second time: their results get new names, entered into `mapping`."""
    result: list[Eqn] = []
    for eqn in again:
        fresh = clones(eqn.outs)
        renamed = renamed_eqn(eqn, mapping)
        mapping.update(fresh)
        result.append(replace(renamed, outs=tuple(fresh.values())))
    return result


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


def refolded(eqns: Sequence[Eqn], mapping: dict[Var, Atom]) -> list[Eqn]:
    """Derivative code with some values renamed, simplified where they became constants.

    Results that simplify away are entered into `mapping`.
    """
    builder = Builder(derived=True)
    for eqn in eqns:
        builder.span = eqn.span
        blocks = tuple(_refolded_block(block, mapping) for block in eqn.blocks)
        renamed = replace(renamed_eqn(replace(eqn, blocks=()), mapping), blocks=blocks)
        folded = _folded(builder, eqn, renamed)
        if folded is None:
            builder.append(renamed)
        else:
            mapping[eqn.outs[0]] = folded
    return builder.eqns


def _folded(builder: Builder, eqn: Eqn, renamed: Eqn) -> Atom | None:
    pairs = zip(eqn.args, renamed.args, strict=True)
    if eqn.op.fold is None or not any(
        old is not new and isinstance(new, Const) for old, new in pairs
    ):
        return None
    return eqn.op.fold(builder, renamed.args, renamed.params, renamed.namespace)


def _refolded_block(block: Block, mapping: dict[Var, Atom]) -> Block:
    eqns = tuple(refolded(block.eqns, mapping))
    return Block(block.params, eqns, tuple(renamed_atom(out, mapping) for out in block.outs))


def renamed_atom(atom: Atom, mapping: Mapping[Var, Atom]) -> Atom:
    """What an atom is called after renaming, however often it was renamed."""
    while isinstance(atom, Var) and atom in mapping:
        atom = mapping[atom]
    return atom
