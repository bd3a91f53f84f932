"""Which values are objects that somebody else sees change: what generated code asks when it runs."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from .containers import is_built_on_container, values_held
from .copies import can_change
from .refusals import coded, unclear


def is_view(part: Any) -> bool:
    """Whether what indexing gave changes with what was indexed: the parts of arrays do."""
    return isinstance(part, np.ndarray)


def is_sequence(x: Any) -> bool:
    """Whether `+` joins something to a list or a tuple."""
    return isinstance(x, (list, tuple))


def built_in_operator(value: Any, names: tuple[str, ...]) -> None:
    """Refuse an object whose class says in Python what an operator does, where its class was not known."""
    cls = type(value)
    if cls.__module__ in ("builtins", "decimal", "fractions") or hasattr(cls, "__compute_op__"):
        return
    if isinstance(value, (np.ndarray, np.generic)):
        return
    own = any(hasattr(getattr(cls, name, None), "__code__") for name in names)
    if own or is_built_on_container(cls):
        raise unclear(
            f"an operator, or what reads or changes items, is that of the class {cls.__name__}, which is known only "
            "when the program runs\n"
            "Keep such objects in a short list or under names, or specialise the derivative for example arguments."
        )


def is_view_of(part: Any, whole: Any) -> bool:
    """Whether what was read from something changes with it, whatever it holds."""
    return isinstance(part, np.ndarray) and isinstance(whole, np.ndarray)


def shares_with(part: Any, whole: Any) -> bool:
    """Whether what was made of something is a view of it, which changes with it."""
    if isinstance(part, (list, tuple)):
        return any(shares_with(each, whole) for each in part)
    arrays = isinstance(part, np.ndarray) and isinstance(whole, np.ndarray)
    return part is whole or (arrays and np.may_share_memory(part, whole))


def changes(value: Any) -> bool:
    """Whether a value is an object that writes may change, or a tuple that holds one."""
    return any(map(changes, value)) if isinstance(value, tuple) else can_change(value)


def is_part(part: Any, whole: Any) -> bool:
    """Whether what an index gave changes with what was indexed: a view, or an object that a list holds."""
    return shares_with(part, whole) if isinstance(whole, np.ndarray) else changes(part)


def in_place(part: Any, whole: Any) -> None:
    """Refuse an object that was read from a container and may have been replaced in it, or have changed."""
    if changes(part) and not isinstance(whole, np.ndarray):
        raise unclear(
            "a part of a container is used after the container got other items, and items changed\n"
            "Take the item out again where it is used, or specialise the derivative for example arguments."
        )


def indexed(x: Any) -> bool:
    """Whether a loop over `x` asks for every item when its turn comes: of a dictionary it walks over keys."""
    return isinstance(x, (list, np.ndarray, deque))


def unchanging(value: Any, depth: int) -> None:
    """Refuse an object that may have changed under another name, or one that holds such: at depth 1."""
    if not changes(value):
        return
    if depth and isinstance(value, (list, dict)):
        items = value.values() if isinstance(value, dict) else value
        if not any(map(changes, items)):
            return
    raise unclear(
        "it is not known what this object holds: it may have changed under another name\n"
        "Change a copy, or specialise the derivative for example arguments."
    )


def objects_only(items: list[Any]) -> None:
    """Refuse numbers that change while they are walked over: they are read when their turn comes."""
    if not all(can_change(item) or isinstance(item, (str, tuple)) for item in items):
        raise unclear(
            "the items that this walks over change meanwhile\nWalk over a copy: `list(items)`."
        )


def distinct(items: Any) -> Any:
    """A container, after a check that no object is in it twice, and that its arrays share no memory."""
    values = values_held(items)
    changeable = list(map(id, _changing(values)))
    if len(set(changeable)) < len(changeable) or overlap(list(_arrays_in(values))):
        raise _shared("two items of this container are one object, which is changed elsewhere")
    return items


def _changing(values: Iterable[Any]) -> Iterator[Any]:
    """The objects among some values that writes may change, and those in tuples."""
    for value in values:
        if isinstance(value, tuple):
            yield from _changing(value)
        elif can_change(value):
            yield value


def _arrays_in(values: Iterable[Any], seen: set[int] | None = None) -> Iterator[np.ndarray]:
    seen = set() if seen is None else seen
    for value in values:
        if isinstance(value, np.ndarray):
            yield value
        elif can_change(value) or isinstance(value, tuple):
            if id(value) not in seen:
                seen.add(id(value))
                yield from _arrays_in(values_held(value), seen)


def overlap(arrays: list[np.ndarray]) -> bool:
    """Whether two arrays share memory."""
    if all(type(each) is np.ndarray and each.flags.owndata for each in arrays):
        return len({*map(id, arrays)}) < len(arrays)
    if not all(hasattr(each, "__array_interface__") for each in arrays):  # of other libraries
        return any(np.shares_memory(a, b) for k, a in enumerate(arrays) for b in arrays[:k])
    ends: list[np.ndarray] = []
    for array in sorted(arrays, key=lambda each: byte_bounds(each)[0]):
        start = byte_bounds(array)[0]
        ends = [each for each in ends if byte_bounds(each)[1] > start]
        if any(np.shares_memory(each, array) for each in ends):
            return True
        ends.append(array)
    return False


def gone(value: Any, owner: Any) -> None:
    """Check that nothing of what a container referred to in one place is in another place of it."""
    left = [value, *_held_anywhere(value, set())]
    inside = list(_held_anywhere(owner, set()))
    if not {*map(id, left)}.isdisjoint(map(id, inside)) or any(
        np.shares_memory(a, b) for a in _arrays_in(left) for b in _arrays_in(inside)
    ):
        raise _shared("two items of this container were one object, which is changed elsewhere")


def _held_anywhere(whole: Any, seen: set[int]) -> Iterator[Any]:
    """What a container holds, and what that holds: all that can change."""
    for value in values_held(whole):
        if (can_change(value) or isinstance(value, tuple)) and id(value) not in seen:
            seen.add(id(value))
            yield value
            if not isinstance(value, np.ndarray):
                yield from _held_anywhere(value, seen)


def as_long(items: Any, count: int) -> None:
    """Check that a list is as long as it was before a loop walked over it."""
    if len(items) != count:
        raise unclear(
            "a list gets longer or shorter while a loop walks over it\n"
            "Walk over a copy: `for item in list(items)`."
        )


def long_enough(length: int, count: int) -> None:
    """Check that what is walked over beside names has an item for each of them."""
    if length < count:
        raise unclear(
            f"this derivative was made for at least {count} items where there are {length} now: a loop over "
            "names beside them is written out\n"
            "Walk over as many names as there are items."
        )


def counted(value: Any, count: Any) -> None:
    """Check that a whole number, or the shape of an array, is the one that the program was read for."""
    found = value.shape if isinstance(value, np.ndarray) else value
    if found != count:
        raise unclear(
            f"this derivative was made for calls with {count!r} where there is {found!r} now: its loops "
            "are written out\n"
            "Call the general derivative (`wg.grad(f)`, not what `specialize` gave), or specialise anew."
        )


def decided(value: Any, before: Any) -> None:
    """Check that a program goes the way that it went in the run that it was read for."""
    if value != before:
        raise unclear(
            f"this derivative was made for one run of the program, which went another way here: there is "
            f"{value!r} where there was {before!r}\n"
            "Call the general derivative (`wg.grad(f)`, not what `specialize` gave), or specialise anew."
        )


def has_dtype(made: Any, dtype: str) -> None:
    """Refuse an array of another dtype: the numbers that it is made of are of one type or another."""
    if made.dtype != dtype:
        raise unclear(
            f"this array is one of {made.dtype}, where the numbers that it is made of may be of {dtype}, too\n"
            "Make it with `dtype=float`, or start from `0.0` instead of `0`."
        )


def no_number(key: Any, owner: Any = None) -> None:
    """Refuse a key, or keys, that depend on what is differentiated, where they are no text and no count.

    So is an object that holds such a number: whoever walks over the keys reads it from there.
    """
    if isinstance(owner, (list, np.ndarray)):
        return  # a place in it, which is a whole number or an error
    found = _number_in(key)
    if found is not None:
        error = ValueError(
            f"the number {found!r}, which has a derivative, is the key of an entry\n"
            "Keep such numbers in a list; or use `wg.stop_gradient(x)` as the key."
        )
        raise coded(error, "WG103")


def _number_in(key: Any) -> Any:
    """A number, or an array of such, that a key is or holds; None if there is none."""
    pending, seen = [key], set[int]()
    while pending:
        each = pending.pop()
        if isinstance(each, (float, complex, np.inexact)):
            return each
        if isinstance(each, np.ndarray) and each.dtype.kind in "fc":
            return each
        if id(each) in seen or isinstance(each, (str, bytes, int, type, np.ndarray)):
            continue
        seen.add(id(each))
        pending.extend(values_held(each))
    return None


def no_view(part: Any, whole: Any, owner: Any = None) -> None:
    """Refuse a view of an array that changes, where it is put into a container: arrays copy it."""
    if shares_with(part, whole) and not isinstance(owner, np.ndarray):
        raise _shared("a part of an array that is changed elsewhere is put into a container")


def of_array(part: Any) -> None:
    """Check that a slice shares memory with what it was taken of."""
    if not isinstance(part, np.ndarray):
        raise unclear(
            "a slice of a list is changed, where only the run tells it from a view of an array\n"
            "Copy it (`list(part)`), or specialise the derivative for example arguments."
        )


def no_view_of_number(base: Any) -> None:
    """Check that what is changed is a view of an array: of one of NumPy's numbers it is an array of its own."""
    if isinstance(base, (float, complex, np.generic)):
        raise unclear(
            "an array made of a number is changed, where only the run tells it from a view of an array\n"
            "Copy it (`np.array(x, ndmin=1)`), or specialise the derivative for example arguments."
        )


