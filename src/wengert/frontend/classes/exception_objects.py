"""Exceptions as objects: what they are made of, and their methods."""

from __future__ import annotations

from types import FunctionType
from typing import Any

from ...ir.graph import Atom, Const
from ..domain.values import Args, Items, Kwargs, Native, Value, tuple_of
from ..machine.interpreter import Interpreter
from . import class_lookup

_PLAIN = (
    ArithmeticError, ZeroDivisionError, OverflowError, FloatingPointError, ValueError, TypeError,
    RuntimeError, NotImplementedError, RecursionError, LookupError, IndexError, KeyError,
    AssertionError, Exception, BaseException, BufferError, EOFError, MemoryError, ReferenceError,
    Warning, UserWarning, RuntimeWarning, DeprecationWarning, KeyboardInterrupt, GeneratorExit,
)  # fmt: skip
"""Built-in classes whose instances hold their arguments and nothing else; `StopIteration` names the first of them."""


def make(it: Interpreter, cls: type, args: Args, kwargs: Kwargs) -> Value:
    """An exception: its contents known, where that is all there is to it."""
    init, new = (class_lookup.static_lookup(cls, name) for name in ("__init__", "__new__"))
    built_in = next(base for base in cls.__mro__ if base.__module__ == "builtins")
    written = isinstance(init, FunctionType)
    known = built_in in _PLAIN or built_in is StopIteration
    if not known or isinstance(new, FunctionType) or (kwargs and not written):
        return it.opaque(cls, args, kwargs)
    made = Items("object", ("args",), (tuple_of(*args),), cls)
    if built_in is StopIteration:
        made = made.holding((*made.values, args[0] if args else Const(None)), ("args", "value"))
    if not written:
        return made
    if not (it.catching.explicit and it.catching.keeps):
        return it.opaque(cls, args, kwargs)
    return it.initialised(cls, made, args, kwargs)


def as_raised(it: Interpreter, items: Items) -> Atom:
    """An exception to be raised now."""
    known = set(items.keys) <= {"args", "value", "__cause__"} and isinstance(items["args"], Items)
    if known and not class_lookup.own_method(items.type, "__init__"):
        return it.opaque(items.type, items["args"].values, {})  # type: ignore[return-value]
    return it.atom(items)


def builtin_method(it: Interpreter, receiver: Value, name: str, found: Any) -> Native:
    """A method of an exception that Python implements."""

    def run(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        if name == "__init__":
            it.assign_plainly(it.known_object(receiver), "args", tuple_of(*args))
            return Const(None)
        return it.opaque(found, [receiver, *args], kwargs)

    return Native(name, run)
