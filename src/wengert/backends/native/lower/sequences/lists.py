"""Lists that grow in the program itself."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from .....ir.graph import Var
from .....ir.records import replace
from .....ir.types import BOOL, COMPLEX, FLOAT, INT, NONE, UNKNOWN, Array, Kind, Seq, Static, Struct
from ...form.loopform import CODES, Assign, Code, Constant, Expr, Slot, assigned_in
from ...values import complexes, values as nv
from ...values.emitter import Emitter, Names
from ..lowering import BlockLowering
from .columns import GrowingList, ListsOfOneLength, Undecided
from .mismatches import Loosened, Mismatch
from .sequences import Lists, growing, item_at

KINDS: dict[Code, Kind] = {"f64": FLOAT, "f32": FLOAT, "i64": INT, "b1": BOOL}
"""What a program calls numbers of a type."""


def template_of(kind: Kind, floats: frozenset[int] = nv.OF_DOUBLES) -> nv.Value:
    """An item of a list that is still empty, from what the program says of it.

    `floats` is whose its floats may be.
    """
    match kind:
        case _ if kind == FLOAT:
            return nv.Scalar(Slot("", "f64"), nv.DynamicOwner(Slot("", "i64"), floats))
        case _ if kind in (INT, BOOL):
            return nv.Scalar(Slot("", "i64" if kind == INT else "b1"), nv.PYTHON)
        case _ if kind == COMPLEX:
            return complexes.template()
        case Array(dtype=dtype, rank=int(rank)) if dtype in CODES and rank:
            dims = tuple(Slot("", "i64") for _ in range(rank))
            return nv.View(nv.Root(Slot("", "ptr")), CODES[dtype], dims, dims, nv.integer(0))
        case Struct(
            form="tuple" | "namedtuple" | "dict" | "dataclass" | "object" as form,
            items=items,
            keys=keys,
        ):
            parts = tuple(template_of(item, floats) for item in items)
            return nv.Tuple(parts, form, keys, kind.type)
        case Seq() | Struct(form="list"):
            return growing(Emitter(Names()), template_of(_item_kind(kind), floats), "row")
        case Static(value=str() | None as known):
            return nv.StaticValue(known)
        case _ if kind == NONE:
            return nv.StaticValue(None)
        case _:
            raise nv.Unlowered("a list of items of unknown types")


def in_memory_as_list(site: BlockLowering, value: nv.Tuple) -> GrowingList:
    """A list of numbers of known length, in memory."""
    codes: set[Code] = {item.code for item in value.items}
    if len(codes) != 1:
        raise nv.Unlowered("a write to one of several numbers of different types")
    (code,) = codes
    template = template_of(KINDS[code], site.unit.of_lists)
    made = growing(site.e, template, "items", nv.integer(len(value.items)))
    for k, item in enumerate(value.items):
        made.column.put(site.e, nv.integer(k), item)
    site.e.add(Assign(made.length, nv.integer(len(value.items))))
    return made


def grown(site: BlockLowering, value: nv.Value, var: Var) -> nv.Value:
    """A list of known length as one that can grow, if that is what it is going to do as the value of a variable."""
    if not isinstance(value, nv.Tuple) or value.form != "list" or not isinstance(var.kind, Seq):
        return value
    items = [list_in_list(site, item) for item in value.items]
    lists = next((item for item in items if isinstance(item, GrowingList)), None)
    if lists is not None and any(getattr(item, "count", None) != lists.count for item in items):
        lists = replace(lists, count=None)
    template = lists or _first_item(site, var, var.kind.item)
    made = growing(site.e, template, var.name or "items", None, _is_constant)
    made.key = var
    for k, item in enumerate(items):
        made.column.put(site.e, nv.integer(k), item)
    site.e.add(Assign(made.length, nv.integer(len(value.items))))
    return made


def list_in_list(site: BlockLowering, item: nv.Value) -> nv.Value:
    """An item of a list: one that is a list itself is going to be kept in memory, with all the others."""
    if not isinstance(item, nv.Tuple) or item.form != "list" or not item.items:
        return item
    if not all(isinstance(x, nv.Scalar) for x in item.items):
        raise nv.Unlowered("a list of lists of other things than numbers")
    whole = all(isinstance(x, nv.Scalar) and x.code == "i64" for x in item.items)
    template = template_of(INT if whole else FLOAT, site.unit.of_lists)
    count = nv.integer(len(item.items))
    made = growing(site.e, template, "row", count)
    for k, number in enumerate(item.items):
        made.column.put(site.e, nv.integer(k), number)
    site.e.add(Assign(made.length, count))
    return replace(made, count=count)


def as_item(site: BlockLowering, container: GrowingList, item: nv.Value) -> nv.Value:
    """What is put into a list as an item: into a list of lists, a list in memory."""
    holds_lists = isinstance(container.column, (ListsOfOneLength, Lists))
    return list_in_list(site, item) if holds_lists else item


def _item_kind(kind: Kind) -> Kind:
    """The kind of the numbers in a list of them."""
    match kind:
        case Seq(item=item):
            return item
        case Struct(items=items) if items and all(item == items[0] for item in items):
            return items[0]
        case _:
            return FLOAT


def _is_constant(expr: Expr) -> bool:
    return isinstance(expr, Constant)


def _first_item(site: BlockLowering, var: Var, kind: Kind) -> nv.Value:
    """An item of a list: of one that the program says nothing of, what an attempt before this one has found."""
    if kind != UNKNOWN:
        return template_of(kind, site.unit.of_lists)
    found = site.unit.learned.get(var)
    if found is None:
        return Undecided(var)
    return like_item(found, site.unit.of_lists, loose=var in site.unit.loose)


@contextmanager
def loosening(site: BlockLowering, container: GrowingList) -> Generator[None]:
    """Where a list is given an item: one of another type than those before has the list made for both."""
    try:
        yield
    except Mismatch:
        if container.key is None or container.key in site.unit.loose:
            raise
        raise Loosened(container.key) from None


def like_item(item: nv.Value, floats: frozenset[int], *, loose: bool = False) -> nv.Value:
    """What stands for all items of a list of which one is known; `loose`: integers may be followed by floats."""
    match item:
        case nv.Scalar(code="f64" | "f32"):
            return template_of(FLOAT, floats)
        case nv.Scalar(code="i64", origin=1) if loose:
            return template_of(FLOAT, floats)
        case nv.Scalar(code=code, origin=int(origin)):
            return nv.Scalar(Slot("", code), origin)
        case nv.View(code=code, dims=dims):
            none = tuple(Slot("", "i64") for _ in dims)
            return nv.View(nv.Root(Slot("", "ptr")), code, none, none, nv.ZERO)
        case nv.Tuple() if complexes.is_complex(item) and complexes.is_number(item):
            return complexes.template()
        case nv.Tuple(items=items):
            return replace(item, items=tuple(like_item(i, floats, loose=loose) for i in items))
        case nv.StaticValue():
            return item
        case GrowingList(column=column):
            inner = column.item(Emitter(Names()), nv.ZERO)
            return growing(Emitter(Names()), like_item(inner, floats, loose=loose), "row")
        case _:
            raise nv.Unlowered("a list of items of unknown types")


def part_of_list(
    site: BlockLowering, value: GrowingList, start: Expr, count: Expr, step: Expr
) -> GrowingList:
    """A list of some items of another one."""
    e = site.e
    site.write_all()
    trial = Emitter(e.names)
    template = value.column.item(trial, nv.ZERO)
    if not is_of_numbers(template):
        raise nv.Unlowered("a copy of a list of arrays or lists, which shares them with the first")
    own = set(assigned_in(tuple(trial.statements)))
    room = e.apply("max", count, nv.ONE)
    made = growing(e, template, "part", room, lambda expr: expr not in own)
    with e.loop(count) as (index, inner):
        place = inner.let(nv.plus(start, nv.times(index, step)))
        made.column.put(inner, index, item_at(inner, value, place))
    e.add(Assign(made.length, count))
    return made


def copied_list(site: BlockLowering, value: GrowingList) -> GrowingList:
    """A list of the same numbers."""
    return part_of_list(site, value, nv.ZERO, site.e.variable("length", value.length), nv.ONE)


def has_numbers_alone(item: nv.Value) -> bool:
    """Whether a value is a number, or a record of numbers and of what is known."""
    if isinstance(item, nv.Tuple):
        return all(map(has_numbers_alone, item.items))
    return isinstance(item, (nv.Scalar, nv.StaticValue))


def is_of_numbers(item: nv.Value) -> bool:
    """Whether a value is a number, or a tuple of numbers, which nobody can change."""
    if isinstance(item, nv.Tuple):
        fixed = item.form in ("tuple", "namedtuple")
        return fixed and all(map(is_of_numbers, item.items))
    return isinstance(item, nv.Scalar)


def item_copies(site: BlockLowering, value: GrowingList) -> GrowingList:
    """A list of copies of the items of another, with room for no others."""
    e = site.e
    site.write_all()
    length = e.variable("length", value.length)
    trial = Emitter(e.names)
    template = value.column.item(trial, nv.ZERO)
    own = set(assigned_in(tuple(trial.statements)))
    made = growing(e, template, "copies", e.apply("max", length, nv.ONE), lambda x: x not in own)
    with e.loop(length) as (index, inner):
        made.column.put(inner, index, item_at(inner, value, index))
    e.add(Assign(made.length, length))
    return made
