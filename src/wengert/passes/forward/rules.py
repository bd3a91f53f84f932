"""Forward mode, one equation at a time: the tangent of its result."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import kind_of_atom
from ...ir.graph import CALL, ZERO, Atom, Callee, Const, Eqn, Var
from ...ir.op import Op
from ...ir.types import UNKNOWN, Array, Number, Struct, is_differentiable
from ...ops import registry, structure as st
from ...ops.arrays.vectors import FACTORS
from ...ops.cotangent_kinds import tangent_kind
from ...ops.program import cotangents as ct, identity as ident, implicit as im
from ...rules.registry import Rule
from ...runtime import calls
from ..analysis.active_operands import operands_of
from ..analysis.realness import is_real
from ..analysis.rule_calls import (
    chosen_rule,
    described,
    no_rule,
    one,
    options,
    partials,
    real_part,
    row_namespace,
    shapes,
    shapes_in,
    with_method,
)
from ..analysis.write_sets import updates_of
from ..checks.opaque_calls import as_unseen, refuse_third
from ..edges.seeds import product
from ..edges.vectors import as_tuple, vectors_used
from ..edges.zero_tangents import YES, moves, note, where_it_moves
from .implicit import push_root

if TYPE_CHECKING:
    from .block import Push

_PAIR = Struct("tuple", (0, 1), (UNKNOWN, UNKNOWN))
_FOLDS_ZERO = frozenset(("add", "sub", "accumulate"))
"""Linear ops of several operands whose fold knows what a symbolic zero among them means."""


def push_rule(push: Push, eqn: Eqn) -> None:
    """The equation and the tangent that the rule for its op gives."""
    if not any(push.has_tangent(arg) for arg in activity_operands(eqn)):
        push.builder.append(eqn)
        return
    rule = chosen_rule(eqn, _FORMS, push.has_tangent)
    if rule is None:
        raise no_rule(eqn, "frule")
    if rule.form == "frule":
        _frule(push, eqn, rule)
        return
    push.builder.append(eqn)
    out, operands, sided = eqn.outs[0], activity_operands(eqn), push.context.sided

    def dot() -> Atom:
        along = eqn if sided is None else sided.along(push, eqn)
        found = real_part(push.builder, _FORMS[rule.form](push, along, rule), out.kind)
        return found if sided is None else sided.tangent(push, eqn, found)

    push.set(out, where_it_moves(push, eqn, operands, dot))
    note(push, eqn, operands)


def activity_operands(eqn: Eqn) -> Sequence[Atom]:
    """The operands whose tangents matter."""
    return tuple(operands_of(eqn))


# --- the forms ----------------------------------------------------------------------------


def _scalar(push: Push, eqn: Eqn, rule: Rule) -> Atom:
    """Ω_dot = Σ ∂ * x_dot."""
    builder = push.builder
    total: Atom = ZERO
    for operand, partial in partials(builder, push.context.read, eqn, rule, push.has_tangent):
        if partial in (ZERO, Const(0), Const(0.0)):
            continue
        term = product(push, eqn, operand, partial)
        total = term if total == ZERO else builder.emit(registry.named("add"), total, term)
    return _whole(push, eqn, total)


def _whole(push: Push, eqn: Eqn, dot: Atom) -> Atom:
    """A tangent in the shape of an elementwise result: an operand without one may be missing."""
    out = eqn.outs[0]
    if dot == ZERO or not eqn.op.elementwise or isinstance(out.kind, Number):
        return dot
    if isinstance(dot, Var) and dot.shape_of is out.shape_of and not isinstance(dot.kind, Number):
        return dot
    if shapes(eqn.args) <= shapes_in(push.builder, dot, eqn):
        if isinstance(dot, Var) and push.builder.definition(dot) is not None:
            dot.shape_of = out.shape_of
        return dot
    number = isinstance(kind_of_atom(dot), Number)
    return push.builder.emit(st.fill if number else registry.named("broadcast_like"), dot, out)


def _linear(push: Push, eqn: Eqn, rule: Rule) -> Atom:
    """The op itself, on tangents: jointly over the operands that it is linear in."""
    linear = [k for k, row in enumerate(rule.rows[: len(eqn.args)]) if row is not None]
    args = list(eqn.args)
    for k in linear:
        args[k] = push.tangent(args[k])
    folds = eqn.op.name in _FOLDS_ZERO
    for k in linear:
        if args[k] == ZERO and not folds:
            args[k] = push.builder.emit(st.zeros, eqn.args[k])
    dot = push.builder.emit_with(
        eqn.op, with_method(push.builder, eqn, args), eqn.params, eqn.namespace
    )
    return _whole(push, eqn, dot)


def _bilinear(push: Push, eqn: Eqn, rule: Rule) -> Atom:
    """op(a_dot, b) + op(a, b_dot), for any number of factors."""
    arithmetic = isinstance(eqn.outs[0].kind, (Number, Array)) or "np" in eqn.op.spellings
    plus = registry.named("add") if arithmetic else st.accumulate  # `+` would join two lists
    total: Atom = ZERO
    for k, row in enumerate(rule.rows):
        dot = ZERO if row is None else push.tangent(eqn.args[k])
        if dot == ZERO:
            continue
        args = (*eqn.args[:k], dot, *eqn.args[k + 1 :])
        args = with_method(push.builder, eqn, args)
        term = push.builder.emit_with(eqn.op, args, eqn.params, eqn.namespace)
        total = term if total == ZERO else push.builder.emit(plus, total, term)
    return _whole(push, eqn, total)


def _differential(push: Push, eqn: Eqn, rule: Rule) -> Atom:
    (row,) = rule.rows
    assert row is not None
    tangents = [push.tangent(arg) for arg in eqn.args]
    operands = (*tangents, *eqn.args, eqn.outs[0])
    namespace = row_namespace(eqn)
    given = options(eqn, row)
    if eqn.op.name in FACTORS:
        given |= vectors_used(
            push.builder, push.block, eqn, push.context.varied.__contains__, ahead=True
        )
    read, start = push.context.read, len(push.builder.eqns)
    result = read(push.builder, row, operands, given, namespace)
    dot = one(result, push.builder)
    if not rule.built_in:
        from ..checks.differential_rows import checked_differential

        dot = checked_differential(read, eqn, rule, tangents, push.builder, dot, start)
    return _whole(push, eqn, dot)


def _zero(push: Push, eqn: Eqn, rule: Rule) -> Atom:
    return ZERO


def _frule(push: Push, eqn: Eqn, rule: Rule) -> None:
    """y, y_dot = rule(primals, tangents)."""
    names = eqn.params.get("names", Const(tuple(eqn.params)))
    given = () if "names" in eqn.params else tuple(eqn.params.values())
    primals = as_tuple(push.builder, eqn.args)
    tangents = as_tuple(push.builder, [push.tangent_or_zeros(arg) for arg in eqn.args])
    row = Const(rule.rows[0])
    args = (row, primals, tangents, *given)
    returned = push.builder.emit(st.apply, *args, kind=_PAIR, names=names)
    pair = push.builder.emit(ct.rule_tangent, returned, rule=Const(described(rule)))
    _unpack_pair(push, eqn, pair)


def _unpack_pair(push: Push, eqn: Eqn, pair: Atom) -> None:
    out = eqn.outs[0]
    push.builder.append(Eqn((out,), st.getitem, (pair, Const(0)), {}, (), eqn.namespace, eqn.span))
    kind = tangent_kind(out.kind)
    push.set(out, push.builder.emit(st.getitem, pair, Const(1), kind=kind))


_FORMS: dict[str, Callable[[Push, Eqn, Rule], Atom]] = {
    "scalar": _scalar,
    "linear": _linear,
    "bilinear": _bilinear,
    "differential": _differential,
    "zero": _zero,
    "frule": _zero,
}


# --- calls --------------------------------------------------------------------------------


def push_call(push: Push, eqn: Eqn) -> None:
    """A call becomes a call of the callee's pushforward."""
    callee = eqn.param("callee")
    wrt = tuple(k for k, arg in enumerate(eqn.args) if push.has_tangent(arg))
    if not wrt:
        push.builder.append(eqn)
        return
    flags = [moves(push, eqn.args[k]) if eqn in push.context.flagged else YES for k in wrt]
    asked = tuple(j for j, flag in enumerate(flags) if flag != YES)
    pushed = _pushed(push, callee, wrt, asked)
    args = (*eqn.args, *[push.tangent(eqn.args[k]) for k in wrt], *[flags[j] for j in asked])
    dots = [push.new(out) for out in eqn.outs if is_differentiable(out.kind)]
    params: dict[str, Atom] = {"callee": Const(pushed), **updates_of(eqn)}
    push.builder.append(Eqn((*eqn.outs, *dots), CALL, args, params, (), eqn.namespace, eqn.span))


