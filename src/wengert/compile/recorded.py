"""The verbs by recording: the function is run once, in boxes, and its tape is played forwards or backwards.

It is the second tier, for what the first one refuses: the run is Python's own, so that objects, exceptions and
generators are what they are there. Levels of derivatives have tapes of their own.
"""

from __future__ import annotations

import pickle
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np

from ..errors import (
    BadArgument,
    BadTangent,
    Finding,
    LostDerivative,
    LostWrite,
    NoRule,
    NoSource,
    UnknownFunction,
    UnsupportedSyntax,
    WengertError,
)
from ..frontend.boundary import signature
from ..frontend.boundary.no_code import computing_in, library_of_arrays
from ..frontend.record.boxes import Recorded
from ..frontend.record.records import is_record
from ..frontend.record.run import RecordedRun, holds_one_of, not_too_deep
from ..ir.callers import failing_span
from ..ir.types import Kind
from ..notebooks import place
from ..numbers.arguments import copied, is_number, mapped_numbers
from ..numbers.forward import checked_pair, must_be_scalar
from ..numbers.number import value_of
from ..ops.program.checks import counted
from . import calling
from .patience import LongReading
from .replayed import Gradients, Once, ToRecord, along, paired, step as step
from .tangents import leaves_like
from .wanted import Verb, no_such_argument, not_differentiable, not_followed


def _kind_to_record(function: ToRecord, depth: int) -> Kind:
    raise signature.CarriesDerivatives(f"{function.__name__} is to be recorded")


for _class in (ToRecord, Once, Gradients):
    signature.describe(_class, _kind_to_record)


