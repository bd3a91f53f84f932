"""Reverse mode, one equation at a time: the cotangents that an op's rule gives its operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

from ...errors import InternalError
from ...ir.builder import kind_of_atom
from ...ir.graph import ZERO, Atom, Block, Const, Eqn, Var
from ...ir.records import replace
from ...ir.renaming import renamed_eqn
from ...ir.types import BOOL, Array, Number
from ...ops import registry, structure as st
from ...ops.arrays.vectors import FACTORS
from ...ops.program import cotangents as ct
from ...rules.identities.simplification import SimplifyingBuilder
from ...rules.registry import Rule
from ..analysis import activity
from ..analysis.rule_calls import (
    chosen_rule,
    differential_of,
    is_choice,
    no_rule,
    one,
    options,
    partials,
    row_described,
    row_namespace,
)
from ..edges.masks import (
    NOT_USED,
    Masks,
    count_of,
    count_to_move,
    cut_off,
    derived_from,
    factors_for_counts,
    uses_all,
)
from ..edges.singular_partials import has_slope
from ..edges.vectors import vectors_used
from .broadcasting import contribute, contribute_product, is_whole, peeled
from .calls import reverse_rrule
from .cotangents import Path

if TYPE_CHECKING:
    from .sweep import Sweep


def reverse_by_rule(sweep: Sweep, eqn: Eqn) -> Sequence[Eqn] | None:
    """Give an equation's operands their cotangents, by the rule for its op."""
    rule = chosen_rule(eqn, _FORMS, sweep.is_active)
    if rule is None:
        raise no_rule(eqn, "rrule")
    if rule.form == "rrule":
        return reverse_rrule(sweep, eqn, rule)
    bar = sweep.total(eqn.outs[0])
    if bar != ZERO:
        count = count_of(sweep.bars, bar)
        if count is not None and _is_steep_by_entry(sweep, eqn):
            bar = cut_off(sweep.bars, bar, count, eqn.outs[0])
        sweep.used = count if eqn.op.elementwise else None
        _FORMS[rule.form](sweep, eqn, rule, bar)
        sweep.used = None
    return None


def _is_steep_by_entry(sweep: Sweep, eqn: Eqn) -> bool:
    """Whether a partial may be infinite for one entry of an array and not for another one."""
    if not isinstance(eqn.outs[0].kind, Array) or not eqn.op.elementwise or not has_slope(eqn):
        return False
    if eqn not in sweep.context.singular:
        factors = filter(_is_var, eqn.args) if eqn.op.name in _PRODUCTS else ()
        return any(map(sweep.context.masks.counts, factors))  # one of which may be infinite
    if eqn.op.name == "div" and isinstance(kind_of_atom(eqn.args[1]), Number):
        return sweep.is_active(eqn.args[1])  # the quotient is a factor of its cotangent
    return True


_PRODUCTS = frozenset(("mul", "square", "pow", "fma"))


def _is_var(atom: Atom) -> TypeGuard[Var]:
    return isinstance(atom, Var)


# --- the forms ----------------------------------------------------------------------------


def _scalar(sweep: Sweep, eqn: Eqn, rule: Rule, bar: Atom) -> None:
    """x_bar = conj(∂) * Ω_bar."""
    wanted = sweep.context.masks.wanted
    steep = eqn.outs[0] in sweep.context.steep or eqn.op.name == "nan_to_num"
    for operand, partial in partials(sweep.builder, sweep.context.read, eqn, rule, sweep.is_active):
        if partial == ZERO or partial == Const(0) or partial == Const(0.0):
            continue
        chooses = is_choice(partial) and not isinstance(partial, Const)
        if chooses and (steep or operand in wanted):
            _contribute_chosen(sweep, eqn, operand, bar, partial)
        else:
            contribute_product(sweep, eqn, operand, bar, partial)


def _contribute_chosen(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom, chosen: Atom) -> None:
    """Contribute to an operand where it is chosen, and elsewhere nothing."""
    if kind_of_atom(chosen) == BOOL:
        with sweep.bars.where(chosen):
            contribute_product(sweep, eqn, operand, _or_zero(sweep, chosen, bar), Const(1))
        return
    used, sweep.used = sweep.used, None
    bar = sweep.builder.emit(registry.named("where"), chosen, bar, NOT_USED, namespace="np")
    sweep.used = count_of(sweep.bars, bar)
    contribute_product(sweep, eqn, operand, bar, Const(1))
    sweep.used = used


def _or_zero(sweep: Sweep, condition: Atom, bar: Atom) -> Atom:
    """A cotangent if a condition holds, and else zero."""
    other, out = sweep.builder.child(), Var(kind_of_atom(bar))
    zero = NOT_USED if isinstance(out.kind, Number) else other.emit(st.zeros, bar)
    if isinstance(bar, Var):
        out.shape_of = bar.shape_of
    sweep.builder.if_(condition, Block((), (), (bar,)), other.block((), (zero,)), [out])
    return out


