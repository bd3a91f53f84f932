"""Forward mode by numbers: derivatives of functions that only need to be called.

The verbs of `wengert` read a function's source. These do not: they serve functions that have none, and
where numbers are not floats. Each call has an infinitesimal of its own, so that they nest in any order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import BadArgument, BadTangent, NotScalar
from ..ir.callers import calling_span
from ..ops.substitution import with_ops
from .dual import Directions, Dual, parts_at
from .levels import Level, differentiation
from .number import value_of
from .pushforward import zeros_of
from .results import in_direction, like, mapped, shape_of

CHUNK = 8
"""How many directions a pass through a function carries; ForwardDiff.jl's default is about as many."""


def pushforward(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any]:
    """The value of a function and its derivative in a direction.

    Args:
        f: any callable that computes with numbers.
        primals: its arguments; lists, tuples and dictionaries of numbers too.
        tangents: the direction, one tangent per argument and of its structure; None for zero.

    Returns:
        (y, y_dot), both of the structure of `f(*primals)`.

    Raises:
        BadTangent: the numbers of primals and tangents differ.
    """
    if len(primals) != len(tangents):
        raise BadTangent(
            f"there are {len(primals)} primals and {len(tangents)} tangents",
            "Give one tangent per argument, None for zero.",
            calling_span(),
        )
    with differentiation() as level:
        args = [_seeded(x, dot, level) for x, dot in zip(primals, tangents, strict=True)]
        return _parts(with_ops(f)(*args), level)


def derivative(f: Callable[[Any], Any], x: Any) -> Any:
    """The derivative of a function of one number.

    Args:
        f: any callable that computes with numbers; it may return lists, tuples and dictionaries.
        x: where; any number that a `Dual` can carry.

    Example:
        >>> derivative(lambda x: x * derivative(lambda y: x + y, 1.0), 1.0)
        1.0
    """
    return pushforward(f, (x,), (one_like(x),))[1]


def gradient(f: Callable[[Any], Any], xs: Any, chunk: int = CHUNK) -> Any:
    """The gradient of a function of a list or array of numbers, in passes of `chunk` directions.

    Returns:
        A list, or an array of the shape of `xs`.

    Raises:
        NotScalar: the result is not one number.
        BadArgument: `xs` is no list, tuple or array, or `chunk` is not positive.
    """
    columns = _all_columns(f, xs, chunk)
    for each in columns[:1]:
        if isinstance(each, (list, tuple, dict)) or shape_of(each):
            raise NotScalar(
                f"a gradient needs one number as the result, and f returns {_said(each)}",
                "Take `numbers.jacobian` for the derivatives of several numbers.",
                calling_span(),
            )
    shape = shape_of(xs)
    return columns if shape is None else np.array(columns).reshape(shape)


def _said(y_dot: Any) -> str:
    """What a result is, by its tangent."""
    shape = shape_of(y_dot)
    return f"a {type(y_dot).__name__}" if shape is None else f"an array of shape {shape}"


def jacobian(f: Callable[[Any], Any], xs: Any, chunk: int = CHUNK) -> Any:
    """The partial derivatives of every result of a function by every number of a list or an array.

    Args:
        f: takes the list or array, and returns a number, a list of numbers or an array.
        xs: where: a list or tuple of numbers, or an array.
        chunk: how many directions one pass carries: more take fewer passes and more memory.

    Returns:
        For each result a row with one derivative per number: a list of lists; one row for a number; an
        array of shape `(*result.shape, *xs.shape)` for an array.

    Raises:
        BadArgument: `chunk` is not positive.
    """
    columns = _all_columns(f, xs, chunk)
    shape, n = shape_of(xs), len(columns)
    result = columns[0] if columns else []
    if isinstance(result, (list, tuple)):
        return [list(row) for row in zip(*columns, strict=True)]
    rows = shape_of(result)
    if shape is None and not rows:
        return columns
    stacked = np.stack(columns, axis=-1)
    return stacked.reshape((*(rows or ()), *((n,) if shape is None else shape)))


def _all_columns(f: Callable[[Any], Any], xs: Any, chunk: int) -> list[Any]:
    """The derivatives of a result by every number of a list or an array."""
    if chunk < 1:
        raise BadArgument(f"a chunk of {chunk} directions", "Take at least one.", calling_span())
    shape = shape_of(xs)
    if shape is None and not isinstance(xs, (list, tuple)):
        raise BadArgument(
            f"{xs!r} is no list, tuple or array of numbers",
            "Take `numbers.derivative` for a function of one number; put others into a list.",
            calling_span(),
        )
    n = len(xs) if shape is None else math.prod(shape)
    starts = range(0, n, chunk)
    return [each for k in starts for each in _columns(f, xs, range(k, min(k + chunk, n)))]


def _columns(f: Callable[[Any], Any], xs: Any, within: range) -> list[Any]:
    """The derivatives by some of the numbers, in one pass."""
    shape = shape_of(xs)
    with differentiation() as level:
        seeded: Any
        if shape is not None:
            units = np.eye(math.prod(shape))[within.start : within.stop]
            seeded = Dual(xs, Directions([unit.reshape(shape) for unit in units]), level)
        else:
            seeded = [
                Dual(x, Directions([int(j == k) * one_like(x) for k in within]), level)
                for j, x in enumerate(xs)
            ]
        y_dot = _parts(with_ops(f)(seeded), level)[1]
    return [in_direction(y_dot, k) for k in range(len(within))]


def one_like(x: Any) -> Any:
    """The number 1 of a number's own type."""
    value = value_of(x)
    return np.ones_like(value) if isinstance(value, np.ndarray) else zeros_of(value) + 1


def _seeded(x: Any, dot: Any, level: Level) -> Any:
    if dot is None:
        return x
    if isinstance(x, (list, tuple)):
        return like(x, [_seeded(each, d, level) for each, d in zip(x, dot, strict=True)])
    if isinstance(x, dict):
        return {key: _seeded(each, dot[key], level) for key, each in x.items()}
    return Dual(x, dot.copy() if isinstance(dot, np.ndarray) else dot, level)


def _parts(y: Any, level: Level) -> tuple[Any, Any]:
    primal = mapped(y, lambda part: parts_at(part, level)[0])
    return primal, mapped(y, lambda part: parts_at(part, level)[1])
