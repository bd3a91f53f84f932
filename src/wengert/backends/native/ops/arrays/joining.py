"""Arrays put together from others: joined, shifted, spread out from the items of a loop."""

from __future__ import annotations

from .....ir.graph import Const, Eqn
from .....ir.types import FLOAT, INT
from ...containers.zeros import equal_items, zeros_like
from ...form.loopform import FLOATS, Assign, Code, Constant, Expr, For, Slot
from ...lower.lowering import BlockLowering, lowers
from ...lower.sequences.columns import Arrays, GrowingList, Numbers, NumbersOfAnyOrigin, Same
from ...lower.sequences.lists import KINDS, has_numbers_alone, in_memory_as_list, template_of
from ...lower.sequences.sequences import growing, item_at
from ...lower.shapes import dims_of, known_axis
from ...lower.structure import joined, length_of
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import copy_elements, fill, over
from ...values.promotion import common_code, converted
from .joined_lists import joined_list, part_along, parted_list

Index = tuple[Expr, ...]


@lowers("concatenate")
def _concatenate(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Arrays one after the other along an axis."""
    value = site.value(eqn.args[0])
    if isinstance(value, GrowingList):
        return joined_list(site, eqn, value)
    if not isinstance(value, nv.Tuple) or not value.items:
        raise nv.Unlowered("joining of something that is no list of arrays")
    views = [site.view(_array_of(site, item)) for item in value.items]
    axes = known_axis(eqn.params.get("axis", Const(0)), max(1, len(views[0].dims)))
    if axes is None:
        raise nv.Unlowered("joining arrays as if they had one axis")
    return _joined(site, eqn, views, *axes)


def _array_of(site: BlockLowering, item: nv.Value) -> nv.Value:
    """What is joined as an array: lists and tuples of numbers are among it."""
    return site.apply("asarray", item) if isinstance(item, nv.Tuple) else item


@lowers("unconcatenate")
def _unconcatenate(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The cotangents of arrays that were joined along an axis."""
    like = site.value(eqn.params["like"])
    if isinstance(like, GrowingList):
        return parted_list(site, eqn, like)
    if not isinstance(like, nv.Tuple):
        raise nv.Unlowered("a cotangent of arrays joined in this way")
    bar, axis = site.view(site.operand(eqn.args[0])), eqn.param("axis", 0)
    arrays = [site.operand_of(_array_of(site, item)) for item in like.items]
    shapes = [tuple(map(site.e.size, dims_of(array))) for array in arrays]
    if axis is None:
        lengths, axis = [site.e.let(nv.product(dims)) for dims in shapes], 0
        bar = site.view(site.apply("ravel", bar))
    else:
        axis = min(axis, len(bar.dims) - 1) % len(bar.dims)
        least = max(axis + 1, eqn.param("rank", 1))
        lengths = [dims[axis] if len(dims) >= least else nv.ONE for dims in shapes]
    start, pieces = nv.ZERO, list[nv.Value]()
    for dims, length in zip(shapes, lengths, strict=True):
        pieces.append(_shaped(site, part_along(site.e, bar, start, length, axis), dims))
        start = site.e.let(nv.plus(start, length))
    return nv.Tuple(tuple(pieces), "list", tuple(range(len(pieces))))


def _shaped(site: BlockLowering, piece: nv.View, dims: Index) -> nv.Value:
    """A piece in the shape of the array that it is about, which may have had fewer axes."""
    if len(dims) == len(piece.dims):
        return piece
    if not dims:
        return nv.Scalar(site.e.load(piece, [nv.ZERO] * len(piece.dims)), nv.NUMPY)
    sizes = nv.Tuple(tuple(nv.Scalar(dim, bits=48) for dim in dims))
    return site.apply("reshape", piece, sizes)


def _joined(site: BlockLowering, eqn: Eqn, views: list[nv.View], axis: int = 0) -> nv.View:
    first = views[0]
    if len({len(view.dims) for view in views}) > 1 or not first.dims:
        raise nv.Unlowered("joining arrays of different ranks")
    for view in views[1:]:
        for k, (a, b) in enumerate(zip(first.dims, view.dims, strict=True)):
            if k != axis:
                site.e.must_be_same(a, b, "joined arrays of different shapes")
    site.write_all()
    total: Expr = nv.ZERO
    for view in views:
        total = site.e.let(nv.plus(total, view.dims[axis]))
    code = common_code(views)
    dims = (*first.dims[:axis], total, *first.dims[axis + 1 :])
    made = site.allocate(dims, code, eqn.outs)
    start: Expr = nv.ZERO
    for view in views:
        copy_elements(site.e, part_along(site.e, made, start, view.dims[axis], axis), view)
        start = site.e.let(nv.plus(start, view.dims[axis]))
    return made


def _filled(site: BlockLowering, eqn: Eqn, dims: Index, code: Code) -> nv.View:
    made = site.allocate(tuple(map(site.e.size, dims)), code, eqn.outs)
    fill(site.e, made, Constant(0.0, code))
    return made


@lowers("roll", "unroll")
def _roll(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """An array turned by a number of places along an axis, or back."""
    view = site.in_memory(eqn.args[0])
    shift = site.scalar(eqn.params["shift"])
    axes = known_axis(eqn.params.get("axis"), len(view.dims)) or range(len(view.dims))
    if len(axes) != 1 or shift.code != "i64":
        raise nv.Unlowered("turning an array along several axes")
    e = site.e
    (axis,) = axes
    site.write_all()
    made = site.allocate(tuple(map(e.size, view.dims)), view.code, eqn.outs)
    size = e.let(view.dims[axis])
    steps = shift.expr if eqn.op.name == "roll" else e.let(nv.minus(nv.ZERO, shift.expr))
    e.exit_if(e.apply("eq", size, nv.ZERO, code="b1"), "turning an array without elements")
    rest = e.apply("rem", steps, size)
    start = e.apply("wrapped", rest, size)
    kept = e.let(nv.minus(size, start))
    for target, source, count in ((start, nv.ZERO, kept), (nv.ZERO, kept, start)):
        there = part_along(site.e, made, target, count, axis)
        copy_elements(e, there, part_along(site.e, view, source, count, axis))
    return made


@lowers("fitted")
def _fitted(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """An array cut off, or continued with zeros, along an axis to the length that another has there."""
    view, wanted = site.in_memory(eqn.args[0]), dims_of(site.operand(eqn.params["like"]))
    if len(wanted) != len(view.dims):
        raise nv.Unlowered("an array fitted to one of another rank")
    e, axis = site.e, eqn.param("axis", -1) % len(wanted)
    length, own = e.size(wanted[axis]), e.size(view.dims[axis])
    if length == own:
        return view
    site.write_all()
    made = _filled(site, eqn, (*view.dims[:axis], length, *view.dims[axis + 1 :]), view.code)
    common = e.apply("min", length, own)
    target = part_along(e, made, nv.ZERO, common, axis)
    copy_elements(e, target, part_along(e, view, nv.ZERO, common, axis))
    return made


@lowers("collected_cotangent")
def _collected_cotangent(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The cotangents of the rows that a loop went over: zero for those that it did not reach."""
    bars, items = (site.value(atom) for atom in eqn.args)
    if isinstance(bars, GrowingList) and isinstance(items, (GrowingList, nv.Tuple)):
        return _cotangent_of_list(site, bars, items, reverse=eqn.param("reverse", False) is True)
    if not isinstance(bars, GrowingList) or not isinstance(items, nv.View):
        raise nv.Unlowered("a loop over a list, whose items have cotangents")
    source = _as_view(site, bars)
    if len(source.dims) != len(items.dims):
        raise nv.Unlowered("cotangents of another rank than what they belong to")
    for a, b in zip(source.dims[1:], items.dims[1:], strict=True):
        site.e.must_be_same(a, b)
    site.write_all()
    made = _filled(site, eqn, items.dims, items.code if items.code in FLOATS else "f64")
    reached = source.dims[0]
    backwards = eqn.param("reverse", False) is True
    start = site.e.let(nv.minus(items.dims[0], reached)) if backwards else nv.ZERO
    copy_elements(site.e, part_along(site.e, made, start, reached), source)
    return made


def _cotangent_of_list(
    site: BlockLowering, bars: GrowingList, items: GrowingList | nv.Tuple, *, reverse: bool
) -> GrowingList:
    """The same for the numbers of a list, or records of them."""
    e = site.e
    known = (
        items.items if isinstance(items, nv.Tuple) else [item_at(Emitter(e.names), items, nv.ZERO)]
    )
    if not all(map(has_numbers_alone, known)):
        raise nv.Unlowered("a loop over a list, whose items have cotangents")
    site.write_all()
    size, reached = length_of(site, items), length_of(site, bars)
    if isinstance(items, GrowingList):
        made = zeros_like(site, items)
    else:
        made = equal_items(site, size, nv.Scalar(Constant(0.0, "f64"), nv.PYTHON))
    start = e.apply("sub", size, reached) if reverse else nv.ZERO
    inner = site.inside(site.block)
    index = Slot(e.names.fresh("k"), "i64")
    bar = item_at(inner.e, bars, index)
    made.column.put(inner.e, inner.e.let(nv.plus(start, index)), bar)
    e.add(For(index, reached, tuple(inner.e.statements)))
    return made


def _as_view(site: BlockLowering, value: GrowingList) -> nv.View:
    """A list of numbers, or of arrays of one shape, as an array in the same memory."""
    length = site.e.variable("length", value.length)
    match value.column:
        case Numbers() as column:
            dims: Index = (length,)
        case NumbersOfAnyOrigin(values=column):
            dims = (length,)
        case Arrays(dims=inner) as column:
            dims = (length, *inner)
        case Same(value=nv.Scalar() as item):
            return site.view(nv.Broadcast(item, item.code, (length,)))
        case _:
            raise nv.Unlowered("an array of a list of numbers of different types")
    strides = tuple(map(site.e.let, nv.c_strides(dims)))
    return nv.View(column.root, column.code, dims, strides, nv.times(column.offset, strides[0]))


@lowers("join_lists")
def _join_lists(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """`a + b` of tuples and lists of known length."""
    a, b = (site.value(atom) for atom in eqn.args)
    known = all(isinstance(x, nv.Tuple) and x.form in ("tuple", "list") for x in (a, b))
    if not known:
        return _one_after_the_other(site, [a, b])
    if a.form != b.form:
        raise nv.Unlowered("a list and a tuple put together, which Python refuses")
    return joined(a, b)


def _one_after_the_other(site: BlockLowering, lists: list[nv.Value]) -> GrowingList:
    """The numbers of lists of any length, in one list."""
    e = site.e
    parts: list[GrowingList] = []
    for x in lists:
        if isinstance(x, nv.Tuple) and not x.items:
            continue
        known = isinstance(x, nv.Tuple) and all(isinstance(item, nv.Scalar) for item in x.items)
        part = in_memory_as_list(site, x) if known else x
        if not isinstance(part, GrowingList):
            raise nv.Unlowered("lists of any length put together")
        parts.append(part)
    items = [item_at(Emitter(e.names), part, nv.ZERO) for part in parts]
    codes = {item.code if isinstance(item, nv.Scalar) else None for item in items}
    if codes != {"i64"} and not codes <= {"f64", "f32"}:
        raise nv.Unlowered("lists of any length put together, of anything but numbers of one type")
    total: Expr = nv.ZERO
    for part in parts:
        total = e.let(nv.plus(total, length_of(site, part)))
    kind = INT if codes == {"i64"} else FLOAT
    made = growing(
        e, template_of(kind, site.unit.of_lists), "joined", e.apply("max", total, nv.ONE)
    )
    start: Expr = nv.ZERO
    for part in parts:
        count = length_of(site, part)
        with e.loop(count) as (index, inner):
            made.column.put(inner, inner.let(nv.plus(start, index)), item_at(inner, part, index))
        start = e.let(nv.plus(start, count))
    e.add(Assign(made.length, total))
    return made


@lowers("repeated_items")
def _repeated(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """`[x] * n`"""
    items, count = site.value(eqn.args[0]), site.scalar(eqn.args[1])
    if not isinstance(items, nv.Tuple) or len(items.items) != 1 or items.form != "list":
        raise nv.Unlowered("a list repeated as a whole")
    if count.code != "i64":
        raise nv.Unlowered("a list repeated a number of times that is no integer")
    (item,) = items.items
    if not isinstance(item, nv.Scalar):
        raise nv.Unlowered("a list of one object, several times")
    e = site.e
    size = e.apply("max", count.expr, nv.ZERO)
    most = e.apply("gt", size, nv.integer(2**40), code="b1")
    e.exit_if(most, "a very long list")
    if item.code not in FLOATS and item.origin != nv.PYTHON:
        raise nv.Unlowered("a list of NumPy's numbers")
    template = template_of(KINDS[item.code], site.unit.of_lists)
    made = growing(e, template, "items", e.apply("max", size, nv.ONE))
    over(e, (size,), lambda inner, k: made.column.put(inner, k[0], item))
    e.add(Assign(made.length, size))
    return made


@lowers("basis")
def _basis(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Arrays that are one (or `unit`) in one place and zero elsewhere, for every place."""
    x, unit = site.operand(eqn.args[0]), eqn.params.get("unit", Const(1.0))
    if isinstance(x, nv.Scalar) or not x.dims or x.code not in FLOATS:
        raise nv.Unlowered("the directions of something that is no array of floats")
    e = site.e
    value = converted(e, site.scalar(unit).expr, x.code)
    dims = tuple(map(e.size, x.dims))
    size = e.let(nv.product(dims))
    made = _filled(site, eqn, (size, size), x.code)
    over(e, (size,), lambda inner, k: inner.store(made, (k[0], k[0]), value))
    return GrowingList(
        Arrays(made.root, x.code, dims), e.variable("length", size), e.variable("room", size)
    )
