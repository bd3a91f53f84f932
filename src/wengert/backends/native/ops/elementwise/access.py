"""Reading at an index: elements, rows, slices, and elements chosen by an array of integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .....ir.graph import Atom, Eqn
from .....ir.records import record
from ...containers.items_by_number import item_by_number
from ...containers.kept import kept_item
from ...form.loopform import Apply, Assign, Constant, Expr, For, If, Slot
from ...lower.columns import Growing
from ...lower.lists import part_of_list
from ...lower.lowering import Site, lowers
from ...lower.shapes import broadcast, dims_of, expanded
from ...lower.structure import item_of_list, length_of, wrapped
from ...values.emitter import Emitter
from ...values.layouts import is_kept
from ...values.loops import in_order
from ...values.values import (
    NUMPY,
    ONE,
    PYTHON,
    ZERO,
    Array,
    Bounds,
    Delayed,
    Known,
    Range,
    Repeated,
    Scalar,
    Tuple,
    Unlowered,
    Value,
    View,
    minus,
    number,
    plus,
    product,
    times,
)

# --- what an index says -------------------------------------------------------------------


def parts_of(index: Value) -> tuple[Value, ...]:
    return index.items if isinstance(index, Tuple) and index.form == "tuple" else (index,)


def part_of_array(site: Site, view: View, index: Value) -> View:
    """The part of an array that integers, slices, `None` and `...` choose; in the same memory."""
    parts = list(parts_of(index))
    used = sum(1 for p in parts if not (isinstance(p, Known) and p.value in (None, Ellipsis)))
    filler = [Bounds(None, None, None)] * (len(view.dims) - used)
    dots = next(
        (k for k, p in enumerate(parts) if isinstance(p, Known) and p.value is Ellipsis), None
    )
    if dots is not None:
        parts[dots : dots + 1] = filler
    else:
        parts += filler
    if used > len(view.dims):
        site.e.exit_if(Constant(True, "b1"), "too many indices")
        raise Unlowered("too many indices")
    return _chosen(site, view, parts)


def _chosen(site: Site, view: View, parts: Sequence[Value]) -> View:
    axes = iter(zip(view.dims, view.strides, strict=True))
    offset, dims, strides, new = view.offset, list[Expr](), list[Expr](), set[int]()
    for part in parts:
        if isinstance(part, Known) and part.value is None:
            new.add(len(dims) + len(new))
            continue
        dim, stride = next(axes)
        if isinstance(part, Bounds):
            start, count, step = slice_of(site, part, dim)
            offset = plus(offset, times(start, stride))
            dims.append(count)
            strides.append(site.e.let(times(stride, step)))
        elif isinstance(part, (Scalar, Delayed, View)) and not dims_of(part):
            position = wrapped(site, site.as_scalar(part), dim)
            offset = plus(offset, times(position, stride))
        else:
            raise Unlowered("an index of this kind")
    part = View(view.root, view.code, tuple(dims), tuple(strides), site.e.let(offset))
    return expanded(part, new) if new else part


def slice_of(site: Site, bounds: Bounds, size: Expr) -> tuple[Expr, Expr, Expr]:
    """Where a slice starts, how many items it has, and its step."""
    e = site.e
    size = e.size(e.let(size))
    if (only := _only_place(bounds)) is not None:
        return wrapped(site, only, size), ONE, ONE
    step = bounds.step.expr if bounds.step is not None else ONE
    if not isinstance(step, Constant) or step.value == 0:
        raise Unlowered("a slice whose step is computed")
    if int(step.value) > 0:
        start = _clipped(e, bounds.start, size, ZERO, size, ZERO)
        stop = _clipped(e, bounds.stop, size, ZERO, size, size)
        span = minus(stop, start)
    else:
        last = e.let(minus(size, ONE))
        below = Constant(-1, "i64")
        start = _clipped(e, bounds.start, size, below, last, last)
        stop = _clipped(e, bounds.stop, size, below, last, below)
        span = minus(start, stop)
    width = abs(int(step.value))
    if width > 1:
        wide = e.let(plus(span, Constant(width - 1, "i64")))
        span = e.apply("quotient", wide, Constant(width, "i64"))
    if span == size:
        return start, size, step
    return start, e.apply("max", e.let(span), ZERO), step


def _only_place(bounds: Bounds) -> Scalar | None:
    """The place of a slice of one element, as `x[:1]` and `x[-1:]`; of fewer elements, it is empty."""
    start, stop, step = (_known(bound) for bound in (bounds.start, bounds.stop, bounds.step))
    if step not in (None, 1) or (bounds.start is not None and start is None):
        return None
    if bounds.stop is None:
        return bounds.start if start == -1 else None
    return number(start or 0) if start != -1 and stop == (start or 0) + 1 else None


def _known(bound: Scalar | None) -> int | None:
    expr = bound.expr if bound is not None else None
    return int(expr.value) if isinstance(expr, Constant) and expr.code == "i64" else None


def _clipped(
    e: Emitter, bound: Scalar | None, size: Expr, least: Expr, most: Expr, default: Expr
) -> Expr:
    """A bound of a slice, counted from the front and kept in range."""
    if bound is None:
        return default
    if bound.code != "i64":
        raise Unlowered("a slice between numbers that are no integers")
    k = bound.expr
    if isinstance(k, Constant):
        if k.value == 0 and least == ZERO:
            return ZERO
        if int(k.value) >= 0:
            return e.apply("min", k, most)
        return e.apply("max", e.apply("add", size, k), least)
    return e.apply("max", e.apply("min", e.apply("wrapped", k, size), most), least)


# --- reading ------------------------------------------------------------------------------


@lowers("getitem")
def _getitem(site: Site, eqn: Eqn) -> Value:
    value, index = site.value(eqn.args[0]), site.value(eqn.args[1])
    match value:
        case View() | Delayed() | Repeated():
            return _read(site, eqn, value, index)
        case Tuple() if is_kept(value):
            return kept_item(site.e, value, index)
        case Tuple():
            return _item_of_tuple(site, value, index)
        case Growing() if not isinstance(index, Bounds):
            return item_of_list(site, value, site.as_scalar(index))
        case Growing() if isinstance(index, Bounds):
            start, count, step = slice_of(site, index, length_of(site, value))
            return part_of_list(site, value, start, count, step)
        case Range(start=start, count=count, step=step) if isinstance(index, Scalar):
            position = wrapped(site, index, count)
            return Scalar(site.e.let(plus(start.expr, times(position, step.expr))), PYTHON, 48)
        case Range() if isinstance(index, Bounds):
            return _part_of_range(site, value, index)
        case _:
            raise Unlowered("indexing of something that is no array, list or tuple")


def _part_of_range(site: Site, value: Range, index: Bounds) -> Range:
    first, count, hop = slice_of(site, index, value.count)
    start = site.e.let(plus(value.start.expr, times(first, value.step.expr)))
    step = site.e.let(times(value.step.expr, hop))
    return Range(Scalar(start, PYTHON, 48), site.e.let(count), Scalar(step, PYTHON, 48))


def _read(site: Site, eqn: Eqn, value: Array, index: Value) -> Value:
    parts = parts_of(index)
    if any(is_index_array(p) for p in parts):
        return _gathered(site, eqn.args[0], parts)
    view = part_of_array(site, site.in_memory(eqn.args[0]), index)
    dotted = any(isinstance(p, Known) and p.value is Ellipsis for p in parts)
    if not view.dims and not dotted:
        return Scalar(site.e.load(view, ()), NUMPY)
    return view


def _item_of_tuple(site: Site, value: Tuple, index: Value) -> Value:
    if isinstance(index, Scalar) and isinstance(index.expr, Constant) and value.form != "dict":
        k = int(index.expr.value)
        if -len(value.items) <= k < len(value.items):
            return value.items[k]
        site.e.exit_if(Constant(True, "b1"), "an index out of range")
        return value.items[0] if value.items else Known(None)
    if value.form == "dict" and isinstance(index, (Known, Scalar)):
        key = index.value if isinstance(index, Known) else getattr(index.expr, "value", None)
        if key in value.keys:
            return value.items[value.keys.index(key)]
    if isinstance(index, Scalar) and value.form in ("tuple", "list"):
        return item_by_number(site, value, index)
    if isinstance(index, Bounds) and value.form in ("tuple", "list"):
        items = value.items[_known_slice(index)]
        return Tuple(items, value.form, tuple(range(len(items))))
    raise Unlowered("an item of a container that is chosen at run time")


def _known_slice(index: Bounds) -> slice:
    """A slice that is known before the program runs."""
    parts: list[int | None] = []
    for part in (index.start, index.stop, index.step):
        known = None if part is None else part.expr
        if known is not None and not isinstance(known, Constant):
            raise Unlowered("items of a container that are chosen at run time")
        parts.append(None if known is None else int(known.value))
    return slice(*parts)


# --- arrays of indices --------------------------------------------------------------------


def is_index_array(part: Value) -> bool:
    if isinstance(part, Tuple):
        return part.form == "list"
    return isinstance(part, (View, Delayed, Repeated, Growing)) and bool(
        not isinstance(part, (View, Delayed, Repeated)) or part.dims
    )


@record
class Scattered:
    """The elements `array[…, indices, …]`: one array of integers, the other axes whole."""

    view: View
    axis: int
    indices: View


def scattered(site: Site, view: View, parts: Sequence[Value]) -> Scattered:
    places = [k for k, p in enumerate(parts) if not _is_whole(p)]
    if len(parts) > len(view.dims):
        raise Unlowered("too many indices")
    if len(places) > 1:
        return _by_several(site, view, parts, places)
    indices = _index_array(site, parts[places[0]])
    if indices.code == "b1":
        return _masked(site, view, places[0], indices)
    if indices.code != "i64":
        raise Unlowered("an index that is no integer")
    return Scattered(view, places[0], indices)


def _by_several(site: Site, view: View, parts: Sequence[Value], places: Sequence[int]) -> Scattered:
    """Several arrays of indices, and numbers beside them: as one, over the axes they are about, as one."""
    e = site.e
    first, rank = places[0], len(places)
    if list(places) != list(range(first, first + rank)):
        raise Unlowered("arrays of indices that are not side by side")
    given: list[Scalar | View] = []
    for part in parts[first : first + rank]:
        if not isinstance(part, Scalar) and not is_index_array(part):
            raise Unlowered("an array of indices beside part of an axis")
        given.append(part if isinstance(part, Scalar) else _index_array(site, part))
    if any(x.code != "i64" for x in given):
        raise Unlowered("masks beside arrays of indices")
    arrays = [x for x in given if isinstance(x, View)]
    if any(len(x.dims) != 1 for x in arrays):
        raise Unlowered("several arrays of indices with more than one axis")
    (count,) = broadcast(e, arrays)
    site.write_all()
    made = site.allocate((count,), "i64", ())
    inner = site.inside(site.block)
    inner.e.span = e.span
    index = Slot(e.names.fresh("i"), "i64")
    total: Expr = ZERO
    for x, size in zip(given, view.dims[first : first + rank], strict=True):
        at = (ZERO if isinstance(x, View) and x.dims == (ONE,) else index,)
        own = Scalar(inner.e.load(x, at), NUMPY) if isinstance(x, View) else x
        total = inner.e.let(plus(times(total, size), wrapped(inner, own, size)))
    inner.e.store(made, (index,), total)
    e.add(For(index, e.let(count), tuple(inner.e.statements)))
    return Scattered(_joined_axes(e, view, first, rank), first, made)


def _index_array(site: Site, part: Value) -> View:
    """An array of indices; a list of them is one as well."""
    if isinstance(part, Growing):
        raise Unlowered("a list of indices of any length")
    if not isinstance(part, Tuple):
        return site.view(part)
    items = [site.as_scalar(item) for item in part.items]
    codes = {item.code for item in items}
    if codes not in ({"i64"}, {"b1"}):
        raise Unlowered("a list of indices that are no integers")
    site.write_all()
    made = site.allocate((Constant(len(items), "i64"),), items[0].code, ())
    for k, item in enumerate(items):
        site.e.store(made, (Constant(k, "i64"),), item.expr)
    return made


def _masked(site: Site, view: View, axis: int, mask: View) -> Scattered:
    """The elements that a mask chooses, by their numbers along the axes that it is about, as one."""
    e = site.e
    rank = len(mask.dims)
    if rank > len(view.dims) - axis:
        raise Unlowered("a mask with more axes than the array")
    for a, b in zip(mask.dims, view.dims[axis : axis + rank], strict=True):
        e.must_be_same(a, b, "a mask of another shape")
    flat = _joined_axes(e, view, axis, rank)
    return Scattered(flat, axis, numbers_of_the_true(site, mask))


def _joined_axes(e: Emitter, view: View, axis: int, rank: int) -> View:
    """The same memory with some axes as one."""
    dims, strides = view.dims[axis : axis + rank], view.strides[axis : axis + rank]
    for k in range(rank - 1):
        if e.let(times(dims[k + 1], strides[k + 1])) != e.let(strides[k]):
            raise Unlowered("a mask of an array that is not in C order")
    size = e.let(product(dims))
    new_dims = (*view.dims[:axis], size, *view.dims[axis + rank :])
    new_strides = (*view.strides[:axis], strides[-1], *view.strides[axis + rank :])
    return View(view.root, view.code, new_dims, new_strides, view.offset)


def numbers_of_the_true(site: Site, mask: View) -> View:
    """The numbers, in C order, of the elements of a mask that are true."""
    e = site.e
    site.write_all()
    size = e.let(product(mask.dims))
    room = site.allocate((size,), "i64", ())
    found = e.variable("found", ZERO)
    number = e.variable("number", ZERO)

    def element(inner: Emitter, at: tuple[Expr, ...]) -> None:
        block = inner.block()
        block.store(room, (found,), number)
        block.add(Assign(found, Apply("add", (found, ONE), "i64")))
        inner.add(If(inner.load(mask, at), tuple(block.statements)))
        inner.add(Assign(number, Apply("add", (number, ONE), "i64")))

    in_order(e, mask.dims, element)
    count = e.variable("count", found)
    e.note_least(count, 0)
    return View(room.root, "i64", (count,), (ONE,), ZERO)


def _is_whole(part: Value) -> bool:
    return isinstance(part, Bounds) and part.start is part.stop is part.step is None


def over_scattered(
    site: Site,
    places: Scattered,
    element: Callable[[Emitter, tuple[Expr, ...], tuple[Expr, ...]], None],
) -> None:
    """Do something for each element: `element(emitter, where in the result, where in the array)`."""
    view, axis, indices = places.view, places.axis, places.indices
    before, after = view.dims[:axis], view.dims[axis + 1 :]
    outside, rank = (*before, *indices.dims, *after), len(indices.dims)

    def at(inner: Site, here: tuple[Expr, ...]) -> None:
        own = here[axis : axis + rank]
        index = Scalar(inner.e.load(indices, own), NUMPY)
        position = wrapped(inner, index, view.dims[axis])
        element(inner.e, here, (*here[:axis], position, *here[axis + rank :]))

    _nest(site, outside, at, ())


def _nest(
    site: Site,
    dims: tuple[Expr, ...],
    body: Callable[[Site, tuple[Expr, ...]], None],
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


def _gathered(site: Site, atom: Atom, parts: Sequence[Value]) -> Value:
    places = scattered(site, site.in_memory(atom), parts)
    view, axis = places.view, places.axis
    site.write_all()
    dims = (*view.dims[:axis], *places.indices.dims, *view.dims[axis + 1 :])
    made = site.allocate(dims, view.code, ())

    def element(e: Emitter, here: tuple[Expr, ...], there: tuple[Expr, ...]) -> None:
        e.store(made, here, e.load(view, there))

    over_scattered(site, places, element)
    return made
