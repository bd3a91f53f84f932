"""The regions of a program that is being read: bodies of `try`, and what their handlers may see."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...ir.graph import Atom, Const, Var
from ...ops.program import may_raise
from .. import heap as hp
from ..domain.values import Items, Value
from ..machine.segments import Group, OpenArm, Region, Segment, State

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter
    from .branch import Branch


class NotAtomic(Exception):
    """A handler could see what is changed before something raises: it is to be read part by part."""

    def __init__(self, segment: Segment):
        super().__init__()
        self.segment = segment


class Regions:
    """The regions that are being read, and what their handlers may see."""

    def __init__(self, it: Interpreter):
        self._it = it
        self._groups: list[Group] = [Group()]
        self.arms: list[OpenArm] = []
        self._quiet = False
        self.regions_read = 0
        """How many there have been so far."""

    @property
    def explicit(self) -> bool:
        """Whether what is read now is read part by part."""
        return bool(self._groups[-1].regions) and not self._quiet

    @property
    def keeps(self) -> bool:
        """Whether a handler of the regions being read looks at what an exception carries."""
        return any(region.keeps for group in self._groups for region in group.regions)

    @contextmanager
    def apart(self) -> Generator[None, None, None]:
        """Read what runs by itself: what it raises is raised by the equation that runs it."""
        depth = len(self._groups)
        self._groups.append(Group())
        try:
            yield
        finally:
            del self._groups[depth:]

    @contextmanager
    def quiet(self) -> Generator[None, None, None]:
        """Emit equations that are no part of the program's own steps."""
        before, self._quiet = self._quiet, True
        try:
            yield
        finally:
            self._quiet = before

    def is_raised(self, heap: hp.Heap | None = None) -> Atom:
        """Whether an exception is on its way to the handlers of the innermost region."""
        regions = self._groups[-1].regions
        return Const(False) if not regions else self.flag_of(regions[-1], heap)

    def has_left(self, arm: Branch) -> bool:
        """Whether an arm certainly ends with an exception on its way to a handler."""
        return self.explicit and not arm.dead and self.is_raised(arm.heap) == Const(True)

    def flag_of(self, region: Region, heap: hp.Heap | None = None) -> Atom:
        value = self._contents(region.flag, heap)
        assert isinstance(value, (Var, Const))
        return value

    def exception_of(self, region: Region) -> Value:
        value = self._contents(region.exception, None)
        assert value is not None
        return value

    def _contents(self, cell: Items, heap: hp.Heap | None) -> Value | None:
        assert cell.place is not None
        content = hp.content_in(self._it.heap if heap is None else heap, cell.place)
        assert isinstance(content, Items)
        return content.values[0] if content.values else None

    def _set(self, heap: hp.Heap, cell: Items, value: Value) -> None:
        assert cell.place is not None
        heap[cell.place] = cell.holding((value,), ("contents",))

    def settle(self, region: Region, *, raised: bool) -> None:
        """From here on it is known whether an exception is on its way."""
        self._set(self._it.heap, region.flag, Const(raised))

    def catches(self, cls: type) -> bool:
        """Whether a handler of the regions that are read part by part may catch an exception that is raised now.

        Raises:
            NotAtomic: one that is read as a whole may.
        """
        if self._quiet:
            return False
        for group in reversed(self._groups):
            if issubclass(cls, tuple(each for region in group.regions for each in region.classes)):
                return group is self._groups[-1]
            if group.inside is not None and issubclass(cls, group.inside.catches):
                raise NotAtomic(group.inside)
        return False

    def may_see(self, raised: may_raise.Classes) -> bool:
        """Whether a handler may run, here or around, after one of some exceptions was raised."""
        if self._quiet:
            return False
        regions = (region for group in self._groups for region in group.regions)
        return any(may_raise.any_related(raised, region.classes) for region in regions)

    def refuse_to_lose(self, holds: bool) -> None:
        """A part of a segment raises an exception whose contents (values, perhaps) a handler looks at."""
        for group in reversed(self._groups):
            if group.regions or group.inside is None:
                return
            if holds and any(region.keeps for region in group.inside.regions):
                raise NotAtomic(group.inside)

    def _state(self) -> State:
        scopes = {id(frame.scope): dict(frame.scope.vars) for frame in self._it.frames}
        return State(scopes, dict(self._it.heap))

    def _has_changed(self, segment: Segment) -> bool:
        """Whether a handler would see that something is not as it was when the segment began."""
        for region in segment.regions:
            scope = region.frame.scope
            before = segment.state.vars(scope)
            if any(scope.vars.get(name) is not before.get(name) for name in region.live):
                return True
        before = segment.state.heap
        return any(
            content is not before.get(place)
            for place, content in self._it.heap.items()
            if place.born <= segment.start
        )
