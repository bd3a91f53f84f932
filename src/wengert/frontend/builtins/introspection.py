"""`inspect`: what a function takes is known when the program is read, who called it is not."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Mapping, Sequence
from types import FunctionType, MethodType
from typing import Any

from ...ir.graph import Const
from ..boundary.templates import Template
from ..classes import class_lookup, instances
from ..classes.bound_methods import receiver_of
from ..domain.arguments import is_star
from ..domain.values import (
    Args,
    Closure,
    Items,
    Kwargs,
    Native,
    Value,
    as_known,
    is_object,
    list_of,
    tuple_of,
)
from ..heap.current import opened
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..objects import function_parts
from ..polyfills.stdlib.inspect import BoundArguments

OF_FRAMES = {
    "inspect": ("currentframe", "stack", "trace", "getouterframes", "getinnerframes", "getframeinfo"),
    "sys": ("_getframe", "_current_frames"),
    "traceback": ("extract_stack", "format_stack", "print_stack", "walk_stack"),
}  # fmt: skip
"""Functions, by module, that look at what runs: the frames of a derivative are others than the program's."""


def handler(module: str, known: Any) -> Any:
    """How a function of `inspect`, or of another module, is read that asks about functions; None of others."""
    name = getattr(known, "__name__", "")
    if isinstance(known, MethodType):
        how = name if isinstance(known.__self__, inspect.Signature) else ""
        return functools.partial(bind, known) if how in ("bind", "bind_partial") else None
    return refuse_frames if name in OF_FRAMES[module] else _HANDLERS.get((module, name))