def is_recorded(function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> bool:
    """Whether a function is to be recorded, or is given what another run records."""
    return holds_one_of((function, *args, *kwargs.values()), (Recorded, ToRecord, Once, Gradients))


def after(refusal: WengertError, record: Callable[..., Any], *args: Any) -> Any:
    """What recording gives where reading was refused.

    Raises:
        WengertError: it is refused as well; both reasons are said.
    """
    account = refusal.account if isinstance(refusal, LongReading) else None
    try:
        with account.recording() if account else nullcontext():
            return record(*args)
    except REFUSED as error:
        if account:
            account.read_at_once()
        raise both(refusal, error.findings[0]) from None
    except (SystemError, pickle.PicklingError) as error:
        # code in C has met a box
        raise both(refusal, Finding(str(error), "", failing_span(error.__traceback__))) from error


REFUSED = (UnsupportedSyntax, NoSource, NoRule, LostWrite, LostDerivative, UnknownFunction)


def both(refusal: WengertError, finding: Finding) -> WengertError:
    """A refusal by reading, which says why recording does not help."""
    where = "" if finding.span is None else f" ({place(finding.span.file, finding.span.line)})"
    said = finding.message.partition("\n")[0]
    return refusal.also(f"Recording a run does not help here: {said}{where}.")


def called(verb: Verb, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What a derivative function gives for arguments, found by recording a run.

    Raises:
        UnsupportedSyntax: the arguments are arrays of another library.
    """
    if computing_in.get() is not None or any(library_of_arrays(type(x)) for x in args):
        raise UnsupportedSyntax(
            "a recorded run computes with NumPy's arrays, and these are of another library",
            "Pass NumPy's arrays, or change what reading refuses.",
        )
    function, kwargs = _taken(function, kwargs)
    vector = args[-1:] if verb.name == "hvp" else ()
    args = args[: len(args) - len(vector)]
    if verb.name == "derivative":
        return _derivative(verb, function, args, kwargs)
    argnums = _argnums(verb, function, args)
    if isinstance(function, Gradients) and verb.name == "grad":
        found = _gradients_of(function, kwargs, tuple(argnums))(*args)
        return found[0] if verb.single else found
    if verb.written is not None:
        point = tuple(map(copied, args))  # before the function may change its arguments
        at_point = _at_point(verb.order, function, args, kwargs, tuple(argnums))
        return verb.written(at_point, tuple(argnums), verb.single, point)
    if vector:
        return _hvp(function, args, kwargs, argnums[0], *vector)
    return _grad(verb, function, args, kwargs, argnums)


def _at_point(
    order: int, function: Any, args: Sequence[Any], kwargs: dict[str, Any], argnums: tuple[int, ...]
) -> ToRecord:
    """What stands for a function where derivatives of one order are taken of it: one run of it, if that is enough."""
    if order == 1:
        return Once(function, args, kwargs, argnums)
    if order != 2:
        return ToRecord(function, kwargs)
    gradients = _gradients_of(function, kwargs, argnums)
    return Gradients(ToRecord(function, kwargs), gradients, args, argnums)


def _gradients_of(
    function: Any, kwargs: dict[str, Any], argnums: tuple[int, ...]
) -> Callable[..., tuple[Any, ...]]:
    def gradients(*point: Any) -> tuple[Any, ...]:
        if isinstance(function, Gradients):
            every = function.gradients(point)
            return tuple(every[function.argnums.index(k)] for k in argnums)
        run = RecordedRun(function, point, kwargs, argnums)
        must_be_scalar(run.value, calling.name_of(function))
        return tuple(run.gradients([(run.y, 1.0)], argnums))

    return gradients


def _taken(function: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    if type(function) is ToRecord:
        return function.function, {**function.kwargs, **kwargs}
    return function, kwargs


def _argnums(verb: Verb, function: Any, args: Sequence[Any]) -> list[int]:
    """The arguments to differentiate by, counted from the first.

    Raises:
        BadArgument: one is not there, or has no derivative.
    """
    chosen = range(len(args)) if verb.argnums is None else verb.argnums
    for k in chosen:
        if -len(args) <= k < len(args) and is_record(args[k]):
            name = calling.argument_names(function, len(args))[k]
            raise not_followed(k, name, "an array of records, or holds one")
    if verb.argnums is None:
        return list(chosen)
    for k in verb.argnums:
        if not -len(args) <= k < len(args):
            raise no_such_argument(k, calling.name_of(function), len(args))
        numbers: list[Any] = []
        with not_too_deep():
            x = args[k]
            mapped_numbers(list(x) if isinstance(x, deque) else x, numbers.append)
        if not numbers:
            name = calling.argument_names(function, len(args))[k]
            raise not_differentiable(k, name, signature.kind_of(args[k]))
    return [k % len(args) for k in verb.argnums]


def _grad(
    verb: Verb, function: Any, args: Sequence[Any], kwargs: dict[str, Any], argnums: Sequence[int]
) -> Any:
    run = RecordedRun(function, args, kwargs, argnums)
    y, value, aux = run.y, run.value, None
    if verb.has_aux:
        (y, _), (value, aux) = checked_pair(run.y), checked_pair(run.value)
    must_be_scalar(value, calling.name_of(function))
    bars = run.gradients([(y, 1.0)], argnums)
    gradient = bars[0] if verb.single else tuple(bars)
    if verb.name == "value_and_grad":
        return ((value, aux) if verb.has_aux else value), gradient
    return (gradient, aux) if verb.has_aux else gradient


def _derivative(verb: Verb, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    if len(args) != 1 or np.ndim(value_of(args[0])) or not is_number(args[0]):
        given = f"with {args[0]!r}" if len(args) == 1 else f"with {counted(len(args), 'argument')}"
        raise BadArgument(
            f"`derivative` is for functions of one number; {calling.name_of(function)} was called {given}",
            "Use `wg.grad(f, argnums=...)`, or fix the other arguments with `functools.partial`.",
        )

    def of_order(order: int) -> Callable[[Any], Any]:
        def slope(x: Any) -> Any:
            if order == 1:
                run = RecordedRun(function, (x,), kwargs, (0,))
            else:
                run = RecordedRun(of_order(order - 1), (x,), {}, (0,))
            return run.tangent([(leaf, 1.0) for leaf in run.leaves])

        return slope

    return of_order(verb.order)(args[0])


def _hvp(function: Any, args: Sequence[Any], kwargs: dict[str, Any], k: int, vector: Any) -> Any:
    name = calling.argument_names(function, len(args))[k]
    _must_fit(args[k], vector, "the vector", f"argument {k} (`{name}`)")
    gradients = _gradients_of(function, kwargs, (k,))
    run = RecordedRun(lambda *point: gradients(*point)[0], args, {}, (k,))
    return run.tangent(along(run, k, vector))


# --- linear maps ------------------------------------------------------------------------------


def pullback(
    function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, Callable[..., tuple[Any, ...]]]:
    """A value, and the function from a cotangent of it to those of the arguments."""
    function, kwargs = _taken(function, kwargs)
    run = RecordedRun(function, args, kwargs, range(len(args)))
    run.detach()
    name = calling.name_of(function)

    def back(*y_bars: Any) -> tuple[Any, ...]:
        if len(y_bars) != 1:
            raise BadTangent(
                f"the pullback of {name} takes one cotangent, that of its result; it was given {len(y_bars)}",
                "For a result of several items pass one container of their cotangents.",
            )
        _must_fit(run.value, y_bars[0], "the cotangent", "the result")
        pairs = list(paired(run.y, y_bars[0]))
        return tuple(run.gradients(pairs, range(len(args))))

    back.__qualname__ = f"pullback of {calling.shown(function)}"
    return run.value, back


def pushforward(
    function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Any, Callable[..., Any]]:
    """A value, and the function from tangents of the arguments to that of the value."""
    function, kwargs = _taken(function, kwargs)
    examples = tuple(map(copied, args))
    run = RecordedRun(function, args, kwargs, range(len(args)))
    run.detach()
    name = calling.name_of(function)

    def push(*tangents: Any) -> Any:
        if len(tangents) != len(args):
            raise BadTangent(
                f"the pushforward of {name} takes {counted(len(args), 'tangent')}, one for each positional "
                f"argument; it was given {len(tangents)}",
                "Pass None for a zero tangent.",
            )
        for k, (x, dot) in enumerate(zip(examples, tangents, strict=True)):
            _must_fit(x, dot, "the tangent", f"argument {k}")
        dots = [pair for k, dot in enumerate(tangents) for pair in along(run, k, dot)]
        return run.tangent(dots)

    push.__qualname__ = f"pushforward of {calling.shown(function)}"
    return run.value, push


def _must_fit(value: Any, given: Any, what: str, whose: str) -> None:
    """Refuse a tangent or cotangent that does not belong to a value."""
    try:
        leaves_like(value, given, what, whose)
    except signature.CarriesDerivatives:
        return  # a derivative of this derivative is being taken
