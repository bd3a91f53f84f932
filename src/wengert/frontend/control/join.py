"""How the two values that a name has at the ends of two arms become one."""

from __future__ import annotations

from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Const, Var
from ...ir.types import COMPLEX, UNKNOWN, Kind, Number
from ...ops import structure as st
from .. import heap as hp
from ..data import columns
from ..domain.values import (
    Closure,
    Items,
    Maybe,
    Native,
    ObjectId,
    Value,
    flatten,
    is_mutable,
    same,
)
from ..domain.whereabouts import Part, Untracked
from ..heap import iterator_state
from ..heap.places import as_the_object
from ..machine.interpreter import Interpreter
from .join_one_sided import JoinOneSided


def as_met(it: Interpreter, value: Value) -> Value:
    """A value that paths have handed on which meet here, as it is now: one of them knows what it was at its end.

    Of what can no longer be followed, only who reads it later is refused.
    """
    if not it.heap or not isinstance(value, Items):
        return value  # a run-time value is looked up where it is read
    lost = _first_lost(it, value, set())
    return hp.now(it, value) if lost is None else iterator_state.lost_iterator(it, lost)


def _first_lost(it: Interpreter, value: Value, seen: set[ObjectId]) -> Untracked | None:
    """An object that a value is, or holds, and that can no longer be followed."""
    place = value.place if isinstance(value, Items) else None
    if isinstance(value, Var):
        place = it.reading.places.get(value)
    content = value if place is None else it.heap.get(place, value)
    if isinstance(content, Untracked):
        return content
    if not isinstance(content, Items) or place in seen:
        return None
    if place is not None:
        seen.add(place)
    found = (_first_lost(it, each, seen) for each in content.values)
    return next((each for each in found if each is not None), None)


