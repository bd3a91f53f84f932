"""From run-time arguments to kinds and leaves, and back."""

from __future__ import annotations

import array
import collections
import enum
import types
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from ...errors import UnsupportedSyntax
from ...ir.op import Op
from ...ir.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    LIST,
    NONE,
    PICTURE,
    RANGE,
    SLICE,
    STR,
    UNKNOWN,
    UNREAD,
    Array,
    Kind,
    Other,
    Picked,
    Seq,
    Static,
    Struct,
    join,
)
from ...ops.program.drawing import kind_of_generator
from ...runtime.containers import (
    attributes_of,
    is_built_on_container,
    own_attributes,
    own_dictionary,
)
from ...runtime.reached import closed_over
from ..domain.number_classes import DEEPEST
from ..domain.properties import behind_property, is_property
from ..syntax.declarations import keeps_state
from .foreign_libraries import is_data, is_picture
from .no_code import (
    CarriesDerivatives,
    OfAnotherLibrary,
    computing_in,
    library_of_arrays,
    refuse_numbers_as_objects,
    refuse_numbers_with_derivatives as refuse_numbers_with_derivatives,
    refuse_other_arithmetic,
    refuse_perturbed,
)
from .templates import Template, known_captures

SMALL = 6
"""Lists and tuples up to this length are taken apart; longer ones are sequences."""
LARGE = 64
"""No container with more items than this is taken apart."""
LONG_TEXT = 1024

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
_NUMPYS = (
    (np.bool_, BOOL),
    (np.integer, INT),
    (np.floating, FLOAT),
    (np.complexfloating, COMPLEX),
)
_PLAIN.update(
    (cls, kind)
    for cls in set(np.sctypeDict.values())
    for base, kind in _NUMPYS
    if issubclass(cls, base)
)


OUTSIDE = Struct("outside", (), ())
"""What `kind_of` is given to ask whether a kind has parts, and not for them."""


_OWN: dict[type, Callable[[Any, int], Kind]] = {}


def describe(type_: type, kind: Callable[[Any, int], Kind]) -> None:
    """Say what the kind of a value of this class is, given the depth at which it was met."""
    _OWN[type_] = kind


def kind_of(value: Any, depth: int = 0, like: Kind | None = None) -> Kind:
    """The kind of a run-time value; what is `UNREAD` in a kind that it is `like` is not looked at."""
    if like is UNREAD:
        return UNREAD
    if isinstance(like, Picked) and _is_picked(value, depth, like):
        return like
    if type(like) is Other and like == kind_of_generator(value):
        return like
    if type(value) is str and len(value) <= LONG_TEXT:
        return Static(value)  # a switch, or a model in words: what it selects can be known
    plain = _PLAIN.get(type(value))  # pyright: ignore[reportUnknownArgumentType]
    if plain is not None:
        return plain
    if isinstance(value, np.ndarray):
        if type(value) is not np.ndarray:
            refuse_perturbed(value)
            refuse_other_arithmetic(type(value))
        if value.dtype == object:
            refuse_numbers_as_objects(value)
            return UNKNOWN
        return _kind_of_array(value.dtype, value.ndim)
    if isinstance(value, np.generic):
        refuse_perturbed(value)
        return _kind_of_numpy_scalar(value)
    if depth > DEEPEST:
        return Static(value)
    own = _OWN.get(type(value))  # pyright: ignore[reportUnknownArgumentType]
    if own is not None:
        return own(value, depth + 1)
    if hasattr(type(value), "py_func") or "py_func" in own_dictionary(value):
        return kind_of(compiled_from(value), depth, like)
    if derives(value):
        made: Any = value
        return _struct("derivative", ("function",), (made.function,), depth + 1, made.verb, like)
    return _kind_of_container(value, depth + 1, like)


@lru_cache(maxsize=256)
def _kind_of_array(dtype: np.dtype[Any], rank: int) -> Kind:
    return Array(dtype.name, rank)


def _is_picked(value: Any, depth: int, like: Picked) -> bool:
    """Whether a list has items of a kind in the places that are looked at."""
    if like == LIST:
        return type(value) is list
    if type(value) not in (list, tuple) or not all(
        -len(value) <= k < len(value) for k in like.places
    ):
        return False
    kinds = (kind_of(value[k], depth + 1, like.item) for k in like.places)
    return all(join(like.item, kind) == like.item for kind in kinds)


def compiled_from(value: Any) -> Any:
    """The Python function that a compiled one was made from (Numba's `njit`, `wg.jit`); else the value."""
    return getattr(value, "py_func", value)


