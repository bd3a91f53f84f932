"""Reverse mode for `if`, `try`, `for` and `while`.

The reverse of a branch is a branch on the same condition. The reverse of a `try` is the reverse of its
body, if that came to its end. The reverse of a loop is a loop over
what the forward loop collected, backwards: it carries the cotangents of what the loop carried, and
accumulates the cotangents of what its body took from around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...ir.graph import UNDEFINED, ZERO, Atom, Block, Eqn, Var, alternatives
from ...ir.records import field, mutable_record, replace
from ...ir.types import Array, Number, Seq
from ...ops import registry, structure as st
from ..analysis.caught import refused
from ..edges.zero_tangents import NO, YES
from ..residuals.handing import branched, has_completed
from .cotangents import NOTHING, cotangent_of, fits_buffer
from .cotangents_of_lists import as_items

if TYPE_CHECKING:
    from .sweep import Sweep


# --- branches -----------------------------------------------------------------------------


def reverse_if(sweep: Sweep, eqn: Eqn) -> Sequence[Eqn]:
    """`if c: A else: B` becomes `if c: A⁻ else: B⁻`."""
    (then, other), received = _reverse_paths(sweep, eqn, eqn.args[0])
    return [replace(eqn, outs=(*eqn.outs, *received), blocks=(then, other))]


def reverse_try(sweep: Sweep, eqn: Eqn) -> Sequence[Eqn]:
    """`try: A` becomes `if it raised nothing: A⁻`."""
    exception = eqn.outs[0]
    if sweep.bars.has(exception):
        raise refused(eqn)
    completed, asking = has_completed(sweep.block, eqn)
    (body, raised), received = _reverse_paths(sweep, eqn, completed)
    outs = (*eqn.outs, *received)
    return [replace(eqn, outs=outs, args=raised.outs, blocks=(body,)), *asking]


def _reverse_paths(
    sweep: Sweep, eqn: Eqn, condition: Atom
) -> tuple[tuple[Block, Block], list[Var]]:
    """Emit the reverse of two paths; gives the paths that hand over what it needs, and what it is then."""
    merged, blocks = alternatives(eqn)
    given = [k for k, out in enumerate(merged) if sweep.bars.has(out)]
    moves = [sweep.bars.moves_where([merged[k]]) for k in given]
    counts = [sweep.bars.count(merged[k]) for k in given]
    bars = [sweep.bars.take_sum(merged[k]) for k in given]
    branches = [sweep.inner(block, sweep.bars.accumulator, branch=True) for block in blocks]
    for branch in branches:
        for k, bar, moving, count in zip(given, bars, moves, counts, strict=True):
            out = branch.block.outs[k]
            given_bar = of_what_is_there(branch, merged[k], out, bar)
            is_sure = branch is branches[0] and moving == condition
            branch.start(out, given_bar, YES if is_sure else moving, count)
        branch.run()
    return _met(sweep, condition, branches)


def of_what_is_there(sweep: Sweep, merged: Var, part: Atom, bar: Atom) -> Atom:
    """A cotangent that can be added to that of a part of what paths merge.

    For what some path leaves unbound, the list that gives it may hold None.
    """
    may_be_none = merged in sweep.context.unbound and not sweep.bars.can_add(merged)
    if may_be_none and bar != ZERO and isinstance(part, Var) and sweep.bars.can_add(part):
        return sweep.builder.emit(st.accumulate, bar, NOTHING)
    return bar


def reverse_where_it_moves(sweep: Sweep, index: int) -> int:
    """Reverse equations only where their cotangents are more than written-out zeros.

    A group of them, from one on and up, whose cotangents come of the same path: what the path taken does not use is
    not reversed, so that nothing of it is multiplied by such a zero. Gives how many equations were looked at.
    """
    condition, eqns = sweep.bars.condition, sweep.block.eqns
    there, elsewhere = (
        sweep.inner(Block((), (), ()), sweep.bars.accumulator, branch=True) for _ in range(2)
    )
    position = index
    while position >= 0 and _is_of_group(sweep, there, eqns[position], condition, index - position):
        eqn = eqns[position]
        for out in filter(sweep.bars.has, eqn.outs):
            moves = sweep.bars.moves_where([out])
            there.bars.condition = YES if moves == condition else moves
            count = sweep.bars.count(out)
            there.bars.add(out, sweep.bars.take_sum(out), count)
        if any(map(there.bars.has, eqn.outs)):
            there.bars.condition, there.builder.span = YES, eqn.span
            sweep.reverse_at(position, there)
        position -= 1
    sweep.builder.span = eqns[index].span
    _met(sweep, condition, (there, elsewhere))
    return index - position


def _is_of_group(sweep: Sweep, there: Sweep, eqn: Eqn, condition: Atom, after: int) -> bool:
    """Whether an equation is reversed together with some after it: it comes of the same path, or of them."""
    here = [out for out in eqn.outs if sweep.bars.has(out)]
    if not here and not any(map(there.bars.has, eqn.outs)):
        return True
    if after == 0:
        return True
    return sweep.goes_by_rule(eqn) and all(
        sweep.bars.flags([out]).keys() <= {condition} for out in here
    )


def _met(
    sweep: Sweep, condition: Atom, branches: Sequence[Sweep]
) -> tuple[tuple[Block, Block], list[Var]]:
    """Emit the reverse `if` whose paths are reversed, and contribute what they give."""
    captured = dict.fromkeys(var for branch in branches for var in branch.bars.captured())
    results: list[list[Atom]] = [[], []]
    outs: list[Var] = []
    moving = _moving(sweep, condition, branches, captured)
    for var in captured:
        taken_over = _is_taken_over(sweep, branches, var)
        threaded = not taken_over and _is_threaded(sweep, branches, var)
        sweep.bars.condition = moving.where.get(var, YES)
        base = sweep.bars.accumulator(var) if threaded else None
        for branch, result in zip(branches, results, strict=True):
            result.append(_result_of_branch(branch, var, base))
        outs.append(cotangent_of(var))
        if threaded:
            sweep.bars.running[var] = outs[-1]
        elif taken_over:
            sweep.hand_on(var, outs[-1])
        else:
            sweep.bars.add_counted(var, outs[-1])
    for flags, out in moving.merged:
        for result, flag in zip(results, flags, strict=True):
            result.append(flag)
        outs.append(out)
    return branched(sweep, condition, branches, results, outs)


@mutable_record
class _Moving:
    """Where what two paths give to values from around them is more than a written-out zero."""

    where: dict[Var, Atom] = field(default_factory=dict[Var, Atom])
    merged: list[tuple[tuple[Atom, ...], Var]] = field(
        default_factory=list[tuple[tuple[Atom, ...], Var]]
    )
    """What has to come out of the paths for that."""


def _moving(
    sweep: Sweep, condition: Atom, branches: Sequence[Sweep], captured: Iterable[Var]
) -> _Moving:
    moving = _Moving()
    known: dict[tuple[Atom, ...], Atom] = {(YES, NO): condition}
    for var in captured if sweep.context.tracked else ():
        flags = tuple(b.bars.moves_where([var]) if b.bars.has(var) else NO for b in branches)
        if flags == (NO, YES) and flags not in known:
            known[flags] = sweep.builder.emit(st.not_, condition)
        elif flags not in known and len(set(flags)) > 1:
            known[flags] = out = sweep.bars.new_flag()
            moving.merged.append((flags, out))
        moving.where[var] = known.get(flags, flags[0])
    return moving


def _is_taken_over(sweep: Sweep, branches: Sequence[Sweep], var: Var) -> bool:
    """Whether branches give the whole cotangent of a value, nothing of it coming from around them."""
    if sweep.bars.has(var) or not any(var in b.bars.taken_over for b in branches):
        return False
    return all(var in b.bars.taken_over or var not in b.bars.running for b in branches)


def _is_threaded(sweep: Sweep, branches: Sequence[Sweep], var: Var) -> bool:
    """Whether branches add to a running sum, rather than give a contribution of their own."""
    if var in sweep.bars.running or not sweep.bars.is_local(var):
        return True
    if isinstance(var.kind, Number):
        return var in sweep.bars.dense
    return any(var in b.bars.running or var in b.bars.scattered for b in branches)


def _result_of_branch(branch: Sweep, var: Var, base: Atom | None) -> Atom:
    if _never_ends(branch.block):
        return UNDEFINED
    if base is not None and var in branch.bars.taken_over:
        branch.bars.add(var, base)
    elif base is not None:
        branch.bars.running.setdefault(var, base)
    total = branch.bars.take_sum(var)
    return as_buffer(branch, var, branch.zeros(var) if total == ZERO else total)


def _never_ends(block: Block) -> bool:
    return bool(block.eqns) and block.eqns[-1].op is st.raise_


def as_buffer(sweep: Sweep, var: Var, bar: Atom) -> Atom:
    """A cotangent that what is written to can be summed in: of an array an array of its dtype."""
    if var in sweep.context.written.versions and isinstance(var.kind, Seq):
        return as_items(sweep.builder, bar, var.kind)
    if var not in sweep.context.written.versions or not isinstance(var.kind, Array):
        return bar
    if fits_buffer(var, bar):
        return bar
    return sweep.builder.emit(registry.named("add"), sweep.zeros(var), bar)
