"""Rules for run-time lists and dictionaries: all of them move items, none computes."""

from __future__ import annotations

from ..ops.program.containers import (
    compress,
    dict_of,
    entries_of,
    flatten_lists,
    join_lists,
    list_cotangent,
    merge_dicts,
    repeated_items,
    shallow_copy,
    sorted_order,
    split_like,
    spread,
    values_at,
)
from ..ops.program.cotangents import nested_list
from ..ops.structure import as_list, as_tuple, getitem, length, slice_
from .forms import linear_rule, zero_rule

linear_rule(
    join_lists,
    transpose=(
        lambda ȳ, a, b: getitem(ȳ, slice_(None, length(a), None)),
        lambda ȳ, a, b: getitem(ȳ, slice_(length(a), None, None)),
    ),
)
linear_rule(compress, transpose=(lambda ȳ, items, flags: spread(ȳ, flags), None))
linear_rule(spread, transpose=(lambda ȳ, kept, flags: compress(ȳ, flags), None))
linear_rule(flatten_lists, transpose=lambda ȳ, lists: split_like(ȳ, lists))
linear_rule(split_like, transpose=(lambda ȳ, flat, lists: flatten_lists(ȳ), None))
linear_rule(dict_of, transpose=(None, lambda ȳ, keys, values: values_at(ȳ, keys, values)))
linear_rule(values_at, transpose=(lambda ȳ, mapping, keys, values: dict_of(keys, ȳ), None, None))
linear_rule(
    merge_dicts,
    transpose=(lambda ȳ, a, b: entries_of(ȳ, a, b), lambda ȳ, a, b: entries_of(ȳ, b, None)),
)
linear_rule(
    entries_of, transpose=(lambda ȳ, merged, x, others: entries_of(ȳ, x, others), None, None)
)
linear_rule(shallow_copy, transpose=lambda ȳ, x: ȳ)
linear_rule(as_list, transpose=lambda ȳ, x: list_cotangent(ȳ, x))
linear_rule(
    nested_list, transpose=lambda ȳ, x_bar, *, depth, numbers=False: list_cotangent(ȳ, x_bar)
)
linear_rule(as_tuple, transpose=lambda ȳ, x: list_cotangent(ȳ, x))
linear_rule(list_cotangent, transpose=(lambda ȳ, items_bar, items: as_list(ȳ), None))
zero_rule(sorted_order, repeated_items)
