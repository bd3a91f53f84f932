"""Lists as arrays."""

from __future__ import annotations

from ..form.loopform import Apply, Expr, For, Slot
from ..lower.lowering import BlockLowering
from ..lower.sequences.columns import Arrays, GrowingList, Numbers, NumbersOfAnyOrigin, Same
from ..lower.sequences.sequences import RaggedArrays, item_at
from ..values.emitter import Emitter
from ..values.loops import in_order
from ..values.values import (
    AN_INTEGER,
    ZERO,
    Broadcast,
    Scalar,
    Unlowered,
    View,
    c_strides,
    integer,
    times,
)


def as_array(site: BlockLowering, value: GrowingList) -> View:
    """A list of numbers, or of arrays of one shape, as an array: its memory is one already."""
    column = value.column
    if isinstance(column, RaggedArrays):
        return of_arrays(site, value)
    length = site.e.variable("length", value.length)
    if not isinstance(column, Numbers) or column.code != "f64":
        site.e.exit_if(Apply("eq", (length, ZERO), "b1"), "an array of an empty list")
    match column:
        case Numbers(origin=origin) if origin != AN_INTEGER:
            dims: tuple[Expr, ...] = (length,)
        case NumbersOfAnyOrigin():
            _must_be_floats(site, column.origins, length)
            column, dims = column.values, (length,)
        case Arrays(dims=inner):
            dims = (length, *inner)
        case Same(value=Scalar(origin=int(origin)) as number) if origin != AN_INTEGER:
            return site.view(Broadcast(number, number.code, (length,)))
        case _:
            raise Unlowered("an array of a list of numbers of different types")
    strides = tuple(map(site.e.let, c_strides(dims)))
    offset = times(column.offset, strides[0])
    return View(column.root, column.code, dims, strides, offset)


def of_arrays(site: BlockLowering, value: GrowingList) -> View:
    """Arrays that turn out to have one shape, as the rows of an array."""
    e = site.e
    site.write_all()
    length = e.variable("length", value.length)
    e.exit_if(Apply("eq", (length, ZERO), "b1"), "an array of an empty list")
    first = item_at(e, value, ZERO)
    dims = tuple(map(e.size, first.dims))
    made = site.allocate((length, *dims), first.code, ())
    index, inner = Slot(e.names.fresh("k"), "i64"), e.block()
    item = item_at(inner, value, index)
    for have, want in zip(item.dims, dims, strict=True):
        inner.must_be_same(have, want, "rows of different lengths")
    rows = Arrays(made.root, made.code, dims)
    rows.put(inner, index, item)
    e.add(For(index, length, tuple(inner.statements)))
    return made


def _must_be_floats(site: BlockLowering, origins: Numbers, length: Expr) -> None:
    """Leave a list to the Python form that has integers: of integers alone, an array is one of integers."""

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        origin = origins.item(e, at[0]).expr
        e.exit_if(Apply("le", (origin, integer(AN_INTEGER)), "b1"), "an integer among floats")

    in_order(site.e, (length,), element)
