"""Methods that are bound to an object."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from .calls import call
from .values import Native, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter

Args = Sequence[Value]
Kwargs = Mapping[str, Value]


def bound(receiver: Value, function: Value, name: str) -> Native:
    """A method of an object."""
    return Native(name, functools.partial(_call_bound, receiver, function))


def _call_bound(
    receiver: Value, function: Value, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    return call(it, function, [receiver, *args], kwargs)


def receiver_of(method: Value) -> tuple[Value, Value] | None:
    """The object and the function of a bound method."""
    if isinstance(method, Native) and isinstance(method.call, functools.partial):
        if method.call.func is _call_bound:
            receiver, function = method.call.args
            return receiver, function
    return None
