"""Lists made of other things, and lists that change."""

from __future__ import annotations

from ....ir.graph import Eqn
from ....ir.records import replace
from ....ir.types import INT
from ..form.loopform import Assign, Constant, Expr
from ..lower.lowering import BlockLowering, lowers
from ..lower.sequences.columns import Arrays, GrowingList, Numbers
from ..lower.sequences.lists import (
    as_item,
    copied_list,
    item_copies,
    like_item,
    loosening,
    template_of,
)
from ..lower.sequences.ranges import SIZE_BITS
from ..lower.sequences.sequences import growing, item_at, push
from ..lower.structure import elementwise, length_of, over_arrays, wrapped
from ..values import values as nv
from ..values.emitter import Emitter
from .arrays_of_lists import as_array
from .fields import sum_of_parts


@lowers("as_list")
@lowers("as_tuple")
def _as_list(site: BlockLowering, eqn: Eqn) -> nv.Value:
    value = site.value(eqn.args[0])
    if isinstance(value, nv.Tuple) and value.form in ("tuple", "list"):
        return nv.Tuple(value.items, "tuple" if eqn.op.name == "as_tuple" else "list", value.keys)
    if isinstance(value, GrowingList):
        return copied_list(site, value)
    if isinstance(value, nv.Range):
        return _list_of_range(site, value)
    if (
        isinstance(value, (nv.View, nv.Lazy, nv.Broadcast))
        and value.dims
        and eqn.op.name == "as_list"
    ):
        return _list_of_array(site, site.in_memory(eqn.args[0]))
    raise nv.Unlowered(f"a list of {nv.described(value)}")


