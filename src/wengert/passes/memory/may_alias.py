"""Which values may share memory when both are alive, and what writes in place need therefore.

Pairs, not groups, and pairs in one iteration of the loops around them: two buffers that change places
in every iteration are never related. What a function is given, what an effect may keep and what must
not be written to is related to `OUTSIDE`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import CALL, COMMENT, IF, TRY, UNDEFINED, Atom, Block, Eqn, Var, alternatives, walk
from ...ir.types import SLICE, UNKNOWN, Array, Kind, Number, Seq, Struct, Unknown
from ...ops import structure as st
from ...ops.program import cotangents as ct, memory as me
from ..analysis.groups import Given, handed_over, has_memory, is_of_first
from ..analysis.uses import Uses
from ..analysis.write_sets import (
    ABOUT_OBJECTS,
    WRITES,
    leading_to_own,
    same_object_sources,
    sources_of,
    targets,
    updated_numbers,
)
from ..blocks.loops import LOOPS, Loop, view
from .relations import (
    ANY,
    COMMON,
    INSIDE,
    OF_OWNER,
    OF_PART,
    OF_REGROUPED,
    SAME,
    UNSURE,
    Plan,
    mirrored,
    through,
)
from .shadows import copies
from .written_closure import JOINING, Concerned, computes

OUTSIDE = Var(name="outside")
PURE = WRITES - me.OWN
_PASSED_ON = frozenset(
    (
        "getitem", "getattr", "reshape", "ravel", "transpose", "matrix_transpose", "swapaxes",
        "moveaxis", "squeeze", "expand_dims", "flip", "flipud", "fliplr", "astype", "bound",
        "unpackable", "as_list", "as_tuple", "pack", "shadow_attr", "shadow_items", "accumulate", "unbroadcast",
        "stop_gradient", "summed_to", "as_left", "project", "join_lists", "list_cotangent", "add", "mul",
        "collected_cotangent", "items_reached", "compress", "spread", "flatten_lists", "split_like", "dict_of",
        "values_at", "merge_dicts", "entries_of", "spread_from", "spread_over", "shallow_copy",
    )
)  # fmt: skip
"""Ops whose result may be written to if their operands may."""
_KEEP_NOTHING = frozenset(("bound", "unpackable", "accepts", "raise", "evaluated", "equally_long"))
"""Ops with an effect that keep nothing."""
_GROUPING = frozenset(
    (
        "as_list", "as_tuple", "join_lists", "compress", "spread", "flatten_lists", "list_cotangent",
        "collected_cotangent", "items_reached", "dict_of", "values_at", "merge_dicts", "shadow_items",
        "shallow_copy",
    )
)  # fmt: skip
"""Ops that make a new container of the items of others."""


class Related:
    """The related values of a function, and the copies that its writes need."""

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
        for param in body.params:
            if param not in given.own:
                self._relate(param, OUTSIDE, SAME)
        self._walk(body)

    # --- pairs ----------------------------------------------------------------------------

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

    # --- the walk -------------------------------------------------------------------------

    def _walk(self, block: Block) -> None:
        outer = self._block, self._index
        for index, eqn in enumerate(block.eqns):
            self._block, self._index = block, index
            self._equation(eqn)
        self._block, self._index = block, len(block.eqns)
        self._block, self._index = outer

    def _equation(self, eqn: Eqn) -> None:
        if eqn.op is COMMENT:
            return
        if eqn.op in (IF, TRY):
            self._branches(eqn)
        elif eqn.op in LOOPS:
            self._loop(view(eqn))
        elif eqn.op in me.OWN:
            self._own_write(eqn)
        elif eqn.op in PURE:
            self._pure_write(eqn)
        elif eqn.op is CALL or (eqn.op.effect and eqn.op.name not in _KEEP_NOTHING):
            self._effect(eqn)
        else:
            self._operation(eqn)

    def _operation(self, eqn: Eqn) -> None:
        if computes(eqn):
            return
        if self._may_repeat(eqn):
            self.plan.parted.add(eqn)
            return
        for out in eqn.outs:
            self._derive_result(out, eqn)
            if eqn.op.name not in _PASSED_ON:
                self._relate(out, OUTSIDE, SAME)

    def _derive_result(self, out: Var, eqn: Eqn) -> None:
        if eqn.op in (st.getitem, st.getattr_, ct.shadow_attr):
            self._derive_part(out, eqn.args[0], eqn.args[-1])
        elif eqn.op is st.pack or eqn.op is st.closure:
            for atom in eqn.args:
                self._derive(out, atom, OF_OWNER)
        elif eqn.op.name in _GROUPING or eqn.op.name in JOINING:
            for atom in eqn.operands():
                self._derive(out, atom, OF_REGROUPED)
        else:
            table = None if isinstance(out.kind, Array) else UNSURE
            for atom in eqn.args[:1] if is_of_first(eqn) else tuple(eqn.operands()):
                self._derive(out, atom, table)

    def _may_repeat(self, eqn: Eqn) -> bool:
        """Whether derivative code writes into items of a container that may be made of one object twice."""
        if eqn.outs[0] not in self._parts_written:
            return False
        if eqn.op.name in JOINING:
            if not any(isinstance(kind_of_atom(atom), (Seq, Struct)) for atom in eqn.args):
                return False
            if eqn.op.name == "mul":
                return True
        elif eqn.op is not st.pack and eqn.op.name not in _GROUPING:
            return False
        return any(self._how(a, b) for k, a in enumerate(eqn.args) for b in eqn.args[:k])

    def _derive_part(self, out: Var, x: Atom, index: Atom) -> None:
        """An item of a container, or a view of an array."""
        kind = _kind(x)
        if isinstance(kind, Array):
            if not copies(index):
                self._derive(out, x)
        elif isinstance(kind, (Seq, Struct)):
            sliced = kind_of_atom(index) == SLICE
            self._derive(out, x, OF_REGROUPED if sliced else OF_PART)
        else:
            self._derive(out, x, UNSURE)

    def _effect(self, eqn: Eqn) -> None:
        for target in targets(eqn):
            self._snapshots(eqn, target)
        buffers, changed = handed_over(eqn), updated_numbers(eqn)
        for out, buffer in buffers.items():
            self._hand_over(eqn, out, buffer)
        for out, array in changed.items():
            self._relate(out, OUTSIDE, SAME)
            self._derive(out, array)
        kept = [atom for atom in eqn.operands() if atom not in buffers.values()]
        for atom in kept:
            if isinstance(atom, Var):
                self._relate(atom, OUTSIDE, SAME)
        made = [out for out in eqn.outs if out not in buffers and out not in changed]
        for out in made:
            self._relate(out, OUTSIDE, SAME)
            for atom in (*kept, *changed):
                self._derive(out, atom, UNSURE)
            for other in made:
                self._relate(out, other, ANY)

    def _hand_over(self, eqn: Eqn, out: Var, buffer: Atom) -> None:
        """A callee adds to a buffer in place; what else it is given must not be in that memory."""
        others = [atom for atom in eqn.operands() if atom is not buffer]
        beside = any(self._how(buffer, atom) for atom in others) or eqn.args.count(buffer) > 1
        if beside or self._needs_copy(eqn, buffer):
            self.plan.handed.add((eqn, out))
        if (eqn, out) not in self.plan.handed:
            for other, how in self._visible(self._of(buffer)):
                self._relate(out, other, how)

    # --- writes ---------------------------------------------------------------------------

    def _own_write(self, eqn: Eqn) -> None:
        x, *_, value = eqn.args
        if isinstance(x, Var):
            self._snapshots(eqn, x)
        self._new_version(eqn, x, value)

    def _new_version(self, eqn: Eqn, x: Atom, value: Atom) -> None:
        (out,) = eqn.outs
        for other, how in self._visible(self._of(x)):
            self._relate(out, other, how)
        self._takes_in(eqn, value)

    def _takes_in(self, eqn: Eqn, value: Atom) -> None:
        """What is stored in a list, a dictionary or an object is inside of it from then on."""
        (out,) = eqn.outs
        takes = eqn.op not in (me.drop, me.dropped) and not isinstance(me.holder(eqn), Array)
        may_copy = eqn.op not in me.OWN  # the program's own write puts the very object there
        if takes and may_copy and out in self._parts_written and self._how(value, eqn.args[0]):
            self.plan.taken.add(eqn)
        if takes and eqn not in self.plan.taken:
            self._derive(out, value, OF_OWNER)
            if eqn.op is me.overwrite or kind_of_atom(eqn.args[-2]) in (SLICE, UNKNOWN):
                self._derive(out, value, OF_REGROUPED)

    def _snapshots(self, eqn: Eqn, x: Var) -> None:
        """Have what the program itself is about to change read from snapshots later."""
        for var in self._endangered(eqn, x, self._read):
            if not self._is_taken(var):
                self._keep(var)

    def _is_taken(self, var: Atom) -> bool:
        """Whether a value is a snapshot: nobody writes to one."""
        taken = self._uses.equations.get(var) if isinstance(var, Var) else None
        return taken is not None and taken.op is me.snapshot

    def _keep(self, var: Var) -> None:
        """Have a value read from a snapshot after the current place."""
        home, defined = self._uses.defined_at(var)
        place = self._uses.place_in(home, self._block, self._index)
        assert place is not None
        if place == defined:  # it is collected by a loop around
            loop = view(self._uses.equations[var])
            atom = loop.collected[loop.lists.index(var)]
            if var not in self._own and not self._keep_in_branches(atom):
                self.plan.collected.add((loop.eqn, loop.lists.index(var)))
        elif not self._keep_in_branches(var):
            self.plan.cut(var, home, place, (self._block, self._index))

    def _keep_in_branches(self, var: Atom) -> bool:
        """Have a value that only one branch defines end as a snapshot there; says whether it is one."""
        eqn = self._uses.equations.get(var) if isinstance(var, Var) else None
        if eqn is None or eqn.op not in (IF, TRY):
            return False
        outs, blocks = alternatives(eqn)
        if var not in outs or var in self._own:
            return False
        k = outs.index(var)
        atoms = [block.outs[k] for block in blocks]
        if UNDEFINED not in atoms:
            return False
        for number, atom in enumerate(atoms):
            taken = self._is_taken(atom) or self._keep_in_branches(atom)
            if isinstance(atom, Var) and not taken:
                self.plan.merged.add((eqn, k, number))
        return True

    def _endangered(self, eqn: Eqn, x: Var, uses: Uses) -> list[Var]:
        """What a write changes beside the new version, and is used after it."""
        return [
            var
            for var, how in self._of(x).items()
            if var is not OUTSIDE
            and _reaches(eqn, var, how)
            and self._is_visible(var)
            and uses.live_after(var, self._block, self._index)
            and not self._is_snapshot_here(var)
        ]

    def _is_visible(self, var: Var) -> bool:
        """Whether a value is defined at the current place, or a list that a loop around collects."""
        home, defined = self._uses.defined_at(var)
        index = self._uses.place_in(home, self._block, self._index)
        if index is None:
            return False
        collecting = index == defined and self._block is not home
        return defined < index or (collecting and var not in view_outs(self._uses.equations[var]))

    def _pure_write(self, eqn: Eqn) -> None:
        x, *_, value = eqn.args
        if eqn not in self.plan.copies and self._needs_copy(eqn, x):
            self.plan.copies.add(eqn)
        if eqn in self.plan.copies:
            self._takes_in(eqn, value)
        else:
            self._new_version(eqn, x, value)

    def _needs_copy(self, eqn: Eqn, x: Atom) -> bool:
        if not isinstance(x, Var):
            return True
        outside = self._of(x).get(OUTSIDE, 0)
        if outside & (SAME | INSIDE) or (outside and eqn.op is not CALL and me.path_of(eqn)):
            return True
        endangered = self._endangered(eqn, x, self._uses)
        if not all(self._is_part(var) for var in endangered):
            return True
        for var in endangered:
            self._keep(var)
        return False

    def _is_part(self, var: Var) -> bool:
        """Whether a snapshot of this value is cheaper than a copy of what it is a part of."""
        eqn = self._uses.equations.get(var)
        if eqn is None:
            return False
        return eqn.op is st.getitem or (eqn.op in LOOPS and var not in view_outs(eqn))

    # --- control ------------------------------------------------------------------------

    def _branches(self, eqn: Eqn) -> None:
        outs, blocks = alternatives(eqn)
        for number, block in enumerate(blocks):
            self._walk(block)
            for k, (out, atom) in enumerate(zip(outs, block.outs, strict=True)):
                if (eqn, k, number) in self.plan.merged:
                    continue
                for other, how in self._visible(self._of(atom)):
                    self._relate(out, other, how)
            for k, j, how in self._pairs(block.outs):
                if (eqn, k, number) not in self.plan.merged:
                    self._relate(outs[k], outs[j], how)

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

    def _loop(self, loop: Loop) -> None:
        self._enter(loop)
        before = (-1, -1)
        while before != (self._found, self.plan.size()):
            before = self._found, self.plan.size()
            for item, iterable in zip(loop.items, loop.iterables, strict=True):
                array = isinstance(_kind(iterable), Array)
                table = OF_PART if isinstance(_kind(iterable), (Seq, Struct)) else UNSURE
                self._derive(item, iterable, None if array else table)
            if loop.test is not None:
                self._copy(loop.carried, loop.test.params)
                self._walk(loop.test)
            self._walk(loop.body)
            self._next_iteration(loop)
        self._copy(loop.carried, loop.outs, loop.lists)

    def _enter(self, loop: Loop) -> None:
        for k, (param, atom) in enumerate(zip(loop.carried, loop.initials, strict=True)):
            if self._needs_own_start(loop, k):
                self.plan.initials.add((loop.eqn, k))
            if (loop.eqn, k) in self.plan.initials:
                continue
            self._derive(param, atom)
        for k, j, how in self._pairs(loop.initials):
            if not {(loop.eqn, k), (loop.eqn, j)} & self.plan.initials:
                self._relate(loop.carried[k], loop.carried[j], how)

    def _needs_own_start(self, loop: Loop, k: int) -> bool:
        """Whether a buffer that iterations write to is somebody else's, or used elsewhere too."""
        param, atom = loop.carried[k], loop.initials[k]
        if param not in self._buffers or param in self._own or not isinstance(atom, Var):
            return False
        others = [*loop.iterables, *loop.initials[:k], *loop.initials[k + 1 :]]
        return any(
            var is OUTSIDE
            or (
                self._is_visible(var)
                and (
                    var in others
                    or self._uses.live_after(var, self._block, self._index)
                    or any(self._uses.used_in(var, block) for block in loop.eqn.blocks)
                )
            )
            for var in self._of(atom)
        )

    def _next_iteration(self, loop: Loop) -> None:
        for param, atom in zip(loop.carried, loop.results, strict=True):
            for other, how in self._visible(self._of(atom), loop.lists):
                self._relate(param, other, how)
        for k, j, how in self._pairs(loop.results):
            self._relate(loop.carried[k], loop.carried[j], how)
        for c, (out, atom) in enumerate(zip(loop.lists, loop.collected, strict=True)):
            if out in self._parts_written and self._outlasts_iteration(atom, loop):
                self.plan.collected.add((loop.eqn, c))
            if not self._is_collected_apart(loop, c):
                for other, how in self._visible(self._of(atom), loop.lists):
                    self._relate(out, other, through(how, OF_OWNER))
        for c, k, how in self._pairs(loop.collected, loop.results):
            if not self._is_collected_apart(loop, c):
                self._relate(loop.lists[c], loop.carried[k], through(how, OF_OWNER))
        for c, j, _ in self._pairs(loop.collected):
            if not self._is_collected_apart(loop, c):
                self._relate(loop.lists[c], loop.lists[j], COMMON)

    def _is_collected_apart(self, loop: Loop, c: int) -> bool:
        """Whether a loop collects snapshots, or what is read from one."""
        return (loop.eqn, c) in self.plan.collected or loop.collected[c] in self.plan.cuts

    def _outlasts_iteration(self, atom: Atom, loop: Loop) -> bool:
        """Whether several iterations may collect one object."""
        return any(
            var is OUTSIDE or var in loop.carried or self._is_made_before(var, loop.body)
            for var in self._of(atom)
        )

    def _is_made_before(self, var: Var, block: Block) -> bool:
        home, defined = self._uses.defined_at(var)
        place = self._uses.place_in(home, block, 0)
        return home is not block and place is not None and defined < place

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


def _kind(atom: Atom) -> Kind | None:
    return atom.kind if isinstance(atom, Var) else None


def _reaches(eqn: Eqn, var: Var, how: int) -> bool:
    """Whether a write may change what a value holds that is related to what is written to."""
    if eqn.op is CALL:
        return True
    if not me.path_of(eqn) and not how & (SAME | INSIDE):
        return False
    holder = me.holder(eqn)
    if isinstance(holder, Array):
        return _may_hold_arrays(var.kind)
    return isinstance(holder, Unknown) or not isinstance(var.kind, Array)


def _may_hold_arrays(kind: Kind) -> bool:
    match kind:
        case Seq(item=item):
            return _may_hold_arrays(item)
        case Struct(items=items):
            return any(map(_may_hold_arrays, items))
        case Number():
            return False
        case _:
            return True


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
    return eqn.args if eqn.op is st.pack or eqn.op.name in _GROUPING else ()
