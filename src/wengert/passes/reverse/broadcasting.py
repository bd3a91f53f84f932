"""Products with partials, and sums over what broadcasting has repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir.builder import kind_of_atom
from ...ir.graph import ZERO, Atom, Const, Eqn, Var
from ...ir.types import BOOL, COUNTS, UNKNOWN, Array, Kind, Number
from ...ops import registry, structure as st
from ..analysis.realness import is_complex, is_real, says_little
from ..analysis.rule_calls import real_part, scaled, shapes, shapes_in
from ..edges.masks import count_of
from .cotangents import bar_name

if TYPE_CHECKING:
    from .sweep import Sweep


def contribute_product(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom, partial: Atom) -> None:
    conjugate = conjugated(sweep, partial)
    kind = kind_of_atom(operand)
    if isinstance(kind, Number) and isinstance(kind_of_atom(eqn.outs[0]), Array):
        if isinstance(kind_of_atom(partial), Number):
            total = sweep.builder.emit(registry.named("sum"), bar, namespace="np")
            total, count = scaled(sweep.builder, total, conjugate), _used(sweep, operand, bar)
            _deliver_number(sweep, eqn, operand, total, count)
            return
    number = peeled(sweep, eqn, operand, bar)
    if number is None:
        if _spans(sweep, eqn, operand, partial):
            uniform = sweep.bars.uniform(bar)
            bar = bar if uniform is None else uniform
        if isinstance(partial, Var) and partial.shape_of is eqn.outs[0].shape_of:
            bar = sweep.bars.narrow(bar)
        contribute(sweep, eqn, operand, scaled(sweep.builder, bar, conjugate))
        return
    product = scaled(sweep.builder, number, conjugate)
    if isinstance(kind_of_atom(product), Number):
        product = sweep.bars.fill(product, operand)
    elif not is_whole(eqn, conjugate):
        product = sweep.builder.emit(registry.named("broadcast_like"), product, operand)
    _deliver(sweep, eqn, operand, product, _used(sweep, operand, bar))


def is_whole(eqn: Eqn, value: Atom) -> bool:
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


def peeled(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom) -> Atom | None:
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


def contribute(sweep: Sweep, eqn: Eqn, operand: Atom, bar: Atom) -> None:
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
