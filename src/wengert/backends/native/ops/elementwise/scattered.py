"""Elements chosen by arrays of integers, or of truth values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .....ir.records import record
from ...containers.arrays_of_lists import as_array
from ...form.loopform import Apply, Assign, Constant, Expr, For, If, Slot
from ...lower.lowering import BlockLowering
from ...lower.sequences.columns import GrowingList
from ...lower.shapes import broadcast
from ...lower.structure import wrapped
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import in_order


def is_index_array(part: nv.Value) -> bool:
    if isinstance(part, nv.Tuple):
        return part.form == "list"
    return isinstance(part, (nv.View, nv.Lazy, nv.Broadcast, GrowingList)) and bool(
        not isinstance(part, (nv.View, nv.Lazy, nv.Broadcast)) or part.dims
    )


@record
class Scattered:
    """The elements `array[…, indices, …]`: one array of integers, the other axes whole."""

    view: nv.View
    axis: int
    indices: nv.View


def scattered(site: BlockLowering, view: nv.View, parts: Sequence[nv.Value]) -> Scattered:
    """The elements that arrays of indices choose; of the other axes all, as slices have been taken before."""
    places = [k for k, p in enumerate(parts) if not isinstance(p, nv.Bounds)]
    if len(parts) > len(view.dims):
        raise nv.Unlowered("too many indices")
    if len(places) > 1:
        return _by_several(site, view, parts, places)
    indices = _index_array(site, parts[places[0]])
    if indices.code == "b1":
        return _masked(site, view, places[0], indices)
    if indices.code != "i64":
        raise nv.Unlowered("an index that is no integer")
    return Scattered(view, places[0], indices)


def _by_several(
    site: BlockLowering, view: nv.View, parts: Sequence[nv.Value], places: Sequence[int]
) -> Scattered:
    """Several arrays of indices, and numbers beside them: as one, over the axes they are about, as one."""
    e = site.e
    first, rank = places[0], len(places)
    if list(places) != list(range(first, first + rank)):
        raise nv.Unlowered("arrays of indices that are not side by side")
    given: list[nv.Scalar | nv.View] = []
    for part in parts[first : first + rank]:
        if not isinstance(part, nv.Scalar) and not is_index_array(part):
            raise nv.Unlowered("an array of indices beside `None` or `...`")
        given.append(part if isinstance(part, nv.Scalar) else _index_array(site, part))
    if any(x.code != "i64" for x in given):
        raise nv.Unlowered("masks beside arrays of indices")
    arrays = [x for x in given if isinstance(x, nv.View)]
    if any(len(x.dims) != 1 for x in arrays):
        raise nv.Unlowered("several arrays of indices with more than one axis")
    (count,) = broadcast(e, arrays)
    site.write_all()
    made = site.allocate((count,), "i64", ())
    inner = site.inside(site.block)
    inner.e.span = e.span
    index = Slot(e.names.fresh("i"), "i64")
    total: Expr = nv.ZERO
    for x, size in zip(given, view.dims[first : first + rank], strict=True):
        at = (nv.ZERO if isinstance(x, nv.View) and x.dims == (nv.ONE,) else index,)
        own = nv.Scalar(inner.e.load(x, at), nv.NUMPY) if isinstance(x, nv.View) else x
        total = inner.e.let(nv.plus(nv.times(total, size), wrapped(inner, own, size)))
    inner.e.store(made, (index,), total)
    e.add(For(index, e.let(count), tuple(inner.e.statements)))
    return Scattered(_joined_axes(e, view, first, rank), first, made)


def _index_array(site: BlockLowering, part: nv.Value) -> nv.View:
    """An array of indices; a list of them is one as well."""
    if isinstance(part, GrowingList):
        indices = site.copied(as_array(site, part))
        if indices.code not in ("i64", "b1"):
            raise nv.Unlowered("a list of indices that are no integers")
        return indices
    if not isinstance(part, nv.Tuple):
        return site.view(part)
    items = [site.as_scalar(item) for item in part.items]
    codes = {item.code for item in items}
    if codes not in ({"i64"}, {"b1"}):
        raise nv.Unlowered("a list of indices that are no integers")
    site.write_all()
    made = site.allocate((Constant(len(items), "i64"),), items[0].code, ())
    for k, item in enumerate(items):
        site.e.store(made, (Constant(k, "i64"),), item.expr)
    return made


def _masked(site: BlockLowering, view: nv.View, axis: int, mask: nv.View) -> Scattered:
    """The elements that a mask chooses, by their numbers along the axes that it is about, as one."""
    e = site.e
    rank = len(mask.dims)
    if rank > len(view.dims) - axis:
        raise nv.Unlowered("a mask with more axes than the array")
    for a, b in zip(mask.dims, view.dims[axis : axis + rank], strict=True):
        e.must_be_same(a, b, "a mask of another shape")
    flat = _joined_axes(e, view, axis, rank)
    return Scattered(flat, axis, numbers_of_the_true(site, mask))


def _joined_axes(e: Emitter, view: nv.View, axis: int, rank: int) -> nv.View:
    """The same memory with some axes as one."""
    dims, strides = view.dims[axis : axis + rank], view.strides[axis : axis + rank]
    for k in range(rank - 1):
        if e.let(nv.times(dims[k + 1], strides[k + 1])) != e.let(strides[k]):
            raise nv.Unlowered("a mask of an array that is not in C order")
    size = e.let(nv.product(dims))
    new_dims = (*view.dims[:axis], size, *view.dims[axis + rank :])
    new_strides = (*view.strides[:axis], strides[-1], *view.strides[axis + rank :])
    return nv.View(view.root, view.code, new_dims, new_strides, view.offset)


def numbers_of_the_true(site: BlockLowering, mask: nv.View) -> nv.View:
    """The numbers, in C order, of the elements of a mask that are true."""
    e = site.e
    site.write_all()
    size = e.let(nv.product(mask.dims))
    room = site.allocate((size,), "i64", ())
    found = e.variable("found", nv.ZERO)
    number = e.variable("number", nv.ZERO)

    def element(inner: Emitter, at: tuple[Expr, ...]) -> None:
        block = inner.block()
        block.store(room, (found,), number)
        block.add(Assign(found, Apply("add", (found, nv.ONE), "i64")))
        inner.add(If(inner.load(mask, at), tuple(block.statements)))
        inner.add(Assign(number, Apply("add", (number, nv.ONE), "i64")))

    in_order(e, mask.dims, element)
    count = e.variable("count", found)
    e.note_least(count, 0)
    return nv.View(room.root, "i64", (count,), (nv.ONE,), nv.ZERO)


def over_scattered(
    site: BlockLowering,
    places: Scattered,
    element: Callable[[Emitter, tuple[Expr, ...], tuple[Expr, ...]], None],
) -> None:
    """Do something for each element: `element(emitter, where in the result, where in the array)`."""
    view, axis, indices = places.view, places.axis, places.indices
    before, after = view.dims[:axis], view.dims[axis + 1 :]
    outside, rank = (*before, *indices.dims, *after), len(indices.dims)

    def at(inner: BlockLowering, here: tuple[Expr, ...]) -> None:
        own = here[axis : axis + rank]
        index = nv.Scalar(inner.e.load(indices, own), nv.NUMPY)
        position = wrapped(inner, index, view.dims[axis])
        element(inner.e, here, (*here[:axis], position, *here[axis + rank :]))

    _nest(site, outside, at, ())


def _nest(
    site: BlockLowering,
    dims: tuple[Expr, ...],
    body: Callable[[BlockLowering, tuple[Expr, ...]], None],
    indices: tuple[Expr, ...],
) -> None:
    if len(indices) == len(dims):
        body(site, indices)
        return
    index = Slot(site.e.names.fresh("i"), "i64")
    inner = site.inside(site.block)
    inner.e.span = site.e.span
    _nest(inner, dims, body, (*indices, index))
    site.e.add(For(index, site.e.let(dims[len(indices)]), tuple(inner.e.statements)))
