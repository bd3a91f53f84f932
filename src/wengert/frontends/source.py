"""Python source → IR: the front end's two entrances, whole functions and rows of the rule table."""

from __future__ import annotations

import ast
import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from ..errors import BadArgument, NoSource
from ..ir.builder import Builder
from ..ir.graph import Atom, Const, Function, Input, Var
from ..ir.types import UNKNOWN, Kind, Static, Struct
from .calls import call, closure_of, inline
from .interpreter import Diverges, Interpreter, NeedsCallee, Reading, fresh
from .signature import Template
from .sources import source_of
from .values import Items, Value, flatten, kind_of_value

Specials = Mapping[int, Callable[..., Value]]


class Program(NamedTuple):
    """What reading a function gives."""

    function: Function
    guards: tuple[tuple[Any, str, Kind], ...]
    """Globals it relied on: (holder, key, the kind or identity it had)."""


def read(
    target: Kind,
    arguments: Sequence[tuple[str, Kind]],
    keywords: Mapping[str, Kind],
    *,
    specials: Specials,
    derivative: Callable[..., Value],
    opted_out: Callable[[Any], bool],
) -> Program:
    """The IR of a call of a function on arguments of some kinds.

    Args:
        target: the kind of the function itself (`signature.kind_of`).
        arguments: name and kind of every positional argument.
        keywords: the kinds of the keyword arguments.
        specials: how to read calls of wengert's own functions.
        derivative: how to read a call of a derivative function.
        opted_out: whether a function's code is to be read although it has a rule.
    """
    separate: set[Any] = set()
    while True:
        reading = Reading(
            separate=separate, specials=specials, derivative=derivative, opted_out=opted_out
        )
        try:
            return _read_once(reading, target, arguments, keywords)
        except NeedsCallee:
            separate = reading.separate


def _read_once(
    reading: Reading,
    target: Kind,
    arguments: Sequence[tuple[str, Kind]],
    keywords: Mapping[str, Kind],
) -> Program:
    it = Interpreter(reading)
    function, inputs = _target(target)
    positional = [fresh(kind, name) for name, kind in arguments]
    named = {name: fresh(kind, name) for name, kind in keywords.items()}
    inputs += [Input(name, kind) for name, kind in arguments]
    inputs += [Input(name, kind, "keyword") for name, kind in keywords.items()]
    params = _vars([function, *positional, *named.values()])
    it.reading.inputs = [*params, *_containers([function, *positional, *named.values()])]
    if isinstance(function, Items) and function.form == "function":
        captured = zip(function.keys, function.values, strict=True)
        it.reading.captured = {
            leaf: (function.type, name) for name, value in captured for leaf in flatten(value)
        }
    try:
        with _top_frame(it, target):
            result = call(it, function, positional, named)
            outs, kind = _outs(it, result)
    except Diverges:
        outs, kind = (Const(None),), UNKNOWN  # it always raises
    body = it.builder.block(params, outs)
    return Program(
        Function(_name_of(target), tuple(inputs), body, kind), tuple(reading.guards.values())
    )


def _top_frame(it: Interpreter, target: Kind) -> Any:
    from contextlib import contextmanager

    from .interpreter import Frame
    from .values import Closure, Scope

    @contextmanager
    def frame() -> Any:
        node = ast.parse("lambda: 0", mode="eval").body
        assert isinstance(node, ast.Lambda)
        scope = Scope({})
        it.frames.append(Frame(Closure(node, "", scope, identity=object()), scope))
        yield
        it.frames.pop()

    return frame()


def _target(target: Kind) -> tuple[Value, list[Input]]:
    """The function as a value, and the inputs it brings: captured values, or an object."""
    match target:
        case Static(value=value):
            return Const(value), []
        case Struct(form="function", keys=keys, items=items):
            values = tuple(fresh(kind, name) for name, kind in zip(keys, items, strict=True))
            inputs = [Input(n, k, "captured") for n, k in zip(keys, items, strict=True)]
            return Items("function", keys, values, target.type), inputs
        case Struct():
            return fresh(target, "self"), [Input("self", target, "captured")]
        case _:
            raise BadArgument(
                "wengert differentiates functions; this is not one it can read",
                "Pass a function, a method, or an object with a `__call__` method.",
            )


def _containers(values: Sequence[Value]) -> list[Value]:
    inside = [v for value in values if isinstance(value, Items) for v in value.values]
    containers = [value for value in values if isinstance(value, Items)]
    return [*containers, *_containers(inside)] if containers else []


def _vars(values: Sequence[Value]) -> list[Var]:
    return [atom for value in values for atom in flatten(value) if isinstance(atom, Var)]


def _outs(it: Interpreter, result: Value) -> tuple[tuple[Atom, ...], Kind]:
    kind = kind_of_value(result)
    if isinstance(kind, Static) and not isinstance(result, Const):
        result = it.atom(result)
        kind = kind_of_value(result)
    return tuple(flatten(result)), kind


def _name_of(target: Kind) -> str:
    match target:
        case Static(value=value):
            name = getattr(value, "__name__", type(value).__name__)
        case Struct(form="function", type=Template() as template):
            name = template.__name__
        case Struct(type=types.MethodType, items=(_, Struct(type=Template() as template))):
            name = template.__name__
        case Struct(type=type() as cls):
            name = cls.__name__.lower()
        case _:
            name = "function"
    return name if name.isidentifier() else "f"


# --- rows of the rule table ---------------------------------------------------------------


def read_row(
    builder: Builder,
    row: Callable[..., Any],
    args: Sequence[Atom],
    options: Mapping[str, Atom],
    namespace: str,
) -> Any:
    """Inline a rule's row: its equations go into `builder`, its result (or tuple of results) comes back."""
    assert isinstance(row, types.FunctionType)
    reading = Reading()
    it = Interpreter(reading, builder, namespace)
    closure = _row_closure(row)
    from .calls import bind_arguments

    bound = bind_arguments(it, closure, args, dict(options))
    before = builder.span
    result = inline(it, closure, bound)
    builder.span = before
    if isinstance(result, Items):
        return tuple(it.atom(value) for value in result.values)
    return it.atom(result)


@functools.lru_cache(maxsize=2048)
def _row_closure(row: types.FunctionType) -> Any:
    return closure_of(Interpreter(Reading()), row)


def parameter_names(function: Any) -> list[str]:
    """The names of a function's positional parameters, where they can be known."""
    try:
        node = source_of(function).node if isinstance(function, types.FunctionType) else None
    except NoSource:
        node = None
    if node is None:
        return []
    return [a.arg for a in (*node.args.posonlyargs, *node.args.args)]
