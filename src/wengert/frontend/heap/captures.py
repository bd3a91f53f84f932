"""Functions that leave the place where they were made: what they captured goes with them.

Inside one block a function is a closure over the scopes it was made in. Where a loop carries it to the
next iteration, or a call passes it to a function of its own, it is taken apart: what it captured are
items, as those of a container, and what makes the function of them again is its type.
"""

from __future__ import annotations

import functools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from ...ir.graph import Const, Var
from ...ir.records import replace
from ...ir.types import Static
from ..domain.values import (
    Closure,
    FunctionTemplate,
    Items,
    Maybe,
    Native,
    Scope,
    Value,
    flatten,
    is_taken_apart,
    kind_of_value,
)
from ..machine.interpreter import Interpreter
from ..syntax.declarations import free_names
from . import now, starts


def put_together(items: Items) -> Value:
    """The function that was taken apart."""
    maker: FunctionTemplate = items.type
    return maker.make(items.values)


def taken_apart(it: Interpreter, value: Value, *, everything: bool = False) -> Value:
    """A function with what it captured as items; itself, if it captured nothing that a run computes.

    The names of functions that are still running are left to them, unless `everything` is wanted.
    """
    return _Taking(it, everything).take(value)


class _Taking:
    def __init__(self, it: Interpreter, everything: bool):
        self.it = it
        self.everything = everything
        self.running = () if everything else tuple(frame.scope for frame in it.frames)
        self.inside: list[Closure] = []
        self.for_solver = False

    def take(self, value: Value) -> Value:
        match value:
            case Items() if self.everything and is_taken_apart(value):
                return self.take(put_together(value))
            case Closure():
                return self._closure(value)
            case Native() if isinstance(value.call, functools.partial):
                return self._native(value)
            case Items(form="tuple" | "list" | "dict" | "namedtuple", values=values):
                taken = [self.take(item) for item in values]
                same = all(a is b for a, b in zip(taken, values, strict=True))
                return value if same else value.holding(taken)
            case _:
                return value

    def _closure(self, closure: Closure) -> Value:
        if any(closure.node is other.node for other in self.inside):
            raise self.it.unsupported(
                f"{closure.name} calls itself by way of another function that is made anew each time",
                "Define the functions outside.",
            )
        captured = self._captured(closure)
        if not any(map(_is_computed, captured.values())):
            return closure
        outer = self._running_scope(closure.scope)
        own = [name for name, value in captured.items() if value is closure]
        names = tuple(name for name in captured if name not in own)

        def make(values: Sequence[Value]) -> Value:
            around = Scope(closure.scope.globals, outer)
            around.vars = dict(zip(names, values, strict=True))
            made = _with_defaults(replace(closure, scope=around), around.vars)
            around.vars.update(dict.fromkeys(own, made))
            return made

        key = (closure.node, names, id(outer))
        values = tuple(captured[name] for name in names)
        return Items("function", names, values, FunctionTemplate(closure.name, key, make))

    def _captured(self, closure: Closure) -> dict[str, Value]:
        self.inside.append(closure)
        captured: dict[str, Value] = {}
        for name in free_names(closure.node):
            value = self._visible(closure.scope, name)
            if isinstance(value, Closure) and _same(value, closure):
                captured[name] = closure
            elif value is not None:
                captured[name] = self.take(self._current(value, name))
        for key, default in (*enumerate(closure.defaults), *closure.keyword_defaults.items()):
            if any(isinstance(atom, Var) for atom in flatten(default)):
                captured[_name_of_default(key)] = self.take(self._now(default))
        self.inside.pop()
        return captured

    def _current(self, value: Value, name: str) -> Value:
        if isinstance(value, Items) and value.form == "cell":
            raise self.it.unsupported(
                f"a function that binds `{name}` of the function around it is kept for later",
                "Keep the value in an object or a list.",
            )
        return self._now(self.it.checked(value, name) if isinstance(value, Maybe) else value)

    def _now(self, value: Value) -> Value:
        before = self.it.heap
        if self.for_solver:
            self.it.heap = before | starts(self.it)
        try:
            return now(self.it, value)
        finally:
            self.it.heap = before

    def _visible(self, scope: Scope | None, name: str) -> Value | None:
        while scope is not None and not any(scope is running for running in self.running):
            if name in scope.vars:
                return scope.vars[name]
            scope = scope.outer
        return None

    def _running_scope(self, scope: Scope | None) -> Scope | None:
        while scope is not None and not any(scope is running for running in self.running):
            scope = scope.outer
        return scope

    def _native(self, native: Native) -> Value:
        call = native.call
        assert isinstance(call, functools.partial)
        leaves: list[Value] = []
        shape = _shape(call.args, leaves)
        before, self.for_solver = self.for_solver, self.for_solver or native.for_solver
        taken = tuple(self.take(self._now(leaf)) for leaf in leaves)
        self.for_solver = before
        if not any(map(_is_computed, taken)):
            return native

        def make(values: Sequence[Value]) -> Value:
            args = _filled(shape, iter(values))
            return replace(native, call=functools.partial(call.func, *args))

        key = (native.name, call.func, _hashable(shape))
        return Items(
            "function", tuple(range(len(taken))), taken, FunctionTemplate(native.name, key, make)
        )


def _name_of_default(key: int | str) -> str:
    return f"default {key}"


def _with_defaults(closure: Closure, values: Mapping[str, Value]) -> Closure:
    """A function whose defaults are those among what it took along."""
    positional = [values.get(_name_of_default(k), d) for k, d in enumerate(closure.defaults)]
    named = {k: values.get(_name_of_default(k), d) for k, d in closure.keyword_defaults.items()}
    return replace(closure, defaults=tuple(positional), keyword_defaults=named)


def _same(a: Closure, b: Closure) -> bool:
    return a.node is b.node and a.scope is b.scope


def _is_computed(value: Value) -> bool:
    """Whether something in a value is known only when the program runs."""
    match value:
        case Var():
            return True
        case Items(values=values):
            return any(map(_is_computed, values)) or value.home is not None
        case Const():
            return not isinstance(kind_of_value(value), Static)
        case _:
            return False


_LEAF = object()


def _shape(args: Any, leaves: list[Value]) -> Any:
    """The arguments of a native function, with the values among them taken out."""
    match args:
        case Var() | Const() | Items() | Closure() | Native():
            leaves.append(args)
            return _LEAF
        case list() | tuple():
            return tuple(_shape(item, leaves) for item in args)
        case dict():
            return {key: _shape(item, leaves) for key, item in args.items()}
        case _:
            return args


def _filled(shape: Any, values: Any) -> Any:
    if shape is _LEAF:
        return next(values)
    if isinstance(shape, tuple):
        return tuple(_filled(item, values) for item in shape)
    if isinstance(shape, dict):
        return {key: _filled(item, values) for key, item in shape.items()}
    return shape


def _hashable(shape: Any) -> Hashable:
    if isinstance(shape, tuple):
        return tuple(map(_hashable, shape))
    if isinstance(shape, dict):
        return tuple((key, _hashable(item)) for key, item in shape.items())
    return shape if isinstance(shape, (str, int)) else id(shape)
