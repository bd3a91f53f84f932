"""Elements that are taken, repeated and put side by side; and the way back, to where each came from."""

from __future__ import annotations

from typing import Any

from .....ir.graph import Const, Eqn
from .....ir.records import replace
from ...form.loopform import Apply, Expr
from ...lower.lowering import BlockLowering, lowers
from ...lower.shapes import (
    broadcast,
    dims_of,
    expanded,
    known_axis,
    sizes_of,
    spread_value,
    with_axes,
)
from ...lower.structure import wrapped
from ...values import values as nv
from ...values.constants import constant
from ...values.emitter import Emitter
from ...values.loops import copy_elements, fill, in_order, over
from ...values.numbers import converted
from ...values.rows import ROWS
from ...values.strides import replaced_flat
from ..elementwise.creation import zeroed
from .joined_lists import part_along

NAMES = "axis", "indices", "repeats", "reps", "pad_width", "mode"
"""The options that an op and the way back of it have in common."""


def index(*parts: nv.Value) -> nv.Tuple:
    """Several indices at once."""
    return nv.Tuple(parts, "tuple", tuple(range(len(parts))))


def the_axis(eqn: Eqn, rank: int, default: int | None = None) -> int | None:
    """The option `axis`, counted from the front; None means that the array is taken as one of one axis."""
    axes = known_axis(eqn.params.get("axis", Const(default)), rank)
    return axes if axes is None else axes[0]


def along(site: BlockLowering, eqn: Eqn) -> tuple[nv.View, int]:
    """The first operand in memory, and the axis that an op goes along."""
    x = site.view(site.operand(eqn.args[0]))
    axis = the_axis(eqn, len(x.dims))
    if axis is None and len(x.dims) != 1:
        x = site.view(site.apply("ravel", x))
    return x, axis or 0


# --- taking -------------------------------------------------------------------------------


@lowers("take")
def _take(site: BlockLowering, eqn: Eqn) -> nv.Value:
    if eqn.param("mode", "raise") != "raise":
        raise nv.Unlowered("indices that may lie outside")
    x, axis = along(site, eqn)
    return taken(site, x, site.value(eqn.params["indices"]), axis)


def taken(site: BlockLowering, x: nv.View, indices: nv.Value, axis: int) -> nv.Value:
    """The elements of an array with these numbers along an axis."""
    if isinstance(indices, nv.StaticValue) and isinstance(indices.value, list):
        indices = constant(Const(tuple(indices.value)))
    if isinstance(indices, nv.Tuple):
        indices = site.apply("array", replace(indices, form="list"))
    if getattr(indices, "code", "i64") != "i64":
        raise nv.Unlowered("indices that are no integers")
    return site.apply("getitem", x, index(*[nv.EVERYTHING] * axis, indices))


