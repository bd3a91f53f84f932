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

from collections.abc import Callable, Generator, Mapping, Sequence
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
from ..domain.values import Closure, Items, LazyIterable, Maybe, Native, Scope, Value
from ..machine.protocol import operation
from ..machine.segments import Classes, Group, Marked, OpenArm, Region, Segment, State, Watched
from ..machine.session import PathRaises

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter
    from .branch import Branch

Read = TypeVar("Read")


class NotAtomic(Exception):
    """A handler could see what is changed before something raises: it is to be read part by part."""

    def __init__(self, segment: Segment):
        super().__init__()
        self.segment = segment


class TryContext:
    """The regions that an interpreter is reading."""

    def __init__(self, it: Interpreter):
        self._it = it
        self._groups: list[Group] = [Group()]
        self.arms: list[OpenArm] = []
        self._quiet = False

    @property
    def explicit(self) -> bool:
        """Whether what is read now is read part by part."""
        return bool(self._groups[-1].regions) and not self._quiet

    @property
    def keeps(self) -> bool:
        """Whether a handler of the regions being read looks at what an exception carries."""
        return any(region.keeps for group in self._groups for region in group.regions)

    # --- regions --------------------------------------------------------------------------

    @contextmanager
    def region(
        self, classes: Classes, live: frozenset[str], *, keeps: bool
    ) -> Generator[Region, None, None]:
        """Read what is inside as the body of a `try`; it may leave arms open."""
        it, group = self._it, self._groups[-1]
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

    def leave(self, exception: Value) -> None:
        """An exception is raised that the program keeps hold of."""
        self.close_segment()
        region = self._groups[-1].regions[-1]
        self._set(self._it.heap, region.flag, Const(True))
        self._set(self._it.heap, region.exception, exception)
        region.certain = False
        raise PathRaises

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

    def refuse_to_lose(self, holds: bool) -> None:
        """A part of a segment raises an exception whose contents (values, perhaps) a handler looks at."""
        for group in reversed(self._groups):
            if group.regions or group.inside is None:
                return
            if holds and any(region.keeps for region in group.inside.regions):
                raise NotAtomic(group.inside)

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

    def _arm(self, builder: Builder, heap: hp.Heap) -> Branch:
        from .branch import Branch

        return Branch(builder, {}, heap, False)

    # --- open arms ------------------------------------------------------------------------

    def _open(
        self,
        left: Branch,
        scopes: dict[int, dict[str, Value]],
        condition: Atom,
        heap: hp.Heap,
        start: int,
        *,
        completes: bool,
    ) -> None:
        """Read what follows into the side of a branch that has not left."""
        it = self._it
        outer = it.builder
        assert isinstance(outer, Watched)
        self.arms.append(OpenArm(outer, condition, left, scopes, heap, start, completes))
        it.builder = outer.following = outer.child()

    def go_on_in(
        self, condition: Atom, arms: list[Branch], left: int, heap: hp.Heap, start: int
    ) -> None:
        """One arm of a branch has left: what follows the branch belongs to the other one."""
        it = self._it
        self.merge_open(arms[left])
        scopes = self._state().scopes
        scopes[id(it.frame.scope)] = arms[left].vars
        outer, right = it.builder, arms[1 - left]
        assert isinstance(outer, Watched)
        assert isinstance(right.builder, Watched)
        inner = right.open[0].outer if right.open else right.builder
        assert isinstance(inner, Watched)
        outer.following = inner
        opened = OpenArm(outer, condition, arms[left], scopes, heap, start, completes=left == 1)
        self.arms += [opened, *right.open]
        it.builder = right.builder
        it.frame.scope.vars, it.heap = right.vars, right.heap

    def take_open(self, level: int) -> list[OpenArm]:
        """The arms that were opened since there were `level` of them: they stay open elsewhere."""
        taken = self.arms[level:]
        del self.arms[level:]
        return taken

    def merge_open(self, arm: Branch) -> None:
        """End the arms that are open in one side of a branch."""
        if not arm.open:
            return
        it, level = self._it, len(self.arms)
        outer, names, heap = it.builder, it.frame.scope.vars, it.heap
        it.builder, it.frame.scope.vars, it.heap = arm.builder, arm.vars, arm.heap
        self.arms += arm.open
        arm.dead = self.close(level, dead=arm.dead)
        arm.builder, arm.vars, arm.heap, arm.open = it.builder, it.vars, it.heap, []
        it.builder, it.frame.scope.vars, it.heap = outer, names, heap

    def after_blocks(self, ends: Sequence[Mapping[str, Value]] = ()) -> None:
        """After a branch or a loop that may have left: what follows runs where it has not.

        `ends` are the names at the ends of its paths that have not.
        """
        flag = self.is_raised()
        if not isinstance(flag, Var) or self._quiet:
            return
        region = self._groups[-1].regions[-1]
        heap = dict(self._it.heap)
        self._set(heap, region.flag, Const(True))
        left = self._arm(self._it.builder.child(), heap)
        self._open(left, self._state().scopes, flag, heap, next(births), completes=False)
        self.settle(region, raised=False)
        if ends:
            see(self._it, ends)

    def close(self, level: int, *, dead: bool = False) -> bool:
        """End the arms that were opened since there were `level` of them.

        Args:
            level: how many arms were open.
            dead: whether the path being read never comes back.

        Returns:
            Whether none of the paths that were read comes back.
        """
        while len(self.arms) > level:
            self.merge_last(dead=dead)
            dead = False
        return dead

    def take_last(self, *, dead: bool) -> tuple[OpenArm, list[Branch]]:
        """The arm that was opened last, and both sides of its branch, the condition's first."""
        from .branch import Branch

        it, opened = self._it, self.arms.pop()
        right = Branch(it.builder, it.vars, it.heap, dead)
        left = opened.left
        left.vars = opened.scopes.get(id(it.frame.scope), left.vars)
        outer = opened.outer
        if isinstance(outer, Watched):
            outer.following = None
        outer.span = it.builder.span
        it.builder = outer
        return opened, [right, left] if opened.completes else [left, right]

    def merge_last(self, *, dead: bool) -> None:
        opened, arms = self.take_last(dead=dead)
        with self.quiet():
            self._it.merge_arms(opened.condition, arms, opened.heap, opened.start)

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


def see(it: Interpreter, paths: Sequence[Mapping[str, Value]]) -> None:
    """See the names as they are at the end of some of the paths that were merged."""
    for name, value in list(it.vars.items()):
        found = [path.get(name) for path in paths]
        first, *others = found
        if any(isinstance(each, Items) and each.form == "cell" for each in (value, *found)):
            continue
        if all(each is None for each in found):
            del it.vars[name]
        elif isinstance(first, (Const, Closure, Native, LazyIterable)) and all(
            other is first or (isinstance(first, Const) and other == first) for other in others
        ):
            it.vars[name] = first
        elif isinstance(value, Maybe) and not any(
            each is None or isinstance(each, Maybe) for each in found
        ):
            it.vars[name] = value.value


@operation("new_catching")
def new_catching(it: Interpreter) -> TryContext:
    """What catches the exceptions of what is being read: nothing so far."""
    return TryContext(it)
