"""How two values may share memory, and which copies are planned for it."""

from __future__ import annotations

from typing import Any

from ...ir.graph import Block, Eqn, Var
from ...ir.records import field, mutable_record

Place = tuple[Block, int]
"""A block, and the number of an equation in it."""


@mutable_record
class Plan:
    """The copies that writes in place need."""

    copies: set[Eqn] = field(default_factory=set[Eqn])
    """Writes of derivative code that are done on a copy."""
    initials: set[tuple[Eqn, int]] = field(default_factory=set[tuple[Eqn, int]])
    """Loops, and which of what they carry starts as a copy."""
    collected: set[tuple[Eqn, int]] = field(default_factory=set[tuple[Eqn, int]])
    """Loops, and which of their results are collected as snapshots."""
    merged: set[tuple[Eqn, int, int]] = field(default_factory=set[tuple[Eqn, int, int]])
    """Results of branches that end as snapshots: the equation, which result, which branch."""
    handed: set[tuple[Eqn, Var]] = field(default_factory=set[tuple[Eqn, Var]])
    """Calls, and which buffer they are given to add to is a copy: by what comes back of it."""
    taken: set[Eqn] = field(default_factory=set[Eqn])
    """Writes of derivative code that put a copy of a value into a container, which has it already."""
    parted: set[Eqn] = field(default_factory=set[Eqn])
    """Containers that may be made of one object several times: a copy where it is several objects."""
    cuts: dict[Var, Place] = field(default_factory=dict[Var, Place])
    """Values that are read from a snapshot, taken before some equation of their block."""
    writers: dict[Var, set[Place]] = field(default_factory=dict[Var, set[Place]])
    """The writes after which such a value is read from its snapshot: in that equation, or inside of it."""

    def __bool__(self) -> bool:
        return any(self._sets()) or bool(self.cuts)

    def _sets(self) -> tuple[set[Any], ...]:
        found = (self.copies, self.initials, self.collected, self.merged, self.taken, self.parted)
        return (*found, self.handed)

    def size(self) -> int:
        """Greater after every change."""
        cuts = sum(len(block.eqns) + 1 - index for block, index in self.cuts.values())
        return sum(map(len, self._sets())) + cuts

    def cut(self, var: Var, block: Block, index: int, writer: Place) -> None:
        """Say that a value is read from a snapshot, taken before an equation, once a write has been reached."""
        known = self.cuts.get(var)
        if known is None or index < known[1]:
            self.cuts[var] = (block, index)
        self.writers.setdefault(var, set()).add(writer)

    def cut_at(self, block: Block, index: int) -> list[Var]:
        """The values whose snapshot is taken before an equation."""
        return [var for var, place in self.cuts.items() if place == (block, index)]


# How a value is related to another one.
SAME = 1
"""They may be one object, or arrays that share memory."""
AROUND = 2
"""The other may be inside of it."""
INSIDE = 4
"""It may be inside of the other."""
COMMON = 8
"""Something may be inside of both."""
ANY = SAME | AROUND | INSIDE | COMMON

OF_PART = {SAME: INSIDE, AROUND: SAME | AROUND | INSIDE, INSIDE: INSIDE, COMMON: INSIDE | COMMON}
"""How an item of a value is related to another, from how the value itself is."""
OF_OWNER = {SAME: AROUND, AROUND: AROUND, INSIDE: COMMON, COMMON: COMMON}
"""How a value that holds a value is related to another."""
OF_REGROUPED = {SAME: COMMON, AROUND: AROUND, INSIDE: COMMON, COMMON: COMMON}
"""How a new list of the items of a value is related to another."""
UNSURE = {SAME: ANY, AROUND: ANY, INSIDE: INSIDE | COMMON, COMMON: INSIDE | COMMON}
"""The same, if the value may be the other, a view, a part or a new container of its items."""


def mirrored(how: int) -> int:
    """How the other is related to a value, from how that is related to the other."""
    turned = how & (SAME | COMMON)
    turned |= INSIDE if how & AROUND else 0
    return turned | (AROUND if how & INSIDE else 0)


def through(how: int, table: dict[int, int]) -> int:
    """What a relation becomes by a table, bit by bit."""
    result = 0
    for bit, new in table.items():
        if how & bit:
            result |= new
    return result
