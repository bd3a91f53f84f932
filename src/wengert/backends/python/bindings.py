"""What generated code refers to outside of its functions: modules, helpers, constants, globals."""

from __future__ import annotations

import builtins
import cmath
import math
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import Any

import numpy as np

from ...ir.graph import UNDEFINED, Callee, Function
from .code import ATOM, PRIMARY, UNARY, Code, call, concat, listing, string
from .names import KEYWORDS, identifier, versions

MODULES: dict[str, types.ModuleType] = {"math": math, "cmath": cmath, "np": np, "types": types}
_CONSTANTS = {math.pi: "pi", math.e: "e", math.tau: "tau"}


@cache
def _named_values() -> dict[int, tuple[str, str]]:
    """Functions, ufuncs and types that have a name in `math` or `np`, by identity."""
    found: dict[int, tuple[str, str]] = {}
    for space in ("np", "math"):
        for name, value in vars(MODULES[space]).items():
            if name.startswith("_") or not callable(value) or vars(builtins).get(name) is value:
                continue
            if id(value) not in found or getattr(value, "__name__", "") == name:
                found[id(value)] = (space, name)
    return found


_LONGEST_DECIMAL = 13_000
"""Bits; Python refuses to write longer integers in decimal."""


class Module:
    """The names at the top level of one piece of generated code."""

    def __init__(self, taken: Iterable[str]):
        self.modules: dict[str, str] = {}
        """Name -> module, by the key of `MODULES`."""
        self.helpers: dict[str, str] = {}
        """Name -> helper of `wengert.runtime`."""
        self.objects: dict[str, Any] = {}
        self.globals: dict[str, tuple[Any, str]] = {}
        """Name -> where its value is looked up at call time: a dict or module, and a key."""
        self.callees: dict[int, str] = {}
        """The identity of a function -> what calls of it are written as."""
        self._taken = set(taken) | KEYWORDS
        self._by_key: dict[Any, str] = {}

    def unique(self, name: str) -> str:
        """A name that nothing else at the top level has."""
        name = next(n for n in versions(name) if n not in self._taken and n not in vars(builtins))
        self._taken.add(name)
        return name

    def _once(self, key: Any, name: str) -> tuple[str, bool]:
        known = self._by_key.get(key)
        if known is not None:
            return known, False
        self._by_key[key] = given = self.unique(name)
        return given, True

    def module(self, key: str) -> str:
        name, new = self._once(("module", key), key)
        if new:
            self.modules[name] = key
        return name

    def helper(self, helper: str) -> str:
        name, new = self._once(("helper", helper), f"_{helper}")
        if new:
            self.helpers[name] = helper
        return name

    def builtin(self, builtin: str) -> str:
        if builtin not in self._taken:
            return builtin
        return self.object(getattr(builtins, builtin), builtin)

    def object(self, value: Any, hint: str = "") -> str:
        """The name for a constant that has no literal form."""
        name, new = self._once(
            ("object", id(value)), identifier(hint or _name_of(value), "constant")
        )
        if new:
            self.objects[name] = value
        return name

    def read_global(self, name: str, holder: Any, key: str) -> str:
        given, new = self._once(("global", id(holder), key), identifier(name, "constant"))
        if new:
            self.globals[given] = (holder, key)
        return given

    def callee(self, callee: Callee) -> str:
        key = id(callee.function) if callee.function is not None else id(callee)
        if key not in self.callees:
            self.callees[key] = self.unique(identifier(callee.name, "function"))
        return self.callees[key]

    def is_called(self, function: Function, name: str) -> None:
        """Say that calls of `function` go to the function of this name."""
        self.callees[id(function)] = name


class Bindings:
    """A module as one function sees it; keeps what that function uses."""

    def __init__(self, module: Module):
        self.module = module
        self.used: set[str] = set()
        self.callees: list[Callee] = []

    def _use(self, name: str) -> str:
        self.used.add(name)
        return name

    def member(self, module: str, name: str) -> str:
        """`math.sin`"""
        return f"{self._use(self.module.module(module))}.{name}"

    def helper(self, name: str) -> str:
        return self._use(self.module.helper(name))

    def builtin(self, name: str) -> str:
        return self._use(self.module.builtin(name))

    def read_global(self, name: str, holder: Any, key: str) -> str:
        return self._use(self.module.read_global(name, holder, key))

    def callee(self, callee: Callee) -> str:
        self.callees.append(callee)
        return self._use(self.module.callee(callee))

    def constant(self, value: Any) -> Code:
        """A constant: a literal if it has one, else a name bound to it."""
        if value is UNDEFINED.value:
            return Code(self.helper("UNDEFINED"))
        if isinstance(value, Callee):
            return Code(self.callee(value))
        code = None if isinstance(value, (list, dict)) else self.literal(value)
        return Code(self._use(self.module.object(value))) if code is None else code

    def literal(self, value: Any) -> Code | None:
        """The text whose value is `value`, or None if there is no such text."""
        writer = _WRITERS.get(type(value))
        if writer is not None:
            return writer(self, value)
        if (
            isinstance(value, np.generic)
            and value.dtype.kind in "biufc"
            and value.dtype.itemsize <= 16
        ):
            return self._scalar(value)
        if isinstance(value, np.dtype) and value.names is None and value.subdtype is None:
            return call(
                self.member("np", "dtype"),
                string(value.str if value.byteorder == ">" else value.name),
            )
        try:
            space, name = _named_values()[id(value)]
        except KeyError:
            return self._builtin_object(value)
        return Code(self.member(space, name), PRIMARY)

    def _builtin_object(self, value: Any) -> Code | None:
        name = getattr(value, "__name__", "")
        if isinstance(name, str) and name and getattr(builtins, name, None) is value:
            return Code(self.builtin(name))
        for key, module in MODULES.items():
            if value is module:
                return Code(self._use(self.module.module(key)))
        return None

    def _scalar(self, value: np.generic) -> Code | None:
        item = value.item()
        inner = None if isinstance(item, np.generic) else self.literal(item)
        name = type(value).__name__
        if inner is None or getattr(np, name, None) is not type(value):
            return None
        return call(self.member("np", name), inner)


