"""Parts of arguments and global objects that a program does not look at: its derivative asks nothing of them.

In the kind of such an object they are `UNREAD`. The program is read as if nothing were known of them, which is right
for whatever they are; where it turns out to look at one, it is read again with the kind of that part.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain
from typing import Any

from ...ir.graph import Block, Var, walk
from ...ir.records import replace
from ...ir.types import UNKNOWN, UNREAD, Kind, Other, Picked, Seq, Struct
from ...ops.program.drawing import is_any_generator
from ..domain.values import Items, Value

Way = tuple[Any, ...]
"""The way to a part: the name of an input, or who holds a global value and by which name; then keys."""


def with_unknown(kind: Kind) -> Kind:
    """A kind in which nothing is known of the parts that are unread."""
    if kind is UNREAD or is_any_generator(kind):
        return UNKNOWN
    if isinstance(kind, Picked):
        return Seq(with_unknown(kind.item))
    if isinstance(kind, Struct) and has_unread(kind):
        return replace(kind, items=tuple(map(with_unknown, kind.items)))
    return kind


def has_unread(kind: Kind) -> bool:
    """Whether some part of a kind is unread, any list or any generator of a class."""
    if isinstance(kind, Struct):
        return any(map(has_unread, kind.items))
    return kind is UNREAD or isinstance(kind, Picked) or is_any_generator(kind)


def unread_parts(kind: Kind, value: Value, way: Way) -> Iterator[tuple[Var, Way]]:
    """The variables that stand for what is unread in a value of some kind."""
    if kind is UNREAD:
        if isinstance(value, Var):
            yield value, way
    elif isinstance(kind, Struct) and isinstance(value, Items) and value.keys == kind.keys:
        for key, item, inner in zip(kind.keys, kind.items, value.values, strict=True):
            yield from unread_parts(item, inner, (*way, key))


def generators(kind: Kind, value: Value) -> Iterator[tuple[Var, str]]:
    """The variables that stand for any generator of a class, and the name of the class."""
    if isinstance(kind, Other) and isinstance(value, Var) and is_any_generator(kind):
        yield value, kind.name
    elif isinstance(kind, Struct) and isinstance(value, Items) and value.keys == kind.keys:
        for item, inner in zip(kind.items, value.values, strict=True):
            yield from generators(item, inner)


def used(variables: Collection[Var], block: Block) -> set[Var]:
    """Those variables that any equation reads, or any block gives."""
    eqns = walk(block)
    inner = (out for eqn in eqns for each in eqn.blocks for out in each.outs)
    read = (atom for eqn in eqns for atom in eqn.operands())
    return {
        atom
        for atom in chain(read, inner, block.outs)
        if isinstance(atom, Var) and atom in variables
    }
