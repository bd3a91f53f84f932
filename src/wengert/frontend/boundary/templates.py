"""What tells functions apart that were made by the same definition."""

from __future__ import annotations

import types
from typing import Any

from ...ops.registry import find


class Template:
    """What two function objects share that were made by the same `def`: code, globals, defaults.

    And the attributes that a program has asked such a function for.
    """

    __slots__ = ("_key", "function")

    def __init__(self, function: types.FunctionType):
        self.function = function
        defaults = *(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).items()
        shown = tuple(map(_identity_or_text, defaults))
        own_rule = id(function) if find(function) is not None else 0
        names = asked_of(function) if _asked else ()
        asked = tuple(_shown(function, name) for name in names) if names else ()
        self._key = (function.__code__, id(function.__globals__), shown, own_rule, asked)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key[0])

    def __repr__(self) -> str:
        return self.function.__qualname__

    @property
    def __name__(self) -> str:
        return self.function.__name__

    @property
    def co_freevars(self) -> tuple[str, ...]:
        return self.function.__code__.co_freevars


def _identity_or_text(default: Any) -> Any:
    """What tells defaults apart: of objects, which may change, who they are."""
    if isinstance(default, tuple):
        return tuple(map(_identity_or_text, default))
    is_plain = default is None or isinstance(default, (bool, int, float, complex, str))
    return repr(default) if is_plain else id(default)


known_captures: dict[Template, set[str]] = {}
"""Captured names whose very value the reading of a program turned out to need."""
_asked: dict[int, tuple[types.CodeType, tuple[str, ...]]] = {}
"""The attributes that programs ask of functions, by the identity of their code: its hash takes long."""


def asked_of(function: types.FunctionType) -> tuple[str, ...]:
    found = _asked.get(id(function.__code__))
    return () if found is None else found[1]


def must_be_known(template: Template, name: str, *, of_function: bool = False) -> None:
    """From now on the kind of a function says what it captured, or what its attribute is, under this name."""
    if not of_function:
        known_captures.setdefault(template, set()).add(name)
        return
    code = template.function.__code__
    _asked[id(code)] = code, tuple(dict.fromkeys((*asked_of(template.function), name)))


def knows_attribute(template: Template, name: str) -> bool:
    """Whether the kind of a function says what this attribute of it is."""
    return name in asked_of(template.function)


def _shown(function: types.FunctionType, name: str) -> Any:
    """What tells the attributes of two functions apart."""
    found = getattr(function, name, _shown)
    return found if type(found) in (str, int, float, bool) else id(found)
