"""A function's twin: the same code, with other modules under the names it uses.

`twin(f, dialect)` copies `f` and everything that it can reach through globals, closures, defaults,
containers and classes, so that the original and its module stay as they are.
"""

from __future__ import annotations

import builtins
import dis
import functools
import types
from dataclasses import dataclass, field
from typing import Any

import numpy as np

HARMLESS = ("functools", "itertools", "operator", "collections", "dataclasses", "types", "typing",
            "logging", "copy", "string", "time", "warnings", "re")  # fmt: skip
"""Modules whose functions never look inside a number."""


@dataclass(frozen=True)
class Dialect:
    """What stands for what in the twin.

    `replaced` pairs modules, functions and constants with their substitutes; `convert` is applied
    to numbers and arrays that the function finds outside its arguments.
    """

    name: str
    replaced: list[tuple[Any, Any]]
    builtins: dict[str, Any] = field(default_factory=lambda: dict(vars(builtins)))
    convert: Any = None
    refuse: type[Exception] = AssertionError


def twin(value, dialect):
    """The twin of a function, or of a container or object that holds functions."""
    return _Copier(dialect)(value)


class _Copier:
    def __init__(self, dialect):
        self.dialect = dialect
        self.done = {id(old): (old, new) for old, new in dialect.replaced}

    def __call__(self, value):
        if id(value) in self.done:
            return self.done[id(value)][1]
        copied = self.copy(value)
        self.done[id(value)] = (value, copied)
        return copied

    def copy(self, value):
        match value:
            case types.FunctionType():
                return value if _is_harmless(value) else self.function(value)
            case types.MethodType():
                return types.MethodType(self(value.__func__), self(value.__self__))
            case functools.partial():
                keywords = {key: self(item) for key, item in value.keywords.items()}
                return functools.partial(self(value.func), *map(self, value.args), **keywords)
            case types.BuiltinFunctionType() | np.ufunc():
                return self.builtin(value)
            case types.ModuleType():
                return self.module(value)
            case type():
                return self.type(value)
            case list() | tuple() | dict():
                return self.container(value)
            case bool() | int() | str() | None:
                return value
            case float() | complex() | np.ndarray() | np.generic():
                return self.dialect.convert(value) if self.dialect.convert else value
        return self.instance(value)

    def function(self, old):
        cells = tuple(types.CellType() for _ in old.__closure__ or ())
        namespace = {"__builtins__": self.dialect.builtins, "__name__": old.__module__}
        new = types.FunctionType(old.__code__, namespace, old.__name__, None, cells)
        self.done[id(old)] = (old, new)  # before its parts: it may be recursive
        for name in _names(old.__code__):
            if name in old.__globals__:
                namespace[name] = self(old.__globals__[name])
        for cell, captured in zip(cells, old.__closure__ or (), strict=True):
            cell.cell_contents = self(captured.cell_contents)
        new.__defaults__ = self(old.__defaults__)
        new.__kwdefaults__ = self(old.__kwdefaults__)
        if hasattr(old, "__wrapped__"):
            new.__wrapped__ = self(old.__wrapped__)
        return new

    def builtin(self, value):
        module = getattr(value, "__module__", None)
        if isinstance(value, np.ufunc) or module in ("math", "cmath", "numpy"):
            return _Refused(self.dialect, repr(value))
        return value

    def module(self, value):
        if value.__name__.split(".")[0] in HARMLESS:
            return value
        return _Refused(self.dialect, f"the module {value.__name__}")

    def type(self, value):
        if value.__module__ in ("builtins", "numpy") or issubclass(value, tuple | BaseException):
            substitute = self.dialect.builtins.get(value.__name__, value)
            return substitute if value.__module__ == "builtins" else value
        if value.__module__ in HARMLESS or not isinstance(value, type):
            return value
        body = {
            name: self.member(item)
            for name, item in vars(value).items()
            if name not in ("__dict__", "__weakref__")
        }
        return type(value.__name__, value.__bases__, body)

    def member(self, item):
        match item:
            case property():
                return property(self(item.fget))
            case staticmethod() | classmethod():
                return type(item)(self(item.__func__))
            case types.FunctionType():
                return self(item)
        return item

    def container(self, value):
        if isinstance(value, dict):
            return {key: self(item) for key, item in value.items()}
        items = [self(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)

    def instance(self, value):
        if not hasattr(value, "__dict__") or type(value).__module__ == "builtins":
            return value
        if type(value).__module__.split(".")[0] in ("logging", "re"):
            return value
        kind = self(type(value))
        copied = kind.__new__(kind)
        copied.__dict__.update({name: self(item) for name, item in vars(value).items()})
        return copied


class _Refused:
    """What a dialect lacks: an error as soon as the program touches it."""

    def __init__(self, dialect, what):
        self.__dict__["_error"] = dialect.refuse(f"{dialect.name} does not cover {what}")

    def __getattr__(self, name):
        raise self.__dict__["_error"]

    def __call__(self, *args, **options):
        raise self.__dict__["_error"]


def _is_harmless(function):
    module = function.__module__ or ""
    return module.split(".")[0] in HARMLESS or function.__code__.co_filename.startswith("<string>")


def _names(code):
    """Every global name that a function or a function inside it may use."""
    instructions = dis.get_instructions(code)
    names = {i.argval for i in instructions if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
