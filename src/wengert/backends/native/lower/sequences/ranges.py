"""Ranges and slices."""

from __future__ import annotations

from .....ir.graph import Eqn
from ...form.loopform import Apply, Constant, Expr
from ...values import values as nv
from ...values.emitter import Emitter
from ..lowering import BlockLowering, lowers

SIZE_BITS = 48
"""No range is longer, and no number in it larger."""


@lowers("range")
def _range(site: BlockLowering, eqn: Eqn) -> nv.Value:
    e = site.e
    bounds = [site.scalar(atom) for atom in eqn.args]
    for bound in bounds:
        if bound.code != "i64":
            raise nv.Unlowered("a range of numbers that are no integers")
        if bound.bits > SIZE_BITS:
            large = e.apply("gt", e.apply("abs", bound.expr), nv.integer(2**SIZE_BITS), code="b1")
            e.exit_if(large, "a very long range")
    start = bounds[0] if len(bounds) > 1 else nv.Scalar(nv.ZERO, nv.PYTHON, 0)
    stop = bounds[min(len(bounds), 2) - 1]
    step = bounds[2] if len(bounds) > 2 else nv.Scalar(nv.ONE, nv.PYTHON, 1)
    return nv.Range(start, e.let(range_count(site, start.expr, stop.expr, step.expr)), step)


def range_count(site: BlockLowering, start: Expr, stop: Expr, step: Expr) -> Expr:
    """How many integers a range has."""
    e = site.e
    if not isinstance(step, Constant):
        return _count_of_steps(e, nv.minus(stop, start), step)
    apart = int(step.value)
    if apart == 0:
        e.exit_if(Constant(True, "b1"), "a range without a step")
        return nv.ZERO
    span = nv.minus(stop, start) if apart > 0 else nv.minus(start, stop)
    if abs(apart) > 1:
        span = e.let(Apply("add", (span, nv.integer(abs(apart) - 1)), "i64"))
        span = e.apply("quotient", span, nv.integer(abs(apart)))
    return e.apply("max", e.let(span), nv.ZERO)


def _count_of_steps(e: Emitter, span: Expr, step: Expr) -> Expr:
    """How many steps there are in a span, if either may be negative."""
    e.exit_if(Apply("eq", (step, nv.ZERO), "b1"), "a range without a step")
    span = e.let(span)
    ahead = e.apply("gt", step, nv.ZERO, code="b1")
    last = e.apply("select", ahead, nv.minus(span, nv.ONE), nv.plus(span, nv.ONE), code="i64")
    count = e.let(nv.plus(e.apply("quotient", last, step), nv.ONE))
    none = e.apply(
        "select",
        ahead,
        e.apply("le", span, nv.ZERO, code="b1"),
        e.apply("ge", span, nv.ZERO, code="b1"),
        code="b1",
    )
    return e.apply("select", none, nv.ZERO, count, code="i64")


@lowers("slice")
def _slice(site: BlockLowering, eqn: Eqn) -> nv.Value:
    parts = [site.value(atom) for atom in eqn.args]
    bounds = [None if isinstance(p, nv.StaticValue) else site.as_scalar(p) for p in parts]
    match bounds:
        case [stop]:
            return nv.Bounds(None, stop, None)
        case [start, stop]:
            return nv.Bounds(start, stop, None)
        case [start, stop, step]:
            return nv.Bounds(start, stop, step)
        case _:
            raise nv.Unlowered("a slice of more than three parts")
