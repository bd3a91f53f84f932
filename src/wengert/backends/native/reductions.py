"""Sums, means, extremes and their like, along all axes or some."""

from __future__ import annotations

import sys
from typing import Any

from ...ir.graph import Const, Eqn
from ...ir.records import replace
from .access import in_order
from .columns import Growing
from .creation import filled
from .emitter import Emitter
from .fusion import REDUCTIONS, fill, is_contiguous, reduced, replaced_flat
from .loopform import FLOATS, Apply, Assign, Code, Constant, Expr, For, If, Slot
from .lowering import Site, described, lowers
from .numbers import as_float_origin, compute, converted, exact_float, origin_expr
from .sequences import item_at
from .shapes import dims_of, known_axis, sizes_of, spread, spread_value
from .structure import over_arrays
from .values import (
    NUMPY,
    ONE,
    PYTHON,
    ZERO,
    Array,
    Delayed,
    Repeated,
    Scalar,
    Tuple,
    Unlowered,
    Value,
    View,
    integer,
    plus,
    product,
    times,
)


def axes_of(eqn: Eqn, rank: int) -> tuple[int, ...]:
    """Which axes a reduction reduces."""
    axes = known_axis(eqn.params.get("axis"), rank)
    return tuple(range(rank)) if axes is None else axes


def _checked_options(eqn: Eqn, *more: str) -> None:
    if not set(eqn.params) <= {"axis", "keepdims", *more}:
        raise Unlowered(f"options of `{eqn.op.name}`")


def kept_axes(site: Site, eqn: Eqn, value: Value, dims: Any, axes: tuple[int, ...]) -> Value:
    """The result of a reduction with axes of one element in the place of the lost ones."""
    if not eqn.param("keepdims", False):
        return value
    shape = tuple(ONE if k in axes else d for k, d in enumerate(dims))
    value = site.computed(value) if isinstance(value, Delayed) else value
    if isinstance(value, Scalar):
        return Repeated(value, value.code, shape)
    own = iter(value.strides)
    strides = tuple(ONE if k in axes else next(own) for k in range(len(dims)))
    return View(value.root, value.code, shape, strides, value.offset, value.whole)


@lowers("sum", "prod", "max", "min", "any", "all")
def _reduction(site: Site, eqn: Eqn) -> Value:
    _checked_options(eqn)
    name = eqn.op.name
    x = site.operand(eqn.args[0])
    if isinstance(x, Scalar):
        return _of_number(site, eqn, x)
    if not x.dims and eqn.param("keepdims", False):
        raise Unlowered(f"`{name}` of an array without axes, which is one again")
    if eqn.namespace == "py" and name in ("max", "min"):
        return _extreme_of_python(site, eqn, x)
    axes = axes_of(eqn, len(x.dims))
    return kept_axes(site, eqn, reduction(site, name, x, axes), x.dims, axes)


def _of_number(site: Site, eqn: Eqn, x: Scalar) -> Scalar:
    """A reduction of one number, which becomes one of NumPy's."""
    name = eqn.op.name
    if eqn.params:
        raise Unlowered(f"options of `{name}` of a number")
    if name in ("any", "all") and x.code != "b1":
        raise Unlowered("whether a number is one at all")
    code = _result_code(name, x.code)
    if name == "sum" and code in FLOATS:
        return Scalar(site.e.apply("add", x.expr, Constant(0.0, code)), NUMPY)
    return Scalar(converted(site.e, x.expr, code), NUMPY, x.bits if code == x.code else 1)


def _extreme_of_python(site: Site, eqn: Eqn, x: Array) -> Scalar:
    """Python's own `max` and `min`: the first item that none after it beats, NaN or not."""
    if len(x.dims) != 1:
        raise Unlowered(f"`{eqn.op.name}` of the rows of an array")
    view = site.in_memory(eqn.args[0])
    best, _ = _best_of(site, view, eqn.op.name == "max", nan_counts=False)
    return Scalar(site.e.let(best), NUMPY)