def _pushed(push: Push, callee: Callee, wrt: tuple[int, ...], asked: tuple[int, ...]) -> Callee:
    callees = push.context.callees
    key = (callee, wrt, asked)
    if key not in callees:
        callees[key] = Callee(f"push_{callee.name}")
        function = callee.function
        assert function is not None, f"{callee!r} is called before it is read"
        callees[key].function = push.pushforward(
            function, wrt, callees=callees, asked=asked, places=push.places
        )
    return callees[key]


def _apply(push: Push, eqn: Eqn) -> None:
    """y, y_dot = pushforward_of(f, args, tangents)"""
    names = eqn.params.get("names", Const(()))
    if not any(map(push.has_tangent, eqn.args)):
        push.builder.append(as_unseen(eqn))
        return
    pair, y_dot = _pushed_call(push, eqn, eqn.args, names)
    y = push.builder.emit(st.getitem, pair, Const(0), kind=eqn.outs[0].kind)
    params = {"reader": Const(calls.reader("call")), "names": names}
    args = (y, *eqn.args)
    push.builder.append(Eqn(eqn.outs, st.means, args, params, (), eqn.namespace, eqn.span))
    push.set(eqn.outs[0], y_dot)


def _means(push: Push, eqn: Eqn) -> None:
    """The tangent of what the value is said to be."""
    refuse_third(eqn)
    push.builder.append(eqn)
    args = (eqn.params["reader"], *eqn.args[1:])
    if any(map(push.has_tangent, args)):
        push.set(eqn.outs[0], _pushed_call(push, eqn, args, eqn.params["names"])[1])


