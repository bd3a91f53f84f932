"""Lists made of other things."""

from __future__ import annotations

from ...ir.graph import Eqn
from ...ir.types import INT
from .columns import Arrays, Growing, Numbers
from .lists import part_of_list, template_of
from .loopform import Assign, For, Slot
from .lowering import Site, described, lowers
from .ranges import SIZE_BITS
from .sequences import growing
from .structure import length_of
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
