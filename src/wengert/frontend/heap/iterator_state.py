"""Iterators on the heap: what they walk over, and how far they have come."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ...ir.graph import Atom, Const, Var
from ...ir.types import Array, Seq
from ...ops import structure as st
from ..domain.running import Consumer
from ..domain.values import Items, LazyIterable, Value, is_generator, list_of
from ..domain.whereabouts import Untracked
from .changes import put
from .current import now
from .places import place_of

if TYPE_CHECKING:
    from ..iterate.generators import GeneratorFrame
    from ..machine.interpreter import Interpreter


KEYS = ("source", "position")


DRAINED = LazyIterable("drained", ())
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
    if source == DRAINED:
        raise asked_by_another(it)
    return source, position


def asked_by_another(it: Interpreter) -> Exception:
    return it.unsupported(
        "an iterator is asked for an item while something walks over it",
        "Let one of them ask for all: a `while` loop with `next(items, None)`, or indices of a list.",
    )


def put_on(it: Interpreter, iterator: Items, source: Value, position: Atom) -> None:
    put(it, iterator, iterator.holding((source, position)))


def asked_one_by_one(it: Interpreter, what: str) -> Exception:
    return it.unsupported(
        f"{what} is asked for one item at a time",
        "Walk over it with one `for` loop, to the end or until a `break`; or over a list of its items.",
    )


def is_over_generator(it: Interpreter, value: Value) -> bool:
    """Whether something is an iterator over what a generator gives."""
    value = now(it, value)
    return (
        isinstance(value, Items)
        and value.form == "iterator"
        and is_generator(current(it, value)[0])
    )


def give_back(it: Interpreter, iterator: Items, listed: Value) -> None:
    """The items that were taken are there again, in a list."""
    put_on(it, iterator, listed, Const(0))


def lost_iterator(it: Interpreter, why: Untracked) -> Items:
    """An iterator that nobody may ask for an item."""
    lost = Items("iterator", KEYS, (list_of(), Const(0)))
    it.heap[place_of(it, lost)] = why
    return lost


def is_lazy(held: Items) -> bool:
    """Whether an object is an iterator whose items are made when they are asked for."""
    return held.form == "iterator" and isinstance(held.values[0], LazyIterable)


def producer_of(value: Value) -> GeneratorFrame:
    assert isinstance(value, LazyIterable)
    assert value.function is not None
    return value.function.value  # type: ignore[union-attr]


@contextmanager
def drained(it: Interpreter, iterator: Items) -> Generator[Value, None, None]:
    """What is left of an iterator, while something walks over it to its end.

    Who else asks it meanwhile, or after an exception, is refused.
    """
    noticed = it.is_kept(iterator)
    source = taken_over(it, iterator)
    if not noticed:
        yield source
        return
    put_on(it, iterator, DRAINED, Const(0))
    yield source
    put_on(it, iterator, list_of(), Const(0))


def taken_over(it: Interpreter, iterator: Items) -> Value:
    """What is left of an iterator, which whoever asks is going to walk over to its end."""
    source, position = current(it, iterator)
    put_on(it, iterator, list_of(), Const(0))
    if is_generator(source) or position == Const(0):
        return source
    listed = indexed(it, source)
    if isinstance(listed, Items) and isinstance(position, Const):
        return list_of(*listed.values[position.value :])
    rest = it.emit(st.slice_, position, Const(None), Const(None))
    return it.emit(st.getitem, it.atom(listed), rest)


def indexed(it: Interpreter, source: Value) -> Value:
    """What is walked over, as something with indices."""
    if isinstance(source, Items) and source.form in ("list", "tuple"):
        return source
    has_indices = isinstance(source, Var) and isinstance(source.kind, (Array, Seq))
    return source if has_indices else it.as_list(source)


def drive(it: Interpreter, generator: Value, consumer: Consumer) -> Value:
    """Hand every item of a generator to a consumer; gives what the generator returns."""
    return producer_of(generator).run(it, consumer)


def may_stop(it: Interpreter) -> bool:
    """Whether the current function is a generator that may be left where it yields."""
    producing = it.frame.producing
    return producing is not None and producing.may_stop


def stop_iteration(
    it: Interpreter,
    default: Sequence[Value],
    result: Value = Const(None),  # noqa: B008
) -> Value:
    """What `next` gives at the end of what has returned a result."""
    if not default:
        args = [] if result == Const(None) else [result]
        it.raise_exception(it.make_exception(StopIteration, args, {}))
    return default[0]


def leave_if(it: Interpreter, left: Atom) -> None:
    """Leave the current function where its consumer wants no more."""
    if left != Const(False):
        it.set("%returned", it.either(it.flag("%returned"), left))
        it.set("%return", Const(None))
