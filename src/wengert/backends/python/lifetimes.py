"""From single assignment back to variables: which values can live under one name.

Every printed step gets a position. A value is alive from its definition to its last use; a value
from outside of a loop that the loop uses, until the loop ends. Values that a loop or branch hands
on (a loop variable and its next value, the two results of an `if`) want one name and get it where
their lifetimes do not meet; where they do, the printer assigns one to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...ir.graph import Atom, Block, Eqn, Var
from ...ir.records import field, mutable_record
from .folding import MUTATING, Folding, hint
from .names import Lifetime, Names
from .needs import Loop, Needs, answer


@mutable_record
class _Region:
    """A loop or a branch around the current position."""

    is_loop: bool
    enter: int
    """The position in the surrounding block where the region is entered."""
    start: int
    outside: dict[Var, None] = field(default_factory=dict[Var, None])
    """For a loop, the values from outside that it uses."""


class Lifetimes:
    """Positions and lifetimes of one function's values, and the pairs that want one name."""

    def __init__(self, needs: Needs, folding: Folding):
        self.same: list[tuple[Var, Var]] = []
        """Pairs that must share a name."""
        self.alike: list[tuple[Var, Var]] = []
        """Pairs that save an assignment if they share a name."""
        self.late_stops: dict[Eqn, Var] = {}
        """A loop's stop condition, where it must be saved from the loop's assignments."""
        self.caught: dict[Eqn, Var] = {}
        """What the exception of a `try` is called where it is caught: Python forgets that name."""
        self._forgotten: dict[Eqn, Var] = {}
        """The exceptions whose names Python forgets after a branch."""
        self.hints: dict[Var, str] = {}
        """Names for values without one."""
        self.order: dict[Var, None] = {}
        self._needs = needs
        self._folding = folding
        self._now = 0
        self._regions: list[_Region] = []
        self._depth: dict[Var, int] = {}
        self._start: dict[Var, int] = {}
        self._stretches: dict[Var, dict[int, int]] = {}

    def inputs(self, variables: Iterable[Var]) -> None:
        """The function's parameters."""
        for var in variables:
            self._define(var, self._now)
        self._now += 1

    def unpacked(self, variables: Iterable[Var]) -> None:
        """Values taken out of the parameters before the body begins."""
        self._now += 1
        for var in variables:
            self._define(var, self._now)
        self._now += 1

    def body(self, block: Block) -> None:
        """The function's body and what it returns."""
        self._block(block)
        self._read(block.outs, self._now)
        self._now += 1

    def lifetime(self, var: Var) -> Lifetime:
        return Lifetime(self._stretches[var].items())

    @property
    def end(self) -> int:
        return self._now

    # --- marks ----------------------------------------------------------------------------

    def _define(self, var: Var, at: int) -> None:
        self.order[var] = None
        self._depth[var] = len(self._regions)
        self._start[var] = at
        self._stretch(var, at, at)

    def _stretch(self, var: Var, start: int, end: int) -> None:
        stretches = self._stretches.setdefault(var, {})
        stretches[start] = max(stretches.get(start, end), end)

    def _read(self, atoms: Iterable[Atom], at: int) -> None:
        for var in self._folding.leaves(atoms):
            self._use(var, at)

    def _use(self, var: Var, at: int) -> None:
        inside = self._regions[self._depth[var] :]
        start = self._start[var]
        for region in inside:
            if region.is_loop:
                region.outside[var] = None
                return
            self._stretch(var, start, region.enter)
            start = region.start
        self._stretch(var, start, at)

    # --- the walk -------------------------------------------------------------------------

    def _block(self, block: Block, appended: frozenset[Var] = frozenset()) -> None:
        for eqn in block.eqns:
            if eqn.op.name == "comment" or eqn in self._needs.dropped:
                continue
            if len(eqn.outs) == 1 and eqn.outs[0] in self._folding.folded:
                continue
            if eqn.op.name == "if" and eqn not in self._folding.conditionals:
                self._if(eqn)
            elif eqn.op.name == "try":
                self._try(eqn)
            elif eqn in self._needs.with_try:
                continue
            elif eqn in self._needs.loops:
                self._loop(self._needs.loops[eqn])
            else:
                self._step(eqn)
            self._now += 1
            self._read((v for v in self._needs.outs_after(eqn) if v in appended), self._now)
            self._now += 1

    def _step(self, eqn: Eqn) -> None:
        self._read(self._folding.operands(eqn), self._now)
        self._now += 1
        for out in eqn.outs:
            if self._needs.assigned(eqn, out) and out not in self._folding.appended:
                self._define(out, self._now)
        mutating = eqn.op.name in MUTATING and self._needs.assigned(eqn, eqn.outs[0])
        if mutating and isinstance(eqn.args[0], Var):
            self.same.append((eqn.outs[0], eqn.args[0]))

    def _try(self, eqn: Eqn) -> None:
        exception, *outs = eqn.outs
        (body,) = eqn.blocks
        start = enter = self._now
        self._now += 1
        self._regions.append(_Region(False, enter, self._now))
        self._block(body)
        copies = list(self._needs.copies(outs, body.outs))
        self._read((source for _, source in copies), self._now)
        self._regions.pop()
        self._now += 1
        completed = self._now
        instead = list(self._needs.copies(outs, eqn.args))
        self._read((source for _, source in instead), self._now + 1)
        self._now += 2
        if exception in self._needs.values:
            self.hints[exception] = hint(exception) or "error"
            if eqn in self._needs.only_handled:
                self._define(exception, completed)
            else:
                self._define(exception, start)
                caught = self.caught[eqn] = Var(name="caught")
                self._define(caught, completed)
                self._use(caught, self._now)
        for out in outs:
            if out in self._needs.values:
                self._define(out, self._now)
                self._stretch(out, completed, completed)
        self._want(copies)
        self._want(instead)
        branch = self._needs.caught[eqn].branch
        if eqn in self._needs.only_handled and branch is not None:
            self._forgotten[branch] = exception
        for ask in self._needs.caught[eqn].asks:
            if ask.outs[0] in self._needs.values:
                self._define(ask.outs[0], self._now)
                name = "raised" if answer(ask, raised=True) else "completed"
                self.hints[ask.outs[0]] = hint(ask.outs[0]) or name

    def _if(self, eqn: Eqn) -> None:
        if eqn not in self._needs.with_try:
            self._read(eqn.args, self._now)
        enter, assigned = self._now, list[int]()
        for block in eqn.blocks:
            self._now += 1
            self._regions.append(_Region(False, enter, self._now))
            self._block(block)
            copies = list(self._needs.copies(eqn.outs, block.outs))
            self._read((source for _, source in copies), self._now)
            self._regions.pop()
            self._now += 1
            assigned.append(self._now)
        for out in eqn.outs:
            if out in self._needs.values:
                self._define(out, assigned[1])
                self._stretch(out, assigned[0], assigned[0])
        if eqn in self._forgotten and self._forgotten[eqn] in self._needs.values:
            self._use(self._forgotten[eqn], self._now)  # nothing may take over its name
        for block in eqn.blocks:
            self._want(self._needs.copies(eqn.outs, block.outs))

    def _want(self, copies: Iterable[tuple[Var, Atom]]) -> None:
        for target, source in copies:
            if isinstance(source, Var) and source not in self._folding.folded:
                self.alike.append((target, source))

    def _loop(self, loop: Loop) -> None:
        initials = list(self._needs.copies(loop.outs, loop.initials))
        self._read((source for _, source in initials), self._now)
        entered = self._now + 1
        self._read(loop.iterables, self._now + 2)
        self._now += 3
        region = _Region(True, self._now, self._now)
        self._regions.append(region)
        slots = [k for k, out in enumerate(loop.outs) if out in self._needs.values]
        self._test(loop, slots, entered)
        self._body(loop, slots, entered)
        assigned = self._now
        self._assign_stop(loop)
        self._now += 2
        self._regions.pop()
        for k in slots:
            self._define(loop.outs[k], assigned)
            self._stretch(loop.outs[k], assigned, self._now)
            self.same += ((loop.outs[k], param) for param in loop.params[k])
        for out, atom in loop.collected:
            if out in self._needs.values:
                self._define(out, entered)
                self._stretch(out, entered, self._now)
                self.hints[out] = hint(out) or _plural(atom)
        for var in region.outside:
            self._use(var, self._now)
        self._want(self._needs.copies(loop.outs, loop.results))
        self._want(initials)

    def _test(self, loop: Loop, slots: Sequence[int], entered: int) -> None:
        for number, block in enumerate(loop.eqn.blocks[:-1]):
            for k in slots:
                self._define(loop.params[k][number], entered)
            self._block(block)
            self._read(block.outs, self._now)
            for k in slots:
                # whatever the test does, the loop's variables outlive it
                self._stretch(loop.params[k][number], entered, self._now)
            self._now += 1

    def _body(self, loop: Loop, slots: Sequence[int], entered: int) -> None:
        start = entered if len(loop.eqn.blocks) == 1 else self._now
        for k in slots:
            self._define(loop.params[k][-1], start)
        for item in loop.items:
            if item in self._needs.values:
                self._define(item, self._now)
        self._now += 1
        collected = [atom for out, atom in loop.collected if out in self._needs.values]
        inside = {out for eqn in loop.body.eqns for out in eqn.outs}
        early = [a for a in collected if not isinstance(a, Var) or a not in inside]
        self._read(early, self._now)
        self._now += 1
        later = frozenset(a for a in collected if isinstance(a, Var) and a in inside)
        self._block(loop.body, later - self._folding.appended)
        self._read((s for _, s in self._needs.copies(loop.outs, loop.results)), self._now)
        if loop.stop is not None and loop.stop in self._old_values(loop):
            self._read([loop.stop], self._now)
        self._now += 1

    def _assign_stop(self, loop: Loop) -> None:
        """The condition is tested after the loop's variables have been assigned."""
        if loop.stop is None:
            return
        if loop.stop in self._old_values(loop):
            saved = self.late_stops[loop.eqn] = Var(name="stop")
            self._define(saved, self._now)
            self._use(saved, self._now + 1)
        else:
            following = self.following_values(loop)
            for var in self._folding.leaves([loop.stop]):
                if var not in following:
                    self._use(var, self._now + 1)

    def following_values(self, loop: Loop) -> dict[Var, Var]:
        """What a loop hands on to its next iteration: after the assignments it is in the slot."""
        copies = self._needs.copies(loop.outs, loop.results)
        return {source: out for out, source in copies if isinstance(source, Var)}

    def _old_values(self, loop: Loop) -> set[Atom]:
        return {param for params in loop.params for param in params}


