"""The items of lists one after the other, as in `[x, y] * n`, and the cotangents of such a list, list by list."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.graph import Atom, Eqn
from ..form.loopform import Apply, Assign, Expr
from ..lower.lowering import BlockLowering, lowers
from ..lower.sequences.columns import GrowingList, ListsOfOneLength, Parts
from ..lower.sequences.lists import like_item
from ..lower.sequences.sequences import growing, item_at, push
from ..lower.structure import length_of
from ..values import values as nv
from ..values.emitter import Emitter


@lowers("flatten_lists")
def _flatten(site: BlockLowering, eqn: Eqn) -> GrowingList:
    lists = _lists(site, eqn.args[0])
    e = site.e
    site.write_all()
    trial = Emitter(e.names)
    first = _first_of(trial, item_at(trial, lists, nv.ZERO))
    made = growing(e, like_item(first, site.unit.of_lists), "items")
    with e.loop(length_of(site, lists)) as (index, inner):
        _push_items(inner, made, item_at(inner, lists, index))
    return made


def _lists(site: BlockLowering, atom: Atom) -> GrowingList:
    value = site.value(atom)
    if not isinstance(value, GrowingList):
        raise nv.Unlowered(f"the items of lists in {nv.described(value)}")
    return value


def _first_of(e: Emitter, items: nv.Value) -> nv.Value:
    match items:
        case GrowingList():
            return item_at(e, items, nv.ZERO)
        case nv.Tuple(items=[first, *_]):
            return first
        case _:
            raise nv.Unlowered("lists of lists that are empty, or no lists")


def _push_items(e: Emitter, made: GrowingList, items: nv.Value) -> None:
    if isinstance(items, nv.Tuple):
        for item in items.items:
            push(e, made, item)
    elif isinstance(items, GrowingList):
        with e.loop(items.length, "j") as (index, inner):
            push(inner, made, item_at(inner, items, index))


@lowers("split_like")
def _split(site: BlockLowering, eqn: Eqn) -> GrowingList:
    """Lists that are as long as those which were put together; they have one length."""
    flat, lists = (_lists(site, atom) for atom in eqn.args)
    e = site.e
    site.write_all()
    count = length_of(site, lists)
    match lists.column:
        case Parts(columns=parts):
            size: Expr = nv.integer(len(parts))
        case ListsOfOneLength(count=size):
            pass
        case _:
            raise nv.Unlowered("cotangents of lists of several lengths")
    total = e.let(nv.times(count, size))
    e.must_be_same(length_of(site, flat), total, "cotangents of lists of other lengths")
    if isinstance(lists.column, ListsOfOneLength):
        length = e.variable("length", count)
        return GrowingList(ListsOfOneLength(flat.column, size), length, length)
    return _rows(site, flat, count, len(lists.column.columns))


def _rows(site: BlockLowering, flat: GrowingList, count: Expr, size: int) -> GrowingList:
    e = site.e
    like = like_item(item_at(Emitter(e.names), flat, nv.ZERO), site.unit.of_lists)
    row = nv.Tuple((like,) * size, "list", tuple(range(size)))
    made = growing(e, row, "rows", e.apply("max", count, nv.ONE))
    with e.loop(count) as (index, inner):
        places = [
            inner.let(nv.plus(nv.times(index, nv.integer(size)), nv.integer(j)))
            for j in range(size)
        ]
        items: Sequence[nv.Value] = [item_at(inner, flat, place) for place in places]
        if not all(isinstance(item, nv.Scalar) for item in items):
            raise nv.Unlowered("cotangents of lists of other things than numbers")
        made.column.put(inner, index, nv.Tuple(tuple(items), "list", tuple(range(size))))
    e.add(Assign(made.length, Apply("add", (count, nv.ZERO), "i64")))
    return made
