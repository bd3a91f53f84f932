"""Calls of functions that are not read: they are called as they are when the program runs."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import Any

from ...errors import NoSource, UnsupportedSyntax
from ...ir.graph import Const, Var
from ...ir.types import PICTURE, Kind
from ...ops import registry as ops, structure as st
from ...rules.registry import rule_for
from ...runtime.sourceless import Sourceless, Watched
from ..data import columns
from ..domain.arguments import is_star
from ..domain.values import Args, Closure, Kwargs, Value, is_mutable
from ..functions.closures import made_alone
from ..machine.interpreter import Interpreter


def call_foreign(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    """A function that is not written in Python: fine unless a derivative must pass through it."""
    _refuse_star(it, known, args)
    op = ops.foreign(known)
    if rule_for(op) is None:
        _refuse_output(it, known, args, kwargs)
        if _may_write(known, (*args, *kwargs.values())):
            op = ops.foreign(_watched(known))
    atoms = [it.atom(arg) for arg in args]
    options = {name: it.atom(value) for name, value in kwargs.items()}
    return it.builder.emit_with(op, atoms, options, "call")


def _may_write(known: Any, given: tuple[Value, ...]) -> bool:
    """Whether compiled code is given what it could write to: ours, that of NumPy, SciPy and most of Python is known."""
    if isinstance(known, type) or not hasattr(known, "__qualname__"):
        return False
    owner = getattr(known, "__self__", None)
    module = getattr(known, "__module__", None) or type(owner).__module__
    root = module.partition(".")[0]
    is_known = root in _LEFT_ALONE or root in sys.stdlib_module_names
    return (not is_known or root in _WRITING) and any(map(is_mutable, given))


_LEFT_ALONE = frozenset(("numpy", "scipy", "wengert"))
_WRITING = frozenset(("_struct", "_io", "_ctypes", "_socket", "array", "mmap"))
"""Modules of Python's whose methods fill buffers."""


@functools.lru_cache(maxsize=1024)
def _watched(known: Any) -> Watched:
    way_out = "Say in Python what it does, or give it a rule (`@wg.rrule`)."
    return Watched(known, f"{known.__qualname__} is compiled and cannot be read", way_out)


def refuse_effect(it: Interpreter, result: Value) -> None:
    """Refuse that a function which nobody reads is called for what it does to a container of the program.

    It is given a copy, which it would change in its place.
    """
    made = it.builder.visible_definition(result) if isinstance(result, Var) else None
    if made is None or not ops.is_foreign(made.op) or rule_for(made.op) is not None:
        return
    if isinstance(made.op.implementation, Sourceless):
        return  # which is refused where anything depends on what it may do
    given = [it.builder.visible_definition(arg) for arg in made.args if isinstance(arg, Var)]
    packed = [eqn for eqn in given if eqn is not None and eqn.op is st.pack]
    if any(eqn.param("form") != "tuple" for eqn in packed):
        raise it.unsupported(
            f"{made.op.name} is called for what it does to a container, and its code cannot be read",
            "Say in Python what it does, or give it a rule (`@wg.rrule`).",
        )


def _refuse_star(it: Interpreter, known: Any, args: Args) -> None:
    if any(map(is_star, args)):
        name = getattr(known, "__name__", "a function")
        raise it.unsupported(
            f"`*` in a call of {name} needs a sequence whose length is known when the program is read",
            "Pass the items one by one, or the sequence itself.",
        )


def _refuse_output(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> None:
    """Refuse that a function which nobody reads writes its result to what it is given."""
    try:
        named = inspect.signature(known).bind_partial(*args, **kwargs).arguments
    except (TypeError, ValueError):
        named = kwargs
    for name in ("out", "output"):
        given = named.get(name, Const(None))
        if is_mutable(given):
            raise it.unsupported(
                f"{known.__name__} writes to `{name}`, and its Python cannot be read",
                "Let it give its result back.",
            )


def call_sourceless(
    it: Interpreter, known: Any, refusal: NoSource, args: Args, kwargs: Kwargs
) -> Value:
    """A function whose source cannot be found: fine unless a derivative must pass through it.

    What it may read of what the program changes, beside its arguments, nobody knows.
    """
    it.reading.unseen.append(refusal)
    message, hint, _ = refusal.findings[0]
    try:
        return call_foreign(it, _sourceless(known, message, hint), args, kwargs)
    except UnsupportedSyntax:
        raise refusal from None  # it is given what only the program can call


@functools.lru_cache(maxsize=1024)
def _sourceless(known: Any, message: str, hint: str) -> Sourceless:
    return Sourceless(known, message, hint)


def draw(it: Interpreter, function: Any, args: Args, kwargs: Kwargs) -> Value:
    """Call a function that draws: what it is given to call later has no part in the derivative."""
    args = [_called_later(arg) for arg in args]
    named = {name: _called_later(arg) for name, arg in kwargs.items()}
    return opaque(it, function, args, named, PICTURE)


def _called_later(value: Value) -> Value:
    if columns.is_column(value):
        return value["values"]
    function = made_alone(value) if isinstance(value, Closure) and value.function is None else None
    return value if function is None else Const(function)


def opaque(
    it: Interpreter, function: Any, args: Args, kwargs: Kwargs, kind: Kind | None = None
) -> Value:
    """Call a function for its effect or for a value that has no derivative."""
    _refuse_star(it, function, args)
    atoms = [it.atom(arg) for arg in (*args, *kwargs.values())]
    options = {"names": Const(tuple(kwargs))}
    called = function if isinstance(function, Var) else Const(function)
    result = it.builder.emit_with(st.opaque, (called, *atoms), options, kind=kind)
    it.reading.inert.add(result)
    return result
