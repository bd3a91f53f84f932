"""Lists of arrays that a program puts together, of a length that is known only when it runs."""

from __future__ import annotations

from collections.abc import Callable

from .....ir.graph import Const, Eqn
from ...containers.zeros import zeros_like
from ...form.loopform import FLOATS, Assign, Expr, For, Slot
from ...lower.lowering import BlockLowering
from ...lower.sequences.columns import Arrays, GrowingList
from ...lower.sequences.sequences import RaggedArrays, item_at
from ...lower.shapes import known_axis
from ...lower.structure import length_of
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import copy_elements


def part_along(e: Emitter, view: nv.View, start: Expr, count: Expr, axis: int = 0) -> nv.View:
    """So many rows of an array (or what lies along another axis), from one on."""
    offset = e.let(nv.plus(view.offset, nv.times(start, view.strides[axis])))
    dims = (*view.dims[:axis], count, *view.dims[axis + 1 :])
    return nv.View(view.root, view.code, dims, view.strides, offset)


def joined_list(site: BlockLowering, eqn: Eqn, arrays: GrowingList) -> nv.View:
    """The arrays of a list one after the other along an axis."""
    e, first, axis = site.e, _first(site, arrays), 0
    axes = known_axis(eqn.params.get("axis", Const(0)), len(first.dims))
    if axes is None:
        raise nv.Unlowered("joining arrays as if they had one axis")
    (axis,) = axes
    site.write_all()
    total = e.variable("total", nv.ZERO)

    def measure(inner: Emitter, _k: Expr, item: nv.View, start: Slot) -> Expr:
        for n, (a, b) in enumerate(zip(first.dims, item.dims, strict=True)):
            if n != axis:
                inner.must_be_same(a, b, "joined arrays of different shapes")
        return nv.plus(start, item.dims[axis])

    _one_by_one(site, arrays, total, measure)
    dims = (*first.dims[:axis], total, *first.dims[axis + 1 :])
    made = site.allocate(tuple(map(e.size, dims)), first.code, eqn.outs)

    def write(inner: Emitter, _k: Expr, item: nv.View, start: Slot) -> Expr:
        count = inner.let(item.dims[axis])
        copy_elements(inner, part_along(inner, made, start, count, axis), item)
        return nv.plus(start, count)

    _one_by_one(site, arrays, e.variable("start", nv.ZERO), write)
    return made


def parted_list(site: BlockLowering, eqn: Eqn, like: GrowingList) -> GrowingList:
    """The cotangents of the arrays of a list that were joined along an axis."""
    bar, first = site.view(site.operand(eqn.args[0])), _first(site, like)
    axis = eqn.param("axis", 0)
    if axis is None or len(first.dims) != len(bar.dims) or first.code not in FLOATS:
        raise nv.Unlowered("a cotangent of arrays joined in this way")
    axis %= len(bar.dims)
    bars: GrowingList = zeros_like(site, like)
    site.write_all()

    def write(inner: Emitter, k: Expr, item: nv.View, start: Slot) -> Expr:
        count = inner.let(item.dims[axis])
        target: nv.View = item_at(inner, bars, k)
        copy_elements(inner, target, part_along(inner, bar, start, count, axis))
        return nv.plus(start, count)

    _one_by_one(site, like, site.e.variable("start", nv.ZERO), write)
    return bars


def _first(site: BlockLowering, arrays: GrowingList) -> nv.View:
    """The first array of a list; exits where there is none."""
    if not isinstance(arrays.column, (Arrays, RaggedArrays)):
        raise nv.Unlowered("joining of something that is no list of arrays")
    none = site.e.apply("eq", length_of(site, arrays), nv.ZERO, code="b1")
    site.e.exit_if(none, "joining no arrays at all")
    return item_at(site.e, arrays, nv.ZERO)


def _one_by_one(
    site: BlockLowering,
    arrays: GrowingList,
    start: Slot,
    do: Callable[[Emitter, Expr, nv.View, Slot], Expr],
) -> None:
    """Do something with each array of a list, which says where the next one starts."""
    e = site.e
    index, inner = Slot(e.names.fresh("k"), "i64"), e.block()
    after = do(inner, index, item_at(inner, arrays, index), start)
    inner.add(Assign(start, after))
    e.add(For(index, length_of(site, arrays), tuple(inner.statements)))
