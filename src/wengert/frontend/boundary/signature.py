"""From run-time arguments to kinds and leaves, and back."""

from __future__ import annotations

import array
import collections
import enum
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ...errors import BadArgument
from ...ir.op import Op
from ...ir.records import replace
from ...ir.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    PICTURE,
    RANGE,
    SLICE,
    STR,
    UNKNOWN,
    Array,
    Kind,
    Other,
    Seq,
    Static,
    Step,
    Struct,
    join,
    step_into,
)
from ...ops.registry import find
from ...runtime.attributes import attribute
from ...runtime.containers import (
    CONTENTS,
    attributes_of,
    is_built_on_container,
    own_attributes,
    own_dictionary,
)
from ...runtime.cotangents import like_built_on
from ..domain.number_classes import DEEPEST
from ..syntax.declarations import keeps_state
from .foreign_libraries import is_data, is_picture

SMALL = 6
"""Lists and tuples up to this length are taken apart; longer ones are sequences."""
LARGE = 64
LONG_TEXT = 1024
"""No container with more items than this is taken apart."""

_PLAIN: dict[type, Kind] = {
    float: FLOAT,
    int: INT,
    bool: BOOL,
    complex: COMPLEX,
    str: STR,
    bytes: Other("bytes"),
    type(None): NONE,
    range: RANGE,
    slice: SLICE,
    type(Ellipsis): Other("ellipsis"),
    set: UNKNOWN,
}


_OWN: dict[type, Callable[[Any, int], Kind]] = {}


def describe(type_: type, kind: Callable[[Any, int], Kind]) -> None:
    """Say what the kind of a value of this class is, given the depth at which it was met."""
    _OWN[type_] = kind


class Template:
    """What two function objects share that were made by the same `def`: code, globals, defaults.

    And the attributes that a program has asked such a function for.
    """

    __slots__ = ("_key", "function")

    def __init__(self, function: types.FunctionType):
        self.function = function
        defaults = (function.__defaults__ or (), tuple((function.__kwdefaults__ or {}).items()))
        shown = repr(defaults) if any(defaults) else ""
        own_rule = id(function) if find(function) is not None else 0
        names = _asked_of(function) if _asked else ()
        asked = tuple(_shown(function, name) for name in names) if names else ()
        self._key = (function.__code__, id(function.__globals__), shown, own_rule, asked)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Template) and other._key == self._key

    def __hash__(self) -> int:
        return hash(self._key[0])

    def __repr__(self) -> str:
        return self.function.__qualname__

    @property
    def __name__(self) -> str:
        return self.function.__name__

    @property
    def co_freevars(self) -> tuple[str, ...]:
        return self.function.__code__.co_freevars


_known_captures: dict[Template, set[str]] = {}
"""Captured names whose very value the reading of a program turned out to need."""
_asked: dict[int, tuple[types.CodeType, tuple[str, ...]]] = {}
"""The attributes that programs ask of functions, by the identity of their code: its hash takes long."""


def _asked_of(function: types.FunctionType) -> tuple[str, ...]:
    found = _asked.get(id(function.__code__))
    return () if found is None else found[1]


def must_be_known(template: Template, name: str, *, of_function: bool = False) -> None:
    """From now on the kind of a function says what it captured, or what its attribute is, under this name."""
    if not of_function:
        _known_captures.setdefault(template, set()).add(name)
        return
    code = template.function.__code__
    _asked[id(code)] = code, tuple(dict.fromkeys((*_asked_of(template.function), name)))


def knows_attribute(template: Template, name: str) -> bool:
    """Whether the kind of a function says what this attribute of it is."""
    return name in _asked_of(template.function)


def _shown(function: types.FunctionType, name: str) -> Any:
    """What tells the attributes of two functions apart."""
    found = getattr(function, name, _shown)
    return found if type(found) in (str, int, float, bool) else id(found)


