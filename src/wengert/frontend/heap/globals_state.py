"""Objects that were there before the program ran: globals, attributes of classes, captured variables.

Where the program only reads one, it is read where it is used. One that the program changes is read at
the very start, once, and followed from there as an argument is.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import ModuleType
from typing import Any

import numpy as np

from ...ir.builder import Builder
from ...ir.graph import Const, Var
from ...ir.types import UNKNOWN, Kind, Other, Static
from ...ops import structure as st
from ...runtime.copies import can_change
from ...runtime.reached import BOUND, reached_from
from ..domain.values import ObjectId, held_by
from ..machine.guards import rely_on
from ..machine.interpreter import Interpreter
from .places import NeedsWhole

LARGEST = 10_000
"""How many parts of an object are looked at."""


def tracked(
    it: Interpreter, holder: Any, key: str, name: str, value: Any, kind: Kind
) -> Var | None:
    """The object itself, if the program changes it; None if it may be read anew at each use.

    Raises:
        UnsupportedSyntax: it cannot be followed here.
    """
    changed = it.reading.changed_outside
    if not (can_change(value) or isinstance(value, tuple)):
        return None
    it.reading.seen_outside[id(value)] = value
    _refuse_overlap(it, name, value)
    if id(value) not in changed:
        return None
    if it.reading.root is not root_of(it.builder):
        raise it.unsupported(
            f"`{name}`, which was there before the program ran, is changed, and used in a function that "
            "recurses or is large",
            "Pass it to the function as an argument.",
        )
    var = it.reading.outside.get(id(value))
    if var is None:
        var = it.reading.outside[id(value)] = _read_early(it, holder, key, name, kind)
    elif it.reading.read_from[var] != (holder, key):
        for place in (it.reading.read_from[var], (holder, key)):  # two names of one object
            it.reading.guards[id(place[0]), f"{place[1]} itself"] = *place, Static(value)
    return var


class _Places:
    """Places that objects were read from: first those that the program changes."""

    def __init__(self, places: Sequence[tuple[Any, str]], changed: int):
        self._places = places
        self._changed = changed
        self._before = self._same()

    def _same(self) -> Sequence[object]:
        """Which of them hold one object, and which arrays share memory with one that is changed."""
        values = [held_by(*place) for place in self._places]
        first: dict[int, int] = {}
        same = [first.setdefault(id(x), k) for k, x in enumerate(values)]
        arrays = [k for k, x in enumerate(values) if isinstance(x, np.ndarray)]
        return same + [
            (k, other)
            for k in arrays
            for other in arrays
            if k < min(other, self._changed) and np.may_share_memory(values[k], values[other])
        ]

    @property
    def are_as_before(self) -> bool:
        """Whether what is changed in one place is seen in those where it was when the program was read."""
        return self._same() == self._before


def rely_on_places(it: Interpreter) -> None:
    """What the program changes outside may be bound, later, to a name by which it reads something else."""
    reading = it.reading
    early = set(reading.outside.values())
    changed = [reading.read_from[var] for var in early]
    others = {
        (id(place[0]), place[1]): place
        for var, place in reading.read_from.items()
        if var not in early and can_change(held_by(*place))
    }
    places = _Places([*changed, *others.values()], len(changed))
    if changed and len(changed) + len(others) > 1:
        rely_on(reading.guards, places, "are_as_before", found=True)


def note_holder(it: Interpreter, name: str, value: Any) -> None:
    """A function that is known, and may hold what the program changes: a method that is bound to it, say.

    Raises:
        UnsupportedSyntax: it does.
    """
    if isinstance(value, (*BOUND, functools.partial)):
        it.reading.seen_outside[id(value)] = value
        _refuse_overlap(it, name, value)


def _read_early(it: Interpreter, holder: Any, key: str, name: str, kind: Kind) -> Var:
    early = Builder(it.builder.span)
    params = {"name": Const(name), "holder": Const(holder), "key": Const(key)}
    kind = UNKNOWN if isinstance(kind, Other) else kind
    var = early.emit_with(st.global_, (), params, name=name, kind=kind)
    assert isinstance(var, Var)
    it.reading.early += early.eqns
    it.reading.read_from[var] = holder, key
    place = it.reading.places[var] = ObjectId(var)
    place.born = -1
    return var


def note_change(it: Interpreter, var: Var) -> None:
    """An object is about to change.

    Raises:
        NeedsWhole: it was there before the program ran, and was read where it was used.
    """
    found = places_read(it, var)
    for holder, key in found:
        value = held_by(holder, key)
        it.reading.changed_outside[id(value)] = value
    if found:
        raise NeedsWhole


def note_change_of(it: Interpreter, place: ObjectId) -> None:
    """An object is about to change, through what holds it now.

    Raises:
        NeedsWhole: it was there before the program ran, and was read where it was used.
    """
    if isinstance(place.origin, Var):
        note_change(it, place.origin)


def places_read(it: Interpreter, var: Var) -> list[tuple[Any, str]]:
    """Where a value, which may be one of several, was read where it was used: holders and keys."""
    reading = it.reading
    own = reading.read_from.get(var)
    found = [] if own is None or var in reading.outside.values() else [own]
    return found + reading.may_be_read_from.get(var, [])


def may_be_read(it: Interpreter, var: Var, place: ObjectId) -> None:
    """A value that comes out of a branch may be an object that an arm has read where it was used."""
    found = places_read(it, place.origin) if isinstance(place.origin, Var) else []
    it.reading.may_be_read_from.setdefault(var, []).extend(found)


def _refuse_overlap(it: Interpreter, name: str, value: Any) -> None:
    """Refuse two names that lead to one object which the program changes."""
    changed = it.reading.changed_outside
    if not changed:
        return
    others = it.reading.seen_outside if id(value) in changed else changed
    mine = _parts(value)
    for other in others.values():
        if other is not value and mine & _parts(other):
            raise it.unsupported(
                f"`{name}` leads to an object that the program changes under another name",
                "Use one of the names only.",
            )


def _parts(value: Any) -> set[int]:
    """What an object holds that can change, itself included."""
    found: set[int] = set()
    pending = [value]
    while pending and len(found) < LARGEST:
        current = pending.pop()
        if id(current) in found or not (can_change(current) or isinstance(current, tuple)):
            continue
        found.add(id(current))
        if isinstance(current, np.ndarray):
            found.add(id(current.base))
        elif not isinstance(current, (type, ModuleType)):
            pending.extend(reached_from(current))
    return found - {id(None)}


def root_of(builder: Builder) -> Builder:
    """The outermost of the blocks that are being read."""
    while builder.parent is not None:
        builder = builder.parent
    return builder