def derives(value: Any) -> bool:
    """Whether a value is a derivative function, specialised or not: it has a `function` and a `verb`."""
    owner = value.__self__ if type(value) is types.MethodType else value
    return hasattr(type(owner), "derives")


def _kind_of_numpy_scalar(value: Any) -> Kind:
    for type_, kind in _NUMPYS:
        if isinstance(value, type_):
            return kind
    return STR if isinstance(value, np.str_) else UNKNOWN


def namedtuple_fields(value: Any) -> tuple[str, ...]:
    """The names of a namedtuple's items."""
    return value._fields


def _kind_of_container(value: Any, depth: int, like: Kind | None) -> Kind:
    match value:
        case tuple() if hasattr(type(value), "_fields"):
            fields: tuple[str, ...] = namedtuple_fields(value)
            return _struct("namedtuple", fields, value, depth, type(value), like)
        case tuple() | list() | dict() if is_built_on_container(type(value)):
            kept = attributes_of(value)
            return _struct("object", kept.keys(), kept.values(), depth, type(value), like)
        case tuple() | list():
            return _kind_of_sequence(value, depth, like)
        case dict():
            return _kind_of_dict(value, depth, like)
        case np.dtype():
            return Static(value)
        case types.FunctionType():
            return _kind_of_function(value, depth, like)
        case types.MethodType():
            if like is OUTSIDE:
                return kind_of(value.__self__, depth, like)
            keys, parts = ("__self__", "__func__"), (value.__self__, value.__func__)
            kind = _struct("object", keys, parts, depth, types.MethodType, like)
            owner = kind.items[0]
            return Static(value) if isinstance(owner, Static) and owner is not UNREAD else kind
        case enum.Enum():
            return Static(value)
        case Op() | type() | types.ModuleType() | types.BuiltinFunctionType() | np.ufunc():
            return Static(value)
        case _ if hasattr(type(value), "__dataclass_fields__"):
            import dataclasses

            declared = [f.name for f in dataclasses.fields(value) if hasattr(value, f.name)]
            # beside its fields it has what its `__post_init__` assigned
            names = tuple(dict.fromkeys([*declared, *_own(value)]))
            parts = [getattr(value, name) for name in names]
            return _struct("dataclass", names, parts, depth, type(value), like)
        case _:
            return _kind_of_object(value, depth, like)


def _struct(
    form: str, keys: Any, values: Any, depth: int, type_: Any = None, like: Kind | None = None
) -> Struct:
    if like is OUTSIDE:
        return Struct(form, (), (), type_)
    keys = tuple(keys)
    if not isinstance(like, Struct) or like.keys != keys:
        return Struct(form, keys, tuple([kind_of(v, depth) for v in values]), type_)
    items = [kind_of(v, depth, each) for v, each in zip(values, like.items, strict=True)]
    return Struct(form, keys, tuple(items), type_)


def _kind_of_sequence(
    value: list[Any] | tuple[Any, ...], depth: int, like: Kind | None = None
) -> Kind:
    form = "tuple" if isinstance(value, tuple) else "list"
    if len(value) <= SMALL and (value or form == "tuple"):
        return _struct(form, range(len(value)), value, depth, None, like)
    if not value:
        return Seq(UNKNOWN)
    if len(value) > LARGE:
        return Seq(_common_kind(value, depth))
    if isinstance(like, Struct) and len(like.keys) == len(value):
        return _struct(form, range(len(value)), value, depth, None, like)
    kinds = _kinds(value, depth)
    return _struct(form, range(len(value)), value, depth) if len(kinds) > 1 else Seq(*kinds)


def _kinds(values: Sequence[Any], depth: int) -> set[Kind]:
    """The kinds of values; of containers that are built alike, column by column."""
    classes = set(map(type, values))
    if str not in classes and classes <= _PLAIN.keys():
        return {_PLAIN[cls] for cls in classes}
    alike = len(classes) == 1 and depth <= DEEPEST
    columns = _columns(type(values[0]), values) if alike else None
    if columns is not None:
        form, keys, items = columns
        kinds = [_kinds(column, depth + 1) for column in items]
        if all(len(each) == 1 for each in kinds):
            cls = type(values[0]) if form == "namedtuple" else None
            return {Struct(form, tuple(keys), tuple(kind for (kind,) in kinds), cls)}
    return {kind_of(value, depth) for value in values}