def reduction(site: Site, name: str, x: Array, axes: tuple[int, ...]) -> Value:
    """A reduction by name."""
    code = _result_code(name, x.code)
    if name in ("max", "min"):
        _must_have_elements(site, x, axes)
        if code not in FLOATS:
            raise Unlowered("extremes of integers")
    return reduced(site, REDUCTIONS[name], x, axes, code)


def _result_code(name: str, code: Code) -> Code:
    if name in ("any", "all"):
        return "b1"
    return "i64" if code == "b1" and name in ("sum", "prod") else code


def _must_have_elements(site: Site, x: Array, axes: tuple[int, ...]) -> None:
    for k in axes:
        site.e.exit_if(Apply("eq", (x.dims[k], integer(0)), "b1"), "an extreme of nothing")


def count_of(site: Site, x: Array, axes: tuple[int, ...]) -> Expr:
    """How many elements each result of a reduction comes from, as a float."""
    return converted(site.e, site.e.let(product(tuple(x.dims[k] for k in axes))), "f64")


@lowers("mean")
def _mean(site: Site, eqn: Eqn) -> Value:
    _checked_options(eqn)
    x = site.array(eqn.args[0])
    axes = axes_of(eqn, len(x.dims))
    return kept_axes(site, eqn, mean_of(site, x, axes), x.dims, axes)


def mean_of(site: Site, x: Array, axes: tuple[int, ...]) -> Value:
    total = reduced(site, REDUCTIONS["sum"], x, axes, x.code if x.code in FLOATS else "f64")
    count = Scalar(converted(site.e, count_of(site, x, axes), total.code), NUMPY)
    if not total.dims:
        return compute(site.e, "div", "np", [site.as_scalar(total), count])
    return over_arrays(site, "div", [total, count])


@lowers("var", "std")
def _spread(site: Site, eqn: Eqn) -> Value:
    _checked_options(eqn, "ddof")
    x = site.view(site.array(eqn.args[0]))
    axes = axes_of(eqn, len(x.dims))
    centre = mean_of(site, x, axes)
    if isinstance(centre, Delayed | View):
        return _spread_along(site, eqn, x, centre, axes)
    apart = over_arrays(site, "sub", [x, centre])
    code = x.code if x.code in FLOATS else "f64"
    total = reduced(site, REDUCTIONS["sum"], over_arrays(site, "square", [apart]), axes, code)
    count = converted(site.e, _degrees_of_freedom(site, eqn, x, axes), code)
    result = compute(site.e, "div", "np", [site.as_scalar(total), Scalar(count, NUMPY)])
    result = compute(site.e, "sqrt", "np", [result]) if eqn.op.name == "std" else result
    return kept_axes(site, eqn, result, x.dims, axes)


def _degrees_of_freedom(site: Site, eqn: Eqn, x: Array, axes: tuple[int, ...]) -> Expr:
    """What a sum of squares is divided by: 0 at the least."""
    ddof = Constant(float(eqn.param("ddof", 0)), "f64")
    rest = site.e.apply("sub", count_of(site, x, axes), ddof)
    return site.e.apply("maximum", rest, Constant(0.0, "f64"))


def _spread_along(
    site: Site, eqn: Eqn, x: View, centre: Delayed | View, axes: tuple[int, ...]
) -> Value:
    """A variance, or its root, along some axes."""
    centre = site.view(centre)
    own = iter(zip(centre.dims, centre.strides, strict=True))
    placed = [(ONE, ZERO) if k in axes else next(own) for k in range(len(x.dims))]
    middle = replace(
        centre, dims=tuple(d for d, _ in placed), strides=tuple(s for _, s in placed), whole=False
    )
    squares = over_arrays(site, "square", [over_arrays(site, "sub", [x, middle])])
    total = reduced(site, REDUCTIONS["sum"], squares, axes, squares.code)
    count = _degrees_of_freedom(site, eqn, x, axes)
    result = over_arrays(site, "div", [total, Scalar(converted(site.e, count, total.code), NUMPY)])
    result = over_arrays(site, "sqrt", [result]) if eqn.op.name == "std" else result
    return kept_axes(site, eqn, result, x.dims, axes)


