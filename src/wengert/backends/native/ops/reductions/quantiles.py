"""Medians and quantiles: numbers in their order, and which of them count."""

from __future__ import annotations

from .....ir.graph import Const, Eqn
from ...form.loopform import Apply, Constant, Expr
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import axes_of
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import in_order, over
from ...values.numbers import converted
from ..arrays.gather_scatter import as_shape
from ..elementwise.creation import zeroed

Index = tuple[Expr, ...]


def _real(value: float) -> Constant:
    return Constant(value, "f64")


def _lanes_in_order(site: BlockLowering, eqn: Eqn) -> nv.View:
    """The elements along an axis, or all, in their order along the last axis."""
    x = site.view(site.operand(eqn.args[0]))
    if not set(eqn.params) <= {"axis", "keepdims", "method"} or x.code == "b1":
        raise nv.Unlowered(f"options of `{eqn.op.name}`")
    if eqn.param("method", "linear") != "linear":
        raise nv.Unlowered("quantiles by another method than the linear one")
    lanes = site.view(site.apply("lanes", x, axis=eqn.params.get("axis", Const(None))))
    site.e.exit_if(Apply("eq", (lanes.dims[-1], nv.ZERO), "b1"), "a quantile of nothing")
    return site.view(site.apply("sort", lanes))


def _with_axes_kept(site: BlockLowering, eqn: Eqn, found: nv.Value) -> nv.Value:
    """A result with an axis of one element in the place of each that was reduced."""
    if not eqn.param("keepdims", False):
        return found
    x = site.view(site.operand(eqn.args[0]))
    axes = axes_of(eqn, len(x.dims))
    shape = tuple(nv.ONE if k in axes else dim for k, dim in enumerate(x.dims))
    return site.apply("reshape", site.view(found), as_shape(shape))


@lowers("median")
def _median(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The mean of the one or two numbers in the middle."""
    ordered = _lanes_in_order(site, eqn)
    size = ordered.dims[-1]
    first = site.e.apply("quotient", site.e.let(nv.minus(size, nv.ONE)), nv.integer(2))
    end = site.e.let(nv.plus(site.e.apply("quotient", size, nv.integer(2)), nv.ONE))
    middle = nv.Bounds(nv.Scalar(first), nv.Scalar(end), None)
    part = site.apply("getitem", ordered, nv.Tuple((nv.StaticValue(Ellipsis), middle)))
    return _with_axes_kept(site, eqn, site.apply("mean", part, axis=-1))


@lowers("quantile", "percentile")
def _quantile(site: BlockLowering, eqn: Eqn) -> nv.Value:
    ordered = _lanes_in_order(site, eqn)
    if ordered.code == "f32" or eqn.param("keepdims", False):
        raise nv.Unlowered("quantiles of floats of 32 bits, or with all axes kept")
    asked = site.view(site.apply("asarray", eqn.args[1]))
    rank, lead = len(asked.dims), ordered.dims[:-1]
    site.write_all()
    made = site.allocate((*asked.dims, *lead), "f64", eqn.outs)

    def element(e: Emitter, at: Index) -> None:
        share = _share(e, asked, at[:rank], percent=eqn.op.name == "percentile")
        e.store(made, at, _between(e, ordered, at[rank:], share))

    over(site.e, made.dims, element)
    return made if made.dims else nv.Scalar(site.e.load(made, ()), nv.NUMPY)


def _share(e: Emitter, asked: nv.View, at: Index, *, percent: bool) -> Expr:
    """A quantile that is asked for, between 0 and 1."""
    share = converted(e, e.load(asked, at), "f64")
    return _inside(e, e.apply("div", share, _real(100.0)) if percent else share)


def _inside(e: Emitter, share: Expr) -> Expr:
    """Such a number: Python says what is wrong with others."""
    inside = e.apply("le", _real(0.0), share, code="b1")
    inside = e.apply("and", inside, e.apply("le", share, _real(1.0), code="b1"))
    e.exit_if(e.apply("not", inside), "a quantile outside 0 and 1")
    return share


def _between(e: Emitter, ordered: nv.View, lane: Index, share: Expr) -> Expr:
    """As NumPy has it, counted from the nearer neighbour."""
    last = e.let(nv.minus(ordered.dims[-1], nv.ONE))
    place = e.apply("mul", share, converted(e, last, "f64"))
    low = e.apply("floor", place)
    k = e.apply("i64", low, code="i64")
    after = e.apply("min", e.let(nv.plus(k, nv.ONE)), last)
    a, b = (converted(e, e.load(ordered, (*lane, n)), "f64") for n in (k, after))
    apart, above = e.apply("sub", b, a), e.apply("sub", place, low)
    from_a = e.apply("add", a, e.apply("mul", apart, above))
    below = e.apply("sub", _real(1.0), above)
    from_b = e.apply("sub", b, e.apply("mul", apart, below))
    nearer_b = e.apply("ge", above, _real(0.5), code="b1")
    return e.apply("select", nearer_b, from_b, from_a, code="f64")


@lowers("quantile_weights")
def _quantile_weights(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Two weights in each lane, as `runtime.statistics.quantile_weights` has them."""
    if eqn.params.get("method", _LINEAR) != _LINEAR or eqn.param("skip_nan", False):
        raise nv.Unlowered("the weights of other quantiles than the linear ones")
    lanes, asked = site.in_memory(eqn.args[0]), site.view(site.apply("asarray", eqn.args[1]))
    site.e.exit_if(Apply("eq", (lanes.dims[-1], nv.ZERO), "b1"), "a quantile of nothing")
    order = site.view(site.apply("argsort", lanes, kind="stable"))
    rank, size = len(asked.dims), site.e.size(lanes.dims[-1])
    made = zeroed(site, (*asked.dims, *lanes.dims[:-1], size), "f64", eqn.outs)
    last = site.e.apply("max", site.e.let(nv.minus(size, nv.ONE)), nv.ZERO)

    def element(e: Emitter, at: Index) -> None:
        share = _inside(e, converted(e, e.load(asked, at[:rank]), "f64"))
        low, below, above = _two_weights(e, share, size, eqn.param("order", 0))
        after = e.apply("min", e.let(nv.plus(low, nv.ONE)), last)
        for place, weight in ((low, below), (after, above)):
            here = (*at, e.load(order, (*at[rank:], place)))
            e.store(made, here, e.apply("add", e.load(made, here), weight))

    in_order(site.e, made.dims[:-1], element)
    return made


_LINEAR = Const("linear")


def _two_weights(e: Emitter, share: Expr, size: Expr, order: int) -> tuple[Expr, Expr, Expr]:
    """The number of the first of two neighbours, and the weights of both, or their slopes."""
    count, zero, one = converted(e, size, "f64"), _real(0.0), _real(1.0)
    last = e.apply("maximum", e.apply("sub", count, one), zero)
    place = e.apply("add", e.apply("mul", count, share), e.apply("sub", one, share))
    place = e.apply("sub", place, one)
    inside = e.apply("and", e.apply("ge", place, zero, code="b1"),
                     e.apply("le", place, last, code="b1"))  # fmt: skip
    place = e.apply("minimum", e.apply("maximum", place, zero), last)
    most = e.apply("maximum", e.apply("sub", last, one), zero)
    low = e.apply("minimum", e.apply("floor", place), most)
    k = e.apply("i64", low, code="i64")
    if order == 0:
        above = e.apply("sub", place, low)
        return k, e.apply("sub", one, above), above
    slope = e.apply("select", inside, last, zero, code="f64")
    return k, e.apply("neg", slope), slope
