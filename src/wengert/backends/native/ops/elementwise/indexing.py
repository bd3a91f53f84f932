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
from ...values.emitter import Emitter
from ...values.layouts import is_kept
from ...values.values import (
    NUMPY,
    ONE,
    PYTHON,
    ZERO,
    Array,
    Bounds,
    Broadcast,
    Lazy,
    Range,
    Scalar,
    StaticValue,
    Tuple,
    Unlowered,
    Value,
    View,
    minus,
    number,
    plus,
    times,
)
from .scattered import is_index_array, over_scattered, scattered

# --- what an index says -------------------------------------------------------------------


def parts_of(index: Value) -> tuple[Value, ...]:
    return index.items if isinstance(index, Tuple) and index.form == "tuple" else (index,)


def part_of_array(site: BlockLowering, view: View, index: Value) -> View:
    """The part of an array that integers, slices, `None` and `...` choose; in the same memory."""
    parts = list(parts_of(index))
    used = sum(1 for p in parts if not (isinstance(p, StaticValue) and p.value in (None, Ellipsis)))
    filler = [Bounds(None, None, None)] * (len(view.dims) - used)
    dots = next(
        (k for k, p in enumerate(parts) if isinstance(p, StaticValue) and p.value is Ellipsis), None
    )
    if dots is not None:
        parts[dots : dots + 1] = filler
    else:
        parts += filler
    if used > len(view.dims):
        site.e.exit_if(Constant(True, "b1"), "too many indices")
        raise Unlowered("too many indices")
    return _chosen(site, view, parts)


def _chosen(site: BlockLowering, view: View, parts: Sequence[Value]) -> View:
    axes = iter(zip(view.dims, view.strides, strict=True))
    offset, dims, strides, new = view.offset, list[Expr](), list[Expr](), set[int]()
    for part in parts:
        if isinstance(part, StaticValue) and part.value is None:
            new.add(len(dims) + len(new))
            continue
        dim, stride = next(axes)
        if isinstance(part, Bounds):
            start, count, step = slice_of(site, part, dim)
            offset = plus(offset, times(start, stride))
            dims.append(count)
            strides.append(site.e.let(times(stride, step)))
        elif isinstance(part, (Scalar, Lazy, View)) and not dims_of(part):
            position = wrapped(site, site.as_scalar(part), dim)
            offset = plus(offset, times(position, stride))
        else:
            raise Unlowered("an index of this kind")
    part = View(view.root, view.code, tuple(dims), tuple(strides), site.e.let(offset))
    return expanded(part, new) if new else part


def slice_of(site: BlockLowering, bounds: Bounds, size: Expr) -> tuple[Expr, Expr, Expr]:
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
def _getitem(site: BlockLowering, eqn: Eqn) -> Value:
    value, index = site.value(eqn.args[0]), site.value(eqn.args[1])
    if isinstance(index, Scalar) and index.code.startswith("f") and not _has_keys(value):
        raise Unlowered("an index that is no integer, which Python refuses")
    match value:
        case View() | Lazy() | Broadcast():
            return _read(site, eqn, value, index)
        case Tuple() if is_kept(value):
            return kept_item(site.e, value, index)
        case Tuple():
            return _item_of_tuple(site, value, index)
        case GrowingList() if not isinstance(index, Bounds):
            return item_of_list(site, value, site.as_scalar(index))
        case GrowingList() if isinstance(index, Bounds):
            start, count, step = slice_of(site, index, length_of(site, value))
            return part_of_list(site, value, start, count, step)
        case Range(start=start, count=count, step=step) if isinstance(index, Scalar):
            position = wrapped(site, index, count)
            return Scalar(site.e.let(plus(start.expr, times(position, step.expr))), PYTHON, 48)
        case Range() if isinstance(index, Bounds):
            return _part_of_range(site, value, index)
        case _:
            raise Unlowered("indexing of something that is no array, list or tuple")


def _has_keys(value: Value) -> bool:
    return isinstance(value, Tuple) and value.form == "dict"


def _part_of_range(site: BlockLowering, value: Range, index: Bounds) -> Range:
    first, count, hop = slice_of(site, index, value.count)
    start = site.e.let(plus(value.start.expr, times(first, value.step.expr)))
    step = site.e.let(times(value.step.expr, hop))
    return Range(Scalar(start, PYTHON, 48), site.e.let(count), Scalar(step, PYTHON, 48))


def _read(site: BlockLowering, eqn: Eqn, value: Array, index: Value) -> Value:
    parts = parts_of(index)
    if any(is_index_array(p) for p in parts):
        return _gathered(site, eqn.args[0], parts)
    view = part_of_array(site, site.in_memory(eqn.args[0]), index)
    dotted = any(isinstance(p, StaticValue) and p.value is Ellipsis for p in parts)
    if not view.dims and not dotted:
        return Scalar(site.e.load(view, ()), NUMPY)
    return view


def _item_of_tuple(site: BlockLowering, value: Tuple, index: Value) -> Value:
    if isinstance(index, Scalar) and isinstance(index.expr, Constant) and value.form != "dict":
        k = int(index.expr.value)
        if -len(value.items) <= k < len(value.items):
            return value.items[k]
        site.e.exit_if(Constant(True, "b1"), "an index out of range")
        return value.items[0] if value.items else StaticValue(None)
    if value.form == "dict" and isinstance(index, (StaticValue, Scalar)):
        key = index.value if isinstance(index, StaticValue) else getattr(index.expr, "value", None)
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


def _gathered(site: BlockLowering, atom: Atom, parts: Sequence[Value]) -> Value:
    places = scattered(site, site.in_memory(atom), parts)
    view, axis = places.view, places.axis
    site.write_all()
    dims = (*view.dims[:axis], *places.indices.dims, *view.dims[axis + 1 :])
    made = site.allocate(dims, view.code, ())

    def element(e: Emitter, here: tuple[Expr, ...], there: tuple[Expr, ...]) -> None:
        e.store(made, here, e.load(view, there))

    over_scattered(site, places, element)
    return made
