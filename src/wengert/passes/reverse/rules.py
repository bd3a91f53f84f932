"""Reverse mode, one equation at a time: the cotangents that an op's rule gives its operands."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeGuard

from ...errors import InternalError
from ...ir.builder import kind_of_atom
from ...ir.graph import ZERO, Atom, Block, Const, Eqn, Var
from ...ir.records import replace
from ...ir.renaming import renamed_eqn
from ...ir.types import BOOL, COUNTS, UNKNOWN, Array, Kind, Number
from ...ops import registry, structure as st
from ...ops.arrays.vectors import FACTORS
from ...ops.program import cotangents as ct
from ...rules.identities.simplification import SimplifyingBuilder
from ...rules.registry import Rule
from ..analysis import activity
from ..analysis.realness import is_complex, is_real, says_little
from ..analysis.rule_calls import (
    chosen_rule,
    differential_of,
    is_choice,
    no_rule,
    one,
    options,
    partials,
    real_part,
    row_described,
    row_namespace,
    scaled,
    shapes,
    shapes_in,
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
from .calls import reverse_rrule
from .cotangents import Path, bar_name

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
    return eqn.op.name != "div" or not isinstance(kind_of_atom(eqn.args[1]), Number)


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
            _contribute_product(sweep, eqn, operand, bar, partial)


def _contribute_chosen(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom, chosen: Atom) -> None:
    """Contribute to an operand where it is chosen, and elsewhere nothing."""
    if kind_of_atom(chosen) == BOOL:
        with sweep.bars.where(chosen):
            _contribute_product(sweep, eqn, operand, _or_zero(sweep, chosen, bar), Const(1))
        return
    used, sweep.used = sweep.used, None
    bar = sweep.builder.emit(registry.named("where"), chosen, bar, NOT_USED, namespace="np")
    sweep.used = count_of(sweep.bars, bar)
    _contribute_product(sweep, eqn, operand, bar, Const(1))
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
        number = _peeled(sweep, eqn, arg, bar) if eqn.op.elementwise else None
        operands = (bar if number is None else number, *eqn.args)
        arg_bar = one(
            sweep.context.read(sweep.builder, row, operands, options(eqn, row), namespace),
            sweep.builder,
        )
        if number is not None and isinstance(kind_of_atom(arg_bar), Number):
            arg_bar = sweep.bars.fill(arg_bar, arg)
        elif number is not None and not _is_whole(eqn, arg_bar):
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
        _contribute(sweep, eqn, arg, arg_bar)


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
        _contribute(sweep, eqn, eqn.args[k], total)


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


# --- products and broadcasting ------------------------------------------------------------


def _contribute_product(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom, partial: Atom) -> None:
    conjugate = conjugated(sweep, partial)
    kind = kind_of_atom(operand)
    if isinstance(kind, Number) and isinstance(kind_of_atom(eqn.outs[0]), Array):
        if isinstance(kind_of_atom(partial), Number):
            total = sweep.builder.emit(registry.named("sum"), bar, namespace="np")
            total, count = scaled(sweep.builder, total, conjugate), _used(sweep, operand, bar)
            _deliver_number(sweep, eqn, operand, total, count)
            return
    number = _peeled(sweep, eqn, operand, bar)
    if number is None:
        if _spans(sweep, eqn, operand, partial):
            uniform = sweep.bars.uniform(bar)
            bar = bar if uniform is None else uniform
        if isinstance(partial, Var) and partial.shape_of is eqn.outs[0].shape_of:
            bar = sweep.bars.narrow(bar)
        _contribute(sweep, eqn, operand, scaled(sweep.builder, bar, conjugate))
        return
    product = scaled(sweep.builder, number, conjugate)
    if isinstance(kind_of_atom(product), Number):
        product = sweep.bars.fill(product, operand)
    elif not _is_whole(eqn, conjugate):
        product = sweep.builder.emit(registry.named("broadcast_like"), product, operand)
    _deliver(sweep, eqn, operand, product, _used(sweep, operand, bar))


def _is_whole(eqn: Eqn, value: Atom) -> bool:
    """Whether a value has the shape of an elementwise result of which it was computed."""
    whole = eqn.outs[0].shape_of
    if isinstance(value, Var) and value.shape_of is whole:
        return True
    arrays = (a for a in eqn.args if isinstance(a, Var) and not isinstance(a.kind, Number))
    return all(array.shape_of is whole for array in arrays)


def _spans(sweep: Sweep, eqn: Eqn, operand: Atom, partial: Atom) -> bool:
    """Whether a partial has every axis that broadcasting repeated an operand along."""
    others = shapes(arg for arg in eqn.args if arg is not operand)
    return others <= shapes_in(sweep.builder, partial, eqn)


def _peeled(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom) -> Atom | None:
    """The number that the cotangent is everywhere, where the operand has the result's shape."""
    if isinstance(kind_of_atom(operand), Number) or not _fits(sweep, eqn, operand):
        return None
    return sweep.bars.uniform(bar)


def conjugated(sweep: Sweep, partial: Atom) -> Atom:
    """The conjugate of a partial that is, or may be, complex; a real one as it is."""
    kind = kind_of_atom(partial)
    if is_complex(kind) or (says_little(kind) and sweep.context.maybe_complex):
        return sweep.builder.emit(registry.named("conj"), partial, namespace="np")
    return partial


def surely_real(sweep: Sweep, bar: Atom, found: Kind, kind: Kind) -> Atom:
    """The cotangent of a real value is real, also where its own kind `found` may not tell."""
    if says_little(found) and sweep.context.maybe_complex and is_real(kind):
        return sweep.builder.emit(registry.named("real"), bar, namespace="np")
    return real_part(sweep.builder, bar, kind)


