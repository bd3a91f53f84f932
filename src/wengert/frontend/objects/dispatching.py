"""`functools.singledispatch` of functions that the program defines."""

from __future__ import annotations

import ast
import functools
import types
import typing
from typing import Any

from ...ir.builder import Builder
from ...ir.graph import Const
from ..domain.values import Args, Closure, Items, Kwargs, Native, Value, as_known
from ..machine.interpreter import Interpreter


class Dispatcher:
    """The functions that one name stands for: the class of the first argument chooses."""

    def __init__(self, function: Value, builder: Builder):
        self._choose: Any = functools.singledispatch(_standing_for(function))
        self._builder = builder

    def register(self, it: Interpreter, cls: Any, function: Value) -> Value:
        if it.builder is not self._builder:
            raise it.unsupported(
                "a function is registered with `singledispatch` on one path of the program",
                "Register it where the dispatching function is defined.",
            )
        self._choose.register(cls, _standing_for(function))
        return function

    def call(self, it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        run = lambda chosen: it.call(chosen.stands_for, args, kwargs)
        return it.call_dispatched(self._choose.dispatch, args[0], run)

    def attribute(self, it: Interpreter, name: str) -> Value:
        if name == "register":
            return Native(name, functools.partial(_register, self))
        raise it.unsupported(
            f"the attribute `{name}` of a function of `singledispatch` that the program defines",
            "Call it, or register functions with it.",
        )


def _standing_for(function: Value) -> Any:
    def chosen() -> None:
        """Never called."""

    chosen.stands_for = function  # type: ignore[attr-defined]
    return chosen


def single_dispatch(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`functools.singledispatch(function)`."""
    dispatcher = Dispatcher(args[0], it.builder)
    return Native("singledispatch", dispatcher.call, dispatcher)


def _register(dispatcher: Dispatcher, it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`function.register(cls)`, `function.register(cls, other)` or, of one with an annotation, `.register(other)`."""
    first, *rest = (*args, *kwargs.values())
    if rest:
        return dispatcher.register(it, _class(it, first), rest[0])
    if isinstance(first, Closure) or _is_function(first):
        return dispatcher.register(it, _class(it, _annotation(it, first)), first)
    cls = _class(it, first)
    return Native("register", lambda it, args, kwargs: dispatcher.register(it, cls, args[0]))


def _is_function(value: Value) -> bool:
    function = value.type if isinstance(value, Items) and value.form == "function" else value
    return isinstance(function, Const) and isinstance(function.value, types.FunctionType)


def _class(it: Interpreter, value: Value) -> Any:
    if isinstance(value, Const) and isinstance(value.value, (type, types.UnionType)):
        return value.value
    raise it.unsupported(
        "the class that `register` is given must be known when the program is read",
        "Name it: `@function.register(list)`.",
    )


def _annotation(it: Interpreter, function: Value) -> Value:
    """What the first parameter of a function is annotated with."""
    if isinstance(function, Const):
        hints = typing.get_type_hints(function.value)
        return as_known(next(iter(hints.values()), None))
    node = function.node if isinstance(function, Closure) else None
    first = (
        next(iter((*node.args.posonlyargs, *node.args.args)), None) if node is not None else None
    )
    annotation = None if first is None else first.annotation
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        annotation = ast.parse(annotation.value, mode="eval").body
    return Const(None) if annotation is None else it.evaluate(annotation)
