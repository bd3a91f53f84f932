"""Cotangents of objects whose class is known only at run time: the parts that belong to an attribute."""

from __future__ import annotations

from collections import deque
from typing import Any

from .containers import CONTENTS, contents, own_dictionary
from .cotangents import OfAttributes, accumulate, zeros
from .gradients import parts_of_gradient
from .refusals import unclear


def add_attr(buffer: Any, x: Any, value: Any, name: str) -> Any:
    """`buffer.name += value`, where `buffer` is the cotangent of the object `x`; in place."""
    fields = getattr(type(x), "_fields", None)
    if fields is not None and name not in fields:
        fields = None  # a method of a namedtuple
    if fields is None and _is_computed(x, name):
        return accumulate(buffer, _of_receiver(x, value, name))
    if fields is not None and name not in fields:
        raise _of_method(x, name)
    key = fields.index(name) if fields is not None else name
    if buffer is None:
        raise TypeError(f"no derivative flows through attribute {name!r} of {type(x).__name__}")
    buffer[key] = accumulate(buffer[key] if fields is not None else buffer.get(key), value)
    return buffer


def _is_computed(x: Any, name: str) -> bool:
    """Whether an attribute is not kept by an object, but made by its class: a method, a property."""
    import types

    found = getattr(type(x), name, None)
    if name == CONTENTS or (isinstance(x, BaseException) and name in ("args", "__cause__")):
        return False
    if isinstance(found, types.MemberDescriptorType):
        return False
    if not callable(found) and hasattr(type(found), "__get__"):
        return True  # also a cached property: what it has computed is kept as what was assigned is
    own = own_dictionary(x)
    return own is x or (name not in own and (found is None or callable(found)))


def _of_receiver(x: Any, method_bar: Any, name: str) -> Any:
    """The cotangent of an object from that of one of its methods."""
    found = getattr(type(x), name, None)
    if isinstance(x, (list, dict, deque)) and not hasattr(found, "__code__"):
        raise unclear(
            f"the method {name!r} of a {type(x).__name__} is called by another name, or in a way of its class alone\n"
            "Call it by its own name (`table.get(key)`), or use indices and assignments."
        )
    if callable(found):
        return None if method_bar is None else method_bar["__self__"]
    raise unclear(
        f"the attribute {name!r} of {type(x).__name__} is computed by its class, which is known only when "
        "the program runs\n"
        "Call a method instead; or pass such objects as arguments of their own, or in a short list."
    )


def _of_method(x: Any, name: str) -> ValueError:
    return unclear(
        f"{name!r} of the {type(x).__name__} is no field of it, which is known only when the program runs\n"
        "Specialise the derivative for example arguments, or make the new tuple by its class."
    )


def shadow_attr(x_bar: Any, x: Any, name: str) -> Any:
    """The part of the cotangent of the object `x` that belongs to its attribute `name`."""
    fields = getattr(type(x), "_fields", ())
    if name in fields:
        return x_bar[fields.index(name)]
    if _is_computed(x, name):
        _of_receiver(x, None, name)
        return {"__self__": x_bar, "__func__": None}
    if name == CONTENTS and x_bar and not _is_by_attributes(x_bar, x):
        x_bar = parts_of_gradient(x_bar)
    item = x_bar.get(name) if isinstance(x_bar, dict) else getattr(x_bar, name, None)
    return zeros(attribute(x, name)) if item is None else item


def _is_by_attributes(x_bar: Any, x: Any) -> bool:
    """Whether this is the derivative of an object by its attributes, no vector of the user's that looks like it."""
    if isinstance(x_bar, OfAttributes):
        return True
    return type(x_bar) is dict and (CONTENTS in x_bar or x_bar.keys() <= own_dictionary(x).keys())


def attribute(x: Any, name: str) -> Any:
    """An attribute of an object, its contents among them."""
    return contents(x) if name == CONTENTS else getattr(x, name)
