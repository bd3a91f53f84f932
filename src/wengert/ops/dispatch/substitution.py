"""Functions that call `math`, made to compute with any kind of number.

`math` works on floats: it asks a number for its float, and a float has no derivative. A program that is run
on other numbers is therefore run with ops in the place of `math`'s functions. Its code stays what it is; only
what its global names and its closure mean is changed, in it and in the Python functions that it calls.

SciPy's solvers ask for floats, too. Where one of them meets a number that is none, its stand-in is run: the
same solver on plain numbers, and then the derivative of what it has found.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from opcode import opmap
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from ...errors import BadArgument, LostDerivative, WengertError
from ...ir.callers import calling_span
from ...ir.op import evaluator_of
from .. import registry
from ..signatures import bind

_STORE_GLOBAL = opmap["STORE_GLOBAL"]
_LIBRARIES = ("numpy", "scipy", "sympy", "mpmath", "wengert")


_OF_FLOATS = (
    "math", "cmath", "scipy.integrate", "scipy.optimize", "scipy.special", "scipy.linalg", "scipy.interpolate",
)  # fmt: skip
"""Modules with functions that take nothing but floats."""


class _Ops:
    """A module of functions of floats, its functions on whatever they are given."""

    def __init__(self, module: Any):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        return _in_place_of(getattr(self._module, name))


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


def _in_place_of(value: Any) -> Any:
    """What stands for a module of functions of floats, or for one of its functions."""
    is_ruled = bool(registry.ruled) and _has_rule(value)
    if isinstance(value, ModuleType):
        return _Ops(value) if is_ruled or value.__name__ in ("scipy", *_OF_FLOATS) else value
    if is_ruled:
        return _by_rule(value)
    module = getattr(value, "__module__", None) or ""
    if isinstance(value, BuiltinFunctionType) and module in ("math", "cmath"):
        found = registry.find(value)
        return value if found is None else found[0]
    if isinstance(value, FunctionType) and module.startswith(_OF_FLOATS[2:]):
        found = registry.find(value)
        if found is not None:
            return found[0]
        return functools.wraps(value)(functools.partial(_solved, value))
    return value


def _has_rule(value: Any) -> bool:
    """Whether a function has a rule of its user's, or a module of theirs holds one that has."""
    if isinstance(value, ModuleType):
        is_library = value.__name__.partition(".")[0] in (*_LIBRARIES, *sys.stdlib_module_names)
        return not is_library and any(map(_is_ruled, tuple(vars(value).values())))
    return _is_ruled(value)


def _is_ruled(value: Any) -> bool:
    if isinstance(value, ModuleType) or not callable(value):
        return False
    found = registry.find(value)
    return found is not None and found[0] in registry.ruled


