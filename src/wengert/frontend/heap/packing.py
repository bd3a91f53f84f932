"""Known objects that are needed as run-time values: copies where nothing changes, or the objects themselves."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from functools import reduce
from typing import Any

import numpy as np

from ...ir.graph import Atom, Const, Var
from ...ir.types import UNKNOWN, Kind, Seq, Struct, join
from ...ops import structure as st
from ...ops.program import memory as me
from ..domain.properties import behind_property, is_property
from ..domain.values import (
    Items,
    Maybe,
    ObjectId,
    ObjectKey,
    Value,
    is_iterator,
    is_mutable,
    is_object,
    kind_of_value,
)
from ..domain.whereabouts import Held, Part, Untracked
from ..machine.interpreter import Interpreter
from ..polyfills.stdlib import collections as container_polyfills
from .aliases import depth_of_common, may_be, may_be_part, share, share_through, sharing, stands_for
from .current import now
from .places import Content, as_the_object, identities, in_whole, place_of, refuse_given
from .sharings import depth_of, note_again, note_view, refuse_replaced, settle_doubts
from .views import lead_to_one, view_of, views_to


def packed(it: Interpreter, items: Items, name: str = "") -> Atom:
    """A known container as a run-time value: a copy, unless it or the copy changes.

    Raises:
        NeedsWhole: it does, and the program is read again.
    """
    _refuse_keys(it, items)
    _refuse_stand_in(it, items)
    _refuse_one_of_two(it, items)
    key = it.builder.span
    if is_mutable(items):
        if items.home is not None:
            return items.home
        if items.place in it.packing:
            raise it.unsupported(
                "an object that refers to itself is needed as a value at run time",
                "Pass on what is needed of it: its numbers and arrays.",
            )
        if key in it.reading.kept:
            return materialise(it, items)
    once = it.packed_once if is_mutable(items) else None
    place = items.place if once is None else place_of(it, items)
    if place is None:
        return _packed(it, items, name, key)
    if once is not None and place in once:
        return once[place]
    it.packing.add(place)
    try:
        atom = _packed(it, items, name, key)
    finally:
        it.packing.remove(place)
    if once is not None:
        once[place] = atom
    return atom


@contextmanager
def _once(it: Interpreter) -> Generator[None]:
    """Inside, what is met twice is packed once: it is one object in the run-time container that it is put into."""
    before = it.packed_once
    it.packed_once = {} if before is None else before
    try:
        yield
    finally:
        it.packed_once = before


def _packed(it: Interpreter, items: Items, name: str, key: Any) -> Atom:
    atoms = [stored(it, value) for value in items.values]
    params = {"form": Const(items.form), "keys": Const(items.keys), "type": Const(items.type)}
    var = it.builder.emit_with(st.pack, atoms, params, name=name)
    if holds_objects(items) or is_mutable(items):
        it.reading.copies[var] = key
    if items.place is not None:
        it.reading.packed_at.setdefault(items.place, set()).add(key)
    for value in items.values:
        note_copied(it, value, key)
    return var


def stored(it: Interpreter, value: Value) -> Atom:
    """A value as it is put into a run-time container."""
    if is_iterator(value):
        raise it.unsupported(
            "an iterator is put into a container that only the run knows",
            "Put its items there: `list(iterator)`.",
        )
    if isinstance(value, Maybe):
        raise it.unsupported(
            "an object is needed as a value at run time that has an attribute, or an entry, on some paths only",
            "Assign it on every path; or pass on what is needed of the object: its numbers and arrays.",
        )
    return it.atom(value)


def materialise(it: Interpreter, items: Items, like: Kind | None = None) -> Var:
    """A known object becomes a run-time object; what it holds is from then on part of it.

    `like`: the kind of a list or dictionary that it is about to be, which may hold more.
    """
    _refuse_keys(it, items)
    place = place_of(it, items)
    _refuse_one_of_two(it, items)
    if items.type is None and not it.reading.general:
        refuse_callers_object(it, place)
    else:  # an object of a class is told from what it was made of; of arguments of any kind too little is known
        refuse_given(it, place)
        _refuse_detached(it, place)
    content = it.heap.get(place, items)
    if isinstance(content, Var):
        return content
    if isinstance(content, Items):
        items = content
    opened_from = now(it, as_the_object(items))
    if isinstance(opened_from, Var):
        return opened_from
    values = [now(it, value) for value in items.values]
    for value in values:
        refuse_replaced(it, value)
    with _once(it):
        atoms = [stored(it, value) for value in values]
    params = {"form": Const(items.form), "keys": Const(items.keys), "type": Const(items.type)}
    var = it.builder.emit_with(st.pack, atoms, params, kind=run_time_kind(items, like))
    assert isinstance(var, Var)
    it.reading.places[var] = place
    it.reading.linked.add(var)  # what it holds is part of it
    it.heap[place] = var
    if place.twin is not None:
        it.heap[place.twin] = Untracked(
            "only the object or its `__dict__` can be known at run time"
        )
    _adopt_items(it, items.holding(values), place)
    if place in it.reading.doubtful:
        settle_doubts(it)  # here, where it is made: what follows may be read again
    return var


def store_inside(
    it: Interpreter, child: Value, owner: ObjectId, *steps: Atom, noted: bool = False
) -> None:
    """An object is from now on kept inside a run-time object.

    `noted` says that `note_sharing` knows of it.
    """
    child = as_the_object(child)
    if isinstance(child, Items) and not is_mutable(child):
        for key, value in zip(child.keys, child.values, strict=True):
            field = child.form == "namedtuple"
            step = Const(me.Field(key)) if field else Const(key)
            store_inside(it, value, owner, *steps, step, noted=noted)
    if not is_mutable(child):
        return
    assert isinstance(child, (Items, Var))
    if isinstance(child, Var):
        if child.kind != UNKNOWN:
            _note_choice(it, child)
        if it.reading.places.get(child) is None and view_of(it, child) is not None:
            note_view(it, child, *in_whole(it, Part(owner, steps)), noted=noted)
            return
        if child.kind == UNKNOWN:  # a number, most likely: it is followed by its own name
            _note_unknown(it, child, Part(owner, steps))
            return
    place = place_of(it, child)
    note_again(it, place, Part(owner, steps))
    known = it.heap.get(place)
    if isinstance(known, Part):
        if known.place is not owner or not lead_to_one(known.steps, steps):
            it.heap[place] = Untracked("two containers hold it")
        return
    it.heap[place] = Part(owner, steps)
    whole, way = in_whole(it, Part(owner, steps))
    if whole.born < 0 or whole.origin in it.reading.inputs:
        refuse_given(it, place)  # who has both finds the one in the other
    share_through(it, [(len(way), place, 0)], whole)
    hold_unknown_of(it, place, owner, steps)
    content = known if isinstance(known, Items) else child
    if isinstance(content, Items):
        _adopt_items(it, content, place)


def _note_choice(it: Interpreter, child: Var) -> None:
    """What stands for one of several objects is followed by a way of its own: it shares what they do."""
    root, _ = views_to(it, child)
    if root in it.reading.choices:
        stands_for(it, place_of(it, root), identities(it, root, own=True))


def _note_unknown(it: Interpreter, child: Var, part: Part) -> None:
    """A value that may be an object is kept inside a run-time object: changes of either may be of both."""
    held = Held(child, part, *in_whole(it, part), it.builder)
    place = place_of(it, child)
    note_again(it, place, part)
    for other, below in sharing(it, place).items():
        if other is not place:
            deep = len(held.steps) + depth_of_common(it, place, other)
            share(it, other, below, held.whole, deep)
    for before in it.reading.put_into.get(child, ()):
        if before.whole is not held.whole:
            share(it, before.whole, depth_of(before), held.whole, depth_of(held))
    share_through(it, [(len(held.steps), place, 0)], held.whole)
    for each in identities(it, child, own=True) - {place}:
        may_be_part(it, each, held.whole, len(held.steps))
    _note_held(it, held)
    deep = depth_of(held)
    if any(write.depth > deep for write in it.reading.writes.get(held.whole, ())):
        it.heap[place_of(it, child)] = Untracked(
            "it may be an object that was changed under another name"
        )


def _note_held(it: Interpreter, held: Held) -> None:
    if it.reading.places.get(held.value) in it.reading.writes:
        may_be_part(it, place_of(it, held.value), held.part.place, len(held.part.steps))
    else:
        it.reading.put_into.setdefault(held.value, []).append(held)
    it.reading.holding_unknown.setdefault(held.whole, []).append(held)


def hold_unknown_of(
    it: Interpreter,
    place: ObjectId,
    owner: ObjectId,
    steps: tuple[Atom, ...],
    start: int | None = None,
) -> None:
    """The values that may be objects, put into one object, are from now on inside another one, too.

    `start` leaves out values that are younger.
    """
    for held in list(it.reading.holding_unknown.get(place, ())):
        if start is None or held.value.born <= start:
            part = Part(owner, (*steps, *held.steps))
            _note_held(it, Held(held.value, part, *in_whole(it, part), it.builder))


def followed_by_name(it: Interpreter, child: Var, part: Part) -> Content:
    """What a value holds that only one of two paths has put into a run-time object."""
    place = place_of(it, child)
    before = it.heap.pop(place, None)
    _note_unknown(it, child, part)
    after = it.heap.pop(place, child)
    if before is not None:
        it.heap[place] = before
    return after


def _adopt_items(it: Interpreter, items: Items, owner: ObjectId) -> None:
    """What a known object holds is kept where the object is kept."""
    field = items.form in ("object", "dataclass")
    for key, value in zip(items.keys, items.values, strict=True):
        store_inside(it, value, owner, Const(me.Field(key)) if field else Const(key))


def refuse_callers_object(it: Interpreter, place: ObjectId) -> None:
    """Refuse to change what is known of an object that may be one of the caller's, who would not see it.

    Raises:
        NeedsWhole: the caller's object is to be given as one.
    """
    if place.twin is not None and place.shared:
        raise _one_of_several(it)
    twins = () if place.twin is None else (place.twin,)
    for other in (place, *twins, *may_be(it, place)):
        refuse_given(it, other)
        home = other.origin if isinstance(other.origin, Var) else other.origin.home
        if other is not place and home is not None and home in it.reading.inputs:
            raise _one_of_several(it)
        _refuse_detached(it, other)


def _refuse_detached(it: Interpreter, place: ObjectId) -> None:
    if place in it.reading.detached:
        raise _one_of_several(it)


def _one_of_several(it: Interpreter) -> Exception:
    return it.unsupported(
        "this changes an object that may be one of several",
        "Change it where it is certain which object it is, or change a copy.",
    )


def note_copied(it: Interpreter, value: Value, key: Any) -> None:
    """Remember that there is a copy of a known object, and of all that it holds."""
    if not isinstance(value, Items) or value.home is not None:
        return
    if is_mutable(value):
        place = place_of(it, value)
        for each in (place, *may_be(it, place)):
            it.reading.copied.setdefault(each, set()).add(key)
    for item in value.values:
        note_copied(it, item, key)


def holds_objects(items: Items) -> bool:
    """Whether something in a known container can change."""
    return any(
        is_mutable(value) or (isinstance(value, Items) and holds_objects(value))
        for value in items.values
    )


def refuse_stand_ins(it: Interpreter, value: Value, around: tuple[ObjectId, ...] = ()) -> None:
    """Refuse to hand on a value that is, or holds, what stands in for a container of `collections`."""
    if not isinstance(value, Items) or value.place in around:
        return
    _refuse_stand_in(it, value)
    around = around if value.place is None else (*around, value.place)
    for item in value.values:
        refuse_stand_ins(it, now(it, item), around)


def _refuse_stand_in(it: Interpreter, items: Items) -> None:
    if not isinstance(items.type, type):
        return
    real = container_polyfills.class_to_see(items.type)
    if real is items.type and not container_polyfills.is_deque(real):
        return
    if issubclass(real, np.ndarray):
        raise it.unsupported(
            "an array of records that the program makes is needed as a value at run time",
            "Hand on its fields, one by one.",
        )
    plain = "dict(d)" if issubclass(real, dict) else "list(d)"
    raise it.unsupported(
        f"a container of class {real.__name__} that the program makes is needed as a value at run time",
        f"Hand on what it holds: `{plain}`.",
    )


def _refuse_one_of_two(it: Interpreter, items: Items) -> None:
    """Refuse to make a run-time object of one that is one of two: it would be a third."""
    if items.place is not None and items.place.several and is_object(items):
        raise it.unsupported(
            "which of two objects this is depends on the run, and it is needed as a value of the run",
            "Use it in each branch, or hand on its attributes.",
        )


def _refuse_keys(it: Interpreter, items: Items) -> None:
    if items.form == "dict" and any(isinstance(key, ObjectKey) for key in items.keys):
        raise it.unsupported(
            "a dictionary whose keys are objects is needed as a value at run time",
            "Keep the values on the objects, or in a list beside them.",
        )
    for name in items.keys if items.type is not None else ():
        if is_property(items.type, name):
            raise it.unsupported(*behind_property(items.type, name))


def run_time_kind(items: Items, like: Kind | None = None) -> Kind:
    """The kind of a known object as one of the run; `like`: that of what a list or dictionary becomes."""
    kinds = [kind_of_value(value) for value in items.values]
    if items.form == "list":
        kinds += [] if like is None else [st.item_kind(like)]
        return Seq(reduce(join, kinds) if kinds else UNKNOWN)
    if items.form != "dict":
        return Struct(items.form, items.keys, tuple(kinds), items.type)
    if items.type not in (None, dict):
        return UNKNOWN
    known = Struct("dict", items.keys, tuple(kinds))
    return st.map_of_dicts(known, *([] if like is None else [like]))
