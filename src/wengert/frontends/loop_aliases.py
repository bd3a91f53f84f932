"""Which objects the values that a loop carries may be: objects made before it, and each other's.

Two names of a loop that refer to two objects and change places (`old, new = new, old`) refer to two
objects in every iteration. That is found by reading the body: what may be one object at the end of an
iteration may be one when the next begins.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

from ..ir.graph import Var
from ..ir.records import field, mutable_record
from .heap import identities, may_be_one
from .values import Items, Maybe, Place, Value, is_mutable

if TYPE_CHECKING:
    from .interpreter import Interpreter

Path = tuple[Any, ...]
Objects = Mapping[Path, set[Place]]
Node = tuple[Any, Path]
"""One object in what a loop carries: what a name refers to, or what that holds, by its path."""


@mutable_record
class Ends:
    """What the carried names may refer to when an iteration ends, as far as the body has been read."""

    outside: dict[Node, set[Place]] = field(default_factory=dict[Node, set[Place]])
    """Objects made before the loop."""
    carried: dict[Node, set[Node]] = field(default_factory=dict[Node, set[Node]])
    """What carried names referred to when the iteration started."""
    pairs: set[frozenset[Node]] = field(default_factory=set[frozenset[Node]])
    """Which two may be one object."""

    def size(self) -> int:
        known = (*self.outside.values(), *self.carried.values(), self.pairs)
        return sum(map(len, known))

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
    it: Interpreter, value: Value | None, path: Path = (), around: tuple[Place, ...] = ()
) -> dict[Path, set[Place]]:
    """The objects that a value is or holds, by path; `around` are those that it is in itself."""
    match value:
        case Maybe(value=inner):
            return objects_in(it, inner, path, around)
        case Items(keys=keys, values=values):
            found: dict[Path, set[Place]] = {}
            if is_mutable(value):
                places = identities(it, value, own=True)
                if places.intersection(around):
                    return {}
                found, around = {path: places}, (*around, *places)
            for key, item in zip(keys, values, strict=True):
                found |= objects_in(it, item, (*path, key), around)
            return found
        case Var():
            places = identities(it, value, own=True)
            return {path: places} if places else {}
        case _:
            return {}


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
    first = {node: _at(given[node[0]], node[1]) for node in own}
    for node, mine in own.items():
        reachable = ends.reachable(node)
        at_first = [first.get(each, set[Place]()) for each in reachable]
        later = [ends.outside.get(each, set[Place]()) for each in reachable]
        outside = _with_others(it, set[Place]().union(*at_first, *later))
        _link_all(it, mine, [place for place in outside if place.born <= start])
    for a, b in combinations(own, 2):
        if frozenset((a, b)) in ends.pairs or _may_meet(it, first[a], first[b]):
            _link_all(it, own[a], own[b])


def note_ends(
    it: Interpreter,
    params: Mapping[Any, Value],
    final: Mapping[Any, Objects],
    ends: Ends,
    start: int,
) -> bool:
    """Remember what the carried names refer to when an iteration ends; whether all of it was known."""
    own = _nodes(it, params)
    node_at = {place: node for node, places in own.items() for place in places}
    last = {node: _at(final[node[0]], node[1]) for node in own}
    before = ends.size()
    for node, places in last.items():
        found = _with_others(it, places)
        outside = {place for place in found if place.born <= start}
        ends.outside.setdefault(node, set()).update(outside)
        carried = {node_at[place] for place in found if place in node_at}
        ends.carried.setdefault(node, set()).update(carried)
    for a, b in combinations(own, 2):
        if _may_meet(it, last[a], last[b]):
            ends.pairs.add(frozenset((a, b)))
    return ends.size() == before


def _nodes(it: Interpreter, values: Mapping[Any, Value]) -> dict[Node, set[Place]]:
    return {
        (name, path): places
        for name, value in values.items()
        for path, places in objects_in(it, value).items()
    }


def _at(objects: Objects, path: Path) -> set[Place]:
    """What is at a path, or what it is part of; if there is neither, everything that it holds."""
    for length in range(len(path), -1, -1):
        if path[:length] in objects:
            return objects[path[:length]]
    inside = [places for each, places in objects.items() if each[: len(path)] == path]
    return set[Place]().union(*inside)


def _may_meet(it: Interpreter, some: set[Place], others: set[Place]) -> bool:
    """Whether two values may be one object."""
    if not some or not others:
        return False
    return not others.isdisjoint(_with_others(it, some))


def _with_others(it: Interpreter, places: set[Place]) -> set[Place]:
    """Objects, and those that they may turn out to be."""
    aliases = it.reading.aliases
    return places.union(*(aliases.get(place, ()) for place in places))


def _link_all(it: Interpreter, places: Iterable[Place], others: Iterable[Place]) -> None:
    for place in places:
        for other in others:
            may_be_one(it, place, other)
