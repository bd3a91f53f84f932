"""Reading at an index: elements, rows, slices, and elements chosen by an array of integers."""

from __future__ import annotations

from collections.abc import Sequence

from .....ir.graph import Atom, Eqn
from ...containers.items_by_number import item_by_number
from ...containers.residual_records import kept_item
from ...form.loopform import Constant, Expr
from ...lower.lowering import BlockLowering, lowers
from ...lower.sequences.columns import GrowingList
from ...lower.sequences.lists import part_of_list
from ...lower.shapes import dims_of, expanded
from ...lower.structure import item_of_list, length_of, wrapped
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.layouts import is_kept
from .scattered import Scattered, is_index_array, over_scattered, scattered

# --- what an index says -------------------------------------------------------------------


def parts_of(index: nv.Value) -> tuple[nv.Value, ...]:
    return index.items if isinstance(index, nv.Tuple) and index.form == "tuple" else (index,)


def part_of_array(site: BlockLowering, view: nv.View, index: nv.Value) -> nv.View:
    """The part of an array that integers, slices, `None` and `...` choose; in the same memory."""
    parts = list(parts_of(index))
    used = sum(
        1 for p in parts if not (isinstance(p, nv.StaticValue) and p.value in (None, Ellipsis))
    )
    filler = [nv.EVERYTHING] * (len(view.dims) - used)
    dots = next(
        (k for k, p in enumerate(parts) if isinstance(p, nv.StaticValue) and p.value is Ellipsis),
        None,
    )
    if dots is not None:
        parts[dots : dots + 1] = filler
    else:
        parts += filler
    if used > len(view.dims):
        site.e.exit_if(Constant(True, "b1"), "too many indices")
        raise nv.Unlowered("too many indices")
    return _chosen(site, view, parts)


def _chosen(site: BlockLowering, view: nv.View, parts: Sequence[nv.Value]) -> nv.View:
    axes = iter(zip(view.dims, view.strides, strict=True))
    offset, dims, strides, new = view.offset, list[Expr](), list[Expr](), set[int]()
    for part in parts:
        if isinstance(part, nv.StaticValue) and part.value is None:
            new.add(len(dims) + len(new))
            continue
        dim, stride = next(axes)
        if isinstance(part, nv.Bounds):
            start, count, step = slice_of(site, part, dim)
            offset = nv.plus(offset, nv.times(start, stride))
            dims.append(count)
            strides.append(site.e.let(nv.times(stride, step)))
        elif isinstance(part, (nv.Scalar, nv.Lazy, nv.View)) and not dims_of(part):
            position = wrapped(site, site.as_scalar(part), dim)
            offset = nv.plus(offset, nv.times(position, stride))
        else:
            raise nv.Unlowered("an index of this kind")
    part = nv.View(view.root, view.code, tuple(dims), tuple(strides), site.e.let(offset))
    return expanded(part, new) if new else part


def slice_of(site: BlockLowering, bounds: nv.Bounds, size: Expr) -> tuple[Expr, Expr, Expr]:
    """Where a slice starts, how many items it has, and its step."""
    e = site.e
    size = e.size(e.let(size))
    if (only := _only_place(bounds)) is not None:
        return wrapped(site, only, size), nv.ONE, nv.ONE
    step = bounds.step.expr if bounds.step is not None else nv.ONE
    if not isinstance(step, Constant) or step.value == 0:
        raise nv.Unlowered("a slice whose step is computed")
    if int(step.value) > 0:
        start = _clipped(e, bounds.start, size, nv.ZERO, size, nv.ZERO)
        stop = _clipped(e, bounds.stop, size, nv.ZERO, size, size)
        span = nv.minus(stop, start)
    else:
        last = e.let(nv.minus(size, nv.ONE))
        below = Constant(-1, "i64")
        start = _clipped(e, bounds.start, size, below, last, last)
        stop = _clipped(e, bounds.stop, size, below, last, below)
        span = nv.minus(start, stop)
    width = abs(int(step.value))
    if width > 1:
        wide = e.let(nv.plus(span, Constant(width - 1, "i64")))
        span = e.apply("quotient", wide, Constant(width, "i64"))
    if span == size:
        return start, size, step
    return start, e.apply("max", e.let(span), nv.ZERO), step


def _only_place(bounds: nv.Bounds) -> nv.Scalar | None:
    """The place of a slice of one element, as `x[:1]` and `x[-1:]`; of fewer elements, it is empty."""
    start, stop, step = (_known(bound) for bound in (bounds.start, bounds.stop, bounds.step))
    if step not in (None, 1) or (bounds.start is not None and start is None):
        return None
    if bounds.stop is None:
        return bounds.start if start == -1 else None
    return nv.number(start or 0) if start != -1 and stop == (start or 0) + 1 else None


def _known(bound: nv.Scalar | None) -> int | None:
    expr = bound.expr if bound is not None else None
    return int(expr.value) if isinstance(expr, Constant) and expr.code == "i64" else None


def _clipped(
    e: Emitter, bound: nv.Scalar | None, size: Expr, least: Expr, most: Expr, default: Expr
) -> Expr:
    """A bound of a slice, counted from the front and kept in range."""
    if bound is None:
        return default
    if bound.code != "i64":
        raise nv.Unlowered("a slice between numbers that are no integers")
    k = bound.expr
    if isinstance(k, Constant):
        if k.value == 0 and least == nv.ZERO:
            return nv.ZERO
        if int(k.value) >= 0:
            return e.apply("min", k, most)
        return e.apply("max", e.apply("add", size, k), least)
    return e.apply("max", e.apply("min", e.apply("wrapped", k, size), most), least)


