"""Lists that grow in the program itself."""

from __future__ import annotations

from ...ir.types import BOOL, FLOAT, INT, Array, Kind, Seq, Struct
from .columns import Growing
from .emitter import Emitter
from .loopform import CODES, Assign, Code, Expr, For, Slot, assigned_in
from .lowering import Site
from .sequences import growing, item_at
from .values import (
    OF_DOUBLES,
    ONE,
    PYTHON,
    ZERO,
    Root,
    Scalar,
    Tuple,
    Unlowered,
    Value,
    View,
    Whose,
    integer,
    plus,
    times,
)

KINDS: dict[Code, Kind] = {"f64": FLOAT, "f32": FLOAT, "i64": INT, "b1": BOOL}
"""What a program calls numbers of a type."""


def template_of(kind: Kind, floats: frozenset[int] = OF_DOUBLES) -> Value:
    """An item of a list that is still empty, from what the program says of it.

    `floats` is whose its floats may be.
    """
    match kind:
        case _ if kind == FLOAT:
            return Scalar(Slot("", "f64"), Whose(Slot("", "i64"), floats))
        case _ if kind in (INT, BOOL):
            return Scalar(Slot("", "i64" if kind == INT else "b1"), PYTHON)
        case Array(dtype=dtype, rank=int(rank)) if dtype in CODES and rank:
            dims = tuple(Slot("", "i64") for _ in range(rank))
            return View(Root(Slot("", "ptr")), CODES[dtype], dims, dims, integer(0))
        case Struct(form="tuple", items=items, keys=keys):
            parts = tuple(template_of(item, floats) for item in items)
            return Tuple(parts, "tuple", keys)
        case _:
            raise Unlowered("a list of items of unknown types")


def in_memory_as_list(site: Site, value: Tuple) -> Growing:
    """A list of numbers of known length, in memory."""
    codes: set[Code] = {item.code for item in value.items}
    if len(codes) != 1:
        raise Unlowered("a write to one of several numbers of different types")
    (code,) = codes
    template = template_of(KINDS[code], site.unit.of_lists)
    made = growing(site.e, template, "items", integer(len(value.items)))
    for k, item in enumerate(value.items):
        made.column.put(site.e, integer(k), item)
    site.e.add(Assign(made.length, integer(len(value.items))))
    return made


def grown(site: Site, value: Value, kind: Kind, hint: str) -> Value:
    """A list of known length as one that can grow, if that is what it is going to do."""
    if not isinstance(value, Tuple) or value.form != "list" or not isinstance(kind, Seq):
        return value
    made = growing(site.e, template_of(kind.item, site.unit.of_lists), hint, None)
    for k, item in enumerate(value.items):
        made.column.put(site.e, integer(k), item)
    site.e.add(Assign(made.length, integer(len(value.items))))
    return made


def part_of_list(site: Site, value: Growing, start: Expr, count: Expr, step: Expr) -> Growing:
    """A list of some items of another one."""
    e = site.e
    site.write_all()
    trial = Emitter(e.names)
    template = value.column.item(trial, ZERO)
    if not _is_of_numbers(template):
        raise Unlowered("a copy of a list of arrays or lists, which shares them with the first")
    own = set(assigned_in(tuple(trial.statements)))
    room = e.apply("max", count, ONE)
    made = growing(e, template, "part", room, lambda expr: expr not in own)
    index, inner = Slot(e.names.fresh("k"), "i64"), e.block()
    place = inner.let(plus(start, times(index, step)))
    made.column.put(inner, index, item_at(inner, value, place))
    e.add(For(index, count, tuple(inner.statements)))
    e.add(Assign(made.length, count))
    return made


def _is_of_numbers(item: Value) -> bool:
    if isinstance(item, Tuple):
        return item.form == "tuple" and all(map(_is_of_numbers, item.items))
    return isinstance(item, Scalar)


def array_copies(site: Site, value: Growing) -> Growing:
    """A list of copies of the arrays in another."""
    e = site.e
    site.write_all()
    length = e.variable("length", value.length)
    trial = Emitter(e.names)
    template = value.column.item(trial, ZERO)
    own = set(assigned_in(tuple(trial.statements)))
    made = growing(e, template, "copies", e.apply("max", length, ONE), lambda x: x not in own)
    index, inner = Slot(e.names.fresh("k"), "i64"), e.block()
    made.column.put(inner, index, item_at(inner, value, index))
    e.add(For(index, length, tuple(inner.statements)))
    e.add(Assign(made.length, length))
    return made
