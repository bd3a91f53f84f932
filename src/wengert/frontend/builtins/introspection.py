"""`inspect`: what a function takes is known when the program is read, who called it is not."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ...ir.graph import Const
from ..domain.values import Args, Closure, Items, Kwargs, Value, as_known, list_of
from ..heap.current import opened
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter

OF_FRAMES = {
    "inspect": ("currentframe", "stack", "trace", "getouterframes", "getinnerframes", "getframeinfo"),
    "sys": ("_getframe", "_current_frames"),
    "traceback": ("extract_stack", "format_stack", "print_stack", "walk_stack"),
}  # fmt: skip
"""Functions, by module, that look at what runs: the frames of a derivative are others than the program's."""


def handler(module: str, known: Any) -> Any:
    """How a function of `inspect`, or of another module, is read that asks about functions; None of others."""
    name = getattr(known, "__name__", "")
    if isinstance(getattr(known, "__self__", None), inspect.Signature):
        return refuse_binding
    return refuse_frames if name in OF_FRAMES[module] else _HANDLERS.get((module, name))


def refuse_frames(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    raise it.unsupported(
        "the frames of the running program are asked for: a derivative runs in others",
        "Pass on what is wanted of the caller, its name, say.",
    )


def refuse_binding(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    raise it.unsupported(
        "which parameter gets which value is asked of a signature, which is not read",
        "Name the parameters: it is known which they are when the program is written.",
    )


def signature(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`inspect.signature`."""
    return Const(_asked_of_function(it, inspect.signature, args, kwargs))


def full_argspec(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`inspect.getfullargspec`."""
    spec = _asked_of_function(it, inspect.getfullargspec, args, kwargs)
    values = tuple(
        list_of(*map(Const, each)) if isinstance(each, list) else as_known(each) for each in spec
    )
    return Items("namedtuple", spec._fields, values, inspect.FullArgSpec)


def _asked_of_function(
    it: Interpreter, question: Callable[[Any], Any], args: Args, kwargs: Kwargs
) -> Any:
    """The answer for a function that is there before the program runs."""
    match [opened(it, value) for value in (*args, *kwargs.values())]:
        case [Const(value=function) | Closure(function=FunctionType() as function)]:
            pass
        case _:
            raise _unknown(it, f"inspect.{question.__name__}")
    try:
        return question(function)
    except (TypeError, ValueError) as error:
        raise_now(it, type(error), str(error))


def _unknown(it: Interpreter, name: str) -> Exception:
    return it.unsupported(
        f"`{name}` of a function that the program makes or chooses",
        "Name the parameters: it is known which they are when the program is written.",
    )


_HANDLERS = {("inspect", "signature"): signature, ("inspect", "getfullargspec"): full_argspec}
