"""Lists and dictionaries that are known only at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom
from ...ir.types import INT, UNKNOWN, Kind, Map, Seq, Struct, join, map_of
from ..array_kinds import like_first
from ..cotangent_kinds import like_second
from ..helpers import helper
from ..registry import declare, foreign, late_helper
from ..structure import item_kind, map_of_dicts


def _item(atom: Atom) -> Kind:
    return item_kind(kind_of_atom(atom))


def _join_items(args: Sequence[Atom], params: Mapping[str, Any]) -> Kind:
    kinds = map(kind_of_atom, args)
    items = [item_kind(kind) for kind in kinds if not (isinstance(kind, Struct) and not kind.items)]
    return Seq(reduce(join, items)) if items else Seq(UNKNOWN)


def _same(args: Sequence[Atom], params: Mapping[str, Any]) -> Kind:
    return Seq(_item(args[0]))


def _flat(args: Sequence[Atom], params: Mapping[str, Any]) -> Kind:
    return Seq(item_kind(_item(args[0])))


def _map(args: Sequence[Atom], params: Mapping[str, Any]) -> Kind:
    keys, values = map(kind_of_atom, args)
    return map_of(item_kind(keys), item_kind(values))


def _values(args: Sequence[Atom], params: Mapping[str, Any]) -> Kind:
    kind = kind_of_atom(args[0])
    return Seq(kind.item if isinstance(kind, Map) else UNKNOWN)


def _merged(args: Sequence[Atom], params: Mapping[str, Any]) -> Kind:
    return map_of_dicts(*map(kind_of_atom, args))


join_lists = declare(
    "join_lists", "a, b", infer=_join_items, py="+", implementation=late_helper("join_lists")
)
shallow_copy = helper("shallow_copy", "x", like_first)
compress = helper("compress", "items, flags", _same, total=False)
spread = helper("spread", "kept, flags", _same)
flatten_lists = helper("flatten_lists", "lists", _flat, total=False)
split_like = helper("split_like", "flat, lists", like_second)
dict_of = helper("dict_of", "keys, values", _map, total=False)
values_at = helper("values_at", "mapping, keys, values", _values, total=False)
list_cotangent = helper("list_cotangent", "items_bar, items", like_second)
sorted_order = helper("sorted_order", "keys, *, reverse=False", Seq(INT), total=False)
merge_dicts = helper("merge_dicts", "a, b", _merged, total=False)
entries_of = helper("entries_of", "merged, x, others", UNKNOWN)
repeated_items = declare(
    "repeated_items",
    "items, times",
    infer=_same,
    py="*",
    implementation=lambda items, times: items * times,
)
"""`[0.0] * n` of constants."""

SETS = frozenset((foreign(set), foreign(frozenset)))
"""Python's own, of what they are made of."""
