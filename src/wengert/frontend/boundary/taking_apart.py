"""From run-time values to their leaves, and from leaves back to values like them."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

from ...ir.records import replace
from ...ir.types import Kind, Seq, Static, Step, Struct, leaves, step_into
from ...runtime.attributes import attribute
from ...runtime.containers import CONTENTS
from ...runtime.gradients import like_built_on
from .signature import LARGE, compiled_from, kind_of


def step(value: Any, step_: Step) -> Any:
    """Follow one step into a run-time container."""
    match step_.how:
        case "item":
            return value[step_.key]
        case "attr":
            return attribute(value, step_.key)
        case "cell":
            value = compiled_from(value)
            if not hasattr(value, "__closure__"):
                return getattr(value, step_.key)  # of its tangent
            return value.__closure__[value.__code__.co_freevars.index(step_.key)].cell_contents


def leaf_values(kind: Kind, value: Any) -> Iterator[Any]:
    """The leaves of a run-time value, in the order of `ir.types.leaves`."""
    match kind:
        case Struct() if value is None:  # no tangent, of a part that has no derivative
            yield from (None for _ in leaves(kind))
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
        case Struct(items=items):
            return container_of(kind, [rebuild(item, take) for item in items])
        case Static():
            return None
        case _:
            return take(kind)


def container_of(kind: Struct, values: list[Any]) -> Any:
    """A gradient of a container of this kind, with those of its items."""
    if kind.form in _CONTAINERS:
        return _CONTAINERS[kind.form](kind.keys, values, kind.type)
    fields = dict(zip(kind.keys, values, strict=True))
    if CONTENTS in fields:
        return like_built_on(kind.type, fields)
    return types.SimpleNamespace(**fields) if fields else None


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