@lowers("reduced_count")
def _reduced_count(site: Site, eqn: Eqn) -> Value:
    x = site.array(eqn.args[0])
    axes = axes_of(eqn, len(x.dims))
    ddof = float(eqn.param("ddof", 0))
    rest = site.e.apply("sub", count_of(site, x, axes), Constant(ddof, "f64"))
    site.e.exit_if(Apply("le", (rest, Constant(0.0, "f64")), "b1"), "a mean of nothing")
    return Scalar(rest, PYTHON)


@lowers("argmax", "argmin")
def _argmax(site: Site, eqn: Eqn) -> Value:
    if any(atom != Const(None) for atom in eqn.params.values()):
        raise Unlowered("the place of an extreme along an axis")
    return Scalar(place_of_extreme(site, eqn, eqn.op.name == "argmax"), NUMPY, 48)


def place_of_extreme(site: Site, eqn: Eqn, greatest: bool) -> Expr:
    """The index of the first greatest element, or NaN, of an array read in C order."""
    view = site.in_memory(eqn.args[0])
    if not is_contiguous(view):
        view = site.copied(view)
    view = replaced_flat(view)
    return _best_of(site, view, greatest, nan_counts=view.code in FLOATS)[1]


def _best_of(site: Site, view: View, greatest: bool, *, nan_counts: bool) -> tuple[Expr, Expr]:
    """The first extreme of a vector, and its place; the first NaN is one where that counts."""
    e = site.e
    count = e.let(view.dims[0])
    e.exit_if(Apply("eq", (count, integer(0)), "b1"), "an extreme of nothing")
    best, place = e.variable("best", e.load(view, (integer(0),))), e.variable("place", integer(0))
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
    e.add(For(index, count, tuple(inner.statements)))
    return best, e.let(place)


# --- what derivatives are made of ---------------------------------------------------------


@lowers("unbroadcast")
def _unbroadcast(site: Site, eqn: Eqn) -> Value:
    bar, x = (site.operand(atom) for atom in eqn.args)
    return summed_to(site, bar, tuple(map(site.e.size, dims_of(x))))


@lowers("summed_to")
def _summed_to(site: Site, eqn: Eqn) -> Value:
    return summed_to(site, site.operand(eqn.args[0]), sizes_of(site, eqn.args[1]))


def summed_to(site: Site, bar: Scalar | Array, dims: tuple[Expr, ...]) -> Value:
    """A cotangent summed over what broadcasting repeated."""
    own = tuple(map(site.e.size, dims_of(bar)))
    if own == dims or not own:
        if dims and isinstance(bar, Scalar):
            return Repeated(bar, bar.code, dims)
        return bar
    missing = len(dims) - len(own)
    narrow = tuple(ONE if k < missing or own[k - missing] == ONE else d for k, d in enumerate(dims))
    if narrow != dims:  # all cotangents along an axis are the same
        inner = summed_to(site, bar, narrow[max(missing, 0) :])
        return spread_value(site, inner, dims)
    lead = -missing
    axes = list(range(lead))
    for k, size in enumerate(dims):
        if size == ONE and own[lead + k] != ONE:
            axes.append(lead + k)
        else:
            site.e.must_be_same(own[lead + k], size)
    if not axes:
        return bar
    assert not isinstance(bar, Scalar)
    total = reduced(site, REDUCTIONS["sum"], bar, tuple(axes), bar.code)
    if not dims:
        return site.as_scalar(total)
    if len(axes) == lead:
        return total
    found = site.computed(total)
    if isinstance(found, Scalar):
        return Repeated(found, found.code, dims)
    strides = iter(found.strides)
    placed = tuple(ONE if lead + k in axes else next(strides) for k in range(len(dims)))
    return View(found.root, found.code, dims, placed, found.offset, found.whole)


@lowers("unreduce", "broadcast_like")
def _unreduce(site: Site, eqn: Eqn) -> Value:
    """The cotangent of a reduction, the same along the axes that were reduced."""
    x = site.operand(eqn.args[1])
    dims = tuple(map(site.e.size, dims_of(x)))
    bar = site.operand(eqn.args[0])
    axes = axes_of(eqn, len(dims))
    restores = eqn.op.name == "unreduce" and not eqn.param("keepdims", False)
    if isinstance(bar, Scalar) or not bar.dims or not restores or len(axes) == len(dims):
        return spread(site, eqn.args[0], dims)
    view = site.in_memory(eqn.args[0])
    own = iter(view.strides)
    strides = tuple(integer(0) if k in axes else next(own) for k in range(len(dims)))
    return View(view.root, view.code, dims, strides, view.offset)