# --- reading ------------------------------------------------------------------------------


@lowers("getitem")
def _getitem(site: BlockLowering, eqn: Eqn) -> nv.Value:
    value, index = site.value(eqn.args[0]), site.value(eqn.args[1])
    if isinstance(index, nv.Scalar) and index.code.startswith("f") and not _has_keys(value):
        raise nv.Unlowered("an index that is no integer, which Python refuses")
    match value:
        case nv.View() | nv.Lazy() | nv.Broadcast():
            return _read(site, eqn, value, index)
        case nv.Tuple() if is_kept(value):
            return kept_item(site.e, value, index)
        case nv.Tuple():
            return _item_of_tuple(site, value, index)
        case GrowingList() if not isinstance(index, nv.Bounds):
            return item_of_list(site, value, site.as_scalar(index))
        case GrowingList() if isinstance(index, nv.Bounds):
            start, count, step = slice_of(site, index, length_of(site, value))
            return part_of_list(site, value, start, count, step)
        case nv.Range(start=start, count=count, step=step) if isinstance(index, nv.Scalar):
            position = wrapped(site, index, count)
            return nv.Scalar(
                site.e.let(nv.plus(start.expr, nv.times(position, step.expr))), nv.PYTHON, 48
            )
        case nv.Range() if isinstance(index, nv.Bounds):
            return _part_of_range(site, value, index)
        case _:
            raise nv.Unlowered("indexing of something that is no array, list or tuple")


def _has_keys(value: nv.Value) -> bool:
    return isinstance(value, nv.Tuple) and value.form == "dict"


def _part_of_range(site: BlockLowering, value: nv.Range, index: nv.Bounds) -> nv.Range:
    first, count, hop = slice_of(site, index, value.count)
    start = site.e.let(nv.plus(value.start.expr, nv.times(first, value.step.expr)))
    step = site.e.let(nv.times(value.step.expr, hop))
    return nv.Range(
        nv.Scalar(start, nv.PYTHON, 48), site.e.let(count), nv.Scalar(step, nv.PYTHON, 48)
    )


def _read(site: BlockLowering, eqn: Eqn, value: nv.Array, index: nv.Value) -> nv.Value:
    parts = parts_of(index)
    if any(is_index_array(p) for p in parts):
        return _gathered(site, eqn.args[0], parts)
    view = part_of_array(site, site.in_memory(eqn.args[0]), index)
    dotted = any(isinstance(p, nv.StaticValue) and p.value is Ellipsis for p in parts)
    if not view.dims and not dotted:
        return nv.Scalar(site.e.load(view, ()), nv.NUMPY)
    return view


def _item_of_tuple(site: BlockLowering, value: nv.Tuple, index: nv.Value) -> nv.Value:
    if isinstance(index, nv.Scalar) and isinstance(index.expr, Constant) and value.form != "dict":
        k = int(index.expr.value)
        if -len(value.items) <= k < len(value.items):
            return value.items[k]
        site.e.exit_if(Constant(True, "b1"), "an index out of range")
        return value.items[0] if value.items else nv.StaticValue(None)
    if value.form == "dict" and isinstance(index, (nv.StaticValue, nv.Scalar)):
        key = (
            index.value if isinstance(index, nv.StaticValue) else getattr(index.expr, "value", None)
        )
        if key in value.keys:
            return value.items[value.keys.index(key)]
    if isinstance(index, nv.Scalar) and value.form in ("tuple", "list"):
        return item_by_number(site, value, index)
    if isinstance(index, nv.Bounds) and value.form in ("tuple", "list"):
        items = value.items[_known_slice(index)]
        return nv.Tuple(items, value.form, tuple(range(len(items))))
    raise nv.Unlowered("an item of a container that is chosen at run time")


def _known_slice(index: nv.Bounds) -> slice:
    """A slice that is known before the program runs."""
    parts: list[int | None] = []
    for part in (index.start, index.stop, index.step):
        known = None if part is None else part.expr
        if known is not None and not isinstance(known, Constant):
            raise nv.Unlowered("items of a container that are chosen at run time")
        parts.append(None if known is None else int(known.value))
    return slice(*parts)


# --- arrays of indices --------------------------------------------------------------------


def chosen_by_arrays(site: BlockLowering, view: nv.View, parts: Sequence[nv.Value]) -> Scattered:
    """The elements that arrays of indices choose, in the part of an array that slices beside them choose."""
    slices = [part if isinstance(part, nv.Bounds) else nv.EVERYTHING for part in parts]
    if any(part != nv.EVERYTHING for part in slices):
        view = part_of_array(site, view, nv.Tuple(tuple(slices), "tuple"))
    return scattered(site, view, parts)


def _gathered(site: BlockLowering, atom: Atom, parts: Sequence[nv.Value]) -> nv.Value:
    places = chosen_by_arrays(site, site.in_memory(atom), parts)
    view, axis = places.view, places.axis
    site.write_all()
    dims = (*view.dims[:axis], *places.indices.dims, *view.dims[axis + 1 :])
    made = site.allocate(dims, view.code, ())

    def element(e: Emitter, here: tuple[Expr, ...], there: tuple[Expr, ...]) -> None:
        e.store(made, here, e.load(view, there))

    over_scattered(site, places, element)
    return made
