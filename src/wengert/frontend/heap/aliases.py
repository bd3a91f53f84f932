"""Objects that may be one, and containers of the same objects: what changes in one is lost in others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.types import COUNTS, UNKNOWN, Kind, Map, Number, Other, Seq, Static, Struct, Unknown
from ...ops import structure as st
from ...ops.program import identity as ident
from ..domain.values import ObjectId, Value, is_mutable
from ..domain.whereabouts import Part, Untracked
from ..machine.interpreter import Interpreter
from .places import identities, place_of
from .views import depth_along, depth_in_whole, gathers, meet, view_of

MOST_LINKS = 200_000
MOST_SHARED = 3_000_000
"""Pairs of objects that may be one, or hold the same: more of them take too long to follow."""

Tie = tuple[int, int]
"""How deep in each of two objects is what they share: deeper changes of one are changes of the other."""

ONE: Tie = (0, 0)
"""Two objects that may be one."""

_JOINING = frozenset(
    (
        "join_lists", "compress", "flatten_lists", "as_list", "as_tuple", "merge_dicts",
        "dict_of", "shallow_copy", "getitem",
    )
)  # fmt: skip
"""Ops that make new containers of the items of others."""

_OF_CONTAINERS = frozenset(("merge_dicts", "dict_of", "shallow_copy"))
"""Those that hold the items of containers, or else no objects at all."""

_OF_LISTS = frozenset(("add", "mul"))
"""Operators that make new lists of the items of lists, and new numbers or arrays of others."""

_HOLDING = frozenset(("pack", "split", "array_split", "vsplit", "hsplit", "dsplit"))
"""Ops that make containers of objects, or of views of them."""

_MAYBE_SAME = frozenset(
    (
        "asarray", "gather", "ascontiguousarray", "asfortranarray", "apply",
        "float16", "float32", "float64", "longdouble", "complex64", "complex128",
    )
)  # fmt: skip
"""Ops that give what they are given if it is an array already."""


def may_be_one(it: Interpreter, a: ObjectId, b: ObjectId) -> None:
    """Two names for objects may turn out to be names for one: changing one loses the other."""
    if a is b or _is_noted(it, a, b):
        return
    some, others = sharing(it, a), sharing(it, b)
    pairs = len(some) * len(others)
    it.reading.budget.take(pairs)
    it.reading.links += pairs
    _refuse_too_many(it, it.reading.links, MOST_LINKS)
    for mine, below in some.items():
        for other, below_other in others.items():
            _lose_with(it, mine, depth_of_common(it, b, other) if mine is a else below, other)
            _lose_with(it, other, depth_of_common(it, a, mine) if other is b else below_other, mine)


def _refuse_too_many(it: Interpreter, found: int, most: int) -> None:
    if found > most:
        raise it.unsupported(
            "too many objects of this program may be one another",
            "Differentiate a part of it, or change copies.",
        )


def _is_noted(it: Interpreter, a: ObjectId, b: ObjectId, tie: Tie | None = None) -> bool:
    """Whether the same was said of two objects since objects last came to hold what others do.

    A program with many paths says most of it again wherever they meet.
    """
    if (a, b, tie) in it.reading.noted:
        return True
    _link_origin(it, a)
    _link_origin(it, b)
    it.reading.noted.add((a, b, tie))
    return False


def depth_of_common(it: Interpreter, place: ObjectId, other: ObjectId) -> int:
    """How deep in an object is what another one holds of it too."""
    return it.reading.holding.get(other, {}).get(place, 0)


def may_be_part(it: Interpreter, part: ObjectId, whole: ObjectId, depth: int) -> None:
    """An object may be one that another holds, as deep as through so many containers."""
    if depth == 0:
        may_be_one(it, part, whole)
    else:
        share(it, part, 0, whole, depth)


def stands_for(
    it: Interpreter, name: ObjectId, objects: Iterable[ObjectId], depth: int = 0
) -> None:
    """A name is one for one of some objects, or for a part so deep in one: it shares what they share."""
    tied: dict[tuple[ObjectId, Tie], None] = {}  # most of them share the same: it is said once
    for each in objects:
        may_be_part(it, name, each, depth)
        tied.update(dict.fromkeys(ties(it, each).items()))
    for other, tie in tied:
        shares(it, name, {other: tie}, depth)


def shares(it: Interpreter, part: ObjectId, tied: Mapping[ObjectId, Tie], depth: int) -> None:
    """What an object shares with others, a part so deep in it may share with them too."""
    for other, (below, below_other) in tied.items():
        if (below, below_other) == ONE:
            may_be_part(it, part, other, depth)
        else:
            share(it, part, max(0, below - depth), other, below_other)


def share_what_left(it: Interpreter, left: ObjectId, owner: ObjectId, depth: int) -> None:
    """What may be so deep in a container may be what has left it."""
    for other, (below, below_other) in ties(it, owner).items():
        if other is not left:
            deep = min(below, depth)
            shares(it, left, {other: (below - deep, below_other)}, depth - deep)


def share(it: Interpreter, a: ObjectId, below_a: int, b: ObjectId, below_b: int) -> None:
    """What changes in one of two objects, deeper than through so many containers, may change in the other."""
    if not _is_noted(it, a, b, (below_a, below_b)):
        share_with_all(it, a, below_a, {b: below_b})


def share_through(
    it: Interpreter, parts: Iterable[tuple[int, ObjectId, int]], whole: ObjectId
) -> None:
    """What objects share with others, deeper than so, a container shares that holds them so deep."""
    shared = (
        (other, its, depth + max(0, mine - below))
        for depth, part, below in parts
        for other, (mine, its) in ties(it, part).items()
        if other is not whole
    )
    for other, its, deep in dict.fromkeys(shared):  # most of them share the same: it is said once
        share(it, other, its, whole, deep)


def share_with_all(
    it: Interpreter, place: ObjectId, depth: int, others: Mapping[ObjectId, int]
) -> None:
    """What changes in an object, deeper than so, may change in others, and the other way round."""
    sharing_others = _sharing_any(it, {p: below for p, below in others.items() if p is not place})
    sharing_it = _sharing_any(it, {place: depth})
    pairs = len(sharing_it) * len(sharing_others)
    it.reading.budget.take(pairs)
    it.reading.shared += pairs
    _refuse_too_many(it, it.reading.shared, MOST_SHARED)
    for mine, below in sharing_it.items():
        for other, below_other in sharing_others.items():
            _lose_with(it, mine, below, other)
            _lose_with(it, other, below_other, mine)


def ties(it: Interpreter, place: ObjectId) -> dict[ObjectId, Tie]:
    """The objects that share something with an object: how deep in it, and how deep in them."""
    _link_origin(it, place)
    aliases = it.reading.aliases
    tied = aliases.get(place, {})
    it.reading.budget.take(len(tied))
    return {other: (below, aliases[other][place]) for other, below in tied.items()}


def may_be(it: Interpreter, place: ObjectId) -> set[ObjectId]:
    """The objects that an object may turn out to be."""
    _link_origin(it, place)
    aliases = it.reading.aliases
    return {
        other
        for other, below in aliases.get(place, {}).items()
        if below == 0 and aliases[other][place] == 0
    }


def with_aliases(it: Interpreter, places: set[ObjectId], start: int) -> set[ObjectId]:
    """Objects, and those that objects made after some point may turn out to be."""
    found: set[ObjectId] = set()
    pending = list(places)
    while pending:
        place = pending.pop()
        if place not in found:
            found.add(place)
            pending += may_be(it, place) if place.born > start else ()
    return found


def hold_same(it: Interpreter, a: ObjectId, below_a: int, b: ObjectId, below_b: int) -> None:
    """What changes in one object, deeper than through so many containers, changes in the other too."""
    if a is b or b in it.reading.holding.get(a, {}):
        return
    tied_a, tied_b = ties(it, a), ties(it, b)
    share(it, a, below_a, b, below_b)
    share_with_all(it, b, below_b, {other: below for other, (_, below) in tied_a.items()})
    share_with_all(it, a, below_a, {other: below for other, (_, below) in tied_b.items()})
    it.reading.holding.setdefault(a, {})[b] = below_b
    it.reading.holding.setdefault(b, {})[a] = below_a
    it.reading.noted.clear()


def sharing(it: Interpreter, place: ObjectId) -> dict[ObjectId, int]:
    """The objects that hold some of what an object holds, itself included, and how deep."""
    return _sharing_any(it, {place: 0})


def _sharing_any(it: Interpreter, places: Mapping[ObjectId, int]) -> dict[ObjectId, int]:
    """The objects that hold some of what any of some objects hold, these included, and how deep."""
    for place in places:
        _link_origin(it, place)
    holding = it.reading.holding
    if not any(place in holding for place in places):
        return dict(places)
    found = dict(places)
    reached_from = {place: place for place in places}
    pending = list(places)
    while pending:
        current = pending.pop()
        for other, below in holding.get(current, {}).items():
            if other not in reached_from:
                reached_from[other] = reached_from[current]
                found[other] = below
                pending.append(other)
            elif other in places and reached_from[current] is not other:
                found[other] = min(found[other], below)
    it.reading.budget.take(len(found))
    return found


def _lose_with(it: Interpreter, changed: ObjectId, below: int, other: ObjectId) -> None:
    """When an object changes deeper than through so many containers, another one is lost.

    This is always said of both: what ties one object to another ties this one to the first.
    """
    if changed is not other:
        others = it.reading.aliases.setdefault(changed, {})
        others[other] = min(below, others.get(other, below))


def forget(it: Interpreter, start: int) -> None:
    """Drop what was noted of objects made after some point, which nothing can reach any more."""
    holding, aliases = it.reading.holding, it.reading.aliases
    it.reading.noted.clear()
    lasting = {place: sharing(it, place) for place in holding if place.born <= start}
    it.reading.holding = {
        place: {
            other: below
            for other, below in others.items()
            if other.born <= start and other is not place
        }
        for place, others in lasting.items()
    }
    for place in [place for place in aliases if place.born > start]:
        for other in aliases.pop(place):
            if other.born <= start:
                del aliases[other][place]


def deeper_than(it: Interpreter, place: ObjectId, depth: int) -> list[ObjectId]:
    """The objects in which a change of another one, so deep in it, may be seen."""
    return [p for p, below in it.reading.aliases.get(place, {}).items() if depth > below]


def _link_origin(it: Interpreter, place: ObjectId) -> None:
    if isinstance(place.origin, Var):
        link_holders(it, place.origin)


def link_holders(it: Interpreter, var: Var) -> None:
    """Note which other containers the items of a run-time container came from."""
    if var in it.reading.linked:
        return
    eqn = it.builder.visible_definition(var)
    if eqn is not None:
        it.reading.linked.add(var)
    if eqn is None or not (holds_operands(eqn) or may_be_same(eqn)):
        return
    if not holds_mutable(var.kind) and not may_be_same(eqn):
        return
    if view_of(it, var) is not None or (eqn.op is st.getitem and gathers(eqn.args[1])):
        return

    for arg in eqn.args:
        if isinstance(arg, Var) and is_mutable(arg):
            it.has_left_its_place(arg)
            below_arg, below = _tie_of(it, eqn, arg)
            for place in identities(it, arg, own=True):
                hold_same(it, place, below_arg, place_of(it, var), below)


def objects_of(it: Interpreter, value: Value) -> set[ObjectId]:
    """The objects that a value is, or is part of; what these hold of others is noted while it can be seen."""
    places = identities(it, value, own=True)
    for place in places:
        _link_origin(it, place)
    return places


def holds_operands(eqn: Eqn) -> bool:
    """Whether an equation makes a new container that holds its operands, or what these hold."""
    return eqn.op.name in _JOINING or eqn.op.name in _HOLDING or _is_of_lists(eqn)


def may_be_same(eqn: Eqn) -> bool:
    """Whether a result may share memory with an operand, in a way that is not followed."""
    if eqn.op.name == "einsum_1":  # which gives a view where it has nothing to sum
        letters, kept = _subscripts(eqn.args[0].value if isinstance(eqn.args[0], Const) else "")
        return letters <= kept
    return eqn.op.name in _MAYBE_SAME


def _subscripts(text: str) -> tuple[set[str], set[str]]:
    """The letters of one operand of `einsum`, and those of its result: if left out, what stands there once."""
    letters, arrow, kept = text.replace(" ", "").partition("->")
    once = {letter for letter in letters if letters.count(letter) == 1 or letter == "."}
    return set(letters), set(kept) if arrow else once


def _tie_of(it: Interpreter, eqn: Eqn, arg: Var) -> Tie:
    """How deep in an operand, and in the container made of it, the objects are that both hold."""
    if eqn.op.name in _OF_CONTAINERS:
        return 1, 1
    if eqn.op.name in _OF_LISTS:
        return depth_in_whole(it, arg) + 1, 1
    # part of something of unknown kind may be a view of it, whose numbers are shared
    below = depth_of_items(eqn.outs[0].kind)
    joined = eqn.op.name in _JOINING
    return depth_of_items(arg.kind) if joined else depth_in_whole(it, arg), below


def _is_of_lists(eqn: Eqn) -> bool:
    """Whether an operator may be one of lists, whose result holds the same objects."""
    lists = any(isinstance(kind_of_atom(arg), (Seq, Struct)) for arg in eqn.args)
    counted = eqn.outs[0].kind == UNKNOWN and any(kind_of_atom(arg) in COUNTS for arg in eqn.args)
    return (eqn.op.name == "add" and lists) or (eqn.op.name == "mul" and (lists or counted))


def depth_of_items(kind: Kind) -> int:
    """How deep a write has to go to change an item of a container, not only which items it has."""
    return 1 if isinstance(kind, (Seq, Map, Struct)) else 0


def holds_mutable(kind: Kind) -> bool:
    """Whether what a container holds may be objects that change."""
    match kind:
        case Seq(item=item) | Map(item=item):
            return not isinstance(item, (Number, Other, Static))
        case Struct(items=items):
            return any(not isinstance(item, (Number, Other, Static)) for item in items)
        case Unknown():
            return True
        case _:
            return False


def refuse_stale(it: Interpreter, var: Var) -> None:
    """Refuse to read a container some of whose items have changed elsewhere since it was made."""
    link_holders(it, var)
    place = it.reading.places.get(var)
    if place is None or place not in it.reading.holding:
        return
    for other, below in sharing(it, place).items():
        lost = isinstance(it.heap.get(other), Untracked)
        if not lost and (other is place or not _has_changed(it, other, below, var.born)):
            continue
        if var.kind == UNKNOWN and it.asking:
            depth = it.reading.holding.get(other, {}).get(place, 0)
            it.emit(ident.unchanging, var, Const(depth))
        else:
            raise it.unsupported(
                "it is not known what this container holds: objects in it were changed through another "
                "container",
                "Change them before the container is made, or through it.",
            )


def _has_changed(
    it: Interpreter, place: ObjectId, below: int, since: int, way: tuple[Atom, ...] = ()
) -> bool:
    """Whether an object has changed, deeper than so, or what leads from it this way: itself or where it is kept."""
    content = it.heap.get(place)
    writes = it.reading.writes.get(place, ())
    if isinstance(content, Untracked):
        return True
    if any(w.born > since and w.depth > below and meet(w.path, way) for w in writes):
        return True
    if not isinstance(content, Part):
        return False
    deep = below + depth_along(content.steps)
    return _has_changed(it, content.place, deep, since, (*content.steps, *way))
