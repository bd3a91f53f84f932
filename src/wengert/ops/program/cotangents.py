"""Ops that only derivative code uses: cotangents of containers and of calls known at run time."""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.types import UNKNOWN, Array, Kind, Number, Seq, Struct
from ..registry import declare
from ..structure import Args, Params, gradient_kind, item_kind

_PAIR = Struct("tuple", (0, 1), (UNKNOWN, UNKNOWN))


def _like_first(args: Args, params: Params) -> Kind:
    return kind_of_atom(args[0])


def _like_second(args: Args, params: Params) -> Kind:
    return gradient_kind(kind_of_atom(args[1]))


collected_cotangent = declare(
    "collected_cotangent",
    "items_bar, items, *, reverse=False",
    infer=_like_second,
    rt="collected_cotangent",
)
items_reached = declare(
    "items_reached",
    "bar, items_bar, items, *, reverse=False",
    infer=_like_second,
    rt="items_reached",
)
"""What `collected_cotangent` made its result of, in cotangents."""
add_attr = declare(
    "add_attr",
    "buffer, x, value, *, name",
    infer=_like_first,
    fresh=False,
    rt="add_attr",
)
shadow_attr = declare(
    "shadow_attr", "x_bar, x, *, name", infer=lambda a, p: UNKNOWN, fresh=False, rt="shadow_attr"
)
shadow_items = declare(
    "shadow_items",
    "x_bar",
    infer=lambda a, p: Seq(item_kind(kind_of_atom(a[0]))),
    rt="shadow_items",
)
nested_list = declare(
    "nested_list", "x_bar, *, depth, numbers=False", infer=lambda a, p: UNKNOWN, rt="nested_list"
)
"""A cotangent as lists in lists, so deep: where an array was made of them, it is an array."""
rule_pair = declare(
    "rule_pair",
    "returned, *, rule",
    infer=lambda a, p: _PAIR,
    fresh=False,
    effect=True,
    rt="rule_pair",
)
rule_tangent = declare(
    "rule_tangent",
    "returned, *, rule",
    infer=lambda a, p: _PAIR,
    fresh=False,
    effect=True,
    rt="rule_tangent",
)
rule_cotangents = declare(
    "rule_cotangents",
    "returned, *operands, rule=''",
    infer=lambda a, p: UNKNOWN,
    fresh=False,
    effect=True,
    rt="rule_cotangents",
)


def _numeric(args: Args, params: Params) -> Kind:
    kind = kind_of_atom(args[0])
    return kind if isinstance(kind, (Array, Number)) else UNKNOWN


partial_of_row = declare(
    "partial_of_row",
    "partial, *, like, row",
    infer=_numeric,
    fresh=False,
    effect=True,
    rt="partial_of_row",
)
given_by_row = declare(
    "given_by_row",
    "found, *, like, returned, whose",
    infer=_numeric,
    fresh=False,
    effect=True,
    rt="given_by_row",
)
given_by_hook = declare(
    "given_by_hook", "found, *, like", infer=_numeric, fresh=False, effect=True, rt="given_by_hook"
)
as_returned = declare(
    "as_returned", "cotangents, returned", infer=lambda a, p: UNKNOWN, fresh=False, rt="as_returned"
)
cotangents_by_rule = declare(
    "cotangents_by_rule",
    "rule, name, y_bar, *operands",
    infer=lambda a, p: UNKNOWN,
    rt="cotangents_by_rule",
)
tangent_by_rule = declare(
    "tangent_by_rule",
    "rule, name, primals, tangents",
    infer=lambda a, p: UNKNOWN,
    rt="tangent_by_rule",
)
"""Both run a hand-written rule of a function without state, as the nodes of a graph are."""
OF_UNKNOWN = Seq(UNKNOWN)
"""The kind of what the pullback of a function gives that only the run knows."""
pushforward_of = declare(
    "pushforward_of",
    "f, primals, tangents, *, names=()",
    infer=lambda a, p: _PAIR,
    fresh=False,
    effect=True,
    rt="pushforward",
)
basis = declare(
    "basis", "x, unit=1.0", infer=lambda a, p: Seq(gradient_kind(kind_of_atom(a[0]))), rt="basis"
)
