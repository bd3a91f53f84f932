"""Keys that only the run knows.

In: a program, before it is differentiated. Out: the same program, which refuses when it runs to keep an entry
under a number that has a derivative: a key has none. Where the kind of a key says so, the program is refused when
it is read (`activity`).
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import Block, Eqn, Function, Var, walk
from ...ir.records import replace
from ...ir.types import NONE, UNKNOWN, Kind, Seq, Struct
from ...ops.program import containers as co, identity as ident
from . import active_refusals, activity


def with_keys_checked(function: Function, wrt: Sequence[int]) -> Function:
    """A function that checks the keys that depend on some of its parameters."""
    body = function.body
    if not any(_keys_in_doubt(eqn) for eqn in walk(body)):
        return function
    varied = activity.depending(body, [body.params[k] for k in wrt])
    return replace(function, body=_checked(body, varied))


def _checked(block: Block, varied: Container[Var]) -> Block:
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        owner = () if eqn.op is co.dict_of else eqn.args[:1]
        eqns += (
            Eqn((Var(NONE),), ident.no_number, (key, *owner), {}, (), "rt", eqn.span)
            for key in _keys_in_doubt(eqn)
            if key in varied
        )
        blocks = tuple(_checked(inner, varied) for inner in eqn.blocks)
        eqns.append(replace(eqn, blocks=blocks) if blocks else eqn)
    return replace(block, eqns=tuple(eqns))


def _keys_in_doubt(eqn: Eqn) -> list[Var]:
    return [
        key
        for key in active_refusals.keys_of(eqn)
        if isinstance(key, Var) and _may_hold_anything(kind_of_atom(key))
    ]


def _may_hold_anything(kind: Kind) -> bool:
    match kind:
        case Seq(item=item):
            return _may_hold_anything(item)
        case Struct(items=items):
            return any(map(_may_hold_anything, items))
        case _:
            return kind == UNKNOWN
