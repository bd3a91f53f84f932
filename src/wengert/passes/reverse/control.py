"""Reverse mode for `if`, `try`, `for` and `while`.

The reverse of a branch is a branch on the same condition. The reverse of a `try` is the reverse of its
body, if that came to its end. The reverse of a loop is a loop over
what the forward loop collected, backwards: it carries the cotangents of what the loop carried, and
accumulates the cotangents of what its body took from around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import kind_of_atom
from ...ir.graph import UNDEFINED, ZERO, Atom, Block, Eqn, Var, alternatives, walk
from ...ir.records import field, mutable_record, replace
from ...ir.renaming import clones, renamed_atom
from ...ir.types import BOOL, UNKNOWN, Array, Kind, Number, Seq
from ...ops import registry, structure as st
from ..analysis.caught import refused
from ..blocks.loops import Loop, Slot, for_eqn, rebuilt, view
from ..edges.zero_tangents import NO, YES
from ..residuals.handing import (
    branched,
    counted_trips,
    has_completed,
    items_again,
    plural,
    walks_again,
    with_residuals,
)
from ..residuals.plan import plan, refolded
from .checkpointing import run_again, runs_again
from .cotangents import NOTHING, as_items, bar_name, cotangent_of, fits_buffer
from .structure import cotangent_of_iterable

if TYPE_CHECKING:
    from ..analysis.recording import Recording
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
    bars = [sweep.bars.sum_so_far(merged[k]) for k in given]
    branches = [sweep.inner(block, sweep.bars.accumulator, branch=True) for block in blocks]
    for branch in branches:
        for k, bar, moving, count in zip(given, bars, moves, counts, strict=True):
            out = branch.block.outs[k]
            given_bar = _of_what_is_there(branch, merged[k], out, bar)
            is_sure = branch is branches[0] and moving == condition
            branch.start(out, given_bar, YES if is_sure else moving, count)
        branch.run()
    return _met(sweep, condition, branches)


def _of_what_is_there(sweep: Sweep, merged: Var, part: Atom, bar: Atom) -> Atom:
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
            there.bars.add(out, sweep.bars.sum_so_far(out), count)
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
    total = branch.bars.sum_so_far(var)
    return _as_buffer(branch, var, branch.zeros(var) if total == ZERO else total)


def _never_ends(block: Block) -> bool:
    return bool(block.eqns) and block.eqns[-1].op is st.raise_


# --- loops --------------------------------------------------------------------------------


@mutable_record
class _ReverseLoop:
    """The reverse of a loop while it is being put together."""

    loop: Loop
    body: Sweep
    slots: list[Slot] = field(default_factory=list[Slot])
    """Cotangents carried: of the carried values, then of what the body takes from around it."""
    carried: dict[int, Slot] = field(default_factory=dict[int, Slot])
    captured: dict[Var, Slot] = field(default_factory=dict[Var, Slot])
    moves: dict[int, Slot] = field(default_factory=dict[int, Slot])
    """Whether the cotangents of carried values are more than written-out zeros, where that is asked for."""
    moving: list[Slot] = field(default_factory=list[Slot])
    """Whether any iteration gave to a value from around it more than a written-out zero."""
    given: list[tuple[Atom, Var]] = field(default_factory=list[tuple[Atom, Var]])
    """Lists of cotangents of the collected results, with their items."""
    fixed: dict[Var, Atom] = field(default_factory=dict[Var, Atom])
    """What slots that turned out not to be needed stand for."""
    gathered: list[tuple[int, Atom, Var, Atom]] = field(
        default_factory=list[tuple[int, Atom, Var, Atom]]
    )
    """Per active iterable: its number, the cotangent of an item, the list of them, whether any moves."""
    counts: dict[int, int] = field(default_factory=dict[int, int])
    """Of an iterable, by number, where it is gathered which of its items are used."""
    first: Recording | None = None
    """Of a loop that runs again: how it runs first."""


def reverse_loop(sweep: Sweep, eqn: Eqn) -> Sequence[Eqn]:
    """Run the loop's iterations backwards."""
    loop = view(eqn)
    recording: Recording | None = None
    if runs_again(loop):
        from ..analysis.recording import recorded

        recording = recorded(loop.body, sweep.context.active)
    if recording is not None:
        loop = view(replace(eqn, blocks=(*eqn.blocks[:-1], recording.again)))
    body = sweep.inner(loop.body, lambda var: _capture(state, sweep, var))
    body.in_loop = True
    state = _ReverseLoop(loop, body)
    state.first = recording
    _start(state, sweep)
    for k, slot in state.carried.items():
        moves = state.moves[k].param if k in state.moves else YES
        bar = _of_what_is_there(body, loop.outs[k], loop.results[k], slot.param)
        body.start(loop.results[k], bar, moves)
    _hand_on_given_items(state, sweep)
    body.run()
    _end(state, sweep)
    forward = _emit_reverse(state, sweep)
    _contribute_results(state, sweep)
    return forward


