"""Lists made of other things."""

from __future__ import annotations

from ...ir.graph import Eqn
from ...ir.types import FLOAT, INT
from . import numbers
from .columns import Arrays, Growing, Numbers
from .creation import as_array
from .emitter import Emitter
from .lists import part_of_list, template_of
from .loopform import Assign, For, Slot
from .lowering import Site, described, lowers
from .ranges import SIZE_BITS
from .sequences import growing, item_at
from .structure import elementwise, length_of, over_arrays
from .values import (
    NUMPY,
    ONE,
    PYTHON,
    ZERO,
    Delayed,
    Range,
    Repeated,
    Scalar,
    Tuple,
    Unlowered,
    Value,
    View,
    plus,
    times,
)


@lowers("as_list")
@lowers("as_tuple")
def _as_list(site: Site, eqn: Eqn) -> Value:
    value = site.value(eqn.args[0])
    if isinstance(value, Tuple) and value.form in ("tuple", "list"):
        return Tuple(value.items, "tuple" if eqn.op.name == "as_tuple" else "list", value.keys)
    if isinstance(value, Growing):
        return part_of_list(site, value, ZERO, length_of(site, value), ONE)
    if isinstance(value, Range):
        return _list_of_range(site, value)
    if isinstance(value, View | Delayed | Repeated) and value.dims and eqn.op.name == "as_list":
        return _list_of_array(site, site.in_memory(eqn.args[0]))
    raise Unlowered(f"a list of {described(value)}")


def _list_of_range(site: Site, value: Range) -> Growing:
    e = site.e
    site.write_all()
    made = growing(e, template_of(INT), "numbers", e.apply("max", value.count, ONE))
    index, inner = Slot(e.names.fresh("k"), "i64"), e.block()
    item = inner.let(plus(value.start.expr, times(index, value.step.expr)))
    made.column.put(inner, index, Scalar(item, PYTHON, SIZE_BITS))
    e.add(For(index, value.count, tuple(inner.statements)))
    e.add(Assign(made.length, value.count))
    return made


def _list_of_array(site: Site, view: View) -> Growing:
    """The numbers of a vector, or the rows of an array, which nobody may write to from now on."""
    e = site.e
    site.write_all()
    made = site.copied(view)
    length, room = (e.variable(hint, made.dims[0]) for hint in ("length", "room"))
    if len(made.dims) == 1:
        return Growing(Numbers(made.root, made.code, NUMPY, 64), length, room)
    made.root.stands_in = view.root.stands_in = True  # in Python the rows are parts of the array
    return Growing(Arrays(made.root, made.code, made.dims[1:]), length, room)


@lowers("accumulate")
def _accumulate(site: Site, eqn: Eqn) -> Value:
    """The sum of two cotangents: those of lists are added item by item."""
    values = [site.value(atom) for atom in eqn.args]
    if not any(isinstance(x, Growing) for x in values):
        return elementwise(site, eqn)
    if all(isinstance(x, Growing) and _is_of_numbers(site, x) for x in values):
        return _sum_of_lists(site, *values)
    arrays = [as_array(site, x) if isinstance(x, Growing) else x for x in values]
    if not all(isinstance(x, View | Delayed | Repeated) for x in arrays):
        raise Unlowered("a sum of lists of anything but numbers and arrays")
    return over_arrays(site, "add", arrays)


def _is_of_numbers(site: Site, value: Growing) -> bool:
    return isinstance(item_at(Emitter(site.e.names), value, ZERO), Scalar)


def _sum_of_lists(site: Site, a: Growing, b: Growing) -> Growing:
    """Two cotangents of a list of numbers, added item by item."""
    e = site.e
    site.write_all()
    count = length_of(site, a)
    e.must_be_same(count, length_of(site, b), "cotangents of lists of different lengths")
    made = growing(e, template_of(FLOAT, site.unit.of_lists), "bars", e.apply("max", count, ONE))
    index, inner = Slot(e.names.fresh("k"), "i64"), e.block()
    items = [item_at(inner, x, index) for x in (a, b)]
    if not all(isinstance(item, Scalar) for item in items):
        raise Unlowered("a sum of lists of anything but numbers")
    made.column.put(inner, index, numbers.compute(inner, "add", "py", items))
    e.add(For(index, count, tuple(inner.statements)))
    e.add(Assign(made.length, count))
    return made
