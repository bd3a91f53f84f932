"""Arrays made inside the program."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product as combinations
from typing import Any

import numpy as np

from .....ir.graph import Atom, Const, Eqn, Var
from .....ir.records import replace
from ...containers.arrays_of_lists import as_array, of_arrays
from ...form.loopform import CODES, FLOATS, Apply, Code, Constant, Expr
from ...lower.fusion import mapped
from ...lower.lowering import BlockLowering, lowers
from ...lower.sequences.columns import GrowingList
from ...lower.sequences.ranges import SIZE_BITS, range_count
from ...lower.sequences.sequences import RaggedArrays
from ...lower.shapes import dims_of, known_axis, sizes_of
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import fill, over
from ...values.numbers import converted, exact_float
from ...values.promotion import Operand, common, common_code, operands
from ...values.rows import ROWS
from ...values.strides import is_contiguous


def code_of_option(site: BlockLowering, atom: Atom | None, default: Code = "f64") -> Code:
    """The type that the option `dtype` names."""
    if atom is None:
        return default
    value = atom.value if isinstance(atom, Const) else site.value(atom)
    value = value.value if isinstance(value, nv.StaticValue) else value
    if value is None:
        return default
    try:
        name = np.dtype(value).name
    except TypeError:
        raise nv.Unlowered("a dtype that is computed") from None
    if name not in CODES:
        raise nv.Unlowered(f"arrays of {name}")
    return CODES[name]


def filled(value: float | int | bool, code: Code, dims: tuple[Expr, ...]) -> nv.Broadcast:
    """One number everywhere."""
    kinds: dict[str, Any] = {"b1": bool, "i64": int}
    number = Constant(kinds.get(code, float)(value), code)
    return nv.Broadcast(nv.Scalar(number, nv.NUMPY), code, dims)


@lowers("zeros_array", "ones", "empty")
def _of_shape(site: BlockLowering, eqn: Eqn) -> nv.Value:
    _only(eqn, "shape", "dtype")
    code = code_of_option(site, eqn.params.get("dtype"))
    if eqn.op.name == "empty":
        return site.allocate(sizes_of(site, eqn.params["shape"]), code, eqn.outs)
    return filled(int(eqn.op.name == "ones"), code, sizes_of(site, eqn.params["shape"]))


@lowers("full")
def _full(site: BlockLowering, eqn: Eqn) -> nv.Value:
    _only(eqn, "dtype")
    value = site.scalar(eqn.args[1])
    code = code_of_option(site, eqn.params.get("dtype"), common_code([value]))
    return nv.Broadcast(value, code, sizes_of(site, eqn.args[0]))


@lowers("zeros_like", "ones_like", "empty_like", "full_like")
def _like(site: BlockLowering, eqn: Eqn) -> nv.Value:
    _only(eqn, "dtype")
    x = site.operand(eqn.args[0])
    code = code_of_option(site, eqn.params.get("dtype"), x.code)
    if eqn.op.name == "full_like":
        return nv.Broadcast(site.scalar(eqn.args[1]), code, dims_of(x))
    if eqn.op.name == "empty_like":
        return site.allocate(tuple(map(site.e.size, dims_of(x))), code, eqn.outs)
    return filled(int(eqn.op.name == "ones_like"), code, dims_of(x))


@lowers("fill", "spread_over")
def _fill(site: BlockLowering, eqn: Eqn) -> nv.Value:
    value, x = site.operand(eqn.args[0]), site.operand(eqn.args[1])
    if isinstance(x, nv.Scalar) or not isinstance(value, nv.Scalar):
        raise nv.Unlowered("a cotangent that is the same everywhere")
    code = x.code if x.code in FLOATS else "f64"
    if value.code == "f64" and value.origin != 1 and code == "f32":
        code = "f64"
    return nv.Broadcast(value, code, x.dims)


def _only(eqn: Eqn, *options: str) -> None:
    in_order = eqn.params.get("order") == Const("C")  # as arrays lie here
    if not set(eqn.params) <= {*options, *["order"] * in_order}:
        raise nv.Unlowered(f"options of `{eqn.op.name}`")


@lowers("eye", "identity")
def _eye(site: BlockLowering, eqn: Eqn) -> nv.Value:
    _only(eqn, "N", "n", "dtype")
    (size,) = sizes_of(site, eqn.params.get("N") or eqn.params["n"])
    code = code_of_option(site, eqn.params.get("dtype"))
    made = zeroed(site, (size, size), code, eqn.outs)
    one = Constant(1.0 if code in FLOATS else 1, code)
    over(site.e, (size,), lambda inner, k: inner.store(made, (k[0], k[0]), one))
    return made


def zeroed(
    site: BlockLowering, dims: tuple[Expr, ...], code: Code, names: tuple[Var, ...]
) -> nv.View:
    """Memory full of zeros."""
    site.write_all()
    made = site.allocate(dims, code, names)
    fill(site.e, made, Constant(0.0 if code in FLOATS else 0, code))
    return made


@lowers("arange", "arange_from")
def _arange(site: BlockLowering, eqn: Eqn) -> nv.Value:
    _only(eqn, "stop", "start", "step", "dtype")
    atoms = [*eqn.args, *(eqn.params[n] for n in ("start", "stop", "step") if n in eqn.params)]
    bounds = [site.scalar(atom) for atom in atoms]
    if any(b.code != "i64" for b in bounds):
        return _arange_of_floats(site, eqn, bounds)
    start = bounds[0].expr if len(bounds) > 1 else nv.ZERO
    stop = bounds[min(1, len(bounds) - 1)].expr
    step = bounds[2].expr if len(bounds) > 2 else nv.ONE
    for b in bounds:
        if b.bits > SIZE_BITS:
            large = site.e.apply(
                "gt", site.e.apply("abs", b.expr), nv.integer(2**SIZE_BITS), code="b1"
            )
            site.e.exit_if(large, "a very long range")
    count = range_count(site, start, stop, step)
    code = code_of_option(site, eqn.params.get("dtype"), "i64")
    return _counted(site, eqn, count, code, lambda e, k: nv.plus(start, nv.times(k, step)))


def _arange_of_floats(site: BlockLowering, eqn: Eqn, bounds: list[nv.Scalar]) -> nv.View:
    """As NumPy has it: the step is the difference of the first two elements."""
    e = site.e
    if any(b.code not in ("f64", "i64") for b in bounds) or eqn.params.get("dtype") is not None:
        raise nv.Unlowered("`np.arange` of floats that are not of 64 bits")
    numbers = [exact_float(e, b) for b in bounds]
    start = numbers[0] if len(numbers) > 1 else Constant(0.0, "f64")
    stop = numbers[min(1, len(numbers) - 1)]
    step = numbers[2] if len(numbers) > 2 else Constant(1.0, "f64")
    size = e.apply("ceil", e.apply("div", e.apply("sub", stop, start), step))
    small = e.apply("lt", size, Constant(2.0**SIZE_BITS, "f64"), code="b1")
    e.exit_if(e.apply("not", small), "a very long range")
    low = e.apply("maximum", size, Constant(0.0, "f64"))
    count = e.let(Apply("i64", (low,), "i64"))
    apart = e.apply("sub", e.apply("add", start, step), start)

    def element(inner: Emitter, k: Expr) -> Expr:
        return inner.apply("add", start, inner.apply("mul", converted(inner, k, "f64"), apart))

    return _counted(site, eqn, count, "f64", element)


def _counted(site: BlockLowering, eqn: Eqn, count: Expr, code: Code, value: Any) -> nv.View:
    site.write_all()
    made = site.allocate((count,), code, eqn.outs)

    def element(e: Emitter, indices: tuple[Expr, ...]) -> None:
        e.store(made, indices, converted(e, e.let(value(e, indices[0])), code))

    over(site.e, (count,), element)
    return made


@lowers("linspace")
def _linspace(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """`start + k * step`, and the last element exactly."""
    _only(eqn, "num")
    e = site.e
    start, stop, *num = (site.scalar(atom) for atom in (*eqn.args, *eqn.params.values()))
    count = num[0].expr if num else nv.integer(50)
    if num and num[0].code != "i64":
        raise nv.Unlowered("a number of points that is no integer")
    if "f32" in (start.code, stop.code):
        raise nv.Unlowered("`linspace` between floats of 32 bits")
    first, last = (converted(e, s.expr, "f64") for s in (start, stop))
    e.exit_if(Apply("lt", (count, nv.integer(2)), "b1"), "fewer than two points")
    steps = converted(e, e.let(nv.minus(count, nv.ONE)), "f64")
    step = e.apply("div", e.apply("sub", last, first), steps)

    def value(inner: Emitter, k: Expr) -> Expr:
        x = inner.apply("add", inner.apply("mul", converted(inner, k, "f64"), step), first)
        at_end = inner.apply("eq", k, inner.let(nv.minus(count, nv.ONE)), code="b1")
        return Apply("select", (at_end, last, x), "f64")

    return _counted(site, eqn, count, "f64", value)


# --- arrays of numbers and of arrays ------------------------------------------------------


@lowers("array", "asarray", "ascontiguousarray", "gather")
def _array(site: BlockLowering, eqn: Eqn) -> nv.Value:
    _only(eqn, "dtype")
    value = site.value(eqn.args[0]) if len(eqn.args) == 1 else _packed(site, eqn)
    asked = eqn.params.get("dtype")
    match value:
        case nv.View() | nv.Lazy() | nv.Broadcast() | nv.Scalar():
            return _converted(site, eqn, value, asked)
        case nv.Tuple(items=items) if items and value.form in ("tuple", "list"):
            return _of_items(site, eqn, value, asked)
        case nv.Tuple(items=()) if value.form in ("tuple", "list"):
            return site.allocate((nv.ZERO,), code_of_option(site, asked), eqn.outs)
        case GrowingList():
            made = _of_list(site, value)
            same = code_of_option(site, asked, made.code) == made.code
            return made if same else _converted(site, eqn, made, asked)
        case nv.Range():
            raise nv.Unlowered("an array of a range")
        case _:
            raise nv.Unlowered("an array of something that is no list of numbers")


@lowers("stack")
def _stack(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Arrays side by side along a new axis."""
    _only(eqn, "axis")
    value = site.value(eqn.args[0])
    match value:
        case nv.Tuple(items=items) if items:
            made = _of_items(site, eqn, value, None)
        case GrowingList():
            made = as_array(site, value)
            site.e.exit_if(Apply("eq", (made.dims[0], nv.ZERO), "b1"), "nothing to stack")
        case _:
            raise nv.Unlowered("stacking of something that is no list of arrays")
    rank = len(made.dims)
    (axis,) = known_axis(eqn.params.get("axis", Const(0)), rank) or (0,)
    if axis == 0 and isinstance(value, nv.Tuple):
        return made
    order = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
    dims, strides = (tuple(part[k] for k in order) for part in (made.dims, made.strides))
    return site.copied(replace(made, dims=dims, strides=strides, whole=False))