class JoinValues(JoinOneSided):
    """Merges the two values that one name has at the end of two arms."""

    def merge_content(self, place: ObjectId, a: hp.Content, b: hp.Content) -> hp.Content:
        """What an object holds that both arms know."""
        if a is b:
            return a
        for side in (0, 1):
            if self.arms[1 - side].dead:
                content = (a, b)[side]
                if isinstance(content, (Part, Untracked)):
                    return content
                return self._placed(place, self._exported_content(content, side))
        if isinstance(a, Part) and isinstance(b, Part) and (a.place, a.steps) == (b.place, b.steps):
            return a
        for lost, other in ((a, b), (b, a)):
            if (
                isinstance(lost, Untracked)
                and lost.start is not None
                and other in (lost, lost.start)
            ):
                return lost
        for side, part, other in ((0, a, b), (1, b, a)):
            if self._wrote_to(place):
                break
            if isinstance(part, Part) and isinstance(other, Var) and other is place.origin:
                content = hp.followed_by_name(self.interpreter, other, part)
                self._note_holders(place, part, side)
                return content
        if isinstance(a, (Part, Untracked)) or isinstance(b, (Part, Untracked)):
            return Untracked("a branch has moved it")
        a, b = self._current(a, 0), self._current(b, 1)
        if any(isinstance(each, Items) and iterator_state.is_lazy(each) for each in (a, b)):
            # what makes its items would be run here, and not when they are asked for
            return Untracked("branches differ in how far an iterator has come")
        pairs = self._held_by_both(a, b)
        if isinstance(a, Items) and pairs is not None:
            values = [self.merge(x, y) for x, y in pairs.values()]
            return self._placed(place, a.holding(values, tuple(pairs)))
        return self._at_run_time(place, a, b)

    def _wrote_to(self, place: ObjectId) -> bool:
        """Whether an arm has changed an object: its name from before says nothing of it any more."""
        writes = self.interpreter.reading.writes.get(place, ())
        return any(write.born > self.context.start for write in writes)

    def _at_run_time(self, place: ObjectId, a: Value, b: Value) -> Value:
        """A known object of which the arms hold different things: a run-time one, which shares what they hold."""
        it = self.interpreter
        merged = self._merge_as_atoms(a, b)
        tied = hp.ties(it, hp.place_of(it, merged))
        placed = self._placed(place, merged)
        inside = {other: tie for other, tie in tied.items() if tie != hp.ONE}
        hp.shares(it, place, inside, 0)  # which object it is, is known
        self._note_items(merged, a, b)
        return placed

    def _note_holders(self, place: ObjectId, part: Part, side: int) -> None:
        """What one arm put an object into has other names after the branch: they hold it, too."""
        it = self.interpreter
        for out, *given in self.outs:
            given_var = given[side]
            if isinstance(given_var, Var) and it.reading.places.get(given_var) is part.place:
                hp.share(it, place, 0, hp.place_of(it, out), len(part.steps))

    def _held_by_both(
        self, a: Value, b: Value
    ) -> dict[Any, tuple[Value | None, Value | None]] | None:

        if not isinstance(a, Items) or not isinstance(b, Items):
            return None
        return self.interpreter.attributes_of_both(a, b)

    def _note_items(self, container: Var, *contents: Value) -> None:
        """What a container held is part of a run-time object now, at a place that depends on the path."""
        it = self.interpreter
        for content in contents:
            for item in content.values if isinstance(content, Items) else ():
                if isinstance(item, Var) and is_mutable(item) and self._is_from_outside(item):
                    for place in hp.identities(it, item, own=True):
                        hp.hold_same(it, place, 0, hp.place_of(it, container), 1)
                elif isinstance(item, (Items, Var)) and is_mutable(item):
                    place = hp.place_of(it, item)
                    self.context.exported[place] = Untracked("branches differ in what holds it")

    def merge_names(self, a: Value | None, b: Value | None) -> Value:
        """What a name refers to; if one arm has lost it, only who reads it later is refused."""
        for side, value in enumerate((a, b)):
            lost = self._lost_in(side, value)
            if lost is not None and value is not (b, a)[side]:
                return self._lost(lost)
        return self.merge(a, b)

    def _lost_in(self, side: int, value: Value | None) -> Untracked | None:
        if self.arms[side].dead:
            return None
        inner = value.value if isinstance(value, Maybe) else value
        place = inner.place if isinstance(inner, Items) else None
        if isinstance(inner, Var):
            place = self.interpreter.reading.places.get(inner)
        content = None if place is None else self.arms[side].heap.get(place)
        return content if isinstance(content, Untracked) else None

    def _lost(self, content: Untracked) -> Items:
        """Something that nobody may ask what it is."""
        lost = iterator_state.lost_iterator(self.interpreter, content)
        assert lost.place is not None
        self.context.exported[lost.place] = content
        return lost

    def _itself(self, value: Value | None) -> Value | None:
        """The object that a value certainly is which was brought out of a branch."""
        choices = self.interpreter.reading.choices
        while isinstance(value, Var) and value in choices:
            condition, first, _ = choices[value]
            if condition != Const(True) or first is None:
                break
            value = first
        return value

    def merge(self, a: Value | None, b: Value | None) -> Value:
        a, b = (self._opened_outside(self._itself(each)) for each in (a, b))
        if a is not None and b is not None and same(a, b):
            return a
        if self.arms[0].dead:
            assert b is not None or a is not None
            return self._one_sided(b if b is not None else a, side=1, certain=True)  # type: ignore[arg-type]
        if self.arms[1].dead:
            return self._one_sided(a if a is not None else b, side=0, certain=True)  # type: ignore[arg-type]
        if a is None or b is None:
            present, side = (b, 1) if a is None else (a, 0)
            assert present is not None
            return self._one_sided(present, side, certain=False)
        if isinstance(a, Maybe) or isinstance(b, Maybe):
            return self._merge_maybe(a, b)
        return self._merge_both(a, b)

    def _merge_both(self, a: Value, b: Value) -> Value:
        if same(a, b):
            return a
        if any(isinstance(each, Items) and each.form == "iterator" for each in (a, b)):
            return self._merge_iterators(a, b)
        walks = self.interpreter.reading.walks_over
        if any(isinstance(each, Var) and each in walks for each in (a, b)):
            return self._lost(Untracked("branches differ in which iterator it is"))
        if isinstance(a, Items) and isinstance(b, Items) and is_mutable(a) and is_mutable(b):
            return self._merge_objects(a, b)
        if (
            isinstance(a, Items)
            and isinstance(b, Items)
            and (a.form, a.keys, a.type) == (b.form, b.keys, b.type)
        ):
            values = [self._merge_both(x, y) for x, y in zip(a.values, b.values, strict=True)]
            return Items(a.form, a.keys, tuple(values), a.type)
        if (isinstance(a, (Closure, Native)) and isinstance(b, (Closure, Native, Const))) or (
            isinstance(b, (Closure, Native)) and isinstance(a, Const)
        ):
            way_out = "Call the function in each branch, or test the condition inside one function."
            return self._lost(Untracked("branches differ in which function it is", way_out=way_out))
        return self._merge_as_atoms(a, b)

    def _merge_iterators(self, a: Value, b: Value) -> Value:
        """An iterator that is another one on each path: if only the run knows which, nobody may ask it."""
        contents = [
            each for pair in ((a, 0), (b, 1)) if (each := self._contents(*pair)) is not None
        ]
        if len(contents) == 2 and not any(map(iterator_state.is_lazy, contents)):
            assert isinstance(a, Items)
            assert isinstance(b, Items)
            return self._merge_objects(a, b)
        return self._lost(Untracked("branches differ in which iterator it is"))

    def _contents(self, value: Value, side: int) -> Items | None:
        """What an iterator holds at the end of an arm, if that is known."""
        if not isinstance(value, Items) or value.form != "iterator":
            return None
        content = self.arms[side].heap.get(value.place, value) if value.place else value
        return content if isinstance(content, Items) else None

    def _merge_as_atoms(self, a: Value, b: Value) -> Var:
        columns.refuse_choice(self.interpreter, a, b)
        atoms = [self._atom_in(0, a), self._atom_in(1, b)]
        out = self._out(_kind_of_either(*map(kind_of_atom, atoms)), *atoms)
        if not is_mutable(out):
            return out
        for side, each in enumerate((a, b)):
            self._note_held(out, each, side)
        made_of_others = [self._note_aliases(out, each, side) for side, each in enumerate((a, b))]
        if any(made_of_others):
            known = [each for each in (a, b) if self._is_known_object(each)]
        else:
            self._note_choice(out, a, b)
            known = [each for each in (a, b) if isinstance(each, Items) and is_mutable(each)]
        it = self.interpreter
        for each in known:
            if self._is_from_outside(each):
                hp.stands_for(it, hp.place_of(it, out), hp.identities(it, each, own=True))
        return out

    def _merge_objects(self, a: Items, b: Items) -> Value:
        """Two known objects, one on each path: from now on one that holds what either holds.

        It may be one that has another name: if it changes, or that changes, the other is lost.
        """
        key = id(a.place or a), id(b.place or b)
        known = self.context.pairs.get(key)
        if known is not None:
            return known
        x, y = self._current(a, 0), self._current(b, 1)
        if not isinstance(x, Items) or not isinstance(y, Items):
            return self._merge_as_atoms(x, y)
        pairs = self._held_by_both(x, y)
        if x.home is not None or y.home is not None:
            return self._merge_as_atoms(as_the_object(x), as_the_object(y))
        if pairs is None:
            return self._merge_as_atoms(x, y)
        values = tuple(self.merge(v, w) for v, w in pairs.values())
        merged = Items(a.form, tuple(pairs), values, a.type)
        self.context.pairs[key] = merged
        for side, each in enumerate((a, b)):
            self._note_one_of(merged, each, side)
        return merged

    def _note_one_of(self, merged: Items, value: Items, side: int) -> None:
        it = self.interpreter
        place = hp.place_of(it, merged)
        if self._is_from_outside(value):
            hp.stands_for(it, place, hp.identities(it, value, own=True))
            place.several = True
        elif self._note_aliases(merged, value, side):
            place.several = True

    def _merge_maybe(self, a: Value, b: Value) -> Value:
        inner_a = a.value if isinstance(a, Maybe) else a
        inner_b = b.value if isinstance(b, Maybe) else b
        inner = self._merge_both(inner_a, inner_b)
        leaf = next(flatten(inner), None)
        if isinstance(leaf, Var) and any(out is leaf for out, _, _ in self.outs):
            return Maybe(inner, leaf)
        witnesses = [v.witness if isinstance(v, Maybe) else Const(True) for v in (a, b)]
        return Maybe(inner, self._out(UNKNOWN, *witnesses))


def _kind_of_either(a: Kind, b: Kind) -> Kind:
    """The kind of what is one thing or the other; whether a number is real or complex, the run says."""
    mixed = isinstance(a, Number) and isinstance(b, Number) and (a == COMPLEX) != (b == COMPLEX)
    return UNKNOWN if mixed else st.joined(a, b)
