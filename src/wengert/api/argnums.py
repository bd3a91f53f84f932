"""Which arguments a derivative is taken in: numbers or names, as places in a function's signature."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ..compile import calling
from ..errors import BadArgument

_HINT = (
    '`argnums=0` is the first positional argument, `argnums=(0, 1)` the first two, `argnums="rate"` the one\n'
    "of that name. Did you mean the derivative at a point? That is `wg.gradient(f, x)`, or `wg.grad(f)(x)`."
)
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


class Chosen(NamedTuple):
    """The arguments that a derivative is taken in.

    Attributes:
        places: their places among the positional arguments.
        single: whether one was named, so that the result is one derivative, not a tuple.
        by_name: whether they were named, so that they may be passed by keyword.
    """

    places: tuple[int, ...]
    single: bool
    by_name: bool = False


def chosen(argnums: Any, function: Any) -> Chosen:
    """`argnums` as places.

    Args:
        argnums: an integer, a name, or a list or tuple of these.
        function: whose arguments they are.

    Raises:
        BadArgument: it is nothing of the kind, or the function has no positional argument of that name.

    >>> chosen(("y", 0), lambda x, y: x * y)
    Chosen(places=(1, 0), single=False, by_name=True)
    """
    if isinstance(argnums, (list, tuple)):
        several = [_place(each, argnums, function) for each in argnums]
        return Chosen(tuple(several), False, any(isinstance(each, str) for each in argnums))
    return Chosen((_place(argnums, argnums, function),), True, isinstance(argnums, str))


def _place(argnum: Any, argnums: Any, function: Any) -> int:
    if type(argnum) is int:
        return argnum
    if not isinstance(argnum, str):
        raise BadArgument(
            f"`argnums` must be an integer, a name, or a tuple of these, not {argnums!r}", _HINT
        )
    calling.must_be_function(function)
    return place_of(argnum, parameters_of(function), calling.name_of(function))


def parameters_of(function: Any) -> list[inspect.Parameter]:
    """The parameters of a function; none where nothing says what they are."""
    try:
        return list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return []


def place_of(name: str, parameters: Sequence[inspect.Parameter], function: str) -> int:
    """The place of a parameter among the positional ones.

    Raises:
        BadArgument: there is none of that name; says which there are.
    """
    names = [p.name for p in parameters if p.kind in _POSITIONAL]
    if name in names:
        return names.index(name)
    if any(p.name == name and p.kind is p.KEYWORD_ONLY for p in parameters):
        raise BadArgument(
            f"`argnums` names `{name}`, which {function} takes by keyword only",
            "Derivatives are taken in positional arguments: leave the `*` before it away, or differentiate\n"
            f"`lambda {name}: {function}(..., {name}={name})`.",
        )
    shown = ", ".join(f"`{each}`" for each in names)
    has = f"Its positional arguments are {shown}." if names else "Give its place: `argnums=0`."
    close = difflib.get_close_matches(name, names, n=1)
    meant = f"Did you mean `{close[0]}`? " if close else ""
    raise BadArgument(
        f"`argnums` names `{name}`, but {function} has no argument of that name", meant + has
    )


def placed(
    parameters: Sequence[inspect.Parameter],
    places: Sequence[int],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, those up to the named ones by position: passed by keyword, or left to a default.

    >>> placed(parameters_of(lambda x, y=2.0: x * y), (1,), (1.0,), {})
    ((1.0, 2.0), {})
    """
    by_position, by_name = list(args), dict(kwargs)
    positional = [p for p in parameters if p.kind in _POSITIONAL]
    for p in positional[len(args) : max(places, default=-1) + 1]:
        if p.name in by_name and p.kind is p.POSITIONAL_OR_KEYWORD:
            by_position.append(by_name.pop(p.name))
        elif p.default is not p.empty:
            by_position.append(p.default)
        else:
            break  # Python says that it is missing
    return tuple(by_position), by_name
