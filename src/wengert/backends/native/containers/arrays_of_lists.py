"""Lists as arrays."""

from __future__ import annotations

from ..form.loopform import Apply, Expr
from ..lower.lowering import BlockLowering
from ..lower.sequences.columns import Arrays, GrowingList, Numbers, NumbersOfAnyOrigin, Same
from ..lower.sequences.sequences import RaggedArrays, item_at
from ..values import values as nv
from ..values.emitter import Emitter
from ..values.loops import in_order


def as_array(site: BlockLowering, value: GrowingList) -> nv.View:
    """A list of numbers, or of arrays of one shape, as an array: its memory is one already."""
    column = value.column
    if isinstance(column, RaggedArrays):
        return of_arrays(site, value)
    length = site.e.variable("length", value.length)
    if not isinstance(column, Numbers) or column.code != "f64":
        site.e.exit_if(Apply("eq", (length, nv.ZERO), "b1"), "an array of an empty list")
    match column:
        case Numbers(origin=origin) if origin != nv.AN_INTEGER:
            dims: tuple[Expr, ...] = (length,)
        case NumbersOfAnyOrigin():
            _must_be_floats(site, column.origins, length)
            column, dims = column.values, (length,)
        case Arrays(dims=inner):
            dims = (length, *inner)
        case Same(value=nv.Scalar(origin=int(origin)) as number) if origin != nv.AN_INTEGER:
            return site.view(nv.Broadcast(number, number.code, (length,)))
        case _:
            raise nv.Unlowered("an array of a list of numbers of different types")
    strides = tuple(map(site.e.let, nv.c_strides(dims)))
    offset = nv.times(column.offset, strides[0])
    return nv.View(column.root, column.code, dims, strides, offset)


def of_arrays(site: BlockLowering, value: GrowingList) -> nv.View:
    """Arrays that turn out to have one shape, as the rows of an array."""
    e = site.e
    site.write_all()
    length = e.variable("length", value.length)
    e.exit_if(Apply("eq", (length, nv.ZERO), "b1"), "an array of an empty list")
    first = item_at(e, value, nv.ZERO)
    dims = tuple(map(e.size, first.dims))
    made = site.allocate((length, *dims), first.code, ())
    with e.loop(length) as (index, inner):
        item = item_at(inner, value, index)
        for have, want in zip(item.dims, dims, strict=True):
            inner.must_be_same(have, want, "rows of different lengths")
        rows = Arrays(made.root, made.code, dims)
        rows.put(inner, index, item)
    return made


def _must_be_floats(site: BlockLowering, origins: Numbers, length: Expr) -> None:
    """Leave a list to the Python form that has integers: of integers alone, an array is one of integers."""

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        origin = origins.item(e, at[0]).expr
        e.exit_if(Apply("le", (origin, nv.integer(nv.AN_INTEGER)), "b1"), "an integer among floats")

    in_order(site.e, (length,), element)
