"""What runs along an axis: sums, products and extremes of all elements up to each."""

from __future__ import annotations

from collections.abc import Callable

from .....ir.graph import Const, Eqn
from ...form.loopform import FLOATS, Code, Constant, Expr
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import dims_of
from ...values.emitter import Emitter
from ...values.loops import copy_elements, fill, in_order
from ...values.numbers import converted
from ...values.promotion import common_code
from ...values.values import ONE, ZERO, Unlowered, Value, View, minus, plus
from ..arrays.gather_scatter import along, as_shape
from ..elementwise.creation import zeroed

Step = Callable[[Emitter, Expr, Expr], Expr]
Index = tuple[Expr, ...]


def _run(
    site: BlockLowering, made: View, axis: int, element: Callable[[Emitter, Index, Index], None]
) -> None:
    """Go along an axis in order: `element(emitter, where, where it was before)`."""
    count = site.e.apply("max", site.e.let(minus(made.dims[axis], ONE)), ZERO)
    dims = (*made.dims[:axis], count, *made.dims[axis + 1 :])

    def step(e: Emitter, at: Index) -> None:
        here = (*at[:axis], e.let(plus(at[axis], ONE)), *at[axis + 1 :])
        element(e, here, at)

    in_order(site.e, dims, step)


def scan(site: BlockLowering, eqn: Eqn, x: View, axis: int, code: Code, step: Step) -> View:
    """An array in which each element comes from that before it and one of another array."""
    site.write_all()
    made = site.allocate(tuple(map(site.e.size, x.dims)), code, eqn.outs)
    copy_elements(site.e, made, x)

    def element(e: Emitter, at: Index, before: Index) -> None:
        e.store(made, at, step(e, e.load(made, before), e.load(made, at)))

    _run(site, made, axis, element)
    return made


@lowers("cumsum", "cumprod")
def _cumulated(site: BlockLowering, eqn: Eqn) -> Value:
    if not set(eqn.params) <= {"axis"}:
        raise Unlowered(f"options of `{eqn.op.name}`")
    x, axis = along(site, eqn)
    op = "add" if eqn.op.name == "cumsum" else "mul"
    code = x.code if x.code in FLOATS else "i64"
    return scan(site, eqn, x, axis, code, lambda e, total, item: e.apply(op, total, item))


@lowers("cumsum_reversed")
def _sums_from_each(site: BlockLowering, eqn: Eqn) -> Value:
    """The transpose of `cumsum`: sums from each element to the last."""
    bar, axis = along(site, eqn)
    back = site.apply("flip", site.apply("cumsum", site.apply("flip", bar, axis=axis), axis=axis),
                      axis=axis)  # fmt: skip
    dims = tuple(map(site.e.size, dims_of(site.operand(eqn.args[1]))))
    return back if len(dims) == len(bar.dims) else site.apply("reshape", back, as_shape(dims))


# --- products of all but some -------------------------------------------------------------


@lowers("products_before")
def _products_before(site: BlockLowering, eqn: Eqn) -> Value:
    """For each element of the lanes, the product of all before it, or after it."""
    x = site.in_memory(eqn.args[0])
    axis = len(x.dims) - 1
    backwards = bool(eqn.param("reverse", False))
    code: Code = x.code if x.code != "b1" else "i64"
    x = site.view(site.apply("flip", x, axis=axis)) if backwards else x
    site.write_all()
    made = site.allocate(tuple(map(site.e.size, x.dims)), code, ())
    fill(site.e, made, Constant(1.0 if code in FLOATS else 1, code))

    def element(e: Emitter, at: Index, before: Index) -> None:
        item = converted(e, e.load(x, before), code)
        e.store(made, at, e.apply("mul", e.load(made, before), item))

    _run(site, made, axis, element)
    return site.apply("flip", made, axis=axis) if backwards else made


@lowers("linear_recurrence")
def _linear_recurrence(site: BlockLowering, eqn: Eqn) -> Value:
    a, b = (site.in_memory(arg) for arg in eqn.args)
    code, axis = common_code([a, b]), len(b.dims) - 1
    if code not in FLOATS:
        raise Unlowered("a recurrence of anything but floats")
    backwards = bool(eqn.param("reverse", False))
    if backwards:
        a, b = (site.view(site.apply("flip", x, axis=axis)) for x in (a, b))

    def step(e: Emitter, at: Index, last: Expr, item: Expr) -> Expr:
        return e.apply("add", e.apply("mul", converted(e, e.load(a, at), code), last), item)

    site.write_all()
    made = site.allocate(tuple(map(site.e.size, b.dims)), code, ())
    copy_elements(site.e, made, b)
    _run(site, made, axis, lambda e, at, before: e.store(
        made, at, step(e, at, e.load(made, before), e.load(made, at))
    ))  # fmt: skip
    return site.apply("flip", made, axis=axis) if backwards else made


@lowers("delayed")
def _delayed(site: BlockLowering, eqn: Eqn) -> Value:
    x = site.in_memory(eqn.args[0])
    axis = len(x.dims) - 1
    backwards = bool(eqn.param("reverse", False))
    made = zeroed(site, tuple(map(site.e.size, x.dims)), x.code, eqn.outs)

    def element(e: Emitter, at: Index, before: Index) -> None:
        to, of = (before, at) if backwards else (at, before)
        e.store(made, to, e.load(x, of))

    _run(site, made, axis, element)
    return made


# --- lanes --------------------------------------------------------------------------------


@lowers("lanes")
def _lanes(site: BlockLowering, eqn: Eqn) -> Value:
    """An array with an axis as the last one; without, one lane of everything."""
    axis = _one_axis(eqn)
    if axis is None:
        return site.apply("ravel", eqn.args[0])
    return site.apply("moveaxis", eqn.args[0], source=axis, destination=-1)


def _one_axis(eqn: Eqn) -> int | None:
    axis = eqn.params.get("axis", Const(None))
    if not isinstance(axis, Const) or not isinstance(axis.value, (int, type(None))):
        raise Unlowered("lanes along several axes, or one that is computed")
    return axis.value


@lowers("unlanes")
def _unlanes(site: BlockLowering, eqn: Eqn) -> Value:
    axis = _one_axis(eqn)
    if axis is None:
        dims = tuple(map(site.e.size, dims_of(site.operand(eqn.args[1]))))
        return site.apply("reshape", eqn.args[0], as_shape(dims))
    return site.apply("moveaxis", eqn.args[0], source=-1, destination=axis)
