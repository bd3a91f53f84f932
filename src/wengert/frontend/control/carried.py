"""What a loop carries from one iteration to the next: what is assumed of it, and what one reading found."""

from __future__ import annotations

from ...ir.graph import Const, Var
from ...ir.types import BOOL, Kind, Static, is_differentiable
from ...ops import structure as st
from ..domain.values import (
    Closure,
    Items,
    Maybe,
    Value,
    flatten,
    fresh,
    is_mutable,
    kind_of_value,
    same,
)
from ..machine.interpreter import Interpreter
from .loop_heap import Attempt, Carried, Name, Names, bind_slot, hint_of, is_whole


def assume(entry: Value | None, learned: Carried | None) -> Carried:
    """A first guess, from the value on entry and what an earlier reading of the loop learned."""
    guess = _first_guess(entry)
    if learned is None or learned.kind is None:
        return guess
    if entry is None or guess.kind is None:
        return guess if entry is not None else Carried(learned.kind, maybe=True)
    return Carried(st.joined(guess.kind, learned.kind), guess.maybe or learned.maybe)


def _first_guess(entry: Value | None) -> Carried:
    if entry is None:
        return Carried(None, maybe=True)
    maybe = isinstance(entry, Maybe)
    value = entry.value if isinstance(entry, Maybe) else entry
    kind = kind_of_value(value)
    fixed = isinstance(value, Const) and not is_differentiable(kind)
    fixed = fixed or (isinstance(value, Items) and is_mutable(value))  # it may stay the same object
    return Carried(None if fixed or isinstance(kind, Static) else kind, maybe)


def param_of(name: Name, carried: Carried) -> Value:
    """The parameter of a loop's body for a carried value."""
    assert carried.kind is not None
    hint = hint_of(name)
    if is_whole(name):
        return Var(carried.kind, hint)
    value = fresh(carried.kind, hint)
    if not carried.maybe:
        return value
    leaf = next(flatten(value), None)
    return Maybe(value, leaf if isinstance(leaf, Var) else Var(BOOL, hint))


def widened(entry: Value | None, carried: Carried, end: Value | None) -> Carried:
    if end is None:
        return carried
    maybe = carried.maybe or isinstance(end, Maybe)
    value = end.value if isinstance(end, Maybe) else end
    kind = kind_of_value(value)
    if carried.kind is not None and _is_made_again(value, carried.kind):
        return Carried(carried.kind, maybe)
    if carried.kind is not None:
        return Carried(st.joined(carried.kind, kind), maybe)
    if entry is None:
        return Carried(kind, maybe=True)
    inner = entry.value if isinstance(entry, Maybe) else entry
    if same(inner, value):
        return carried
    return Carried(st.joined(kind_of_value(inner), kind), maybe)


def _is_made_again(value: Value, kind: Kind) -> bool:
    """Whether a function is the one of a kind, made by the same `def` in another turn.

    What it captured it finds under the names of the function around it, as they are when it is called.
    """
    known = kind.value if isinstance(kind, Static) else None
    if not isinstance(value, Closure) or not isinstance(known, Closure):
        return False
    of_its_own = [value.defaults, value.keyword_defaults]
    if value.attributes is not None:
        of_its_own += [value.attributes.values, value.attributes.place]
    return value.node is known.node and value.scope is known.scope and not any(of_its_own)


def first_bound_inside(name: Name, entry: Names, carried: Carried, attempt: Attempt) -> bool:
    """Whether every iteration binds a name before it reads it: then nothing was assumed of it."""
    bound = entry[name] is None and carried.kind is None and name not in attempt.unbound
    return isinstance(name, str) and bound and not isinstance(attempt.end.get(name), Maybe)


def is_same(a: Value | None, b: Value | None) -> bool:
    return a is not None and b is not None and same(a, b)


def enter(it: Interpreter, entry: Names, assumed: dict[Name, Carried]) -> dict[Name, Value]:
    """Bind every carried name to a parameter of the loop's body."""
    params: dict[Name, Value] = {}
    for name, carried in assumed.items():
        if carried.kind is None:
            if entry[name] is None and isinstance(name, str):
                it.vars.pop(name, None)
            continue
        params[name] = param_of(name, carried)
        bind_slot(it, name, params[name])
        _note_entries(it, entry[name], params[name])
    return params


def _note_entries(it: Interpreter, entry: Value | None, param: Value) -> None:
    match entry, param:
        case Maybe(value=inner), Maybe(value=inner_param):
            _note_entries(it, inner, inner_param)
        case Var(), Var():
            it.reading.entries[param] = entry
        case Items(values=values), Items(values=params) if len(values) == len(params):
            for value, inside in zip(values, params, strict=True):
                _note_entries(it, value, inside)
        case _:
            return
