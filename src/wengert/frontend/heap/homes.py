"""Where a value is: in which object, by which steps, and whether another one is there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ...ir.graph import Atom, Var
from ...ir.records import replace, value_record
from ...ops import structure as st
from ..domain.values import Items, ObjectId, Value, is_mutable
from ..domain.whereabouts import Part, Untracked
from ..machine.interpreter import Interpreter
from .aliases import ties
from .current import now, what_happened
from .places import as_the_object, identities, in_whole, place_of
from .views import depth_of_path, lead_to_one, meet, steps_of, steps_to_write, view_of, views_to


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


@value_record
class Spot:
    """Where something is: in which object, by which steps, and through how many containers."""

    place: ObjectId
    path: tuple[Atom, ...]
    depth: int


def items_inside(spot: Spot) -> Spot:
    """Where the items of a container are."""
    return replace(spot, depth=spot.depth + 1)


def is_known_container(it: Interpreter, var: Var) -> bool:
    """Whether a value is an object that the program made, as a whole or as part of another one."""
    spot = spot_of(it, var)
    if not spot.path:
        return isinstance(spot.place.origin, Items)
    whole, path = in_whole(it, Part(spot.place, spot.path))
    return any(
        isinstance(place.origin, Items) and in_whole(it, content) == (whole, path)
        for place, content in it.heap.items()
        if isinstance(content, Part)
    )


def spots_of_items(it: Interpreter, containers: Iterable[Var]) -> list[Spot]:
    """Where the items of containers are."""
    return [items_inside(spot_of(it, each, watched=True)) for each in containers]


def with_either(it: Interpreter, spots: Iterable[Spot]) -> list[Spot]:
    """Spots; of what is one of two objects, those in either as well."""
    found = list(spots)
    seen = set[tuple[ObjectId, tuple[int, ...]]]()
    for each in found:
        origin, way = each.place.origin, (each.place, tuple(map(id, each.path)))
        if way in seen or not isinstance(origin, Var):
            continue
        seen.add(way)
        for known in it.reading.choices.get(origin, ())[1:]:
            if isinstance(known, Var):
                whole = spot_of(it, known, watched=True)
                path = (*whole.path, *each.path)
                found.append(Spot(whole.place, path, whole.depth + each.depth))
    return found


def spots_inside(it: Interpreter, value: Value) -> Iterator[Spot]:
    """The objects that a value is or holds."""
    value = as_the_object(value)
    places = identities(it, value, own=True) if is_mutable(value) else set[ObjectId]()
    if isinstance(value, Var) and places:
        own = spot_of(it, value)
        yield own
        places = places - {own.place}
    yield from (Spot(place, (), 0) for place in places)
    for item in value.values if isinstance(value, Items) else ():
        yield from spots_inside(it, now(it, item))


def spots_of(it: Interpreter, value: Var, owner: ObjectId) -> list[Spot]:
    """Where a value is part of something, and where it may be part of what it is put into."""
    own = spot_of(it, value)
    tied = spot_by_tie(it, own, owner)
    return [*([own] if own.path else []), *([tied] if tied is not None else [])]


def spot_by_tie(it: Interpreter, own: Spot, owner: ObjectId) -> Spot | None:
    """Where something may be in an object that it is not said to be part of.

    What a loop carries is said to be what it is part of.
    """
    tie = ties(it, own.place).get(owner)
    if tie is None or tie[0] > own.depth:
        return None
    return Spot(owner, (), max(1, tie[1] + own.depth - tie[0]))


def goes_into(path: tuple[Atom, ...], depth: int, spot: Spot) -> bool:
    return depth > spot.depth and meet(path, spot.path)


def spot_of(it: Interpreter, var: Var, *, watched: bool = False) -> Spot:
    """Where a value is that may be part of an object.

    What is only `watched` for changes may be in a view whose shape is known when the program runs.
    """
    root, steps = var, list[Atom]()
    while root not in it.reading.places:
        whose, eqn = it.reading.stands_for.get(root), view_of(it, root)
        if whose is not None:
            root = whose
            continue
        if eqn is None or it.has_left_its_place(root):
            break
        steps[:0] = steps_of(eqn) if watched else steps_to_write(it, eqn)
        root = eqn.args[0]
        assert isinstance(root, Var)
    return Spot(place_of(it, root), tuple(steps), depth_of_path(root.kind, steps))


def can_be_one(it: Interpreter, a: Var, b: Var) -> bool:
    """Whether two values may turn out to be one object."""
    here, there = spot_of(it, a), spot_of(it, b)
    if here.place is there.place:
        return len(here.path) == len(there.path) and meet(here.path, there.path)
    if not identities(it, a, own=True).isdisjoint(identities(it, b, own=True)):
        return True
    tie = ties(it, here.place).get(there.place)
    if tie is not None and here.depth >= tie[0] and here.depth - tie[0] == there.depth - tie[1]:
        return True
    return any(can_be_one(it, item, b) for item in _picked_from(it, a)) or any(
        can_be_one(it, a, item) for item in _picked_from(it, b)
    )


def _picked_from(it: Interpreter, var: Var) -> Iterator[Var]:
    """The objects of a known container that was packed to pick one of them."""
    picked = view_of(it, var)
    whole = picked.args[0] if picked is not None else None
    made = it.builder.visible_definition(whole) if isinstance(whole, Var) else None
    if made is not None and made.op is st.pack and made.outs[0] in it.reading.copies:
        yield from (item for item in made.args if isinstance(item, Var))
