"""Which values may share memory when both are alive, and what writes in place need therefore.

Pairs, not groups, and pairs in one iteration of the loops around them: two buffers that change places
in every iteration are never related. What a function is given, what an effect may keep and what must
not be written to is related to `OUTSIDE`.
"""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.graph import CALL, COMMENT, IF, TRY, Atom, Block, Callee, Eqn, Var, alternatives
from ...ir.types import SLICE, Array, Kind, Map, Seq, Struct
from ...ops import structure as st
from ...ops.program import cotangents as ct, memory as me
from ..analysis.groups import Given, handed_over, is_of_first
from ..analysis.uses import Uses
from ..analysis.write_sets import results_sharing, targets, updated_numbers
from ..blocks.loops import LOOPS, Loop, view
from .needed_copies import Writes
from .pairs import GROUPING, OUTSIDE, PURE
from .relations import ANY, COMMON, OF_OWNER, OF_PART, OF_REGROUPED, SAME, UNSURE, through
from .shadows import copies
from .written_closure import JOINING, computes

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


class Related(Writes):
    """The related values of a function, and the copies that its writes need."""

    def __init__(self, body: Block, uses: Uses, given: Given):
        super().__init__(body, uses, given)
        self._sharing: dict[Callee, frozenset[int]] = {}
        for param in body.params:
            if param not in given.own:
                self._relate(param, OUTSIDE, SAME)
        self._walk(body)

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
        elif eqn.op.name in GROUPING or eqn.op.name in JOINING:
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
        elif eqn.op is not st.pack and eqn.op.name not in GROUPING:
            return False
        return any(self._how(a, b) for k, a in enumerate(eqn.args) for b in eqn.args[:k])

    def _derive_part(self, out: Var, x: Atom, index: Atom) -> None:
        """An item of a container, or a view of an array."""
        kind = _kind(x)
        if isinstance(kind, Array):
            if not copies(index):
                self._derive(out, x)
        elif isinstance(kind, (Seq, Map, Struct)):
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
            for atom in kept:
                self._derive(out, atom, UNSURE)
            for other in made:
                self._relate(out, other, ANY)
        for out in self._holding(eqn, made) if changed else ():
            for array in changed:
                self._relate(out, array, ANY)

    def _holding(self, eqn: Eqn, made: list[Var]) -> list[Var]:
        """The results of a call in which its callee may have put what it has changed: residuals."""
        callee = eqn.param("callee")
        if callee not in self._sharing:
            self._sharing[callee] = results_sharing(callee)
        return [out for k, out in enumerate(eqn.outs) if out in made and k in self._sharing[callee]]

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


def _kind(atom: Atom) -> Kind | None:
    return atom.kind if isinstance(atom, Var) else None
