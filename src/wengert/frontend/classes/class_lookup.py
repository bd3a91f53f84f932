"""Classes: which one a value has, and what its class says, without running anything."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...ir.graph import Const
from ...ir.types import Array, Map, Number, Struct
from ...runtime.containers import CONTENTS
from ..domain.values import (
    Closure,
    Items,
    LazyIterable,
    Native,
    ObjectId,
    ObjectKey,
    Value,
    is_object,
    kind_of_value,
    object_class,
)
from ..heap import now
from ..machine.failing import raise_now
from ..machine.guards import MISSING, OURS, kept_in
from ..machine.interpreter import Interpreter
from ..polyfills.stdlib import collections as container_polyfills
from .bound_methods import receiver_of

STORAGE = (types.MemberDescriptorType, types.GetSetDescriptorType)
"""What stands in a class for a value that the object itself keeps: a slot."""
PYTHON_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float, "complex": complex}

_ITERATORS: dict[str, type] = {
    "zip": zip,
    "map": map,
    "filter": filter,
    "enumerate": enumerate,
    "generator": types.GeneratorType,
    "keys": type({}.keys()),
    "values": type({}.values()),
    "items": type({}.items()),
}
_REVERSED: dict[type, type] = {
    type(each): type(reversed(each)) for each in ([], (), {}, "", range(0), np.zeros(0))
}
_ITERATED: dict[type, type] = {
    type(each): type(iter(each))
    for each in ([], (), {}, "", b"", range(0), {}.keys(), {}.values(), {}.items(), np.zeros(0))
}
"""The class of an iterator over an object, by the class of that."""


def class_of(value: Value) -> type | None:
    """The class of a value, where it is known when the program is read."""
    if isinstance(value, Closure):
        return types.FunctionType
    if isinstance(value, Native):
        method = types.MethodType if receiver_of(value) is not None else None
        return functools.partial if value.name == "partial" else method
    if isinstance(value, Items) and value.form in ("iterator", "function"):
        return (
            types.FunctionType if value.form == "function" else _class_of_iterator(value["source"])
        )
    if isinstance(value, LazyIterable):
        return _class_of_iteration(value)
    if isinstance(value, Const):
        return type(value.value)
    kind = kind_of_value(value)
    match kind:
        case Number(type=t):
            return PYTHON_TYPES[t]
        case Array():
            return np.ndarray
        case Map():
            return dict
        case Struct(form=form, type=type_):
            plain = {"tuple": tuple, "list": list, "dict": dict}
            return type_ if isinstance(type_, type) else plain.get(form)
        case _:
            return _OTHERS.get(str(kind))


_OTHERS: dict[str, type] = {
    "str": str,
    "slice": slice,
    "range": range,
    "bytes": bytes,
    "ellipsis": type(Ellipsis),
    "None": type(None),
}


def _class_of_iteration(value: LazyIterable) -> type | None:
    if value.form == "reversed":
        return _REVERSED.get(class_of(value.parts[0]) or object)
    return _ITERATORS.get(value.form)


def _class_of_iterator(source: Value) -> type | None:
    """The class of what `iter(source)` gives; of an iterator that is itself."""
    known = class_of(source)
    return known if known is None or issubclass(known, Iterator) else _ITERATED.get(known)


def hash_token(items: Items) -> Any:
    """What tells a known object from others that are keys of a dictionary; None if only the run can."""
    cls = items.type
    if not isinstance(cls, type) or items.home is not None:
        return None
    if is_told_by_identity(items):
        return identity_token(items)
    parameters = getattr(cls, "__dataclass_params__", None)
    if (
        parameters is None
        or not (parameters.eq and parameters.frozen)
        or own_method(cls, "__hash__")
    ):
        return None
    names = [f.name for f in dataclasses.fields(cls) if f.compare and f.hash is not False]
    values = [as_key(items[name]) for name in names]
    if not all(isinstance(value, Const) for value in values):
        return None
    return cls, tuple(value.value for value in values if isinstance(value, Const))


def is_told_by_identity(items: Items) -> bool:
    """Whether an object is equal to itself only."""
    cls = items.type
    return isinstance(cls, type) and cls.__hash__ is object.__hash__ and cls.__eq__ is object.__eq__


def identity_token(items: Items) -> Any:
    """What tells a known object from all others; None if only the run can."""
    if items.home is not None:
        return None
    if items.place is None:
        items.place = ObjectId(items)
    return None if items.place.several else items.place


def search(classes: Sequence[type], name: str) -> Any:
    """What the first of some classes that has an attribute keeps under its name, or MISSING."""
    for cls in classes:
        if not is_container(cls):
            found = in_python(kept_in(cls, name))
        elif any(hasattr(each, "_fields") for each in classes):  # of a namedtuple
            found = vars(cls).get(name, MISSING)
        else:
            found = of_container(cls, name)
        if found is not MISSING:
            return found
    return MISSING


def is_container(cls: type) -> bool:
    """Whether a class is one of Python's containers that others are built on."""
    if cls is object or cls.__module__ not in ("builtins", "collections"):
        return False
    return cls in container_polyfills.BASES


