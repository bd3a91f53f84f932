"""Which objects the values that a loop carries may be: objects made before it, and each other's.

Two names of a loop that refer to two objects and change places (`old, new = new, old`) refer to two
objects in every iteration. That is found by reading the body: what may be one object at the end of an
iteration may be one when the next begins.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set as AbstractSet
from itertools import combinations
from typing import Any

from ...ir.graph import Var
from ...ir.records import field, mutable_record, replace
from ...ir.types import UNKNOWN
from ..domain.values import Items, Maybe, ObjectId, Value, is_mutable
from ..machine.interpreter import Interpreter
from . import (
    ONE,
    Tie,
    depth_in_whole,
    hold_unknown_of,
    identities,
    may_be_one,
    objects_of,
    share,
    ties,
    with_aliases,
)
from .globals_state import note_change_of
from .homes import spot_of
from .places import as_the_object, is_older_object, place_of
from .sharing import roots
from .sharings import HELD_TWICE, is_shared
from .views import view_of

Path = tuple[Any, ...]
Within = dict[ObjectId, int]
"""The objects that a value may be, or be part of, and through how many containers it is reached in them."""
Objects = Mapping[Path, Within]
Node = tuple[Any, Path]
"""One object in what a loop carries: what a name refers to, or what that holds, by its path."""
Ties = dict[ObjectId, Tie]
"""Objects that share something with another one: all of it, or what is so deep in them."""


@mutable_record
class Ends:
    """What the carried names may refer to when an iteration ends, as far as the body has been read."""

    outside: dict[Node, Ties] = field(default_factory=dict[Node, Ties])
    """Objects made before the loop that they are, or share something with."""
    carried: dict[Node, set[Node]] = field(default_factory=dict[Node, set[Node]])
    """What carried names referred to when the iteration started."""
    shared: dict[Node, dict[Node, Tie]] = field(default_factory=dict[Node, dict[Node, Tie]])
    """Carried names whose objects, when the iteration started, they share something with."""
    pairs: dict[tuple[Node, Node], Tie] = field(default_factory=dict[tuple[Node, Node], Tie])
    """Which two may be one object, or share something, in either order."""

    def size(self) -> tuple[int, int]:
        known = [*self.outside.values(), *self.shared.values(), self.pairs]
        depths = sum(sum(tie) for ties in known for tie in ties.values())
        return sum(map(len, [*known, *self.carried.values()])), depths

    def reachable(self, node: Node) -> set[Node]:
        """What a name may refer to some iterations later: objects of carried names."""
        found: set[Node] = set()
        pending = [node]
        while pending:
            current = pending.pop()
            if current not in found:
                found.add(current)
                pending += self.carried.get(current, ())
        return found


def objects_in(
    it: Interpreter, value: Value | None, path: Path = (), around: tuple[ObjectId, ...] = ()
) -> dict[Path, Within]:
    """The objects that a value is or holds, by path; `around` are those that it is in itself."""
    match value:
        case Maybe(value=inner):
            return objects_in(it, inner, path, around)
        case Items(keys=keys, values=values):
            found: dict[Path, Within] = {}
            if is_mutable(value):
                places = identities(it, value, own=True)
                if places.intersection(around):
                    return {}
                found, around = {path: dict.fromkeys(places, 0)}, (*around, *places)
                content = it.heap.get(value.place) if value.place is not None else None
                if isinstance(content, Items):  # an object has got its attributes since it was made
                    keys, values = content.keys, content.values
            for key, item in zip(keys, values, strict=True):
                found |= objects_in(it, item, (*path, key), around)
            return found
        case Var():
            places = objects_of(it, value)
            return {path: dict.fromkeys(places, depth_in_whole(it, value))} if places else {}
        case _:
            return {}


def ties_inside(it: Interpreter, value: Value, start: int) -> list[tuple[int, ObjectId, int]]:
    """What a value that is new holds of older objects: how deep, which, and how deep in that."""
    found: list[tuple[int, ObjectId, int]] = []
    for path, within in objects_in(it, value).items():
        for place, taken in within.items():
            if not path and place.born <= start:
                continue  # which it is itself, or part of
            for each in with_aliases(it, {place}, start):
                found += [
                    (len(path) + below, other, below_other)
                    for other, (below, below_other) in _seen_from(it, each, taken).items()
                    if other.born <= start
                ]
    return found


def _seen_from(it: Interpreter, place: ObjectId, taken: int) -> Ties:
    """What a part of an object, so deep in it, may be or share something with."""
    tied = ties(it, place).items()
    return {place: ONE, **{other: (max(0, mine - taken), its) for other, (mine, its) in tied}}


def link(
    it: Interpreter,
    entry: Mapping[Any, Value | None],
    ends: Ends,
    values: Mapping[Any, Value],
    start: int,
) -> None:
    """Note which objects the values of carried names may be: in the body, or after the loop."""
    own = _nodes(it, values)
    given = {name: objects_in(it, entry.get(name)) for name in values}
    first = {node: at_path(given[node[0]], node[1]) for node in own}
    known = {node: _known(it, ends, node, first) for node in {*own, *ends.outside}}
    held = {node: _held(own, given[node[0]], node) for node in own}
    for node in own:
        _add(known[node], held[node])
    for node, mine in own.items():
        found: Ties = {}
        for each in ends.reachable(node):
            _add(found, known.get(each, {}))
            for other, tie in ends.shared.get(each, {}).items():
                for further in ends.reachable(other):
                    _add(found, dict.fromkeys(known.get(further, {}), tie))
        for place in mine:
            _tie(it, place, {other: tie for other, tie in found.items() if other.born <= start})
    reached = {node: _reached(it, first[node], held[node]) for node in own}
    for a, b in combinations(own, 2):
        met = _met(reached[a], reached[b]) if held[a] or held[b] else None
        tie = _least(ends.pairs.get((a, b)), _least(_meeting(it, first[a], first[b]), met))
        if tie is not None:
            for place in own[a]:
                _tie(it, place, dict.fromkeys(own[b], tie))


def hold_on(
    it: Interpreter, params: Mapping[Any, Value], after: Mapping[Any, Value], start: int
) -> None:
    """What an iteration has put into the objects of carried names, which may be objects, is in them after the loop."""
    inside, behind = _nodes(it, params), _nodes(it, after)
    for node in inside.keys() & behind.keys():
        for place in inside[node]:
            for owner in behind[node].keys() - {place}:
                hold_unknown_of(it, place, owner, (), start)


def _held(own: Mapping[Node, Any], objects: Objects, node: Node) -> Ties:
    """What an object holds of which nothing is known in the loop: how deep in it, and all of it."""
    name, path = node
    return {
        place: (len(deeper) - len(path), 0)
        for deeper, places in objects.items()
        if len(deeper) > len(path) and deeper[: len(path)] == path and (name, deeper) not in own
        for place in places
    }


def _known(it: Interpreter, ends: Ends, node: Node, first: Mapping[Node, Within]) -> Ties:
    """The objects that a name may refer to in the loop, or that share something with those."""
    found: Ties = {}
    _add(found, _with_others(it, first.get(node, {})))
    for place, tie in ends.outside.get(node, {}).items():
        _add(found, {place: tie})
        if tie == ONE:
            _add(found, ties(it, place))
    return found


def _tie(it: Interpreter, place: ObjectId, others: Ties) -> None:
    for other, tie in others.items():
        if tie == ONE:
            may_be_one(it, place, other)
        else:
            share(it, place, tie[0], other, tie[1])


def _add(ties: dict[Any, Tie], more: Mapping[Any, Tie]) -> None:
    for key, tie in more.items():
        ties[key] = _least(ties.get(key), tie) or ONE


def _least(a: Tie | None, b: Tie | None) -> Tie | None:
    return (min(a[0], b[0]), min(a[1], b[1])) if a and b else a or b


def note_ends(
    it: Interpreter,
    params: Mapping[Any, Value],
    final: Mapping[Any, Objects],
    ends: Ends,
    start: int,
    changed: AbstractSet[ObjectId],
) -> bool:
    """Remember what the carried names refer to when an iteration ends; whether all of it was known.

    `changed` are the objects that the iteration has changed.
    """
    own = _nodes(it, params)
    node_at = {place: node for node, places in own.items() for place in places}
    last = {node: at_path(final[node[0]], node[1]) for node in own}
    held = {node: _held(own, final[node[0]], node) for node in own}
    before = ends.size()
    for node, places in last.items():
        if not changed.isdisjoint(own.get(node, ())):
            # it may be a global by now that the name was bound to in an earlier turn
            for place in places:
                note_change_of(it, place)
        tied = _with_others(it, places)
        _add(tied, held[node])
        for place, tie in tied.items():
            if place.born <= start:
                _add(ends.outside.setdefault(node, {}), {place: tie})
            if place in node_at and tie == ONE:
                ends.carried.setdefault(node, set()).add(node_at[place])
            elif place in node_at:
                _add(ends.shared.setdefault(node, {}), {node_at[place]: tie})
    reached = {node: _reached(it, last[node], held[node]) for node in own}
    for a, b in combinations(own, 2):
        met = _met(reached[a], reached[b]) if held[a] or held[b] else None
        tie = _least(_meeting(it, last[a], last[b]), met)
        if tie is not None:
            _add(ends.pairs, {(a, b): tie, (b, a): (tie[1], tie[0])})
    return ends.size() == before


def _nodes(it: Interpreter, values: Mapping[Any, Value]) -> dict[Node, Within]:
    return {
        (name, path): within
        for name, value in values.items()
        for path, within in objects_in(it, value).items()
    }


def at_path(objects: Objects, path: Path) -> Within:
    """What is at a path, or what it is part of; if there is neither, everything that it holds."""
    for length in range(len(path), -1, -1):
        if path[:length] in objects:
            deeper = len(path) - length
            return {place: taken + deeper for place, taken in objects[path[:length]].items()}
    inside: Within = {}
    for each, within in objects.items():
        if each[: len(path)] == path:
            inside |= within
    return inside


def _meeting(it: Interpreter, some: Within, others: Within) -> Tie | None:
    """How deep what two values share is in them, if they do."""
    found: Tie | None = None
    for place, tie in _with_others(it, some).items() if others else ():
        if place in others:
            found = _least(found, tie)
    return found


def _reached(it: Interpreter, within: Within, held: Ties) -> Ties:
    """The objects that a value shares something with, itself or by what it holds: how deep in it, and in them."""
    found = _with_others(it, within)
    for place, (depth, _) in held.items():
        seen = _seen_from(it, place, 0).items()
        _add(found, {other: (depth + mine, its) for other, (mine, its) in seen})
    return found


def _met(some: Ties, others: Ties) -> Tie | None:
    """How deep what both share with the same objects is in two values."""
    found: Tie | None = None
    for place in some.keys() & others.keys():
        (mine, in_it), (its, also_in_it) = some[place], others[place]
        deep = max(in_it, also_in_it)
        found = _least(found, (mine + deep - in_it, its + deep - also_in_it))
    return found


def _with_others(it: Interpreter, within: Within) -> Ties:
    """Objects, and those that they may turn out to be or share something with."""
    found: Ties = {}
    for place, taken in within.items():
        _add(found, _seen_from(it, place, taken))
    return found


# --- what collected lists hold ---------------------------------------------------------------


def copies_in(it: Interpreter, value: Value) -> set[Any]:
    """Where the copies of known containers were made that a value is a part of, or holds parts of."""
    value = as_the_object(value)
    if isinstance(value, Items):
        return set().union(*(copies_in(it, item) for item in value.values))
    if not is_mutable(value):
        return set()
    assert isinstance(value, Var)
    copies, found = it.reading.copies, roots(it, value)
    inside = (it.reading.holding_copies.get(place_of(it, root), ()) for root in found)
    return {copies[root] for root in found if root in copies}.union(*inside)


def note_copies(it: Interpreter, holder: Var, keys: set[Any]) -> None:
    """Remember that a run-time container holds parts of copies, which were made at these places in the source."""
    if keys:
        it.reading.holding_copies.setdefault(place_of(it, holder), set()).update(keys)


def brought_along(it: Interpreter, value: Value, start: int, depth: int = 1) -> Iterator[int]:
    """How deep in a list that takes a value in are the objects that were not made since something began."""
    value = as_the_object(value)
    if isinstance(value, Var) and value.kind == UNKNOWN:
        return  # a number, most likely
    if isinstance(value, Items) and not (is_mutable(value) and is_older_object(it, value, start)):
        for item in value.values:
            yield from brought_along(it, item, start, depth + 1)
    elif isinstance(value, Var) and is_mutable(value) and not is_older_object(it, value, start):
        if view_of(it, value) is not None:
            yield depth
        else:
            yield from (depth + each for each in it.reading.brought.get(place_of(it, value), ()))
    elif is_mutable(value):
        yield depth


def note_brought(it: Interpreter, owner: Var, depths: set[int]) -> None:
    """The turns of a loop bring objects into a list, so deep in it, that may be there already."""
    it.reading.brought[place_of(it, owner)] = depths
    spot = spot_of(it, owner)
    spots = [replace(spot, depth=spot.depth + depth) for depth in depths]
    if spots and is_shared(it, *spots):
        raise it.unsupported(*HELD_TWICE)
