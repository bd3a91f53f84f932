"""The ways to what changes: the run-time object that a value is part of, and the steps that lead to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Var
from ...ir.types import INT
from ..domain.values import ObjectId
from ..domain.whereabouts import Part, Untracked
from ..machine.interpreter import Interpreter
from .aliases import link_holders, may_be_part, shares, ties
from .current import now, read, what_happened
from .packing import materialise
from .places import identities, keep, note_left, place_of
from .views import compared, depth_of_path, steps_to_write, view_of, views_to


class ByIndex(Exception):
    """The items of what a loop walks over change: the program is read again, walking by index."""


def walk_by_index(it: Interpreter, loop: int | None) -> NoReturn:
    """Have the program read again, with a loop that asks for the items it walks over by their index.

    Raises:
        ByIndex: it is read again.
        UnsupportedSyntax: that has been tried, or the loop is no statement.
    """
    if loop is None or loop in it.reading.by_index:
        raise it.unsupported(
            "the items that this walks over change meanwhile",
            "Walk over a copy (`list(items)`), or change the items in a `for` loop of its own.",
        )
    it.reading.by_index.add(loop)
    raise ByIndex


def taken_out(it: Interpreter, value: Var, owner: Var, key: Atom) -> None:
    """An item that is read is about to be taken out of its container: an object of its own from then on."""
    place = it.reading.places[value] = ObjectId(value)
    root, steps = path_to(it, owner)
    path, around = (*steps, key), place_of(it, root)
    note_left(it, place, around)
    shares(it, place, ties(it, around), depth_of_path(root.kind, path))
    for held in it.reading.holding_unknown.get(around, ()):
        if len(held.steps) >= len(path) and may_lead_to_one(path, held.steps):
            may_be_part(it, place_of(it, held.value), place, len(held.steps) - len(path))


def may_lead_to_one(path: Sequence[Atom], other: Sequence[Atom]) -> bool:
    """Whether a path may lead to where another one led once: items of lists move, attributes do not."""
    pairs = zip(path, other, compared(path, other), strict=False)
    return all(INT in map(kind_of_atom, pair) or same is not False for *pair, same in pairs)


def moved(it: Interpreter, var: Var) -> None:
    """The items of an object are no longer where they were."""
    place = it.reading.places.get(var) or place_of(it, path_to(it, var)[0])
    owners = {place, *identities(it, var, own=True)}
    for other, content in list(it.heap.items()):
        if isinstance(content, Part) and content.place in owners:
            it.heap[other] = Untracked("it was moved inside the container that holds it")


def path_to(it: Interpreter, var: Var) -> tuple[Var, tuple[Atom, ...]]:
    """The run-time object that a value is part of, as it is now, and the steps that lead to it."""
    whose = it.reading.stands_for.get(var)
    if whose is not None:
        _refuse_replaced(it, whose)
        return path_to(it, whose)
    place = it.reading.places.get(var)
    if place is not None:
        content = it.heap.get(place)
        if isinstance(content, Part):
            return _path_of_part(it, content)
        if content is None:
            _refuse_unfollowed(it, var)
        current = var if content is None else read(it, place, content, var)
        assert isinstance(current, Var), "a run-time object has become a known one"
        return current, ()
    eqn = view_of(it, var)
    if eqn is None:
        _refuse_unfollowed(it, var)
        return var, ()
    if it.has_left_its_place(var):
        return path_to(it, var)
    base = eqn.args[0]
    assert isinstance(base, Var)
    root, steps = path_to(it, base)
    _refuse_replaced(it, var)
    return root, (*steps, *steps_to_write(it, eqn))


def _refuse_replaced(it: Interpreter, part: Var) -> None:
    replaced, _ = what_happened(it, part)
    if replaced:
        raise it.unsupported(
            "a part of a container is changed after the container got other items",
            "Take the item out again where it is changed.",
        )


def _path_of_part(it: Interpreter, part: Part) -> tuple[Var, tuple[Atom, ...]]:
    origin = part.place.origin
    owner = now(it, origin)
    root, steps = path_to(it, owner if isinstance(owner, Var) else materialise(it, owner))  # type: ignore[arg-type]
    return root, (*steps, *part.steps)


def _refuse_unfollowed(it: Interpreter, var: Var) -> None:
    """Refuse to change what may be an object that something else refers to."""
    from .sharing import roots

    if var in it.reading.elements:
        walk_by_index(it, it.reading.elements[var])
    link_holders(it, var)
    found = roots(it, var)
    keys = set[Any]()
    for place in it.reading.aliases.get(it.reading.places.get(var), ()):  # type: ignore[call-overload]
        keys |= it.reading.packed_at.get(place, set())
        if isinstance(place.origin, Var):
            found.add(place.origin)
    keep(it, keys | {it.reading.copies[root] for root in found if root in it.reading.copies})


def is_of_copy(it: Interpreter, var: Var) -> bool:
    """Whether a value was read from a copy of a known container, made to be read at run time."""
    from .sharing import roots

    found = roots(it, views_to(it, var)[0])
    return bool(found) and found <= it.reading.copies.keys()
