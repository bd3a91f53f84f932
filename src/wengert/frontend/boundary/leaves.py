"""Reading the leaves of arguments whose kinds were seen before: quicker than finding their kinds again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...ir.types import Kind, Static, Struct

Reader = Callable[[Any, list[Any]], bool]
"""Appends the leaves of a value to a list; says whether the value is built as expected."""


class NoReader(Exception):
    """A value of this kind has to be looked at anew each time."""


def reader_of(kind: Kind) -> Reader:
    """How the leaves of values of a kind are read. What the leaves are is not checked.

    Raises:
        NoReader: it takes more than the types and lengths of containers to know that a value is of the kind.
    """
    match kind:
        case Static(value=known):
            return _known(known)
        case Struct(form="tuple" | "list" as form, items=items):
            return _sequence(tuple if form == "tuple" else list, [reader_of(i) for i in items])
        case Struct(form="namedtuple", items=items, type=type_):
            return _sequence(type_, [reader_of(i) for i in items])
        case Struct(form="dict", keys=keys, items=items):
            return _dictionary(keys, [reader_of(i) for i in items])
        case Struct():
            raise NoReader
        case _:
            return _leaf


def _leaf(value: Any, leaves: list[Any]) -> bool:
    leaves.append(value)
    return True


def _known(known: Any) -> Reader:
    plain = isinstance(known, (str, int, float, tuple))

    def read(value: Any, leaves: list[Any]) -> bool:
        return value is known or (plain and type(value) is type(known) and value == known)

    return read


def _sequence(type_: type, readers: list[Reader]) -> Reader:
    def read(value: Any, leaves: list[Any]) -> bool:
        if type(value) is not type_ or len(value) != len(readers):
            return False
        return all(each(item, leaves) for each, item in zip(readers, value, strict=True))

    return read


def _dictionary(keys: tuple[Any, ...], readers: list[Reader]) -> Reader:
    def read(value: Any, leaves: list[Any]) -> bool:
        if type(value) is not dict or tuple(value) != keys:
            return False
        return all(each(item, leaves) for each, item in zip(readers, value.values(), strict=True))

    return read
