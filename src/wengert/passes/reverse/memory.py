"""Reverse mode for writes in place.

A write takes the old version of a value and gives the new one. Its reverse takes the cotangent of the
new version, hands out the part that belongs to the value written, and puts zeros in its place: what
remains is the cotangent of the old version, in the same buffer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import ZERO, Atom, Const, Eqn, Var
from ...ir.op import Op
from ...ir.types import INT, SLICE, UNKNOWN, Array, Kind, Map, Number, Seq, Struct
from ...ops import registry, structure as st
from ...ops.array_kinds import rank_of_kind
from ...ops.cotangent_kinds import gradient_kind
from ...ops.program import containers as co, memory as me
from ..analysis.rule_calls import real_part
from ..edges.masks import NOT_USED, ONE
from ..memory.shadows import (
    check_cast,
    copies,
    in_shadow,
    may_repeat,
    old_zero,
    part_at,
    same_step,
    stored_at,
    zero_at,
)
from .broadcasting import surely_real
from .cotangents import bar_name
from .cotangents_of_lists import as_items
from .structure import contribute_used, on_first

if TYPE_CHECKING:
    from .sweep import Sweep


# --- storing ------------------------------------------------------------------------------


def _store(sweep: Sweep, eqn: Eqn) -> Sequence[Eqn] | None:
    """value_bar = x2_bar[path]; x_bar = x2_bar with zeros there."""
    x, *path, value = eqn.args
    count = sweep.bars.count(eqn.outs[0])
    bar = _as_array(sweep, eqn.outs[0], sweep.bars.take_sum(eqn.outs[0]))
    before = Builder(eqn.span, derived=True)
    steps = [*in_shadow(x, path)[:-1], _last_step(before, eqn)]
    if sweep.is_active(value):
        check_cast(before, eqn)
        part = _given(sweep, before, eqn, bar, steps)
        part = surely_real(sweep, part, kind_of_atom(part), kind_of_atom(value))
        used = _given_count(sweep, eqn, count, steps)
        contribute_used(sweep, value, part, used)
    if sweep.is_active(x):
        zero = old_zero(sweep.builder, before, eqn)
        read = sweep.context.read
        rest = _count_of_rest(sweep, eqn, count, steps)
        sweep.hand_on(x, stored_at(sweep.builder, read, bar, steps, zero, _name(x)), rest)
    return _with(before, eqn)


def _given_count(sweep: Sweep, eqn: Eqn, count: Atom | None, steps: Sequence[Atom]) -> Atom | None:
    """How often the entries of a value that was written to an array are used, if that is counted."""
    value = eqn.args[-1]
    known = isinstance(me.holder(eqn), Array) and not may_repeat(steps[-1])
    if count is None or not known or value not in sweep.context.masks.wanted:
        return None
    part = part_at(sweep.builder, count, steps)
    kinds = kind_of_atom(part), kind_of_atom(value)
    if isinstance(kinds[0], Array) and isinstance(kinds[1], Number):
        return sweep.builder.emit(registry.named("sum"), part, namespace="np")
    same = [isinstance(kind, Array) and kind.rank for kind in kinds]
    return part if same[0] == same[1] else None


def _began_constant(sweep: Sweep, x: Atom) -> bool:
    """Whether an array that is written to began as one that has no derivative."""
    eqn = sweep.builder.primal.get(x)
    while eqn is not None and eqn.op is me.store:
        x = eqn.args[0]
        eqn = sweep.builder.primal.get(x)
    return not sweep.is_active(x)


def _count_of_rest(
    sweep: Sweep, eqn: Eqn, count: Atom | None, steps: Sequence[Atom]
) -> Atom | None:
    """How often entries of an array are used before some were written to."""
    x = eqn.args[0]
    if not isinstance(x, Var) or not sweep.context.masks.counts(x):
        return None
    if not isinstance(me.holder(eqn), Array):
        return None
    if count is None and _began_constant(sweep, x):
        return None  # no entry of it was there before that has a derivative
    if count is None:
        count = sweep.builder.emit(registry.named("add"), sweep.zeros(x), ONE)
    else:
        count = sweep.builder.emit(me.duplicate, count)
    read = sweep.context.read
    return stored_at(sweep.builder, read, count, steps, NOT_USED, "")


def _as_array(sweep: Sweep, x: Var, bar: Atom) -> Atom:
    """A cotangent that can be written into: what NumPy computes of arrays without axes are numbers."""
    has_no_axes = isinstance(x.kind, Array) and x.kind.rank == 0
    return sweep.builder.emit(registry.named("array"), bar) if has_no_axes and bar != ZERO else bar


def _with(before: Builder, eqn: Eqn) -> Sequence[Eqn] | None:
    return [*before.eqns, eqn] if before.eqns else None


def _last_step(before: Builder, eqn: Eqn) -> Atom:
    """Where the value stands in the new version: a slice of a list may have changed its length."""
    x, *path, value = eqn.args
    last = in_shadow(x, path)[-1]
    if isinstance(me.holder(eqn), (Array, Map)) or kind_of_atom(last) not in (SLICE, UNKNOWN):
        return last
    return before.emit(me.span_of, x, *in_shadow(x, path), value)


def _given(sweep: Sweep, before: Builder, eqn: Eqn, bar: Atom, steps: Sequence[Atom]) -> Atom:
    """The cotangent of the value that a write stored, in memory that the next write leaves alone."""
    value = eqn.args[-1]
    holder, kind = me.holder(eqn), kind_of_atom(value)
    if isinstance(holder, Array) and isinstance(kind, (Number, Array)):
        return _given_by_array(
            sweep, before, eqn, part_at(sweep.builder, bar, steps[:-1]), steps[-1]
        )
    at_item = isinstance(holder, Seq) and kind_of_atom(steps[-1]) == INT
    if kind != UNKNOWN and (at_item or isinstance(holder, Struct)):
        return part_at(sweep.builder, bar, steps, gradient_kind(kind))
    if isinstance(holder, Map) and isinstance(kind, Number):
        part = gradient_kind(holder.item)
        return sweep.builder.emit(me.given_at, bar, *steps, Const(0.0), kind=part)
    viewed = [k for k, step in enumerate(steps) if me.is_view(step)]
    start = viewed[-1] + 1 if viewed else 0
    bar = part_at(sweep.builder, bar, steps[:start])
    return sweep.builder.emit(me.given_at, bar, *(steps[start:] or [Const(...)]), value)


def _given_by_array(sweep: Sweep, before: Builder, eqn: Eqn, bar: Atom, index: Atom) -> Atom:
    emit = sweep.builder.emit
    own = not sweep.is_active(eqn.args[0]) or copies(index)
    part = part_at(sweep.builder, bar, [index])
    if may_repeat(index):
        # the last of several values for one element is the one that counts
        flags = emit(me.last_written, bar, index)
        part, own = emit(registry.named("mul"), part, flags, kind=kind_of_atom(part)), True
    summed = summed_to_value(sweep, before, eqn, part)
    own = own or isinstance(kind_of_atom(summed), Number)
    return summed if own else emit(me.snapshot, summed)


def summed_to_value(sweep: Sweep, before: Builder, eqn: Eqn, part: Atom) -> Atom:
    """The cotangent of what stands in an array, summed over what broadcasting the value repeated."""
    value = eqn.args[-1]
    kind, given = kind_of_atom(part), kind_of_atom(value)
    if isinstance(given, Number) and isinstance(kind, Number):
        return part
    if isinstance(given, Number) and isinstance(kind, Array):
        return sweep.builder.emit(registry.named("sum"), part, namespace="np")
    if not isinstance(given, Array) or not isinstance(kind, Array):
        return sweep.builder.emit(st.unbroadcast, part, value)
    if _has_shape_of_part(sweep, eqn):
        return part
    shape = before.emit(registry.named("shape"), value)
    return sweep.builder.emit(me.summed_to, part, shape, kind=Array(kind.dtype, given.rank))


def _has_shape_of_part(sweep: Sweep, eqn: Eqn) -> bool:
    """Whether a value is certainly as large as the part of an array that it was written to.

    It is if it was computed elementwise from that part: it could not be written there if it were larger.
    """
    x, *path, value = eqn.args
    assert isinstance(value, Var)
    sources = value.shape_of.roots or {value.shape_of}
    if isinstance(x, Var) and (not path or path == [Const(...)]) and x.shape_of in sources:
        return True
    definitions = (sweep.builder.primal.get(source) for source in sources)
    return len(path) == 1 and any(
        each is not None
        and each.op is st.getitem
        and same_step(each.args[1], path[0])
        and isinstance(each.args[0], Var)
        and isinstance(x, Var)
        and each.args[0].shape_of is x.shape_of
        for each in definitions
    )


def _overwrite(sweep: Sweep, eqn: Eqn) -> Sequence[Eqn] | None:
    """value_bar = x2_bar; nothing of the old version is left. At a path it is as if the part were replaced."""
    x, *path, value = eqn.args
    if path:
        return _store(sweep, eqn)
    bar = sweep.total(eqn.outs[0])
    before = Builder(eqn.span, derived=True)
    part = _whole_given(sweep, before, eqn, bar, kind_of_atom(x))
    sweep.contribute(value, real_part(sweep.builder, part, kind_of_atom(value)))
    return _with(before, eqn)


def _whole_given(sweep: Sweep, before: Builder, eqn: Eqn, bar: Atom, kind: Kind) -> Atom:
    value = eqn.args[-1]
    given = kind_of_atom(value)
    if isinstance(kind, Array) and isinstance(given, (Number, Array)):
        return summed_to_value(sweep, before, eqn, bar)
    if isinstance(kind, Seq) and isinstance(given, (Seq, Struct)):
        return bar
    if isinstance(kind, Seq):
        return sweep.builder.emit(co.list_cotangent, bar, value)
    return sweep.builder.emit(me.spread_from, bar, value)


# --- lists and dictionaries ---------------------------------------------------------------


def _append(sweep: Sweep, eqn: Eqn) -> None:
    """value_bar = x2_bar[-1]; x_bar = x2_bar without its last item."""
    _remove(sweep, eqn, Const(-1))


def _insert(sweep: Sweep, eqn: Eqn) -> Sequence[Eqn] | None:
    """value_bar = x2_bar[k]; x_bar = x2_bar without that item."""
    if eqn.args[-2] == Const(None):  # all that a set holds, which has no derivative
        return sweep.hand_on(eqn.args[0], sweep.total(eqn.outs[0]))
    before = Builder(eqn.span, derived=True)
    _remove(sweep, eqn, _position(before, eqn))
    return _with(before, eqn)


def _remove(sweep: Sweep, eqn: Eqn, at: Atom) -> None:
    x, value = eqn.args[0], eqn.args[-1]
    path = in_shadow(eqn.args[0], me.path_of(eqn))
    bar = _items(sweep, eqn)
    if sweep.is_active(value):
        kind = gradient_kind(kind_of_atom(value))
        sweep.contribute(value, part_at(sweep.builder, bar, [*path, at], kind))
    if sweep.is_active(x):
        kind = kind_of_atom(bar)
        dropped = sweep.builder.emit(me.dropped, bar, *path, at, name=_name(x), kind=kind)
        sweep.hand_on(x, dropped)


def _items(sweep: Sweep, eqn: Eqn) -> Atom:
    """The cotangent of a container that items are taken out of, or put into."""
    bar = sweep.total(eqn.outs[0])
    kind = kind_of_atom(eqn.args[0])
    return as_items(sweep.builder, bar, kind) if isinstance(kind, Seq) else bar


def _name(x: Atom) -> str:
    return bar_name(x) if isinstance(x, Var) else ""


def _drop(sweep: Sweep, eqn: Eqn) -> Sequence[Eqn] | None:
    """x_bar = x2_bar with a zero where the item was."""
    x, *_, key = eqn.args
    path = in_shadow(eqn.args[0], me.path_of(eqn))
    bar = _items(sweep, eqn)
    before = Builder(eqn.span, derived=True)
    at = _position(before, eqn)
    zero = zero_at(sweep.builder, before, eqn, [*path, key])
    kind = kind_of_atom(bar)
    inserted = sweep.builder.emit(me.inserted, bar, *path, at, zero, name=_name(x), kind=kind)
    sweep.hand_on(x, inserted)
    return _with(before, eqn)


def _position(before: Builder, eqn: Eqn) -> Atom:
    """Where in a list an item is inserted or deleted, counted from the first."""
    path = in_shadow(eqn.args[0], me.path_of(eqn))
    key = eqn.args[1 + len(path)]
    if isinstance(me.holder(eqn), Map):
        return key
    exact = eqn.op in (me.drop, me.dropped) or key == Const(0)
    if isinstance(key, Const):
        if isinstance(key.value, str) or (exact and isinstance(key.value, int) and key.value >= 0):
            return key
    return before.emit(me.position, eqn.args[0], *path, key)


# --- what derivatives of writes are made of -----------------------------------------------


def _given_at(sweep: Sweep, eqn: Eqn) -> None:
    """The transpose of taking a part is adding to it; broadcasting repeats what was summed."""
    x_bar, *path, _ = eqn.args
    bar = sweep.total(eqn.outs[0])
    if may_repeat(path[-1]) and not isinstance(kind_of_atom(x_bar), Map):
        holder = part_at(sweep.builder, x_bar, path[:-1])
        bar = sweep.builder.emit(me.as_left, bar, holder, path[-1])
    sweep.scatter(x_bar, tuple(path), bar)


def _as_left(sweep: Sweep, eqn: Eqn) -> None:
    value_bar, *rest = eqn.args
    bar = sweep.total(eqn.outs[0])
    sweep.contribute(value_bar, sweep.builder.emit(me.as_left, bar, *rest))


def _spread_over(sweep: Sweep, eqn: Eqn) -> None:
    bar = sweep.total(eqn.outs[0])
    value = eqn.args[0]
    sweep.contribute(value, sweep.builder.emit(me.spread_from, bar, value))


def _spread_from(sweep: Sweep, eqn: Eqn) -> None:
    bar = sweep.total(eqn.outs[0])
    x_bar = eqn.args[0]
    sweep.contribute(x_bar, sweep.builder.emit(me.spread_over, bar, x_bar))


def _summed_to(sweep: Sweep, eqn: Eqn) -> None:
    bar = sweep.total(eqn.outs[0])
    x_bar = eqn.args[0]
    fewer, more = (rank_of_kind(kind_of_atom(atom)) for atom in (x_bar, bar))
    if fewer is not None and more is not None and more > fewer:  # of leading axes of one entry
        bar = sweep.builder.emit(st.unbroadcast, bar, x_bar)
    repeated = registry.named("broadcast_like")
    sweep.contribute(x_bar, sweep.builder.emit(repeated, bar, x_bar))


MEMORY: dict[Op, Callable[[Sweep, Eqn], Sequence[Eqn] | None]] = {
    me.store: _store,
    me.stored: _store,
    me.overwrite: _overwrite,
    me.append: _append,
    me.appended: _append,
    me.insert: _insert,
    me.inserted: _insert,
    me.drop: _drop,
    me.dropped: _drop,
    me.snapshot: on_first,
    me.duplicate: on_first,
    me.given_at: _given_at,
    me.as_left: _as_left,
    me.spread_over: _spread_over,
    me.spread_from: _spread_from,
    me.summed_to: _summed_to,
}
