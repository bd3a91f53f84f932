"""What namedtuples have of their own: `_replace`, `_asdict`, and methods of their classes."""

from __future__ import annotations

import functools

from ..boundary.signature import namedtuple_fields
from ..domain.values import Args, Items, Kwargs, Native, Value, as_known
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter


def replaced(it: Interpreter, items: Items, changes: Kwargs) -> Value:
    """`items._replace(**changes)`."""
    unknown = [name for name in changes if name not in items.keys]
    if unknown:
        raise_now(it, ValueError, f"Got unexpected field names: {unknown!r}")
    return items.holding([changes.get(key, items[key]) for key in items.keys])


def method_of_namedtuple(items: Items, name: str) -> Value | None:
    """A method that every namedtuple has."""
    if name in ("_replace", "_asdict"):
        return Native(name, functools.partial(_call_of_namedtuple, items, name))
    if name == "_fields":
        return as_known(namedtuple_fields(items.type))
    return None


def _call_of_namedtuple(
    items: Items, name: str, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    if name == "_replace":
        return replaced(it, items, kwargs)
    return Items("dict", items.keys, items.values)
