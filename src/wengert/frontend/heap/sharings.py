"""Parts that are put into containers: where they change as well, the program is read again with checks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Var
from ...ir.records import replace
from ...ir.types import UNKNOWN, Number, Other
from ...ops import structure as st
from ...ops.program import identity as ident
from ..domain.values import Items, ObjectId, Value, is_mutable
from ..domain.whereabouts import Held, Part, Untracked, Write
from ..machine.interpreter import Interpreter
from .aliases import hold_same, may_be, ties
from .current import now, one_value, what_happened
from .globals_state import note_change_of
from .homes import (
    Spot,
    goes_into,
    items_inside,
    spot_by_tie,
    spot_of,
    spots_inside,
    spots_of,
    spots_of_items,
    with_either,
)
from .places import as_the_object, identities, in_whole, keep, place_of, refuse_given
from .releasing import note_moved
from .views import depth_along, depth_of_views, is_slice, lead_to_one, view_of, views_to


class SharedItems(Exception):
    """What two containers (or two places of one) hold changes: it is read again, with checks."""


def note_sharing(it: Interpreter, value: Value, owner: Var, deeper: int = 1) -> Value:
    """A part of something is put into a container: two ways lead to it from now on.

    That matters only if it changes. Where it does, the program checks when it runs.
    """
    value = as_the_object(value)
    if isinstance(value, Items):
        inside = _note_carried if is_mutable(value) else note_sharing
        for item in value.values:
            inside(it, item, owner, deeper + 1)
    if not isinstance(value, Var) or isinstance(value.kind, (Number, Other)):
        return value
    refuse_replaced(it, value)
    _note_rows(it, value, [owner] if deeper == 1 else [])
    goal = spot_of(it, owner)
    goal = replace(goal, depth=goal.depth + deeper)
    for source in spots_of(it, value, goal.place):
        if not is_shared(it, source, goal):
            continue
        if source.place is goal.place and source.depth == goal.depth:
            it.reading.doubtful[goal.place] = None
        else:
            _refuse_shared(it, value, owner if deeper == 1 else None)
    return value


def note_items(it: Interpreter, items: Var, owner: Var) -> None:
    """A list takes in what another one holds: two ways lead to that from now on."""
    source, goal = (items_inside(spot_of(it, each)) for each in (items, owner))
    if source.place is goal.place and items.kind != UNKNOWN:
        raise it.unsupported(
            "a list takes objects in that it has already: they would be in two places",
            "Put copies of them into it.",
        )
    before = source
    if source.place is not goal.place:
        before = spot_by_tie(it, source, goal.place)
    if before is not None and is_shared(it, before, goal):
        if before.depth != goal.depth:
            _refuse_shared(it, items, owner)
        it.reading.doubtful[goal.place] = None
    hold_same(it, source.place, source.depth, goal.place, goal.depth)


def note_taken_in(it: Interpreter, items: Var, owner: Var) -> None:
    """`owner += items`, which only the run tells from a sum: a list takes in what another one holds.

    If what they hold changes, that is to be numbers, or the owner an array.
    """
    key = it.builder.span, "taken in"
    _note_spots(it, key, spots_of_items(it, [items, owner]))
    if key in it.reading.checked:
        it.emit(ident.no_shared_items, items, owner)


def note_joined(it: Interpreter, joined: Var, operands: Iterable[Var]) -> None:
    """`xs + ys` or `xs * n`, which only the run tells from arithmetic: the new list holds what the others hold.

    If that changes, in one of them, it is to be numbers, or the result no list.
    """
    key = it.builder.span, "joined"
    _note_spots(it, key, spots_of_items(it, [joined, *operands]))
    if key in it.reading.checked:
        it.emit(ident.no_shared_items, joined)


def _note_spots(it: Interpreter, key: object, spots: Iterable[Spot]) -> None:
    """Have the program read again with a check if something changes at one of some spots."""
    for each in with_either(it, spots):
        it.reading.sharings.setdefault(each.place, {}).setdefault(key, []).append(each)
        check_sharing(it, each.place)


def note_copy(it: Interpreter, value: Value, owner: Var, step: Atom) -> Atom:
    """What is put into an array is copied; a list or a dictionary refers to it from now on.

    Only the run tells them apart. If what is put there changes, here or there, it is to be an array.
    """
    key = it.builder.span, "copied"
    spot = spot_of(it, owner)
    goal = Spot(spot.place, (*spot.path, step), spot.depth + 1)
    _note_spots(it, key, [goal, *spots_inside(it, value)])
    atom = it.atom(value)
    if key in it.reading.checked and not isinstance(kind_of_atom(atom), (Number, Other)):
        it.emit(ident.unshared, atom, owner)
    return atom


def _note_rows(it: Interpreter, value: Var, owner: list[Var]) -> None:
    """What indices gave may be a view of an array, which changes with every write to the array.

    If it is an item of a list, only a change deeper in it matters; an `owner` that is an array copies it.
    """
    root, views = views_to(it, value)
    spot, whole = spot_of(it, value), depth_of_views(root, views)
    for k, eqn in enumerate(views):
        indexed = eqn.op is st.getitem and kind_of_atom(eqn.args[0]) == UNKNOWN
        if not indexed or is_slice(eqn.args[1]):
            continue
        key = it.builder.span, k
        spots = it.reading.sharings.setdefault(spot.place, {}).setdefault(key, [])
        spots.append(replace(spot, depth=spot.depth - whole + depth_of_views(root, views[:k])))
        check_sharing(it, spot.place)
        if key in it.reading.checked:
            it.emit(ident.no_view, value, eqn.args[0], *owner)


def _note_carried(it: Interpreter, value: Value, owner: Var, deeper: int) -> None:
    """What a new list or object brings into a container may be in there already, from an earlier iteration.

    Of what it takes from other containers, `note_view` says where it is.
    """
    if isinstance(value, Items):
        for item in value.values:
            _note_carried(it, item, owner, deeper + 1)
    if not isinstance(value, Var) or isinstance(value.kind, (Number, Other)):
        return
    goal = spot_of(it, owner)
    goal = replace(goal, depth=goal.depth + deeper)
    source = spot_by_tie(it, spot_of(it, value), goal.place)
    if source is not None and is_shared(it, source, goal):
        _refuse_shared(it, value)


def note_view(
    it: Interpreter, part: Var, owner: ObjectId, path: tuple[Atom, ...], *, noted: bool
) -> None:
    """A view or a part of one object is kept in another one: what changes in either changes in both."""
    source, goal = spot_of(it, part), Spot(owner, path, depth_along(path))
    whole, way = in_whole(it, Part(source.place, source.path))
    if whole is owner:
        note_moved(it, owner, way, path)
        if is_shared(it, Spot(whole, way, depth_along(way)), goal):
            it.reading.doubtful[owner] = None
    elif not source.path or part.kind != UNKNOWN or source.place in it.reading.left_from:
        hold_same(it, source.place, source.depth, owner, goal.depth)
    elif not noted and is_shared(it, source, goal):  # a number, most likely
        _refuse_shared(it, part)


def note_again(it: Interpreter, place: ObjectId, part: Part) -> None:
    """An object is put into a container that may have it already: what changes here changes there.

    A loop that puts the same object into a container each time is read more than once.
    """
    owner, path = in_whole(it, part)
    before = it.reading.kept_at.setdefault(place, [])
    for other in before:
        known = all(isinstance(step, Const) for step in path)
        if other.place is owner and not (known and lead_to_one(other.steps, path)):
            spots = [Spot(owner, way, depth_along(way)) for way in (other.steps, path)]
            if is_shared(it, *spots):
                if known and all(isinstance(step, Const) for step in other.steps):
                    raise it.unsupported(*HELD_TWICE)
                it.reading.doubtful[owner] = None
            break  # every place is compared with one
    before.append(Part(owner, path))


HELD_TWICE = (
    "a list that may hold one object many times is made, and objects are changed in it",
    "Put copies into the list, or change the objects under their own names.",
)


def is_shared(it: Interpreter, *spots: Spot) -> bool:
    """Whether an object in several places changes there, as the program is known that is read again."""
    key = it.builder.span
    _note_spots(it, key, spots)
    return key in it.reading.checked


def _refuse_shared(it: Interpreter, value: Var, owner: Var | None = None) -> None:
    if value.kind != UNKNOWN:
        raise it.unsupported(
            "an object that is changed elsewhere is put into a second container",
            "Put a copy into the container, so that every object is in one place.",
        )
    it.emit(ident.unshared, value, *([] if owner is None else [owner]))


def refuse_replaced(it: Interpreter, part: Value) -> None:
    """Refuse to put somewhere what its container may refer to no longer, where that is not known."""
    if not isinstance(part, Var) or isinstance(part.kind, (Number, Other)):
        return
    if part in it.reading.places or view_of(it, part) is None:
        return
    if it.has_left_its_place(part) or not what_happened(it, part)[0]:
        return
    if part.kind == UNKNOWN:
        it.emit(ident.unshared, part)
    else:
        raise it.unsupported(
            "a part of a container is put into another one after the container got other items",
            "Take the item out again where it is used, or put a copy there.",
        )


def check_sharing(it: Interpreter, place: ObjectId) -> None:
    """Have the program read again with checks if what is shared changes.

    How deep what has left an object is in it elsewhere, nobody knows.
    """
    noted = it.reading.sharings.get(place)
    if not noted:
        return
    writes, left = it.reading.writes, it.reading.left_from
    if any(each in writes for each, owner in left.items() if owner is place):
        _read_again(it, set(noted))
    among = writes.get(place, ()), it.reading.changed_inside.get(place, ())
    compared = it.reading.compared.setdefault(place, {})
    _read_again(
        it, {key for key, spots in noted.items() if _has_changed(it, compared, key, spots, among)}
    )


def _has_changed(
    it: Interpreter,
    compared: dict[Any, tuple[int, ...]],
    key: Any,
    spots: Sequence[Spot],
    among: Sequence[Sequence[Write]],
) -> bool:
    """Whether a write changes what is at some spots, of those pairs that have not been compared before."""
    counts = (len(spots), *map(len, among))
    if key in it.reading.checked or compared.get(key) == counts:
        return False
    old_spots, *old = compared.get(key, (0,) * len(counts))
    compared[key] = counts
    return any(
        goes_into(write.path, write.depth, spot)
        for writes, start in zip(among, old, strict=True)
        for n, spot in enumerate(spots)
        for write in (writes[start:] if n < old_spots else writes)
    )


def _check_spots(it: Interpreter, place: ObjectId, changes: Callable[[Spot], bool]) -> None:
    noted = it.reading.sharings.get(place, {}).items()
    checked = it.reading.checked
    _read_again(
        it, {key for key, spots in noted if key not in checked and any(map(changes, spots))}
    )


def _read_again(it: Interpreter, keys: set[Any]) -> None:
    """Have the program read again with checks at some places in the source, unless it is."""
    found = keys - it.reading.checked
    if found:
        it.reading.checked |= found
        raise SharedItems


def lose_aliases(it: Interpreter, place: ObjectId, depth: int) -> None:
    """What changes in an object, so deep in it, changes in others that share it: they are lost."""
    lost = Untracked("it may be an object that was changed under another name")

    def lose(places: Iterable[ObjectId]) -> None:
        for each in places:
            if not _is_read_as_one_of_two(it, each, place):
                refuse_given(it, each)
                note_change_of(it, each)
                keep(it, it.reading.holding_copies.get(each, ()))
                it.heap[each] = lost
                if each.twin is not None:
                    it.heap[each.twin] = lost

    for other, (below, below_other) in ties(it, place).items():
        if depth > below:
            lose([other])
            # what is inside one is inside the other, even where it is not known how deep
            somewhere = below > 0 and below_other == 0 and isinstance(other.origin, Items)
            deep = depth - below + max(below_other, int(below > 0))
            for held in it.reading.holding_unknown.get(other, ()):
                if somewhere or deep > depth_of(held):
                    lose(may_be_held(it, held))
            if isinstance(other.origin, Var):
                for held in it.reading.put_into.get(other.origin, ()):
                    inside = depth - below + below_other + depth_of(held)
                    lose(_around(it, held.whole, inside, place))
            _check_spots(it, other, lambda spot, deep=deep: deep > spot.depth)


def _is_read_as_one_of_two(it: Interpreter, whole: ObjectId, place: ObjectId) -> bool:
    """Whether a value is one of two objects, of which one is at a place: it is read as that is then."""
    origin = whole.origin
    if whole in it.heap or not isinstance(origin, Var):
        return False
    objects = it.reading.choices.get(origin, (None,))[1:]
    known = len(objects) == 2 and None not in objects
    return known and place in identities(it, origin) - {whole}


def _around(it: Interpreter, whole: ObjectId, depth: int, changed: ObjectId) -> list[ObjectId]:
    """A container in which something changes so deep, and what shares that, unless it is what is known to change."""
    around = ties(it, whole)
    if whole is changed or changed in around:
        return []
    return [whole, *(each for each, (below, _) in around.items() if depth > below)]


def may_be_held(it: Interpreter, held: Held) -> set[ObjectId]:
    """The objects that a value may be which was put into a container: loops bind its name to others."""
    place = place_of(it, held.value)
    return {place, *may_be(it, place)}


def depth_of(held: Held) -> int:
    """Through how many containers a value was put into an object."""
    return depth_along(held.steps)


def settle_doubts(it: Interpreter) -> None:
    """Check that no object stands twice in a container whose items were moved about."""
    it.reading.moved.clear()
    while it.reading.doubtful:
        owner, _ = it.reading.doubtful.popitem()
        it.emit(ident.distinct, one_value(it, now(it, owner.origin)))


def settle_before(it: Interpreter, place: ObjectId, path: tuple[Atom, ...], depth: int) -> None:
    """Check that an object which is about to change is in no other place of the container it is in, or was in.

    Later it may be in one place again, where what is in the other is replaced.
    """
    owner = it.reading.left_in_doubt.get(place)
    if owner is not None and not isinstance(it.heap.get(place), Part):
        it.emit(ident.gone, *(one_value(it, now(it, each.origin)) for each in (place, owner)))
    if place in it.reading.doubtful:
        noted = it.reading.sharings.get(place, {}).items()
        checked = (spots for key, spots in noted if key in it.reading.checked)
        # at no depth it is an array, whose rows are in one place
        doubted = (spot for spots in checked for spot in spots if spot.depth)
        if any(goes_into(path, depth, spot) for spot in doubted):
            del it.reading.doubtful[place]
            it.emit(ident.distinct, one_value(it, now(it, place.origin)))
