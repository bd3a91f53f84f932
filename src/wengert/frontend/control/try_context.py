"""What is read inside a `try`: where it may raise, and what follows then.

A *region* is a `try` (or a `with`, or what `finally` protects) while its body is read. The equations of a
region go into *segments*: as many as can stand in one `try` of the IR, since nothing that a handler could
see changes before the last of them that may raise. What follows a segment runs only where it raised
nothing; it is read into an *arm*, which stays open until the block around it ends. Where it did raise,
everything is as it was when the segment began.

What has blocks of its own (a branch, a loop) is read as a part of a segment first. Where a handler could
see something that it changes before it raises, it is read again, its parts in segments of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from ...ir.builder import Builder
from ...ir.graph import UNDEFINED, Atom, Const, Eqn, Var, births
from ...ir.records import replace
from ...ir.renaming import clones, renamed_eqn
from ...ir.types import BOOL, UNKNOWN
from ...ops import structure as st
from ...ops.program import may_raise
from .. import heap as hp
from ..domain.values import Items, Scope, Value
from ..machine.segments import Classes, Group, Marked, Region, Segment, Watched
from ..machine.session import PathRaises
from .open_arms import Arms
from .try_regions import NotAtomic

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter

Read = TypeVar("Read")


class TryContext(Arms):
    """What is read in the regions of an interpreter: its equations in segments."""

    # --- regions --------------------------------------------------------------------------

    @contextmanager
    def region(
        self, classes: Classes, live: frozenset[str], *, keeps: bool
    ) -> Generator[Region, None, None]:
        """Read what is inside as the body of a `try`; it may leave arms open."""
        it, group = self._it, self._groups[-1]
        self.regions_read += 1
        self.close_segment()
        flag = Items("cell", ("contents",), (Const(False),), "raised")
        exception = Items("cell", (), (), "error")
        for cell in (flag, exception):
            hp.put(it, cell, cell)
        depth = len(group.regions)
        region = Region(it.frame, classes, live, keeps, flag, exception, certain=not depth)
        group.regions.append(region)
        try:
            yield region
        finally:
            del group.regions[depth:]

    @contextmanager
    def watching(self) -> Generator[None, None, None]:
        """Read into a builder that sees what may raise."""
        it, outer = self._it, self._it.builder
        if isinstance(outer, Watched):
            yield
            return
        builder = Watched(self, outer.span, derived=outer.derived).within(outer)
        it.builder = builder
        try:
            yield
        finally:
            outer.take(builder)
            it.builder = outer

    def leave(self, exception: Value) -> None:
        """An exception is raised that the program keeps hold of."""
        self.close_segment()
        region = self._groups[-1].regions[-1]
        self._set(self._it.heap, region.flag, Const(True))
        self._set(self._it.heap, region.exception, exception)
        region.certain = False
        raise PathRaises

    # --- equations ------------------------------------------------------------------------

    def before(self, target: Watched, eqn: Eqn) -> Watched:
        """Where an equation goes; what may raise goes into a segment."""
        if self._quiet:
            return target
        raised = may_raise.raises(eqn)
        if not raised:
            return target
        self._check_parts(raised)
        group = self._groups[-1]
        catches = tuple(cls for region in group.regions for cls in region.classes)
        if not may_raise.may_raise(eqn, catches):
            return target
        if group.segment is not None and self._has_changed(group.segment):
            self.close_segment()
        return self._segment().builder

    def _check_parts(self, raised: may_raise.Classes) -> None:
        """See to it that nothing visible has changed in a part of a segment that raises now."""
        for group in reversed(self._groups):
            caught = tuple(cls for region in group.regions for cls in region.classes)
            raised = tuple(cls for cls in raised if not issubclass(cls, caught))
            segment = group.inside
            if segment is None or not raised:
                return
            if may_raise.any_related(raised, segment.catches) and self._has_changed(segment):
                raise NotAtomic(segment)

    def _segment(self) -> Segment:
        """The open segment."""
        group, it = self._groups[-1], self._it
        if group.segment is None:
            outer = it.builder
            assert isinstance(outer, Watched)
            builder = outer.following = outer.child()
            start = next(births)
            group.segment = Segment(outer, builder, tuple(group.regions), self._state(), start)
            it.builder = builder
        return group.segment

    # --- the ends of segments -------------------------------------------------------------

    def close_segment(self) -> None:
        """End the open segment, if there is one; what follows runs where it has raised nothing."""
        group, it = self._groups[-1], self._it
        segment = group.segment
        if segment is None:
            return
        group.segment = None
        outer, eqns = segment.outer, segment.builder.eqns
        outer.following = None
        outer.span = it.builder.span
        it.builder = outer
        with self.quiet():
            if may_raise.any_may_raise(eqns, segment.catches):
                self._emit_try(segment)
            else:
                for eqn in eqns:
                    Builder.append(outer, eqn)  # what is known of it has been noted

    def _emit_try(self, segment: Segment) -> None:
        it, outer = self._it, segment.outer
        region = segment.regions[-1]
        exception, completed = Var(UNKNOWN), Var(BOOL)
        eqns = segment.builder.eqns
        results = [out for eqn in eqns for out in eqn.outs]
        heap = dict(segment.state.heap)
        instead = self._versions_before(segment, heap)
        inside = clones(results)
        renamed = [
            replace(renamed_eqn(eqn, inside), outs=tuple(inside[out] for out in eqn.outs))
            for eqn in eqns
        ]
        body = Builder(outer.span)
        body.eqns = renamed
        block = body.block((), [inside[out] for out in results])
        before = [instead.get(out, UNDEFINED) for out in results]
        outer.span = next((eqn.span for eqn in eqns if eqn.span is not None), outer.span)
        outer.try_(before, segment.catches, block, [exception, *results])
        outer.define(eqns)
        outer.uncertain.update(out for out in results if out not in instead)
        asked = Eqn((completed,), st.is_, (exception, Const(None)), {}, (), "py", outer.span)
        outer.append(asked)
        self._set(heap, region.flag, Const(True))
        self._set(heap, region.exception, exception)
        scopes = {id(frame.scope): self._names_before(segment, frame.scope) for frame in it.frames}
        left = self._arm(outer.child(), heap)
        self._open(left, scopes, completed, segment.state.heap, segment.start, completes=True)

    def _versions_before(self, segment: Segment, heap: hp.Heap) -> dict[Var, Atom]:
        """What run-time objects were before the segment wrote to them; it may have, or not have.

        Afterwards, either way, the object is the result of the `try`; `heap` is told so.
        """
        found: dict[Var, Atom] = {}
        for place, content in self._it.heap.items():
            old = hp.content_in(segment.state.heap, place)
            if place.born <= segment.start and isinstance(content, Var) and content is not old:
                if isinstance(old, Var):
                    found[content] = old
                    heap[place] = content
        return found

    def _names_before(self, segment: Segment, scope: Scope) -> dict[str, Value]:
        """The names where the segment has raised: without those that it has changed and nobody reads."""
        before = dict(segment.state.vars(scope))
        live = [region.live for region in segment.regions if region.frame.scope is scope]
        if live:
            for name in list(before):
                changed = scope.vars.get(name) is not before[name]
                internal = name.startswith("%")
                if changed and not internal and not any(name in each for each in live):
                    del before[name]
        return before

    # --- parts ----------------------------------------------------------------------------

    def whole(self, read: Callable[[], Read]) -> Read:
        """Read what has blocks of its own as a part of a segment; part by part where that cannot be."""
        group, it = self._groups[-1], self._it
        if not group.regions or self._quiet:
            return read()
        if group.segment is not None and self._has_changed(group.segment):
            self.close_segment()
        segment = self._segment()
        mark, depth = it.mark(), len(self._groups)
        self._groups.append(Group(segment))
        try:
            return read()
        except NotAtomic as found:
            if found.segment is not segment:
                raise
            it.return_to(mark)
        finally:
            del self._groups[depth:]
        self.close_segment()
        return read()

    def mark(self) -> Marked:
        """What is open, to return to."""
        groups = [
            (group, len(group.regions), group.segment, _last_before(group.segment))
            for group in self._groups
        ]
        return Marked(len(self.arms), groups)

    def return_to(self, mark: Marked) -> None:
        """Forget what was opened since."""
        del self.arms[mark.arms :], self._groups[len(mark.groups) :]
        for group, regions, segment, last in mark.groups:
            del group.regions[regions:]
            group.segment = segment
            if segment is not None:  # it may have ended since
                segment.outer.forget_after(last)
                segment.outer.following = segment.builder
        builder = self._it.builder
        if isinstance(builder, Watched):
            builder.following = None


def _last_before(segment: Segment | None) -> Eqn | None:
    return segment.outer.eqns[-1] if segment is not None and segment.outer.eqns else None


def new_catching(it: Interpreter) -> TryContext:
    """What catches the exceptions of what is being read: nothing so far."""
    return TryContext(it)
