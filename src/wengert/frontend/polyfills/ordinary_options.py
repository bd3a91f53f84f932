"""Options of functions of NumPy that say what holds without them: they are left out."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ...ir.graph import Atom, Const
from ...ops.registry import named

_SAY_NOTHING: Mapping[str, tuple[Any, ...]] = {
    "out": (None,),
    "where": (True,),
    "like": (None,),
    "dtype": (None,),
    "device": (None, "cpu"),
    "subok": (True, False),  # arrays are of NumPy's own class
    "casting": ("same_kind", "unsafe"),
    "order": ("K", "A", "C"),  # how the result lies in memory, which nobody asks
    **dict.fromkeys(("overwrite_a", "overwrite_b", "overwrite_x", "check_finite"), (True, False)),
    "_no_deco": (True, False),  # how functions of `scipy.stats` call each other
}
"""Values of options that change nothing where a function that takes them is read without."""
_OF_THE_WAY = frozenset(("workers", "driver", "lapack_driver"))
"""Options that say how a result is computed, which is the same whatever they are."""


def by_name(
    args: Sequence[Any], kwargs: Mapping[str, Any], instead: Any, function: Any
) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """A call of what stands for a function: what that takes in another place, or not at all, by name."""
    own, others = _places_of(function), _places_of(instead)
    if own is None or others is None:
        return args, kwargs
    for k, name in enumerate(own[: len(args)]):
        if k >= len(others) or (others[k] != name and others[k] in own):
            return args[:k], {**dict(zip(own[k:], args[k:], strict=False)), **kwargs}
    return args, kwargs


@functools.lru_cache(maxsize=1024)
def _places_of(function: Any) -> tuple[str, ...] | None:
    """The names of what a function takes by its place; None where it takes any number of arguments."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    if any(each.kind is each.VAR_POSITIONAL for each in parameters):
        return None
    by_place = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return tuple(each.name for each in parameters if each.kind in by_place)


def without(
    kwargs: Mapping[str, Any], accepted: Collection[str], function: Callable[..., Any] | None
) -> dict[str, Any]:
    """The options of a call but for those that are not read, and say what holds without them."""
    if all(name in accepted for name in kwargs):
        return dict(kwargs)
    return {
        name: value
        for name, value in kwargs.items()
        if name in accepted or not _says_nothing(name, value, function)
    }


def left_of(
    keywords: Mapping[str, Any], accepted: Collection[str], function: Callable[..., Any] | None
) -> dict[str, Any]:
    """`without` for options that are values themselves, as a run has them."""
    named = {name: Const(x) for name, x in keywords.items()}
    return {name: keywords[name] for name in without(named, accepted, function)}


def _says_nothing(name: str, value: Any, function: Callable[..., Any] | None) -> bool:
    if name in _OF_THE_WAY:
        return True
    if not isinstance(value, Const):
        return False
    known = value.value
    ordinary = (*_SAY_NOTHING.get(name, ()), *_default_of(function, name))
    return any(known is each or (type(known) is type(each) and known == each) for each in ordinary)


def not_covered(option: str, name: str) -> tuple[str, str]:
    """What is said of an option that nobody reads, and what to do."""
    return (
        f"the option `{option}` of {name} is not covered",
        "Compute it in another way, or give the function that needs it a rule (`@wg.rrule`).",
    )


@functools.lru_cache(maxsize=1024)
def _default_of(function: Callable[..., Any] | None, name: str) -> tuple[Any, ...]:
    """The default of a function's option, if it is one of Python's own values."""
    try:
        parameter = inspect.signature(function).parameters.get(name)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return ()
    if parameter is None or parameter.default is parameter.empty:
        return ()
    is_plain = isinstance(parameter.default, (bool, int, float, str, type(None), type))
    return (parameter.default,) if is_plain else ()


def parameters_of(equivalent: Any) -> Collection[str] | None:
    """What a function that stands for one of NumPy's takes by name; None if that is anything."""
    code = getattr(inspect.unwrap(equivalent), "__code__", None)
    if code is None or code.co_flags & inspect.CO_VARKEYWORDS:
        return None
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def float_dtype(kwargs: Mapping[str, Any], accepted: Collection[str]) -> Const | None:
    """The dtype of floats that a function is asked for that is read without: its result is given it then."""
    asked = kwargs.get("dtype")
    if "dtype" in accepted or not isinstance(asked, Const) or asked.value is None:
        return None
    try:
        return asked if np.dtype(asked.value).kind == "f" else None
    except TypeError:
        return None


def as_floats(it: Any, result: Any, dtype: Const) -> Atom:
    """A result as an array of floats of a dtype."""
    return it.emit(named("astype"), it.atom(result), namespace="method", dtype=dtype)
