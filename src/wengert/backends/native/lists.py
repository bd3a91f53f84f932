"""Lists that grow in the program itself."""

from __future__ import annotations

from ...ir.types import BOOL, FLOAT, INT, Array, Kind, Seq, Struct
from .columns import Growing
from .loopform import CODES, Assign, Code, Slot
from .lowering import Site
from .sequences import growing
from .values import (
    PYTHON,
    Root,
    Scalar,
    Tuple,
    Unlowered,
    Value,
    View,
    integer,
)


def template_of(kind: Kind) -> Value:
    """An item of a list that is still empty, from what the program says of it."""
    match kind:
        case _ if kind == FLOAT:
            return Scalar(Slot("", "f64"), Slot("", "i64"))
        case _ if kind in (INT, BOOL):
            return Scalar(Slot("", "i64" if kind == INT else "b1"), PYTHON)
        case Array(dtype=dtype, rank=int(rank)) if dtype in CODES and rank:
            dims = tuple(Slot("", "i64") for _ in range(rank))
            return View(Root(Slot("", "ptr")), CODES[dtype], dims, dims, integer(0))
        case Struct(form="tuple", items=items, keys=keys):
            return Tuple(tuple(map(template_of, items)), "tuple", keys)
        case _:
            raise Unlowered("a list of items of unknown types")


def in_memory_as_list(site: Site, value: Tuple) -> Growing:
    """A list of numbers of known length, in memory."""
    codes = {item.code for item in value.items}
    if len(codes) != 1:
        raise Unlowered("a write to one of several numbers of different types")
    kinds: dict[Code, Kind] = {"f64": FLOAT, "i64": INT, "b1": BOOL}
    (code,) = codes
    if code not in kinds:
        raise Unlowered("a list of floats of 32 bits")
    made = growing(site.e, template_of(kinds[code]), "items", integer(len(value.items)))
    for k, item in enumerate(value.items):
        made.column.put(site.e, integer(k), item)
    site.e.add(Assign(made.length, integer(len(value.items))))
    return made


def grown(site: Site, value: Value, kind: Kind, hint: str) -> Value:
    """A list of known length as one that can grow, if that is what it is going to do."""
    if not isinstance(value, Tuple) or value.form != "list" or not isinstance(kind, Seq):
        return value
    made = growing(site.e, template_of(kind.item), hint, None)
    for k, item in enumerate(value.items):
        made.column.put(site.e, integer(k), item)
    site.e.add(Assign(made.length, integer(len(value.items))))
    return made
