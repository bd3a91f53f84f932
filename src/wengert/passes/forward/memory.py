"""Forward mode for writes in place: the same write, of the value's tangent into what is written to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import ZERO, Atom, Const, Eqn
from ...ir.op import Op
from ...ir.types import UNKNOWN, Array, Kind, Map, Number, Seq
from ...ops import registry, structure as st
from ...ops.cotangent_kinds import tangent_kind
from ...ops.program import memory as me
from ..analysis.realness import is_complex, is_real
from ..analysis.rule_calls import real_part
from ..memory.shadows import check_cast, in_shadow, stored_at
from .rules import on_first

if TYPE_CHECKING:
    from .block import Push


def _store(push: Push, eqn: Eqn) -> None:
    x, *path, value = eqn.args
    if push.has_tangent(value):
        check_cast(push.builder, eqn)
    dots = _both(push, x, value)
    if dots is None:
        push.builder.append(eqn)
        return
    x_dot, value_dot = dots
    holder = me.holder(eqn)
    if value_dot == ZERO:
        value_dot = Const(0.0) if isinstance(holder, Array) else push.builder.emit(st.zeros, value)
    elif isinstance(holder, Array):
        value_dot = _as_stored(push.builder, value_dot, x, path[:-1], holder)
    push.builder.append(eqn)
    read = push.context.read
    push.set(eqn.outs[0], stored_at(push.builder, read, x_dot, in_shadow(x, path), value_dot))


def _both(push: Push, x: Atom, value: Atom) -> tuple[Atom, Atom] | None:
    """The tangent of what is written to, zeros written out, and of the value; None if both vanish."""
    if not push.has_tangent(x) and not push.has_tangent(value):
        return None
    return push.tangent_or_zeros(x), push.tangent(value)


def _as_stored(
    builder: Builder, value_dot: Atom, x: Atom, path: Sequence[Atom], holder: Array
) -> Atom:
    """A tangent as the array at a path takes it: of an array of real numbers the tangent is real."""
    if is_complex(holder) or is_real(kind_of_atom(value_dot)):
        return value_dot
    if is_real(holder):
        return real_part(builder, value_dot, holder)
    return builder.emit(registry.named("cast_like"), value_dot, like=me.part_at(builder, x, path))


def _overwrite(push: Push, eqn: Eqn) -> None:
    x, *path, value = eqn.args
    if path:
        _store(push, eqn)
        return
    dot = push.tangent(value)
    push.builder.append(eqn)
    if dot != ZERO:
        push.set(eqn.outs[0], _spread(push.builder, dot, x, value))


def _spread(builder: Builder, dot: Atom, x: Atom, value: Atom) -> Atom:
    """The tangent of the value in the shape of what holds it from now on."""
    kind, given = kind_of_atom(x), kind_of_atom(value)
    if isinstance(kind, Array):
        dot = real_part(builder, dot, kind)
        if isinstance(given, Number):
            return builder.emit(st.fill, dot, x)
        if isinstance(given, Array):
            return builder.emit(registry.named("broadcast_like"), dot, x)
    if isinstance(kind, Seq) and isinstance(given, Seq):
        return builder.emit(st.as_list, dot)
    return builder.emit(me.spread_over, dot, x, kind=_kind_of_tangent(kind))


def _kind_of_tangent(kind: Kind) -> Kind:
    return tangent_kind(kind) if isinstance(kind, (Array, Seq, Map)) else UNKNOWN


def _append(push: Push, eqn: Eqn) -> None:
    _take_in(push, eqn, me.appended)


def _insert(push: Push, eqn: Eqn) -> None:
    _take_in(push, eqn, me.inserted)


def _take_in(push: Push, eqn: Eqn, op: Op) -> None:
    """A list that takes in another item."""
    x, *steps, value = eqn.args
    dots = _both(push, x, value)
    if dots is None:
        push.builder.append(eqn)
        return
    x_dot, _ = dots
    value_dot = push.tangent_or_zeros(value)
    push.builder.append(eqn)
    kind = tangent_kind(eqn.outs[0].kind)
    push.set(eqn.outs[0], push.builder.emit(op, x_dot, *in_shadow(x, steps), value_dot, kind=kind))


def _drop(push: Push, eqn: Eqn) -> None:
    x, *steps = eqn.args
    push.builder.append(eqn)
    x_dot = push.tangent(x)
    if x_dot != ZERO:
        kind = tangent_kind(eqn.outs[0].kind)
        push.set(eqn.outs[0], push.builder.emit(me.dropped, x_dot, *in_shadow(x, steps), kind=kind))


MEMORY: dict[Op, Callable[[Push, Eqn], None]] = {
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
    me.given_at: on_first,
    me.as_left: on_first,
    me.spread_over: on_first,
    me.spread_from: on_first,
    me.summed_to: on_first,
}