def copy_of_array(made: Any) -> None:
    """Check that what a method `copy` gave is an array, which holds no objects and changes in place."""
    if not isinstance(made, np.ndarray):
        raise unclear(
            f"{type(made).__name__}.copy is called where only the run tells it from an array's\n"
            "Use `copy.copy(x)`, or specialise the derivative for example arguments."
        )


def python_number(x: Any, beside: str) -> None:
    """Check that the operator of a number leaves it to an object with items what the result is."""
    if isinstance(x, (np.generic, np.ndarray)):
        what = "array" if isinstance(x, np.ndarray) else "number"
        raise unclear(
            f"a NumPy {what} meets an object of {beside}, of which NumPy makes an array\n"
            "Write `float(x)` for the number if the class is to say what the operator does, or\n"
            "`np.asarray` around the object if NumPy is."
        )


def rebound(value: Any, whole: Any = None) -> None:
    """Check that `value += …` gives the name a new object, or the item of `whole`."""
    if can_change(value) and not isinstance(whole, np.ndarray):
        raise unclear(
            "an array or list is changed in place that the run chooses and that others may refer to\n"
            "Write `x = x + …`, or specialise the derivative for example arguments."
        )


def unshared(value: Any, whole: Any = None) -> Any:
    """A value that is put into a container, after a check that nobody can change it there: arrays copy it."""
    if changes(value) and not isinstance(whole, np.ndarray):
        raise _shared("an object that is changed elsewhere is now part of two containers")
    return value


def no_shared_items(items: Any, owner: Any = None) -> None:
    """Check that a list was made of nothing that can change, or takes in nothing: arrays have a sum, or a view."""
    if isinstance(items if owner is None else owner, (list, tuple)) and any(map(changes, items)):
        raise unclear(
            "an object that two lists hold is changed, where only the run tells lists from arrays\n"
            "Put copies of such objects into one of the lists, or specialise the derivative for example arguments."
        )


def _shared(message: str) -> ValueError:
    return unclear(
        f"{message}\nPut a copy into the container, so that every object is in one place."
    )


def evaluated(value: Any) -> None:
    """Nothing: the value has been computed, which is all that was wanted."""


def equally_long(*lengths: int) -> None:
    """Check what `zip(…, strict=True)` checks."""
    if len(set(lengths)) < 2:
        return
    first = lengths.index(min(lengths))
    k = first or next(k for k, length in enumerate(lengths) if length > lengths[0])
    others = f"arguments 1-{k}" if k > 1 else "argument 1"
    found = "shorter" if first else "longer"
    raise ValueError(f"zip() argument {k + 1} is {found} than {others}")