def kind_of(value: Any, depth: int = 0) -> Kind:
    """The kind of a run-time value."""
    if type(value) is str and len(value) <= LONG_TEXT:
        return Static(value)  # a switch, or a model in words: what it selects can be known
    plain = _PLAIN.get(type(value))  # pyright: ignore[reportUnknownArgumentType]
    if plain is not None:
        return plain
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray:
            _refuse_perturbed(value)
            _refuse_other_arithmetic(type(value))
        if value.dtype == object:
            _refuse_numbers_as_objects(value)
            return UNKNOWN
        return Array(value.dtype.name, value.ndim)
    if isinstance(value, np.generic):
        _refuse_perturbed(value)
        return _kind_of_numpy_scalar(value)
    if depth > DEEPEST:
        return Static(value)
    own = _OWN.get(type(value))  # pyright: ignore[reportUnknownArgumentType]
    if own is not None:
        return own(value, depth + 1)
    if hasattr(type(value), "py_func") or "py_func" in own_dictionary(value):
        return kind_of(compiled_from(value), depth)
    if derives(value):
        made: Any = value
        inner = kind_of(made.function, depth + 1)
        return Struct("derivative", ("function",), (inner,), made.verb)
    return _kind_of_container(value, depth + 1)


def compiled_from(value: Any) -> Any:
    """The Python function that a compiled one was made from (Numba's `njit`, `wg.jit`); else the value."""
    return getattr(value, "py_func", value)


def derives(value: Any) -> bool:
    """Whether a value is a derivative function, specialised or not: it has a `function` and a `verb`."""
    owner = value.__self__ if type(value) is types.MethodType else value
    return hasattr(type(owner), "derives")


def _kind_of_numpy_scalar(value: Any) -> Kind:
    for type_, kind in (
        (np.bool_, BOOL),
        (np.integer, INT),
        (np.floating, FLOAT),
        (np.complexfloating, COMPLEX),
    ):
        if isinstance(value, type_):
            return kind
    return STR if isinstance(value, np.str_) else UNKNOWN


def namedtuple_fields(value: Any) -> tuple[str, ...]:
    """The names of a namedtuple's items."""
    return value._fields


def _kind_of_container(value: Any, depth: int) -> Kind:
    match value:
        case tuple() if hasattr(type(value), "_fields"):
            fields: tuple[str, ...] = namedtuple_fields(value)
            return _struct("namedtuple", fields, value, depth, type(value))
        case tuple() | list() | dict() if is_built_on_container(type(value)):
            kept = attributes_of(value)
            return _struct("object", kept.keys(), kept.values(), depth, type(value))
        case tuple() | list():
            return _kind_of_sequence(value, depth)
        case dict():
            return _kind_of_dict(value, depth)
        case np.dtype():
            return Static(value)
        case types.FunctionType():
            return _kind_of_function(value, depth)
        case types.MethodType():
            owner = kind_of(value.__self__, depth)
            if isinstance(owner, Static):
                return Static(value)
            keys = ("__self__", "__func__")
            return Struct("object", keys, (owner, kind_of(value.__func__, depth)), types.MethodType)
        case enum.Enum():
            return Static(value)
        case Op() | type() | types.ModuleType() | types.BuiltinFunctionType() | np.ufunc():
            return Static(value)
        case _ if hasattr(type(value), "__dataclass_fields__"):
            import dataclasses

            declared = [f.name for f in dataclasses.fields(value) if hasattr(value, f.name)]
            # beside its fields it has what its `__post_init__` assigned
            names = tuple(dict.fromkeys([*declared, *own_attributes(value)]))
            return _struct(
                "dataclass", names, [getattr(value, n) for n in names], depth, type(value)
            )
        case _:
            return _kind_of_object(value, depth)


def _struct(form: str, keys: Any, values: Any, depth: int, type_: Any = None) -> Kind:
    return Struct(form, tuple(keys), tuple(kind_of(v, depth) for v in values), type_)


def _kind_of_sequence(value: list[Any] | tuple[Any, ...], depth: int) -> Kind:
    form = "tuple" if isinstance(value, tuple) else "list"
    if len(value) <= SMALL and (value or form == "tuple"):
        return _struct(form, range(len(value)), value, depth)
    if not value:
        return Seq(UNKNOWN)
    kinds = {kind_of(item, depth) for item in value}
    if len(kinds) > 1 and len(value) <= LARGE:
        return _struct(form, range(len(value)), value, depth)
    kind, *others = kinds
    for other in others:
        kind = join(kind, other)
    return Seq(kind)


