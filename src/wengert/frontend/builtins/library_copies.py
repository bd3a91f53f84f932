"""`copy.copy` and `copy.deepcopy`, and the copies that wengert takes itself."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ...ir.graph import Const, Var
from ...ir.types import Number, Other, Static
from ...ops.program import memory as me
from ...runtime.containers import CONTENTS
from ..classes import class_lookup
from ..containers.items import opened
from ..domain.values import Args, Handler, Items, Kwargs, ObjectId, Value, is_mutable, is_object
from ..heap import can_be_one, may_be_one, place_of
from ..machine.interpreter import Interpreter
from ..objects.methods import copied
from ..polyfills.stdlib.copies import copied_beside


def _copy(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value = opened(it, args[0])
    if not isinstance(value, Items):
        return copied(it, value)
    own = _own_copy(it, value, "__copy__")
    if own is not None:
        return own
    return _copied_once(it, value) if is_mutable(value) else value


def _copied_once(it: Interpreter, items: Items) -> Items:
    """Another object that holds the same; the items of one that is a container are in a container of its own."""
    if CONTENTS not in items.keys:
        return again(items, items.values)
    inside = _copy(it, [items[CONTENTS]], {})
    return again(items, [inside if k == CONTENTS else items[k] for k in items.keys])


def again(items: Items, values: Sequence[Value]) -> Items:
    """Another object with these contents."""
    return Items(items.form, items.keys, tuple(values), items.type)


def _own_copy(it: Interpreter, items: Items, name: str, *args: Value) -> Value | None:
    if not is_object(items):
        return None
    own = class_lookup.own_method(items.type, name)
    if own is not None:
        return it.call(Const(own), [items, *args], {})
    for other in ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"):
        if class_lookup.own_method(items.type, other) is not None:
            raise it.unsupported(
                f"a copy of an object whose class has `{other}`",
                f"Give its class a `{name}` method.",
            )
    return None


def _deepcopy(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return deep(it, args[0], {})


def own_copy(it: Interpreter, value: Value) -> Value:
    """A deep copy whose arrays lie in memory as the originals: what gives a view of those gives one of these."""
    return deep(it, value, {}, lying=True)


def deep(
    it: Interpreter,
    value: Value,
    done: dict[int | ObjectId | Var, Value | None],
    *,
    lying: bool = False,
) -> Value:
    value = opened(it, value)
    if not isinstance(value, Items):
        if not isinstance(value, Var) or isinstance(value.kind, (Number, Other, Static)):
            return value
        return _duplicate(it, value, done, lying=lying)
    if value.form in ("function", "derivative"):
        return value
    key = value.place if value.place is not None else id(value)
    if key in done:
        made = done[key]
        if made is None:
            raise it.unsupported(
                "`copy.deepcopy` of an object that refers to itself",
                "Copy the parts one by one and connect them again.",
            )
        return made
    done[key] = None
    own = _own_copy(it, value, "__deepcopy__", Items("dict", (), ()))
    if own is None:
        own = again(value, [deep(it, item, done, lying=lying) for item in value.values])
    done[key] = own
    return own


def _duplicate(
    it: Interpreter, var: Var, done: dict[int | ObjectId | Var, Value | None], *, lying: bool
) -> Value:
    """The copy of a run-time object: one for each object, also where only the run knows that two are one."""
    if var in done:
        return done[var]  # type: ignore[return-value]
    twins = [
        (other, twin)
        for other, twin in done.items()
        if isinstance(other, Var) and isinstance(twin, Var) and can_be_one(it, var, other)
    ]
    if twins and not lying:
        pairs = [Items("tuple", (0, 1), pair) for pair in twins]
        made = it.call(Const(copied_beside), [var, *pairs], {})
    else:
        made = it.builder.emit_with(me.duplicate, [var], {"lying": Const(True)} if lying else {})
        for _, twin in twins:
            may_be_one(it, place_of(it, made), place_of(it, twin))  # type: ignore[arg-type]
    done[var] = made
    return made


HANDLERS: list[tuple[Any, Handler]] = [(copy.copy, _copy), (copy.deepcopy, _deepcopy)]