@lowers("put_extreme")
def _put_extreme(site: Site, eqn: Eqn) -> Value:
    """The cotangent of an extreme, at the first place where it is."""
    x = site.operand(eqn.args[1])
    if isinstance(x, Scalar):
        raise Unlowered("the cotangent of an extreme of one number")
    axes = axes_of(eqn, len(x.dims))
    if len(axes) == len(x.dims) and not eqn.param("keepdims", False):
        return _put_extreme_of_all(site, eqn)
    if len(axes) != 1:
        raise Unlowered("the cotangent of an extreme along several axes")
    view, bar, y = (site.in_memory(eqn.args[k]) for k in (1, 0, 2))
    site.write_all()
    code = view.code if view.code in FLOATS else "f64"
    made = site.allocate(tuple(map(site.e.size, view.dims)), code, eqn.outs)
    fill(site.e, made, filled(0, code, ()).element.expr)
    axis = axes[0]
    kept = bool(eqn.param("keepdims", False))

    def lane(e: Emitter, indices: tuple[Expr, ...]) -> None:
        own = (*indices[:axis], *((ZERO,) if kept else ()), *indices[axis:])
        found, value = e.load(y, own), converted(e, e.load(bar, own), code)
        along = replace(view, **_lane(e, view, axis, indices))
        into = replace(made, **_lane(e, made, axis, indices))
        _put_first(e, into, along, found, value)

    in_order(site.e, (*view.dims[:axis], *view.dims[axis + 1 :]), lane, ())
    return made


def _lane(e: Emitter, view: View, axis: int, indices: tuple[Expr, ...]) -> dict[str, Any]:
    """The elements of an array along one axis, as what changes in its description."""
    strides = (*view.strides[:axis], *view.strides[axis + 1 :])
    offset = view.offset
    for index, stride in zip(indices, strides, strict=True):
        offset = plus(offset, times(index, stride))
    dims, own = (view.dims[axis],), (view.strides[axis],)
    return {"dims": dims, "strides": own, "offset": e.let(offset), "whole": False}


def _put_extreme_of_all(site: Site, eqn: Eqn) -> Value:
    bar, y = site.scalar(eqn.args[0]), site.scalar(eqn.args[2])
    view = site.in_memory(eqn.args[1])
    site.write_all()
    code = view.code if view.code in FLOATS else "f64"
    made = site.allocate(tuple(map(site.e.size, view.dims)), code, eqn.outs)
    fill(site.e, made, filled(0, code, ()).element.expr)
    _put_first(site.e, made, view, y.expr, converted(site.e, bar.expr, code))
    return made


def _put_first(e: Emitter, made: View, view: View, y: Expr, bar: Expr) -> None:
    open_ = e.variable("open", Constant(True, "b1"))

    def element(inner: Emitter, indices: tuple[Expr, ...]) -> None:
        x = inner.load(view, indices)
        hit = inner.apply("eq", x, converted(inner, y, x.code), code="b1")
        hit = inner.apply("and", hit, open_)
        block = inner.block()
        block.store(made, indices, bar)
        block.add(Assign(open_, Constant(False, "b1")))
        inner.add(If(hit, tuple(block.statements)))

    in_order(e, view.dims, element, ())
    e.exit_if(open_, "an extreme that is no element")


# --- running sums -------------------------------------------------------------------------


