"""Whether a tangent moves at all: where paths meet, one may bring a zero that is only written out.

The derivative of the square root at 0 is infinite, and infinity times such a zero is not a number, although nothing
moves. So where a program has singular partials (`singular_partials`), forward mode carries along whether a tangent
is more than a written-out zero, and asks before it multiplies; reverse mode does with cotangents
(`cotangents.moves_where`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import kind_of_atom
from ...ir.graph import ZERO, Atom, Const, Eqn, Var
from ...ir.types import BOOL
from ...ops import elementwise as el, structure as st
from ...ops.cotangent_kinds import tangent_kind
from ...rules.registry import rule_for
from ..analysis.rule_calls import is_choice, partials
from .singular_partials import CHOOSING

if TYPE_CHECKING:
    from ..forward.block import Push

YES, NO = Const(value=True), Const(value=False)


def moves(push: Push, atom: Atom) -> Atom:
    """Whether a value has a tangent that is more than a written-out zero."""
    if not push.has_tangent(atom):
        return NO
    assert isinstance(atom, Var)
    return push.context.moves.get(atom, YES)


def new_flag(push: Push, var: Var) -> Var:
    """A new value for whether the tangent of a value that control flow defines moves."""
    flag = push.context.moves[var] = Var(BOOL, f"{var.name}_moves" if var.name else "moves")
    return flag


def note(push: Push, eqn: Eqn, operands: Sequence[Atom]) -> None:
    """The result of an equation moves if one of its operands does."""
    chosen = where_chosen(push, eqn) if push.context.flagged else {}
    flags = [
        _moves_into(push, each, chosen.get(each)) for each in operands if push.has_tangent(each)
    ]
    if YES in flags or not push.has_tangent(eqn.outs[0]):
        return
    total, *others = dict.fromkeys(flags)
    for flag in others:
        total = push.builder.emit(st.either, total, flag)
    push.context.moves[eqn.outs[0]] = total


def _moves_into(push: Push, operand: Atom, chosen: Atom | None) -> Atom:
    """Whether an operand hands a tangent on: one that is not chosen does not."""
    flag = moves(push, operand)
    if chosen is None or kind_of_atom(chosen) != BOOL:
        return flag
    return chosen if flag == YES else push.builder.emit(st.both, flag, chosen)


def where_chosen(push: Push, eqn: Eqn) -> dict[Atom, Atom]:
    """Of the operands among which an equation chooses, such as those of a maximum, where it chooses each.

    One that it is given twice is chosen in either place, and so everywhere.
    """
    if eqn.op is el.mul:
        pairs = list(zip(eqn.args, reversed(eqn.args), strict=True))
    elif eqn.op.name in CHOOSING and (rule := rule_for(eqn.op)) is not None:
        pairs = partials(push.builder, push.context.read, eqn, rule, push.has_tangent)
    else:
        return {}
    once = [pair for pair in pairs if eqn.args.count(pair[0]) == 1]
    return {operand: partial for operand, partial in once if is_choice(partial)}


def where_it_moves(push: Push, eqn: Eqn, operands: Sequence[Atom], dot: Callable[[], Atom]) -> Atom:
    """The tangent of an equation with a singular partial, computed only where something moves."""
    flags = [moves(push, each) for each in operands if push.has_tangent(each)]
    if len(set(flags)) != 1 or flags[0] == YES or eqn not in push.context.flagged:
        return dot()
    outer = push.builder
    push.builder = outer.child()  # type: ignore[assignment]
    computed = dot()
    if computed == ZERO:
        push.builder = outer
        return ZERO
    then = push.builder.block((), (computed,))
    push.builder = outer.child()  # type: ignore[assignment]
    other = push.builder.block((), (push.builder.emit(st.zeros, eqn.outs[0]),))
    push.builder = outer
    out = Var(tangent_kind(eqn.outs[0].kind))
    outer.if_(flags[0], then, other, (out,))
    return out
