"""What the heap says of objects inside others: where they are, and what was written to them."""

from __future__ import annotations

from ...ir.builder import Builder
from ...ir.graph import Atom, Var
from ...ir.records import record
from .values import ObjectId, Value


@record
class Write:
    """A write to a run-time object: which version it made, and where.

    `path` leads to the item that was replaced, or to the container whose items may all have been; `depth`
    says through how many containers. One that `keeps` has taken no item away. `builder` is the block.
    """

    born: int
    depth: int
    path: tuple[Atom, ...]
    keeps: bool
    builder: Builder


@record
class Part:
    """What the heap says of an object that is kept inside a run-time object: where it is."""

    place: ObjectId
    steps: tuple[Atom, ...]


@record
class Held:
    """A value that may be an object or a number, inside a run-time object since some block of the program."""

    value: Var
    part: Part
    whole: ObjectId
    steps: tuple[Atom, ...]
    builder: Builder


@record
class Moved:
    """An object that a statement has put into another place of the container that it is in."""

    source: tuple[Atom, ...]
    goal: tuple[Atom, ...] | None
    """None: something else may be there by now."""

    def content(self, owner: ObjectId) -> Part | Untracked:
        """What the heap says of the object when it is no longer where it was."""
        if self.goal is None:
            return Untracked("its container may refer to something else by now")
        return Part(owner, self.goal)


@record
class Untracked:
    """What the heap says of an object that it can no longer follow: why."""

    reason: str
    start: Value | None = None
    """Of what a solver's function changed, what it held before: the function starts from it wherever it is run."""
    way_out: str = "Change a copy, or return the new value and bind it to a name."
