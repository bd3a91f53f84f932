"""Convolutions of two vectors."""

from __future__ import annotations

from collections.abc import Callable

from .....ir.graph import Eqn
from ...form.loopform import Apply, Expr, For, Slot
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import dims_of
from ...values.emitter import Emitter
from ...values.loops import copy_elements
from ...values.numbers import converted
from ...values.promotion import common_code
from ...values.values import ONE, ZERO, Unlowered, Value, View, integer, minus, plus
from ..arrays.joined_lists import part_along
from ..elementwise.creation import zeroed


@lowers("convolve")
def _convolve(site: BlockLowering, eqn: Eqn) -> Value:
    a, v = _vectors(site, eqn)
    code = common_code([a, v])
    full = zeroed(site, (_full_size(site, a.dims[0], v.dims[0]),), code, ())
    _over_products(site, a, v, lambda e, i, k: _add(e, full, plus(i, k), e.apply(
        "mul", converted(e, e.load(a, (i,)), code), converted(e, e.load(v, (k,)), code)
    )))  # fmt: skip
    start, size = _kept(site, eqn, a.dims[0], v.dims[0])
    return full if size == full.dims[0] else site.copied(part_along(site.e, full, start, size))


def _vectors(site: BlockLowering, eqn: Eqn) -> tuple[View, View]:
    a, v = (site.view(site.operand(atom)) for atom in eqn.args)
    if len(a.dims) != 1 or len(v.dims) != 1 or "b1" in (a.code, v.code):
        raise Unlowered("a convolution of anything but vectors of numbers")
    return a, v


def _full_size(site: BlockLowering, m: Expr, n: Expr) -> Expr:
    for size in (m, n):
        site.e.exit_if(Apply("eq", (size, ZERO), "b1"), "a convolution of nothing")
    return site.e.let(minus(plus(m, n), ONE))


def _kept(site: BlockLowering, eqn: Eqn, m: Expr, n: Expr) -> tuple[Expr, Expr]:
    """Which part of the whole convolution a mode keeps: from where on, and how much."""
    e = site.e
    if (mode := eqn.param("mode", "full")) == "full":
        return ZERO, _full_size(site, m, n)
    least, most = e.apply("min", m, n), e.apply("max", m, n)
    before = e.let(minus(least, ONE))
    if mode == "valid":
        return before, e.let(plus(minus(most, least), ONE))
    if mode != "same":
        raise Unlowered(f"a convolution in the mode {mode}")
    return e.apply("quotient", before, integer(2)), most


def _over_products(
    site: BlockLowering, a: View, v: View, element: Callable[[Emitter, Expr, Expr], None]
) -> None:
    """Do something for each element of the shorter vector, and for each of the longer."""
    i, k = (Slot(site.e.names.fresh(hint), "i64") for hint in "ik")
    outer = site.e.block()
    inner = outer.block()
    element(inner, i, k)
    outer.add(For(i, outer.let(a.dims[0]), tuple(inner.statements), independent=True))
    site.e.add(For(k, site.e.let(v.dims[0]), tuple(outer.statements)))


def _add(e: Emitter, made: View, place: Expr, value: Expr) -> None:
    place = e.let(place)
    e.store(made, (place,), e.apply("add", e.load(made, (place,)), value))


@lowers("convolve_left", "convolve_right")
def _convolve_back(site: BlockLowering, eqn: Eqn) -> Value:
    """The cotangent of one of two vectors: products of ȳ with the other, turned back."""
    first, second = (site.view(site.operand(atom)) for atom in eqn.args)
    bar, other = (first, second) if eqn.op.name == "convolve_left" else (second, first)
    size = site.e.size(dims_of(site.operand(eqn.params["like"]))[0])
    full = _in_full(site, eqn, bar, size, other.dims[0])
    made = zeroed(site, (size,), bar.code, eqn.outs)
    _over_products(site, made, other, lambda e, i, k: _add(e, made, i, e.apply(
        "mul", e.load(full, (e.let(plus(i, k)),)), converted(e, e.load(other, (k,)), bar.code)
    )))  # fmt: skip
    return made


def _in_full(site: BlockLowering, eqn: Eqn, bar: View, m: Expr, n: Expr) -> View:
    start, size = _kept(site, eqn, m, n)
    full = zeroed(site, (_full_size(site, m, n),), bar.code, ())
    copy_elements(site.e, part_along(site.e, full, start, size), bar)
    return full
