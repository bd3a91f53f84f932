"""Calls whose target is known only when the program runs, differentiated when they are met."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..compile import engine
from ..compile.derived import note_run_inside
from ..compile.tangents import as_cotangent, as_structured
from ..compile.wanted import Verb
from ..errors import NoRule
from ..ops.program.refusals import REFUSALS
from .linear_maps import Pullback, Pushforward, pullback, pullback_of, pushforward


def _caller(names: Sequence[str]) -> Callable[..., Any]:
    """`f(*args)`, the last arguments by keyword, as a function of f and the arguments."""
    if not names:

        def apply(function: Any, *arguments: Any) -> Any:
            return function(*arguments)

        return apply

    def apply_by_name(function: Any, *arguments: Any) -> Any:
        first = len(arguments) - len(names)
        by_name = {name: arguments[first + k] for k, name in enumerate(names)}
        return function(*arguments[:first], **by_name)

    return apply_by_name


_QUESTIONS = frozenset(("is_integer", "__format__", "__repr__", "__str__", "nonzero", "tobytes"))
"""Built-in methods of numbers whose answer has no derivative."""


def _refuse_hidden_number(f: Any) -> None:
    """Refuse a built-in method of a number or an array, which is inside it where no rule sees it."""
    owner = getattr(f, "__self__", None)
    inexact = isinstance(owner, (float, complex, np.inexact)) or (
        isinstance(owner, np.ndarray) and owner.dtype.kind in "fc"
    )
    if inexact and f.__name__ not in _QUESTIONS:
        raise NoRule(
            f"the method `{f.__name__}` of {type(owner).__name__} has no derivative rule",
            "Use a function of NumPy that has a rule.",
        )


@contextmanager
def _met_in_a_run() -> Generator[None]:
    """Have what is refused say that a run has come to it, which may be recorded instead."""
    try:
        yield
    except REFUSALS as refusal:
        refusal.met_in_a_run = True
        raise


def pullback_of_call(f: Any, args: Sequence[Any], names: Sequence[str]) -> Any:
    """What generated code calls where the function is known only at run time."""
    _refuse_hidden_number(f)
    with _met_in_a_run():
        y, back, _ = pullback_of(_caller(names), (f, *args), {}, inside=True)
    return y, _PullbackInside(back, y, (f, *args))


class _PullbackInside:
    """The pullback of a call inside a program, which gives cotangents of the function and its arguments."""

    def __init__(self, back: Pullback, y: Any, given: tuple[Any, ...]):
        self._back = back
        self._y = y
        self._given = given

    def __call__(self, y_bar: Any) -> list[Any]:
        y_bar = _real_where_real(as_structured(self._y, y_bar), self._y)
        return list(map(as_cotangent, self._back(y_bar), self._given))

    def __snapshot__(self) -> _PullbackInside:
        """The same pullback, which writes to what the call was given, or gave, do not reach."""
        return _PullbackInside(self._back.copied(), self._y, self._given)


def _real_where_real(y_bar: Any, y: Any) -> Any:
    """The cotangent of what is real is real, which the program that used it could not know."""
    if type(y_bar) in (list, tuple) and isinstance(y, (list, tuple)):
        return type(y_bar)(map(_real_where_real, y_bar, y))
    if isinstance(y_bar, (complex, np.complexfloating, np.ndarray)) and not np.iscomplexobj(y):
        return np.real(y_bar)
    return y_bar


def pushforward_of_call(
    f: Any, primals: Sequence[Any], tangents: Sequence[Any], names: Sequence[str]
) -> tuple[Any, Any]:
    _refuse_hidden_number(f)
    caller = _caller(names)
    given = (f, *primals)
    with _met_in_a_run():
        derived = engine.derive_for(Verb("pushforward"), caller, given, {})
    derived.must_leave_arguments()
    note_run_inside(derived)
    dots = [as_structured(x, dot) for x, dot in zip(given, tangents, strict=True)]
    y, y_dot = Pushforward(caller, derived, given, {}).with_value(*dots)
    if f in (cotangents_by_rule, tangent) and isinstance(y, tuple):
        return y, tuple(
            map(as_cotangent, y_dot, y)
        )  # a rule's pullback returns one for each argument
    return y, as_cotangent(y_dot, y)


# --- what generated code calls at run time, written so that it can be read ------------------


def call(f: Any, *args: Any, **named: Any) -> Any:
    """A call of a function that is known only at run time."""
    return f(*args, **named)


def cotangents(y_bar: Any, f: Any, *args: Any, **named: Any) -> Any:
    """The cotangents of f and its arguments."""
    return pullback(_caller(tuple(named)), f, *args, *named.values())[1](y_bar)


def tangent(names: Any, f: Any, primals: Any, tangents: Any) -> Any:
    """The tangent of a call's result."""
    return pushforward(_caller(names), f, *primals)[1](*tangents)


def value_by_rule(rule: Any, *operands: Any, **named: Any) -> Any:
    """The value of a function that has a hand-written rule."""
    return rule(*operands, **named)[0]


def cotangents_by_rule(y_bar: Any, rule: Any, *operands: Any, **named: Any) -> Any:
    """What the pullback of a hand-written rule gives."""
    return rule(*operands, **named)[1](y_bar)
