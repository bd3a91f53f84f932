"""Cotangents of lists, which may be arrays: of what arrays were made of."""

from __future__ import annotations

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Const
from ...ir.types import Array, Kind, Number, Seq
from ...ops import structure as st
from ...ops.cotangent_kinds import gradient_kind
from ...ops.program import cotangents as ct


def as_items(builder: Builder, bar: Atom, kind: Seq) -> Atom:
    """The cotangent of a list as a list: where an array was made of the list, it is an array."""
    if isinstance(kind_of_atom(bar), Seq):
        return bar
    return (
        builder.emit(st.as_list, bar)
        if depth_of_lists(kind) == 1
        else nested_items(builder, bar, kind)
    )


def nested_items(builder: Builder, bar: Atom, kind: Seq, *, unbound: bool = False) -> Atom:
    """The same, where there may be none; `unbound` says that there may be none of an item, too."""
    params: dict[str, Atom] = {"depth": Const(depth_of_lists(kind))}
    if unbound and holds_numbers(kind):
        params["numbers"] = Const(True)
    return builder.emit_with(ct.nested_list, [bar], params)


def holds_numbers(kind: Kind) -> bool:
    """Whether what lists in lists hold are numbers or arrays."""
    bar = gradient_kind(kind)
    return holds_numbers(bar.item) if isinstance(bar, Seq) else isinstance(bar, (Number, Array))


def depth_of_lists(kind: Kind) -> int:
    """How many lists are in one another in the cotangent of a value."""
    bar = gradient_kind(kind)
    return 1 + depth_of_lists(bar.item) if isinstance(bar, Seq) else 0
