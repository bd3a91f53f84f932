"""Remarks: what equations say for the sake of derivatives only.

In: a function that nobody differentiates any more. Out: the same function without them.
"""

from __future__ import annotations

from ...ir.graph import Atom, Block, Eqn, Function, Var, walk
from ...ir.records import replace
from ...ir.renaming import renamed_atom, renamed_eqn
from ...ops import structure as st
from ...ops.program import implicit as im
from .tidy import tidy

_REMARKS = (im.root, st.means, st.ruled)
"""Ops that give their first operand."""


def without_remarks(function: Function) -> Function:
    """The function as it runs."""
    if not any(eqn.op in _REMARKS for eqn in walk(function.body)):
        return function
    return tidy(replace(function, body=_plain(function.body, {})))


def _plain(block: Block, mapping: dict[Var, Atom]) -> Block:
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        if eqn.op in _REMARKS:
            mapping[eqn.outs[0]] = renamed_atom(eqn.args[0], mapping)
            continue
        blocks = tuple(_plain(inner, mapping) for inner in eqn.blocks)
        eqns.append(replace(renamed_eqn(replace(eqn, blocks=()), mapping), blocks=blocks))
    outs = tuple(renamed_atom(out, mapping) for out in block.outs)
    return Block(block.params, tuple(eqns), outs)
