"""Classes that a program makes by calling `type`, `namedtuple` or `make_dataclass`."""

from __future__ import annotations

import collections
import dataclasses
import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ...ir.graph import Const
from ..domain.held import Held
from ..domain.values import Args, Items, Kwargs, Value
from ..heap import now
from ..machine.session import LocalClass

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter


def by_type(it: Interpreter, args: Args) -> Value:
    """`type(name, bases, namespace)`: what the program computes in the namespace is held by the class."""
    name, bases, namespace = (now(it, arg) for arg in args)
    if not isinstance(namespace, Items) or namespace.form != "dict":
        raise _unknown(it, "the attributes of a class")
    held = {
        key: Held(now(it, value))
        for key, value in zip(namespace.keys, namespace.values, strict=True)
        if not isinstance(value, Const)
    }
    known = {key: namespace[key].value for key in namespace.keys if key not in held}  # type: ignore[union-attr]
    try:
        cls = type(it.constant(name), it.constant(bases), {**known, **held})
    except LookupError:
        raise _unknown(it, "what a class is built on") from None
    values = {key: each.value for key, each in held.items()}
    made = LocalClass(cls, it.frame.scope, cls.__bases__, known, values, {})
    it.reading.local_classes[id(cls), id(it.frame.scope)] = [made]
    return Const(cls)


def _of_names(make: Callable[..., type], what: str) -> Callable[[Interpreter, Args, Kwargs], Value]:
    """A class that is made of names alone: one for the same names."""
    made_of = functools.cache(make)

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        try:
            known = [it.constant(arg) for arg in args]
            named = {name: it.constant(value) for name, value in kwargs.items()}
        except LookupError:
            raise _unknown(it, f"the fields of a {what}") from None
        return Const(made_of(*known, **named))

    return handler


def _unknown(it: Interpreter, what: str) -> Exception:
    verb = "is" if what.startswith("what") else "are"
    return it.unsupported(f"{what} {verb} known only when the program runs", "Write them out.")


HANDLERS: list[tuple[Any, Callable[[Interpreter, Args, Kwargs], Value]]] = [
    (collections.namedtuple, _of_names(collections.namedtuple, "namedtuple")),  # noqa: PYI024
    (dataclasses.make_dataclass, _of_names(dataclasses.make_dataclass, "dataclass")),
]
