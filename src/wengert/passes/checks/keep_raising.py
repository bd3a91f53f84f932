"""What nothing reads, and yet may raise, is computed all the same.

In: a function as it was read, before any equation of it is left out. Out: the same function, in which such
results are *evaluated*: an effect, which stays in every derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ...ir.graph import Block, Eqn, Function, Var, callees, walk
from ...ir.records import replace
from ...ir.types import NONE
from ...ops.program.identity import evaluated
from ...ops.program.operand_checks import is_checked, is_checked_by_its_rule
from ..blocks.tidy import Needed


def with_unread_evaluated(
    function: Function, is_among: Callable[[Eqn], bool] = lambda eqn: True
) -> Function:
    """The function, in which what it computes for nothing is evaluated where that may raise."""
    needed = Needed(function.body, raising=False)
    unread: set[Eqn] = set()
    for eqn in reversed(list(walk(function.body))):
        if eqn not in needed.eqns and is_among(eqn) and is_checked(eqn):
            unread.add(eqn)
            needed.keep(eqn)
    if not unread:
        return function
    return replace(function, body=_with_evaluations(function.body, unread))


def with_all_evaluated(function: Function) -> Function:
    """The same for a function and those that it calls: these get other bodies."""
    for callee in callees([function]):
        assert callee.function is not None
        callee.function = with_unread_evaluated(callee.function)
    return with_unread_evaluated(function)


def with_primal_evaluated(
    derivative: Function, primal: Block, differentiated: Iterable[Eqn]
) -> Function:
    """A derivative in which what the primal computes is evaluated where that may raise.

    What is `differentiated` raises in its derivative, as a rule.
    """
    own = {out for eqn in walk(primal) for out in eqn.outs}
    done = {out for eqn in differentiated if is_checked_by_its_rule(eqn) for out in eqn.outs}
    return with_unread_evaluated(
        derivative, lambda eqn: own.issuperset(eqn.outs) and not done.issuperset(eqn.outs)
    )


def _with_evaluations(block: Block, unread: set[Eqn]) -> Block:
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        inner = tuple(_with_evaluations(each, unread) for each in eqn.blocks)
        eqns.append(replace(eqn, blocks=inner) if inner else eqn)
        if eqn in unread:
            eqns.append(Eqn((Var(NONE),), evaluated, eqn.outs[:1], span=eqn.span))
    return replace(block, eqns=tuple(eqns))
