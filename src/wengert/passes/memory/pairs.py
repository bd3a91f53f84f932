"""Pairs of values that may share memory when both are alive."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir.graph import Atom, Block, Eqn, Var, walk
from ...ops import structure as st
from ...ops.program import memory as me
from ..analysis.groups import Given, has_memory
from ..analysis.uses import Uses
from ..analysis.write_sets import (
    ABOUT_OBJECTS,
    WRITES,
    leading_to_own,
    same_object_sources,
    sources_of,
)
from ..blocks.loops import LOOPS, view
from .relations import SAME, Plan, mirrored, through
from .written_closure import Concerned

OUTSIDE = Var(name="outside")
PURE = WRITES - me.OWN


GROUPING = frozenset(
    (
        "as_list", "as_tuple", "join_lists", "compress", "spread", "flatten_lists", "list_cotangent",
        "collected_cotangent", "items_reached", "dict_of", "values_at", "merge_dicts", "shadow_items",
        "shallow_copy",
    )
)  # fmt: skip
"""Ops that make a new container of the items of others."""


class Pairs:
    """Pairs of values that may share memory, and what is known of them at a place in a function."""

    def __init__(self, body: Block, uses: Uses, given: Given):
        self.plan = Plan()
        self._uses = uses
        self._concerned = Concerned(body)
        self._related: dict[Var, dict[Var, int]] = {}
        self._found = 0
        self._block: Block = body
        self._index = -1
        self._own = same_object_sources(body, ABOUT_OBJECTS)
        self._leading = leading_to_own(body)
        written = same_object_sources(body, WRITES | ABOUT_OBJECTS)
        self._read = Uses(body, written, self._own, given.updated, self._leading)
        self._buffers = same_object_sources(body, PURE, views=True)
        self._parts_written = sources_of_parts_written(body)

    def _relate(self, a: Var, b: Var, how: int) -> None:
        if a is b or not how or not has_memory(a) or not has_memory(b):
            return
        known = self._related.setdefault(a, {})
        before = known.get(b, 0)
        if before | how != before:
            known[b] = before | how
            turned = self._related.setdefault(b, {})
            turned[a] = turned.get(a, 0) | mirrored(how)
            self._found += 1

    def _of(self, atom: Atom) -> dict[Var, int]:
        """What a value is related to, itself included; nothing, if no write can concern it."""
        if not isinstance(atom, Var) or not has_memory(atom) or atom not in self._concerned:
            return {}
        return {**self._related.get(atom, {}), atom: SAME}

    def _derive(self, out: Var, atom: Atom, table: dict[int, int] | None = None) -> None:
        """Relate a value to another and to all that this is related to.

        As the other is: it is the other, or a view of it; or else by a table.
        """
        if isinstance(atom, Var) and not self._is_snapshot_here(atom):
            for other, how in self._visible(self._of(atom)):
                self._relate(out, other, how if table is None else through(how, table))

    def _is_snapshot_here(self, var: Var) -> bool:
        """Whether what is read of a value here is its snapshot."""
        place = self.plan.cuts.get(var)
        if place is None or self._leads_to_stored():
            return False
        home, cut = place
        index = self._uses.place_in(home, self._block, self._index)
        if index is None or index != cut:
            return index is not None and index > cut
        return self._is_written_before(var, home)

    def _leads_to_stored(self) -> bool:
        """Whether the current equation reads the very object, which the program puts into another."""
        eqns = self._block.eqns
        return 0 <= self._index < len(eqns) and eqns[self._index] in self._leading

    def _is_written_before(self, var: Var, home: Block) -> bool:
        """Whether a write after which a value is read from its snapshot may have run inside the equation of a block."""
        block, index = self._block, self._index
        while block is not home:
            places = (self._uses.place_in(block, *writer) for writer in self.plan.writers[var])
            if any(place is not None and place < index for place in places):
                return True
            owner = self._uses.owner(block)
            if owner is None or owner.eqn.op in LOOPS:
                return True
            block, index = owner.block, owner.at
        return False

    def _visible(
        self, related: dict[Var, int], lists: Sequence[Var] = ()
    ) -> Iterator[tuple[Var, int]]:
        """Those that are defined before the current place, around it or beside it, and still used.

        What is defined later in an iteration has nothing to do yet with what is defined now.
        """
        for var, how in related.items():
            if var is OUTSIDE or var in lists or (self._is_visible(var) and self._is_used(var)):
                yield var, how

    def _is_used(self, var: Var) -> bool:
        """Whether a value is used by the current equation or later."""
        return self._uses.live_after(var, self._block, self._index - 1)

    def _is_visible(self, var: Var) -> bool:
        """Whether a value is defined at the current place, or a list that a loop around collects."""
        home, defined = self._uses.defined_at(var)
        index = self._uses.place_in(home, self._block, self._index)
        if index is None:
            return False
        collecting = index == defined and self._block is not home
        return defined < index or (collecting and var not in view_outs(self._uses.equations[var]))

    def _pairs(
        self, atoms: Sequence[Atom], others: Sequence[Atom] | None = None
    ) -> Iterator[tuple[int, int, int]]:
        """The places of values that are related to others, or to earlier ones among them, and how they are."""
        places: dict[Atom, list[int]] = {}
        for j, other in enumerate(others or ()):
            places.setdefault(other, []).append(j)
        for k, atom in enumerate(atoms):
            if not isinstance(atom, Var) or not has_memory(atom):
                continue
            for other, how in ((atom, SAME), *self._related.get(atom, {}).items()):
                for j in places.get(other, ()):
                    yield k, j, how
            if others is None:
                places.setdefault(atom, []).append(k)

    def _how(self, a: Atom, b: Atom) -> int:
        """How a value is related to another one; 0 if it is not."""
        if not isinstance(a, Var) or not isinstance(b, Var) or not has_memory(a):
            return 0
        return SAME if a is b else self._related.get(a, {}).get(b, 0)

    def _copy(
        self, sources: Sequence[Var], targets: Sequence[Var], lists: Sequence[Var] = ()
    ) -> None:
        """Give some values the relations that others have, to values around and to each other."""
        for source, target in zip(sources, targets, strict=True):
            for other, how in self._visible(self._of(source), lists):
                self._relate(target, other, how)
        for k, j, how in self._pairs(sources):
            self._relate(targets[k], targets[j], how)


def view_outs(eqn: Eqn) -> Sequence[Var]:
    """The results of a loop that it carries, not those it collects."""
    return view(eqn).outs if eqn.op in LOOPS else eqn.outs


def sources_of_parts_written(body: Block) -> frozenset[Var]:
    """The containers in whose items, not only in themselves, derivative code may write in place."""
    eqns = list(walk(body))
    pending = [eqn.args[0] for eqn in eqns if eqn.op in PURE and me.path_of(eqn)]
    found: frozenset[Var] = frozenset()
    while pending:
        found |= sources_of(body, pending, views=True)
        inside = (atom for eqn in eqns for atom in _put_into(eqn, found))
        pending = [atom for atom in inside if atom not in found and has_memory(atom)]
    return found


def _put_into(eqn: Eqn, containers: frozenset[Var]) -> Sequence[Atom]:
    """What an equation puts into some containers."""
    if eqn.op in LOOPS:
        loop = view(eqn)
        pairs = zip(loop.lists, loop.collected, strict=True)
        return [atom for out, atom in pairs if out in containers]
    if not eqn.outs or eqn.outs[0] not in containers:
        return ()
    if eqn.op in PURE:
        return eqn.args[-1:] if eqn.op in me.TAKING else ()
    return eqn.args if eqn.op is st.pack or eqn.op.name in GROUPING else ()
