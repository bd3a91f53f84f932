"""What is read for a derivative: a function, or a verb that is written in Python over the others."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ..frontend import read as source
from ..frontend.domain.values import Value
from ..frontend.machine.interpreter import Interpreter
from ..intrinsics.steering import is_differentiating
from ..ir.graph import Function, Input
from ..ir.records import replace
from ..ir.types import Struct
from ..passes.checks.deferral import refused_when_run
from ..passes.checks.dominance import refuse_out_of_sight
from ..passes.checks.keep_raising import with_all_evaluated
from ..passes.simplify.dtype_narrowing import with_dtypes_checked
from ..rules import registry as rules
from . import keys
from .calling import Call
from .wanted import Verb


def applied(verb: Verb, call: Call) -> Call:
    """The call that is read: that of the function, or of a verb that is written in Python over the others."""
    if verb.written is None:
        return call
    return replace(call, target=Struct("derivative", ("function",), (call.target,), verb))


def as_written(verb: Verb, call: Call, program: source.Program) -> source.Program:
    """A verb that is written in Python, with the inputs of the function that it is applied to."""
    made = program.function
    match call.target:
        case Struct(form="function", keys=keys, items=items):
            captured = tuple(Input(n, k, "captured") for n, k in zip(keys, items, strict=True))
        case Struct():
            captured = (Input("self", call.target, "captured"),)
        case _:
            captured = ()
    written = getattr(verb.written, "__name__", "derivative").lstrip("_")
    name = getattr(getattr(call.target, "type", None), "__name__", None) or "f"
    name = name if name.isidentifier() else "f"
    made = replace(made, name=f"{written}_{name}", inputs=(*captured, *made.inputs[1:]))
    return replace(program, function=made)


def special_of(function: Any) -> Callable[..., Value] | None:
    """How to read a call of a function, where it is one of wengert's own."""
    if not isinstance(function, types.FunctionType) or not _is_ours(function):
        return None
    from ..intrinsics.nested import handler_of

    return handler_of(function)


def special_where_run(function: Any) -> Callable[..., Value] | None:
    """The same for a program that is to be run, where nobody differentiates it."""
    return _refuse_to_say if function is is_differentiating else special_of(function)


def _refuse_to_say(it: Interpreter, *call: Any) -> Value:
    """Leave the question whether somebody differentiates to the program itself, derivatives in it aside."""
    raise it.unsupported(
        "whether this is being differentiated is known only when it runs as Python",
        "Call `wg.is_differentiating` in what is differentiated.",
    )


def _is_ours(function: types.FunctionType) -> bool:
    return (function.__module__ or "").partition(".")[0] == __name__.partition(".")[0]


def read(
    call: Call,
    special: source.Special = special_of,
    opted_out: Callable[[Any], bool] = rules.opted_out,
) -> source.Program:
    """The IR of a call.

    Args:
        call: the function, and the kinds of its arguments.
        special: how calls of wengert's own functions are read.
        opted_out: whether the code of a function is read although it has a rule, by its op.
    """
    return checked_program(call, read_source(call, special, opted_out, {}))


def read_source(
    call: Call, special: source.Special, opted_out: Callable[[Any], bool], likes: keys.Likes
) -> source.Program:
    return source.read(
        call.target,
        call.arguments,
        dict(call.keywords),
        narrow=call.narrow,
        defers=call.defers,
        special=special,
        derivative=_read_derivative,
        opted_out=opted_out,
        likes=likes,
    )


def checked_program(call: Call, program: source.Program) -> source.Program:
    """A program that computes what may raise, although nothing reads it."""

    def checked(function: Function) -> Function:
        refuse_out_of_sight(function)
        return with_dtypes_checked(with_all_evaluated(function))

    with source.relying_on(program.guards):
        function = refused_when_run(program.function, checked, defers=call.defers)
    function = replace(function, narrow=call.narrow)
    return replace(program, function=function)


def _read_derivative(*call: Any) -> Value:
    """How to read a call of a derivative function inside a program."""
    from ..intrinsics.nested import derivative

    return derivative(*call)