def _plural(atom: Atom) -> str:
    name = hint(atom) if isinstance(atom, Var) else ""
    return f"{name}s" if name and not name.endswith("s") else "saved"


def assign_names(lifetimes: Lifetimes, names: Names, fixed: Mapping[Var, str]) -> dict[Var, str]:
    """A name for every value that has one; values that share it are never alive together.

    `fixed` are the names that parameters have.
    """
    groups = _Groups(lifetimes, fixed)
    for a, b in lifetimes.same:
        if groups.knows(a) and groups.knows(b):  # a global is read by its own name
            groups.merge(a, b)
    for a, b in sorted(lifetimes.alike, key=lambda pair: hint(pair[0]) != hint(pair[1])):
        if not hint(a) or not hint(b) or hint(a) == hint(b):
            groups.merge(a, b, alike=True)
    result: dict[Var, str] = {}
    for var in fixed:
        names.fix(groups.name_of(var), groups.lifetime[groups.find(var)])
    for var in lifetimes.order:
        group = groups.find(var)
        if group not in result:
            name = groups.fixed.get(group)
            result[group] = name or names.give(groups.hint[group], groups.lifetime[group])
        result[var] = result[group]
    return result


class _Groups:
    """Sets of values that share a name, as a union-find."""

    def __init__(self, lifetimes: Lifetimes, fixed: Mapping[Var, str]):
        self._parent: dict[Var, Var] = {var: var for var in lifetimes.order}
        self.lifetime = {var: lifetimes.lifetime(var) for var in lifetimes.order}
        self.hint = {var: lifetimes.hints.get(var) or hint(var) for var in lifetimes.order}
        self.fixed = dict(fixed)

    def knows(self, var: Var) -> bool:
        """Whether a value has a name of its own in the function."""
        return var in self._parent

    def find(self, var: Var) -> Var:
        while self._parent[var] is not var:
            self._parent[var] = self._parent[self._parent[var]]
            var = self._parent[var]
        return var

    def name_of(self, var: Var) -> str:
        return self.fixed[self.find(var)]

    def merge(self, a: Var, b: Var, alike: bool = False) -> bool:
        """Put both under one name if they are never alive together."""
        a, b = self.find(a), self.find(b)
        if a is b:
            return True
        if a in self.fixed and b in self.fixed:
            return False
        hints = {self._hint(a), self._hint(b)} - {""}
        if (alike and len(hints) > 1) or self.lifetime[a].meets(self.lifetime[b]):
            return False
        if len(self.lifetime[a].starts) < len(self.lifetime[b].starts):
            a, b = b, a
        self._parent[b] = a
        self.lifetime[a].add(self.lifetime[b])
        self.hint[a] = self.hint[a] or self.hint[b]
        if b in self.fixed:
            self.fixed[a] = self.fixed[b]
        return True

    def _hint(self, group: Var) -> str:
        return self.fixed.get(group) or self.hint[group]
