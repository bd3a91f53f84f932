"""Lists and dictionaries that change while a loop walks over them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..ir.graph import Atom, Const, Var
from ..ir.records import replace, value_record
from ..ir.types import UNKNOWN, Number
from .heap import content_in, identities, now, place_of
from .values import Items, Iteration, Place, Value, kind_of_value, same

if TYPE_CHECKING:
    from .interpreter import Interpreter


@value_record
class Walked:
    """A list or dictionary, and what it held before the loop."""

    place: Place
    before: tuple[Value, ...]
    backwards: bool = False
    at_once: bool = False
    """Whether all items were taken before the loop asked for one."""
    opened: Items | None = None
    """One of the run, which was taken apart for the loop."""

    def to_come(self, values: tuple[Value, ...], start: int) -> tuple[Value, ...]:
        """Those of its items that a loop has not come to at some turn."""
        start = 0 if self.at_once else start
        return values[: len(values) - start] if self.backwards else values[start:]


def known_lists(it: Interpreter, iterable: Value) -> list[Walked]:
    """The lists and dictionaries with known items that a loop walks over, side by side perhaps."""
    match iterable:
        case Items(form="list") | Iteration("items" | "values", (Items(form="dict"),)):
            items = iterable if isinstance(iterable, Items) else iterable.parts[0]
            assert isinstance(items, Items)
            place = place_of(it, items)
            if items.home is not None:
                return [Walked(place, items.values, opened=items)]
            found = [] if place.choice else [Walked(place, _held(it, place, items.values))]
            return [*found, *it.reading.made_of.get(place, ())]
        case Items(form="iterator"):
            held = now(it, iterable)
            return known_lists(it, held.values[0]) if isinstance(held, Items) else []
        case Iteration("generator"):
            return []  # it asks for itself
        case Iteration("reversed", (part,)):
            return [replace(each, backwards=not each.backwards) for each in known_lists(it, part)]
        case Iteration(parts=parts):
            return [found for part in parts for found in known_lists(it, part)]
        case _:
            return []


def note_made_of(it: Interpreter, made: Value, lists: Sequence[Walked]) -> None:
    """Remember of which lists the items were taken at once that Python takes when they are asked for."""
    if lists and isinstance(made, Items):
        it.reading.made_of[place_of(it, made)] = [replace(each, at_once=True) for each in lists]


def still_known(it: Interpreter, lists: Sequence[Walked]) -> list[Walked]:
    """Those of which copies are walked over, not the objects."""
    return [each for each in lists if not isinstance(content_in(it.heap, each.place), Var)]


def _held(it: Interpreter, place: Place, otherwise: tuple[Value, ...]) -> tuple[Value, ...]:
    content = content_in(it.heap, place)
    return content.values if isinstance(content, Items) else otherwise


def is_changed(it: Interpreter, walked: Walked, start: int, *, ended: bool = False) -> bool:
    """Whether what a list holds from some position on, or how much, is not what it was."""
    if walked.opened is not None:
        return _is_opened_anew(it, walked, walked.opened, ended=ended)
    content = content_in(it.heap, walked.place)
    before = walked.to_come(walked.before, start)
    if not isinstance(content, Items):
        kinds = map(kind_of_value, before)
        return any(isinstance(kind, Number) or kind == UNKNOWN for kind in kinds)
    if len(content.values) != len(walked.before):
        return True
    return not all(map(same, walked.to_come(content.values, start), before))


def refuse_changed(
    it: Interpreter, lists: Sequence[Walked], start: int, *, ended: bool = False
) -> None:
    """Refuse a list of which items that are still to come have changed; none are where the loop has `ended`."""
    if any(is_changed(it, each, start, ended=ended) for each in lists):
        raise changed_in_a_loop(it)


def _is_opened_anew(it: Interpreter, walked: Walked, opened: Items, *, ended: bool) -> bool:
    if opened.home is None or now(it, opened.home) is opened.home:
        return False
    current = now(it, opened)
    return not ended or not isinstance(current, Items) or len(current.values) != len(walked.before)


def changed_in_a_loop(it: Interpreter) -> Exception:
    return it.unsupported(
        "a list or dictionary changes while a loop walks over it",
        "Walk over a copy: `for item in list(items)`.",
    )


def asks_anew(iterable: Value) -> bool:
    """Whether asking again for the items of what a loop walks over changes nothing."""
    match iterable:
        case Items(form="list" | "dict"):
            return True
        case Iteration("zip" | "strict zip" | "enumerate" | "reversed" | "items" | "values", parts):
            return all(isinstance(part, Const) or asks_anew(part) for part in parts)
        case _:
            return False


def items_written(it: Interpreter, items: Atom, count: Atom) -> bool:
    """Whether a list got other items since they were counted."""
    start = count.born if isinstance(count, Var) else 0
    writes = [each for place in identities(it, items) for each in it.reading.writes.get(place, ())]
    return any(write.born > start and write.depth <= 1 for write in writes)