def of_container(cls: type, name: str) -> Any:
    """A method of one of Python's containers, as the front end reads it."""
    for base in container_polyfills.BASES[cls].__mro__[:-1]:
        if isinstance(vars(base).get(name), types.FunctionType):
            return vars(base)[name]
    return MISSING if hasattr(object, name) else vars(cls).get(name, MISSING)


def form_of_contents(cls: type) -> str | None:
    """As what objects keep their items whose class is built on one of Python's containers; None of others."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return None
    for base in cls.__mro__:
        stand_in = container_polyfills.BASES[base] if is_container(base) else base
        form = container_polyfills.FORMS.get(stand_in)
        if form is not None:
            return form
    return None


def contents_as_they_are(it: Interpreter, value: Value, name: str) -> Value | None:
    """What a value holds that is built on a dictionary, if its class has no method of this name of its own."""
    if not is_object(value) or CONTENTS not in value.keys:  # type: ignore[union-attr]
        return None
    found = static_lookup(value.type, name)  # type: ignore[union-attr]
    inside = now(it, value[CONTENTS])  # type: ignore[index]
    plain = any(found in vars(stand_in).values() for stand_in in container_polyfills.BASES.values())
    return inside if plain and form_of_contents(value.type) == "dict" else None  # type: ignore[union-attr]


def in_python(found: Any) -> Any:
    """A method of one of Python's containers, `dict.__getitem__` say, as the front end reads it."""
    if not isinstance(found, (types.WrapperDescriptorType, types.MethodDescriptorType)):
        return found
    written = (
        of_container(found.__objclass__, found.__name__)
        if is_container(found.__objclass__)
        else MISSING
    )
    return written if isinstance(written, types.FunctionType) else found


def static_lookup(cls: type, name: str) -> Any:
    """What a class keeps under a name, before any descriptor is asked; MISSING if nothing."""
    return search(cls.__mro__, name)


def own_method(cls: type, name: str) -> Any:
    """A method that is written in Python; None if the class has none, or one made by `dataclass`."""
    found = static_lookup(cls, name)
    if isinstance(found, staticmethod):
        found = found.__func__
    if not isinstance(found, (types.FunctionType, functools.partialmethod)):
        return None
    return None if is_generated(found) else found


def is_generated(function: Any) -> bool:
    """Whether `dataclass` or `namedtuple` has made a method, whose source is nowhere."""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    made = code.co_filename.startswith("<string") or code.co_filename == dataclasses.__file__
    return made and getattr(function, "__qualname__", "") != "<lambda>"


def is_read_first(found: Any) -> bool:
    """Whether a class's attribute is read before what the object keeps under the same name."""
    reads = isinstance(found, property) or own_method(type(found), "__get__") is not None
    return is_data_descriptor(found) and reads