@lowers("take_along_axis")
def _take_along_axis(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x, indices = site.in_memory(eqn.args[0]), site.in_memory(eqn.params["indices"])
    axis = the_axis(eqn, len(x.dims), -1)
    if axis is None or len(indices.dims) != len(x.dims) or indices.code != "i64":
        raise nv.Unlowered("elements taken along all axes, or by numbers that are no integers")
    size = x.dims[axis]
    shape = tuple(nv.ONE if k == axis else d for k, d in enumerate(x.dims))
    dims = broadcast(site.e, [filled_with(nv.ZERO, shape), indices])
    rows, indices = (spread_value(site, v, dims) for v in (_one_row(x, axis), indices))
    site.write_all()
    made = site.allocate(dims, x.code, eqn.outs)
    inner = site.inside(site.block)

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        inner.e = e
        place = wrapped(inner, nv.Scalar(e.load(indices, at), nv.NUMPY), size)
        offset = e.let(nv.plus(rows.offset, nv.times(place, x.strides[axis])))
        row = nv.View(rows.root, rows.code, rows.dims, rows.strides, offset)
        e.store(made, at, e.load(row, at))

    in_order(site.e, dims, element)
    return made


def filled_with(number: Expr, dims: tuple[Expr, ...]) -> nv.Broadcast:
    """One number of NumPy's everywhere."""
    return nv.Broadcast(nv.Scalar(number, nv.NUMPY), number.code, dims)


def _one_row(x: nv.View, axis: int) -> nv.View:
    dims = (*x.dims[:axis], nv.ONE, *x.dims[axis + 1 :])
    return with_axes(x, dims, x.strides)


# --- repeating ----------------------------------------------------------------------------


def _copied_as(site: BlockLowering, eqn: Eqn, source: nv.View, dims: tuple[Expr, ...]) -> nv.View:
    """A copy of an array in whose memory is one of another shape."""
    site.write_all()
    made = site.allocate(tuple(map(site.e.let, dims)), source.code, eqn.outs)
    strides = tuple(map(site.e.let, nv.c_strides(source.dims)))
    copy_elements(site.e, with_axes(made, source.dims, strides), source)
    return made


@lowers("repeat")
def _repeat(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x, axis = along(site, eqn)
    sizes = sizes_of(site, eqn.params["repeats"])
    if len(sizes) != 1 or not x.dims:
        raise nv.Unlowered("elements that are repeated different numbers of times")
    each = expanded(x, {axis + 1})
    dims = (*x.dims[: axis + 1], sizes[0], *x.dims[axis + 1 :])
    whole = (*x.dims[:axis], nv.times(x.dims[axis], sizes[0]), *x.dims[axis + 1 :])
    return _copied_as(site, eqn, spread_value(site, each, dims), whole)


@lowers("tile")
def _tile(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x, reps = site.view(site.operand(eqn.args[0])), sizes_of(site, eqn.params["reps"])
    reps = (*[nv.ONE] * (len(x.dims) - len(reps)), *reps)
    own = (*[nv.ONE] * (len(reps) - len(x.dims)), *x.dims)
    x = with_axes(x, own, (*[nv.ZERO] * (len(own) - len(x.dims)), *x.strides))
    pairs = tuple(size for pair in zip(reps, own, strict=True) for size in pair)
    turns = expanded(x, {2 * k for k in range(len(reps))})
    whole = tuple(nv.times(a, b) for a, b in zip(reps, own, strict=True))
    return _copied_as(site, eqn, spread_value(site, turns, pairs), whole)


@lowers("meshgrid")
def _meshgrid(site: BlockLowering, eqn: Eqn) -> nv.Value:
    if not set(eqn.params) <= {"indexing"} or eqn.param("indexing", "xy") not in ("xy", "ij"):
        raise nv.Unlowered("options of `meshgrid`")
    views = [site.view(site.apply("ravel", site.view(site.operand(x)))) for x in eqn.args]
    rank = len(views)
    order = list(range(rank))
    if eqn.param("indexing", "xy") == "xy" and rank > 1:
        order[:2] = 1, 0
    dims = tuple(views[k].dims[0] for k in order)
    placed = [expanded(view, set(range(rank)) - {order.index(k)}) for k, view in enumerate(views)]
    grids = [site.copied(spread_value(site, view, dims)) for view in placed]
    return index(*grids)


# --- borders ------------------------------------------------------------------------------

_Widths = list[tuple[Expr, Expr]]


def _widths(site: BlockLowering, eqn: Eqn, rank: int) -> _Widths:
    """How wide the border is, before and after each axis."""
    value = site.value(eqn.params["pad_width"])
    rows = value.items if isinstance(value, nv.Tuple) else (value,)
    if not any(isinstance(row, nv.Tuple) for row in rows):
        rows = (nv.Tuple(rows, "tuple"),)
    pairs = [_pair(site, row) for row in rows]
    if len(pairs) not in (1, rank):
        raise nv.Unlowered("borders of another number of axes")
    return pairs * rank if len(pairs) == 1 else pairs


def _pair(site: BlockLowering, value: nv.Value) -> tuple[Expr, Expr]:
    items = value.items if isinstance(value, nv.Tuple) else (value,)
    sizes = [site.as_scalar(item) for item in items]
    if any(size.code != "i64" for size in sizes) or len(sizes) not in (1, 2):
        raise nv.Unlowered("the width of a border that is no integer")
    for size in sizes:
        site.e.exit_if(Apply("lt", (size.expr, nv.ZERO), "b1"), "a border of negative width")
    return sizes[0].expr, sizes[-1].expr


@lowers("pad", "pad_zeros")
def _pad(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x = site.view(site.operand(eqn.args[0]))
    widths = _widths(site, eqn, len(x.dims))
    mode = eqn.param("mode", "constant")
    if not set(eqn.params) <= {"pad_width", "mode", "constant_values"} or not x.dims:
        raise nv.Unlowered("options of `pad`")
    if mode == "constant":
        return _with_border(site, eqn, x, widths)
    for axis, width in enumerate(widths):
        x = site.view(taken(site, x, _sources(site, x.dims[axis], width, mode), axis))
    return x


def _with_border(site: BlockLowering, eqn: Eqn, x: nv.View, widths: _Widths) -> nv.View:
    border = site.scalar(eqn.params.get("constant_values", Const(0)))
    if border.code != x.code and x.code in ("i64", "b1") and border.expr != nv.ZERO:
        raise nv.Unlowered("a border of another type")
    dims = tuple(
        site.e.let(nv.plus(nv.plus(before, dim), after))
        for dim, (before, after) in zip(x.dims, widths, strict=True)
    )
    site.write_all()
    made = site.allocate(dims, x.code, eqn.outs)
    fill(site.e, made, converted(site.e, border.expr, x.code))
    copy_elements(site.e, _inside(site, made, x.dims, widths), x)
    return made


def _inside(site: BlockLowering, view: nv.View, dims: tuple[Expr, ...], widths: _Widths) -> nv.View:
    for axis, (dim, (before, _)) in enumerate(zip(dims, widths, strict=True)):
        view = part_along(site.e, view, before, dim, axis)
    return view


def _sources(site: BlockLowering, size: Expr, width: tuple[Expr, Expr], mode: str) -> nv.View:
    """Which elements along an axis an array with a border has."""
    e = site.e
    least = nv.integer(2 if mode == "reflect" else 1)
    e.exit_if(Apply("lt", (size, least), "b1"), "a border around few elements")
    made = site.allocate((e.let(nv.plus(nv.plus(width[0], size), width[1])),), "i64", ())

    def element(inner: Emitter, at: tuple[Expr, ...]) -> None:
        inner.store(made, at, _source(inner, inner.let(nv.minus(at[0], width[0])), size, mode))

    over(e, made.dims, element)
    return made


def _source(e: Emitter, place: Expr, size: Expr, mode: str) -> Expr:
    last = e.let(nv.minus(size, nv.ONE))
    if mode == "edge":
        return e.apply("max", e.apply("min", place, last), nv.ZERO)
    turns = {
        "wrap": size,
        "symmetric": nv.times(nv.integer(2), size),
        "reflect": nv.times(nv.integer(2), last),
    }
    if mode not in turns:
        raise nv.Unlowered(f"a border in the mode {mode}")
    turn = e.let(turns[mode])
    there = ROWS["mod"].expand(e, [place, turn], "i64")
    if mode == "wrap":
        return there
    back = e.let(nv.minus(turn, nv.plus(there, nv.ONE) if mode == "symmetric" else there))
    return e.apply("min", there, back)


# --- the way back -------------------------------------------------------------------------


@lowers("unpad")
def _unpad(site: BlockLowering, eqn: Eqn) -> nv.Value:
    if eqn.param("mode", "constant") != "constant":
        return _given_back(site, eqn)
    like, bar = dims_of(site.operand(eqn.params["like"])), site.in_memory(eqn.args[0])
    return _inside(site, bar, tuple(map(site.e.size, like)), _widths(site, eqn, len(like)))


@lowers("untake", "untake_along_axis", "unrepeat", "untile")
def _given_back(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The cotangent of an array whose elements were moved: the same is done to their numbers."""
    e = site.e
    like, bar = site.operand(eqn.params["like"]), site.operand(eqn.args[0])
    dims = tuple(map(e.size, dims_of(like)))
    total = nv.Scalar(e.let(nv.product(dims)), bits=48)
    numbers = site.apply("reshape", site.apply("arange", total), as_shape(dims))
    options: dict[str, Any] = {key: eqn.params[key] for key in NAMES if key in eqn.params}
    places = site.view(site.apply(eqn.op.name.removeprefix("un"), numbers, **options))
    bar = site.view(spread_value(site, bar, places.dims))
    made = zeroed(site, dims, bar.code, eqn.outs)
    flat = replaced_flat(made)

    def element(inner: Emitter, at: tuple[Expr, ...]) -> None:
        place = (inner.load(places, at),)
        total = inner.apply("add", inner.load(flat, place), inner.load(bar, at))
        inner.store(flat, place, total)

    in_order(e, places.dims, element)
    return made


def as_shape(dims: tuple[Expr, ...]) -> nv.Tuple:
    """A shape, as a value."""
    return index(*(nv.Scalar(dim, bits=48) for dim in dims))


# --- side by side -------------------------------------------------------------------------


@lowers("vstack", "hstack", "dstack", "column_stack")
def _side_by_side(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Arrays joined along an axis that those get first that lack it."""
    arrays = site.value(eqn.args[0])
    if not isinstance(arrays, nv.Tuple) or not arrays.items or eqn.params:
        raise nv.Unlowered("joining of something that is no list of arrays")
    views = [site.view(item) for item in arrays.items]
    name = eqn.op.name
    if name == "hstack":
        axis = 0 if len(views[0].dims) <= 1 else 1
        views = [expanded(view, {0}) if not view.dims else view for view in views]
    else:
        axis = {"vstack": 0, "column_stack": 1, "dstack": 2}[name]
        views = [_with_rank(view, name) for view in views]
    return site.apply("concatenate", nv.Tuple(tuple(views), "list"), outs=eqn.outs, axis=axis)


def _with_rank(view: nv.View, name: str) -> nv.View:
    """An array with the axes that it lacks to be put beside others, as NumPy adds them."""
    added = {
        ("vstack", 0): {0, 1}, ("vstack", 1): {0}, ("column_stack", 0): {0, 1},
        ("column_stack", 1): {1}, ("dstack", 0): {0, 1, 2}, ("dstack", 1): {0, 2},
        ("dstack", 2): {2},
    }.get((name, len(view.dims)))  # fmt: skip
    return expanded(view, added) if added else view


@lowers("atleast_1d", "atleast_2d", "atleast_3d")
def _at_least(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x = site.view(site.operand(eqn.args[0]))
    rank = int(eqn.op.name[8])
    if rank == 1:
        return x if x.dims else expanded(x, {0})
    return _with_rank(x, {2: "vstack", 3: "dstack"}[rank])
