"""Lists and dictionaries that change while a loop walks over them."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager

from ...ir.graph import Atom, Const, Var, births
from ...ir.records import replace, value_record
from ...ir.types import UNKNOWN, Map, Number
from ...ops import structure as st
from ..domain.values import Items, LazyIterable, ObjectId, Value, kind_of_value, same
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from . import content_in, identities, now, place_of
from .views import steps_of, ways_to


@value_record
class Walked:
    """A list or dictionary, and what it held before the loop."""

    place: ObjectId
    before: tuple[Value, ...]
    backwards: bool = False
    opened: Items | None = None
    """One of the run, which was taken apart for the loop."""

    def to_come(self, values: tuple[Value, ...], start: int) -> tuple[Value, ...]:
        """Those of its items that a loop has not come to at some turn."""
        return values[: len(values) - start] if self.backwards else values[start:]


def known_lists(it: Interpreter, iterable: Value) -> list[Walked]:
    """The lists and dictionaries with known items that a loop walks over, side by side perhaps."""
    match iterable:
        case Items(form="list") | LazyIterable("items" | "values", (Items(form="dict"),)):
            items = iterable if isinstance(iterable, Items) else iterable.parts[0]
            assert isinstance(items, Items)
            place = place_of(it, items)
            if items.home is not None:
                return [Walked(place, items.values, opened=items)]
            return [Walked(place, _held(it, place, items.values))]
        case Items(form="iterator"):
            held = now(it, iterable)
            return known_lists(it, held.values[0]) if isinstance(held, Items) else []
        case LazyIterable("generator" | "call"):
            return []  # it asks for itself, or `as_they_are` looks at what it asks
        case LazyIterable("reversed", (part, *_)):
            return [replace(each, backwards=not each.backwards) for each in known_lists(it, part)]
        case LazyIterable(parts=parts):
            return [found for part in parts for found in known_lists(it, part)]
        case _:
            return []


def still_known(it: Interpreter, lists: Sequence[Walked]) -> list[Walked]:
    """Those of which copies are walked over, not the objects."""
    return [each for each in lists if not isinstance(content_in(it.heap, each.place), Var)]


def _held(it: Interpreter, place: ObjectId, otherwise: tuple[Value, ...]) -> tuple[Value, ...]:
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
    """Refuse a loop of whose lists the items to come have changed; none are where it `ended`."""
    if any(is_changed(it, each, start, ended=ended) for each in lists):
        raise changed_in_a_loop(it)


@contextmanager
def as_they_are(it: Interpreter, iterable: Value) -> Generator[None, None, None]:
    """Walk over something whose items may be made at once only if what they are made of stays as it is."""
    start = next(births)
    watched = [_watch(it, part, start) for part in _parts_of_calls(iterable)]
    yield
    if any(changed() for changed in watched):
        raise changed_in_a_loop(it)


def copied_ahead(it: Interpreter, source: Value) -> None:
    """Refuse the program if what a call has taken items from ever changes from now on."""
    watch = _watch(it, source, next(births))
    it.reading.copied_ahead.append((watch, source, it.builder.span))


def check_copied(it: Interpreter) -> None:
    """At the end of the program, refuse it where something has changed that items were copied from."""
    for changed, _, span in it.reading.copied_ahead:
        if changed():
            it.builder.span = span
            raise it.unsupported(
                "a list changes whose items `itertools.tee` has taken before they are asked for",
                "Make the list once: `items = list(items)`.",
            )


def refuse_longer(it: Interpreter, backwards: LazyIterable) -> None:
    """Refuse a `reversed` whose list got other items since: it starts where the list ended then."""
    items, then = backwards.parts
    assert isinstance(then, Const)
    if isinstance(items, Items) and len(items.values) != then.value:
        raise changed_in_a_loop(it)
    if isinstance(items, Var) and _is_written_since(it, items, then.value):
        raise changed_in_a_loop(it)


def _parts_of_calls(iterable: Value) -> Iterator[Value]:
    """What the calls among what is walked over, which make all items at once, make them of."""
    match iterable:
        case Items(form="iterator", values=(source, _)):
            yield from _parts_of_calls(source)
        case LazyIterable(form, parts):
            if form == "call":
                yield from parts
            for part in parts:
                yield from _parts_of_calls(part)
        case _:
            return


def _watch(it: Interpreter, part: Value, start: int) -> Callable[[], bool]:
    if isinstance(part, Var):
        return lambda: _is_written_since(it, part, start)
    lists = known_lists(it, part)
    return lambda: any(is_changed(it, each, 0) for each in lists)


def _is_opened_anew(it: Interpreter, walked: Walked, opened: Items, *, ended: bool) -> bool:
    if opened.home is None or now(it, opened.home) is opened.home:
        return False
    current = now(it, opened)
    return not ended or not isinstance(current, Items) or len(current.values) != len(walked.before)


def dictionaries(it: Interpreter, iterable: Value) -> list[tuple[Value, Atom]]:
    """The dictionaries that a loop walks over, and how many keys they have."""
    match iterable:
        case Items(form="dict"):
            return [(iterable, Const(len(iterable.keys)))]
        case LazyIterable("items" | "keys" | "values", (Var() as mapping,)):
            return [(mapping, it.emit(st.length, mapping))]
        case Var(kind=Map()):
            return [(iterable, it.emit(st.length, iterable))]
        case LazyIterable("generator" | "call"):
            return []
        case LazyIterable(parts=parts):
            return [found for part in parts for found in dictionaries(it, part)]
        case _:
            return []


def raise_if_resized(it: Interpreter, walked: Sequence[tuple[Value, Atom]]) -> None:
    """Raise what Python does where a dictionary has got more or fewer keys than when the loop began."""

    def fail() -> None:
        raise_now(it, RuntimeError, "dictionary changed size during iteration")

    for mapping, count in walked:
        current = now(it, mapping)
        if current is mapping:
            continue
        if isinstance(current, Items):
            it.branch(Const(Const(len(current.keys)) == count), lambda: None, fail)
        else:
            same_length = it.emit(st.eq, it.emit(st.length, it.atom(current)), count)
            it.branch(same_length, lambda: None, fail)


def refuse_reordered(it: Interpreter, walked: Sequence[tuple[Value, Atom]]) -> None:
    """Refuse to take keys out of a dictionary that a loop walks over: put in again, they would be the last."""
    for mapping, count in walked:
        if isinstance(mapping, Var) and isinstance(count, Var):
            if None in keys_written(it, mapping, count.born):
                raise changed_in_a_loop(it)


def keys_written(it: Interpreter, mapping: Var, start: int) -> list[Atom | None]:
    """The keys under which a dictionary got items after some point of the reading; None where it lost some."""
    root, views = ways_to(it, mapping)
    deep = sum(len(steps_of(eqn)) for eqn in views)
    places = dict.fromkeys(identities(it, mapping), 0)
    places |= dict.fromkeys(identities(it, root), deep)
    writes = [(w, k) for place, k in places.items() for w in it.reading.writes.get(place, ())]
    return [w.path[k] if len(w.path) > k else None for w, k in writes if w.born > start]


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
        case LazyIterable("zip" | "enumerate" | "reversed" | "items" | "values", parts):
            return all(isinstance(part, Const) or asks_anew(part) for part in parts)
        case _:
            return False


def items_written(it: Interpreter, items: Atom, count: Atom) -> bool:
    """Whether a list got other items since they were counted."""
    return _is_written_since(it, items, count.born if isinstance(count, Var) else 0)


def _is_written_since(it: Interpreter, items: Atom, start: int) -> bool:
    return any(written_since(it, place, start) for place in identities(it, items))


def written_since(it: Interpreter, place: ObjectId, start: int) -> bool:
    """Whether an object got other items after some point of the reading."""
    writes = it.reading.writes.get(place, ())
    return any(write.born > start and write.depth <= 1 for write in writes)