@lowers("tolist")
def _tolist(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The numbers of a vector as Python's; what is no array is a number."""
    value = site.value(eqn.args[0])
    if isinstance(value, nv.Scalar) or not isinstance(value, (nv.View, nv.Lazy, nv.Broadcast)):
        raise nv.Unlowered(f"`tolist` of {nv.described(value)}")
    view = site.in_memory(eqn.args[0])
    if len(view.dims) != 1 or view.code == "f32":
        raise nv.Unlowered("`tolist` of anything but a vector")
    made = _list_of_array(site, view)
    assert isinstance(made.column, Numbers)
    return replace(made, column=replace(made.column, origin=nv.PYTHON))


def _list_of_range(site: BlockLowering, value: nv.Range) -> GrowingList:
    e = site.e
    site.write_all()
    made = growing(e, template_of(INT), "numbers", e.apply("max", value.count, nv.ONE))
    with e.loop(value.count) as (index, inner):
        item = inner.let(nv.plus(value.start.expr, nv.times(index, value.step.expr)))
        made.column.put(inner, index, nv.Scalar(item, nv.PYTHON, SIZE_BITS))
    e.add(Assign(made.length, value.count))
    return made


def _list_of_array(site: BlockLowering, view: nv.View) -> GrowingList:
    """The numbers of a vector, or the rows of an array, which nobody may write to from now on."""
    e = site.e
    site.write_all()
    made = site.copied(view)
    length, room = (e.variable(hint, made.dims[0]) for hint in ("length", "room"))
    if len(made.dims) == 1:
        return GrowingList(Numbers(made.root, made.code, nv.NUMPY, 64), length, room)
    made.root.stands_in = view.root.stands_in = True  # in Python the rows are parts of the array
    return GrowingList(Arrays(made.root, made.code, made.dims[1:]), length, room)


@lowers("accumulate")
def _accumulate(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """The sum of two cotangents: those of lists are added item by item."""
    values = [site.value(atom) for atom in eqn.args]
    if not any(isinstance(x, GrowingList) for x in values):
        return elementwise(site, eqn)
    if all(isinstance(x, GrowingList) and _is_of_numbers(site, x) for x in values):
        return _sum_of_lists(site, *values)
    if all(
        isinstance(x, GrowingList) and isinstance(_an_item(site, x), GrowingList) for x in values
    ):
        site.write_all()
        made = item_copies(site, values[0])
        _add_items(site.e, made, values[1])
        return made
    arrays = [as_array(site, x) if isinstance(x, GrowingList) else x for x in values]
    if not all(isinstance(x, (nv.View, nv.Lazy, nv.Broadcast)) for x in arrays):
        raise nv.Unlowered("a sum of lists of anything but numbers and arrays")
    return over_arrays(site, "add", arrays)


def _is_of_numbers(site: BlockLowering, value: GrowingList) -> bool:
    return isinstance(_an_item(site, value), (nv.Scalar, nv.Tuple))


def _an_item(site: BlockLowering, value: GrowingList) -> nv.Value:
    return item_at(Emitter(site.e.names), value, nv.ZERO)


def _add_items(e: Emitter, target: GrowingList, value: GrowingList) -> None:
    """Add the items of a list to those of another, in place; the items of lists in lists likewise."""
    e.must_be_same(target.length, value.length, "cotangents of lists of different lengths")
    with e.loop(e.variable("length", target.length)) as (index, inner):
        a, b = (item_at(inner, x, index) for x in (target, value))
        if isinstance(a, GrowingList) and isinstance(b, GrowingList):
            _add_items(inner, a, b)
        else:
            target.column.put(inner, index, sum_of_parts(inner, a, b))


def _sum_of_lists(site: BlockLowering, a: GrowingList, b: GrowingList) -> GrowingList:
    """Two cotangents of a list of numbers, or of tuples of them, added item by item."""
    e = site.e
    site.write_all()
    count = length_of(site, a)
    e.must_be_same(count, length_of(site, b), "cotangents of lists of different lengths")
    with e.loop(count) as (index, inner):
        total = sum_of_parts(inner, *(item_at(inner, x, index) for x in (a, b)))
        template = like_item(total, site.unit.of_lists)
        made = growing(e, template, "bars", e.apply("max", count, nv.ONE))
        made.column.put(inner, index, total)
    e.add(Assign(made.length, count))
    return made


@lowers("truth", "not")
def _truth(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Whether a value counts as true; a container does unless it is empty."""
    value = site.value(eqn.args[0])
    if not isinstance(value, (GrowingList, nv.Tuple)) or eqn.namespace != "py":
        return elementwise(site, eqn)
    op = "ne" if eqn.op.name == "truth" else "eq"
    return nv.Scalar(site.e.apply(op, length_of(site, value), nv.ZERO, code="b1"), nv.PYTHON)


@lowers("position")
def _position(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Where an item is inserted into a list, or deleted from it, counted from the first one."""
    value, key = site.value(eqn.args[0]), site.value(eqn.args[-1])
    if len(eqn.args) != 2 or not isinstance(value, GrowingList) or not isinstance(key, nv.Scalar):
        raise nv.Unlowered("a place in a container that is no list")
    return nv.Scalar(_place(site, value, key), nv.PYTHON, SIZE_BITS)


def _place(site: BlockLowering, value: GrowingList, key: nv.Scalar) -> Expr:
    e = site.e
    length = length_of(site, value)
    from_end = e.apply("max", e.apply("add", key.expr, length), nv.ZERO)
    negative = e.apply("lt", key.expr, nv.ZERO, code="b1")
    return e.apply("select", negative, from_end, e.apply("min", key.expr, length), code="i64")


def _note_write(site: BlockLowering, value: GrowingList) -> None:
    for root in value.column.roots():
        site.unit.on_write(root)


@lowers("drop", "dropped")
def _drop(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """A list without one of its items."""
    container, *path = (site.value(atom) for atom in eqn.args)
    if (
        not isinstance(container, GrowingList)
        or len(path) != 1
        or not isinstance(path[0], nv.Scalar)
    ):
        raise nv.Unlowered("a part of a container that is taken out")
    e = site.e
    _note_write(site, container)
    site.write_all()
    size = length_of(site, container)
    position = wrapped(site, path[0], size)
    last = e.apply("sub", size, nv.ONE)
    if path[0].expr != Constant(-1, "i64"):
        if not isinstance(item_at(Emitter(e.names), container, nv.ZERO), (nv.Scalar, nv.Tuple)):
            raise nv.Unlowered("an item that is no number, taken out of a list")
        with e.loop(e.apply("sub", last, position)) as (index, inner):
            place = inner.let(nv.plus(position, index))
            container.column.put(
                inner, place, item_at(inner, container, inner.let(nv.plus(place, nv.ONE)))
            )
    e.add(Assign(container.length, last))
    return container


@lowers("append_item", "appended")
def _append(site: BlockLowering, eqn: Eqn) -> nv.Value:
    target, *path, _ = eqn.args
    container = site.value(target)
    if path:
        raise nv.Unlowered("a write to a part of a part")
    item = site.value(eqn.args[-1])
    if isinstance(item, (nv.Lazy, nv.Broadcast)):
        item = site.in_memory(eqn.args[-1]) if item.dims else site.as_scalar(item)
    if isinstance(container, nv.Tuple) and container.form == "list":
        items = (*container.items, item)
        return nv.Tuple(items, "list", tuple(range(len(items))))
    if not isinstance(container, GrowingList):
        raise nv.Unlowered("an append to something that is no list")
    _note_write(site, container)
    item = as_item(site, container, item)
    site.write_all()
    with loosening(site, container):
        push(site.e, container, item)
    return container


@lowers("insert_item", "inserted")
def _insert(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """A list with one more number, or tuple of numbers, before one of its items."""
    container, *path, key, item = (site.value(atom) for atom in eqn.args)
    known = isinstance(container, GrowingList) and isinstance(key, nv.Scalar) and not path
    if not known or not isinstance(item, (nv.Scalar, nv.Lazy, nv.Broadcast, nv.Tuple)):
        raise nv.Unlowered("an insertion into something that is no list of numbers")
    e = site.e
    _note_write(site, container)
    item = item if isinstance(item, nv.Tuple) else site.as_scalar(item)
    place, last = _place(site, container, key), length_of(site, container)
    site.write_all()
    with loosening(site, container):
        push(e, container, item)
    with e.loop(e.apply("sub", last, place)) as (index, inner):
        target = inner.apply("sub", last, index)
        source = inner.apply("sub", target, nv.ONE)
        container.column.put(inner, target, item_at(inner, container, source))
    container.column.put(e, place, item)
    return container
