"""What a reading finds outside the program that may be replaced later: then the program is read again."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from types import FunctionType, ModuleType
from typing import Any

from ...ir.types import Kind, Static
from ..domain.values import HEAP_TYPE

Guard = tuple[Any, str, Kind]
"""Who holds a value, by which name, and the kind (or identity) it had: `Static(MISSING)` where there was none."""
Guards = dict[tuple[int, str], Guard]
"""The same, by whose they are."""
Seen = dict[tuple[type, str], Any]
"""What classes keep under the names by which they were asked: `MISSING` where they keep nothing."""

PARTS = ("__code__", "__defaults__", "__kwdefaults__")
"""What a function object is made of that may be replaced."""
MISSING = object()
PRESENT = object()
"""Some value, whichever."""
OURS = __name__.partition(".")[0] + "."
_seen: ContextVar[Seen] = ContextVar("what is seen in classes")


def rely_on(guards: Guards, holder: Any, name: str, found: Any) -> None:
    """What somebody holds under a name is this object, or `MISSING`."""
    guards[id(holder), name] = holder, name, Static(found)


def has(guards: Guards, holder: Any, name: str) -> bool:
    """`hasattr(holder, name)`, on whose answer the program relies."""
    present = hasattr(holder, name)
    if hasattr(holder, "__dict__") or type(holder).__flags__ & HEAP_TYPE:
        guards.setdefault(
            (id(holder), name), (holder, name, Static(PRESENT if present else MISSING))
        )
    return present


def rely_on_function(guards: Guards, function: FunctionType) -> None:
    """An editor that loads a module again may give its functions other code and defaults."""
    if str(function.__module__).startswith(OURS):
        return
    for part in PARTS:
        found = getattr(function, part)
        if found is not None:
            rely_on(guards, function, part, found)


def rely_on_partial(guards: Guards, function: partial[Any]) -> None:
    for part in ("func", "args", "keywords"):
        rely_on(guards, function, part, getattr(function, part))
    rely_on_all(guards, function.keywords, function)


class _Names:
    """How many names there are in a dictionary."""

    def __init__(self, kept: Mapping[Any, Any]):
        self._kept = kept

    @property
    def count(self) -> int:
        return len(self._kept)


def rely_on_count(guards: Guards, kept: Mapping[Any, Any]) -> None:
    names = _Names(kept)
    rely_on(guards, names, "count", names.count)


def rely_on_all(guards: Guards, kept: Mapping[str, Any], whose: Any) -> None:
    """What somebody holds by names, all of it."""
    once = id(whose), "all its names"
    if once not in guards:  # `vars` of a class gives another proxy at each question
        for name, found in kept.items():
            rely_on(guards, kept, name, found)
        names = _Names(kept)
        guards[once] = names, "count", Static(names.count)


def rely_on_class(guards: Guards, cls: type) -> Mapping[str, Any]:
    """What a class keeps, all of it."""
    kept = vars(cls)
    rely_on_all(guards, kept, cls)
    return kept


@contextmanager
def seeing(seen: Seen) -> Generator[None]:
    """Keep what classes that can change are found to hold while a program is read."""
    token = _seen.set(seen)
    try:
        yield
    finally:
        _seen.reset(token)


def kept_in(cls: type, name: str) -> Any:
    """What a class itself keeps under a name, or `MISSING`.

    A value without a descriptor is no such find: it is read where the program reads it.
    """
    found = vars(cls).get(name, MISSING)
    can_change = cls.__flags__ & HEAP_TYPE and not cls.__module__.startswith(OURS)
    if can_change and (found is MISSING or hasattr(type(found), "__get__")):
        _seen.get({})[cls, name] = found
    return found


_FIXED_MODULES = {"numpy", "math", "cmath", "operator", "functools", "builtins", "itertools"}


def is_users_module(value: Any) -> bool:
    """Whether a value is a module whose names may be bound anew."""
    return isinstance(value, ModuleType) and value.__name__.split(".")[0] not in _FIXED_MODULES
