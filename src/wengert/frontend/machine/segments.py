"""What a `try` consists of while it is read: its regions, the segments of their equations, the arms that are open.

See `catching`, which puts them together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.builder import Builder
from ...ir.graph import Atom, Eqn, Span, Var
from ...ir.records import field, mutable_record, value_record
from ..domain.values import Items, Scope, Value

if TYPE_CHECKING:
    from ..control.branch import Branch
    from ..control.try_context import TryContext
    from ..heap import Heap
    from .session import Frame

Classes = tuple[type[BaseException], ...]


@mutable_record
class Region:
    """A `try` while its body is read."""

    frame: Frame
    classes: Classes
    """What its handlers could catch."""
    live: frozenset[str]
    """The names of the frame that may be read after an exception."""
    keeps: bool
    """Whether a handler looks at what an exception carries."""
    flag: Items
    """A cell: whether an exception is on its way to the handlers."""
    exception: Items
    """A cell: which."""
    certain: bool
    """Whether it can only be one of `classes`."""


@mutable_record
class State:
    """What names and objects were at some point of the reading."""

    scopes: dict[int, dict[str, Value]]
    heap: Heap

    def vars(self, scope: Scope) -> dict[str, Value]:
        return self.scopes.get(id(scope), {})


@mutable_record
class Segment:
    """Equations that will stand in one `try` of the IR."""

    outer: Watched
    builder: Watched
    regions: tuple[Region, ...]
    state: State
    start: int

    @property
    def catches(self) -> Classes:
        classes = dict.fromkeys(cls for region in self.regions for cls in region.classes)
        return tuple(
            cls
            for cls in classes
            if not any(other is not cls and issubclass(cls, other) for other in classes)
        )


@mutable_record
class Group:
    """Regions around each other, read part by part; `inside` is the segment that they are a part of."""

    inside: Segment | None = None
    regions: list[Region] = field(default_factory=list[Region])
    segment: Segment | None = None


@mutable_record
class OpenArm:
    """A branch one of whose sides has left: everything that follows is read into the other one."""

    outer: Builder
    condition: Atom
    left: Branch
    """The side that has left."""
    scopes: dict[int, dict[str, Value]]
    """The names as they are on the side that has left."""
    heap: Heap
    """The heap before the branch."""
    start: int
    completes: bool
    """Whether the condition says that nothing was raised, rather than that something was."""


@value_record
class Marked:
    """What is open at some point of the reading."""

    arms: int
    groups: list[tuple[Group, int, Segment | None, Eqn | None]]
    """Every group, how many regions it had, its segment and the equation before that."""


class Watched(Builder):
    """The builder of a block inside a region."""

    __slots__ = ("catching", "following", "uncertain")

    def __init__(self, catching: TryContext, span: Span | None, *, derived: bool = False) -> None:
        super().__init__(span, derived=derived)
        self.catching = catching
        self.following: Watched | None = None
        """Where what is appended goes, while a segment or an arm is open."""
        self.uncertain: set[Var] = set()
        """What a segment computes that has been closed: where it has raised, there is none."""

    def child(self) -> Watched:
        return Watched(self.catching, self.span, derived=self.derived).within(self)

    def append(self, eqn: Eqn, *, derived: bool = False) -> None:
        target = self
        while target.following is not None:
            target = target.following
        Builder.append(self.catching.before(target, eqn), eqn, derived=derived)
