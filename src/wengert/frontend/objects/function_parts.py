"""Attributes of functions: what they are called, and what programs have given them."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from ...ir.graph import Const
from ..boundary.templates import Template, knows_attribute
from ..classes import instances
from ..classes.bound_methods import receiver_of
from ..domain.values import Closure, Items, Value, as_known
from ..heap import cells
from ..machine.interpreter import Interpreter
from ..machine.session import NeedsKnown

_OF_SOURCE: dict[str, Callable[[Closure], str | None]] = {
    "__name__": lambda closure: (
        "<lambda>" if isinstance(closure.node, ast.Lambda) else closure.name
    ),
    "__qualname__": lambda closure: closure.qualname or closure.name,
    "__module__": lambda closure: closure.scope.globals.get("__name__"),
    "__doc__": lambda closure: (
        None
        if isinstance(closure.node, ast.Lambda)
        else ast.get_docstring(closure.node, clean=False)
    ),
}
"""What the source of a function says that the program makes."""
_OF_MEMORY = ("cache_info", "cache_clear", "cache_parameters")
_FIXED = ("__name__", "__qualname__", "__module__", "__doc__", "__code__", "__defaults__")


def of_closure(it: Interpreter, closure: Closure, name: str) -> Value:
    """`function.name`, of a function whose source is known."""
    own = cells.attribute_of_function(it, closure, name)
    if own is not None:
        return own
    if remembers(closure) and name in (*_OF_MEMORY, "__wrapped__"):
        raise _of_memory(it, closure.name, name)
    if closure.wraps is not None and name in (*functools.WRAPPER_ASSIGNMENTS, "__wrapped__"):
        return closure.wraps if name == "__wrapped__" else it.getattr(closure.wraps, name)
    if name in _OF_SOURCE and closure.function is None:
        return Const(_OF_SOURCE[name](closure))
    return _of_class(it, closure, closure.function, name)


def has(it: Interpreter, value: Value, name: str) -> bool | None:
    """Whether a function has an attribute; None of what is no function."""
    match value:
        case Closure():
            own = cells.attribute_of_function(it, value, name) is not None
            wrapped = value.wraps is not None and name == "__wrapped__"
            wrapped = wrapped or (remembers(value) and name in (*_OF_MEMORY, "__wrapped__"))
            return own or wrapped or instances.gives(FunctionType, name)
        case Items(form="function", type=Template() as template):
            return hasattr(known_as(template, name), name)
        case Const(value=function) if callable(function):
            return hasattr(function, name)
        case _:
            function = _function_of_method(value)
            if function is None:
                return None
            return instances.gives(MethodType, name) or has(it, function, name)


def remembers(closure: Closure) -> bool:
    """Whether a function was made by `functools.lru_cache` or `cache`."""
    return closure.scope.memory_of is not None


def refuse_memory(it: Interpreter, function: Any, name: str) -> None:
    """Refuse what tells or changes which results a function that is known remembers."""
    if isinstance(function, functools._lru_cache_wrapper) and name in _OF_MEMORY:  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        raise _of_memory(it, function.__name__, name)


def _of_memory(it: Interpreter, function: str, name: str) -> Exception:
    return it.unsupported(
        f"`{name}` of {function}, which remembers its results: a derivative remembers them elsewhere",
        "Ask it, or clear it, before or after the function that is differentiated.",
    )


def _function_of_method(value: Value) -> Value | None:
    """The function of a bound method; None of what is none."""
    if isinstance(value, Items) and value.type is MethodType:
        return value["__func__"]
    method = receiver_of(value)
    return None if method is None else method[1]


def of_argument(it: Interpreter, items: Items, template: Template, name: str) -> Value:
    """`function.name`, of a function that is an argument."""
    function = known_as(template, name)
    if name in vars(function):
        return it.lift(function, name, vars(function)[name])
    return _of_class(it, items, function, name)


def known_as(template: Template, name: str) -> Any:
    """A function that has the same attribute of this name as all that the derivative is for.

    Raises:
        NeedsKnown: other functions of the same code may have another one.
    """
    if not knows_attribute(template, name):
        raise NeedsKnown(template, name, of_function=True)
    return template.function


def _of_class(it: Interpreter, value: Value, function: Any, name: str) -> Value:
    """What a function has as all functions do."""
    said = instances.attribute(it, value, name)
    if said is not None:
        return said
    if name == "__call__":
        return value
    if name in _FIXED and function is not None:
        return as_known(getattr(function, name))
    raise it.unsupported(
        f"the attribute `{name}` of this function cannot be read here",
        "Read it outside and pass it in.",
    )
