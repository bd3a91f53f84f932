"""Writing at an index, in place; appending to lists."""

from __future__ import annotations

from collections.abc import Sequence

from .....ir.graph import Atom, Const, Eqn, Var
from .....ir.steps import Viewed
from .....ir.types import UNKNOWN
from ...containers.fields import has_fields, store_in_field
from ...containers.items_by_number import changed_by_number
from ...form.loopform import Constant, Expr, For, Slot
from ...lower.groups import Place, can_be_placed
from ...lower.lowering import BlockLowering, lowers
from ...lower.sequences.columns import GrowingList
from ...lower.sequences.sequences import item_at
from ...lower.shapes import must_spread, spread_value, with_axes
from ...lower.structure import item_of_list, length_of, wrapped
from ...prepare.writes import OF_DERIVATIVES
from ...values import values as nv
from ...values.emitter import Emitter
from ...values.loops import over
from ...values.numbers import converted
from ...values.promotion import common_code
from ..elementwise.creation import zeroed
from ..elementwise.indexing import chosen_by_arrays, part_of_array, parts_of
from ..elementwise.scattered import Scattered, is_index_array, over_scattered
from .writing_items import added, number_of_item, store_in_list, store_in_tuple, with_item


@lowers("store", "stored", "add_at")
def _store(site: BlockLowering, eqn: Eqn) -> nv.Value:
    target, *path, value = eqn.args
    container = site.value(target)
    if isinstance(container, GrowingList) and len(path) == 1:
        return store_in_list(site, eqn, container)
    if isinstance(container, nv.Tuple) and len(path) == 1:
        return store_in_tuple(site, eqn, container)
    if len(path) != 1:
        return _store_in_part(site, eqn, container, path)
    what = site.any_operand(value)
    adds = eqn.op.name == "add_at" and not _is_zero(container)
    view = site.to_write(target, eqn)
    index = site.value(path[0])
    parts = parts_of(index)
    if isinstance(what, nv.Lazy):
        if _placed(site, view, index, what, adds=adds):
            return view
        what = site.computed(what)
    site.write_readers_of(view.root)
    if any(is_index_array(p) for p in parts):
        _scatter(site, eqn, chosen_by_arrays(site, view, parts), what)
        return view
    part = part_of_array(site, view, site.value(path[0]))
    write(site, part, what, adds=adds)
    return view


def _is_zero(container: nv.Value) -> bool:
    """Whether all that an array holds is zero: what is added to it is written to it."""
    zero = isinstance(container, nv.Broadcast) and container.element.expr
    return isinstance(zero, Constant) and zero.value == 0


def _placed(
    site: BlockLowering, view: nv.View, index: nv.Value, what: nv.Lazy, *, adds: bool
) -> bool:
    """Have a pending result written where it belongs at once, where nothing can tell the difference."""
    if any(map(is_index_array, parts_of(index))) or what.code != view.code:
        return False
    if not site.is_used_once(what) or not can_be_placed(what, view.root):
        return False
    part = part_of_array(site, view, index)
    sizes = list(zip(part.dims, what.dims, strict=False))
    if len(part.dims) != len(what.dims) or any((a == nv.ONE) != (b == nv.ONE) for a, b in sizes):
        return False
    for a, b in sizes:
        site.e.must_be_same(a, b, "an array that is written to another shape")
    site.write_into(what, Place(part, adds))
    return True


def _store_in_part(
    site: BlockLowering, eqn: Eqn, container: nv.Value, path: Sequence[Atom]
) -> nv.Value:
    """A write to a row of an array, to an array in a list, or to a field of an item."""
    if isinstance(container, GrowingList) and has_fields(container):
        return store_in_field(site, eqn, container, [site.value(step) for step in path])
    what = site.any_operand(eqn.args[-1])
    if isinstance(what, nv.Lazy):
        what = site.computed(what)
    if isinstance(container, nv.Tuple):
        return _store_in_item(site, eqn, container, path, what)
    steps = [site.value(step) for step in path]
    if isinstance(container, GrowingList):
        for root in container.column.roots():
            site.unit.on_write(root)
        first, *steps = steps
        site.write_all()
        part = item_of_list(site, container, site.as_scalar(first))
    else:
        container = part = site.to_write(eqn.args[0], eqn)
        site.write_all()
    _write_along(site, eqn, part, steps, what)
    return container


