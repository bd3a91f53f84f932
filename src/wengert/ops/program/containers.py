"""Lists and dictionaries that are known only at run time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom
from ...ir.types import INT, UNKNOWN, Kind, Seq, Struct, join
from ..registry import declare, foreign, late_helper
from ..structure import gradient_kind, item_kind


def _item(atom: Atom) -> Kind:
    return item_kind(kind_of_atom(atom))


def _join_items(args: Sequence[Atom], params: Mapping[str, Any]) -> Kind:
    kinds = map(kind_of_atom, args)
    items = [item_kind(kind) for kind in kinds if not (isinstance(kind, Struct) and not kind.items)]
    return Seq(reduce(join, items)) if items else Seq(UNKNOWN)


def _same(args: Sequence[Atom], params: Mapping[str, Any]) -> Kind:
    return Seq(_item(args[0]))


def _cotangent_of(args: Sequence[Atom], params: Mapping[str, Any]) -> Kind:
    return gradient_kind(kind_of_atom(args[1]))


def _flat(args: Sequence[Atom], params: Mapping[str, Any]) -> Kind:
    return Seq(item_kind(_item(args[0])))


join_lists = declare(
    "join_lists", "a, b", infer=_join_items, py="+", implementation=late_helper("join_lists")
)
shallow_copy = declare(
    "shallow_copy",
    "x",
    infer=lambda args, params: kind_of_atom(args[0]),
    rt="shallow_copy",
)
compress = declare("compress", "items, flags", infer=_same, rt="compress", total=False)
spread = declare("spread", "kept, flags", infer=_same, rt="spread")
flatten_lists = declare("flatten_lists", "lists", infer=_flat, rt="flatten_lists", total=False)
split_like = declare("split_like", "flat, lists", infer=_cotangent_of, rt="split_like")
dict_of = declare(
    "dict_of",
    "keys, values",
    infer=lambda args, params: UNKNOWN,
    rt="dict_of",
    total=False,
)
values_at = declare(
    "values_at",
    "mapping, keys",
    infer=lambda args, params: Seq(UNKNOWN),
    rt="values_at",
    total=False,
)
list_cotangent = declare(
    "list_cotangent",
    "items_bar, items",
    infer=_cotangent_of,
    rt="list_cotangent",
)
sorted_order = declare(
    "sorted_order",
    "keys, *, reverse=False",
    infer=lambda args, params: Seq(INT),
    rt="sorted_order",
    total=False,
)
merge_dicts = declare(
    "merge_dicts",
    "a, b",
    infer=lambda args, params: UNKNOWN,
    rt="merge_dicts",
    total=False,
)
entries_of = declare(
    "entries_of",
    "merged, x, others",
    infer=lambda args, params: UNKNOWN,
    rt="entries_of",
)
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
