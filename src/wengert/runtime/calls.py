"""Calls whose target is known only when the program runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def reader(name: str) -> Callable[..., Any]:
    """What such a call, its cotangents or its tangent is, as a function that can be read."""
    return getattr(_live(), name)


def _live() -> Any:
    """wengert itself: a saved derivative that meets a function only at run time needs it then."""
    import importlib

    return importlib.import_module("wengert.api.runtime_dispatch")


def pullback(f: Any, *args: Any, **named: Any) -> Any:
    """The value of f(*args) and its pullback, whose first cotangent belongs to f itself.

    The cotangents of keyword arguments follow those of the others.
    """
    return _live().pullback_of_call(f, (*args, *named.values()), tuple(named))


def pushforward(
    f: Any, primals: tuple[Any, ...], tangents: tuple[Any, ...], names: tuple[str, ...] = ()
) -> tuple[Any, Any]:
    """The value of f(*primals) and its tangent; the first tangent belongs to f itself."""
    return _live().pushforward_of_call(f, primals, tangents, names)


def stop_gradient(x: Any) -> Any:
    """x; its derivative is taken to be zero."""
    return x


def bound(x: Any, name: str, free: bool | None = False) -> Any:
    """x, or what Python raises for a name, or an attribute, that was never assigned.

    `free`: the name is that of a function around the one that reads it; None: a global one.
    """
    if type(x).__name__.endswith("Undefined"):
        owner, _, attribute = name.rpartition(".")
        if owner:
            raise AttributeError(f"{owner!r} object has no attribute {attribute!r}")
        if free is None:
            raise NameError(f"name {name!r} is not defined")
        if free:
            raise NameError(
                f"cannot access free variable {name!r} where it is not associated with a value in enclosing scope"
            )
        raise UnboundLocalError(
            f"cannot access local variable {name!r} where it is not associated with a value"
        )
    return x


def hook(x: Any, *captured: Any, **options: Any) -> Any:
    """x; what the hook does to its cotangent stands in the reverse sweep."""
    return x
