"""The derivative of a function at one point as a linear map: pullback and pushforward."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from . import calling, engine
from .api import by_numbers, presented
from .errors import BadTangent
from .frontends.signature import CarriesDerivatives
from .ir.types import UNKNOWN, Kind, Struct
from .ops.checks import counted
from .tangents import apart, copied, leaves_like, whole_like
from .verbs import Verb


class Pullback:
    """The reverse sweep of one call: gives cotangents of the arguments for a cotangent of the result."""

    __slots__ = ("__weakref__", "_backward", "_kind", "_name", "_residuals", "_value")

    def __init__(
        self, name: str, backward: Callable[..., Any], residuals: Any, value: Any, kind: Kind
    ):
        self._name = name
        self._kind = kind
        self._backward = backward
        self._residuals = residuals
        self._value = value

    def __call__(self, *y_bars: Any) -> tuple[Any, ...]:
        if len(y_bars) != 1:
            raise BadTangent(
                f"the pullback of {self._name} takes one cotangent, that of its result; it was given "
                f"{len(y_bars)}",
                "For a result of several items pass one container of their cotangents.",
            )
        try:
            seeds = leaves_like(self._value, y_bars[0], "the cotangent", "the result", self._kind)
        except CarriesDerivatives:
            return by_numbers().coefficientwise(self, y_bars[0])
        try:
            return self._backward(self._residuals, *seeds)
        except Exception as error:
            raise presented(error) from error.__cause__

    def keep_from(self, outside: Sequence[Any]) -> None:
        """Own what it needs: the caller may change arrays between the forward and the reverse sweep."""
        self._residuals = apart(self._residuals, outside)

    def __repr__(self) -> str:
        return f"∂({self._name})"


def pullback(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Pullback]:
    """The value of a function, and its pullback.

    Args:
        f: a function with any result made of numbers and arrays.
        *args: the point.
        **kwargs: passed on; not differentiated.

    Returns:
        `(y, back)`. `back(y_bar)` takes a cotangent like `y` and gives a tuple like `gradient`'s; it
        may be called any number of times, from any thread.

    >>> import math, wengert as wg
    >>> y, back = wg.pullback(math.sin, 0.0)
    >>> back(2.0)
    (2.0,)
    """
    try:
        y, back, outside = pullback_of(f, args, kwargs)
    except CarriesDerivatives:
        return by_numbers().pullback(f, args, kwargs)
    back.keep_from(outside)
    return y, back


def pullback_of(
    f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], *, inside: bool = False
) -> tuple[Any, Pullback, list[Any]]:
    """A value, its pullback, and what is in the hands of the caller and may yet change."""
    calling.must_be_function(f)
    derived = engine.derive_for(Verb("pullback"), f, args, kwargs)
    if inside:
        derived.must_leave_arguments()
    ahead, backward = derived.published
    captured = calling.captured_by(f)
    try:
        y, residuals = ahead(*args, **kwargs, **captured)
    except Exception as error:
        raise presented(error) from error.__cause__
    outside = [*args, *kwargs.values(), *captured.values(), *derived.read_from(), y]
    kind = derived.functions[0].result
    assert isinstance(kind, Struct)
    back = Pullback(calling.name_of(f), backward, residuals, y, kind.items[0])
    return y, back, outside


def _held(holder: Any, key: str) -> Any:
    return holder[key] if isinstance(holder, dict) else getattr(holder, key)


def _hold(holder: Any, key: str, value: Any) -> None:
    if isinstance(holder, dict):
        holder[key] = value
    else:
        setattr(holder, key, value)


@contextmanager
def _as_they_were(outside: Sequence[tuple[Any, str, Any]]) -> Generator[None]:
    """Run with globals that a program changes as they were at the point; they are put back after."""
    now = [(holder, key, _held(holder, key)) for holder, key, _ in outside]
    try:
        for holder, key, value in outside:
            _hold(holder, key, copied(value))
        yield
    finally:
        for holder, key, value in now:
            _hold(holder, key, value)


def pushforward(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of a function, and its pushforward.

    Args:
        f: a function with any result made of numbers and arrays.
        *args: the point.
        **kwargs: passed on; not differentiated.

    Returns:
        `(y, push)`. `push(*tangents)` takes one tangent per positional argument, like the argument,
        or None for zero, and gives the tangent of the result.

    >>> import math, wengert as wg
    >>> y, push = wg.pushforward(math.exp, 0.0)
    >>> push(3.0)
    3.0
    """
    calling.must_be_function(f)
    try:
        derived = engine.derive_for(Verb("pushforward"), f, args, kwargs)
    except CarriesDerivatives:
        return by_numbers().pushforward(f, args, kwargs)
    captured = calling.captured_by(f)
    names = calling.argument_names(f, len(args))
    at = copied((args, kwargs, captured))  # the caller, or `f` itself, may change them
    outside = [(holder, key, copied(_held(holder, key))) for holder, key in derived.changed_outside]
    y = f(*args, **kwargs)
    kept_whole = {each.name for each in derived.functions[0].inputs if each.kind == UNKNOWN}

    def dots_of(name: str, arg: Any, tangent: Any, what: str) -> list[Any]:
        if name in kept_whole:
            return [whole_like(arg, tangent, what, "the argument")]
        return leaves_like(arg, tangent, what, "the argument")

    def push(*tangents: Any) -> Any:
        if len(tangents) != len(args):
            raise BadTangent(
                f"the pushforward of {calling.name_of(f)} takes {counted(len(args), 'tangent')}, one for "
                f"each positional argument; it was given {len(tangents)}",
                "Pass None for a zero tangent.",
            )
        try:
            dots = [
                dots_of(name, arg, tangent, f"the tangent of argument {k} (`{name}`)")
                for k, (name, arg, tangent) in enumerate(zip(names, at[0], tangents, strict=True))
            ]
        except CarriesDerivatives:
            return by_numbers().coefficientwise(lambda dots: push(*dots), tangents)
        along = derived
        if any(tangent is None for tangent in tangents):
            # a zero that is written out would meet the derivatives that are infinite
            dots = [d if t is not None else [] for d, t in zip(dots, tangents, strict=True)]
            moving = tuple(k for k, leaves in enumerate(dots) if leaves)
            along = engine.derive_for(Verb("pushforward", moving), f, *at[:2])
        dots = [dot for leaves in dots for dot in leaves]
        primals, options, around = copied(at)
        try:
            with _as_they_were(outside):
                y_dot = along.run(*primals, *dots, **options, **around)[1]
        except Exception as error:
            raise presented(error) from error.__cause__
        return apart(y_dot, dots)

    return y, push
