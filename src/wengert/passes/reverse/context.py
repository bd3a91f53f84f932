"""What the reversal of all blocks of one function shares."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from ...ir.builder import Builder
from ...ir.graph import (
    IF,
    TRY,
    Atom,
    Block,
    Callee,
    Eqn,
    Function,
    Var,
    alternatives,
    free_vars,
    walk,
)
from ...ir.records import field, mutable_record
from ...ops import structure as st
from ..analysis import activity
from ..analysis.unbound import may_be_unbound, unbound_inputs
from ..analysis.write_sets import Written, written
from ..blocks.loops import LOOPS
from ..edges.masks import Masks, derived_from, leading_to, steep_under_masks
from ..edges.singular_partials import quiet_equations

Read = Callable[
    [Builder, Callable[..., Any], Sequence[Atom], Mapping[str, Atom], str],
    "Atom | tuple[Atom, ...]",
]


@mutable_record
class Context:
    """What the reversal of all blocks of one function shares.

    `maybe_complex` says that a value of unknown kind may be complex; `scalars` are values known to be
    numbers or 0-d arrays, though their kind may be unknown; `written` is what the program writes to.
    """

    read: Read
    active: set[Var]
    maybe_complex: bool = False
    scalars: set[Var] = field(default_factory=set[Var])
    arithmetic: set[Var] = field(default_factory=set[Var])
    maybe_none: frozenset[Atom] = frozenset()
    unbound: Collection[Atom] = ()
    """Values that a path of the program leaves unbound: what collects the cotangents of others has None for them."""
    written: Written = field(default_factory=Written)
    fixed: bool = False
    """Whether containers whose items are known one by one keep just these."""
    callees: dict[Any, tuple[Callee, Callee]] = field(
        default_factory=dict[Any, tuple[Callee, Callee]]
    )
    reversed: set[Eqn] = field(default_factory=set[Eqn])
    """The equations whose rules have been applied."""
    singular: frozenset[Eqn] = frozenset()
    """The equations whose derivative may be infinite, or NaN, where nothing raises."""
    steep: Collection[Var] = ()
    """The values whose cotangents may be infinite: an equation with such a derivative follows."""
    tracked: bool = False
    """Whether it is asked under which conditions cotangents are more than written-out zeros."""
    masks: Masks = field(default_factory=Masks)
    """Of which values it is counted what is used of them."""
    last: Eqn | None = None
    """The last checkpointed call, where it is reversed as soon as it has run: it need not run again."""


def context_of(
    read: Read, function: Function, inputs: Sequence[Var], outs: Sequence[Atom], maybe_complex: bool
) -> Context:
    """What the sweeps of a function's reverse know of it."""
    body = function.body
    context = Context(read, activity.active(body, inputs, _vars(outs)), maybe_complex)
    context.written = written(body)
    context.maybe_none = asked_for_none(body)
    context.singular = frozenset(
        eqn for eqn in quiet_equations(body) if not context.active.isdisjoint(eqn.outs)
    )
    context.steep = leading_to(body, context.singular)
    context.tracked = bool(context.singular) or any(eqn.op in (IF, TRY) for eqn in walk(body))
    context.singular |= steep_under_masks(body, context.active)
    if context.singular:
        in_loops = {
            out
            for eqn in walk(body)
            if eqn.op in LOOPS
            for each in walk(eqn.blocks[-1])
            for out in each.outs
        }
        changing = in_loops.intersection(context.written.versions)  # they keep their buffers
        context.masks.wanted = derived_from(body, context.singular) - changing
    context.unbound = may_be_unbound(body, unbound_inputs(function))
    return context


def asked_for_none(body: Block) -> frozenset[Atom]:
    """The values that the program compares with None: they may be numbers on some paths only."""
    questions = (st.is_, st.is_not)
    return frozenset(eqn.args[0] for eqn in walk(body) if eqn.op in questions)


def scalars_above(block: Block, out: Var) -> set[Var]:
    """The values that are scalars because an elementwise op makes a scalar of them."""
    found = {out}
    for eqn in reversed(block.eqns):
        if not any(result in found for result in eqn.outs):
            continue
        if eqn.op in (IF, TRY):
            found |= _scalars_in(*alternatives(eqn), found)
        elif eqn.op.elementwise:
            found.update(_vars(eqn.args))
    return found


def _scalars_in(outs: Sequence[Var], blocks: Sequence[Block], scalars: set[Var]) -> set[Var]:
    """The values that are scalars because some of what alternative blocks give are.

    What a block made itself is there only if it ran; what is from outside has to follow from all of them.
    """
    inside, outside = set[Var](), list[set[Var]]()
    for block in blocks:
        found = set[Var]()
        for result, atom in zip(outs, block.outs, strict=True):
            if result in scalars and isinstance(atom, Var):
                found |= scalars_above(block, atom)
        captured = found & free_vars(block).keys()
        inside |= found - captured
        outside.append(captured)
    return inside.union(set.intersection(*outside))


def _vars(atoms: Iterable[Atom]) -> list[Var]:
    return [atom for atom in atoms if isinstance(atom, Var)]
