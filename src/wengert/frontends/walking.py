"""Lists that change while a loop walks over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir.graph import Atom, Var
from ..ir.types import Number
from .heap import content_in, identities, place_of
from .values import Items, Iteration, Place, Value, kind_of_value, same

if TYPE_CHECKING:
    from .interpreter import Interpreter

Walked = tuple[Place, tuple[Value, ...]]
"""A list, and what it held before the loop."""


def known_lists(it: Interpreter, iterable: Value) -> list[Walked]:
    """The lists with known items that a loop walks over, side by side perhaps."""
    match iterable:
        case Items(form="list", home=None):
            place = place_of(it, iterable)
            return [] if place.choice else [(place, _held(it, place, iterable.values))]
        case Iteration(parts=parts):
            return [found for part in parts for found in known_lists(it, part)]
        case _:
            return []


def _held(it: Interpreter, place: Place, otherwise: tuple[Value, ...]) -> tuple[Value, ...]:
    content = content_in(it.heap, place)
    return content.values if isinstance(content, Items) else otherwise


def is_changed(it: Interpreter, walked: Walked, start: int) -> bool:
    """Whether what a list holds from some position on, or how much, is not what it was."""
    place, before = walked
    content = content_in(it.heap, place)
    if not isinstance(content, Items):
        return any(isinstance(kind_of_value(value), Number) for value in before[start:])
    if len(content.values) != len(before):
        return True
    return not all(map(same, content.values[start:], before[start:]))


def refuse_changed(it: Interpreter, lists: Sequence[Walked], start: int) -> None:
    """Refuse a list of which items that are still to come have changed."""
    if any(is_changed(it, each, start) for each in lists):
        raise it.unsupported(
            "a list changes while a loop walks over it",
            "Walk over a copy: `for item in list(items)`.",
        )


def items_written(it: Interpreter, items: Atom, count: Atom) -> bool:
    """Whether a list got other items since they were counted."""
    start = count.born if isinstance(count, Var) else 0
    writes = [each for place in identities(it, items) for each in it.reading.writes.get(place, ())]
    return any(write.born > start and write.depth <= 1 for write in writes)
