"""Sums, means, extremes and their like, along all axes or some."""

from __future__ import annotations

from .....ir.graph import Eqn
from .....ir.records import replace
from ...form.loopform import FLOATS, Apply, Code, Constant, Expr
from ...lower.fusion import reduced
from ...lower.groups import REDUCTIONS
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import axes_of, dims_of, kept_axes, sizes_of, spread, spread_value
from ...lower.structure import over_arrays
from ...values import values as nv
from ...values.numbers import compute, converted


def _checked_options(eqn: Eqn, *more: str) -> None:
    if not set(eqn.params) <= {"axis", "keepdims", *more}:
        raise nv.Unlowered(f"options of `{eqn.op.name}`")


@lowers("sum", "prod", "max", "min", "any", "all")
def _reduction(site: BlockLowering, eqn: Eqn) -> nv.Value:
    _checked_options(eqn)
    name = eqn.op.name
    x = site.operand(eqn.args[0])
    if isinstance(x, nv.Scalar):
        return _of_number(site, eqn, x)
    if not x.dims and eqn.param("keepdims", False):
        raise nv.Unlowered(f"`{name}` of an array without axes, which is one again")
    axes = axes_of(eqn, len(x.dims))
    return kept_axes(site, eqn, reduction(site, name, x, axes), x.dims, axes)


def _of_number(site: BlockLowering, eqn: Eqn, x: nv.Scalar) -> nv.Scalar:
    """A reduction of one number, which becomes one of NumPy's."""
    name = eqn.op.name
    if eqn.params:
        raise nv.Unlowered(f"options of `{name}` of a number")
    if name in ("any", "all") and x.code != "b1":
        raise nv.Unlowered("whether a number is one at all")
    code = _result_code(name, x.code)
    if name == "sum" and code in FLOATS:
        return nv.Scalar(site.e.apply("add", x.expr, Constant(0.0, code)), nv.NUMPY)
    return nv.Scalar(converted(site.e, x.expr, code), nv.NUMPY, x.bits if code == x.code else 1)


def reduction(site: BlockLowering, name: str, x: nv.Array, axes: tuple[int, ...]) -> nv.Value:
    """A reduction by name."""
    code = _result_code(name, x.code)
    if name in ("max", "min"):
        _must_have_elements(site, x, axes)
        if code == "b1":
            name = {"max": "any", "min": "all"}[name]
    return reduced(site, REDUCTIONS[name], x, axes, code)


def _result_code(name: str, code: Code) -> Code:
    if name in ("any", "all"):
        return "b1"
    return "i64" if code == "b1" and name in ("sum", "prod") else code


def _must_have_elements(site: BlockLowering, x: nv.Array, axes: tuple[int, ...]) -> None:
    for k in axes:
        site.e.exit_if(Apply("eq", (x.dims[k], nv.integer(0)), "b1"), "an extreme of nothing")


def count_of(site: BlockLowering, x: nv.Array, axes: tuple[int, ...]) -> Expr:
    """How many elements each result of a reduction comes from, as a float."""
    return converted(site.e, site.e.let(nv.product(tuple(x.dims[k] for k in axes))), "f64")


@lowers("mean")
def _mean(site: BlockLowering, eqn: Eqn) -> nv.Value:
    _checked_options(eqn)
    x = site.array(eqn.args[0])
    axes = axes_of(eqn, len(x.dims))
    return kept_axes(site, eqn, mean_of(site, x, axes), x.dims, axes)


def mean_of(site: BlockLowering, x: nv.Array, axes: tuple[int, ...]) -> nv.Value:
    total = reduced(site, REDUCTIONS["sum"], x, axes, x.code if x.code in FLOATS else "f64")
    count = nv.Scalar(converted(site.e, count_of(site, x, axes), total.code), nv.NUMPY)
    if not total.dims:
        return compute(site.e, "div", "np", [site.as_scalar(total), count])
    return over_arrays(site, "div", [total, count])


@lowers("var", "std")
def _spread(site: BlockLowering, eqn: Eqn) -> nv.Value:
    _checked_options(eqn, "ddof")
    x = site.view(site.array(eqn.args[0]))
    axes = axes_of(eqn, len(x.dims))
    centre = mean_of(site, x, axes)
    if isinstance(centre, (nv.Lazy, nv.View)):
        return _spread_along(site, eqn, x, centre, axes)
    apart = over_arrays(site, "sub", [x, centre])
    code = x.code if x.code in FLOATS else "f64"
    total = reduced(site, REDUCTIONS["sum"], over_arrays(site, "square", [apart]), axes, code)
    count = converted(site.e, _degrees_of_freedom(site, eqn, x, axes), code)
    result = compute(site.e, "div", "np", [site.as_scalar(total), nv.Scalar(count, nv.NUMPY)])
    result = compute(site.e, "sqrt", "np", [result]) if eqn.op.name == "std" else result
    return kept_axes(site, eqn, result, x.dims, axes)


