"""What `super()` looks into, and finds there."""

from __future__ import annotations

import types
from typing import Any

from ...ir.graph import Const
from ...ir.records import record
from ..classes.class_lookup import MISSING, class_of, search
from ..domain.values import Items, Value, as_known
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from .objects import from_class


@record
class Super:
    """Where `super()` looks: in the classes after one of them."""

    after: type
    cls: type


def super_of(it: Interpreter, after: type, receiver: Value) -> Items:
    """`super(after, receiver)`."""
    if isinstance(receiver, Const) and isinstance(receiver.value, type):
        cls = receiver.value if issubclass(receiver.value, after) else type(receiver.value)
    else:
        cls = class_of(receiver)
    if cls is None or not issubclass(cls, after):
        raise it.unsupported(
            "the class of the object that `super` is asked for is known only when the program runs",
            "Name the base class: `Base.method(self, x)`.",
        )
    return Items("super", ("object",), (receiver,), Super(after, cls))


def found_by_super(items: Items, name: str) -> Any:
    """What the classes that `super()` looks into keep under a name, or MISSING."""
    where: Super = items.type
    return search(where.cls.__mro__[where.cls.__mro__.index(where.after) + 1 :], name)


def read_super(it: Interpreter, items: Items, name: str) -> Value:
    """`super().name`."""
    where: Super = items.type
    receiver = items["object"]
    found = found_by_super(items, name)
    if name == "__class__" or found is MISSING:
        raise_now(it, AttributeError, f"'super' object has no attribute '{name}'")
    of_class = isinstance(receiver, Const) and receiver.value is where.cls
    if of_class and isinstance(found, types.FunctionType):
        return Const(found)
    if name == "__new__" and isinstance(found, staticmethod):
        return as_known(found.__func__)
    return from_class(it, receiver, where.cls, name, found)
