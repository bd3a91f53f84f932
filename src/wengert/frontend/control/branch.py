"""Where two paths of control meet: what each leaves, and what stands for it afterwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeGuard

from ...errors import WengertError
from ...ir.builder import Builder
from ...ir.graph import IF, TRY, UNDEFINED, Atom, Block, Const, Var, alternatives
from ...ir.records import field, mutable_record
from ...ir.types import Kind, Number, Struct
from ...ops import structure as st
from .. import heap as hp
from ..domain.values import Items, ObjectId, Scope, Value, is_mutable
from ..heap import globals_state
from ..heap.loop_aliases import ties_inside
from ..machine.interpreter import Interpreter
from ..machine.segments import OpenArm, Watched


@mutable_record
class Branch:
    """One side of a branch after it has been read."""

    builder: Builder
    vars: dict[str, Value]
    heap: hp.Heap
    dead: bool
    refusal: WengertError | None = None
    """Why it cannot be read, where its runs raise that."""
    open: list[OpenArm] = field(default_factory=list["OpenArm"])
    """The branches that it goes on in one side of."""


@mutable_record
class Merge:
    """What merging the two arms of one branch shares, whatever name is merged."""

    arms: list[Branch]
    condition: Atom
    start: int
    """What was born later was made inside an arm."""
    outs: list[tuple[Var, Atom, Atom]] = field(default_factory=list[tuple[Var, Atom, Atom]])
    exported: hp.Heap = field(default_factory=dict[ObjectId, Any])
    """What objects that one arm made hold after the branch."""
    known: dict[int, Items] = field(default_factory=dict[int, Items])
    """Known objects that one arm made, as they are called after the branch."""
    named: dict[tuple[int, ObjectId], list[Var]] = field(default_factory=dict[Any, Any])
    """For every object of an arm, the values outside that stand for it."""
    opened: dict[Var, Items] = field(default_factory=dict["Var", "Items"])
    """Run-time objects from outside that are taken apart, by what they were first."""
    taken: dict[Var, Var] = field(default_factory=dict[Var, Var])
    """Parts of such that an arm has read, as they are read outside."""
    pairs: dict[tuple[int, int], Items] = field(default_factory=dict[tuple[int, int], Items])
    """Objects that stand for one of two."""
    scopes: dict[int, tuple[Scope, Scope]] = field(default_factory=dict[int, tuple[Scope, Scope]])
    """The names that functions made in an arm refer to, there and after the branch."""


@mutable_record
class Join:
    """What one name is at the ends of two arms, and the values that come out of the branch for it."""

    interpreter: Interpreter
    context: Merge
    name: str

    @property
    def arms(self) -> list[Branch]:
        return self.context.arms

    @property
    def outs(self) -> list[tuple[Var, Atom, Atom]]:
        return self.context.outs

    def _current(self, value: Value, side: int) -> Value:
        """A value as it is at the end of an arm."""
        it, arm = self.interpreter, self.arms[side]
        with it.within(arm.builder, arm.heap):
            return hp.now(it, value)

    def _atom_in(self, side: int, value: Value) -> Atom:
        it, arm = self.interpreter, self.arms[side]
        with it.within(arm.builder, arm.heap):
            return it.atom(value)

    def _opened_outside(self, value: Value | None) -> Value | None:
        """A run-time object from outside that an arm has taken apart again: the one it is outside."""
        if not isinstance(value, Items) or not is_mutable(value) or value.place is not None:
            return value
        place = None if value.home is None else self.interpreter.reading.places.get(value.home)
        origin = value.home if place is None else place.origin
        if isinstance(origin, Var) and origin.born > self.context.start:
            origin = self._taken_outside(origin)
        if not isinstance(origin, Var) or self._may_be_nothing(origin):
            return value
        if origin not in self.context.opened:
            opened = value if self._is_from_outside(value) else self.interpreter.open_up(origin)
            assert isinstance(opened, Items)
            self.context.opened[origin] = opened
        return self.context.opened[origin]

    def _may_be_nothing(self, atom: Atom, inside: Sequence[Block] = ()) -> bool:
        """Whether a path to this branch leaves a value unbound: an arm that asks for its parts knows that none has."""
        if not isinstance(atom, Var):
            return atom == UNDEFINED
        builder = self.interpreter.builder
        if isinstance(builder, Watched) and atom in builder.uncertain:
            return True
        own = (eqn for block in inside for eqn in block.eqns if atom in eqn.outs)
        eqn = next(own, None) or builder.visible_definition(atom)
        if eqn is None or eqn.op not in (IF, TRY):
            return eqn is not None and bool(eqn.blocks) and UNDEFINED in eqn.args
        outs, blocks = alternatives(eqn)
        return atom in outs and any(
            self._may_be_nothing(block.outs[outs.index(atom)], (block, *inside)) for block in blocks
        )

    def _taken_outside(self, part: Var) -> Var | None:
        """A part of a run-time object from outside that an arm has read: read outside of the arm.

        Only of what is known to have that part: on the other path nobody may have asked for it.
        """
        if part.born <= self.context.start:
            return part
        if part not in self.context.taken:
            eqns = (arm.builder.visible_definition(part) for arm in self.arms)
            eqn = next((eqn for eqn in eqns if eqn is not None), None)
            base = eqn.args[0] if eqn is not None and eqn.op in (st.getattr_, st.getitem) else None
            if eqn is None or not isinstance(base, Var) or not isinstance(base.kind, Struct):
                return None
            outside = self._taken_outside(base)
            if outside is None or not all(isinstance(step, Const) for step in eqn.args[1:]):
                return None
            args = (outside, *eqn.args[1:])
            taken = self.interpreter.builder.emit_with(eqn.op, args, eqn.params, eqn.namespace)
            assert isinstance(taken, Var)
            self.context.taken[part] = taken
        return self.context.taken[part]

    def _is_from_outside(self, value: Var | Items) -> bool:
        place = value.place if isinstance(value, Items) else None
        if isinstance(value, Var):
            place = self.interpreter.reading.places.get(value)
        return (value if place is None else place).born <= self.context.start

    def _out(self, kind: Kind, a: Atom, b: Atom) -> Var:
        if not isinstance(kind, Number):
            for out, x, y in self.outs:
                if x is a and y is b:
                    return out  # two names for one object
        name = "" if self.name.startswith("%") else self.name
        shapes = {x.shape_of for x in (a, b) if isinstance(x, Var)}
        source = (
            next(iter(shapes))
            if len(shapes) == 1 and isinstance(a, Var) and isinstance(b, Var)
            else None
        )
        out = Var(kind, name, source)
        self.outs.append((out, a, b))
        if is_mutable(out):
            self._note_common_objects(out, a, b)
        return out

    def _is_known_object(self, value: Value) -> TypeGuard[Var | Items]:
        return isinstance(value, (Var, Items)) and is_mutable(value)

    def _note_aliases(self, out: Var | Items, value: Value, side: int) -> bool:
        """What an object that an arm made may turn out to be, its stand-in outside may be too.

        Gives whether there is such an object. A value from outside is a choice, which is known exactly.
        """
        it, start = self.interpreter, self.context.start
        if not self._is_known_object(value) or not is_mutable(out):
            return False
        with it.within(self.arms[side].builder):  # it knows what views are of
            if isinstance(value, Var):
                hp.objects_of(it, value)  # what it was made of is not seen from outside
        if self._is_from_outside(value):
            return False
        with it.within(self.arms[side].builder):
            places = hp.identities(it, value, own=True)
            depth = hp.depth_in_whole(it, value)
        closure = hp.with_aliases(it, places, start)
        outside = {place for place in closure if place.born <= start}
        hp.stands_for(it, hp.place_of(it, out), outside, depth)
        tied = False
        for place in closure - outside:
            if isinstance(out, Var):
                globals_state.may_be_read(it, out, place)
            others = {each: tie for each, tie in hp.ties(it, place).items() if each.born <= start}
            hp.shares(it, hp.place_of(it, out), others, depth)
            tied = tied or bool(others)
        return bool(outside) or tied

    def _note_held(self, out: Var, value: Value, side: int) -> None:
        """The objects that a known container holds, a value holds that it is on one path."""
        if not isinstance(value, Items):
            return
        it, arm = self.interpreter, self.arms[side]
        with it.within(arm.builder, arm.heap):
            held = ties_inside(it, value, self.context.start)
        whole = hp.place_of(it, out)
        for depth, other, below in held:
            hp.share(it, whole, depth, other, below)
        hp.share_through(it, held, whole)  # a name that has been merged before may be what is held

    def _note_choice(self, out: Var, a: Value, b: Value) -> None:
        """Remember which objects a value may be, of those that are known outside the branch."""
        first, second = (
            self._as_outside(each)
            if isinstance(each, Var) and self._is_from_outside(each)
            else None
            for each in (a, b)
        )
        if first is not None or second is not None:
            self.interpreter.reading.choices[out] = self.context.condition, first, second

    def _as_outside(self, value: Var) -> Var:
        """An object from outside by a version of it that is known there, not one that an arm made."""
        place = self.interpreter.reading.places.get(value)
        if value.born <= self.context.start or place is None:
            return value
        return place.origin if isinstance(place.origin, Var) else value

    def _note_common_objects(self, out: Var, a: Atom, b: Atom) -> None:
        """Two names that are one object in one arm may be one object after the branch."""
        it = self.interpreter
        if all(isinstance(atom, Var) and self._is_from_outside(atom) for atom in (a, b)):
            return  # that is a choice, which is known exactly
        for side, atom in enumerate((a, b)):
            for place in self._identities_in(side, atom):
                others = self.context.named.setdefault((side, place), [])
                for other in others:
                    hp.may_be_one(it, hp.place_of(it, out), hp.place_of(it, other))
                    for each in (out, other):
                        hp.stands_for(it, hp.place_of(it, each), hp.identities(it, each, own=True))
                others.append(out)

    def _identities_in(self, side: int, atom: Atom) -> set[ObjectId]:
        it = self.interpreter
        with it.within(self.arms[side].builder):
            return hp.identities(it, atom, own=True)

    def _placed(self, place: ObjectId, value: Value) -> Value:
        if isinstance(value, Var):
            self.interpreter.reading.places[value] = place
        elif isinstance(value, Items):
            value.place = place
        return value