def _degrees_of_freedom(site: BlockLowering, eqn: Eqn, x: nv.Array, axes: tuple[int, ...]) -> Expr:
    """What a sum of squares is divided by: 0 at the least."""
    ddof = Constant(float(eqn.param("ddof", 0)), "f64")
    rest = site.e.apply("sub", count_of(site, x, axes), ddof)
    return site.e.apply("maximum", rest, Constant(0.0, "f64"))


def _spread_along(
    site: BlockLowering, eqn: Eqn, x: nv.View, centre: nv.Lazy | nv.View, axes: tuple[int, ...]
) -> nv.Value:
    """A variance, or its root, along some axes."""
    centre = site.view(centre)
    own = iter(zip(centre.dims, centre.strides, strict=True))
    placed = [(nv.ONE, nv.ZERO) if k in axes else next(own) for k in range(len(x.dims))]
    middle = replace(
        centre, dims=tuple(d for d, _ in placed), strides=tuple(s for _, s in placed), whole=False
    )
    squares = over_arrays(site, "square", [over_arrays(site, "sub", [x, middle])])
    total = reduced(site, REDUCTIONS["sum"], squares, axes, squares.code)
    count = _degrees_of_freedom(site, eqn, x, axes)
    result = over_arrays(
        site, "div", [total, nv.Scalar(converted(site.e, count, total.code), nv.NUMPY)]
    )
    result = over_arrays(site, "sqrt", [result]) if eqn.op.name == "std" else result
    return kept_axes(site, eqn, result, x.dims, axes)


@lowers("reduced_count")
def _reduced_count(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x = site.array(eqn.args[0])
    axes = axes_of(eqn, len(x.dims))
    ddof = float(eqn.param("ddof", 0))
    rest = site.e.apply("sub", count_of(site, x, axes), Constant(ddof, "f64"))
    site.e.exit_if(Apply("le", (rest, Constant(0.0, "f64")), "b1"), "a mean of nothing")
    return nv.Scalar(rest, nv.PYTHON)


# --- what derivatives are made of ---------------------------------------------------------


@lowers("unbroadcast")
def _unbroadcast(site: BlockLowering, eqn: Eqn) -> nv.Value:
    bar, x = (site.any_operand(atom) for atom in eqn.args)
    return summed_to(site, bar, tuple(map(site.e.size, dims_of(x))))


@lowers("summed_to")
def _summed_to(site: BlockLowering, eqn: Eqn) -> nv.Value:
    return summed_to(site, site.any_operand(eqn.args[0]), sizes_of(site, eqn.args[1]))


def summed_to(site: BlockLowering, bar: nv.Scalar | nv.Array, dims: tuple[Expr, ...]) -> nv.Value:
    """A cotangent summed over what broadcasting repeated."""
    own = tuple(map(site.e.size, dims_of(bar)))
    if own == dims or not own:
        if dims and isinstance(bar, nv.Scalar):
            nv.must_have_type(bar)
            return nv.Broadcast(bar, bar.code, dims)
        return bar
    missing = len(dims) - len(own)
    narrow = tuple(
        nv.ONE if k < missing or own[k - missing] == nv.ONE else d for k, d in enumerate(dims)
    )
    if narrow != dims:  # all cotangents along an axis are the same
        inner = summed_to(site, bar, narrow[max(missing, 0) :])
        return spread_value(site, inner, dims)
    lead = -missing
    axes = list(range(lead))
    for k, size in enumerate(dims):
        if size == nv.ONE and own[lead + k] != nv.ONE:
            axes.append(lead + k)
        else:
            site.e.must_be_same(own[lead + k], size)
    if not axes:
        return bar
    assert not isinstance(bar, nv.Scalar)
    total = reduced(site, REDUCTIONS["sum"], bar, tuple(axes), bar.code)
    if not dims:
        return site.as_scalar(total)
    if len(axes) == lead:
        return total
    found = site.computed(total)
    if isinstance(found, nv.Scalar):
        return nv.Broadcast(found, found.code, dims)
    strides = iter(found.strides)
    placed = tuple(nv.ONE if lead + k in axes else next(strides) for k in range(len(dims)))
    return nv.View(found.root, found.code, dims, placed, found.offset, found.whole)


@lowers("unreduce", "broadcast_like")
def _unreduce(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The cotangent of a reduction, the same along the axes that were reduced."""
    x = site.operand(eqn.args[1])
    dims = tuple(map(site.e.size, dims_of(x)))
    bar = site.operand(eqn.args[0])
    axes = axes_of(eqn, len(dims))
    restores = eqn.op.name == "unreduce" and not eqn.param("keepdims", False)
    if isinstance(bar, nv.Scalar) or not bar.dims or not restores or len(axes) == len(dims):
        return spread(site, eqn.args[0], dims)
    view = site.in_memory(eqn.args[0])
    own = iter(view.strides)
    strides = tuple(nv.integer(0) if k in axes else next(own) for k in range(len(dims)))
    return nv.View(view.root, view.code, dims, strides, view.offset)