def _kind_of_dict(value: dict[Any, Any], depth: int) -> Kind:
    if hasattr(type(value), "__missing__"):
        return UNKNOWN  # it may get an item when it is asked for one: only the object itself knows
    literal = all(type(key) in (str, int, float, bool, tuple) for key in value)
    if not literal or len(value) > LARGE:
        return Other("dict") if not value else UNKNOWN
    cls = None if type(value) is dict else type(value)
    return _struct("dict", value.keys(), value.values(), depth, cls)


def _kind_of_function(function: types.FunctionType, depth: int) -> Kind:
    if keeps_state(function):
        return Static(function)  # it, or a sibling, binds what it has captured
    names, values = [], []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            values.append(cell.cell_contents)
        except ValueError:
            continue
        names.append(name)
    template = Template(function)
    known = _known_captures.get(template, ())
    kinds = tuple(
        # a function that closes over itself is recursive, not infinitely deep
        Static(v)
        if v is function or (n in known and isinstance(v, (int, tuple)))
        else kind_of(v, depth)
        for n, v in zip(names, values, strict=True)
    )
    if depth > 1 and any(kind in _COLLECTORS for kind in kinds):
        return Static(function)  # it keeps books: which function it is matters
    return Struct("function", tuple(names), kinds, template)


_COLLECTORS = (Seq(UNKNOWN), Other("dict"), UNKNOWN)


class ForeignArray(BadArgument):
    """An array of another library than NumPy turned up."""


def _refuse_other_arithmetic(cls: type[np.ndarray[Any, Any]]) -> None:
    """Refuse arrays of a class that does not compute as NumPy's own arrays do (matrices, masked arrays)."""
    own = ("__mul__", "__pow__", "__array_ufunc__", "__getitem__")
    if any(getattr(cls, name) is not getattr(np.ndarray, name) for name in own):
        raise ForeignArray(
            f"arrays of class {cls.__module__}.{cls.__qualname__} compute in ways of their own",
            "Use plain NumPy arrays: `np.asarray(x)`.",
        )


def _refuse_numbers_as_objects(value: np.ndarray[Any, Any]) -> None:
    """Refuse an array of objects that are numbers: Python computes with each, and no rule sees it."""
    for item in value.flat:
        _refuse_perturbed(item)
    if any(isinstance(item, (float, complex, np.number)) for item in value.flat):
        raise BadArgument(
            "an array of objects (dtype=object) holds numbers here, and has no derivative",
            "Make it an array of numbers: `np.asarray(x, dtype=float)`.",
        )


class CarriesDerivatives(BadArgument):
    """A number that carries derivatives turned up: no code can be derived for it, but it can be computed with."""


def refuse_numbers_with_derivatives(value: Any) -> None:
    """Refuse a number with derivatives, and an array of such."""
    items: Any = value.flat if isinstance(value, np.ndarray) and value.dtype == object else (value,)
    for item in items:
        _refuse_perturbed(item)


def refuse_exact_numbers(value: Any, depth: int = 0) -> None:
    """Refuse an argument that is a number of more digits than a float has, or holds such: code is for floats.

    Raises:
        CarriesDerivatives: a `Fraction`, a `Decimal`, a number of mpmath or an expression of SymPy.
    """
    if type(value) in _PLAIN or isinstance(value, np.ndarray) or depth > DEEPEST:
        return
    from ...ops.dispatch.libraries import library_of  # few arguments are of other classes

    if isinstance(value, (list, tuple, dict)):
        items: Any = value.values() if isinstance(value, dict) else value
        if not _PLAIN.keys() >= set(map(type, items)):
            for item in items:
                refuse_exact_numbers(item, depth + 1)
    elif hasattr(type(value), "__truediv__") and library_of(value):
        raise CarriesDerivatives(
            f"{value!r} is a number of class {type(value).__name__}, and code is derived for floats",
            "Call the derivative itself with it, which then runs the function on exact numbers.",
        )


def _refuse_perturbed(value: Any) -> None:
    if hasattr(type(value), "__compute_op__"):
        raise CarriesDerivatives(
            f"{value!r} is a number of class {type(value).__name__}, and code is derived for plain numbers",
            "Run the function itself on it: it goes through any code that computes with numbers.",
        )


