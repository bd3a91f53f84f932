"""When the loop nests of array expressions are written down."""

from __future__ import annotations

from ....ir.graph import Block, Var
from ..values.emitter import Emitter
from ..values.values import Lazy, Root, Scalar, Value, View
from . import nests
from .groups import Group, Place, reads
from .memory import Memory


class Pending(Memory):
    """A block with loop nests that are not written down yet: `pending`, in order."""

    def __init__(
        self, e: Emitter, values: dict[Var, Value], block: Block, destinations: dict[Var, View]
    ):
        super().__init__(e, values, block, destinations)
        self.pending: list[Group] = []

    def computed(self, value: Lazy) -> View | Scalar:
        """A pending result, computed."""
        if value.result is None:
            value.is_demanded = True
            self.write(value.group)
        assert value.result is not None
        return value.result

    def write(self, group: Group) -> None:
        """Write a loop nest down, and those before it."""
        while group in self.pending:
            nests.write(self, self.pending.pop(0))

    def write_into(self, delayed: Lazy, place: Place) -> None:
        """Write a pending result to a place, after what is pending and reads the same memory."""
        self.write_readers_of(place.part.root)
        delayed.place = place
        delayed.is_demanded = True
        self.write(delayed.group)

    def write_readers_of(self, root: Root) -> None:
        """Write the loop nests down that read a piece of memory: what comes next writes to it."""
        for group in [group for group in self.pending if reads(group, root)]:
            self.pending.remove(group)
            nests.write(self, group)

    def write_all(self) -> None:
        """Write all loop nests down: what comes next may write to what they read."""
        while self.pending:
            nests.write(self, self.pending.pop(0))