def _start(state: _ReverseLoop, sweep: Sweep) -> None:
    """One slot for the cotangent of each active carried value."""
    loop = state.loop
    asked = not sweep.context.singular.isdisjoint(walk(loop.body))
    for k, (param, out) in enumerate(zip(loop.carried, loop.outs, strict=True)):
        if sweep.is_active(param) or sweep.is_active(out):
            moves = sweep.bars.moves_where([out]) if sweep.bars.has(out) else NO
            if asked and moves != YES:
                flags = sweep.bars.new_flag(), sweep.bars.new_flag()
                state.moves[k] = Slot(moves, flags[0], NO, flags[1])
            initial = sweep.total(out)
            initial = sweep.zeros(out) if initial == ZERO else _as_buffer(sweep, out, initial)
            bar = cotangent_of(out, _kind_of_slot(param.kind, kind_of_atom(initial)))
            bar.shape_of = _shape_of(loop.results[k], bar)
            before = cotangent_of(param)
            before.shape_of = _shape_of(loop.initials[k], before)
            state.carried[k] = Slot(initial, bar, ZERO, before)


def _kind_of_slot(kind: Kind, initial: Kind) -> Kind:
    """The kind of a carried cotangent; those of lists in a list may be arrays."""
    nested = isinstance(kind, Seq) and isinstance(kind.item, Seq)
    return UNKNOWN if nested and initial == UNKNOWN else st.gradient_kind(kind)


def _as_buffer(sweep: Sweep, var: Var, bar: Atom) -> Atom:
    """A cotangent that what is written to can be summed in: of an array an array of its dtype."""
    if var in sweep.context.written.versions and isinstance(var.kind, Seq):
        return as_items(sweep.builder, bar, var.kind)
    if var not in sweep.context.written.versions or not isinstance(var.kind, Array):
        return bar
    if fits_buffer(var, bar):
        return bar
    return sweep.builder.emit(registry.named("add"), sweep.zeros(var), bar)


def _shape_of(atom: Atom, default: Var) -> Var:
    return atom.shape_of if isinstance(atom, Var) else default


def _hand_on_given_items(state: _ReverseLoop, sweep: Sweep) -> None:
    """Start from the items of the cotangents of collected results."""
    body = state.body
    for out, result in zip(state.loop.lists, state.loop.collected, strict=True):
        if not sweep.bars.has(out):
            continue
        moves = sweep.bars.moves_where([out])
        bar = item = Var(st.gradient_kind(kind_of_atom(result)))
        if isinstance(result, Var):
            bar = item = cotangent_of(result)
            if (
                item.kind == UNKNOWN
                and result in sweep.context.unbound
                and body.bars.can_add(result)
            ):
                bar = body.builder.emit(st.accumulate, item, NOTHING)
        state.given.append((sweep.total(out), item))
        body.start(result, bar, moves)


def _capture(state: _ReverseLoop, sweep: Sweep, var: Var) -> Atom:
    """The accumulator of a value from around the loop: carried by the reverse loop."""
    conditions = dict(sweep.bars.moves.get(var, {}))
    slot = Slot(sweep.bars.accumulator(var), cotangent_of(var), ZERO, cotangent_of(var))
    sweep.bars.moves[var] = conditions
    state.captured[var] = slot
    return slot.param


def _end(state: _ReverseLoop, sweep: Sweep) -> None:
    """The cotangents at the start of an iteration, written out."""
    body, loop = state.body, state.loop
    for k, slot in state.carried.items():
        param = loop.carried[k]
        if k in state.moves and body.bars.has(param):
            state.moves[k].result = body.bars.moves_where([param])
        total = body.total(param)
        slot.result = (
            _zeros_of_slot(body, param) if total == ZERO else _as_buffer(body, param, total)
        )
    for j, (item, iterable) in enumerate(zip(loop.items, loop.iterables, strict=True)):
        if sweep.is_active(iterable) and sweep.is_active(item):
            moves = body.bars.moves_where([item]) if body.bars.has(item) else NO
            bar = body.total_or_zeros(item)
            kind = Seq(st.gradient_kind(item.kind))
            name = bar_name(iterable) if isinstance(iterable, Var) else ""
            counted = isinstance(iterable, Var) and sweep.context.masks.counts(iterable)
            if counted and moves not in (YES, NO):
                state.counts[j] = len(state.gathered)
                state.gathered.append((j, moves, Var(Seq(BOOL)), NO))
            moves = _in_any_iteration(state, sweep, iterable, moves)
            state.gathered.append((j, bar, Var(kind, name), moves))
    for var in body.bars.captured():
        moves = body.bars.moves_where([var])
        body.bars.accumulator(var)
        slot = state.captured[var]
        slot.result = body.bars.sum_so_far(var)
        sweep.bars.moves[var][_in_any_iteration(state, sweep, var, moves)] = None
    slots = state.carried, state.captured, state.moves
    state.slots = [*(slot for group in slots for slot in group.values()), *state.moving]


