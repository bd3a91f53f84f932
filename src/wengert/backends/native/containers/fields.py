"""Fields of the items of lists: what `bodies[i].speed = v` changes, and the cotangents of such items."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

from ....ir.graph import Eqn
from ..form.loopform import Expr
from ..lower.lowering import BlockLowering, lowers
from ..lower.sequences.columns import Arrays, Column, GrowingList, Parts
from ..lower.sequences.lists import loosening
from ..lower.sequences.sequences import RaggedArrays
from ..lower.structure import length_of, wrapped
from ..values.emitter import Emitter
from ..values.loops import over
from ..values.numbers import compute
from ..values.values import Scalar, StaticValue, Tuple, Unlowered, Value, View
from .items_by_number import changed_by_number
from .zeros import zeros_like


def has_fields(value: Value) -> bool:
    """Whether a value is a list of items that have parts."""
    return isinstance(value, GrowingList) and isinstance(value.column, Parts)


def store_in_field(
    site: BlockLowering, eqn: Eqn, container: GrowingList, path: Sequence[Value]
) -> Value:
    """A write to a part of an item, or an addition to it."""
    for root in container.column.roots():
        site.unit.on_write(root)
    first, *names = path
    value = site.value(eqn.args[-1])
    site.write_all()
    position = wrapped(site, site.as_scalar(first), length_of(site, container))
    fields = list(takewhile(lambda name: _name_of(name) is not None, names))
    column, computed = _column_of(container.column, fields), names[len(fields) :]
    adds = eqn.op.name == "add_at"
    with loosening(site, container):
        if computed:
            added = value if isinstance(value, Tuple) else site.as_scalar(value)
            change = lambda item: sum_of_parts(site.e, item, added) if adds else added
            item = column.item(site.e, position)
            column.put(site.e, position, changed_by_number(site, item, computed, change))
        elif adds:
            add_to_item(site, column, position, value)
        else:
            put = value if isinstance(value, Tuple) else site.as_scalar(value)
            column.put(site.e, position, put)
    return container


def add_to_item(site: BlockLowering, column: Column, position: Expr, value: Value) -> None:
    """Add a cotangent to an item, part by part; arrays are added to where they are."""
    match column:
        case Parts(columns=columns) if isinstance(value, Tuple) and len(columns) == len(
            value.items
        ):
            for part, item in zip(columns, value.items, strict=True):
                add_to_item(site, part, position, item)
        case Arrays() | RaggedArrays():
            _add_elements(site, column.item(site.e, position), site.view(value))
        case _:
            before = column.item(site.e, position)
            value = site.as_scalar(value) if isinstance(before, Scalar) else value
            column.put(site.e, position, sum_of_parts(site.e, before, value))


def _add_elements(site: BlockLowering, target: View, more: View) -> None:
    if len(target.dims) != len(more.dims) or target.code != more.code:
        raise Unlowered("a sum of arrays of different types")
    for a, b in zip(target.dims, more.dims, strict=True):
        site.e.must_be_same(a, b, "a sum of arrays of different shapes")

    def element(e: Emitter, at: tuple[Expr, ...]) -> None:
        e.store(target, at, e.apply("add", e.load(target, at), e.load(more, at)))

    over(site.e, target.dims, element)


def _column_of(column: Column, names: Sequence[Value]) -> Column:
    """Where a part of the items is kept."""
    for name in names:
        key = _name_of(name)
        if not isinstance(column, Parts) or key not in column.template.keys:
            raise Unlowered("a write to a part of a part")
        column = column.columns[column.template.keys.index(key)]
    return column


def _name_of(name: Value) -> Any:
    """The name or the number of a field, where it is known."""
    known: Any = name.value if isinstance(name, StaticValue) else getattr(name.expr, "value", None)
    return getattr(known, "name", known)


def sum_of_parts(e: Emitter, before: Value, value: Value) -> Value:
    """The sum of two cotangents, of numbers or part by part."""
    match before, value:
        case Scalar(), Scalar():
            return compute(e, "add", "py", [before, value])
        case Tuple(), Tuple() if len(before.items) == len(value.items):
            pairs = zip(before.items, value.items, strict=True)
            items = tuple(sum_of_parts(e, a, b) for a, b in pairs)
            return Tuple(items, before.form, before.keys, before.type)
        case StaticValue(value=None), StaticValue(value=None):
            return before
        case _:
            raise Unlowered("a sum of items that are no numbers")


@lowers("zeros_at")
def _zeros_at(site: BlockLowering, eqn: Eqn) -> Value:
    """The cotangent of a part of a value that is zero."""
    container, *path = (site.value(atom) for atom in eqn.args)
    if not isinstance(container, GrowingList) or not path:
        raise Unlowered("a part of something else than a list")
    return zeros_like(site, _part(site, container, path))


@lowers("given_at")
def _given_at(site: BlockLowering, eqn: Eqn) -> Value:
    """The cotangent of a value that was stored in a list."""
    bars, *path, _ = (site.value(atom) for atom in eqn.args)
    if not isinstance(bars, GrowingList):
        raise Unlowered("a cotangent of a part of something else than a list")
    return _part(site, bars, path)


def _part(site: BlockLowering, container: GrowingList, path: Sequence[Value]) -> Value:
    first, *names = path
    position = wrapped(site, site.as_scalar(first), length_of(site, container))
    if has_fields(container):
        return _column_of(container.column, names).item(site.e, position)
    part = container.column.item(site.e, position)
    if not names:
        return part
    if not isinstance(part, GrowingList):
        raise Unlowered("a cotangent of a part of a part")
    return _part(site, part, names)
