"""Methods that are bound to an object, and what partial functions are made of."""

from __future__ import annotations

import functools

from ..domain.values import Args, Items, Kwargs, Native, Value, tuple_of
from ..machine.interpreter import Interpreter


def bound(receiver: Value, function: Value, name: str) -> Native:
    """A method of an object."""
    return Native(name, functools.partial(_call_bound, receiver, function))


def _call_bound(
    receiver: Value, function: Value, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:

    return it.call(function, [receiver, *args], kwargs)


def receiver_of(method: Value) -> tuple[Value, Value] | None:
    """The object and the function of a bound method."""
    if isinstance(method, Native) and isinstance(method.call, functools.partial):
        if method.call.func is _call_bound:
            receiver, function = method.call.args
            return receiver, function
    return None


def part_of_partial(partial: Native, name: str) -> Value:
    """`func`, `args` or `keywords` of a partial function."""
    assert isinstance(partial.call, functools.partial)
    function, before, named = partial.call.args
    if name == "func":
        return function
    if name == "args":
        return tuple_of(*before)
    return Items("dict", tuple(named), tuple(named.values()))
