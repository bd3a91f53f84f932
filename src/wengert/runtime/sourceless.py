"""Functions whose source cannot be found, called as they are where no differentiated value reaches them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .containers import attributes_of
from .refusals import coded

MOST = 20_000
"""How much of what it is given is looked at before and after a call."""


class Sourceless:
    """A function that is called as it is, and must leave alone what it is given: nobody reads what it does.

    `message` and `way_out` say why it cannot be differentiated.
    """

    def __init__(self, function: Callable[..., Any], message: str, way_out: str):
        self.function = function
        self.message = message
        self.way_out = way_out
        self.__name__ = function.__name__
        self.__qualname__ = function.__qualname__
        self.__module__ = function.__module__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = (args, kwargs)
        before = list(_parts(given))
        result = self.function(*args, **kwargs)
        if len(before) > MOST or before != list(_parts(given)):
            raise self._refusal("changes what it is given")
        holders = {identity for _, identity, _ in before if identity is not None}
        if any(identity in holders for _, identity, _ in _parts(result)):
            raise self._refusal("gives back what it is given")
        return result

    def _refusal(self, what: str) -> Exception:
        message = f"{self.message}; it {what}, or may do so"
        return coded(TypeError(f"{message}\n{self.way_out}"), "WG102")


class Watched(Sourceless):
    """A compiled function, which could write to what it is given."""


def _parts(value: Any) -> Iterator[tuple[Any, int | None, Any]]:
    """The type of everything that a value holds, the identity of what can change, and what cannot."""
    pending, seen = [value], set[int]()
    while pending and len(seen) <= MOST:
        each = pending.pop()
        if each is None or isinstance(each, _FIXED):
            known = each if isinstance(each, (bool, int, float, complex, str, bytes)) else id(each)
            yield type(each), None, str(known)
            continue
        is_new = id(each) not in seen
        seen.add(id(each))
        identity = None if isinstance(each, tuple) else id(each)
        yield type(each), identity, each.tobytes() if isinstance(each, np.ndarray) else len(seen)
        if is_new:
            pending += _inside(each)


_FIXED = (
    bool, int, float, complex, str, bytes, np.generic, type, FunctionType, BuiltinFunctionType, MethodType, ModuleType,
)  # fmt: skip


def _inside(value: Any) -> list[Any]:
    match value:
        case np.ndarray():
            return list(value.flat) if value.dtype == object else [value.base]
        case dict():
            return [*value.keys(), *value.values(), *attributes_of(value).values()]
        case list() | tuple() | set() | frozenset():
            return [*value]
        case _:
            return [*attributes_of(value).values()]