def _store_in_item(
    site: BlockLowering,
    eqn: Eqn,
    container: nv.Tuple,
    path: Sequence[Atom],
    what: nv.Scalar | nv.View | nv.Broadcast,
) -> nv.Tuple:
    """An addition to a part of an array that is an item of a cotangent of known length."""
    if eqn.op.name not in OF_DERIVATIVES:
        raise nv.Unlowered("a write to a part of an item")
    k = number_of_item(container, path[0])
    item = None if k is None else container.items[k]
    if k is None or not isinstance(item, (nv.View, nv.Broadcast)):
        steps = [site.value(step) for step in path]
        changed = changed_by_number(site, container, steps, lambda x: added(site, x, what))
        assert isinstance(changed, nv.Tuple)
        return changed
    view = site.writable(site.view(item), eqn)
    site.write_all()
    _write_along(site, eqn, view, [site.value(step) for step in path[1:]], what)
    return with_item(container, k, view)


def _write_along(
    site: BlockLowering,
    eqn: Eqn,
    part: nv.Value,
    steps: Sequence[nv.Value],
    what: nv.Scalar | nv.View | nv.Broadcast,
) -> None:
    """Write to a part of a part, of which the indices are given one by one."""
    for k, step in enumerate(steps):
        if isinstance(step, nv.StaticValue) and isinstance(step.value, Viewed):
            part = _seen_as(site, part, step.value)
            continue
        if isinstance(part, GrowingList) and isinstance(step, nv.Scalar):
            position = wrapped(site, step, length_of(site, part))
            before = item_at(site.e, part, position)
            if k < len(steps) - 1 or (eqn.op.name == "add_at" and isinstance(before, nv.View)):
                part = before
                continue
            if eqn.op.name == "add_at":
                what = site.as_scalar(added(site, before, what))
            part.column.put(site.e, position, what)
            return
        if not isinstance(part, nv.View) or any(map(is_index_array, parts_of(step))):
            raise nv.Unlowered("a write to a part of a part")
        part = part_of_array(site, part, step)
    if not isinstance(part, nv.View):
        raise nv.Unlowered("a write to a part of a part")
    write(site, part, what, adds=eqn.op.name == "add_at")


def _seen_as(site: BlockLowering, part: nv.Value, step: Viewed) -> nv.View:
    """What an op makes of an array in the same memory."""
    given = Var(UNKNOWN)
    site.values[given] = part
    options = {name: Const(value) for name, value in step.options}
    eqn = Eqn((Var(UNKNOWN),), step.op, (given,), options, namespace=step.namespace)
    view = site.lowered(eqn)
    if not isinstance(part, nv.View) or not isinstance(view, nv.View) or view.root is not part.root:
        raise nv.Unlowered("a write through a view that is a copy here")
    return view