def refuse_frames(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    raise it.unsupported(
        "the frames of the running program are asked for: a derivative runs in others",
        "Pass on what is wanted of the caller, its name, say.",
    )


def signature(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`inspect.signature`."""
    return Const(_signature_of(it, _only(it, args, kwargs)))


def full_argspec(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`inspect.getfullargspec`, which follows no `__wrapped__` and keeps `self` of a bound method."""
    value = opened(it, _only(it, args, kwargs))
    method = _parts_of_method(value)
    function = value if method is None else opened(it, method[1])
    python = _as_python_function(function)
    if python is None:
        raise _unknown(it, "inspect.getfullargspec")
    found = inspect.getfullargspec(python)
    values = tuple(
        list_of(*map(Const, each)) if isinstance(each, list) else as_known(each) for each in found
    )
    return Items("namedtuple", found._fields, values, inspect.FullArgSpec)


def _only(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) != 1 or kwargs:
        raise _unknown(it, "inspect.signature")
    return args[0]


def _unknown(it: Interpreter, name: str) -> Exception:
    return it.unsupported(
        f"`{name}` of a function that the program makes or chooses",
        "Name the parameters: it is known which they are when the program is written.",
    )


def _signature_of(it: Interpreter, value: Value) -> inspect.Signature:
    value = opened(it, value)
    method = _parts_of_method(value)
    if method is not None:
        return _without_first(_signature_of(it, method[1]))
    if is_object(value):
        own = class_lookup.own_method(value.type, "__call__")  # type: ignore[union-attr]
        if own is not None:
            return _without_first(_found(it, own))
    if isinstance(value, Native) and value.name == "partial":
        return _of_partial(it, value)
    if isinstance(value, Const):
        return _found(it, value.value)
    python = _as_python_function(value, "__wrapped__", "__signature__")
    if python is not None:
        return _found(it, python)
    if isinstance(value, Closure):
        wrapped = value.wraps
        return _of_source(it, value) if wrapped is None else _signature_of(it, wrapped)
    if instances.lacks(it, value, "__call__"):
        raise_now(it, TypeError, f"{instances.name_of_class(it, value)} is not a callable object")
    raise _unknown(it, "inspect.signature")


def _found(it: Interpreter, function: Any) -> inspect.Signature:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError) as error:
        raise_now(it, type(error), str(error))


def _as_python_function(value: Value, *asked: str) -> FunctionType | None:
    """The function itself, or one that takes the same and has the same in some attributes."""
    match value:
        case Const(value=FunctionType() as function):
            return function
        case Closure(function=FunctionType() as function):
            return function
        case Items(form="function", type=Template() as template):
            for name in asked:
                function_parts.known_as(template, name)
            return template.function
        case _:
            return None


def _parts_of_method(value: Value) -> tuple[Value, Value] | None:
    if isinstance(value, Items) and value.type is MethodType:
        return value["__self__"], value["__func__"]
    if isinstance(value, Const) and isinstance(value.value, MethodType):
        return Const(value.value.__self__), Const(value.value.__func__)
    return receiver_of(value)


def _without_first(found: inspect.Signature) -> inspect.Signature:
    first, *others = found.parameters.values()
    kept = [first, *others] if first.kind is first.VAR_POSITIONAL else others
    return found.replace(parameters=kept)


def _of_partial(it: Interpreter, partial: Native) -> inspect.Signature:
    """The signature of a partial function, whose keywords are defaults from then on."""
    assert isinstance(partial.call, functools.partial)
    function, before, named = partial.call.args
    if not all(isinstance(value, Const) for value in named.values()):
        raise _unknown(it, "inspect.signature")
    inner = _signature_of(it, function)

    def stands_for() -> None: ...

    stands_for.__signature__ = inner  # type: ignore[attr-defined]
    keywords = {name: value.value for name, value in named.items()}
    return _found(it, functools.partial(stands_for, *[None] * len(before), **keywords))


def _of_source(it: Interpreter, closure: Closure) -> inspect.Signature:
    """The signature of a function that the program makes, where its defaults are constants."""
    given = closure.node.args
    named = [*given.posonlyargs, *given.args]
    every = [*named, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    defaults = {
        **dict(zip((each.arg for each in named[::-1]), closure.defaults[::-1], strict=False)),
        **closure.keyword_defaults,
    }
    if not all(isinstance(each, Const) for each in defaults.values()):
        raise _unknown(it, "inspect.signature")
    returns = getattr(closure.node, "returns", None)
    if returns is not None or any(each.annotation is not None for each in every):
        raise _unknown(it, "inspect.signature")
    known = {name: value.value for name, value in defaults.items() if isinstance(value, Const)}
    kinds = inspect.Parameter
    groups: list[tuple[Sequence[ast.arg], Any]] = [
        (given.posonlyargs, kinds.POSITIONAL_ONLY),
        (given.args, kinds.POSITIONAL_OR_KEYWORD),
        ([given.vararg] if given.vararg else [], kinds.VAR_POSITIONAL),
        (given.kwonlyargs, kinds.KEYWORD_ONLY),
        ([given.kwarg] if given.kwarg else [], kinds.VAR_KEYWORD),
    ]
    return inspect.Signature(
        [
            kinds(each.arg, kind, default=known.get(each.arg, kinds.empty))
            for group, kind in groups
            for each in group
        ]
    )


def bind(bound: MethodType, it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`signature.bind(*args, **kwargs)`: which parameter gets which value."""
    if any(map(is_star, args)):
        raise _unknown(it, f"inspect.Signature.{bound.__name__}")
    values = dict(enumerate((*args, *kwargs.values())))
    named = dict(zip(kwargs, range(len(args), len(values)), strict=True))
    try:
        found = bound(*range(len(args)), **named).arguments
    except TypeError as error:
        raise_now(it, TypeError, str(error))
    arguments = Items(
        "dict", tuple(found), tuple(_bound_to(each, values) for each in found.values())
    )
    return it.call(Const(BoundArguments), [Const(bound.__self__), arguments], {})


def _bound_to(found: Any, values: Mapping[int, Value]) -> Value:
    if isinstance(found, tuple):
        return tuple_of(*(values[k] for k in found))
    if isinstance(found, dict):
        return Items("dict", tuple(found), tuple(values[k] for k in found.values()))
    return values[found]


_HANDLERS = {("inspect", "signature"): signature, ("inspect", "getfullargspec"): full_argspec}
