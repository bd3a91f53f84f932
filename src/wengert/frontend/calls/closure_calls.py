"""Calls of functions whose source is known: by a rule, inlined, or by themselves where they recurse."""

from __future__ import annotations

import ast
import contextlib
import functools
import types
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import UnsupportedSyntax
from ...ir.graph import Const
from ...ir.op import Op
from ...ir.types import Static
from ...ops import registry as ops
from ...ops.program import may_raise
from ...ops.program.refusals import REFUSALS
from ...rules.registry import rule_for
from ..domain.values import Closure, Items, Maybe, Scope, Value, is_mutable, kind_of_value
from ..functions.binding import bind_arguments
from ..functions.closures import is_manager_function
from ..heap import cells
from ..machine.interpreter import Interpreter
from ..machine.session import Frame, NeedsCallee, strictly
from ..syntax.declarations import yields
from . import remembering, separate

INLINE_NODES = 400
"""A function whose syntax tree is larger than this is called, not inlined."""


def call_closure(
    it: Interpreter, closure: Closure, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """Call a function whose source is known: by its rule, inlined, or called where it recurses."""
    found = op_with_rule(it, closure.function)
    if found is not None:
        return it.emit_op(*found, args, kwargs)
    if closure.file == contextlib.__file__ and is_manager_function(closure):
        return it.manager_of(closure, args, kwargs)
    if closure.scope.memory_of is not None:
        return remembering.call_remembering(it, closure, args, kwargs)
    bound = bind_arguments(it, closure, args, kwargs)
    if yields(closure.node) and closure.identity not in it.reading.separate:
        return it.generator_of(closure, bound)
    if closure.identity in it.reading.separate:
        return separate.call_separately(it, closure, bound)
    if recurs(it, closure, bound):
        it.reading.separate.add(closure.identity)
        raise NeedsCallee
    if it.frames and _is_large(it, closure) and _can_be_separate(it, closure, bound):
        return _call_large(it, closure, bound)
    return inline(it, closure, bound)


def op_with_rule(it: Interpreter, function: Any) -> tuple[Op, str] | None:
    """The op for a function that has a rule."""
    found = ops.find(function) if function is not None else None
    if found is None or it.reading.opted_out(found[0]):
        return None
    return found if rule_for(found[0]) is not None else None


DEEPEST = 16
"""How often a function calls itself inline, on one known object after the other."""


def recurs(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> bool:
    """Whether a function calls itself on what it was called with, as far as that is known.

    What differs from call to call is known where it walks over objects whose structure is known.
    """
    active = [frame for frame in _callers(it) if _same_function(frame.closure, closure)]
    if len(active) > DEEPEST:
        return True
    return any(
        frame.bound.keys() == bound.keys()
        and all(_may_be_same(it, frame.bound[name], value) for name, value in bound.items())
        for frame in active
    )


def _callers(it: Interpreter) -> list[Frame]:
    """The functions that wait for the one that runs: none that waits for its consumer at a `yield`."""
    found: list[Frame] = []
    k = len(it.frames)
    while k:
        found.append(it.frames[k - 1])
        k = next(j for j, frame in enumerate(it.frames) if frame is found[-1])
    return found


def _may_be_same(it: Interpreter, a: Value, b: Value) -> bool:
    match a, b:
        case Const(value=x), Const(value=y):
            return isinstance(x, (int, float, complex)) or x == y
        case Items() as x, Items() as y:
            if is_mutable(x) and is_mutable(y):
                return x is y or x.home is not None or y.home is not None or x.place is y.place
            pairs = zip(x.values, y.values, strict=False)
            return x.keys == y.keys and all(_may_be_same(it, *pair) for pair in pairs)
        case (Const(), Items()) | (Items(), Const()):
            return False
        case _:
            return True


def _same_function(a: Closure, b: Closure) -> bool:
    """Whether two closures are one function; two made by the same `lambda` are not."""
    if a.identity is not b.identity:
        return False
    return a.scope is b.scope or (
        isinstance(a.identity, types.CodeType) and a.function is b.function
    )


def _is_large(it: Interpreter, closure: Closure) -> bool:
    return _size(closure.node) > INLINE_NODES and not it.only_asks


def _can_be_separate(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> bool:
    """Whether nothing is lost by calling a function: functions, objects, what a handler would see."""
    if closure.identity in it.reading.inlined or it.catching.may_see(may_raise.ANYTHING):
        return False
    if any(isinstance(given, tuple) and given[0] is closure.identity for given in it.reading.whole):
        return False
    return not any(isinstance(kind_of_value(v), Static) for v in bound.values())


def _call_large(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> Value:
    """Call a function by itself, to read it once; inline it where more than a call must be known.

    Raises:
        NeedsCallee: it cannot be called by itself, and is inlined when the program is read again.
    """
    try:
        with strictly(it.reading):
            return separate.call_separately(it, closure, bound, steered=True)
    except REFUSALS as refusal:
        if not (isinstance(refusal, UnsupportedSyntax) or it.reading.defers):
            raise
        it.reading.inlined.add(closure.identity)
        raise NeedsCallee from None


@functools.lru_cache(maxsize=1024)
def _size(node: ast.AST) -> int:
    return sum(1 for _ in ast.walk(node))


def inline(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> Value:
    """Run a function's body here and give its result."""
    if yields(closure.node):
        return it.items_of_generator(closure, bound)
    scope = Scope(closure.scope.globals, closure.scope)
    scope.vars = dict(bound)
    cells.enter(it, closure, scope)
    with it.activation(closure, scope, bound):
        if isinstance(closure.node, ast.Lambda):
            return it.evaluate(closure.node.body)
        scope.vars["%returned"] = Const(False)
        it.execute(closure.node.body)
        return returned(it)


def returned(it: Interpreter) -> Value:
    """What the current function gives."""
    flag = it.flag("%returned")
    if flag == Const(False):
        return Const(None)
    value = it.get("%return")
    assert value is not None
    inner = value.value if isinstance(value, Maybe) else value
    if flag == Const(True):
        return it.as_met(inner)
    return it.choose(flag, lambda: inner, lambda: Const(None))