@lowers("cumsum", "cumsum_reversed", "cumprod")
def _cumsum(site: Site, eqn: Eqn) -> Value:
    view = site.in_memory(eqn.args[0])
    if len(view.dims) != 1 or view.code not in FLOATS:
        raise Unlowered("a running sum along an axis")
    site.write_all()
    e = site.e
    size = e.let(view.dims[0])
    made = site.allocate((size,), view.code, eqn.outs)
    product_ = eqn.op.name == "cumprod"
    total = e.variable("total", Constant(1.0 if product_ else -0.0, view.code))
    index = Slot(e.names.fresh("i"), "i64")
    inner = e.block()
    k: Expr = index
    if eqn.op.name == "cumsum_reversed":
        last = inner.let(plus(size, integer(-1)))
        k = inner.apply("sub", last, index)
    value = Apply("mul" if product_ else "add", (total, inner.load(view, (k,))), view.code)
    inner.add(Assign(total, value))
    inner.store(made, (k,), total)
    e.add(For(index, size, tuple(inner.statements)))
    return made


# --- lists --------------------------------------------------------------------------------


@lowers("sum_items")
def _sum_items(site: Site, eqn: Eqn) -> Value:
    """Python's `sum`, which is exact to the last digit for floats only from 3.12 on."""
    value = site.value(eqn.args[0])
    start = site.scalar(eqn.args[1]) if len(eqn.args) > 1 else Scalar(integer(0), PYTHON, 0)
    if isinstance(value, Tuple):
        total = start
        for item in value.items:
            total = compute(site.e, "add", "py", [total, site.as_scalar(item)])
        return total
    if not isinstance(value, Growing):
        raise Unlowered(f"`sum` of {described(value)}")
    return _sum_of_list(site, value, start)


def _sum_of_list(site: Site, value: Growing, start: Scalar) -> Scalar:
    """From the first item to the last; the sum of no items is an integer, unless it starts with another."""
    e = site.e
    trial = value.column.item(Emitter(e.names), ZERO)
    if not isinstance(trial, Scalar) or trial.code not in ("f64", "i64"):
        raise Unlowered("`sum` of a list of anything but numbers")
    if trial.code == "i64" and start.code == "i64":
        return _sum_of_integers(site, value, start)
    total = e.variable("total", exact_float(e, start))
    rest = e.variable("rest", Constant(0.0, "f64"))
    origin = e.variable("origin", origin_expr(as_float_origin(start)))
    index, inner = Slot(e.names.fresh("k"), "i64"), e.block()
    item = item_at(inner, value, index)
    x, whose = exact_float(inner, item), origin_expr(as_float_origin(item))
    after = inner.apply("add", total, x)
    if sys.version_info >= (3, 12):
        lost = _lost(inner, total, x, after)
        both = inner.apply("max", origin, whose)  # of floats of Python's, and integers before
        counts = inner.apply("eq", whose, integer(PYTHON), code="b1")
        counts = inner.apply("and", counts, inner.apply("le", both, integer(PYTHON), code="b1"))
        more = inner.apply("select", counts, lost, Constant(0.0, "f64"), code="f64")
        inner.add(Assign(rest, Apply("add", (rest, more), "f64")))
    inner.add(Assign(total, after))
    inner.add(Assign(origin, Apply("max", (origin, whose), "i64")))
    e.add(For(index, value.length, tuple(inner.statements)))
    finite = e.apply("lt", e.apply("fabs", rest), Constant(float("inf"), "f64"), code="b1")
    kept = e.apply("select", finite, rest, Constant(0.0, "f64"), code="f64")
    found = e.variable("sum", e.apply("add", total, kept))
    return Scalar(found, e.variable("origin", origin))


def _lost(e: Emitter, total: Expr, x: Expr, after: Expr) -> Expr:
    """What an addition rounds away (Neumaier's): Python adds it in the end."""
    larger = e.apply("ge", e.apply("fabs", total), e.apply("fabs", x), code="b1")
    big = e.apply("select", larger, total, x, code="f64")
    small = e.apply("select", larger, x, total, code="f64")
    return e.apply("add", e.apply("sub", big, after), small)


def _sum_of_integers(site: Site, value: Growing, start: Scalar) -> Scalar:
    e = site.e
    total = e.variable("total", start.expr)
    index, inner = Slot(e.names.fresh("k"), "i64"), e.block()
    item = item_at(inner, value, index)
    after = compute(inner, "add", "py", [Scalar(total, start.origin), item])
    inner.add(Assign(total, after.expr))
    e.add(For(index, value.length, tuple(inner.statements)))
    return Scalar(total, after.origin)
