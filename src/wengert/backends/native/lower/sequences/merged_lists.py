"""Lists that one of two branches makes.

What comes after the branches reads the variables of the first; the second ends by assigning its own to them.
"""

from __future__ import annotations

from collections.abc import Sequence

from .....ir.records import replace
from ...form.loopform import Allocate, Apply, Assign, Constant, Expr, Slot, Statement
from ...values.emitter import Emitter
from ...values.values import ONE, ZERO, Root, Unlowered, Value, View
from ..lowering import BlockLowering
from .columns import (
    Arrays,
    Column,
    Converted,
    GrowingList,
    ListsOfOneLength,
    Numbers,
    NumbersOfAnyOrigin,
    Parts,
    Same,
)
from .lists import copied_list
from .sequences import Lists, RaggedArrays, growing


def merged_list(
    site: BlockLowering, blocks: Sequence[BlockLowering], pair: Sequence[GrowingList]
) -> GrowingList:
    """The list of one branch or the other; one that a branch has not made itself is copied."""
    own = [_own(inner, made) for inner, made in zip(blocks, pair, strict=True)]
    found = _Merge(site.e, blocks[0].e, blocks[1].e).list(*own)
    site.e.owned += found.column.roots()
    return found


def _own(inner: BlockLowering, made: GrowingList) -> GrowingList:
    """A list that a block has made, and hands on."""
    if any(root not in inner.e.owned for root in made.column.roots()):
        made = copied_list(inner, made)
    for root in made.column.roots():
        inner.e.owned.remove(root)
    return made


class _Merge:
    """Two blocks on the way to one set of variables."""

    def __init__(self, around: Emitter, first: Emitter, second: Emitter):
        self.around = around
        self.first = first
        self.second = second

    def list(self, a: GrowingList, b: GrowingList) -> GrowingList:
        column = self.column(a.column, b.column)
        for mine, theirs in ((a.length, b.length), (a.capacity, b.capacity)):
            self.second.add(Assign(mine, theirs))
        return GrowingList(column, a.length, a.capacity, a.count if a.count == b.count else None)

    def column(self, a: Column, b: Column) -> Column:
        """The same part of both lists."""
        match a, b:
            case Numbers(), Numbers():
                return self.numbers(a, b)
            case NumbersOfAnyOrigin(), NumbersOfAnyOrigin():
                values = self.numbers(a.values, b.values)
                origins = self.numbers(a.origins, b.origins)
                return NumbersOfAnyOrigin(values, origins, a.among | b.among)
            case Arrays(), Arrays() if (a.code, len(a.dims)) == (b.code, len(b.dims)):
                self.memory(a, b)
                dims = tuple(self.size(*sizes) for sizes in zip(a.dims, b.dims, strict=True))
                return Arrays(a.root, a.code, dims)
            case RaggedArrays(), RaggedArrays() if len(a.sizes) == len(b.sizes):
                sizes = [self.numbers(*pair) for pair in zip(a.sizes, b.sizes, strict=True)]
                return RaggedArrays(
                    self.numbers(a.starts, b.starts), sizes, self.list(a.flat, b.flat)
                )
            case Lists(), Lists():
                starts, sizes = self.numbers(a.starts, b.starts), self.numbers(a.sizes, b.sizes)
                return Lists(starts, sizes, self.list(a.flat, b.flat))
            case ListsOfOneLength(), ListsOfOneLength():
                return ListsOfOneLength(self.column(a.flat, b.flat), self.size(a.count, b.count))
            case Parts(), Parts() if len(a.columns) == len(b.columns):
                pairs = zip(a.columns, b.columns, strict=True)
                return Parts([self.column(*pair) for pair in pairs], a.template)
            case Converted(), Converted() if a.of_numbers is b.of_numbers:
                return replace(a, column=self.column(a.column, b.column))
            case Same(), Same() if a.value == b.value:
                return a
            case _:
                raise Unlowered("branches that give lists of different types")

    def numbers(self, a: Numbers, b: Numbers) -> Numbers:
        if (a.code, a.origin) != (b.code, b.origin):
            raise Unlowered("branches that give lists of different types")
        self.memory(a, b)
        return replace(a, bits=max(a.bits, b.bits))

    def memory(self, a: Numbers | Arrays, b: Numbers | Arrays) -> None:
        if (a.offset, b.offset) != (ZERO, ZERO):
            raise Unlowered("branches that give parts of lists")
        self.second.add(Assign(a.root.pointer, b.root.pointer))

    def size(self, a: Expr, b: Expr) -> Expr:
        if a == b:
            return a
        merged = self.around.slot("size", "i64")
        self.first.add(Assign(merged, a))
        self.second.add(Assign(merged, b))
        return merged


def nothing_like(e: Emitter, other: GrowingList) -> GrowingList:
    """An empty list, without memory, in the place of one that only the other branch makes."""
    is_known = lambda expr: isinstance(
        expr, Constant
    )  # what the other branch knows is not known here
    inner = e.block()
    made = growing(inner, _hollow_item(e, other.column), "nothing", ONE, is_known)
    e.statements += map(_without_memory, inner.statements)
    e.owned += inner.owned
    return made


def _without_memory(statement: Statement) -> Statement:
    if not isinstance(statement, Allocate):
        return statement
    return Assign(statement.pointer, Apply("pointer", (ZERO,), "ptr"))


def _hollow_item(e: Emitter, column: Column) -> Value:
    match column:
        case Arrays(code=code, dims=dims):
            none = (ZERO,) * len(dims)
            return View(Root(Slot("", "ptr")), code, none, none, ZERO)
        case Parts(columns=columns, template=template):
            return replace(template, items=tuple(_hollow_item(e, each) for each in columns))
        case ListsOfOneLength():
            return replace(column.item(Emitter(e.names), ZERO), count=ZERO)
        case _:
            return column.item(Emitter(e.names), ZERO)