def _common_kind(values: Sequence[Any], depth: int) -> Kind:
    """The kind that covers many values: of containers that are built alike, column by column."""
    cls, *others = set(map(type, values))
    if not others and cls in _PLAIN and (cls is not str or len(set(values)) > 1):
        return _PLAIN[cls]
    columns = None if others or depth > DEEPEST else _columns(cls, values)
    if columns is not None:
        form, keys, items = columns
        kinds = (_common_kind(column, depth + 1) for column in items)
        return Struct(form, tuple(keys), tuple(kinds), cls if form == "namedtuple" else None)
    return reduce(join, {kind_of(value, depth) for value in values})


def _columns(cls: type, values: Sequence[Any]) -> tuple[str, Any, Iterator[tuple[Any, ...]]] | None:
    """Short tuples, lists and dictionaries with the same keys as form, keys and columns; None of all others."""
    if cls is dict:
        keys, *others = set(map(tuple, values))
        if others or not isinstance(_kind_of_dict(values[0], DEEPEST), Struct):
            return None
        return "dict", keys, zip(*map(dict[Any, Any].values, values), strict=True)
    if cls not in (tuple, list) and not (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return None
    length, *others = set(map(len, values))
    if others or not 0 < length <= SMALL:
        return None
    columns = zip(*values, strict=True)
    if cls in (tuple, list):
        return cls.__name__, range(length), columns
    return "namedtuple", namedtuple_fields(values[0]), columns


def _kind_of_dict(value: dict[Any, Any], depth: int, like: Kind | None = None) -> Kind:
    if hasattr(type(value), "__missing__"):
        return UNKNOWN  # it may get an item when it is asked for one: only the object itself knows
    literal = all(type(key) in (str, int, float, bool, tuple) for key in value)
    if not literal or len(value) > LARGE:
        return Other("dict") if not value else UNKNOWN
    cls = None if type(value) is dict else type(value)
    return _struct("dict", value.keys(), value.values(), depth, cls, like)


def _kind_of_function(function: types.FunctionType, depth: int, like: Kind | None = None) -> Kind:
    if keeps_state(function):
        return Static(function)  # it, or a sibling, binds what it has captured
    captured = captured_values(function)
    template = Template(function)
    known = known_captures.get(template, ())
    likes = dict(zip(like.keys, like.items, strict=True)) if isinstance(like, Struct) else {}
    kinds = tuple(
        # a function that closes over itself is recursive, not infinitely deep
        Static(v)
        if v is function or (n in known and isinstance(v, (int, tuple)))
        else kind_of(v, depth, likes.get(n))
        for n, v in captured.items()
    )
    if depth > 1 and any(kind in _COLLECTORS for kind in kinds):
        return Static(function)  # it keeps books: which function it is matters
    return Struct("function", tuple(captured), kinds, template)


def captured_values(function: types.FunctionType) -> dict[str, Any]:
    """What a function has captured, but for what is known with the function itself."""
    if not function.__closure__ or keeps_state(function):
        return {}
    return closed_over(function)


_COLLECTORS = (Seq(UNKNOWN), Other("dict"), UNKNOWN)


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


def _own(value: Any) -> dict[str, Any]:
    """What an object keeps, by names that are attributes of it."""
    attributes = own_attributes(value)
    for name in attributes:
        if is_property(type(value), name):
            raise UnsupportedSyntax(*behind_property(type(value), name))
    return attributes


def _kind_of_object(value: Any, depth: int, like: Kind | None = None) -> Kind:
    refuse_perturbed(value)
    if library_of_arrays(type(value)):
        space = computing_in.get()
        if space is None:
            raise OfAnotherLibrary(value)
        return kind_of(space.own(value))
    if isinstance(value, _CHANGING):
        return UNKNOWN
    if isinstance(value, (int, float, complex)):
        return Static(value)  # of a class derived from Python's: its attributes are not its value
    if is_picture(value):
        return PICTURE
    if is_data(value):
        return Static(value)
    if type(value).__module__.split(".")[0] in _PLAIN_MODULES:
        return Static(value)
    attributes = _own(value)
    is_called = isinstance(getattr(type(value), "__call__", None), types.FunctionType)  # noqa: B004
    if like is OUTSIDE and not is_called:
        is_called = any(_carries(kind_of(part, depth)) for part in attributes.values())
        like = like if is_called else None
    kind = _struct("object", attributes.keys(), attributes.values(), depth, type(value), like)
    return kind if is_called or isinstance(like, Struct) or _carries(kind) else Static(value)


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
