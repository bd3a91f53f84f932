"""Sums of arrays that a loop adds up are added up in one place.

In: a function whose loops carry `x_bar = x_bar + term` from zeros on, as backward sweeps do for all that a loop reads.
Out: the same function, in which each turn adds its term to the memory of `x_bar`: a product of two vectors is added
without being written down, and no turn takes memory for another sum.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ....ir.builder import kind_of_atom
from ....ir.graph import FOR, WHILE, Block, Const, Eqn, Function, Var, used_by, used_in
from ....ir.records import replace
from ....ir.types import Array, Number
from ....ops import structure as st

_EVERYWHERE = Const(Ellipsis)


def with_sums_in_place(function: Function) -> Function:
    """The function, whose loops add arrays up in place."""
    return replace(function, body=_block(function.body))


def _block(block: Block) -> Block:
    zeros = {eqn.outs[0] for eqn in block.eqns if eqn.op is st.zeros and _is_array(eqn.outs[0])}
    if zeros:
        uses = Counter(used_in(block))
        zeros = {var for var in zeros if uses[var] == 1}
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        made = eqn
        for var in zeros.intersection(_carried(eqn)):
            made = _in_loop(made, var) or made
        if made.blocks:
            made = replace(made, blocks=tuple(map(_block, made.blocks)))
        eqns.append(made)
    return replace(block, eqns=tuple(eqns))


def _is_array(var: Var) -> bool:
    return isinstance(var.kind, Array) and var.kind.dtype == "float64" and bool(var.kind.rank)


def _carried(eqn: Eqn) -> Iterator[Var]:
    """What a loop starts with."""
    if eqn.op in (FOR, WHILE) and not eqn.param("stop", False):
        yield from (atom for atom in eqn.args[eqn.param("iterables", 0) :] if isinstance(atom, Var))


def _in_loop(eqn: Eqn, initial: Var) -> Eqn | None:
    """A loop that adds to a variable in place; None where it does anything else with it."""
    n, k = eqn.param("iterables", 0), eqn.args.index(initial)
    *tests, body = eqn.blocks
    if k < n or any(test.params[k - n] in used_in(test) for test in tests):
        return None
    found = _added_up(body, body.params[k])
    if found is None:
        return None
    eqns, end = found
    if body.outs.count(end) != 1 or body.outs[k - n] is not end:
        return None
    return replace(eqn, blocks=(*tests, replace(body, eqns=tuple(eqns))))


def _added_up(block: Block, total: Var) -> tuple[list[Eqn], Var] | None:
    """The equations of a block that does nothing but add to an array, in place, and what the array is at the end."""
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        uses = sum(var is total for var in used_by(eqn))
        made = _adding(eqn, total) if uses == 1 else eqn
        if uses > 1 or made is None:
            return None
        if uses:
            total = made.outs[made.args.index(total) - made.param("iterables", 0)]
        eqns.append(made)
    return eqns, total


def _adding(eqn: Eqn, total: Var) -> Eqn | None:
    if total in _carried(eqn):
        return _in_loop(eqn, total)
    if eqn.op is st.add_at:
        return eqn if eqn.args[0] is total else None
    if eqn.op.name != "add" or eqn.params or eqn.outs[0].kind != total.kind:
        return None
    (term,) = (arg for arg in eqn.args if arg is not total)
    if not isinstance(kind_of_atom(term), (Array, Number)):
        return None
    return replace(eqn, op=st.add_at, args=(total, _EVERYWHERE, term), namespace="py")
