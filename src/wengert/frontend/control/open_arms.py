"""Arms of branches that have left: what follows is read into the other arm, to the end of the block around."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...ir.builder import Builder
from ...ir.graph import Atom, Const, Var, births
from .. import heap as hp
from ..domain.values import Closure, Items, LazyIterable, Maybe, Native, Value
from ..machine.segments import OpenArm, Watched
from .try_regions import Regions

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter
    from .branch import Branch


class Arms(Regions):
    """The arms of branches that have left: open until the block around them ends."""

    def _arm(self, builder: Builder, heap: hp.Heap) -> Branch:
        from .branch import Branch

        return Branch(builder, {}, heap, False)

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
