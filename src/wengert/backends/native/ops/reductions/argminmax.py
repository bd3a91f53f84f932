"""The greatest and the least: where they are, Python's own, and their cotangents."""

from __future__ import annotations

from .....ir.graph import Eqn
from .....ir.records import replace
from ...form.loopform import FLOATS, Apply, Assign, Constant, Expr, For, If, Slot
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import axes_of, kept_axes
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import fill, in_order
from ...values.numbers import converted
from ...values.strides import is_contiguous, replaced_flat
from ..elementwise.creation import filled


@lowers("place_of_extreme")
def _place(site: BlockLowering, eqn: Eqn) -> nv.Scalar:
    """Where the item of Python's own `max` and `min` is: the first that none after it beats, NaN or not."""
    view = site.in_memory(eqn.args[0])
    if len(view.dims) != 1:
        raise nv.Unlowered("an extreme of the rows of an array")
    _must_have_elements(site.e, view.dims[0])
    site.write_all()
    _, place = _best_of(site.e, view, bool(eqn.param("largest", True)), nan_counts=False)
    site.e.note_least(place, 0)
    return nv.Scalar(place, nv.PYTHON, 48)


@lowers("argmax", "argmin")
def _argmax(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Where the first extreme is, or the first NaN: in an array read in C order, or along an axis."""
    if not set(eqn.params) <= {"axis", "keepdims"}:
        raise nv.Unlowered(f"options of `{eqn.op.name}`")
    view = site.in_memory(eqn.args[0])
    axes, dims = axes_of(eqn, len(view.dims)), view.dims
    if len(axes) == len(dims):
        view = replaced_flat(view if is_contiguous(view) else site.copied(view))
    axis = 0 if len(view.dims) == 1 else axes[0]
    _must_have_elements(site.e, view.dims[axis])
    site.write_all()
    greatest, nan_counts = eqn.op.name == "argmax", view.code in FLOATS
    if len(view.dims) == 1:
        _, place = _best_of(site.e, view, greatest, nan_counts=nan_counts)
        return kept_axes(site, eqn, nv.Scalar(place, nv.NUMPY, 48), dims, axes)
    others = (*view.dims[:axis], *view.dims[axis + 1 :])
    made = site.allocate(tuple(map(site.e.size, others)), "i64", eqn.outs)

    def lane(e: Emitter, indices: tuple[Expr, ...]) -> None:
        along = lane_of(e, view, axis, indices)
        _, place = _best_of(e, along, greatest, nan_counts=nan_counts)
        e.store(made, indices, place)

    in_order(site.e, others, lane)
    return kept_axes(site, eqn, made, dims, axes)


def _must_have_elements(e: Emitter, count: Expr) -> None:
    e.exit_if(Apply("eq", (e.let(count), nv.ZERO), "b1"), "an extreme of nothing")


FEW = 16
"""Among so many elements, the processor foresees badly which are better than all before."""


def _best_of(e: Emitter, view: nv.View, greatest: bool, *, nan_counts: bool) -> tuple[Expr, Expr]:
    """The first extreme of a vector, and its place; the first NaN is one where that counts."""
    count = e.let(view.dims[0])
    first = e.load(view, (nv.integer(0),))
    best, place = e.variable("best", first), e.variable("place", nv.integer(0))
    searches = e.variable("searches", Constant(True, "b1"))
    few = e.block()
    _best_of_few(few, view, first, (best, place, searches), greatest)
    e.add(If(Apply("le", (count, nv.integer(FEW)), "b1"), tuple(few.statements)))
    many = e.block()
    _best_of_many(many, view, (best, place), greatest, nan_counts=nan_counts)
    e.add(If(searches, tuple(many.statements)))
    return best, e.let(place)


def _best_of_few(
    e: Emitter, view: nv.View, first: Expr, found: tuple[Slot, Slot, Slot], greatest: bool
) -> None:
    """The first extreme without branches; where there is a NaN, it is still to be searched for."""
    best, place, searches = found
    e.add(Assign(searches, Constant(False, "b1")))
    index = Slot(e.names.fresh("i"), "i64")
    inner = e.block()
    x = inner.load(view, (index,))
    better = inner.apply("gt" if greatest else "lt", x, best, code="b1")
    inner.add(Assign(best, Apply("select", (better, x, best), x.code)))
    inner.add(Assign(place, Apply("select", (better, index, place), "i64")))
    if view.code in FLOATS:
        inner.add(Assign(searches, Apply("or", (searches, Apply("ne", (x, x), "b1")), "b1")))
    e.add(For(index, view.dims[0], tuple(inner.statements)))
    e.add(If(searches, (Assign(best, first), Assign(place, nv.integer(0))), rarely=True))


def _best_of_many(
    e: Emitter, view: nv.View, to: tuple[Slot, Slot], greatest: bool, *, nan_counts: bool
) -> None:
    """The first extreme of many elements, of which few are better than all before."""
    best, place = to
    index = Slot(e.names.fresh("i"), "i64")
    inner = e.block()
    x = inner.load(view, (index,))
    found = (Assign(best, x), Assign(place, index))
    if nan_counts:
        beyond = inner.apply("not", inner.apply("ge" if greatest else "le", best, x, code="b1"))
        still = Apply("eq", (best, best), "b1")
        inner.add(If(beyond, (If(still, found),), rarely=True))
    else:
        better = inner.apply("gt" if greatest else "lt", x, best, code="b1")
        inner.add(If(better, found, rarely=True))
    e.add(For(index, view.dims[0], tuple(inner.statements)))


@lowers("put_extreme")
def _put_extreme(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The cotangent of an extreme, at the first place where it is."""
    x = site.operand(eqn.args[1])
    if isinstance(x, nv.Scalar):
        raise nv.Unlowered("the cotangent of an extreme of one number")
    axes = axes_of(eqn, len(x.dims))
    if len(axes) == len(x.dims) and not eqn.param("keepdims", False):
        return _put_extreme_of_all(site, eqn)
    if len(axes) != 1:
        raise nv.Unlowered("the cotangent of an extreme along several axes")
    view, bar, y = (site.in_memory(eqn.args[k]) for k in (1, 0, 2))
    site.write_all()
    code = view.code if view.code in FLOATS else "f64"
    made = site.allocate(tuple(map(site.e.size, view.dims)), code, eqn.outs)
    fill(site.e, made, filled(0, code, ()).element.expr)
    axis = axes[0]
    kept = bool(eqn.param("keepdims", False))

    def lane(e: Emitter, indices: tuple[Expr, ...]) -> None:
        own = (*indices[:axis], *((nv.ZERO,) if kept else ()), *indices[axis:])
        found, value = e.load(y, own), converted(e, e.load(bar, own), code)
        along = lane_of(e, view, axis, indices)
        into = lane_of(e, made, axis, indices)
        _put_first(e, into, along, found, value)

    in_order(site.e, (*view.dims[:axis], *view.dims[axis + 1 :]), lane)
    return made


def lane_of(e: Emitter, view: nv.View, axis: int, indices: tuple[Expr, ...]) -> nv.View:
    """The elements of an array along one axis."""
    strides = (*view.strides[:axis], *view.strides[axis + 1 :])
    offset = view.offset
    for index, stride in zip(indices, strides, strict=True):
        offset = nv.plus(offset, nv.times(index, stride))
    dims, own = (view.dims[axis],), (view.strides[axis],)
    return replace(view, dims=dims, strides=own, offset=e.let(offset), whole=False)


def _put_extreme_of_all(site: BlockLowering, eqn: Eqn) -> nv.Value:
    bar, y = site.scalar(eqn.args[0]), site.scalar(eqn.args[2])
    view = site.in_memory(eqn.args[1])
    site.write_all()
    code = view.code if view.code in FLOATS else "f64"
    made = site.allocate(tuple(map(site.e.size, view.dims)), code, eqn.outs)
    fill(site.e, made, filled(0, code, ()).element.expr)
    _put_first(site.e, made, view, y.expr, converted(site.e, bar.expr, code))
    return made


def _put_first(e: Emitter, made: nv.View, view: nv.View, y: Expr, bar: Expr) -> None:
    open_ = e.variable("open", Constant(True, "b1"))

    def element(inner: Emitter, indices: tuple[Expr, ...]) -> None:
        x = inner.load(view, indices)
        hit = inner.apply("eq", x, converted(inner, y, x.code), code="b1")
        hit = inner.apply("and", hit, open_)
        block = inner.block()
        block.store(made, indices, bar)
        block.add(Assign(open_, Constant(False, "b1")))
        inner.add(If(hit, tuple(block.statements)))

    in_order(e, view.dims, element)
    e.exit_if(open_, "an extreme that is no element")
