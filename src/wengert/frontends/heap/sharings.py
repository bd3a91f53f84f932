"""Parts that are put into containers: where they change as well, the program is read again with checks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...ir.graph import Atom, Var
from ...ir.types import UNKNOWN, Number, Other
from ...ops import identity as ident
from ..values import Items, Place, Value, is_mutable
from .current import has_left, what_happened
from .places import place_of
from .views import depth_of_path, steps_to_write, view_of

if TYPE_CHECKING:
    from ..interpreter import Interpreter


class SharedItems(Exception):
    """What two containers (or two places of one) hold changes: it is read again, with checks."""


def note_sharing(it: Interpreter, value: Value, owner: Var, deeper: int = 1) -> Value:
    """A part of something is put into a container: two ways lead to it from now on.

    That matters only if it changes. Where it does, the program checks when it runs.
    """
    if isinstance(value, Items) and not is_mutable(value):
        for item in value.values:
            note_sharing(it, item, owner, deeper + 1)
    if not isinstance(value, Var) or isinstance(value.kind, Number | Other):
        return value
    refuse_replaced(it, value)
    source = _whole_of(it, value)
    if source is None:
        return value
    goal = _whole_of(it, owner) or (place_of(it, owner), 0)
    key = it.builder.span
    for (place, depth), below in ((source, 0), (goal, deeper)):
        it.reading.sharings.setdefault(place, {})[key] = depth + below
        check_sharing(it, place)
    if key not in it.reading.checked:
        return value
    if source[0] is goal[0] and goal[1] + 1 == source[1]:
        it.reading.doubtful[owner] = None
        return value
    if value.kind != UNKNOWN:
        raise it.unsupported(
            "an object that is changed elsewhere is put into a second container",
            "Put a copy into the container, so that every object is in one place.",
        )
    it.emit(ident.unshared, value)
    return value


def refuse_replaced(it: Interpreter, part: Value) -> None:
    """Refuse to put somewhere what its container may refer to no longer, where that is not known."""
    if not isinstance(part, Var) or isinstance(part.kind, Number | Other):
        return
    if part in it.reading.places or view_of(it, part) is None:
        return
    if has_left(it, part) or not what_happened(it, part)[0]:
        return
    if part.kind == UNKNOWN:
        it.emit(ident.unshared, part)
    else:
        raise it.unsupported(
            "a part of a container is put into another one after the container got other items",
            "Take the item out again where it is used, or put a copy there.",
        )


def check_sharing(it: Interpreter, place: Place) -> None:
    """Have the program read again with checks if what is shared changes."""
    deepest = max((write.depth for write in it.reading.writes.get(place, ())), default=0)
    if any(
        each in it.reading.writes for each, owner in it.reading.left_from.items() if owner is place
    ):
        deepest = math.inf  # how deep what has left it is in it elsewhere, nobody knows
    for key, depth in it.reading.sharings.get(place, {}).items():
        if deepest > depth and key not in it.reading.checked:
            it.reading.checked.add(key)
            raise SharedItems


def _whole_of(it: Interpreter, var: Var) -> tuple[Place, int] | None:
    """The object that a value is part of, and through how many containers; None of what is whole."""
    root, steps = var, list[Atom]()
    while root not in it.reading.places and (eqn := view_of(it, root)) is not None:
        steps[:0] = steps_to_write(it, eqn)
        root = eqn.args[0]
        assert isinstance(root, Var)
    return (place_of(it, root), depth_of_path(root.kind, steps)) if steps else None


def settle_doubts(it: Interpreter) -> None:
    """Check that no object stands twice in a container whose items were moved about."""
    while it.reading.doubtful:
        owner, _ = it.reading.doubtful.popitem()
        it.emit(ident.distinct, it.atom(owner))
