"""Creating objects of known classes."""

from __future__ import annotations

import dataclasses
import types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .expressions import as_known
from .values import Items, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter


def construct(
    it: Interpreter, cls: type, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """`cls(*args, **kwargs)`."""
    from .calls import call_foreign, opaque

    if issubclass(cls, BaseException):
        return opaque(it, cls, args, kwargs)
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        fields: tuple[str, ...] = cls._fields  # type: ignore[attr-defined]
        defaults: dict[str, Any] = cls._field_defaults  # type: ignore[attr-defined]
        values = _bind_fields(it, cls, fields, defaults, args, kwargs)
        return Items("namedtuple", fields, tuple(values), cls)
    if dataclasses.is_dataclass(cls) and _plain_dataclass(cls):
        return _construct_dataclass(it, cls, args, kwargs)
    if cls.__module__ == "builtins" or (not args and not kwargs):
        return call_foreign(it, cls, args, kwargs)
    if not isinstance(cls.__init__, types.FunctionType):  # type: ignore[misc]
        return call_foreign(it, cls, args, kwargs)
    raise it.unsupported(
        f"objects of class {cls.__name__} cannot be created inside a differentiated function",
        "Use a dataclass, a namedtuple or a dictionary, or create the object outside and pass it in.",
    )


def _plain_dataclass(cls: type) -> bool:
    made = cls.__dataclass_params__.init  # type: ignore[attr-defined]
    return bool(made) and not hasattr(cls, "__post_init__")


def _construct_dataclass(
    it: Interpreter, cls: type, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    from .calls import call_known

    fields = [f for f in dataclasses.fields(cls) if f.init]
    defaults: dict[str, Any] = {}
    for f in fields:
        if f.default is not dataclasses.MISSING:
            defaults[f.name] = f.default
        elif f.default_factory is not dataclasses.MISSING and f.name not in kwargs:
            defaults[f.name] = call_known(it, f.default_factory, [], {})
    names = tuple(f.name for f in fields)
    return Items(
        "dataclass", names, tuple(_bind_fields(it, cls, names, defaults, args, kwargs)), cls
    )


def _bind_fields(
    it: Interpreter,
    cls: type,
    names: tuple[str, ...],
    defaults: Mapping[str, Any],
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> list[Value]:
    bound = dict(zip(names, args, strict=False)) | dict(kwargs)
    unknown = [name for name in bound if name not in names]
    missing = [name for name in names if name not in bound and name not in defaults]
    if unknown or missing or len(args) > len(names):
        from .statements import raise_now

        raise_now(it, TypeError, f"{cls.__name__}() called with the wrong arguments")
    return [bound[n] if n in bound else _default(defaults[n]) for n in names]


def _default(value: Any) -> Value:
    return value if isinstance(value, Items) else as_known(value)
