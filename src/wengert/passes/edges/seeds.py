"""Forward mode where a direction does not move: the zeros in the seeds of a Jacobian meet no infinite slope.

A Jacobian pushes one unit after the other through the same partials. Where one of these is not finite, what
is multiplied by it is asked whether it moves in this direction; that is read off the seeds, by the operations
that computed the value from them, so that a tangent that happens to be 0 is no such zero.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.types import BOOL, Array, Number
from ...ops import elementwise as el, registry, structure as st
from ...ops.program import memory as me
from ...rules.registry import rule_for
from ..analysis.rule_calls import is_choice, scaled, with_method
from .masks import factors_for_counts, weighed
from .singular_partials import OVERFLOWING, has_slope
from .zero_tangents import where_chosen

if TYPE_CHECKING:
    from ..forward.block import Push

Known = dict[Atom, Atom | None]

_ZERO = Const(0.0)
_SAME_ENTRIES = frozenset(
    (
        "ascontiguousarray", "atleast_1d", "atleast_2d", "atleast_3d", "copy", "expand_dims", "flatten", "flip",
        "matrix_transpose", "moveaxis", "ravel", "repeat", "reshape", "roll", "squeeze", "swapaxes", "take", "tile",
        "transpose",
    )
)  # fmt: skip
"""Ops whose result has entries of their first operand, and no others."""
_PLACES_ENTRIES = frozenset(("array", "asarray", "pad"))
"""Ops that put the entries of their first operand somewhere."""


def product(push: Push, eqn: Eqn, operand: Atom, partial: Atom) -> Atom:
    """A term of a tangent: nothing where the operand is not chosen, or does not move at all."""
    dot = push.tangent(operand)
    may_be_nan = eqn.op.name == "nan_to_num" or operand in push.context.steep_values
    if may_be_nan and is_choice(partial):
        return _chosen(push, dot, partial)
    term = scaled(push.builder, dot, partial)
    if not push.context.guarded or not _may_be_infinite(push, eqn):
        return term
    if isinstance(kind_of_atom(term), Number):
        moves = mask(push, operand)
        return term if moves is None else _where_true(push, moves, term)
    if not isinstance(kind_of_atom(term), Array):
        return term
    return _guarded(push, operand, partial, term)


def _may_be_infinite(push: Push, eqn: Eqn) -> bool:
    if eqn in push.context.singular and eqn.op.name not in OVERFLOWING:
        return True
    return has_slope(eqn) and not push.context.infinite.isdisjoint(eqn.args)


def _chosen(push: Push, dot: Atom, chosen: Atom) -> Atom:
    """A tangent where an operand is chosen, and elsewhere zero."""
    if kind_of_atom(chosen) == BOOL and isinstance(kind_of_atom(dot), Number):
        return _where_true(push, chosen, dot)
    where = registry.named("where")
    return push.builder.emit(where, chosen, dot, _ZERO, namespace="np")


def _where_true(push: Push, condition: Atom, dot: Atom) -> Atom:
    then, other = push.builder.child(), push.builder.child()
    out = Var(kind_of_atom(dot))
    push.builder.if_(condition, then.block((), (dot,)), other.block((), (_ZERO,)), (out,))
    return out


def _guarded(push: Push, operand: Atom, partial: Atom, term: Atom) -> Atom:
    """A term, zero where the operand does not move, if its partial is not finite everywhere."""
    outer = push.builder
    finite = outer.emit(registry.named("isfinite"), partial, namespace="np")
    if isinstance(kind_of_atom(partial), Array):
        finite = outer.emit(registry.named("all"), finite, namespace="method")
    push.builder = outer.child()  # type: ignore[assignment]
    moves = mask(push, operand)
    if moves is None:
        push.builder = outer
        return term
    where = registry.named("where")
    found = push.builder.emit(where, moves, term, _ZERO, namespace="np")
    careful = push.builder.block((), (found,))
    push.builder = outer
    plain = outer.child().block((), (term,))
    out = Var(kind_of_atom(term), "", term.shape_of if isinstance(term, Var) else None)
    outer.if_(finite, plain, careful, (out,))
    return out


def mask(push: Push, atom: Atom, known: Known | None = None) -> Atom | None:
    """Whether, and where, a value moves in a direction; None if that is not known.

    `known` are the masks of what it was computed from: many paths may lead to one value.
    """
    known = {} if known is None else known
    if atom not in known:
        known[atom] = _mask(push, atom, known)
    return known[atom]


def _mask(push: Push, atom: Atom, known: Known) -> Atom | None:
    if not push.has_tangent(atom):
        return Const(value=False)
    if isinstance(kind_of_atom(atom), (Number, Array)) and _is_of_seeds(push, atom):
        return push.builder.emit(st.ne, push.tangent(atom), _ZERO)
    eqn = push.context.defining.get(atom)
    if eqn is None:
        return None
    if eqn.op is st.getitem or eqn.op.name in _SAME_ENTRIES:
        whole = mask(push, eqn.args[0], known)
        if whole is None:
            return None
        args = (whole, *eqn.args[1:])
        return push.builder.emit_with(eqn.op, args, eqn.params, eqn.namespace)
    if eqn.op is me.store:
        return _stored(push, eqn, known)
    if eqn.op is el.where:
        first, second = (mask(push, arg, known) for arg in eqn.args[1:])
        if first is None or second is None:
            return None
        chosen = push.builder.emit(el.where, eqn.args[0], first, second, namespace="np")
        return _whole(push, eqn, chosen)
    if not eqn.op.elementwise:
        return _of_linear(push, eqn, known)
    chosen = where_chosen(push, eqn)
    masks = [
        _both(push, mask(push, arg, known), chosen.get(arg))
        for arg in eqn.args
        if push.has_tangent(arg)
    ]
    return _whole(push, eqn, _any_of(push, masks))


def _both(push: Push, moves: Atom | None, chosen: Atom | None) -> Atom | None:
    if moves is None or chosen is None:
        return moves
    if kind_of_atom(moves) == kind_of_atom(chosen) == BOOL:
        return push.builder.emit(st.both, moves, chosen)
    return push.builder.emit(registry.named("logical_and"), moves, chosen, namespace="np")


def _whole(push: Push, eqn: Eqn, found: Atom | None) -> Atom | None:
    """A mask in the shape of an elementwise result: what moves may be repeated along axes."""
    out = eqn.outs[0]
    arrays = [arg for arg in eqn.args if isinstance(arg, Var) and not isinstance(arg.kind, Number)]
    same = all(arg.shape_of is out.shape_of for arg in arrays)
    if found is None or same or not isinstance(out.kind, Array):
        return found
    return push.builder.emit(registry.named("broadcast_like"), found, out)


def _of_linear(push: Push, eqn: Eqn, known: Known) -> Atom | None:
    """Where the result of a linear op moves: that op, on where its operands do."""
    rule = rule_for(eqn.op)
    linear = None if rule is None else rule.also.get("linear", rule)
    if linear is None or not isinstance(kind_of_atom(eqn.outs[0]), (Number, Array)):
        return None
    if eqn.op.name in _PLACES_ENTRIES:
        return _placed(push, eqn, known)
    if linear.form not in ("linear", "bilinear"):
        return None
    terms: list[Atom | None] = []
    moved = [row is not None for row in linear.rows[: len(eqn.args)]]
    for given in [moved] if linear.form == "linear" else _each(push, eqn, moved):
        others = factors_for_counts(push.builder, eqn, linear)
        found_args = [
            _moved(push, arg, known) if moves else other
            for arg, other, moves in zip(eqn.args, others, given, strict=False)
        ]
        args = [arg for arg in (*found_args, *others[len(found_args) :]) if arg is not None]
        if len(args) < len(eqn.args):
            return None
        args = with_method(push.builder, eqn, args)
        found = push.builder.emit_with(eqn.op, args, eqn.params, eqn.namespace)
        terms.append(push.builder.emit(st.ne, found, _ZERO))
    return _any_of(push, terms)


def _placed(push: Push, eqn: Eqn, known: Known) -> Atom | None:
    moved = _moved(push, eqn.args[0], known)
    if moved is None:
        return None
    args, params = (moved, *eqn.args[1:]), dict(eqn.params)
    params.pop("constant_values", None)
    found = push.builder.emit_with(eqn.op, args, params, eqn.namespace)
    return push.builder.emit(st.ne, found, _ZERO)


def _each(push: Push, eqn: Eqn, moved: list[bool]) -> list[list[bool]]:
    """One factor of a product at a time."""
    places = [k for k, each in enumerate(moved) if each and push.has_tangent(eqn.args[k])]
    return [[k == place for k in range(len(moved))] for place in places]


def _moved(push: Push, atom: Atom, known: Known) -> Atom | None:
    """Numbers that are not 0, nor is a sum of them with factors, where a value moves; 0 elsewhere."""
    eqn = push.context.defining.get(atom)
    if eqn is not None and eqn.op is st.pack:
        items = [each for arg in eqn.args if (each := _moved(push, arg, known)) is not None]
        if len(items) < len(eqn.args):
            return None
        return push.builder.emit_with(st.pack, items, eqn.params)
    moves = mask(push, atom, known)
    if moves is None:
        return None
    if moves == Const(value=False):
        return push.builder.emit(st.zeros, atom)
    moved = push.builder.emit(el.mul, moves, Const(1.0))
    return weighed(push.builder, moved)


def _stored(push: Push, eqn: Eqn, known: Known) -> Atom | None:
    """Where an array moves that is written to."""
    x, *path, value = eqn.args
    before, after = _moved(push, x, known), _moved(push, value, known)
    if before is None or after is None or len(path) != 1 or not isinstance(kind_of_atom(x), Array):
        return None
    return push.builder.emit(st.ne, push.builder.emit(me.stored, before, *path, after), _ZERO)


def _any_of(push: Push, masks: list[Atom | None]) -> Atom | None:
    total: Atom | None = None
    for each in masks:
        if each is None:
            return None
        if total is None or total == each:
            total = each
        elif kind_of_atom(total) == kind_of_atom(each) == BOOL:
            total = push.builder.emit(st.either, total, each)
        else:
            total = push.builder.emit(registry.named("logical_or"), total, each, namespace="np")
    return total


def _is_of_seeds(push: Push, atom: Atom) -> bool:
    """Whether a value is an argument, or has entries of one and no others: so has its tangent of the seed."""
    if atom in push.context.inputs:
        return isinstance(kind_of_atom(atom), (Number, Array))
    eqn = push.context.defining.get(atom)
    if eqn is None or not isinstance(kind_of_atom(atom), (Number, Array)):
        return False
    selects = eqn.op is st.getitem or eqn.op.name in _SAME_ENTRIES
    return selects and _is_of_seeds(push, eqn.args[0])
