"""Functions of `dataclasses` and of the package attrs that look into objects."""

from __future__ import annotations

import copy
import dataclasses
import sys
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

from ...ir.graph import Const, Var
from ...ir.types import UNKNOWN
from ..classes import class_lookup
from ..classes.class_lookup import class_of
from ..containers.items import opened
from ..domain.values import Args, Handler, Items, Kwargs, Value, as_known, is_object, tuple_of
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..objects import namedtuples
from .library_copies import again, deep


def _replace(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    items = _dataclass(it, args[0], "replace")
    given = dict(kwargs)
    for f in items.type.__dataclass_fields__.values():
        kind = f._field_type.name  # noqa: SLF001
        if kind == "_FIELD_CLASSVAR" or (f.init and f.name in given):
            continue
        if not f.init:
            if f.name in given:
                message = f"field {f.name} is declared with init=False, it cannot be specified with replace()"
                raise_now(it, ValueError, message)
        elif kind != "_FIELD_INITVAR":
            given[f.name] = it.attribute_of_object(items, f.name)
        elif f.default is dataclasses.MISSING:
            raise_now(it, ValueError, f"InitVar {f.name!r} must be specified with replace()")
    return it.construct(items.type, [], given)


def _replace_any(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`copy.replace`."""
    items = opened(it, args[0])
    if isinstance(items, Items) and items.form == "namedtuple":
        return namedtuples.replaced(it, items, kwargs)
    own = class_lookup.own_method(items.type, "__replace__") if is_object(items) else None  # type: ignore[union-attr]
    if own is not None:
        return it.call(Const(own), [items], kwargs)
    return _replace(it, args, kwargs)


def _dataclass(it: Interpreter, value: Value, what: str) -> Items:
    value = opened(it, value)
    if isinstance(value, Var) and value.kind == UNKNOWN:
        raise it.unsupported(
            f"`dataclasses.{what}` of an object that is known only when the program runs",
            "Create the object inside the function, or pass it as an argument.",
        )
    if not isinstance(value, Items) or value.form != "dataclass":
        raise_now(it, TypeError, f"{what}() should be called on dataclass instances")
    return value


def _asdict(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    factory = kwargs.get("dict_factory", args[1] if len(args) > 1 else None)

    def make(names: Sequence[str], values: Sequence[Value]) -> Value:
        if factory is None:
            return Items("dict", tuple(names), tuple(values))
        pairs = [tuple_of(Const(name), value) for name, value in zip(names, values, strict=True)]
        return it.call(factory, [Items("list", tuple(range(len(pairs))), tuple(pairs))], {})

    return _in_plain_containers(it, _dataclass(it, args[0], "asdict"), make)


def _astuple(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    factory = kwargs.get("tuple_factory", args[1] if len(args) > 1 else None)

    def make(names: Sequence[str], values: Sequence[Value]) -> Value:
        if factory is None:
            return tuple_of(*values)
        listed = Items("list", tuple(range(len(values))), tuple(values))
        return it.call(factory, [listed], {})

    return _in_plain_containers(it, _dataclass(it, args[0], "astuple"), make)


def _in_plain_containers(
    it: Interpreter, value: Value, make: Callable[[Sequence[str], Sequence[Value]], Value]
) -> Value:
    """A copy in which every dataclass is what `make` makes of its fields."""
    value = opened(it, value)
    match value:
        case Items(form="dataclass"):
            names = [f.name for f in dataclasses.fields(value.type)]
            fields = [it.attribute_of_object(value, name) for name in names]
            return make(names, [_in_plain_containers(it, f, make) for f in fields])
        case Items(form="list" | "tuple" | "dict" | "namedtuple", values=values):
            return again(value, [_in_plain_containers(it, v, make) for v in values])
        case _:
            return deep(it, value, {})


def _fields(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value = opened(it, args[0])
    cls = value.value if isinstance(value, Const) else class_of(value)
    if not dataclasses.is_dataclass(cls):
        return it.opaque(dataclasses.fields, args, kwargs)  # which raises
    return as_known(dataclasses.fields(cls))


def _is_dataclass(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value = opened(it, args[0])
    known = value.value if isinstance(value, Const) else class_of(value)
    if known is None:
        return it.opaque(dataclasses.is_dataclass, args, kwargs)
    return Const(dataclasses.is_dataclass(known))


# --- classes that the package attrs has made ------------------------------------------------


def _attrs_of(cls: type) -> Sequence[Any]:
    return getattr(cls, "__attrs_attrs__", ())


def _evolve(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    items = it.known_object(args[0])
    given = dict(kwargs)
    for each in _attrs_of(items.type):
        name = getattr(each, "alias", None) or each.name.lstrip("_")
        if each.init and name not in given:
            given[name] = it.attribute_of_object(items, each.name)
    return it.construct(items.type, [], given)


def _attrs_as(make: Callable[[Sequence[str], Sequence[Value]], Value]) -> Handler:
    """`attrs.asdict` and `attrs.astuple`."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        if len(args) > 1 or kwargs:
            raise it.unsupported(
                "options of `attrs.asdict` and `attrs.astuple` are not covered",
                "Write the attributes out.",
            )

        def plain(value: Value) -> Value:
            value = opened(it, value)
            names = [each.name for each in _attrs_of(getattr(value, "type", None) or object)]
            if isinstance(value, Items) and names:
                return make(names, [plain(it.attribute_of_object(value, name)) for name in names])
            if isinstance(value, Items) and value.form in ("list", "tuple", "dict"):
                return again(value, [plain(item) for item in value.values])
            return value

        return plain(args[0])

    return handler


def _attrs_fields(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    (cls,) = args
    assert isinstance(cls, Const)
    return tuple_of(*map(Const, _attrs_of(cls.value)))


ATTRS: dict[str, Handler] = {
    "evolve": _evolve,
    "asdict": _attrs_as(lambda names, values: Items("dict", tuple(names), tuple(values))),
    "astuple": _attrs_as(lambda names, values: tuple_of(*values)),
    "fields": _attrs_fields,
}
"""The functions of attrs that look into objects, by name."""


def handler_of_attrs(it: Interpreter, function: FunctionType) -> Handler | None:
    """How to read a call of one of these; `__module__` of `evolve` is whatever class it was last put into."""
    name = function.__name__
    homes = [sys.modules.get(module) for module in ("attr", "attrs")]
    is_one = name in ATTRS and any(getattr(home, name, None) is function for home in homes)
    return ATTRS[name] if is_one else None


HANDLERS: list[tuple[Any, Handler]] = [
    (dataclasses.replace, _replace),
    (dataclasses.asdict, _asdict),
    (dataclasses.astuple, _astuple),
    (dataclasses.fields, _fields),
    (dataclasses.is_dataclass, _is_dataclass),
    *([(copy.replace, _replace_any)] if hasattr(copy, "replace") else []),  # type: ignore[attr-defined]
]
