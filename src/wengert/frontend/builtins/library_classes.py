"""Built-in and standard functions about classes: what is of which, and how objects of them are made."""

from __future__ import annotations

import collections
import dataclasses
import types
from typing import Any, NamedTuple

import numpy as np

from ...ir.graph import Const, Var
from ...ir.types import BOOL, COMPLEX, Array, Number
from ...ops.arrays import shape as sh
from ...runtime.containers import CONTENTS
from ..classes import class_lookup, instances
from ..classes.class_lookup import class_of
from ..containers.items import opened
from ..data import columns
from ..domain.number_classes import is_exact, is_instance
from ..domain.values import (
    Args,
    Closure,
    Handler,
    Items,
    Kwargs,
    Native,
    Value,
    is_object,
    kind_of_value,
)
from ..heap import now
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..objects import construct, super_lookup
from ..polyfills import manifest
from ..polyfills.pandas import columns as column_polyfills
from ..polyfills.stdlib import collections as container_polyfills, container_bases


def _isinstance(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, classes = args
    value = opened(it, value)
    known = class_of(value)
    known = container_polyfills.class_to_see(known) if known is not None else None
    wanted = _classes(classes)
    if isinstance(kind_of_value(classes), Number):
        message = "isinstance() arg 2 must be a type, a tuple of types, or a union"
        raise_now(it, TypeError, message)
    if known is None or wanted is None:
        return it.opaque(isinstance, [value, classes], kwargs)
    kind = kind_of_value(value)
    if isinstance(kind, Array) and it.reading.narrow:
        return it.opaque(isinstance, args, kwargs, BOOL)
    if isinstance(value, Var) and isinstance(kind, Number):
        said = is_instance(it, value, kind, wanted)
        return it.opaque(isinstance, args, kwargs, BOOL) if said is None else Const(said)
    return Const(any(_is_subclass(value, known, c) for c in wanted))


def _is_complex_object(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`np.iscomplexobj`."""
    (value,) = map(it.atom, (*args, *kwargs.values()))
    if isinstance(value, Var) and value.kind == COMPLEX and is_exact(it, value):
        return Const(True)
    return it.emit(sh.iscomplexobj, value)


def _is_known_as(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, cls = args
    known = class_of(opened(it, value))
    assert isinstance(cls, Const)
    return Const(
        known is not None and issubclass(container_polyfills.class_to_see(known), cls.value)
    )


def _issubclass(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    cls, classes = args
    wanted = _classes(classes)
    if isinstance(cls, Const) and isinstance(cls.value, type) and wanted is not None:
        return Const(issubclass(cls.value, tuple(wanted)))
    return it.opaque(issubclass, args, kwargs)


def _is_subclass(value: Value, known: type, wanted: type) -> bool:
    members = getattr(wanted, "__protocol_attrs__", None)
    if members is None and getattr(wanted, "_is_protocol", False):
        members = wanted.__annotations__
    if members and is_object(value) and not issubclass(wanted, known):
        return all(name in value.keys or hasattr(known, name) for name in members)  # type: ignore[union-attr]
    return issubclass(known, wanted)


def _classes(value: Value) -> list[type] | None:
    match value:
        case Const(value=type() as cls):
            return [cls]
        case Const(value=types.UnionType() as union):
            return list(union.__args__)
        case Items(values=values):
            found = [_classes(v) for v in values]
            return None if None in found else [c for cs in found if cs for c in cs]
        case _:
            return None


def _make_class(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    raise it.unsupported(
        "a class that a differentiated function makes is not read",
        "Define the class outside of the function.",
    )


def _type(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 3:
        return _make_class(it, args, kwargs)
    return instances.type_of(it, opened(it, args[0]))


def _super(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 2 and isinstance(args[0], Const):
        return super_lookup.super_of(it, args[0].value, args[1])
    if args:
        raise it.unsupported("`super` with these arguments", "Write `super()`.")
    node = it.frame.closure.node
    parameters = [*node.args.posonlyargs, *node.args.args]
    cls = _enclosing_class(it)
    receiver = it.vars.get(parameters[0].arg) if parameters else None
    if cls is None or receiver is None:
        raise_now(it, RuntimeError, "super(): no arguments")
    return super_lookup.super_of(it, cls, now(it, receiver))


def _enclosing_class(it: Interpreter) -> type | None:
    """The class whose body the running function stands in."""
    scope = it.frame.scope
    while scope is not None:
        found = scope.vars.get("__class__")
        if isinstance(found, Const):
            return found.value
        scope = scope.outer
    return None


def _callable(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value = opened(it, args[0])
    match value:
        case Closure() | Native():
            return Const(True)
        case Const(value=constant):
            return Const(callable(constant))
        case Items(form="function" | "derivative"):
            return Const(True)
        case Items():
            known = class_of(value)
            found = (
                class_lookup.MISSING
                if known is None
                else class_lookup.static_lookup(known, "__call__")
            )
            return Const(found is not class_lookup.MISSING)
        case _:
            return it.opaque(callable, args, kwargs)


def _tuple_new(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`tuple.__new__(cls, items)` of a namedtuple."""
    cls, *items = args
    if isinstance(cls, Const) and class_lookup.form_of_contents(cls.value) == "tuple":
        return construct.blank(it, cls.value, items)
    values = it.known_items(items[0]) if items else []
    if not isinstance(cls, Const) or not hasattr(cls.value, "_fields") or values is None:
        raise it.unsupported("`tuple.__new__` of these items", "Call the class itself.")
    return it.new_namedtuple(cls.value, values, {})


def _type_call(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    cls, *rest = args
    assert isinstance(cls, Const)
    return it.construct_plainly(cls.value, rest, kwargs)


def _contents_of(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value = opened(it, args[0])
    return now(it, value[CONTENTS]) if is_object(value) and CONTENTS in value.keys else value  # type: ignore[union-attr, index]


HANDLERS: list[tuple[Any, Handler]] = [
    (container_bases.contents_of, _contents_of),
    (tuple.__new__, _tuple_new),
    (type.__call__, _type_call),
    (isinstance, _isinstance),
    (np.iscomplexobj, _is_complex_object),
    (manifest.is_known_as, _is_known_as),
    (column_polyfills.is_column, lambda it, args, kwargs: Const(columns.is_column(args[0]))),
    (issubclass, _issubclass),
    (type, _type),
    (collections.namedtuple, _make_class),  # noqa: PYI024
    (NamedTuple, _make_class),
    (dataclasses.make_dataclass, _make_class),
    (super, _super),
    (callable, _callable),
]
