"""Cotangents that are zero, or the same everywhere."""

from __future__ import annotations

from ....ir.graph import Eqn
from ....ir.records import replace
from ....ir.types import FLOAT
from ..form.loopform import FLOATS, Assign, Constant, Expr
from ..lower.lowering import BlockLowering, lowers
from ..lower.sequences.columns import (
    Arrays,
    GrowingList,
    ListsOfOneLength,
    Numbers,
    NumbersOfAnyOrigin,
    Parts,
)
from ..lower.sequences.lists import has_numbers_alone, item_copies, like_item, template_of
from ..lower.sequences.sequences import Lists, RaggedArrays, growing, item_at
from ..lower.shapes import dims_of, spread
from ..lower.structure import length_of
from ..values import values as nv
from ..values.complexes import by_part, is_complex
from ..values.emitter import Emitter
from ..values.loops import fill


@lowers("zeros")
def _zeros(site: BlockLowering, eqn: Eqn) -> nv.Value:
    return zeros_like(site, site.value(eqn.args[0]))


def zeros_like(site: BlockLowering, value: nv.Value) -> nv.Value:
    """The cotangent of a value that is zero."""
    match value:
        case nv.Scalar():
            return nv.Scalar(Constant(0.0, "f64"), nv.PYTHON)
        case nv.View() | nv.Lazy() | nv.Broadcast():
            code = value.code if value.code in FLOATS else "f64"
            return nv.Broadcast(nv.Scalar(Constant(0.0, code), nv.NUMPY), code, dims_of(value))
        case nv.Tuple() if is_complex(value):
            return by_part(value, lambda part: zeros_like(site, part))
        case nv.Tuple(items=items, form="dataclass" | "dict", keys=keys):
            return nv.Tuple(tuple(zeros_like(site, item) for item in items), "dict", keys)
        case nv.Tuple(items=items):
            inner = tuple(zeros_like(site, item) for item in items)
            return nv.Tuple(inner, "list", tuple(range(len(inner))))
        case nv.StaticValue(value=None | str()):
            return nv.StaticValue(None)
        case GrowingList(column=Numbers() | NumbersOfAnyOrigin()):
            return equal_items(
                site, length_of(site, value), nv.Scalar(Constant(0.0, "f64"), nv.PYTHON)
            )
        case GrowingList(column=Arrays() | RaggedArrays()):
            return _zero_arrays(site, value)
        case GrowingList(column=Parts()):
            return _zero_items(site, value)
        case GrowingList(column=ListsOfOneLength() | Lists()) if is_of_lists_of_numbers(value):
            return _zero_lists(site, value)
        case _:
            raise nv.Unlowered(f"a cotangent of {nv.described(value)}")


@lowers("spread_items")
def _spread_items(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The cotangent of a sum, given to each of its items."""
    items = site.value(eqn.args[1])
    if isinstance(items, (nv.View, nv.Lazy, nv.Broadcast)):
        return spread(site, eqn.args[0], items.dims)
    bar = site.scalar(eqn.args[0])
    match items:
        case GrowingList(column=Numbers() | NumbersOfAnyOrigin()):
            return equal_items(site, length_of(site, items), bar)
        case nv.Tuple():
            return nv.Tuple((bar,) * len(items.items), "list", tuple(range(len(items.items))))
        case _:
            raise nv.Unlowered(f"a cotangent of {nv.described(items)}")


def _zero_arrays(site: BlockLowering, value: GrowingList) -> GrowingList:
    """Arrays of zeros, of the shapes of those in a list."""
    made = item_copies(site, value)
    size = made.length
    elements = made.column
    if isinstance(elements, RaggedArrays):
        size, elements = elements.flat.length, elements.flat.column
    if isinstance(elements, Arrays):
        size = site.e.let(nv.times(size, nv.product(elements.dims)))
    assert isinstance(elements, (Arrays, Numbers))
    whole = nv.View(elements.root, elements.code, (size,), (nv.ONE,), nv.ZERO)
    fill(site.e, whole, Constant(0.0, whole.code))
    return made


def is_of_lists_of_numbers(value: GrowingList) -> bool:
    """Whether a list is one of lists of numbers."""
    flat = getattr(value.column, "flat", None)
    column = flat.column if isinstance(flat, GrowingList) else flat
    return isinstance(column, (Numbers, NumbersOfAnyOrigin))


def _zero_lists(site: BlockLowering, value: GrowingList) -> GrowingList:
    """Lists of zeros, as long as those in a list."""
    e = site.e
    length = length_of(site, value)
    column = value.column
    assert isinstance(column, (ListsOfOneLength, Lists))
    same = column.count if isinstance(column, ListsOfOneLength) else None
    longest = column.flat.length if isinstance(column, Lists) else same
    assert longest is not None
    zeros = equal_items(site, longest, nv.Scalar(Constant(0.0, "f64"), nv.PYTHON))
    zeros = replace(zeros, count=same)
    made = growing(e, zeros, "bars", e.apply("max", length, nv.ONE), lambda expr: expr == same)
    with e.loop(length) as (index, inner):
        here = zeros
        if isinstance(column, Lists):
            here = replace(
                zeros, length=inner.variable("size", column.sizes.item(inner, index).expr)
            )
        made.column.put(inner, index, here)
    e.add(Assign(made.length, length))
    return made


def equal_items(site: BlockLowering, size: Expr, zero: nv.Scalar) -> GrowingList:
    """A list of one number, so many times."""
    e = site.e
    made = growing(e, template_of(FLOAT, site.unit.of_lists), "bars", e.apply("max", size, nv.ONE))
    with e.loop(size) as (index, inner):
        made.column.put(inner, index, zero)
    e.add(Assign(made.length, size))
    return made


def _zero_items(site: BlockLowering, value: GrowingList) -> GrowingList:
    """A list of the cotangents that are zero, of items that have parts."""
    e = site.e
    length = length_of(site, value)
    item = zeros_like(site, item_at(Emitter(e.names), value, nv.ZERO))
    if not has_numbers_alone(item):
        return _zero_parts(site, value, item)
    made = growing(e, like_item(item, site.unit.of_lists), "bars", e.apply("max", length, nv.ONE))
    with e.loop(length) as (index, inner):
        made.column.put(inner, index, item)
    e.add(Assign(made.length, length))
    return made


def _zero_parts(site: BlockLowering, value: GrowingList, item: nv.Tuple) -> GrowingList:
    """The same where some parts are arrays, which have shapes: column by column. `item` is one of the zeros."""
    parts = value.column
    assert isinstance(parts, Parts)
    columns = [zeros_like(site, replace(value, column=column)).column for column in parts.columns]
    length = site.e.variable("bars_length", value.length)
    room = site.e.variable("bars_room", site.e.apply("max", length, nv.ONE))
    return GrowingList(Parts(columns, item), length, room)
