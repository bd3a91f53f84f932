"""What a container no longer refers to: an object of its own again, or one that is in another place of it."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Atom, Var
from ...ir.records import replace
from ..domain.values import ObjectId, kind_of_value
from ..domain.whereabouts import Held, Moved, Part, Untracked
from ..machine.interpreter import Interpreter
from .aliases import share, share_what_left
from .current import part_of
from .places import in_whole, note_left, place_of
from .views import compared, depth_along, depth_of_path, lead_to_one, meet

Path = tuple[Atom, ...]


def release(it: Interpreter, owner: ObjectId, path: Path) -> ObjectId | None:
    """A path in a container is about to lead to something else; gives the object to which it led, if it is known.

    That is an object of its own from now on, unless it is in another place of the container by now.
    """
    put_there = _replaced(it, owner, path)
    left, inner = None, list[tuple[ObjectId, Path]]()
    for place, content in list(it.heap.items()):
        whole, steps = in_whole(it, content) if isinstance(content, Part) else (None, ())
        alike = list(compared(path, steps))
        if whole is not owner or len(path) > len(steps) or False in alike:
            continue
        if not all(alike):
            it.heap[place] = Untracked("its container may refer to something else by now")
        elif len(path) == len(steps):
            left = place
        else:
            inner.append((place, steps[len(path) :]))
    moved = _moved_from(put_there, path)
    inside = [each for each in put_there if len(each.source) > len(path)]
    if left is None and not inner and not inside and moved is None:
        return _release_unknown(it, owner, path, None)
    value = part_of(it, Part(owner, path))
    assert isinstance(value, Var)
    left = left or ObjectId(value)
    it.reading.places[value] = left
    if moved is not None:
        it.heap[left] = moved.content(owner)
    else:
        it.heap[left] = value
        note_left(it, left, owner)
        share_what_left(it, left, owner, depth_of_path(kind_of_value(owner.origin), path))
    for place, steps in inner:
        moved_inside = _moved_from(put_there, (*path, *steps))
        it.heap[place] = Part(left, steps) if moved_inside is None else moved_inside.content(owner)
    for each in inside:
        below, at_goal = depth_along(each.source[len(path) :]), depth_along(each.goal or path)
        share(it, left, below, owner, at_goal)
    _release_unknown(it, owner, path, left, moved)
    return left


def note_moved(it: Interpreter, owner: ObjectId, source: Path, goal: Path) -> None:
    """An object of a container is put into another place of it: until this is settled it is in two places."""
    if not lead_to_one(goal, source[: len(goal)]):  # which the container refers to no longer
        it.reading.moved.setdefault(owner, []).append(Moved(source, goal))


def _moved_from(records: Sequence[Moved], path: Path) -> Moved | None:
    """Where else an object of a container is, if it was put there."""
    found = [each for each in records if lead_to_one(each.source, path)]
    return found[-1] if found else None


def _replaced(it: Interpreter, owner: ObjectId, path: Path) -> list[Moved]:
    """What was moved from where something else is put now; what was moved to there is not there any more."""
    put_there, others = list[Moved](), list[Moved]()
    for each in it.reading.moved.pop(owner, ()):
        at_goal = each.goal is not None and _may_lead_through(path, each.goal)
        if at_goal and lead_to_one(path, each.goal[: len(path)]):  # type: ignore[index]
            continue
        at_source = _may_lead_through(path, each.source)
        known = at_source and lead_to_one(path, each.source[: len(path)])
        doubtful = at_goal or (at_source and not known)
        kept = replace(each, goal=None) if doubtful else each
        (put_there if known else others).append(kept)
    if others:
        it.reading.moved[owner] = others
    return put_there


def _may_lead_through(path: Path, other: Path) -> bool:
    """Whether what stands at a path may be what another path leads to, or through."""
    return len(path) <= len(other) and meet(path, other[: len(path)])


def _release_unknown(
    it: Interpreter, owner: ObjectId, path: Path, left: ObjectId | None, moved: Moved | None = None
) -> ObjectId | None:
    """What was put into a container in this very block, and is replaced, is no longer in it.

    Gives the object that has been replaced, if it is known.
    """
    for held in list(it.reading.holding_unknown.get(owner, ())):
        if held.builder is not it.builder or not lead_to_one(path, held.steps[: len(path)]):
            continue
        it.reading.holding_unknown[owner].remove(held)
        others = it.reading.put_into.get(held.value, [])
        others[:] = [each for each in others if each is not held]
        deeper = held.steps[len(path) :]
        if moved is not None and moved.goal is not None:
            _hold(it, held, owner, (*moved.goal, *deeper))
        elif moved is not None:
            it.heap[place_of(it, held.value)] = moved.content(owner)
        elif not deeper and left is None:
            left = place_of(it, held.value)
        elif deeper and left is None:
            it.heap[place_of(it, held.value)] = Untracked(
                "what holds it is in its container no more"
            )
        elif deeper and left is not None:
            _hold(it, held, left, deeper)
    return left


def _hold(it: Interpreter, held: Held, owner: ObjectId, path: Path) -> None:
    """A value that may be an object is in another place."""
    again = Held(held.value, Part(owner, path), owner, path, held.builder)
    it.reading.holding_unknown.setdefault(owner, []).append(again)
    it.reading.put_into.setdefault(held.value, []).append(again)