def _packed(site: BlockLowering, eqn: Eqn) -> nv.Tuple:
    return nv.Tuple(tuple(site.value(atom) for atom in eqn.args), "list")


def _converted(
    site: BlockLowering, eqn: Eqn, value: nv.Scalar | nv.Array, asked: Atom | None
) -> nv.Value:
    code = code_of_option(site, asked, value.code)
    if value.code in FLOATS and code not in FLOATS:
        raise nv.Unlowered("floats converted to integers")
    if isinstance(value, nv.Scalar):
        return nv.Broadcast(value, code, ())
    if code == value.code and _is_given_back(eqn, value):
        return value
    return mapped(site, ROWS["copy"], [value], code, value.dims)


def _is_given_back(eqn: Eqn, value: nv.Array) -> bool:
    """Whether an op gives an array itself, that is of the right type already."""
    in_order = isinstance(value, nv.View) and is_contiguous(value) and bool(value.dims)
    return eqn.op.name == "asarray" or (eqn.op.name == "ascontiguousarray" and in_order)


def _of_list(site: BlockLowering, value: GrowingList) -> nv.View:
    """A list of numbers, or of arrays of one shape, as an array of its own."""
    if isinstance(value.column, RaggedArrays):
        return of_arrays(site, value)
    return site.copied(as_array(site, value))