@lowers("shares_with")
def _shares_with(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Whether an op gave a view of its operand: what is a copy is left to Python, which warns of writes to it."""
    part, whole = (site.value(atom) for atom in eqn.args)
    if (
        not isinstance(part, nv.View)
        or not isinstance(whole, nv.View)
        or part.root is not whole.root
    ):
        raise nv.Unlowered("a write through a view that is a copy here")
    return nv.Scalar(Constant(True, "b1"), nv.PYTHON)


@lowers("overwrite")
def _overwrite(site: BlockLowering, eqn: Eqn) -> nv.Value:
    x, *path, new = eqn.args
    if path:
        raise nv.Unlowered("a dictionary inside of another object")
    container, items = site.value(x), site.value(new)
    if isinstance(container, GrowingList) and isinstance(items, GrowingList):
        return _overwritten_list(site, container, items)
    what = site.any_operand(new)
    if isinstance(what, nv.Lazy):
        what = site.computed(what)
    view = site.to_write(x, eqn)
    site.write_all()
    write(site, view, what, adds=False)
    return view


def _overwritten_list(
    site: BlockLowering, container: GrowingList, items: GrowingList
) -> GrowingList:
    """A list of numbers with others in the place of all of its items."""
    e = site.e
    if not isinstance(item_at(Emitter(e.names), items, nv.ZERO), nv.Scalar):
        raise nv.Unlowered("a list whose items are all replaced, and are no numbers")
    for root in container.column.roots():
        site.unit.on_write(root)
    site.write_all()
    size = length_of(site, items)
    e.must_be_same(size, length_of(site, container), "a list that gets another length")
    with e.loop(size) as (index, inner):
        container.column.put(inner, index, item_at(inner, items, index))
    return container


def write(
    site: BlockLowering, part: nv.View, what: nv.Scalar | nv.View | nv.Broadcast, *, adds: bool
) -> None:
    """Write a number or an array to part of an array, or add it there."""
    e = site.e
    what = _to_be_written(site, part, what)

    def element(inner: Emitter, indices: tuple[Expr, ...]) -> None:
        found = what.expr if isinstance(what, nv.Scalar) else inner.load(what, indices)
        found = converted(inner, found, part.code)
        if adds:
            found = inner.apply("add", inner.load(part, indices), found)
        inner.store(part, indices, found)

    over(e, part.dims, element)


def _to_be_written(
    site: BlockLowering, part: nv.View, what: nv.Scalar | nv.View | nv.Broadcast
) -> nv.Scalar | nv.View:
    """What is written: a number for all elements, or an array of the shape of where it is written."""
    _must_fit(part, what)
    if isinstance(what, nv.Scalar):
        return what
    if isinstance(what, nv.Broadcast):
        must_spread(site.e, what.dims, part.dims)
        return nv.Scalar(converted(site.e, what.element.expr, what.code), nv.NUMPY)
    return _spread_over(site, part, what)


def _must_fit(part: nv.View, what: nv.Scalar | nv.Array) -> None:
    if not isinstance(what, nv.Scalar) and common_code([what, part]) != part.code:
        raise nv.Unlowered("a write that changes the type of numbers")
    if isinstance(what, nv.Scalar) and part.code in ("i64", "b1") and what.code != part.code:
        raise nv.Unlowered("a write that changes the type of numbers")


def _spread_over(site: BlockLowering, part: nv.View, what: nv.View) -> nv.View:
    """An array with the shape of where it is written; never in the same memory."""
    if what.root is part.root:
        what = site.copied(what)
    spread = spread_value(site, what, part.dims)
    assert isinstance(spread, nv.View)
    return with_axes(spread, part.dims, spread.strides)


def _scatter(
    site: BlockLowering, eqn: Eqn, places: Scattered, what: nv.Scalar | nv.View | nv.Broadcast
) -> None:
    view = places.view
    adds = eqn.op.name == "add_at"
    shape = (
        *view.dims[: places.axis], *places.indices.dims, *view.dims[places.axis + 1 :]
    )  # fmt: skip
    what = _to_be_written(site, nv.View(view.root, view.code, shape, shape, nv.ZERO), what)

    def element(e: Emitter, here: tuple[Expr, ...], there: tuple[Expr, ...]) -> None:
        found = what.expr if isinstance(what, nv.Scalar) else e.load(what, here)
        found = converted(e, found, view.code)
        if adds:
            found = e.apply("add", e.load(view, there), found)
        e.store(view, there, found)

    over_scattered(site, places, element)


@lowers("last_written")
def _last_written(site: BlockLowering, eqn: Eqn) -> nv.Value:
    """Whether each entry of a value that was written with an index is still there: exits if not."""
    view, parts = site.in_memory(eqn.args[0]), parts_of(site.value(eqn.args[1]))
    if any(map(is_index_array, parts)):
        places = chosen_by_arrays(site, view, parts)
        if len(places.indices.dims) != 1:
            raise nv.Unlowered("a write with an array of indices of several axes")
        _must_differ(site, places)
    return nv.Scalar(Constant(1.0, "f64"), nv.PYTHON)


def _must_differ(site: BlockLowering, places: Scattered) -> None:
    e = site.e
    size = places.view.dims[places.axis]
    seen = zeroed(site, (size,), "b1", ())
    inner = site.inside(site.block)
    index = Slot(e.names.fresh("i"), "i64")
    position = nv.Scalar(inner.e.load(places.indices, (index,)), nv.NUMPY)
    at = wrapped(inner, position, size)
    inner.e.exit_if(inner.e.load(seen, (at,)), "an index that names an element twice")
    inner.e.store(seen, (at,), Constant(True, "b1"))
    e.add(For(index, e.let(places.indices.dims[0]), tuple(inner.e.statements)))
