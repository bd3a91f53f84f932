"""What IR means: a direct evaluator on run-time values, to compare the passes with.

It knows nothing of derivatives and shares no code with the back end that prints Python.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

from wengert.ir import graph
from wengert.ir.graph import CALL, COMMENT, FOR, IF, TRY, WHILE, Atom, Block, Eqn, Function, Var
from wengert.ir.op import Op
from wengert.runtime import calls, copies, cotangents
from wengert.runtime.undefined import UNDEFINED

Env = dict[Var, Any]


def evaluate(function: Function, *leaves: Any) -> tuple[Any, ...]:
    """The leaves of a function's result for the leaves of its arguments."""
    return _block(function.body, dict(zip(function.body.params, leaves, strict=True)))


def _block(block: Block, env: Env) -> tuple[Any, ...]:
    for eqn in block.eqns:
        results = _equation(eqn, env)
        env.update(zip(eqn.outs, results, strict=True))
    return tuple(_value(atom, env) for atom in block.outs)


def _value(atom: Atom, env: Env) -> Any:
    if isinstance(atom, Var):
        return env[atom]
    return UNDEFINED if atom == graph.UNDEFINED else atom.value


def _equation(eqn: Eqn, env: Env) -> Sequence[Any]:
    control = _CONTROL.get(eqn.op)
    if control is not None:
        return control(eqn, env)
    args = [_value(arg, env) for arg in eqn.args]
    params = {name: _value(atom, env) for name, atom in eqn.params.items()}
    if eqn.op.name in _STRUCTURE:
        result = _STRUCTURE[eqn.op.name](*args, **params)
    else:
        result = eqn.op(*args, **params)
    return () if not eqn.outs else (result,)


# --- control flow -------------------------------------------------------------------------


def _if(eqn: Eqn, env: Env) -> Sequence[Any]:
    then, other = eqn.blocks
    return _block(then if _value(eqn.args[0], env) else other, dict(env))


def _for(eqn: Eqn, env: Env) -> Sequence[Any]:
    (body,) = eqn.blocks
    args = [_value(arg, env) for arg in eqn.args]
    n = eqn.param("iterables")
    backwards, stops = eqn.param("reverse"), eqn.param("stop")
    sequences = [list(each) for each in args[:n]]
    if eqn.param("aligned", False):
        assert len({len(each) for each in sequences}) == 1
    rows = zip(*(each[::-1] if backwards else each for each in sequences), strict=False)
    carried = args[n:]
    gathered: list[list[Any]] = [[] for _ in eqn.outs[len(carried) :]]
    for items in rows:
        inner = {**env, **dict(zip(body.params, (*items, *carried), strict=True))}
        if _step(_block(body, inner), carried, gathered, stops):
            break
    if backwards:
        for each in gathered:
            each.reverse()
    return (*carried, *gathered)


def _while(eqn: Eqn, env: Env) -> Sequence[Any]:
    test, body = eqn.blocks
    carried = [_value(arg, env) for arg in eqn.args]
    gathered: list[list[Any]] = [[] for _ in eqn.outs[len(carried) :]]
    while _block(test, {**env, **dict(zip(test.params, carried, strict=True))})[0]:
        inner = {**env, **dict(zip(body.params, carried, strict=True))}
        if _step(_block(body, inner), carried, gathered, eqn.param("stop")):
            break
    return (*carried, *gathered)


def _try(eqn: Eqn, env: Env) -> Sequence[Any]:
    (body,) = eqn.blocks
    try:
        return (None, *_block(body, dict(env)))
    except eqn.param("catches") as error:
        return (error, *(_value(arg, env) for arg in eqn.args))


def _step(
    results: Sequence[Any], carried: list[Any], gathered: list[list[Any]], stops: bool
) -> bool:
    stop, results = (results[0], results[1:]) if stops else (False, results)
    n = len(carried)
    carried[:] = results[:n]
    for each, value in zip(gathered, results[n:], strict=True):
        each.append(value)
    return bool(stop)


def _call(eqn: Eqn, env: Env) -> Sequence[Any]:
    callee = eqn.param("callee")
    return evaluate(callee.function, *(_value(arg, env) for arg in eqn.args))


_CONTROL: dict[Op, Callable[[Eqn, Env], Sequence[Any]]] = {
    IF: _if,
    FOR: _for,
    WHILE: _while,
    TRY: _try,
    CALL: _call,
    COMMENT: lambda eqn, env: (),
}


# --- structure ----------------------------------------------------------------------------


def _pack(*items: Any, form: str, keys: tuple[Any, ...], **class_: Any) -> Any:
    if form in ("tuple", "list"):
        return tuple(items) if form == "tuple" else list(items)
    pairs = dict(zip(keys, items, strict=True))
    if form == "dict":
        return pairs
    make = class_["type"] or SimpleNamespace
    return make(**pairs)


def _apply(f: Any, *args: Any, names: tuple[str, ...]) -> Any:
    n = len(args) - len(names)
    return f(*args[:n], **dict(zip(names, args[n:], strict=True)))


def _pullback(f: Any, *args: Any, names: tuple[str, ...]) -> Any:
    assert not names
    return calls.pullback(f, *args)


def _pushforward(f: Any, primals: Any, tangents: Any, *, names: tuple[str, ...] = ()) -> Any:
    assert not names
    return calls.pushforward(f, primals, tangents)


def _raise(exception: Any, cause: Any = None) -> Any:
    raise exception


def _add_at(buffer: Any, *path_and_value: Any) -> Any:
    return cotangents.add_at(copies.snapshot(buffer), *path_and_value)


_STRUCTURE: dict[str, Callable[..., Any]] = {
    "add_at": _add_at,
    "pack": _pack,
    "getattr": lambda x, name: getattr(x, name),  # `name` is a keyword
    "apply": _apply,
    "opaque": _apply,
    "pullback_of": _pullback,
    "pushforward_of": _pushforward,
    "raise": _raise,
    "bound": lambda x, name: x,
    "unpackable": lambda x, count, starred: x,
    "stop_gradient": lambda x: x,
    "global": lambda name, holder, key: holder[key],
}
