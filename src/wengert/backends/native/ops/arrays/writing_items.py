"""Writes to items of lists, tuples and objects."""

from __future__ import annotations

from .....ir.graph import Atom, Const, Eqn
from ...containers.fields import add_to_item, sum_of_parts
from ...containers.items_by_number import changed_by_number
from ...form.loopform import For, Slot
from ...lower.lowering import BlockLowering, lowers
from ...lower.sequences.columns import GrowingList
from ...lower.sequences.lists import as_item, in_memory_as_list, loosening
from ...lower.sequences.sequences import item_at
from ...lower.structure import length_of, over_arrays, wrapped
from ...values import values as nv
from ..elementwise.indexing import slice_of


def store_in_list(site: BlockLowering, eqn: Eqn, container: GrowingList) -> nv.Value:
    index = site.value(eqn.args[1])
    if isinstance(index, nv.Bounds):
        return _add_to_part(site, eqn, container, index)
    for root in container.column.roots():
        site.unit.on_write(root)
    position = wrapped(site, site.as_scalar(index), length_of(site, container))
    value = site.value(eqn.args[2])
    if isinstance(value, (nv.Lazy, nv.Broadcast)):
        value = site.in_memory(eqn.args[2])
    site.write_all()
    with loosening(site, container):
        if eqn.op.name == "add_at":
            add_to_item(site, container.column, position, value)
        else:
            container.column.put(site.e, position, as_item(site, container, value))
    return container


def _add_to_part(
    site: BlockLowering, eqn: Eqn, container: GrowingList, bounds: nv.Bounds
) -> nv.Value:
    """The cotangent of a slice of a list, added to that of the list."""
    value = site.value(eqn.args[2])
    if eqn.op.name != "add_at" or not isinstance(value, GrowingList):
        raise nv.Unlowered("a write to a slice of a list")
    for root in container.column.roots():
        site.unit.on_write(root)
    site.write_all()
    e = site.e
    start, count, step = slice_of(site, bounds, length_of(site, container))
    e.must_be_same(count, length_of(site, value), "a cotangent of another length")
    inner = site.inside(site.block)
    index = Slot(e.names.fresh("k"), "i64")
    place = inner.e.let(nv.plus(start, nv.times(index, step)))
    item = item_at(inner.e, value, index)
    add_to_item(inner, container.column, place, item)
    e.add(For(index, count, tuple(inner.e.statements)))
    return container


def store_in_tuple(site: BlockLowering, eqn: Eqn, container: nv.Tuple) -> nv.Value:
    """A list of known length with one item replaced; the others are what they were."""
    k = number_of_item(container, eqn.args[1])
    if k is None and _is_of_numbers(container):
        return store_in_list(site, eqn, in_memory_as_list(site, container))
    value = site.value(eqn.args[2])
    if isinstance(value, (nv.Lazy, nv.Broadcast)):
        value = site.in_memory(eqn.args[2])
    adds = eqn.op.name == "add_at"
    if k is None:
        step = [site.value(eqn.args[1])]
        return changed_by_number(
            site, container, step, lambda x: added(site, x, value) if adds else value
        )
    if adds:
        value = added(site, container.items[k], value)
    return with_item(container, k, value)


def number_of_item(container: nv.Tuple, index: Atom) -> int | None:
    """Which item an index or key names, if that is known."""
    key = index.value if isinstance(index, Const) else None
    key = getattr(key, "name", key)
    if key not in container.keys and isinstance(key, int) and container.form == "list":
        key = key % len(container.items) if container.items else None
    return None if key is None or key not in container.keys else container.keys.index(key)


def with_item(container: nv.Tuple, k: int, value: nv.Value) -> nv.Tuple:
    items = (*container.items[:k], value, *container.items[k + 1 :])
    return nv.Tuple(items, container.form, container.keys, container.type)


def _is_of_numbers(container: nv.Tuple) -> bool:
    return container.form == "list" and all(isinstance(item, nv.Scalar) for item in container.items)


def added(site: BlockLowering, before: nv.Value, value: nv.Value) -> nv.Value:
    if isinstance(before, nv.Scalar) and isinstance(value, nv.Scalar):
        return sum_of_parts(site.e, before, value)
    if isinstance(before, (nv.Scalar, nv.View, nv.Broadcast)) and isinstance(
        value, (nv.Scalar, nv.View, nv.Broadcast)
    ):
        return site.computed(over_arrays(site, "add", [before, value]))
    return sum_of_parts(site.e, before, value)


@lowers("add_attr")
def _add_attr(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """A cotangent added to that of a field of a named tuple."""
    buffer, x = (site.value(atom) for atom in eqn.args[:2])
    name = eqn.param("name")
    if not isinstance(buffer, nv.Tuple) or not isinstance(x, nv.Tuple) or name not in x.keys:
        raise nv.Unlowered(f"a cotangent of the attribute `{name}`")
    k = x.keys.index(name)
    value = site.value(eqn.args[2])
    if isinstance(value, (nv.Lazy, nv.Broadcast)):
        value = site.in_memory(eqn.args[2]) if value.dims else site.as_scalar(value)
    return with_item(buffer, k, added(site, buffer.items[k], value))