def _pushed_call(push: Push, eqn: Eqn, args: Sequence[Atom], names: Atom) -> tuple[Atom, Atom]:
    """A call's value and tangent as a pair, and the tangent, which can be differentiated again."""
    builder = push.builder
    primals = as_tuple(builder, args[1:])
    dots = [push.tangent(arg) for arg in args]
    tangents = as_tuple(builder, [Const(None) if dot == ZERO else dot for dot in dots])
    pair = builder.emit(ct.pushforward_of, args[0], primals, tangents, names=names)
    kind = tangent_kind(eqn.outs[0].kind)
    y_dot = builder.emit(st.getitem, pair, Const(1), kind=kind)
    operands = (names, args[0], primals, tangents)
    reader = Const(calls.reader("tangent"))
    return pair, builder.emit(st.means, y_dot, *operands, reader=reader, names=Const(()))


# --- structure ----------------------------------------------------------------------------


def _pack(push: Push, eqn: Eqn) -> None:
    """A list (or a dictionary) of tangents."""
    push.builder.append(eqn)
    if not any(map(push.has_tangent, eqn.args)):
        return
    keys = st.item_keys(eqn)
    form = "list" if isinstance(keys, range) else "dict"
    items = [push.tangent_or_zeros(arg) for arg in eqn.args]
    params = {"form": Const(form), "keys": Const(tuple(keys)), "type": Const(None)}
    push.set(eqn.outs[0], push.builder.emit_with(st.pack, items, params))


def on_first(push: Push, eqn: Eqn) -> None:
    """The op itself, on the tangent of its first operand."""
    push.builder.append(eqn)
    dot = push.tangent(eqn.args[0])
    if dot != ZERO:
        args = (dot, *eqn.args[1:])
        kind = tangent_kind(eqn.outs[0].kind)
        push.set(eqn.outs[0], push.builder.emit_with(eqn.op, args, eqn.params, kind=kind))


