"""Which copies and snapshots writes in place need."""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.graph import CALL, IF, TRY, UNDEFINED, Atom, Eqn, Var, alternatives
from ...ir.types import SLICE, UNKNOWN, Array, Kind, Map, Number, Seq, Struct, Unknown
from ...ops import structure as st
from ...ops.program import memory as me
from ..analysis.uses import Uses
from ..blocks.loops import LOOPS, view
from .pairs import OUTSIDE, Pairs, view_outs
from .relations import INSIDE, OF_OWNER, OF_REGROUPED, SAME


class Writes(Pairs):
    """The copies that writes need: of what others still read, or own."""

    def _hand_over(self, eqn: Eqn, out: Var, buffer: Atom) -> None:
        """A callee adds to a buffer in place; what else it is given must not be in that memory."""
        others = [atom for atom in eqn.operands() if atom is not buffer]
        beside = any(self._how(buffer, atom) for atom in others) or eqn.args.count(buffer) > 1
        if beside or self._needs_copy(eqn, buffer):
            self.plan.handed.add((eqn, out))
        if (eqn, out) not in self.plan.handed:
            for other, how in self._visible(self._of(buffer)):
                self._relate(out, other, how)

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
        is_part = eqn.op in (st.getitem, me.given_at)
        return is_part or (eqn.op in LOOPS and var not in view_outs(eqn))


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
        case Seq(item=item) | Map(item=item):
            return _may_hold_arrays(item)
        case Struct(items=items):
            return any(map(_may_hold_arrays, items))
        case Number():
            return False
        case _:
            return True
