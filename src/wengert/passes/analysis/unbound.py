"""Which values a path of the program may leave unbound."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet

from ...ir.graph import (
    IF,
    TRY,
    UNDEFINED,
    Atom,
    Block,
    Const,
    Eqn,
    Function,
    Var,
    alternatives,
    walk,
)
from ...ir.records import replace
from ...ir.types import leaves
from ...ops.program import memory as me
from ..blocks.loops import LOOPS, view


def unbound_inputs(function: Function) -> set[Var]:
    """The parameters that are names of the function around it which a path may leave unbound."""
    params = iter(function.body.params)
    own = [(each, next(params)) for each in function.inputs for _ in leaves(each.kind)]
    return {param for each, param in own if each.how == "unbound"}


def may_be_unbound(body: Block, given: AbstractSet[Var] = frozenset()) -> set[Var]:
    """The values that may be UNDEFINED: those that a branch or a loop merges with it, and those given."""
    flow = [pair for eqn in walk(body) for pair in merged(eqn)]
    return reached(flow, lambda atom: atom == UNDEFINED or atom in given).union(given)


def reached(flow: Iterable[tuple[Var, Iterable[Atom]]], starts: Callable[[Atom], bool]) -> set[Var]:
    """The values that may be, or come from, an atom that starts: each of `flow` comes from all beside it."""
    flow = [(out, tuple(atoms)) for out, atoms in flow]
    found: set[Var] = set()
    before = -1
    while before != len(found):
        before = len(found)
        for out, atoms in flow:
            if out not in found and any(atom in found or starts(atom) for atom in atoms):
                found.add(out)
    return found


def merged(eqn: Eqn) -> Iterable[tuple[Var, Iterable[Atom]]]:
    """What control flow, or a copy, defines, each beside the values that it may be."""
    if eqn.op in (IF, TRY):
        outs, blocks = alternatives(eqn)
        return [(out, [block.outs[k] for block in blocks]) for k, out in enumerate(outs)]
    if eqn.op in me.COPIES:
        return [(eqn.outs[0], eqn.args)]
    if eqn.op not in LOOPS:
        return ()
    loop = view(eqn)
    slots = list(zip(loop.initials, loop.results, strict=True))
    outs = zip((*loop.carried, *loop.outs), (*slots, *slots), strict=True)
    tests = zip(loop.test.params, slots, strict=True) if loop.test is not None else ()
    lists = zip(loop.lists, ([atom] for atom in loop.collected), strict=True)
    # what iterating over such a list gives may be unbound as well
    return [
        *outs,
        *tests,
        *lists,
        *zip(loop.items, ([each] for each in loop.iterables), strict=True),
    ]


def with_unbound_marked(function: Function) -> Function:
    """The function in which a snapshot of what may be unbound is one that can be taken of that."""
    body = block_with_unbound_marked(function.body, given=unbound_inputs(function))
    return replace(function, body=body)


def block_with_unbound_marked(
    block: Block, before: Sequence[Eqn] = (), given: AbstractSet[Var] = frozenset()
) -> Block:
    """`with_unbound_marked` of a block that reads values of the equations before it, and such inputs."""
    if not any(eqn.op in me.COPIES for eqn in walk(block)):
        return block
    unbound = may_be_unbound(replace(block, eqns=(*before, *block.eqns)), given)
    return _marked(block, unbound) if unbound else block


def _marked(block: Block, unbound: set[Var]) -> Block:
    return replace(block, eqns=tuple(_marked_eqn(eqn, unbound) for eqn in block.eqns))


def _marked_eqn(eqn: Eqn, unbound: set[Var]) -> Eqn:
    if eqn.op in me.COPIES and eqn.args[0] in unbound:
        return replace(eqn, params={**eqn.params, "unbound": Const(True)})
    if not eqn.blocks:
        return eqn
    return replace(eqn, blocks=tuple(_marked(block, unbound) for block in eqn.blocks))