def _kind_of_object(value: Any, depth: int) -> Kind:
    _refuse_perturbed(value)
    if hasattr(type(value), "__array_namespace__"):
        raise ForeignArray(
            f"arrays of class {type(value).__module__}.{type(value).__qualname__} are not covered yet",
            "Use NumPy arrays: `np.asarray(x)`.",
        )
    if isinstance(value, _CHANGING):
        return UNKNOWN
    if isinstance(value, (int, float, complex)):
        return Static(value)  # of a class derived from Python's: its attributes are not its value
    if is_picture(value):
        return PICTURE
    if is_data(value):
        return Static(value)
    attributes = own_attributes(value)
    if type(value).__module__.split(".")[0] in _PLAIN_MODULES:
        return Static(value)
    carries = any(_carries(kind_of(v, depth)) for v in attributes.values())
    if not carries and not isinstance(getattr(type(value), "__call__", None), types.FunctionType):  # noqa: B004
        return Static(value)
    return _struct("object", attributes.keys(), attributes.values(), depth, type(value))


_CHANGING = (collections.deque, array.array, bytearray)
"""Containers written in C, of which only the run knows what they hold."""


_PLAIN_MODULES = {
    "builtins",
    "logging",
    "functools",
    "inspect",
    "numpy",
    "scipy",
    "uarray",
    "random",
    "wengert",
}


def _carries(kind: Kind) -> bool:
    match kind:
        case Struct(items=items):
            return any(map(_carries, items))
        case Static() | Other():
            return False
        case _:
            return True


def step(value: Any, step_: Step) -> Any:
    """Follow one step into a run-time container."""
    match step_.how:
        case "item":
            return value[step_.key]
        case "attr":
            return attribute(value, step_.key)
        case "cell":
            value = compiled_from(value)
            return value.__closure__[value.__code__.co_freevars.index(step_.key)].cell_contents


def leaf_values(kind: Kind, value: Any) -> Iterator[Any]:
    """The leaves of a run-time value, in the order of `ir.types.leaves`."""
    match kind:
        case Struct(keys=keys, items=items):
            for key, item in zip(keys, items, strict=True):
                yield from leaf_values(item, step(value, step_into(kind, key)))
        case Static():
            return
        case _:
            yield value


def taken_apart(kind: Kind, value: Any) -> Kind:
    """The kind of a value whose lists are taken apart, however long they are."""
    match kind:
        case Seq() if type(value) in (list, tuple) and 0 < len(value) <= LARGE:
            form = "tuple" if isinstance(value, tuple) else "list"
            items = tuple(taken_apart(kind_of(item, 1), item) for item in value)
            return Struct(form, tuple(range(len(value))), items)
        case Struct(keys=keys, items=items):
            inner = (
                taken_apart(item, step(value, step_into(kind, key)))
                for key, item in zip(keys, items, strict=True)
            )
            return replace(kind, items=tuple(inner))
        case _:
            return kind


def rebuild(kind: Kind, take: Callable[[Kind], Any]) -> Any:
    """A gradient that looks like a value of this kind; `take` gives each leaf in turn."""
    match kind:
        case Struct(form="function" | "object" | "derivative", keys=keys, items=items):
            fields = {k: rebuild(i, take) for k, i in zip(keys, items, strict=True)}
            if CONTENTS in fields:
                return like_built_on(kind.type, fields)
            return types.SimpleNamespace(**fields) if fields else None
        case Struct(form=form, keys=keys, items=items, type=type_):
            values = [rebuild(item, take) for item in items]
            return _CONTAINERS[form](keys, values, type_)
        case Static():
            return None
        case _:
            return take(kind)


def _build_dataclass(keys: tuple[str, ...], values: list[Any], type_: Any) -> Any:
    made = object.__new__(type_)
    for key, value in zip(keys, values, strict=True):
        object.__setattr__(made, key, value)
    return made


_CONTAINERS: dict[str, Callable[[Any, list[Any], Any], Any]] = {
    "tuple": lambda keys, values, type_: tuple(values),
    "list": lambda keys, values, type_: values,
    "dict": lambda keys, values, type_: dict(zip(keys, values, strict=True)),
    "namedtuple": lambda keys, values, type_: tuple.__new__(type_, values),
    "dataclass": _build_dataclass,
}
