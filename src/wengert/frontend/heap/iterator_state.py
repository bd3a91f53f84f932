"""Iterators on the heap: what they walk over, and how far they have come."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...ir.graph import Atom, Const, Var
from ..domain.values import (
    Items,
    Iteration,
    Lost,
    Value,
    is_generator,
    list_of,
)
from .changes import put
from .current import now
from .places import place_of
from .walking import one_by_one

if TYPE_CHECKING:
    from ..iterate.generators import Producer
    from ..machine.interpreter import Interpreter


KEYS = ("source", "position")


DRAINED = Iteration("drained", ())
"""What an iterator holds while a loop walks over it."""


def iterator_of(it: Interpreter, source: Value) -> Items:
    """A new iterator."""
    iterator = Items("iterator", KEYS, (source, Const(0)))
    return put(it, iterator, iterator)


def current(it: Interpreter, iterator: Items) -> tuple[Value, Atom]:
    """What an iterator walks over, and the number of the item that comes next."""
    held = now(it, iterator)
    assert isinstance(held, Items)
    source, position = held.values
    assert isinstance(position, (Var, Const))
    if isinstance(source, Iteration) and source.form == "drained":
        one_by_one(it, source.key)
    return source, position


def put_on(it: Interpreter, iterator: Items, source: Value, position: Atom) -> None:
    on_each(it, iterator, lambda each: _ignored(put(it, each, each.holding((source, position)))))


def on_each(it: Interpreter, iterator: Items, change: Callable[[Items], None]) -> None:
    """Change an iterator; of one that stands for one of two, whichever it is."""
    choice = None if iterator.place is None else iterator.place.choice
    if choice is None:
        change(iterator)
        return
    first, second = choice.first, choice.second
    it.branch(
        choice.condition,
        lambda: on_each(it, first, change),
        lambda: on_each(it, second, change),
    )


def _ignored(value: Value) -> None:
    return


def is_under_way(it: Interpreter, iterator: Items) -> bool:
    """Whether an iterator is a generator that has begun, so that only itself can go on."""
    source, _ = current(it, iterator)
    return is_generator(source) and not producer_of(source).is_fresh(it)


def asks_a_generator(it: Interpreter, value: Items) -> bool:
    """Whether something is an iterator over what a generator gives."""
    return value.form == "iterator" and is_generator(current(it, value)[0])


def give_back(it: Interpreter, iterator: Items, listed: Value) -> None:
    """The items that were taken are there again, in a list."""
    put_on(it, iterator, listed, Const(0))


def lost_iterator(it: Interpreter, reason: str) -> Items:
    """An iterator that nobody may ask for an item."""
    lost = Items("iterator", KEYS, (list_of(), Const(0)))
    it.heap[place_of(it, lost)] = Lost(reason)
    return lost


def walks_over_data(held: Items) -> bool:
    """Whether what an iterator walks over are items that there are already."""
    return not isinstance(held.values[0], Iteration)


def producer_of(value: Value) -> Producer:
    assert isinstance(value, Iteration)
    assert value.function is not None
    return value.function.value  # type: ignore[union-attr]
