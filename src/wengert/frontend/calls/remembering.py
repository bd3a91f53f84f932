"""`functools.cache` and `lru_cache`: results that are remembered by the arguments.

A call with the same arguments gives the very result of the first. A function that recurses, or does more
than give a result, keeps its results in a dictionary when the program runs, so that it runs no more often
than in Python; its keys are the arguments that have no derivative, if the others stay the same from call to
call.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...ir.graph import Const, Eqn, Var, births, walk
from ...ir.records import record, replace
from ...ir.types import INT, Other, Static
from ...ops import structure as st
from ..domain.values import (
    REMEMBERED,
    Args,
    Closure,
    Items,
    Kwargs,
    Native,
    ObjectId,
    Scope,
    Value,
    is_mutable,
    kind_of_value,
)
from ..functions.binding import bind_arguments
from ..functions.closures import closure_of
from ..heap import Heap, identities, now, place_of
from ..heap.sharing import reached_from
from ..machine.interpreter import Interpreter
from ..machine.session import NeedsCallee


@record
class _Memory:
    """What stands for a local function that remembers its results."""

    builder: Any
    """The block in which it was made."""


def decorator(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`lru_cache(maxsize=…)`, or `cache(f)` and `lru_cache(f)` themselves."""
    if not args or not (isinstance(args[0], Closure) or _is_function(args[0])):
        return Native("lru_cache", lambda it, inner, named: decorator(it, inner, {}))
    function = args[0]
    closure = function if isinstance(function, Closure) else closure_of(it, function.value)  # type: ignore[union-attr]
    return replace(closure, scope=_with_new_memory(closure.scope, _Memory(it.builder)))


def _with_new_memory(around: Scope, function: Any) -> Scope:
    """A scope in which a function remembers its results; `function` stands for it."""
    scope = Scope(around.globals, around)
    scope.vars[REMEMBERED] = Items("dict", (), ())
    scope.memory_of = function
    return scope


def _memory_of_program(it: Interpreter, around: Scope, function: Any) -> Scope:
    """Where the program remembers the results of a function that was there before it."""
    if function not in it.reading.memories:
        scope = it.reading.memories[function] = _with_new_memory(around, function)
        scope.vars[REMEMBERED] = Items("dict", (), (), born=0)  # no branch or loop has made it
    return it.reading.memories[function]


def _is_function(value: Value) -> bool:
    return isinstance(value, Const) and callable(value.value)


def call_remembering(it: Interpreter, closure: Closure, args: Args, kwargs: Kwargs) -> Value:
    """Call a local function that remembers its results."""
    return _call(it, closure, args, kwargs)