def _as_list(push: Push, eqn: Eqn) -> None:
    push.builder.append(eqn)
    dot = push.tangent(eqn.args[0])
    if dot != ZERO:
        if (
            kind_of_atom(eqn.args[0]) == UNKNOWN
        ):  # whether its tangent has such items, making the list tells
            push.builder.emit(ident.evaluated, eqn.outs[0])
        push.set(eqn.outs[0], push.builder.emit(ct.shadow_items, dot))


def _same(push: Push, eqn: Eqn) -> None:
    push.builder.append(eqn)
    push.set(eqn.outs[0], push.tangent(eqn.args[0]))


def _project(push: Push, eqn: Eqn) -> None:
    """The tangent of a real part is the real part of the tangent."""
    push.builder.append(eqn)
    dot = push.tangent(eqn.args[0])
    if dot != ZERO and not is_real(kind_of_atom(dot)):
        dot = push.builder.emit(st.project, dot, eqn.args[1])
    push.set(eqn.outs[0], dot)


def _getattr(push: Push, eqn: Eqn) -> None:
    push.builder.append(eqn)
    x = eqn.args[0]
    dot = push.tangent(x)
    if dot != ZERO:
        params = {"name": eqn.params["name"]}
        kind = tangent_kind(eqn.outs[0].kind)
        part = push.builder.emit_with(ct.shadow_attr, (dot, x), params, kind=kind)
        push.set(eqn.outs[0], part)


def _added(push: Push, eqn: Eqn) -> None:
    """The same write, of the value's tangent into the buffer's."""
    buffer, *path, value = eqn.args
    dot = push.tangent(value)
    buffer_dot = push.tangent(buffer) if dot == ZERO else push.tangent_or_zeros(buffer)
    push.builder.append(eqn)
    if dot == ZERO:
        push.set(eqn.outs[0], buffer_dot)
        return
    args = (buffer_dot, *path, dot)
    push.set(eqn.outs[0], push.builder.emit_with(eqn.op, args, eqn.params, eqn.namespace))


def _accumulate(push: Push, eqn: Eqn) -> None:
    push.builder.append(eqn)
    a, b = map(push.tangent, eqn.args)
    push.set(eqn.outs[0], push.builder.emit(st.accumulate, a, b))


def _to_number(push: Push, eqn: Eqn) -> None:
    """A number made of a value of unknown kind, which may be a text: that has no tangent."""
    if len(eqn.args) == 1 and kind_of_atom(eqn.args[0]) == UNKNOWN:
        push.builder.append(eqn)
        dot = push.tangent(eqn.args[0])
        if dot != ZERO:
            zero = push.builder.emit(st.zeros, eqn.outs[0])
            dot = push.builder.emit(st.accumulate, dot, zero)
            push.set(eqn.outs[0], push.builder.emit_with(eqn.op, (dot,), eqn.params, eqn.namespace))
        return
    push_rule(push, eqn)


def _nothing(push: Push, eqn: Eqn) -> None:
    push.builder.append(eqn)


STRUCTURE: dict[Op, Callable[[Push, Eqn], None]] = {
    st.pack: _pack,
    st.closure: _pack,
    st.getitem: on_first,
    st.getattr_: _getattr,
    st.add_at: _added,
    ct.add_attr: _added,
    ct.shadow_attr: on_first,
    st.accumulate: _accumulate,
    st.unbroadcast: on_first,
    st.bound: _same,
    st.project: _project,
    st.unpackable: on_first,
    st.as_list: _as_list,
    st.as_tuple: _as_list,
    ct.shadow_items: on_first,
    ct.collected_cotangent: on_first,
    ct.items_reached: on_first,
    ct.rule_pair: _same,
    ct.rule_tangent: _same,
    ct.rule_cotangents: on_first,
    ct.partial_of_row: _same,
    ct.given_by_row: _same,
    ct.given_by_hook: _same,
    ct.as_returned: on_first,
    im.root: push_root,
    st.apply: _apply,
    st.applied: _apply,
    st.means: _means,
    st.zeros: _nothing,
    registry.named("to_float"): _to_number,
    registry.named("to_complex"): _to_number,
    st.stop_gradient: _nothing,
    st.hook: _same,
}