def _contribute(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom) -> None:
    """Contribute to an operand what a rule gives; of an elementwise op, summed to its shape."""
    if bar == ZERO:
        return
    count = _used(sweep, operand, bar)
    if eqn.op.elementwise and not _fits(sweep, eqn, operand):
        number = isinstance(kind_of_atom(operand), Number)
        if number and isinstance(kind_of_atom(eqn.outs[0]), Array):
            bar = sweep.builder.emit(registry.named("sum"), bar, namespace="np")
            _deliver_number(sweep, eqn, operand, bar, count)
            return
        bar = _summed_to(sweep, eqn, operand, bar)
        count = None if count is None else _summed_to(sweep, eqn, operand, count)
    _deliver(sweep, eqn, operand, bar, count)


def _used(sweep: Sweep, operand: Atom, bar: Atom) -> Atom | None:
    """How often the entries of a cotangent are used, if that is counted for an operand."""
    if operand not in sweep.context.masks.wanted:
        return None
    return count_of(sweep.bars, bar) or sweep.used


def _deliver_number(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom, count: Atom | None) -> None:
    """Contribute to a number that is repeated in an array: nothing, if none of that is used."""
    if count is None:
        _deliver(sweep, eqn, operand, bar)
        return
    total = sweep.builder.emit(registry.named("sum"), count, namespace="np")
    with sweep.bars.where(sweep.builder.emit(st.ne, total, Const(0), kind=BOOL)):
        _deliver(sweep, eqn, operand, bar)


def _summed_to(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom) -> Atom:
    """A cotangent of an elementwise result summed over what broadcasting repeated an operand along."""
    axes = _repeated_axes(eqn.outs[0], operand, bar)
    if axes is None:
        name = bar_name(operand) if isinstance(operand, Var) else ""
        return sweep.builder.emit(st.unbroadcast, bar, operand, name=name)
    keepdims = rank_of(kind_of_atom(operand)) == rank_of(kind_of_atom(bar))
    along = axes[0] if len(axes) == 1 else axes
    params: dict[str, Atom] = {"axis": Const(along)}
    if keepdims:
        params["keepdims"] = Const(True)
    return sweep.builder.emit_with(registry.named("sum"), (bar,), params, "method")


def _repeated_axes(out: Var, operand: Atom, bar: Atom) -> tuple[int, ...] | None:
    """The axes along which an operand was repeated; None if they are known only at run time."""
    if not isinstance(operand, Var) or not isinstance(bar, Var) or operand.shape_of.within is None:
        return None
    whole, axes = operand.shape_of.within
    complete = bar.shape_of is out.shape_of is whole
    ranks = [rank_of(atom.kind) for atom in (operand, bar)]
    return axes if complete and None not in ranks else None


def rank_of(kind: Kind) -> int | None:
    """The rank of an array; None if it is not known."""
    return kind.rank if isinstance(kind, Array) else None


def _deliver(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom, count: Atom | None = None) -> None:
    if isinstance(operand, Var) and _is_arithmetic_with(sweep, eqn, operand):
        sweep.context.arithmetic.add(operand)
    bar = surely_real(sweep, bar, kind_of_atom(bar), kind_of_atom(operand))
    sweep.contribute(operand, bar, count)


def _is_arithmetic_with(sweep: Sweep, eqn: Eqn, operand: Var) -> bool:
    """Whether an equation shows that a value is no list: it computes with it wherever there is that value.

    What stands in a branch or a loop may not run, and lists have copies, too.
    """
    here = operand in sweep.bars.local and operand not in sweep.context.maybe_none
    if not here or not eqn.op.elementwise or eqn.op.name == "copy":
        return False
    return not _may_repeat(eqn) or (eqn.op.name == "mul" and _are_of(sweep, operand, eqn.args))


def _may_repeat(eqn: Eqn) -> bool:
    """Whether an operator may give a list one or several times, or joined with another one."""
    kinds = {kind_of_atom(arg) for arg in eqn.args}
    joins = eqn.op.name == "add" and kinds == {UNKNOWN}
    repeats = eqn.op.name == "mul" and kinds <= {UNKNOWN, *COUNTS}
    return eqn.outs[0].kind == UNKNOWN and (joins or repeats)


def _are_of(sweep: Sweep, value: Var, factors: Sequence[Atom]) -> bool:
    """Whether factors are a value or computed with it: of a list they would be lists, and have no product."""

    def is_computed_with_it(eqn: Eqn | None) -> bool:
        if eqn is None or eqn.op in (st.eq, st.ne):  # of lists these are truth values
            return False
        return eqn.op.elementwise and value in eqn.args

    return all(
        each is value or is_computed_with_it(sweep.builder.primal.get(each)) for each in factors
    )


def _fits(sweep: Sweep, eqn: Eqn, operand: Atom) -> bool:
    """Whether an operand is known to have the shape of an elementwise result."""
    out = eqn.outs[0]
    kinds = [kind_of_atom(arg) for arg in eqn.args]
    if out in sweep.context.scalars or isinstance(out.kind, Number):
        return True
    others = [kind for arg, kind in zip(eqn.args, kinds, strict=True) if arg is not operand]
    if _may_repeat(eqn):
        return False
    if isinstance(kind_of_atom(operand), Number):
        return all(isinstance(kind, Number) for kind in kinds)
    if isinstance(operand, Var) and operand.shape_of is out.shape_of:
        return True
    return all(isinstance(kind, Number) for kind in others)
