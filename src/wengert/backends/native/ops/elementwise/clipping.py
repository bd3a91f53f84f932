"""`np.clip`, with NumPy's choice between zeros of different signs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .....ir.graph import Atom, Const, Eqn
from ...form.loopform import FLOATS, Code, Expr
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import dims_of
from ...lower.structure import over_arrays
from ...values import numbers
from ...values.emitter import Emitter
from ...values.rows import choose, row
from ...values.values import NUMPY, ONE, Scalar, Unlowered, Value

Comparison = Literal["lt", "gt"]


@lowers("clip")
def _clip(site: BlockLowering, eqn: Eqn) -> Value:
    """No less than one bound, and no greater than the other."""
    if eqn.params:
        raise Unlowered("options of `clip`")
    value: Any = site.operand(eqn.args[0])
    if isinstance(value, Scalar) and value.origin != NUMPY:
        raise Unlowered("`clip` of a number of Python's")
    bounds = [*eqn.args[1:], Const(None), Const(None)][:2]
    for name, atom in zip(_rows(site, bounds), bounds, strict=True):
        if atom == Const(None):
            continue
        bound = site.any_operand(atom)
        if isinstance(value, Scalar) and isinstance(bound, Scalar):
            value = numbers.compute(site.e, name, "np", [value, bound])
        else:
            value = over_arrays(site, name, [value, bound])
    return value


def _rows(site: BlockLowering, bounds: Sequence[Atom]) -> tuple[str, str]:
    """The rows for the two bounds: which of two equal zeros NumPy takes depends on how they are given."""
    if Const(None) in bounds:
        return "maximum", "minimum"
    sizes = [size for atom in bounds for size in dims_of(site.any_operand(atom))]
    if ONE in sizes:
        raise Unlowered("`clip` between arrays with axes of one element")
    if sizes:
        return "greater_or_bound", "less_or_bound"
    return "not_below", "not_above"


@row("selection", "not_below")
def _not_below(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, bound = args
    return _if_beyond(e, bound, "gt", x)


@row("selection", "not_above")
def _not_above(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, bound = args
    return _if_beyond(e, bound, "lt", x)


@row("selection", "greater_or_bound")
def _greater_or_bound(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, bound = args
    return _if_beyond(e, x, "gt", bound)


@row("selection", "less_or_bound")
def _less_or_bound(e: Emitter, args: Sequence[Expr], code: Code) -> Expr:
    x, bound = args
    return _if_beyond(e, x, "lt", bound)


def _if_beyond(e: Emitter, a: Expr, comparison: Comparison, b: Expr) -> Expr:
    """One number if it is beyond another, the other if not; NaN if either is."""
    taken = e.apply(comparison, a, b, code="b1")
    if a.code in FLOATS:
        taken = e.apply("or", taken, e.apply("ne", a, a, code="b1"), code="b1")
    return choose(e, taken, a, b)
