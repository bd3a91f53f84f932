"""Binding: which parameter takes which argument of a call."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Const
from ...ops import structure as st
from ..domain.arguments import is_star, star
from ..domain.values import Args, Closure, Items, Kwargs, Value, tuple_of
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter


def bind_arguments(
    it: Interpreter, closure: Closure, args: Args, kwargs: Kwargs
) -> dict[str, Value]:
    """Arguments by parameter name, as Python binds them."""
    spec = closure.node.args
    names = [a.arg for a in (*spec.posonlyargs, *spec.args)]
    by_position = next((k for k, name in enumerate(names) if name in kwargs), len(names))
    if _has_optional(closure, args, names[:by_position]):
        raise _unknown_length(it)
    positional = _spread(it, list(args), by_position, has_vararg=spec.vararg is not None)
    bound: dict[str, Value] = dict(zip(names, positional, strict=False))
    extra = positional[len(names) :]
    if spec.vararg is not None:
        bound[spec.vararg.arg] = _rest(it, extra)
    elif extra:
        _wrong_call(it, closure, _too_many(closure, len(positional), kwargs))
    keywords = dict(kwargs)
    for name in [*names, *(a.arg for a in spec.kwonlyargs)]:
        if name in keywords and name not in {a.arg for a in spec.posonlyargs}:
            if name in bound:
                _wrong_call(it, closure, f"got multiple values for argument '{name}'")
            bound[name] = keywords.pop(name)
    _fill_defaults(it, closure, names, bound)
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = Items("dict", tuple(keywords), tuple(keywords.values()))
    elif keywords:
        _wrong_call(it, closure, f"got an unexpected keyword argument '{next(iter(keywords))}'")
    return bound


def _spread(it: Interpreter, args: list[Value], count: int, *, has_vararg: bool) -> list[Value]:
    """Arguments with a run-time `*sequence` taken apart over the parameters it must fill."""
    k = next((k for k, a in enumerate(args) if is_star(a)), None)
    if k is None or (has_vararg and k >= count):
        return args
    starred = args[k]
    assert isinstance(starred, Items)
    if has_vararg and k == len(args) - 1:
        items = it.atom(starred.values[0])
        first = [it.getitem(items, Const(j)) for j in range(count - k)]
        return [*args[:k], *first, star(it.emit(st.getitem, items, Const(slice(count - k, None))))]
    missing = count - (len(args) - 1)
    if has_vararg or any(map(is_star, args[k + 1 :])):
        raise _unknown_length(it)
    it.refuse_unknown(("__iter__", "__getitem__"), starred.values)
    source = it.emit(st.unpackable, it.atom(starred.values[0]), Const(missing), Const(-1))
    return [*args[:k], *(it.getitem(source, Const(j)) for j in range(missing)), *args[k + 1 :]]


def _has_optional(closure: Closure, args: Args, names: Sequence[str]) -> bool:
    """Whether parameters with a default are among those that a run-time `*sequence` of a call may fill."""
    required = len(closure.node.args.posonlyargs + closure.node.args.args) - len(closure.defaults)
    alone = sum(map(is_star, args)) == 1
    return alone and closure.node.args.vararg is None and len(names) > max(required, len(args) - 1)


def _unknown_length(it: Interpreter) -> Exception:
    return it.unsupported(
        "`*` needs a sequence whose length is known when the program is read",
        "Pass the sequence itself.",
    )


def _rest(it: Interpreter, extra: list[Value]) -> Value:
    """What `*args` of a function holds."""
    if len(extra) == 1 and isinstance(extra[0], Items) and is_star(extra[0]):
        return it.as_tuple(extra[0].values[0])
    return it.as_tuple(it.joined(extra)) if any(map(is_star, extra)) else tuple_of(*extra)


def _fill_defaults(
    it: Interpreter, closure: Closure, names: list[str], bound: dict[str, Value]
) -> None:
    with_default = names[len(names) - len(closure.defaults) :] if closure.defaults else []
    for name, default in zip(with_default, closure.defaults, strict=True):
        bound.setdefault(name, default)
    for name, default in closure.keyword_defaults.items():
        bound.setdefault(name, default)
    spec = closure.node.args
    missing = [n for n in names if n not in bound]
    if missing:
        _wrong_call(it, closure, _missing(missing, "positional"))
    missing = [a.arg for a in spec.kwonlyargs if a.arg not in bound]
    if missing:
        _wrong_call(it, closure, _missing(missing, "keyword-only"))


def _too_many(closure: Closure, given: int, kwargs: Kwargs) -> str:
    """What Python says of a call with more positional arguments than there are parameters."""
    spec = closure.node.args
    most = len(spec.posonlyargs) + len(spec.args)
    least = most - len(closure.defaults)
    taken = _counted(most, "positional argument")
    if closure.defaults:
        taken = f"from {least} to {most} positional arguments"
    named = sum(a.arg in kwargs for a in spec.kwonlyargs)
    told = str(given)
    if named:
        told = f"{_counted(given, 'positional argument')} (and {_counted(named, 'keyword-only argument')})"
    return f"takes {taken} but {told} {'was' if given == 1 and not named else 'were'} given"


def _missing(names: Sequence[str], how: str) -> str:
    *others, last = map(repr, names)
    listed = f"{', '.join(others)}{',' if len(others) > 1 else ''} and {last}" if others else last
    return f"missing {len(names)} required {how} argument{'s' if others else ''}: {listed}"


def _counted(count: int, what: str) -> str:
    return f"{count} {what}{'' if count == 1 else 's'}"


def _wrong_call(it: Interpreter, closure: Closure, message: str) -> None:
    if str(closure.scope.globals.get("__name__")).startswith(_PACKAGE):
        # it stands for a function of a library, which may well take these arguments
        raise it.unsupported(
            f"this call of {closure.name} is not covered: it {message}",
            "Leave out the option, or give a function of your own a rule (`@wg.rrule`).",
        )
    raise_now(it, TypeError, f"{closure.qualname}() {message}")


_PACKAGE = __name__.partition(".")[0] + "."
