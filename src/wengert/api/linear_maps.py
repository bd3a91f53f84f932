"""The derivative of a function at one point as a linear map: pullback and pushforward."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from types import FunctionType, ModuleType, NoneType
from typing import Any, cast

import numpy as np

from ..compile import calling, engine
from ..compile.derived import Derived, note_run_inside, traces
from ..compile.tangents import apart, copied, is_not_a_number, is_zero, leaves_like, whole_like
from ..compile.wanted import Verb
from ..errors import BadTangent, WengertError
from ..frontend.boundary.no_code import OfAnotherLibrary
from ..frontend.boundary.signature import CarriesDerivatives
from ..frontend.domain.values import held_by
from ..ir.types import UNKNOWN, Kind, Struct
from ..ops.program.checks import counted
from .derivative import (
    Derivative,
    Refused,
    by_numbers,
    derived_or_refused,
    in_its_library,
    recorded,
    recorded_or_read,
)
from .presenting import presented


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

    def copied(self) -> Pullback:
        """The same pullback, with memory of its own for what it needs."""
        residuals = copied(self._residuals)
        return Pullback(self._name, self._backward, residuals, self._value, self._kind)

    def __repr__(self) -> str:
        return f"<pullback of {self._name}>"


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
    calling.must_be_function(f)
    refusal: WengertError | None = None
    try:
        derived = derived_or_refused(Verb("pullback"), f, args, kwargs)
    except OfAnotherLibrary as met:
        return in_its_library().pullback(f, args, kwargs, met.array)
    except CarriesDerivatives:
        if recorded().is_recorded(f, args, kwargs):
            return recorded().pullback(f, args, kwargs)
        return by_numbers().pullback(f, args, kwargs)
    except Refused as refused:
        refusal = refused.refusal
    else:
        before = traces()
        try:
            y, back, outside = _pullback_by(derived, f, args, kwargs)
        except Exception as error:
            shown = presented(error)
            if not engine.may_begin_again(derived, error, (*args, *kwargs.values()), before):
                raise shown from error.__cause__
            refusal = cast(WengertError, shown)
        else:
            back.keep_from(outside)
            return y, back
    # out of the handlers, so that what fails now does not fail "during" the refusal
    return recorded_or_read(
        refusal,
        lambda: recorded().pullback(f, args, kwargs),
        lambda: derived_or_refused(Verb("pullback"), f, args, kwargs),
        lambda: pullback(f, *args, **kwargs),
    )


def guarded_pullback(f: Callable[..., Any], *args: Any, **kwargs: Any) -> tuple[Any, Pullback]:
    """`pullback`, where programs that are read say that zeros in cotangents meet no infinite derivatives."""
    return pullback(f, *args, **kwargs)


def pullback_of(
    f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], *, inside: bool = False
) -> tuple[Any, Pullback, list[Any]]:
    """A value, its pullback, and what is in the hands of the caller and may yet change."""
    calling.must_be_function(f)
    derived = engine.derive_for(Verb("pullback"), f, args, kwargs)
    if inside:
        derived.must_leave_arguments()
        note_run_inside(derived)
    try:
        return _pullback_by(derived, f, args, kwargs)
    except Exception as error:
        raise presented(error) from error.__cause__


def _pullback_by(
    derived: Derived, f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, Pullback, list[Any]]:
    captured = calling.captured_by(f)
    y, residuals = derived.called(args, kwargs, captured)
    backward = derived.published[1]
    outside = [*args, *kwargs.values(), *captured.values(), *derived.read_from(), y]
    kind = derived.functions[0].result
    assert isinstance(kind, Struct)
    back = Pullback(calling.name_of(f), backward, residuals, y, kind.items[0])
    return y, back, outside


_UNCHANGING = (FunctionType, type, ModuleType, str, int, float, complex, np.generic, NoneType)
"""Captured values that are now what they were at the point."""


def _stays(x: Any) -> bool:
    if isinstance(x, Derivative):
        return all(map(_stays, calling.captured_by(x.function).values()))
    return isinstance(x, _UNCHANGING)


_NOTHING = object()
"""What a namespace or an object holds under a name that it does not have, or that its class gives it."""


def _held_there(holder: Any, key: str) -> Any:
    own = holder if isinstance(holder, dict) else getattr(holder, "__dict__", None)
    if own is not None and key not in own:
        return _NOTHING
    return held_by(holder, key)


def _hold(holder: Any, key: str, value: Any) -> None:
    if value is not _NOTHING and isinstance(holder, dict):
        holder[key] = value
    elif value is not _NOTHING:
        setattr(holder, key, value)
    elif _held_there(holder, key) is not _NOTHING:
        holder.pop(key) if isinstance(holder, dict) else delattr(holder, key)


@contextmanager
def _as_they_were(outside: Sequence[tuple[Any, str, Any]]) -> Generator[None]:
    """Run with globals that a program changes as they were at the point; they are put back after."""
    now = [(holder, key, _held_there(holder, key)) for holder, key, _ in outside]
    try:
        for holder, key, value in outside:
            _hold(holder, key, copied(value))
        yield
    finally:
        for holder, key, value in now:
            _hold(holder, key, value)


class Pushforward:
    """The linear map from tangents of the arguments of a function to that of its result, at one point."""

    def __init__(
        self,
        function: Callable[..., Any],
        derived: Derived,
        args: Sequence[Any],
        kwargs: dict[str, Any],
    ):
        self._function = function
        self._derived = derived
        self._names = calling.argument_names(function, len(args))
        self._given = args, kwargs, calling.captured_by(function)
        # the caller, or the function itself, may change them
        self._at = copied(self._given)
        self._outside = [
            (holder, key, copied(_held_there(holder, key)))
            for holder, key in derived.changed_outside
        ]

    def __call__(self, *tangents: Any) -> Any:
        if len(tangents) != len(self._names):
            raise BadTangent(
                f"the pushforward of {calling.name_of(self._function)} takes "
                f"{counted(len(self._names), 'tangent')}, one for each positional argument; it was given "
                f"{len(tangents)}",
                "Pass None for a zero tangent.",
            )
        try:
            return self._tangent(tangents)
        except CarriesDerivatives:
            return by_numbers().coefficientwise(lambda dots: self(*dots), tangents)

    def _tangent(self, tangents: Sequence[Any]) -> Any:
        y_dot = self._along(tangents, *copied(self._at))[1]
        if not is_not_a_number(y_dot):
            return y_dot
        # what does not move is not to meet derivatives that are infinite
        moving = [None if is_zero(tangent) else tangent for tangent in tangents]
        return self._along(moving, *copied(self._at), guarded=True)[1]

    def refusal_of_its_path(self) -> WengertError | None:
        """What refuses the path that the run takes: it is recorded, before the function has left anything outside."""
        derived, (args, options, captured) = self._derived, copied(self._at)
        if not derived.refuses_paths or not derived.is_repeatable:
            return None
        still = self._leaves_of([None] * len(args), derived, args, written_out=True)
        before = traces()
        try:
            with _as_they_were(self._outside):
                derived.run(
                    *args, *(dot for leaves in still for dot in leaves), **options, **captured
                )
        except Exception as error:
            if engine.may_begin_again(derived, error, args, before):
                return cast(WengertError, presented(error))
        return None

    def __repr__(self) -> str:
        return f"<pushforward of {calling.shown(self._function)}>"

    def with_value(self, *tangents: Any) -> tuple[Any, Any]:
        """The value and its tangent, by one run of the program on the arguments themselves."""
        return self._along(tangents, *self._given)

    def _along(
        self,
        tangents: Sequence[Any],
        args: Any,
        options: Any,
        captured: Any,
        *,
        guarded: bool = False,
    ) -> tuple[Any, Any]:
        along = self._derived
        may_change = not all(map(_stays, captured.values()))
        remembers = bool(self._outside) or (may_change and not along.is_repeatable)
        written_out = remembers and not guarded  # what a run has changed is not read again
        if guarded or (not written_out and any(tangent is None for tangent in tangents)):
            # a zero that is written out would meet the derivatives that are infinite
            parts = self._leaves_of(tangents, along, args)
            moving = tuple(k for k, leaves in enumerate(parts) if leaves)
            verb = Verb("pushforward", moving, guarded=guarded)
            with _as_they_were(self._outside):
                along = engine.derive_for(verb, self._function, *self._at[:2])
        parts = self._leaves_of(tangents, along, args, written_out=written_out)
        dots = [dot for leaves in parts for dot in leaves]
        before = traces()
        try:
            with _as_they_were(self._outside):
                along.refuse_shared(*args, *options.values(), *captured.values())
                y, y_dot = along.run(*args, *dots, **options, **captured)
        except Exception as error:
            refusal = cast(WengertError, presented(error))
            if may_change or not engine.may_begin_again(along, error, args, before):
                raise refusal from error.__cause__
        else:
            return y, apart(y_dot, dots)
        y, push = recorded().after(refusal, recorded().pushforward, self._function, args, options)
        return y, push(*tangents)

    def _leaves_of(
        self,
        tangents: Sequence[Any],
        derived: Derived,
        args: Sequence[Any],
        *,
        written_out: bool = False,
    ) -> list[list[Any]]:
        """The numbers and arrays that every tangent consists of; none of a zero that is not written out."""
        kinds = {each.name: each.kind for each in derived.functions[0].inputs}
        found: list[list[Any]] = []
        for k, (name, tangent) in enumerate(zip(self._names, tangents, strict=True)):
            given = (args[k], tangent, f"the tangent of argument {k} (`{name}`)", "the argument")
            kind = kinds[name]
            leaves = [whole_like(*given)] if kind == UNKNOWN else leaves_like(*given, kind=kind)
            found.append([] if tangent is None and not written_out else leaves)
        return found


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
        derived = derived_or_refused(Verb("pushforward"), f, args, kwargs)
    except OfAnotherLibrary as met:
        return in_its_library().pushforward(f, args, kwargs, met.array)
    except CarriesDerivatives:
        if recorded().is_recorded(f, args, kwargs):
            return recorded().pushforward(f, args, kwargs)
        return by_numbers().pushforward(f, args, kwargs)
    except Refused as refused:
        refusal = refused.refusal
    else:
        push = Pushforward(f, derived, args, kwargs)  # before the function may change its arguments
        refusal = push.refusal_of_its_path()
        if refusal is None:
            return f(*args, **kwargs), push
    return recorded_or_read(
        refusal,
        lambda: recorded().pushforward(f, args, kwargs),
        lambda: derived_or_refused(Verb("pushforward"), f, args, kwargs),
        lambda: pushforward(f, *args, **kwargs),
    )
