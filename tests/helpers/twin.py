"""A function's twin: the same code, with other modules under the names it uses.

`twin(f, dialect)` copies `f` and everything that it can reach through globals, closures, defaults,
containers, classes and objects, so that the original and its module stay as they are. What two
parts of the original share, their twins share.
"""

from __future__ import annotations

import builtins
import copy
import dis
import enum
import functools
import types
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np

HARMLESS = ("functools", "itertools", "operator", "collections", "dataclasses", "types", "typing",
            "logging", "copy", "string", "time", "warnings", "re", "heapq", "_heapq", "bisect",
            "_bisect", "_collections", "contextlib", "abc", "enum", "random",
            "queue", "_queue")  # fmt: skip
"""Modules whose functions never look inside a number."""


@dataclass(frozen=True)
class Dialect:
    """What stands for what in the twin.

    `replaced` pairs modules, functions and constants with their substitutes; `convert` is applied
    to numbers and arrays that the function finds outside its arguments; an object of a class in
    `opaque` is its own twin.
    """

    name: str
    replaced: list[tuple[Any, Any]]
    builtins: dict[str, Any] = field(default_factory=lambda: dict(vars(builtins)))
    convert: Any = None
    refuse: type[Exception] = AssertionError
    opaque: tuple[type, ...] = ()


def twin(value, dialect):
    """The twin of a function, or of a container or object that holds functions."""
    copier = _Copier(dialect)
    copied = copier(value)
    copier.finish()
    return copied


class _Copier:
    def __init__(self, dialect):
        self.dialect = dialect
        self.done = {id(old): (old, new) for old, new in dialect.replaced}
        self.namespaces = {}  # one per module: what one function writes, the others read
        self.unfinished = []  # functions and cells: their parts may refer to what holds them

    def __call__(self, value):
        if id(value) in self.done:
            return self.done[id(value)][1]
        return self.note(value, self.copy(value))

    def note(self, old, new):
        self.done[id(old)] = (old, new)
        return new

    def finish(self):
        while self.unfinished:
            fill, old, new = self.unfinished.pop()
            fill(old, new)

    def copy(self, value):
        match value:
            case types.FunctionType():
                return value if _is_harmless(value) else self.function(value)
            case types.MethodType():
                return types.MethodType(self(value.__func__), self(value.__self__))
            case functools.partial():
                keywords = {key: self(item) for key, item in value.keywords.items()}
                return functools.partial(self(value.func), *map(self, value.args), **keywords)
            case functools._lru_cache_wrapper():
                remembered = functools.lru_cache(**value.cache_parameters())
                return remembered(self(value.__wrapped__))
            case types.BuiltinFunctionType() | np.ufunc():
                return self.builtin(value)
            case types.ModuleType():
                return self.module(value)
            case type():
                return self.type(value)
            case bool() | int() | str() | None | enum.Enum():
                return value
            case float() | complex() | np.ndarray() | np.generic():
                return self.number(value)
            case tuple() | dict() | deque() | set() | frozenset():
                return self.container(value)
        return self.container(value) if type(value) is list else self.instance(value)

    def number(self, value):
        new = self.dialect.convert(value) if self.dialect.convert else value
        return value.copy() if new is value and isinstance(value, np.ndarray) else new

    def function(self, old):
        namespace = self.namespaces.setdefault(
            id(old.__globals__),
            {"__builtins__": self.dialect.builtins, "__name__": old.__module__},
        )
        cells = tuple(self.cell(cell) for cell in old.__closure__ or ())
        new = types.FunctionType(old.__code__, namespace, old.__name__, None, cells)
        if hasattr(old, "__isabstractmethod__"):
            new.__isabstractmethod__ = True
        self.unfinished.append((self.fill_function, old, new))
        return new

    def fill_function(self, old, new):
        for name in _names(old.__code__):
            if name in old.__globals__:
                new.__globals__[name] = self(old.__globals__[name])
        new.__defaults__ = self(old.__defaults__)
        new.__kwdefaults__ = self(old.__kwdefaults__)
        new.__dict__.update({name: self(item) for name, item in vars(old).items()})

    def cell(self, old):
        if id(old) not in self.done:
            self.unfinished.append((self.fill_cell, old, self.note(old, types.CellType())))
        return self.done[id(old)][1]

    def fill_cell(self, old, new):
        try:
            contents = old.cell_contents
        except ValueError:
            return  # nothing has been assigned yet
        new.cell_contents = self(contents)

    def builtin(self, value):
        module = getattr(value, "__module__", None)
        if isinstance(value, np.ufunc) or module in ("math", "cmath", "numpy"):
            return _Refused(self.dialect, repr(value))
        return value

    def module(self, value):
        if value.__name__.split(".")[0] in HARMLESS:
            return value
        return _Refused(self.dialect, f"the module {value.__name__}")

    def type(self, old):
        if old.__module__ == "builtins":
            return self.dialect.builtins.get(old.__name__, old)
        if is_library_type(old) or issubclass(old, enum.Enum):
            return old
        members = {name: item for name, item in vars(old).items() if not _is_made_by_python(item)}
        for name in ("__dict__", "__weakref__", "__abstractmethods__", "_abc_impl"):
            members.pop(name, None)
        now = {name: item for name, item in members.items() if _belongs_to_body(name, item)}
        body = {name: self.member(item) for name, item in now.items()}
        new = self.note(old, type(old)(old.__name__, tuple(map(self, old.__bases__)), body))
        for name in members.keys() - now.keys():
            setattr(new, name, self(members[name]))  # it may be an object of this very class
        return new

    def member(self, item):
        match item:
            case property():
                return property(self(item.fget), self(item.fset), self(item.fdel))
            case functools.cached_property():
                return functools.cached_property(self(item.func))
            case staticmethod() | classmethod():
                return type(item)(self(item.__func__))
            case types.FunctionType():
                return self(item)
        return item

    def container(self, old):
        match old:
            case tuple() if hasattr(old, "_fields"):
                return tuple.__new__(self(type(old)), map(self, old))
            case tuple() | set() | frozenset():
                return type(old)(map(self, old))
            case dict():
                new = self.note(old, copy.copy(old))
                new.clear()
                new.update({self.key(key): self(item) for key, item in old.items()})
                if isinstance(old, defaultdict):
                    new.default_factory = self(old.default_factory)
                return new
        new = self.note(old, copy.copy(old))
        new.clear()
        new.extend(map(self, old))
        return new

    def key(self, key):
        return key if isinstance(key, str | int | float) else self(key)

    def instance(self, old):
        if isinstance(old, types.SimpleNamespace):
            new = types.SimpleNamespace()
        elif isinstance(old, self.dialect.opaque) or is_library_type(type(old)):
            return old
        else:
            new = object.__new__(self(type(old)))
        self.note(old, new)
        for name, item in attributes(old).items():
            object.__setattr__(new, name, self(item))
        return new


