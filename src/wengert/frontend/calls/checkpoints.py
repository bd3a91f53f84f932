"""`wg.checkpoint`: of a function, of what a loop walks over, of the test of a `while`."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

from ...errors import BadArgument
from ...ir.graph import Const, Var
from ...ir.records import record
from ...ir.types import Array, Number, Seq, Unknown
from ..domain.values import Args, Closure, Items, Kwargs, LazyIterable, Native, Value
from ..machine.interpreter import Interpreter

_FUNCTIONS = ("function", "derivative")
_CONTAINERS = ("tuple", "list", "dict", "namedtuple")


@record
class Checkpoint:
    """How a call of `wg.checkpoint` is read; `call` calls a function that keeps nothing."""

    call: Callable[[Interpreter, Value, Args, Kwargs], Value]

    def __call__(self, it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        value, every = _bound(it, args, kwargs)
        function = Native("checkpoint", lambda it, args, kwargs: self.call(it, value, args, kwargs))
        if every == Const(None) and _is_function(value):
            return function
        if isinstance(value, Var) and isinstance(value.kind, Number):
            return value
        # of a value of unknown kind it turns out later what it is
        return LazyIterable("checkpoint", (value, every), function)


def _bound(it: Interpreter, args: Args, kwargs: Kwargs) -> Sequence[Value]:
    named = dict(zip(("x", "every"), args, strict=False)) | dict(kwargs)
    if len(args) > 2 or len(named) < len(args) + len(kwargs) or named.keys() - {"x", "every"}:
        raise BadArgument(
            "`checkpoint` takes a function or what a loop walks over, and `every`",
            "Write `wg.checkpoint(f)` or `for x in wg.checkpoint(xs):`.",
            it.builder.span,
        )
    every = named.get("every", Const(None))
    if isinstance(every, Const) and not _is_length(every.value):
        raise BadArgument(
            f"a loop is checkpointed every so many iterations, not every {every.value!r}",
            "Pass a whole number greater than 0, or leave `every` out.",
            it.builder.span,
        )
    return named["x"], every


def _is_length(every: Any) -> bool:
    return every is None or (isinstance(every, int) and every > 0)


def _is_function(value: Value) -> bool:
    match value:
        case Closure() | Native():
            return True
        case Items(form=form, type=type_):
            if form in _FUNCTIONS or form in _CONTAINERS:
                return form in _FUNCTIONS
            return any("__call__" in vars(base) for base in type_.__mro__)
        case Const(value=known):
            return callable(known)
        case Var(kind=kind):
            return not isinstance(kind, (Array, Seq, Number, Unknown)) and str(kind) != "range"
        case _:
            return False


def checkpointed_test(it: Interpreter, node: ast.expr) -> ast.expr | None:
    """What is tested, where the test of a `while` is `wg.checkpoint(…)`."""
    match node:
        case ast.Call(
            func=ast.Name() | ast.Attribute(value=ast.Name()), args=[tested], keywords=[]
        ):
            function: Any = it.evaluate(node.func)
            special = it.reading.special(getattr(function, "value", None))
            return tested if isinstance(special, Checkpoint) else None
        case _:
            return None
