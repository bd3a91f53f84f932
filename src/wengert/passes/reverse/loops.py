"""Reverse mode for `for` and `while`: the iterations backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir.builder import kind_of_atom
from ...ir.graph import ZERO, Atom, Block, Eqn, Var, walk
from ...ir.records import field, mutable_record, replace
from ...ir.renaming import clones, renamed_atom
from ...ir.types import BOOL, UNKNOWN, Array, Kind, Number, Seq
from ...ops import structure as st
from ...ops.cotangent_kinds import gradient_kind
from ..blocks.loops import Loop, Slot, for_eqn, rebuilt, view
from ..edges.zero_tangents import NO, YES
from ..residuals.handing import counted_trips, items_again, plural, walks_again, with_residuals
from ..residuals.plan import plan, refolded
from .checkpointing import run_again, runs_again
from .control import as_buffer, of_what_is_there
from .cotangents import NOTHING, bar_name, cotangent_of
from .structure import cotangent_of_iterable

if TYPE_CHECKING:
    from ..analysis.recording import Recording
    from .sweep import Sweep


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
        bar = of_what_is_there(body, loop.outs[k], loop.results[k], slot.param)
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
            initial = sweep.zeros(out) if initial == ZERO else as_buffer(sweep, out, initial)
            bar = cotangent_of(out, _kind_of_slot(param.kind, kind_of_atom(initial)))
            bar.shape_of = _shape_of(loop.results[k], bar)
            before = cotangent_of(param)
            before.shape_of = _shape_of(loop.initials[k], before)
            state.carried[k] = Slot(initial, bar, ZERO, before)


def _kind_of_slot(kind: Kind, initial: Kind) -> Kind:
    """The kind of a carried cotangent; those of lists in a list may be arrays."""
    bar = gradient_kind(kind)
    nested = isinstance(bar, Seq) and isinstance(bar.item, Seq)
    return UNKNOWN if nested and initial == UNKNOWN else bar


def _shape_of(atom: Atom, default: Var) -> Var:
    return atom.shape_of if isinstance(atom, Var) else default


def _hand_on_given_items(state: _ReverseLoop, sweep: Sweep) -> None:
    """Start from the items of the cotangents of collected results."""
    body = state.body
    for out, result in zip(state.loop.lists, state.loop.collected, strict=True):
        if not sweep.bars.has(out):
            continue
        moves = sweep.bars.moves_where([out])
        bar = item = Var(gradient_kind(kind_of_atom(result)))
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
            _zeros_of_slot(body, param) if total == ZERO else as_buffer(body, param, total)
        )
    for j, (item, iterable) in enumerate(zip(loop.items, loop.iterables, strict=True)):
        if sweep.is_active(iterable) and sweep.is_active(item):
            moves = body.bars.moves_where([item]) if body.bars.has(item) else NO
            bar = body.total_or_zeros(item)
            kind = Seq(gradient_kind(item.kind))
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
        slot.result = body.bars.take_sum(var)
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
        bar = of_what_is_there(sweep, loop.carried[k], loop.initials[k], bar)
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
