"""`functools.cache` and `lru_cache`: results that are remembered by the arguments.

A call with the same arguments gives the very result of the first. A function that recurses, or does more
than give a result, is refused, and recorded: how often it runs depends on what it is called with.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from ...ir.graph import Const, Eqn, Var, births, walk
from ...ir.records import record, replace
from ...ops import structure as st
from ..domain.values import Args, Closure, Items, Kwargs, Native, ObjectId, Scope, Value, is_mutable
from ..functions.binding import bind_arguments
from ..functions.closures import closure_of
from ..heap import Heap, identities, now, place_of
from ..heap.sharing import reached_from
from ..machine.interpreter import Interpreter


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
    scope = Scope(closure.scope.globals, closure.scope)
    scope.memory_of = _Memory(it.builder)
    return replace(closure, scope=scope)


def _is_function(value: Value) -> bool:
    return isinstance(value, Const) and callable(value.value)


def call_remembering(it: Interpreter, closure: Closure, args: Args, kwargs: Kwargs) -> Value:
    """Call a local function that remembers its results."""
    around = closure.scope.outer
    assert around is not None, "`decorator` puts a scope into that of the function"
    return _call(it, replace(closure, scope=around), closure.scope.memory_of, args, kwargs)


def call_remembered(it: Interpreter, known: Any, args: Args, kwargs: Kwargs) -> Value:
    """Call what `functools.lru_cache` has made of a function that is known."""
    return _call(it, closure_of(it, known.__wrapped__), known, args, kwargs)


# --- one result for the same arguments ------------------------------------------------------


def _call(it: Interpreter, closure: Closure, function: Any, args: Args, kwargs: Kwargs) -> Value:
    """What the first call with these very arguments gave; `function` stands for what remembers it."""
    if closure.identity in it.reading.separate:
        raise it.unsupported(
            f"{closure.name} remembers its results and calls itself",
            "Fill a list or an array in a loop, from the smallest case on.",
        )
    bound = bind_arguments(it, closure, args, kwargs)
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
        raise it.unsupported(
            f"{closure.name} remembers its results, and does more than give them",
            "Let it change nothing, or call it before what is differentiated.",
        )
    if it.builder is not _home(it, function):
        it.reading.detached |= _made_since(it, result, start)
    it.reading.remembered[key] = result, it.builder, tuple(it.builder.eqns[-1:]), held
    return result


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