# --- literals -----------------------------------------------------------------------------


def _float(bindings: Bindings, value: float) -> Code:
    if math.isnan(value):
        return Code(bindings.member("math", "nan"), PRIMARY)
    if math.isinf(value):
        return _signed(bindings.member("math", "inf"), value < 0)
    if abs(value) in _CONSTANTS:
        return _signed(bindings.member("math", _CONSTANTS[abs(value)]), value < 0)
    return _number(repr(value))


def _complex(bindings: Bindings, value: complex) -> Code:
    finite = math.isfinite(value.real) and math.isfinite(value.imag)
    if finite and repr(value.real) == "0.0" and math.copysign(1.0, value.imag) > 0:
        return Code(repr(value))
    parts = (_float(bindings, value.real), _float(bindings, value.imag))
    return call(bindings.builtin("complex"), *parts)


def _several(bindings: Bindings, values: Iterable[Any]) -> list[Code] | None:
    codes = [bindings.literal(value) for value in values]
    known = [code for code in codes if code is not None]
    return known if len(known) == len(codes) else None


def _tuple(bindings: Bindings, value: tuple[Any, ...]) -> Code:
    items = [bindings.constant(item) for item in value]
    comma = "," if len(items) == 1 else ""
    return concat("(", *listing(items), comma, ")")


def _list(bindings: Bindings, value: list[Any]) -> Code | None:
    items = _several(bindings, value)
    return None if items is None else concat("[", *listing(items), "]")


def _dict(bindings: Bindings, value: dict[Any, Any]) -> Code | None:
    keys, values = _several(bindings, value), _several(bindings, value.values())
    if keys is None or values is None:
        return None
    pairs = (concat(k, ": ", v) for k, v in zip(keys, values, strict=True))
    return concat("{", *listing(pairs), "}")


def _slice(bindings: Bindings, value: slice) -> Code:
    bounds = (value.start, value.stop, value.step)
    return call(bindings.builtin("slice"), *map(bindings.constant, bounds))


def _range(bindings: Bindings, value: range) -> Code:
    bounds = (value.start, value.stop, value.step)
    if value.step == 1:
        bounds = (value.stop,) if value.start == 0 else bounds[:2]
    return call(bindings.builtin("range"), *map(bindings.constant, bounds))


_WRITERS: Mapping[type, Callable[[Bindings, Any], Code | None]] = {
    type(None): lambda bindings, value: Code("None"),
    type(...): lambda bindings, value: Code("..."),
    type(NotImplemented): lambda bindings, value: Code("NotImplemented"),
    bool: lambda bindings, value: Code(repr(value)),
    int: lambda bindings, value: _number(
        repr(value) if value.bit_length() < _LONGEST_DECIMAL else hex(value)
    ),
    float: _float,
    complex: _complex,
    str: lambda bindings, value: Code(string(value)),
    bytes: lambda bindings, value: Code(string(value)),
    tuple: _tuple,
    list: _list,
    dict: _dict,
    slice: _slice,
    range: _range,
}


def _number(text: str) -> Code:
    return Code(text, UNARY if text.startswith("-") else ATOM)


def _signed(text: str, negative: bool) -> Code:
    return Code(f"-{text}", UNARY) if negative else Code(text, PRIMARY)


def _name_of(value: Any) -> str:
    name = getattr(value, "__name__", "")
    if not isinstance(name, str) or not name:
        return type(value).__name__.lower()
    # a rule is often called `_`, as is what a loop counts with
    return "function" if name == "<lambda>" or not name.strip("_") else name


def import_path(value: Any) -> tuple[str, str] | None:
    """The module and name under which a saved file can import a value, if it can."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if isinstance(value, types.BuiltinFunctionType) and module is None:
        module = getattr(value.__self__, "__name__", None)
    if isinstance(value, np.ufunc):
        module, name = getattr(value, "__module__", None) or _home_of(value), value.__name__
    if not isinstance(module, str) or not isinstance(name, str) or not can_import_from(module):
        return None
    name = name.rpartition(".")[
        2
    ]  # a module may hold a method: `random.gauss` is one of its `Random`
    found = getattr(sys.modules.get(module), name, None)
    same = found is value or (callable(found) and isinstance(value, _METHODS) and found == value)
    return (module, name) if name.isidentifier() and same else None


_METHODS = (types.MethodType, types.BuiltinMethodType)


def _home_of(ufunc: np.ufunc) -> str:
    """The module of a function that does not say where it comes from: NumPy's, or SciPy's."""
    special = sys.modules.get("scipy.special")
    is_special = special is not None and getattr(special, ufunc.__name__, None) is ufunc
    return "scipy.special" if is_special else "numpy"


def can_import_from(module: str) -> bool:
    """Whether a saved file may import from a module: not the running script, not wengert."""
    return module != "__main__" and module.partition(".")[0] != "wengert"