def _linear(sweep: Sweep, eqn: Eqn, rule: Rule, bar: Atom) -> None:
    """x_bar = row(Ω_bar, operands); of a linear op with one row, the first operand's."""
    namespace = row_namespace(eqn)
    for arg, row in zip(eqn.args, rule.rows, strict=False):
        if row is None or not sweep.is_active(arg):
            continue
        number = peeled(sweep, eqn, arg, bar) if eqn.op.elementwise else None
        operands = (bar if number is None else number, *eqn.args)
        arg_bar = one(
            sweep.context.read(sweep.builder, row, operands, options(eqn, row), namespace),
            sweep.builder,
        )
        if number is not None and isinstance(kind_of_atom(arg_bar), Number):
            arg_bar = sweep.bars.fill(arg_bar, arg)
        elif number is not None and not is_whole(eqn, arg_bar):
            operands = (bar, *eqn.args)
            arg_bar = one(
                sweep.context.read(sweep.builder, row, operands, options(eqn, row), namespace),
                sweep.builder,
            )
        if not rule.built_in and not eqn.op.elementwise:
            whose = Const(f"argument {eqn.args.index(arg)}")
            said = Const(f"{row_described(rule)} gave a cotangent")
            arg_bar = sweep.builder.emit(
                ct.given_by_row, arg_bar, like=arg, returned=said, whose=whose
            )
        count = count_to_move(sweep, eqn, rule, arg, bar)
        if count is not None:
            operands = (count, *factors_for_counts(sweep.builder, eqn, rule))
            given = sweep.context.read(sweep.builder, row, operands, options(eqn, row), namespace)
            sweep.contribute(arg, arg_bar, one(given, sweep.builder))
            continue
        contribute(sweep, eqn, arg, arg_bar)


def _differential(sweep: Sweep, eqn: Eqn, rule: Rule, bar: Atom) -> None:
    """The row is linear in the d's: reverse it, with respect to them."""
    ds = {k: differential_of(arg) for k, arg in enumerate(eqn.args) if sweep.is_active(arg)}
    tangents = [ds.get(k, ZERO) for k in range(len(eqn.args))]
    block = _row_block(sweep, eqn, rule, tangents)
    if not isinstance(block.outs[0], Var):
        return
    useful = [block.outs[0]]
    context = replace(
        sweep.context, active=activity.active(block, ds.values(), useful), scalars=set[Var]()
    )
    context.masks = _masks_of_row(sweep, eqn, block, ds)
    if _is_steep_by_entry(sweep, eqn):
        context.singular = frozenset(block.eqns)
    inner = type(sweep)(context, block, _not_linear)
    inner.builder.span = sweep.builder.span
    inner.start(block.outs[0], bar, count=count_of(inner.bars, bar))
    inner.run()
    entries = {k: _entries(inner, d) for k, d in ds.items()}
    totals = {k: inner.total(d) for k, d in ds.items()}
    stand_in = {d: _of_its_shape(sweep, eqn.args[k], d) for k, d in ds.items()}
    for inner_eqn in inner.forward_eqns():
        sweep.builder.append(renamed_eqn(inner_eqn, stand_in))
    for inner_eqn in inner.builder.eqns:
        sweep.builder.append(renamed_eqn(inner_eqn, stand_in), derived=True)
    for k, total in totals.items():
        for path, part in entries[k]:
            sweep.scatter(eqn.args[k], path, part)
        contribute(sweep, eqn, eqn.args[k], total)


def _masks_of_row(sweep: Sweep, eqn: Eqn, block: Block, ds: Mapping[int, Var]) -> Masks:
    """What is counted in a row: the d's of operands of which it is, and what the row makes of these."""
    if uses_all(eqn):
        return Masks()
    starts = [d for k, d in ds.items() if eqn.args[k] in sweep.context.masks.wanted]
    return Masks(derived_from(block, (), starts), known=sweep.context.masks.known)


def _of_its_shape(sweep: Sweep, operand: Atom, d: Var) -> Atom:
    """What a transposed row reads in place of a d: all that it can ask for is the shape, and floats."""
    assert isinstance(operand, Var)
    return operand if operand.kind == d.kind else sweep.zeros(operand)


def _entries(inner: Sweep, d: Var) -> Sequence[tuple[Path, Atom]]:
    """The entries of a d that alone get cotangents, which are used up."""
    if not inner.bars.only_scattered(d):
        return ()
    return inner.bars.scattered.pop(d)


def _row_block(sweep: Sweep, eqn: Eqn, rule: Rule, tangents: Sequence[Atom]) -> Block:
    """A differential row as a block whose parameters are the d's of the active operands."""
    (row,) = rule.rows
    assert row is not None
    builder = SimplifyingBuilder(sweep.builder.span)
    operands = (*tangents, *eqn.args, eqn.outs[0])
    given = options(eqn, row)
    if eqn.op.name in FACTORS:
        given |= vectors_used(builder, sweep.block, eqn, sweep.is_active, ahead=False)
    result = sweep.context.read(builder, row, operands, given, row_namespace(eqn))
    params = [tangent for tangent in tangents if isinstance(tangent, Var)]
    dot = one(result, builder)
    if not rule.built_in:
        from ..checks.differential_rows import checked_differential

        dot = checked_differential(sweep.context.read, eqn, rule, params, builder, dot)
    return builder.block(params, (dot,))


def _not_linear(var: Var) -> Atom:
    raise InternalError(f"a differential row is not linear: it gives {var!r} a cotangent")


def _zero(sweep: Sweep, eqn: Eqn, rule: Rule, bar: Atom) -> None:
    """Nothing flows."""


_FORMS: dict[str, Callable[[Sweep, Eqn, Rule, Atom], object]] = {
    "scalar": _scalar,
    "linear": _linear,
    "bilinear": _linear,
    "differential": _differential,
    "zero": _zero,
    "rrule": _zero,
}