def attributes(value):
    """The attributes that an object holds itself, in its dictionary or its slots."""
    slots = [name for cls in type(value).__mro__ for name in _slots(cls)]
    held = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return held | getattr(value, "__dict__", {})


def _slots(cls):
    slots = vars(cls).get("__slots__", ())
    slots = (slots,) if isinstance(slots, str) else slots
    return [name for name in slots if name not in ("__dict__", "__weakref__")]


def is_library_type(type_):
    """Whether a class comes with Python or NumPy."""
    return type_.__module__.split(".")[0] in (*HARMLESS, "builtins", "numpy")


class _Refused:
    """What a dialect lacks: an error as soon as the program touches it."""

    def __init__(self, dialect, what):
        self.__dict__["_error"] = dialect.refuse(f"{dialect.name} does not cover {what}")

    def __getattr__(self, name):
        raise self.__dict__["_error"]

    def __call__(self, *args, **options):
        raise self.__dict__["_error"]


def _is_harmless(function):
    module = (function.__module__ or "").split(".")[0]
    return module in HARMLESS or function.__globals__.get("__name__", "").startswith("namedtuple_")


def _is_made_by_python(item):
    return isinstance(item, types.MemberDescriptorType | types.GetSetDescriptorType)


def _belongs_to_body(name, item):
    """Whether a class must be made with a member, rather than be given it afterwards."""
    if isinstance(item, types.FunctionType | property | staticmethod | classmethod):
        return True
    dunder = name.startswith("__") and not name.startswith("__dataclass")
    return dunder or isinstance(item, functools.cached_property)


@functools.cache
def _names(code):
    """Every global name that a function or a function inside it may use."""
    reads = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
    names = {i.argval for i in dis.get_instructions(code) if i.opname in reads}
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
