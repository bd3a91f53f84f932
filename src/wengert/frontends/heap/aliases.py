"""Objects that may be one, and containers of the same objects: what changes in one is lost in others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...ir.graph import Const, Var
from ...ir.types import UNKNOWN, Kind, Number, Other, Seq, Static, Struct, Unknown
from ...ops import identity as ident
from ..values import Lost, Place, is_mutable
from .places import identities, place_of
from .views import view_of

if TYPE_CHECKING:
    from ..interpreter import Interpreter

MOST_LINKS = 2_000_000
"""Pairs of objects that may be one: more of them take too long to follow."""

_HOLDING = frozenset(
    ("join_lists", "compress", "flatten_lists", "as_list", "merge_dicts", "dict_of", "getitem")
)
"""Ops that make new containers of the same objects."""


def may_be_one(it: Interpreter, a: Place, b: Place) -> None:
    """Two names for objects may turn out to be names for one: changing one loses the other."""
    if a is b:
        return
    some, others = _sharing(it, a), _sharing(it, b)
    it.reading.links += len(some) * len(others)
    if it.reading.links > MOST_LINKS:
        raise it.unsupported(
            "too many objects of this program may be one another",
            "Differentiate a part of it, or change copies.",
        )
    for mine, below in some.items():
        for other, below_other in others.items():
            _lose_with(it, mine, below, other)
            _lose_with(it, other, below_other, mine)


def may_be_part(it: Interpreter, part: Place, whole: Place, depth: int) -> None:
    """An object may be one that another holds, as deep as through so many containers."""
    if depth == 0:
        may_be_one(it, part, whole)
    elif part is not whole:
        _lose_with(it, whole, depth, part)
        _lose_with(it, part, 0, whole)


def hold_same(it: Interpreter, a: Place, below_a: int, b: Place, below_b: int) -> None:
    """What changes in one object, deeper than through so many containers, changes in the other too."""
    if a is b or b in it.reading.holding.get(a, {}):
        return
    for mine, below in (_sharing(it, a) | {a: below_a}).items():
        for other, below_other in (_sharing(it, b) | {b: below_b}).items():
            _lose_with(it, mine, below, other)
            _lose_with(it, other, below_other, mine)
    it.reading.holding.setdefault(a, {})[b] = below_b
    it.reading.holding.setdefault(b, {})[a] = below_a


def _sharing(it: Interpreter, place: Place) -> dict[Place, int]:
    """The objects that hold some of what an object holds, itself included, and how deep."""
    if isinstance(place.origin, Var):
        link_holders(it, place.origin)
    found = {place: 0}
    pending = [place]
    while pending:
        for other, below in it.reading.holding.get(pending.pop(), {}).items():
            if other not in found:
                found[other] = below
                pending.append(other)
    return found


def _lose_with(it: Interpreter, changed: Place, below: int, other: Place) -> None:
    """When an object changes deeper than through so many containers, another one is lost."""
    if changed is not other:
        others = it.reading.aliases.setdefault(changed, {})
        others[other] = min(below, others.get(other, below))


def forget(it: Interpreter, start: int) -> None:
    """Drop what was noted of objects made after some point, which nothing can reach any more."""
    holding, aliases = it.reading.holding, it.reading.aliases
    lasting = {place: _sharing(it, place) for place in holding if place.born <= start}
    it.reading.holding = {
        place: {
            other: below
            for other, below in others.items()
            if other.born <= start and other is not place
        }
        for place, others in lasting.items()
    }
    it.reading.aliases = {
        place: {other: below for other, below in others.items() if other.born <= start}
        for place, others in aliases.items()
        if place.born <= start
    }


def lose_aliases(it: Interpreter, place: Place, depth: int) -> None:
    for other, below in it.reading.aliases.get(place, {}).items():
        if depth > below:
            it.heap[other] = Lost("it may be an object that was changed under another name")


def link_holders(it: Interpreter, var: Var) -> None:
    """Note which other containers the items of a run-time container came from."""
    if var in it.reading.linked:
        return
    it.reading.linked.add(var)
    eqn = it.builder.visible_definition(var)
    if eqn is None or eqn.op.name not in _HOLDING or not holds_mutable(var.kind):
        return
    if view_of(it, var) is not None:
        return
    for arg in eqn.args:
        if isinstance(arg, Var) and is_mutable(arg):
            for place in identities(it, arg, own=True):
                # part of something of unknown kind may be a view of it, whose numbers are shared
                below = 0 if var.kind == UNKNOWN else 1
                hold_same(it, place, depth_of_items(arg.kind), place_of(it, var), below)


def depth_of_items(kind: Kind) -> int:
    """How deep a write has to go to change an item of a container, not only which items it has."""
    return 1 if isinstance(kind, Seq | Struct) else 0


def holds_mutable(kind: Kind) -> bool:
    """Whether what a container holds may be objects that change."""
    match kind:
        case Seq(item=item):
            return not isinstance(item, Number | Other | Static)
        case Struct(items=items):
            return any(not isinstance(item, Number | Other | Static) for item in items)
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
    for other, below in _sharing(it, place).items():
        writes = it.reading.writes.get(other, ()) if other is not place else ()
        lost = isinstance(it.heap.get(other), Lost)
        if not lost and not any(w.born > var.born and w.depth > below for w in writes):
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
