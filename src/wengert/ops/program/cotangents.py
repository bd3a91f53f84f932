"""Ops that only derivative code uses: cotangents of containers and of calls known at run time."""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.types import UNKNOWN, Array, Kind, Number, Seq, Struct
from ..array_kinds import like_first
from ..cotangent_kinds import gradient_kind, like_second
from ..helpers import helper
from ..registry import declare
from ..structure import Args, Params, item_kind

_PAIR = Struct("tuple", (0, 1), (UNKNOWN, UNKNOWN))


collected_cotangent = helper(
    "collected_cotangent", "items_bar, items, *, reverse=False", like_second
)
items_reached = helper("items_reached", "bar, items_bar, items, *, reverse=False", like_second)
"""What `collected_cotangent` made its result of, in cotangents."""
add_attr = helper("add_attr", "buffer, x, value, *, name", like_first, fresh=False)
shadow_attr = helper("shadow_attr", "x_bar, x, *, name", UNKNOWN, fresh=False)
shadow_items = helper("shadow_items", "x_bar", lambda a, p: Seq(item_kind(kind_of_atom(a[0]))))
nested_list = helper("nested_list", "x_bar, *, depth, numbers=False", UNKNOWN)
"""A cotangent as lists in lists, so deep: where an array was made of them, it is an array."""
rule_pair = helper("rule_pair", "returned, *, rule", _PAIR, fresh=False, effect=True)
rule_tangent = helper("rule_tangent", "returned, *, rule", _PAIR, fresh=False, effect=True)
rule_cotangents = helper(
    "rule_cotangents", "returned, *operands, rule=''", UNKNOWN, fresh=False, effect=True
)


def _numeric(args: Args, params: Params) -> Kind:
    kind = kind_of_atom(args[0])
    return kind if isinstance(kind, (Array, Number)) else UNKNOWN


partial_of_row = helper(
    "partial_of_row", "partial, *, like, row", _numeric, fresh=False, effect=True
)
given_by_row = helper(
    "given_by_row", "found, *, like, returned, whose", _numeric, fresh=False, effect=True
)
given_by_hook = helper("given_by_hook", "found, *, like", _numeric, fresh=False, effect=True)
as_returned = helper("as_returned", "cotangents, returned", UNKNOWN, fresh=False)
cotangents_by_rule = helper("cotangents_by_rule", "rule, name, y_bar, *operands", UNKNOWN)
tangent_by_rule = helper("tangent_by_rule", "rule, name, primals, tangents", UNKNOWN)
"""Both run a hand-written rule of a function without state, as the nodes of a graph are."""
OF_UNKNOWN = Seq(UNKNOWN)
"""The kind of what the pullback of a function gives that only the run knows."""
pushforward_of = declare(
    "pushforward_of",
    "f, primals, tangents, *, names=()",
    infer=_PAIR,
    fresh=False,
    effect=True,
    rt="pushforward",
)
basis = helper("basis", "x, unit=1.0", lambda a, p: Seq(gradient_kind(kind_of_atom(a[0]))))