def _in_any_iteration(state: _ReverseLoop, sweep: Sweep, value: Atom, moves: Atom) -> Atom:
    """Whether a condition holds in any iteration of a loop: asked for after it."""
    if moves in (YES, NO):
        return moves
    if not sweep.context.singular or isinstance(kind_of_atom(value), Array):
        return YES  # of arrays the entries that are used are counted
    before = sweep.bars.new_flag()
    found = state.body.builder.emit(st.either, before, moves)
    state.moving.append(Slot(NO, before, found, sweep.bars.new_flag()))
    return state.moving[-1].out


def _zeros_of_slot(body: Sweep, param: Var) -> Atom:
    return NOTHING if isinstance(param.kind, Number) else body.zeros(param)


def _emit_reverse(state: _ReverseLoop, sweep: Sweep) -> Sequence[Eqn]:
    """Emit the reverse loop; gives the forward loop that collects what it needs."""
    loop, body = state.loop, state.body
    forward = body.forward_eqns()
    params = (*loop.items, *loop.carried)
    reverse = _without_fixed_slots(state)
    clobbered = sweep.context.written.clobbered
    free = loop.items if walks_again(loop, clobbered) else ()
    if state.first is not None:
        needed = run_again(forward, (*params, *state.first.values), reverse, free)
        forward = list(state.first.first.eqns)
    else:
        needed = plan(forward, params, reverse, free, in_loop=True, clobbered=clobbered)
    items = clones(needed.carried)
    lists = {var: Var(Seq(var.kind), plural(var)) for var in needed.carried}
    pairs = [*items_again(loop, reverse, needed.again, free, items), *state.given]
    pairs += [(lists[var], items[var]) for var in needed.carried]
    counted: list[Slot] = []
    if not pairs:
        pair, counted, forward = counted_trips(loop, sweep, forward)
        pairs.append(pair)
    block = with_residuals(reverse, needed.again, dict(items))
    n = len(state.slots)
    slots = [
        Slot(slot.initial, slot.param, result, slot.out)
        for slot, result in zip(state.slots, block.outs[:n], strict=True)
    ]
    gathered = [
        (bar, out) for bar, (_, _, out, _) in zip(block.outs[n:], state.gathered, strict=True)
    ]
    backwards = for_eqn(
        pairs, slots, gathered, block.eqns, loop.eqn, reverse=not loop.reverse, aligned=True
    )
    sweep.builder.append(backwards)
    return [rebuilt(loop, forward, slots=counted, collected=list(lists.items()))]


def _without_fixed_slots(state: _ReverseLoop) -> Block:
    """The reverse body, its results those of the slots and the cotangents of the items.

    A cotangent that every iteration hands on as it found it is not carried: it is what it was
    before the loop.
    """
    fixed = [slot for slot in state.slots if slot.result is slot.param]
    mapping = {slot.param: slot.initial for slot in fixed}
    eqns = state.body.builder.eqns
    eqns = refolded(eqns, mapping) if fixed else eqns
    for slot in state.slots:
        slot.result = renamed_atom(slot.result, mapping)
    state.fixed = {slot.out: slot.initial for slot in fixed}
    state.slots = [slot for slot in state.slots if slot.out not in state.fixed]
    bars = (renamed_atom(bar, mapping) for _, bar, _, _ in state.gathered)
    return Block((), tuple(eqns), (*[slot.result for slot in state.slots], *bars))


def _contribute_results(state: _ReverseLoop, sweep: Sweep) -> None:
    loop = state.loop
    condition = sweep.bars.condition
    for k, slot in state.carried.items():
        moves = state.moves[k].out if k in state.moves else condition
        bar, moves = (renamed_atom(atom, state.fixed) for atom in (slot.out, moves))
        bar = _of_what_is_there(sweep, loop.carried[k], loop.initials[k], bar)
        sweep.start(loop.initials[k], bar, moves)
    for var, slot in state.captured.items():
        sweep.bars.running[var] = renamed_atom(slot.out, state.fixed)
    whole = {"whole": loop.aligned, "reverse": loop.reverse}
    for place, (j, _, out, moves) in enumerate(state.gathered):
        if state.counts.get(j) == place:
            continue
        sweep.bars.condition = moves
        iterable = loop.iterables[j]
        bar = cotangent_of_iterable(sweep, out, iterable, **whole)
        used = state.gathered[state.counts[j]][2] if j in state.counts else None
        count = used and cotangent_of_iterable(sweep, used, iterable, **whole)
        sweep.contribute(iterable, bar, count)
