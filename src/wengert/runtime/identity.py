"""Which values are objects that somebody else sees change: what generated code asks when it runs."""

from __future__ import annotations

from typing import Any

import numpy as np

from .containers import attributes_of
from .memory import can_change, snapshot


def is_view(part: Any) -> bool:
    """Whether what indexing gave changes with what was indexed: the parts of arrays do."""
    return isinstance(part, np.ndarray)


def distinct(items: Any) -> Any:
    """A container, after a check that no object is in it twice."""
    values = items.values() if isinstance(items, dict) else items
    changeable = [id(item) for item in values if can_change(item)]
    if len(set(changeable)) < len(changeable):
        raise _shared("two items of this container are one object, which is changed elsewhere")
    return items


def unshared(value: Any) -> Any:
    """A value that is put into a container, after a check that nobody can change it there."""
    if can_change(value):
        raise _shared("an object that is changed elsewhere is now part of two containers")
    return value


def kept(owner: Any, name: str) -> None:
    """Refuse to assign an attribute of an object whose class says what that does."""
    import inspect

    own = type(owner).__setattr__ is not object.__setattr__
    found = getattr(type(owner), name, None)
    if own or (hasattr(type(found), "__set__") and not inspect.ismemberdescriptor(found)):
        error = ValueError(
            f"assigning to {name!r} runs code of the class {type(owner).__name__}, which is known only when "
            "the program runs\n"
            "Call a method instead; or create the object inside the function, or pass it as an argument."
        )
        error.code = "WG101"  # type: ignore[attr-defined]
        raise error


def built_in(owner: Any, name: str) -> None:
    """Refuse a method that changes an object, if it is not one of a container that Python comes with."""
    if type(owner).__module__ not in ("builtins", "collections", "numpy", "array"):
        error = ValueError(
            f"{name!r} is a method of the class {type(owner).__name__}, which is known only when the "
            "program runs\n"
            "Create the object inside the function, or pass it as an argument of its own."
        )
        error.code = "WG101"  # type: ignore[attr-defined]
        raise error


def applied(f: Any, *args: Any, **named: Any) -> Any:
    """f(*args), after which everything that f was given holds what it held before."""
    given = [getattr(f, "__self__", None), *args, *named.values()]
    before = [snapshot(x) for x in given]
    y = f(*args, **named)
    if not all(map(_holds_the_same, before, given)):
        error = ValueError(
            "a function that is known only when the program runs changes an object that it is given\n"
            "Choose the function where wengert can see it, or return the new value."
        )
        error.code = "WG101"  # type: ignore[attr-defined]
        raise error
    return y


def _holds_the_same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return (
            a.dtype == b.dtype and a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=True))
        )
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_holds_the_same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_holds_the_same(a[key], b[key]) for key in a)
    if not can_change(a):
        return bool(a is b or a == b or a != a)  # noqa: PLR0124  # NaN
    return a is b or _holds_the_same(attributes_of(a), attributes_of(b))


def apart(*values: Any) -> None:
    """Check that no object which a program may change is given to it twice."""
    seen: set[int] = set()
    arrays: list[np.ndarray] = []
    for value in values:
        _refuse_again(value, seen, arrays)


def _refuse_again(value: Any, seen: set[int], arrays: list[np.ndarray]) -> None:
    if isinstance(value, np.ndarray):
        if any(np.shares_memory(value, other) for other in arrays):
            raise _given_twice("two of the arrays given to it share memory")
        arrays.append(value)
    if not can_change(value) and not isinstance(value, tuple):
        return
    if id(value) in seen:
        raise _given_twice("one object is given to it twice")
    seen.add(id(value))
    items = value.values() if isinstance(value, dict) else value
    for item in items if isinstance(value, (list, tuple, dict)) else ():
        _refuse_again(item, seen, arrays)


def _given_twice(message: str) -> ValueError:
    error = ValueError(
        f"the function changes an argument, and {message}\n"
        "Pass a copy; or differentiate `lambda x: f(x, x)`, which is one function of one object."
    )
    error.code = "WG101"  # type: ignore[attr-defined]
    return error


def _shared(message: str) -> ValueError:
    error = ValueError(
        f"{message}\nPut a copy into the container, so that every object is in one place."
    )
    error.code = "WG101"  # type: ignore[attr-defined]
    return error
