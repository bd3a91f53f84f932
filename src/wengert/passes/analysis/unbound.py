"""Which values a path of the program may leave unbound."""

from __future__ import annotations

from collections.abc import Sequence, Set as AbstractSet

from ...ir.graph import UNDEFINED, Block, Const, Eqn, Function, Var, walk
from ...ir.records import replace
from ...ir.types import leaves
from ...ops.program import memory as me
from ..blocks.flow import flow, reached


def unbound_inputs(function: Function) -> set[Var]:
    """The parameters that are names of the function around it which a path may leave unbound."""
    params = iter(function.body.params)
    own = [(each, next(params)) for each in function.inputs for _ in leaves(each.kind)]
    return {param for each, param in own if each.how == "unbound"}


def may_be_unbound(body: Block, given: AbstractSet[Var] = frozenset()) -> set[Var]:
    """The values that may be UNDEFINED: those that a branch or a loop merges with it, and those given."""
    pairs = [p for eqn in walk(body) if eqn.blocks or eqn.op in me.COPIES for p in flow(eqn)]
    return reached(pairs, lambda atom: atom == UNDEFINED or atom in given).union(given)


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
