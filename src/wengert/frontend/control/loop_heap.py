"""What a loop does to the heap: objects that its body changes are carried, like names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...errors import UnsupportedSyntax
from ...ir.builder import Builder
from ...ir.graph import Atom, Var
from ...ir.records import field, mutable_record
from ...ir.types import Kind
from ...ops import structure as st
from ..domain.values import Items, Maybe, ObjectId, Value, is_mutable, kind_of_value, same
from ..domain.whereabouts import Part, Untracked
from ..heap import (
    Content,
    Heap,
    are_in_one_place,
    content_in,
    materialise,
    now,
    run_time_kind,
    settle_doubts,
)
from ..heap.loop_aliases import Ends, Objects, note_ends
from ..machine.interpreter import Interpreter

Slot = tuple[ObjectId, Any]
Name = str | Slot
"""What a loop carries: a local name, an item of a known object, or (`WHOLE`) a run-time object."""
Names = dict[Name, "Value | None"]


class _Whole:
    def __repr__(self) -> str:
        return "WHOLE"


WHOLE = _Whole()


def slots_of(heap: Heap) -> Names:
    """What the objects of a heap hold, item by item."""
    slots: Names = {}
    for place, content in heap.items():
        slots.update(_slots(place, content))
    return slots


def _slots(place: ObjectId, content: Content) -> Names:
    match content:
        case Items(keys=keys, values=values):
            return {(place, key): value for key, value in zip(keys, values, strict=True)}
        case Var():
            return {(place, WHOLE): content}
        case _:
            return {}


def is_whole(name: Name) -> bool:
    """Whether what is carried is a run-time object."""
    return not isinstance(name, str) and name[1] is WHOLE


def up_to_date(it: Interpreter, value: Value | None) -> Value | None:
    """What a carried value is now; None if it cannot be followed.

    Only if something reads it later is the program refused.
    """
    asking, it.asking = it.asking, False
    try:
        return None if value is None else now(it, value)
    except UnsupportedSyntax:
        return None
    finally:
        it.asking = asking


def hint_of(name: Name) -> str:
    """What a carried value is called in generated code."""
    if isinstance(name, str):
        return "" if name.startswith("%") else name
    place, key = name
    if isinstance(place.origin, Items) and place.origin.form == "cell":
        return place.origin.type or ""
    if isinstance(key, str):
        return key if key.isidentifier() else ""
    return place.origin.name if isinstance(place.origin, Var) else ""


def bind_slot(it: Interpreter, name: Name, value: Value) -> None:
    """Say what a name, or an item of an object, is from here on."""
    if isinstance(name, str):
        it.vars[name] = value
        return
    place, key = name
    if key is WHOLE:
        assert isinstance(value, Var)
        it.reading.places[value] = place
        it.heap[place] = value
        return
    content = content_in(it.heap, place)
    assert isinstance(content, Items)
    items = dict(zip(content.keys, content.values, strict=True))
    items[key] = value
    it.heap[place] = content.holding(tuple(items.values()), tuple(items))
    it.heap[place].place = place  # type: ignore[union-attr]


def value_of(it: Interpreter, name: Name) -> Value | None:
    """What a name refers to, or an item of a known object is."""
    if isinstance(name, str):
        return it.vars.get(name)
    place, key = name
    content = content_in(it.heap, place)
    if isinstance(content, Items) and key in content.keys:
        return content[key]
    return None


def follow(
    it: Interpreter,
    entry: Names,
    assumed: dict[Name, Carried],
    attempt: Attempt,
    lost: Heap,
    ends: Ends,
    start: int,
) -> bool:
    """Carry what the body changed of the objects made before the loop.

    Gives whether the attempt carried all of it already. What cannot be carried is entered into `lost`.
    """
    complete = True
    for place, content in attempt.heap.items():
        before = content_in(attempt.before, place)
        if place.born <= start and content is not before:
            done = _follow_object(it, entry, assumed, lost, place, before, attempt)
            complete = done and complete
    for slot in [slot for slot in assumed if not isinstance(slot, str)]:
        content = content_in(it.heap, slot[0])
        kept = not isinstance(content, Part) if is_whole(slot) else isinstance(content, Items)
        if not kept or (slot[0] in lost and not is_whole(slot)):
            del assumed[slot]
            complete = False
    carried = {name: value for name, value in attempt.params.items() if not is_whole(name)}
    changed = {p for p, content in attempt.heap.items() if content is not attempt.before.get(p)}
    return note_ends(it, carried, attempt.objects, ends, start, changed) and complete


def _follow_object(
    it: Interpreter,
    entry: Names,
    assumed: dict[Name, Carried],
    lost: Heap,
    place: ObjectId,
    before: Content,
    attempt: Attempt,
) -> bool:
    after = attempt.heap[place]
    if isinstance(before, Untracked):
        return True
    if isinstance(after, (Part, Untracked)) or isinstance(before, Part):
        lost[place] = after if isinstance(after, Untracked) else Untracked("a loop has moved it")
        _no_longer_carried(assumed, place)
        return False
    if isinstance(before, Items) and isinstance(after, Items):
        held = it.attributes_of_both(before, after)
        if held is not None:
            return _follow_items(it, entry, assumed, place, held, attempt)
    if isinstance(before, Items):
        _as_run_time_object(it, assumed, place, after)
        return False
    return _follow_slot(entry, assumed, (place, WHOLE), before, after)


def _follow_items(
    it: Interpreter,
    entry: Names,
    assumed: dict[Name, Carried],
    place: ObjectId,
    held: Mapping[Any, tuple[Value | None, Value | None]],
    attempt: Attempt,
) -> bool:
    complete = True
    for key, (old, new) in held.items():
        if not _is_same_object(it, old, new, attempt):
            complete = _follow_slot(entry, assumed, (place, key), old, new) and complete
    return complete


def _is_same_object(
    it: Interpreter, old: Value | None, new: Value | None, attempt: Attempt
) -> bool:
    """Whether an item still refers to what it did, which may have changed itself."""
    places = [
        value.place if isinstance(value, Items) else it.reading.places.get(value)
        for value in (old, new)
        if isinstance(value, (Items, Var))
    ]
    if len(places) == 2 and places[0] is not None and isinstance(old, Items):
        return places[0] is places[1]
    if isinstance(old, Var) and isinstance(new, Var) and is_mutable(old) and is_mutable(new):
        with it.within(attempt.builder, attempt.heap):
            return are_in_one_place(it, old, new)
    return old is not None and new is not None and same(old, new)


def _follow_slot(
    entry: Names,
    assumed: dict[Name, Carried],
    slot: Slot,
    before: Value | None,
    after: Value | None,
) -> bool:

    if slot in assumed:
        return True
    entry[slot] = before
    maybe = any(value is None or isinstance(value, Maybe) for value in (before, after))
    first, *more = [kind_of_value(value) for value in (before, after) if value is not None]
    assumed[slot] = Carried(st.joined(first, *more) if more else first, maybe)
    return False


def _no_longer_carried(assumed: dict[Name, Carried], place: ObjectId) -> None:
    for slot in [slot for slot in assumed if not isinstance(slot, str) and slot[0] is place]:
        del assumed[slot]


def _as_run_time_object(
    it: Interpreter, assumed: dict[Name, Carried], place: ObjectId, after: Content
) -> None:
    """A container that grows in a loop is a run-time object before the loop starts."""
    _no_longer_carried(assumed, place)
    content = content_in(it.heap, place)
    if isinstance(content, Items):  # and not one by now, with what holds it
        content.place = place
        materialise(it, content, _kind_at_end(after))
        settle_doubts(it)  # here, where it is made: what is read of the body may be read again


def _kind_at_end(content: Content) -> Kind | None:
    """The kind of a container at the end of an iteration, as one of the run."""
    if isinstance(content, Var):
        return content.kind
    return run_time_kind(content) if isinstance(content, Items) and content.values else None


@mutable_record
class Carried:
    """What is assumed of one name around a loop."""

    kind: Kind | None = None
    """The kind of the value it carries; None: the loop leaves it as it was."""
    maybe: bool = False
    """Whether the name may be unbound when an iteration starts."""


@mutable_record
class Taken:
    """What is in the values that an iteration adds to the collected lists, list by list."""

    held: list[set[ObjectId]] = field(default_factory=list[set[ObjectId]])
    """The objects that the values are."""
    held_inside: list[list[tuple[int, ObjectId, int]]] = field(
        default_factory=list[list[tuple[int, ObjectId, int]]]
    )
    """What the values hold: how deep, of which object, and how deep in that."""
    copied: list[set[Any]] = field(default_factory=list[set[Any]])
    """Where the copies of known containers were made that they are parts of."""
    brought: list[set[int]] = field(default_factory=list[set[int]])
    """How deep in the list are objects that the iteration has not made."""


@mutable_record
class Attempt:
    """One reading of a loop's body under an assumption."""

    builder: Builder
    before: Heap
    """The heap at the start of an iteration."""
    heap: Heap
    """The heap at its end."""
    params: dict[Name, Value]
    end: Names
    stop: Atom
    collected: list[Atom]
    objects: dict[Name, Objects]
    """The objects that the carried names refer to at its end."""
    taken: Taken
    dead: bool
    unbound: set[str]
    """Names that were read where nothing had bound them."""
    unfollowed: set[str]
    """Names of run-time objects that cannot be followed to the end."""