def is_data_descriptor(found: Any) -> bool:
    """Whether a class's attribute is assigned before what the object keeps under the same name."""
    if isinstance(found, property):
        return True
    if found is MISSING or isinstance(found, (*STORAGE, type)):
        return False
    return any(own_method(type(found), name) is not None for name in ("__set__", "__delete__"))


def no_attribute(it: Interpreter, cls: type, name: str) -> Value:
    """Emit what Python raises; what only stands for an object of a library's may lack what that has.

    Raises:
        UnsupportedSyntax: it does.
    """
    stands_for = container_polyfills.class_to_see(cls)
    if cls.__module__.startswith(OURS) and (stands_for is cls or hasattr(stands_for, name)):
        raise it.unsupported(
            f"`{name}` of this object is not covered where the program is differentiated",
            "Compute what it gives otherwise; or put the call into a function with a rule of its own.",
        )
    cls = stands_for
    message = f"'{cls.__name__}' object has no attribute '{name}'"
    raise_now(it, AttributeError, message, name=name)


def seen_as(it: Interpreter, cls: type) -> type:
    """The class that an object is of for the program; what stands in for a class itself knows better."""
    around = it.frame.closure.scope.globals.get("__name__", "") if it.frames else ""
    return cls if str(around).startswith(OURS) else container_polyfills.class_to_see(cls)


def no_accessor(it: Interpreter, cls: type, name: str, what: str) -> Value:
    raise_now(it, AttributeError, f"property '{name}' of {cls.__name__!r} object has no {what}")


def own_entries(it: Interpreter, items: Items) -> Items:
    """The items of a dictionary that is its own `__dict__`."""
    entries = now(it, items[CONTENTS])
    if isinstance(entries, Items):
        return entries
    raise it.unsupported(
        "the items of a dictionary that is its own `__dict__` are known only when the program runs",
        "Read them as items: `d[name]`.",
    )


def as_key(index: Value) -> Value:
    """An index or a key; a tuple of constants is a constant, and so is a known object."""
    if isinstance(index, Items) and index.form == "tuple":
        items = [as_key(value) for value in index.values]
        if all(isinstance(item, Const) for item in items):
            return Const(tuple(item.value for item in items if isinstance(item, Const)))
    if isinstance(index, Items) and index.form in ("object", "dataclass"):
        token = hash_token(index)
        return index if token is None else Const(ObjectKey(token, index))
    return index


def is_written(found: Any) -> bool:
    """Whether a special method is one that can be read."""
    if isinstance(found, (staticmethod, classmethod)):
        found = found.__func__
    return callable(found) and not isinstance(
        found, (types.WrapperDescriptorType, types.MethodDescriptorType, types.BuiltinFunctionType)
    )


def defines(value: Value, name: str) -> bool:
    """Whether a value's class, one of the user's, has a special method."""
    cls = object_class(value)
    if cls is None:
        return False
    found = static_lookup(cls, name)
    return is_written(found) or is_generated(found)


def is_walked_over(value: Value) -> bool:
    """Whether the class of an object says how to iterate over it: also by `__getitem__` alone."""
    return defines(value, "__iter__") or defines(value, "__getitem__")


def is_generated_init(cls: type, init: Any) -> bool:
    return dataclasses.is_dataclass(cls) and is_generated(init)


def owner_of_init(function: Any, made: Value) -> type | None:
    """The dataclass whose generated `__init__` a function is, called for an object of a subclass."""
    is_object = function.__name__ == "__init__" and isinstance(made, Items)
    cls = class_of(made) if is_object else None
    for base in cls.__mro__ if cls is not None else ():
        if vars(base).get("__init__") is function and is_generated_init(base, function):
            return base
    return None


def asks_its_class(it: Interpreter, value: Items) -> bool:
    """Whether the truth of an object is what a method of its class says."""
    methods = ("__bool__", "__len__") if isinstance(value.type, type) else ()
    return any(own_method(value.type, name) is not None for name in methods)
