"""Which object a value is, or is part of: identities."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ...ir.graph import Atom, Var
from ...ir.types import Number, Other
from ..domain.values import Items, Maybe, ObjectId, Value, held_by, is_mutable
from ..domain.whereabouts import Part, Untracked
from ..machine.interpreter import Interpreter
from .views import steps_of, view_of, views_to

Content = Value | Part | Untracked

Heap = dict[ObjectId, Content]


class NeedsWhole(Exception):
    """The program changes a container that it is given: it is read again with the object itself."""


def place_of(it: Interpreter, value: Items | Var) -> ObjectId:
    """The identity of an object."""
    if isinstance(value, Items):
        if value.place is None:
            value.place = ObjectId(value)
        return value.place
    place = known_place(it, value)
    if place is None:
        place = it.reading.places[value] = ObjectId(value)
        it.reading.globals_at[_global(it, value)] = place
        if value in it.reading.read_from:
            place.born = -1  # wherever it is read
    return place


def known_place(it: Interpreter, var: Var) -> ObjectId | None:
    """The identity of an object that has one; a global's object is one, however often it is read."""
    place = it.reading.places.get(var)
    if place is None and (var in it.reading.read_from or var in it.reading.globals_at):
        place = it.reading.globals_at.get(_global(it, var))
        if place is not None:
            it.reading.places[var] = place
    return place


def as_the_object(value: Value) -> Value:
    """A value; if it was opened to be read, the object that it was opened from."""
    opened = isinstance(value, Items) and is_mutable(value) and value.home is not None
    return value.home if opened else value  # type: ignore[return-value]


def in_whole(it: Interpreter, part: Part) -> tuple[ObjectId, tuple[Atom, ...]]:
    """The run-time object that a part is in, and the way from it to the part."""
    around, origin = it.heap.get(part.place), part.place.origin
    if isinstance(around, Part):
        return in_whole(it, Part(around.place, (*around.steps, *part.steps)))
    if around is None and isinstance(origin, Var):
        root, views = views_to(it, origin)
        if views:
            way = [step for eqn in views for step in steps_of(eqn)]
            return in_whole(it, Part(place_of(it, root), (*way, *part.steps)))
    return part.place, part.steps


def note_left(it: Interpreter, left: ObjectId, owner: ObjectId) -> None:
    """An object is no longer where it was in a container; one that was put in twice may be in another place."""
    it.reading.left_from[left] = owner
    if may_hold_twice(it, owner):
        it.reading.left_in_doubt[left] = owner


def may_hold_twice(it: Interpreter, owner: ObjectId) -> bool:
    """Whether an object that changes was put into a container which may have it already."""
    return not it.reading.checked.isdisjoint(it.reading.sharings.get(owner, ()))


def _global(it: Interpreter, var: Var) -> Any:
    """What tells a global's object from others; a value of the program is told by itself."""
    found = it.reading.read_from.get(var)
    if found is None:
        return var
    holder, key = found
    return id(held_by(holder, key))


def identities(it: Interpreter, value: Value | None, *, own: bool = False) -> set[ObjectId]:
    """The objects that a value is, or is part of: those that have changed, or (`own`) all."""
    return _identities(it, value, own, {})


Known = dict[Var, set[ObjectId]]
"""The objects that values are: many may be one of the same two, and are asked for once."""


def _identities(it: Interpreter, value: Value | None, own: bool, known: Known) -> set[ObjectId]:
    match value:
        case Maybe(value=inner):
            return _identities(it, inner, own, known)
        case Items(values=values) if value.form in ("tuple", "namedtuple", "function"):
            return set[ObjectId]().union(*(_identities(it, v, own, known) for v in values))
        case Items(home=Var() as home) if is_mutable(value):
            return _identities(it, home, own, known)
        case Items() if is_mutable(value) and (own or value.place is not None):
            return {place_of(it, value)}
        case Var(kind=kind) if not isinstance(kind, (Number, Other)):
            if value not in known:
                known[value] = _identities_of_var(it, value, own, known)
            return known[value]
        case _:
            return set()


def _identities_of_var(it: Interpreter, var: Var, own: bool, known: Known) -> set[ObjectId]:
    place = it.reading.places.get(var)
    chosen = it.reading.choices.get(var)
    whose = it.reading.stands_for.get(var)
    found = set() if place is None else {place}
    if whose is not None:
        found |= _identities(it, whose, own, known)
    for each in () if chosen is None else chosen[1:]:
        found |= _identities(it, each, own, known)
    if found or chosen is not None:
        return found
    eqn = view_of(it, var)
    if eqn is not None:
        return _identities(it, eqn.args[0], own, known)  # type: ignore[arg-type]
    return {place_of(it, var)} if own and is_mutable(var) else set()


def refuse_given(it: Interpreter, place: ObjectId) -> None:
    """What is given in parts cannot be changed as one object.

    Raises:
        NeedsWhole: it is to be given as one object.
    """
    name = it.reading.given.get(id(place.origin))
    if name is not None:
        it.reading.whole.add(name)
        raise NeedsWhole


def content_in(heap: Heap, place: ObjectId) -> Content:
    """What an object holds, according to one heap."""
    return heap.get(place, place.origin)


def dropped(heap: Heap, start: int) -> Heap:
    """The heap without the objects that were made after some point of the reading."""
    return {place: content for place, content in heap.items() if place.born <= start}


def is_older_object(it: Interpreter, value: Value, start: int) -> bool:
    """Whether a value is one object, which has been there when something began."""
    value = as_the_object(value)
    return is_mutable(value) and place_of(it, value).born <= start  # type: ignore[arg-type]


def keep(it: Interpreter, keys: Iterable[Any]) -> None:
    """Have the objects themselves at these places in the source, no copies.

    Raises:
        NeedsWhole: there were copies so far.
    """
    copied = set(keys)
    if copied - it.reading.kept:
        it.reading.kept |= copied
        raise NeedsWhole
    if copied:
        raise it.unsupported(
            "this changes an object while something else may refer to a copy of it",
            "Change it before it is put into a container, or change a copy (`copy.copy(x)`).",
        )
