"""Where a value is in a run-time object, and whether another one is there."""

from __future__ import annotations

from ...ir.graph import Atom, Var
from ..domain.values import ObjectId, Part, Untracked, is_mutable
from ..machine.interpreter import Interpreter
from .current import what_happened
from .places import in_whole, place_of
from .views import lead_to_one, steps_of, views_to


def is_there(it: Interpreter, var: Var, step: Atom, value: Atom) -> bool:
    """Whether a container refers to a value already where it is to."""
    owner, others = _home_of(it, var)
    return _is_still_at(it, value, owner, (*others, step))


def are_in_one_place(it: Interpreter, a: Var, b: Var) -> bool:
    """Whether two values are one object, or were read from one place of one."""
    return _is_at(it, a, *_home_of(it, b))


def _is_at(it: Interpreter, value: Var, owner: ObjectId | None, path: tuple[Atom, ...]) -> bool:
    whole, steps = _home_of(it, value)
    return whole is owner and whole is not None and lead_to_one(steps, path)


def _is_still_at(
    it: Interpreter, value: Atom, owner: ObjectId | None, path: tuple[Atom, ...]
) -> bool:
    """Whether an object is where it was taken from: nothing else has been put there since."""
    if not isinstance(value, Var) or not is_mutable(value) or what_happened(it, value)[0]:
        return False
    return _is_at(it, value, owner, path)


def _home_of(it: Interpreter, var: Var) -> tuple[ObjectId | None, tuple[Atom, ...]]:
    """The run-time object that a value is in, if it is known, and the way to it."""
    root, views = views_to(it, var)
    steps = tuple(step for eqn in views for step in steps_of(eqn))
    place = place_of(it, root)
    content = it.heap.get(place)
    if isinstance(content, Untracked):
        return None, ()
    if isinstance(content, Part):
        return in_whole(it, Part(content.place, (*content.steps, *steps)))
    return place, steps


def that_may_stay(it: Interpreter, var: Var, step: Atom, value: Atom) -> ObjectId | None:
    """The object which is where a value is to be put, if the value may be that object."""
    owner, others = _home_of(it, var)
    path = (*others, step)
    chosen = _chosen_from(it, value)
    there = next((each for each in chosen if _is_still_at(it, each, owner, path)), None)
    if owner is None or there is None:
        return None
    for place, content in it.heap.items():
        if isinstance(content, Part) and in_whole(it, content) == (owner, path):
            return place
    place = place_of(it, there)
    it.heap[place] = Part(owner, path)
    return place


def _chosen_from(it: Interpreter, value: Atom) -> dict[Var, None]:
    """The objects of which a value is one, and what these were before they were looked at again."""
    found: dict[Var, None] = {}
    pending = [value]
    while pending:
        each = pending.pop()
        if isinstance(each, Var) and each not in found:
            found[each] = None
            chosen = it.reading.choices.get(each, ())[1:]
            pending += [other for other in (*chosen, it.reading.stands_for.get(each)) if other]
    return found