def _of_items(site: BlockLowering, eqn: Eqn, value: nv.Tuple, asked: Atom | None) -> nv.View:
    cells = list(_cells(site, value, ()))
    code = code_of_option(site, asked) if _is_given(asked) else _type_of_items(cells)
    dims = _nested_dims(site, value)
    site.write_all()
    made = site.allocate(dims, code, eqn.outs)
    for place, cell in cells:
        at = tuple(map(nv.integer, place))
        if isinstance(cell, nv.Scalar):
            site.e.store(made, at, converted(site.e, cell.expr, code))
            continue
        view = site.view(cell)

        def element(e: Emitter, k: tuple[Expr, ...], view: nv.View = view, at: Any = at) -> None:
            e.store(made, (*at, *k), converted(e, e.load(view, k), code))

        over(site.e, view.dims, element)
    return made


def _is_given(asked: Atom | None) -> bool:
    return asked is not None and asked != Const(None)


def _type_of_items(cells: Sequence[tuple[Any, nv.Scalar | nv.View]]) -> Code:
    """The type of an array of these numbers and arrays, none of which gives way to another."""
    found: set[Code] = {
        common(Operand(each.code, weak=False) for each in chosen)
        for chosen in combinations(*(operands(cell) for _, cell in cells))
    }
    if len(found) > 1:
        raise nv.Unlowered("an array of numbers whose types depend on the run")
    return found.pop()


def _cells(site: BlockLowering, value: nv.Value, place: tuple[int, ...]) -> Any:
    """The numbers and arrays in nested lists, and where they are."""
    if isinstance(value, nv.Tuple):
        for k, item in enumerate(value.items):
            yield from _cells(site, item, (*place, k))
    elif isinstance(value, nv.Lazy) and not value.dims:
        yield place, site.computed(value)
    elif isinstance(value, (nv.Scalar, nv.View, nv.Lazy, nv.Broadcast)):
        yield place, value if isinstance(value, nv.Scalar) else site.view(value)
    else:
        raise nv.Unlowered("an array of something that is no number")


def _nested_dims(site: BlockLowering, value: nv.Value) -> tuple[Expr, ...]:
    if isinstance(value, nv.Tuple):
        inner = [_nested_dims(site, item) for item in value.items]
        for other in inner[1:]:
            if len(other) != len(inner[0]):
                raise nv.Unlowered("an array of lists of different depths")
            for a, b in zip(inner[0], other, strict=True):
                site.e.must_be_same(a, b, "rows of different lengths")
        return (nv.integer(len(value.items)), *(inner[0] if inner else ()))
    return () if isinstance(value, nv.Scalar) else tuple(map(site.e.size, dims_of(value)))
