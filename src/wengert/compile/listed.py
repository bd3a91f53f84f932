"""The text of what is recorded: a run that is written out, and derived as a program that was read."""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stdout
from typing import Any

import numpy as np

from ..backends import python as printer
from ..frontend.boundary import signature, taking_apart
from ..frontend.listing import runs
from ..frontend.listing.equations import no_text
from ..frontend.listing.runs import Given, Listing
from ..ir.graph import Function
from ..ir.types import Kind, Struct
from ..numbers.arguments import mapped_numbers
from ..numbers.number import value_of
from ..passes.memory import settle
from . import recorded
from .calling import Call, captured_by, name_of, taken_apart
from .verbs import VERBS
from .wanted import Verb


def differentiated(
    verb: Verb, call: Call, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> tuple[tuple[Function, ...], bool]:
    """The functions of a derivative by a run that is written out, and whether what they change must be given once.

    Raises:
        WengertError: the run is refused, or cannot be written out.
    """
    captured = captured_by(function)
    if verb.written is None:
        found = listed(call, function, args, kwargs, captured, verb.argnums)
        return VERBS[verb.name](found.function, verb), found.must_be_apart

    def derivative(*point: Any, **named: Any) -> Any:
        return recorded.called(verb, function, point, named)

    derivative.__name__ = f"{verb.written.__name__.strip('_')}_{name_of(function)}"
    found = listed(call, derivative, args, kwargs, captured, verb.argnums)
    return VERBS["itself"](found.function, verb), found.must_be_apart


def listed(
    call: Call,
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    captured: Mapping[str, Any],
    wrt: Sequence[int] | None = (),
) -> Listing:
    """The equations of a run of a function, which are tried at a point beside that of the run.

    Raises:
        WengertError: the run is refused, or cannot be written out.
    """
    count = len(args)
    wrt = range(count) if wrt is None else [k % count for k in wrt if -count <= k < count]
    own, own_named = copy.deepcopy((list(args), dict(kwargs)))
    named = dict(zip((name for name, _ in call.arguments), own, strict=True))
    kinds = taken_apart(call.arguments, named)
    positional = [Given(name, kind, named[name]) for name, kind in kinds]
    others = [Given(name, kind, own_named[name], "keyword") for name, kind in call.keywords]
    others += [Given(name, kind, captured[name], "captured") for name, kind in _captured(call)]
    held = [(each, _held(each.value)) for each in (*positional, *others)]
    with redirect_stdout(io.StringIO()):
        found = runs.listed(name_of(function), function, positional, others, wrt)
    for given, (kind, leaves) in held:
        if signature.kind_of(given.value) != kind or not all(
            _is_same(x, y, is_array_free=given.how == "positional")
            for x, y in zip(leaves, taking_apart.leaf_values(kind, given.value), strict=True)
        ):
            raise no_text(f"it changes what `{given.name}` holds")
    _try(found.function, function, args, kwargs, captured)
    return found


def _captured(call: Call) -> list[tuple[str, Any]]:
    match call.target:
        case Struct(form="function", keys=keys, items=items):
            return list(zip(keys, items, strict=True))
        case Struct():
            return [("self", call.target)]
        case _:
            return []


def _held(x: Any) -> tuple[Kind, list[Any]]:
    """What a container holds, by its kind and its leaves."""
    kind = signature.kind_of(x)
    return kind, copy.deepcopy(list(taking_apart.leaf_values(kind, x)))


def _is_same(x: Any, y: Any, *, is_array_free: bool) -> bool:
    """Whether a leaf is what it was; an array that is free may hold other numbers."""
    if isinstance(x, np.ndarray):
        same_shape = isinstance(y, np.ndarray) and x.shape == y.shape
        return same_shape and (
            is_array_free or np.array_equal(x, y, equal_nan=x.dtype.kind in "fc")
        )
    if isinstance(x, (list, tuple)):
        pairs = zip(x, y, strict=False)
        return len(x) == len(y) and all(
            _is_same(a, b, is_array_free=is_array_free) for a, b in pairs
        )
    return bool(x is y or x == y or x != x)  # noqa: PLR0124  # NaN


def _try(
    function: Function,
    program: Callable[..., Any],
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    captured: Mapping[str, Any],
) -> None:
    """Compare the equations with the program at points beside that of the run, as near as they go the same way.

    What a run takes from elsewhere than its arguments, random numbers and what earlier runs have left, is a
    constant in its equations.

    Raises:
        UnsupportedSyntax: they differ.
    """
    (itself,) = settle.settled_together(VERBS["itself"](function, Verb("itself")))
    run = printer.publish(printer.render_together([itself])[0])
    for step in _STEPS:
        point = [_moved(x, step) for x in args]
        try:
            with redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
                found = _numbers(run(*copy.deepcopy(point), **kwargs, **captured))
                expected = _numbers(program(*copy.deepcopy(point), **copy.deepcopy(kwargs)))
        except Exception as error:
            if step:
                continue  # it goes another way
            raise no_text(f"where it is run again it raises {type(error).__name__}") from error
        if len(found) != len(expected) or not all(map(_is_close, found, expected)):
            raise no_text("something else than its arguments decides what it gives")
        return


_STEPS = (1e-3, 1e-6, 0.0)


def _moved(x: Any, step: float) -> Any:
    return mapped_numbers(copy.deepcopy(x), lambda leaf: _moved_number(leaf, step))


def _moved_number(x: Any, step: float) -> Any:
    if np.asarray(x).dtype.kind not in "fc":
        return x
    return np.array(x * (1 + step), dtype=x.dtype) if isinstance(x, np.ndarray) else x * (1 + step)


def _numbers(y: Any) -> list[Any]:
    found: list[Any] = []
    mapped_numbers(y, lambda leaf: found.append(value_of(leaf)))
    return found


def _is_close(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    scale = np.max(np.abs(b), initial=0.0)
    return a.shape == b.shape and bool(
        np.allclose(a, b, rtol=1e-8, atol=1e-8 * scale, equal_nan=True)
    )
