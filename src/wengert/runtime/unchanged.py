"""What must stay as it was: calls that keep nothing, attributes and methods of classes that say what they do.

The text of these functions is copied into saved derivatives, so each uses NumPy and the others only.
"""

from __future__ import annotations

from collections import Counter, deque
from types import MappingProxyType
from typing import Any

import numpy as np

from .containers import SEQUENCES, attributes_of, is_built_on_container, values_held
from .copies import can_change, snapshot
from .identity import overlap
from .refusals import unclear


def kept(owner: Any, name: str) -> None:
    """Refuse to assign an attribute of an object whose class says what that does."""
    import inspect
    import types

    plain = (object.__setattr__, types.SimpleNamespace.__setattr__)
    own = type(owner).__setattr__ not in plain
    found = getattr(type(owner), name, None)
    if own or (hasattr(type(found), "__set__") and not inspect.ismemberdescriptor(found)):
        raise unclear(
            f"assigning to {name!r} runs code of the class {type(owner).__name__}, which is known only when "
            "the program runs\n"
            "Call a method instead; or create the object inside the function, or pass it as an argument."
        )


def built_in(owner: Any, name: str) -> None:
    """Refuse a method that changes an object, if it is not one of a container that Python comes with."""
    if type(owner).__module__ not in ("builtins", "collections", "numpy", "array"):
        raise unclear(
            f"{name!r} is a method of the class {type(owner).__name__}, which is known only when the "
            "program runs\n"
            "Create the object inside the function, or pass it as an argument of its own."
        )
    what = _what_else(owner, name)
    if what:
        raise unclear(
            f"`{name}` {what} here, since this is a {type(owner).__name__} that was made elsewhere\n"
            "Make it inside the function, or write out what the method does."
        )


_GROWING = ("append", "appendleft", "extend", "insert")


def _what_else(owner: Any, name: str) -> str:
    """What a method of a container of Python's does that one of a list or a dictionary does not; nothing mostly."""
    if isinstance(owner, deque) and name == "reverse":
        return "reads no slice"
    if isinstance(owner, deque) and owner.maxlen is not None and name in _GROWING:
        return "drops items"
    return "adds up" if isinstance(owner, Counter) and name == "update" else ""


_KEPT = (
    "a context variable is given a value, which has no derivative when it is asked for\n"
    "Pass the value as an argument, or keep it in an attribute of an object."
)


def applied(f: Any, *args: Any, **named: Any) -> Any:
    """f(*args), after which everything that f was given holds what it held before."""
    owner = getattr(f, "__self__", None)
    if type(owner).__name__ == "ContextVar" and f.__name__ == "set":
        raise unclear(_KEPT)
    given = [*args, *named.values()]
    if type(f).__name__ != "builtin_function_or_method" or isinstance(owner, _CHANGED_IN_C):
        given.append(
            owner
        )  # what C keeps of another object, a generator of random numbers, nobody sees
    before = [snapshot(x) for x in given]
    message = (
        "a function that is known only when the program runs changes an object that it is given\n"
        "Choose the function where wengert can see it, or return the new value."
    )
    try:
        y = f(*args, **named)
    except Exception as error:
        if not all(map(_holds_the_same, before, given)):
            vars(error)["_wengert_changes"] = message  # which matters where the program catches it
        raise
    if not all(map(_holds_the_same, before, given)):
        raise unclear(message)
    return y


_CHANGED_IN_C = (list, dict, set, np.ndarray, *SEQUENCES)


def _holds_the_same(a: Any, b: Any, around: frozenset[tuple[int, int]] = frozenset()) -> bool:
    """Whether two values are the same, or hold the same; `around` are the pairs that hold this one, in circles."""
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return (
            a.dtype == b.dtype and a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=True))
        )
    pair = id(a), id(b)
    if a is b or pair in around:
        return True
    around |= {pair}
    if is_built_on_container(type(a)):
        return _holds_the_same(attributes_of(a), attributes_of(b), around)
    if isinstance(a, (list, tuple)):
        pairs = zip(a, b, strict=False)
        return len(a) == len(b) and all(_holds_the_same(x, y, around) for x, y in pairs)
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_holds_the_same(a[k], b[k], around) for k in a)
    if not can_change(a):
        return bool(a == b or a != a)  # noqa: PLR0124  # NaN
    return _holds_the_same(attributes_of(a), attributes_of(b), around)


def apart(*values: Any) -> None:
    """Check that no object which a program may change is given to it twice."""
    seen: set[int] = set()
    arrays: list[np.ndarray] = []
    for value in values:
        _refuse_again(value, seen, arrays)
    if overlap(arrays):
        raise _given_twice("two of the arrays given to it share memory")


def no_shared_memory(a: Any, b: Any) -> None:
    """`apart` of two arrays."""
    if np.shares_memory(a, b):
        raise _given_twice("two of the arrays given to it share memory")


def _refuse_again(value: Any, seen: set[int], arrays: list[np.ndarray]) -> None:
    if isinstance(value, np.ndarray):
        arrays.append(value)
        return
    if isinstance(value, (memoryview, MappingProxyType)):
        raise _given_twice(f"a {type(value).__name__} given to it shows what another object holds")
    if can_change(value):
        if id(value) in seen:
            raise _given_twice("one object is given to it twice")
        seen.add(id(value))
    for item in values_held(value) if isinstance(value, (list, tuple, dict)) else ():
        _refuse_again(item, seen, arrays)


def _given_twice(message: str) -> ValueError:
    return unclear(
        f"the function changes an argument, and {message}\n"
        "Pass a copy; or differentiate `lambda x: f(x, x)`, which is one function of one object."
    )
