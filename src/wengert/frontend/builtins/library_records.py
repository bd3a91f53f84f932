"""Functions of `dataclasses` and of the package attrs that make an object of another one."""

from __future__ import annotations

import copy
import dataclasses
import sys
from types import FunctionType
from typing import Any

from ...ir.graph import Const, Var
from ...ir.types import UNKNOWN
from ..classes import class_lookup
from ..containers.items import opened
from ..domain.values import Args, Handler, Items, Kwargs, Value, is_object
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..objects import namedtuples


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


# --- classes that the package attrs has made ------------------------------------------------


def _evolve(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    items = it.known_object(args[0])
    given = dict(kwargs)
    for each in getattr(items.type, "__attrs_attrs__", ()):
        name = getattr(each, "alias", None) or each.name.lstrip("_")
        if each.init and name not in given:
            given[name] = it.attribute_of_object(items, each.name)
    return it.construct(items.type, [], given)


def handler_of_attrs(it: Interpreter, function: FunctionType) -> Handler | None:
    """How to read a call of `attrs.evolve`, whose `__module__` is whatever class it was last put into."""
    homes = [sys.modules.get(module) for module in ("attr", "attrs")]
    return _evolve if any(getattr(home, "evolve", None) is function for home in homes) else None


HANDLERS: list[tuple[Any, Handler]] = [
    (dataclasses.replace, _replace),
    *([(copy.replace, _replace_any)] if hasattr(copy, "replace") else []),  # type: ignore[attr-defined]
]