def call_remembered(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    """Call what `functools.lru_cache` has made of a function that is known."""
    closure = closure_of(it, known.__wrapped__)
    scope = _running_memory(it, known) or _memory_of_program(it, closure.scope, known)
    return _call(it, replace(closure, scope=scope), args, kwargs)


def _call(it: Interpreter, closure: Closure, args: Args, kwargs: Kwargs) -> Value:
    bound = bind_arguments(it, closure, args, kwargs)
    plain = replace(closure, scope=_around_memory(closure.scope))
    recurs, acts = (closure.identity in known for known in (it.reading.separate, it.reading.acting))
    names = _keys(it, closure, bound) if recurs or acts else None
    if not recurs and (names is None or len(names) < len(bound)):
        return _first_result(it, plain, closure.scope.memory_of, bound, args, kwargs)
    if names is None:
        _refuse_within_memory(it, closure)
        return it.call_closure(plain, args, kwargs)
    scope = closure.scope if len(names) == len(bound) else _memory_of_this_call(it, closure.scope)
    made = replace(closure, node=_with_memory(closure.node, names), scope=scope)
    return it.call_closure(made, args, kwargs)


def _memory_of_this_call(it: Interpreter, scope: Scope) -> Scope:
    """The memory of a recursion whose arguments are no keys, but the same in all of its calls."""
    running = _running_memory(it, scope.memory_of)
    return running or _with_new_memory(_around_memory(scope), scope.memory_of)


def _running_memory(it: Interpreter, function: Any) -> Scope | None:
    """Where a function that is running remembers its results."""
    scopes = (f.closure.scope for f in reversed(it.frames) if has_memory(f.closure.node))
    return next((scope for scope in scopes if scope.memory_of is function), None)


def _refuse_within_memory(it: Interpreter, closure: Closure) -> None:
    """Refuse a recursion that was found to need other keys than the call that it is inside of."""
    for frame in it.frames:
        if frame.closure.identity is closure.identity and has_memory(frame.closure.node):
            raise it.unsupported(
                f"{closure.name} remembers its results by arguments of unknown kind",
                "Specialise the derivative for example arguments, so that whole numbers are known as such.",
            )


def _around_memory(scope: Scope) -> Scope:
    return scope if scope.outer is None else scope.outer


# --- one result for the same arguments ------------------------------------------------------


def _first_result(
    it: Interpreter,
    closure: Closure,
    function: Any,
    bound: Mapping[str, Value],
    args: Args,
    kwargs: Kwargs,
) -> Value:
    """What the first call with these very arguments gave."""
    key = (function, tuple(_key_of(it, value) for value in bound.values()))
    held = {place: it.heap.get(place) for place in _places(it, bound.values())}
    known = it.reading.remembered.get(key)
    if known is not None:
        result, builder, written, before = known
        if _is_visible(it, builder, written):
            return now(it, result)
        if any(held[place] is not content for place, content in before.items()):
            raise it.unsupported(
                f"{closure.name} remembers a result that it gave on one path of the program only",
                "Call it before the `if` or the loop, and keep the result under a name.",
            )
    start, heap, eqns = next(births), dict(it.heap), len(it.builder.eqns)
    result = it.call_closure(closure, args, kwargs)
    if _acts(it, start, heap, it.builder.eqns[eqns:]):
        _remember_at_run_time(it, closure, function)
    if it.builder is not _home(it, function):
        it.reading.detached |= _made_since(it, result, start)
    it.reading.remembered[key] = result, it.builder, tuple(it.builder.eqns[-1:]), held
    return result


def _remember_at_run_time(it: Interpreter, closure: Closure, function: Any) -> None:
    """A function has been found to do more than give a result: it may not run more often than in Python.

    Raises:
        NeedsCallee: the program is read again, with a dictionary of its results.
    """
    if closure.identity not in it.reading.acting:
        it.reading.acting.add(closure.identity)
        raise NeedsCallee
    if it.builder is not _home(it, function):
        raise it.unsupported(
            f"{closure.name} remembers its results by arguments that may have a derivative, and changes something "
            "whenever it runs",
            "Call it before the `if` or the loop, or let it change nothing.",
        )


def _acts(it: Interpreter, start: int, before: Heap, eqns: Sequence[Eqn]) -> bool:
    """Whether a call has changed an object that was there before it, or has an effect that the world sees."""
    if any(it.heap[p] is not before.get(p) for p in it.heap if p.born <= start):
        return True
    inside = (each for eqn in eqns for each in (eqn, *(e for b in eqn.blocks for e in walk(b))))
    return any(eqn.op is st.opaque for eqn in inside)


def _home(it: Interpreter, function: Any) -> Any:
    """The block of the program in which a function was told to remember its results."""
    return function.builder if isinstance(function, _Memory) else it.reading.root


def _made_since(it: Interpreter, result: Value, start: int) -> set[ObjectId]:
    """The known objects that a result is, or holds, if the call has made them."""
    found = (v for v in reached_from(result) if isinstance(v, Items) and is_mutable(v))
    return {place for each in found for place in (place_of(it, each),) if place.born > start}


def _places(it: Interpreter, values: Iterable[Value]) -> set[Any]:
    return set[Any]().union(
        *(identities(it, v, own=True) for v in values if isinstance(v, Items) and is_mutable(v))
    )


def _key_of(it: Interpreter, value: Value) -> Any:
    if isinstance(value, Items) and is_mutable(value):
        return frozenset(identities(it, value, own=True))
    if isinstance(value, Items):
        return value.form, value.keys, tuple(_key_of(it, item) for item in value.values)
    return value if isinstance(value, (Const, Var)) else id(value)


def _is_visible(it: Interpreter, builder: Any, written: Sequence[Any]) -> bool:
    """Whether a value that was computed in a block can be used here."""
    here = it.builder
    while here is not None and here is not builder:
        here = here.parent
    if here is None:
        return False
    return not written or any(eqn is written[0] for eqn in here.eqns)


# --- functions that recurse -----------------------------------------------------------------


def _keys(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> tuple[str, ...] | None:
    """The arguments that tell one result from another; None if numbers with a derivative do."""
    if closure.node.args.vararg is not None or closure.node.args.kwarg is not None:
        return None
    names = tuple(name for name, value in bound.items() if _is_key(value))
    for frame in it.frames:
        if frame.closure.identity is not closure.identity:
            continue
        for name, value in bound.items():
            if name not in names and _key_of(it, frame.bound[name]) != _key_of(it, value):
                return None
    return names


def _is_key(value: Value) -> bool:
    """Whether an argument is one that has no derivative."""
    kind = kind_of_value(value)
    return kind == INT or isinstance(kind, (Other, Static))


def has_memory(node: ast.AST) -> bool:
    return getattr(node, "remembers", False)


@functools.lru_cache(maxsize=256)
def _with_memory(node: ast.FunctionDef | ast.Lambda, keys: tuple[str, ...]) -> ast.FunctionDef:
    """The syntax of a function that looks its result up before it computes it."""
    spec = node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args, *spec.kwonlyargs)]
    lambda_ = isinstance(node, ast.Lambda)
    body: list[ast.stmt] = [ast.Return(node.body)] if lambda_ else list(node.body)
    parameters = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    text = f"""\
def f():
    key = ({"".join(f"{key}, " for key in keys)})
    if key in {REMEMBERED}:
        return {REMEMBERED}[key]
    value = compute({", ".join(names)})
    {REMEMBERED}[key] = value
    return value
"""
    (made,) = ast.parse(text).body
    assert isinstance(made, ast.FunctionDef)
    for each in ast.walk(made):
        if isinstance(each, ast.Name) and each.id in ("key", "value", "compute"):
            each.id = f"%{each.id}"
        if hasattr(each, "lineno"):
            ast.copy_location(each, node)
    compute = ast.FunctionDef("%compute", parameters, body, [], None)
    made.body.insert(2, ast.copy_location(compute, node))
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    whole = ast.copy_location(ast.FunctionDef(name, spec, made.body, [], None), node)
    whole.remembers = True  # type: ignore[attr-defined]
    return whole
