"""Numbers and arrays as others: floats, integers, rounded, of another dtype."""

from __future__ import annotations

from typing import Any

from .....ir.graph import Eqn
from .....ir.records import replace
from ...form.loopform import CODES, FLOATS, Constant, Expr
from ...lower.fusion import mapped
from ...lower.lowering import BlockLowering, lowers
from ...lower.sequences.columns import (
    Arrays,
    Column,
    GrowingList,
    ListsOfOneLength,
    Numbers,
    NumbersOfAnyOrigin,
    Parts,
)
from ...lower.sequences.sequences import Lists, RaggedArrays
from ...lower.shapes import dims_of
from ...lower.structure import over_arrays
from ...values import numbers, values as nv
from ...values.complexes import is_complex
from ...values.emitter import Emitter
from ...values.loops import in_order, over
from ...values.rows import ROWS, Elementwise
from .creation import code_of_option


@lowers("to_float")
def _to_float(site: BlockLowering, eqn: Eqn) -> nv.Value:
    if not eqn.args:
        return nv.Scalar(Constant(0.0, "f64"), nv.PYTHON)
    x = site.scalar(eqn.args[0])
    return nv.Scalar(numbers.converted(site.e, x.expr, "f64"), nv.PYTHON)


@lowers("number_like")
def _number_like(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x, like = (site.as_scalar(site.value(atom)) for atom in eqn.args)
    if like.code not in FLOATS:
        return x
    return nv.Scalar(numbers.converted(site.e, x.expr, like.code), like.origin)


@lowers("float64", "float32", "int64")
def _scalar_of_numpy(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """`np.float64(x)` and its like: a number, of a number or an array without axes."""
    x = site.scalar(eqn.args[0]) if len(eqn.args) == 1 else None
    if x is None or eqn.params:
        raise nv.Unlowered(f"`np.{eqn.op.name}` with options")
    if eqn.op.name == "int64":
        return numbers.to_integer(site.e, x, origin=nv.NUMPY)
    double = numbers.converted(site.e, x.expr, "f64")
    return nv.Scalar(numbers.converted(site.e, double, CODES[eqn.op.name]), nv.NUMPY)


@lowers("to_int", "trunc", "floor", "ceil")
def _to_int(site: BlockLowering, eqn: Eqn) -> nv.Value:
    if not eqn.args:
        return nv.Scalar(nv.ZERO, nv.PYTHON, 0)
    x = site.any_operand(eqn.args[0])
    name = "trunc" if eqn.op.name == "to_int" else eqn.op.name
    if len(eqn.args) > 1:
        raise nv.Unlowered("a number in another base")
    if x.code not in FLOATS and eqn.namespace == "np":
        raise nv.Unlowered("rounding of integers, whose type depends on the version of NumPy")
    if eqn.op.name == "trunc" and eqn.namespace != "np" and not _has_trunc(x):
        raise nv.Unlowered("`math.trunc` of what may be none of Python's numbers")
    if not isinstance(x, nv.Scalar) and eqn.namespace != "np":
        x = site.as_scalar(x)
    if isinstance(x, nv.Scalar):
        if eqn.namespace == "np":
            nv.must_have_type(x)
            code = x.code if x.code in FLOATS else "f64"
            expr = numbers.converted(site.e, x.expr, code)
            return nv.Scalar(site.e.apply(name, expr), nv.NUMPY)
        return numbers.to_integer(site.e, x, name)
    return over_arrays(site, name, [x])


def _has_trunc(x: Any) -> bool:
    """Whether a value is one of Python's numbers: of NumPy's, only its floats of 64 bits are."""
    if not isinstance(x, nv.Scalar):
        return False
    return x.origin == nv.PYTHON or (x.code == "f64" and nv.SINGLE not in numbers.bound(x.origin))


for _name in ("trunc", "floor", "ceil"):

    def _rounded(e: Any, args: Any, code: Any, op: str = _name) -> Expr:
        return e.apply(op, *args)

    ROWS[_name] = Elementwise("inexact", _rounded)


@lowers("project")
def _project(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """A gradient in its final form: the shape and the type of what it belongs to."""
    bar, x = map(site.value, eqn.args)
    if isinstance(x, GrowingList):
        return _projected_list(site.e, _listed(site, bar), x)
    bar, x = site.operand_of(bar), site.operand_of(x)
    if isinstance(x, nv.Scalar):
        return nv.Scalar(numbers.converted(site.e, site.as_scalar(bar).expr, "f64"), nv.PYTHON)
    code = x.code if x.code in FLOATS else "f64"
    dims = dims_of(x)
    if isinstance(bar, nv.Scalar):
        return nv.Broadcast(
            nv.Scalar(numbers.converted(site.e, bar.expr, code), nv.NUMPY), code, dims
        )
    for a, b in zip(dims_of(bar), dims, strict=True):
        site.e.must_be_same(a, b)
    return mapped(site, ROWS["copy"], [bar], code, dims)


def _listed(site: BlockLowering, bar: nv.Value) -> GrowingList:
    """A list, which may be kept as one array of all its items."""
    if isinstance(bar, GrowingList):
        return bar
    view = site.copied(site.view(bar))
    length = site.e.variable("length", view.dims[0])
    column: Column = Arrays(view.root, view.code, view.dims[1:])
    if len(view.dims) == 1:
        column = Numbers(view.root, view.code, nv.PYTHON, 64)
    return GrowingList(column, length, length)


def _projected_list(e: Emitter, bar: GrowingList, x: GrowingList) -> GrowingList:
    """The gradient of a list of numbers, or of arrays: as many floats, or arrays of the same shapes."""
    e.must_be_same(bar.length, x.length, "a gradient of another length")
    found = bar.column.values if isinstance(bar.column, NumbersOfAnyOrigin) else bar.column
    if (numbers_of := _projected_numbers(e, bar.length, found, x.column)) is not None:
        return replace(bar, column=numbers_of)
    if not isinstance(x.column, Arrays) or not isinstance(found, (Arrays, RaggedArrays)):
        raise nv.Unlowered("the gradient of a list of something else than numbers or arrays")
    wanted = x.column.code if x.column.code in FLOATS else "f64"
    dims = x.column.dims

    def check(inside: Emitter, at: tuple[Expr, ...]) -> None:
        item = found.item(inside, *at)
        if item.code != wanted:
            raise nv.Unlowered("the gradient of a list of arrays of another type")
        for a, b in zip(item.dims, dims, strict=True):
            inside.must_be_same(a, b)

    in_order(e, (bar.length,), check)
    return bar


def _projected_numbers(e: Emitter, length: Expr, found: Column, x: Column) -> Column | None:
    """Floats for numbers, or rows or lists of them for rows or lists; None of anything else."""
    found = found.values if isinstance(found, NumbersOfAnyOrigin) else found
    x = x.values if isinstance(x, NumbersOfAnyOrigin) else x
    match found, x:
        case Numbers(code="f64"), Numbers(code="f64" | "i64"):
            return replace(found, origin=nv.PYTHON)
        case ListsOfOneLength(), ListsOfOneLength():
            e.must_be_same(found.count, x.count, "a gradient of other lengths")
            flat = _projected_numbers(e, length, found.flat, x.flat)
            return None if flat is None else replace(found, flat=flat)
        case Lists(), ListsOfOneLength():
            with e.loop(length) as (index, inner):
                size = inner.let(found.sizes.item(inner, index).expr)
                inner.must_be_same(size, x.count, "a gradient of other lengths")
            flat = _projected_numbers(e, length, found.flat.column, x.flat)
            return None if flat is None else replace(found, flat=replace(found.flat, column=flat))
        case Parts(), Parts(template=nv.Tuple(form="list" | "tuple" | "dict")):
            pairs = list(zip(found.columns, x.columns, strict=True))
            columns = [_projected_numbers(e, length, *pair) for pair in pairs]
            complete = [column for column in columns if column is not None]
            is_row = len(complete) == len(columns) and not is_complex(x.template)
            return Parts(complete, x.template) if is_row else None
        case _:
            return None


@lowers("astype", "cast_like")
def _astype(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x = site.array(eqn.args[0])
    if eqn.op.name == "cast_like":
        like = site.operand(eqn.params["like"])
        code = like.code if like.code in FLOATS else "f64"
    else:
        code = code_of_option(site, eqn.params["dtype"])
    if x.code in FLOATS and code == "i64":
        return _as_integers(site, eqn, site.view(x))
    return mapped(site, ROWS["copy"], [x], code, dims_of(x))


def _as_integers(site: BlockLowering, eqn: Eqn, x: nv.View) -> nv.View:
    """What is before the point; what is no integer of 62 bits is left to NumPy, which warns."""
    site.write_all()
    made = site.allocate(x.dims, "i64", eqn.outs)

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        e.store(made, at, numbers.to_integer(e, nv.Scalar(e.load(x, at), nv.NUMPY)).expr)

    over(site.e, x.dims, element)
    return made


@lowers("item")
def _item(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x = site.array(eqn.args[0])
    if len(eqn.args) > 1 or dims_of(x):
        raise nv.Unlowered("`item` of an array with axes")
    element = site.as_scalar(x).expr
    code = "f64" if element.code == "f32" else element.code
    return nv.Scalar(numbers.converted(site.e, element, code), nv.PYTHON)
