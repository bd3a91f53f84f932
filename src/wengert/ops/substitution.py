"""Functions that call `math`, made to compute with any kind of number.

`math` works on floats: it asks a number for its float, and a float has no derivative. A program that is run
on other numbers is therefore run with ops in the place of `math`'s functions. Its code stays what it is; only
what its global names and its closure mean is changed, in it and in the Python functions that it calls.
"""

from __future__ import annotations

import cmath
import functools
import math
from collections.abc import Callable, Iterator
from opcode import opmap
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType
from typing import Any

from ..errors import BadArgument
from . import registry

_STORE_GLOBAL = opmap["STORE_GLOBAL"]
_LIBRARIES = ("numpy", "scipy", "sympy", "mpmath", "wengert")


class _Ops:
    """A module of functions of floats, its functions on whatever they are given."""

    def __init__(self, module: Any):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _op_for(getattr(self._module, name))


_MODULES = {id(module): _Ops(module) for module in (math, cmath)}


def with_ops(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, with ops for `math`'s and `cmath`'s functions.

    A function that calls none of them comes back as it is; so does one that binds global names, which
    could then be seen nowhere else.

    Raises:
        BadArgument: it cannot be called.
    """
    if not callable(function):
        raise BadArgument(f"{function!r} cannot be called", "Pass a function, then its arguments.")
    return _Substitution().of(function)


def _op_for(value: Any) -> Any:
    module = getattr(value, "__module__", None)
    if not isinstance(value, BuiltinFunctionType) or module not in ("math", "cmath"):
        return value
    found = registry.find(value)
    return value if found is None else found[0]


class _Substitution:
    """What each function of a program becomes; a function that calls itself meets itself here."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """What stands for a value: another one for `math`, its functions, and functions that use them."""
        if id(value) in _MODULES:
            return _MODULES[id(value)]
        if isinstance(value, FunctionType):
            return self._of_function(value)
        if isinstance(value, MethodType):
            inner = self.of(value.__func__)
            return value if inner is value.__func__ else MethodType(inner, value.__self__)
        if isinstance(value, functools.partial):
            inner = self.of(value.func)
            return functools.partial(inner, *value.args, **value.keywords)
        return _op_for(value)

    def _of_function(self, function: FunctionType) -> FunctionType:
        if id(function) in self._known:
            return self._known[id(function)]
        library = (function.__module__ or "").partition(".")[0]
        if library in _LIBRARIES or not _calls_math(function, set()):
            return function
        scope = dict(function.__globals__)
        closure = function.__closure__ or ()
        cells = tuple(CellType() if _holds_code(cell) else cell for cell in closure)
        made = FunctionType(
            function.__code__, scope, function.__name__, function.__defaults__, cells or None
        )
        made.__kwdefaults__ = function.__kwdefaults__
        made.__dict__.update(function.__dict__)
        self._known[id(function)] = made
        for name in _names(function.__code__):
            if name in scope:
                scope[name] = self.of(scope[name])
        for new, old in zip(cells, closure, strict=True):
            if new is not old:
                new.cell_contents = self.of(old.cell_contents)
        return made


def _names(code: CodeType) -> Iterator[str]:
    """The global names that a function and those defined inside it may read."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


def _calls_math(function: FunctionType, seen: set[int]) -> bool:
    """Whether a function, or a Python function that it calls by name, calls a function of `math`."""
    if id(function) in seen or _binds_outside(function.__code__):
        return False
    seen.add(id(function))
    names = _names(function.__code__)
    values = [function.__globals__[name] for name in names if name in function.__globals__]
    values += [cell.cell_contents for cell in function.__closure__ or () if _holds_code(cell)]
    for value in values:
        if id(value) in _MODULES or _op_for(value) is not value:
            return True
        if isinstance(value, FunctionType) and _calls_math(value, seen):
            return True
    return False


def _holds_code(cell: CellType) -> bool:
    """Whether a closure's variable is a function or a module; data stay in the cell they share."""
    try:
        return callable(cell.cell_contents) or id(cell.cell_contents) in _MODULES
    except ValueError:  # the variable is not bound yet
        return False


def _binds_outside(code: CodeType) -> bool:
    """Whether a function binds names that others see."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return _STORE_GLOBAL in code.co_code[::2] or any(map(_binds_outside, inner))
