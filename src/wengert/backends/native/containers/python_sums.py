"""Python's own `sum`, of lists and arrays."""

from __future__ import annotations

import sys

from ....ir.graph import Eqn
from ..form.loopform import Apply, Assign, Constant, Expr
from ..lower.fusion import reduced
from ..lower.groups import REDUCTIONS
from ..lower.lowering import BlockLowering, lowers
from ..lower.sequences.columns import GrowingList
from ..lower.sequences.sequences import item_at
from ..lower.structure import over_arrays
from ..values import values as nv
from ..values.emitter import Emitter
from ..values.numbers import as_float_origin, compute, exact_float, origin_expr, possible


@lowers("sum_items")
def _sum_items(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Python's `sum`, which is exact to the last digit for floats only from 3.12 on."""
    items = eqn.args[0]
    value = site.value(items)
    start = (
        site.scalar(eqn.args[1]) if len(eqn.args) > 1 else nv.Scalar(nv.integer(0), nv.PYTHON, 0)
    )
    if isinstance(value, nv.Tuple):
        total = start
        for item in value.items:
            total = compute(site.e, "add", "py", [total, site.as_scalar(item)])
        return total
    if isinstance(value, (nv.View, nv.Lazy, nv.Broadcast)):
        return _sum_of_array(site, site.in_memory(items), start)
    if not isinstance(value, GrowingList):
        raise nv.Unlowered(f"`sum` of {nv.described(value)}")
    return _sum_of_list(site, value, start)


def _sum_of_array(site: BlockLowering, view: nv.View, start: nv.Scalar) -> nv.Value:
    """From the first element or row to the last; what is left of nothing is the start itself."""
    e = site.e
    rank = len(view.dims)
    if rank == 0 or (rank > 1 and view.code == "b1"):
        raise nv.Unlowered("`sum` of an array without axes, or of rows of truth values")
    count = e.let(view.dims[0])
    e.exit_if(Apply("eq", (count, nv.ZERO), "b1"), "a sum of nothing")
    if rank > 1:
        rows = reduced(site, REDUCTIONS["sum"], view, (0,), view.code)
        return over_arrays(site, "add", [rows, start])
    site.write_all()
    first = compute(e, "add", "py", [start, nv.Scalar(e.load(view, [nv.ZERO]), nv.NUMPY)])
    total = e.variable("total", first.expr)
    with e.loop(e.let(nv.minus(count, nv.ONE)), "i") as (index, inner):
        item = nv.Scalar(inner.load(view, [inner.let(nv.plus(index, nv.ONE))]), nv.NUMPY)
        after = compute(inner, "add", "py", [nv.Scalar(total, nv.NUMPY), item])
        inner.add(Assign(total, after.expr))
    return nv.Scalar(total, nv.NUMPY)


def _sum_of_list(site: BlockLowering, value: GrowingList, start: nv.Scalar) -> nv.Scalar:
    """From the first item to the last; the sum of no items is an integer, unless it starts with another."""
    e = site.e
    trial = value.column.item(Emitter(e.names), nv.ZERO)
    if not isinstance(trial, nv.Scalar) or trial.code == "b1":
        raise nv.Unlowered("`sum` of a list of anything but numbers")
    if trial.code == "f32":
        return _sum_of_singles(site, value, start)
    if not possible(as_float_origin(trial)) | possible(as_float_origin(start)) <= nv.OF_DOUBLES:
        raise nv.Unlowered("`sum` of numbers of 32 bits and others")
    if trial.code == "i64" and start.code == "i64":
        return _sum_of_integers(site, value, start)
    total = e.variable("total", exact_float(e, start))
    rest = e.variable("rest", Constant(0.0, "f64"))
    origin = e.variable("origin", origin_expr(as_float_origin(start)))
    with e.loop(value.length) as (index, inner):
        item = item_at(inner, value, index)
        x, whose = exact_float(inner, item), origin_expr(as_float_origin(item))
        after = inner.apply("add", total, x)
        if sys.version_info >= (3, 12):
            lost = _lost(inner, total, x, after)
            both = inner.apply("max", origin, whose)  # of floats of Python's, and integers before
            counts = inner.apply("eq", whose, nv.integer(nv.PYTHON), code="b1")
            counts = inner.apply(
                "and", counts, inner.apply("le", both, nv.integer(nv.PYTHON), code="b1")
            )
            more = inner.apply("select", counts, lost, Constant(0.0, "f64"), code="f64")
            inner.add(Assign(rest, Apply("add", (rest, more), "f64")))
        inner.add(Assign(total, after))
        inner.add(Assign(origin, Apply("max", (origin, whose), "i64")))
    finite = e.apply("lt", e.apply("fabs", rest), Constant(float("inf"), "f64"), code="b1")
    kept = e.apply("select", finite, rest, Constant(0.0, "f64"), code="f64")
    found = e.variable("sum", e.apply("add", total, kept))
    return nv.Scalar(found, nv.DynamicOwner(e.variable("origin", origin)))


def _sum_of_singles(site: BlockLowering, value: GrowingList, start: nv.Scalar) -> nv.Scalar:
    """The first sum makes one of these numbers of the start, whatever it was."""
    e = site.e
    first = as_float_origin(start)
    among = possible(first) | {max(origin, nv.SINGLE) for origin in possible(first)}
    total = e.variable("total", exact_float(e, start))
    origin = e.variable("origin", origin_expr(first))
    whose = nv.DynamicOwner(origin, among)
    with e.loop(value.length) as (index, inner):
        after = compute(inner, "add", "py", [nv.Scalar(total, whose), item_at(inner, value, index)])
        inner.add(Assign(total, exact_float(inner, after)))
        inner.add(Assign(origin, origin_expr(as_float_origin(after))))
    return nv.Scalar(total, whose)


def _lost(e: Emitter, total: Expr, x: Expr, after: Expr) -> Expr:
    """What an addition rounds away (Neumaier's): Python adds it in the end."""
    larger = e.apply("ge", e.apply("fabs", total), e.apply("fabs", x), code="b1")
    big = e.apply("select", larger, total, x, code="f64")
    small = e.apply("select", larger, x, total, code="f64")
    return e.apply("add", e.apply("sub", big, after), small)


def _sum_of_integers(site: BlockLowering, value: GrowingList, start: nv.Scalar) -> nv.Scalar:
    e = site.e
    total = e.variable("total", start.expr)
    with e.loop(value.length) as (index, inner):
        item = item_at(inner, value, index)
        after = compute(inner, "add", "py", [nv.Scalar(total, start.origin), item])
        inner.add(Assign(total, after.expr))
    return nv.Scalar(total, after.origin)