def _by_rule(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that has a rule, called as the op that it is."""
    op = registry.foreign(function)

    @functools.wraps(function)
    def call(*args: Any, **options: Any) -> Any:
        operands, named = bind(op, args, options)
        return op(*operands, **named)

    return call


_TAKE_NUMBERS = (".quadrature", ".roots_of_functions", ".polyfills.scipy.integrate")
"""Where the stand-ins are that do arithmetic and find roots, and neither read source nor fill arrays of floats."""


class _Carried(Exception):
    """A function that a solver was given has returned a number that is no float."""


def _solved(solver: FunctionType, *args: Any, **options: Any) -> Any:
    """What a solver finds; where it meets numbers that are no floats, what its stand-in does."""
    instead = next(filter(None, (look(solver) for look in registry.polyfills)), None)
    if instead is None or not instead.__module__.endswith(_TAKE_NUMBERS):
        return _run_as_it_is(solver, args, options)
    try:
        watched = {name: _watched(value) for name, value in options.items()}
        return solver(*map(_watched, args), **watched)
    except _Carried:
        return _for_numbers(instead, {})(*args, **options)


def _run_as_it_is(solver: FunctionType, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """What a function of SciPy gives; its failure on numbers that are no floats is said to be that."""
    met = [value for value in (*args, *options.values()) if _carries(value)]

    def noticed(value: Any) -> Any:
        if not isinstance(value, (FunctionType, MethodType, functools.partial)):
            return value

        @functools.wraps(value)
        def watched(*args: Any, **options: Any) -> Any:
            result = value(*args, **options)
            met.extend([result] if _carries(result) else [])
            return result

        return watched

    named = {name: noticed(value) for name, value in options.items()}
    try:
        return solver(*map(noticed, args), **named)
    except (TypeError, ValueError) as error:
        is_said = isinstance(error, WengertError) and not isinstance(error, LostDerivative)
        if not met or is_said:
            raise
        raise LostDerivative(
            f"{solver.__module__.rpartition('._')[0]}.{solver.__name__} computes with floats, and meets {met[0]!r}",
            "`wg.derivative` and `wg.grad` read the function that calls it, and know many of SciPy's functions. Or\n"
            "give one of your own a rule: `wg.rrule`.",
            calling_span(),
        ) from error


def _watched(value: Any) -> Any:
    """What a solver is given: a function that stops it where a float does not do."""
    if _carries(value):
        raise _Carried
    if not isinstance(value, (FunctionType, MethodType, functools.partial)):
        return value

    def watched(*args: Any, **options: Any) -> Any:
        result = value(*args, **options)
        if _carries(result):
            raise _Carried
        return result

    return watched


def _carries(value: Any) -> bool:
    """Whether a value is a number of a class of its own, or holds such."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.ravel().tolist()
    if isinstance(value, (list, tuple)):
        return any(map(_carries, value))
    plain = isinstance(value, (int, float, complex, np.generic, np.ndarray))
    return not plain and type(value).__module__ != "builtins" and evaluator_of((value,)) is not None


class _Float(float):
    """`float`, which leaves numbers what they are."""

    def __new__(cls, x: Any = 0.0) -> Any:
        return x if _carries(x) else float(x)


def _for_numbers(function: FunctionType, known: dict[FunctionType, FunctionType]) -> FunctionType:
    """A stand-in, and the functions beside it that it calls, with that `float`."""
    if function not in known:
        scope: dict[str, Any] = {**function.__globals__, "float": _Float}
        known[function] = _with_scope(function, scope, function.__closure__)
        for name in _names(function.__code__):
            beside = scope.get(name)
            if isinstance(beside, FunctionType) and beside.__globals__ is function.__globals__:
                scope[name] = _for_numbers(beside, known)
    return known[function]


def _with_scope(function: FunctionType, scope: dict[str, Any], cells: Any) -> FunctionType:
    """The same code, in which global names mean something else."""
    made = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, cells or None
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    return made


class _Substitution:
    """What each function of a program becomes; a function that calls itself meets itself here."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """What stands for a value: another one for `math`, its functions, and functions that use them."""
        instead = _in_place_of(value)
        if instead is not value:
            return instead
        if isinstance(value, FunctionType):
            return self._of_function(value)
        if isinstance(value, MethodType):
            inner = self.of(value.__func__)
            return value if inner is value.__func__ else MethodType(inner, value.__self__)
        if isinstance(value, functools.partial):
            inner = self.of(value.func)
            return functools.partial(inner, *value.args, **value.keywords)
        return value

    def _of_function(self, function: FunctionType) -> FunctionType:
        if id(function) in self._known:
            return self._known[id(function)]
        library = (function.__module__ or "").partition(".")[0]
        if library in _LIBRARIES or not _calls_math(function, set()):
            return function
        scope = dict(function.__globals__)
        closure = function.__closure__ or ()
        cells = tuple(CellType() if _holds_code(cell) else cell for cell in closure)
        made = _with_scope(function, scope, cells)
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
        if _in_place_of(value) is not value:
            return True
        if isinstance(value, FunctionType) and _calls_math(value, seen):
            return True
    return False


def _holds_code(cell: CellType) -> bool:
    """Whether a closure's variable is a function or a module; data stay in the cell they share."""
    try:
        return callable(cell.cell_contents) or isinstance(cell.cell_contents, ModuleType)
    except ValueError:  # the variable is not bound yet
        return False


def _binds_outside(code: CodeType) -> bool:
    """Whether a function binds names that others see."""
    inner = (constant for constant in code.co_consts if isinstance(constant, CodeType))
    return _STORE_GLOBAL in code.co_code[::2] or any(map(_binds_outside, inner))
