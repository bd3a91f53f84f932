"""Forward mode by numbers: derivatives of functions that only need to be called.

The verbs of `wengert` read a function's source. These do not: they serve functions that have none, and
where numbers are not floats. Each call has an infinitesimal of its own, so that they nest in any order.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from itertools import count, islice
from typing import Any

import numpy as np

from ..errors import BadArgument, BadTangent, NotScalar
from ..ir.callers import calling_span
from ..ops.dispatch.substitution import with_ops
from .arguments import StandIns, copied, is_number, mapped_numbers, whole
from .dual import Directions, parts_at
from .levels import Level, differentiation
from .number import PerturbedNumber, gathered, value_of
from .pushforward import zeros_of
from .results import in_direction, mapped, shape_of

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
    return run_along(with_ops(f), primals, tangents)[:2]


def run_along(
    f: Callable[..., Any], args: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool = False
) -> tuple[Any, Any, Any]:
    """One run of a function: its value, its derivative in a direction, and what else it returns.

    The arguments are left as a plain call leaves them.

    Raises:
        NotScalar: with `has_aux`, the function does not return a pair.
    """
    with differentiation() as level:
        polyfills = StandIns(level)
        seeded = [polyfills.of(x, dot) for x, dot in zip(args, tangents, strict=True)]
        try:
            result = f(*seeded)
            y, aux = checked_pair(result) if has_aux else (result, None)
            return *_parts(y, level), polyfills.without(aux)
        finally:
            polyfills.settle(args)


def checked_pair(result: Any) -> tuple[Any, Any]:
    """The value and the auxiliary data that a function has returned."""
    if not isinstance(result, tuple) or len(result) != 2:
        raise NotScalar(
            f"with has_aux=True, f must return a pair (value, auxiliary data); it returns {result!r}",
            "Return such a pair, or leave `has_aux` out.",
        )
    return result


def must_be_scalar(y: Any, name: str) -> None:
    """Refuse a result that has no gradient.

    Raises:
        NotScalar: it is not one real number.
    """
    value = value_of(gathered(y))
    if is_number(value) and np.ndim(value) == 0 and not np.iscomplexobj(value):
        return
    raise NotScalar(
        f"a gradient needs one real number as the result, but {name} returned {y!r}",
        "For several results use `wg.jacobian`.",
    )


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
        A list, or an array of the shape of `xs`; of complex numbers, ∂/∂Re + i ∂/∂Im as everywhere.

    Raises:
        NotScalar: the result is not one number.
        BadArgument: `xs` is no list, tuple or array of numbers, or `chunk` is not positive.
    """
    _must_be_row(xs, chunk)
    y, (columns,), _ = by_numbers_of(with_ops(f), (xs,), (0,), chunk)
    is_complex = np.iscomplexobj(value_of(y))
    if isinstance(y, (list, tuple, dict)) or shape_of(y) or is_complex:
        raise NotScalar(
            f"a gradient needs one real number as the result, and f returns {_said(y)}",
            "Take `numbers.jacobian` for the derivatives of several numbers.",
            calling_span(),
        )
    return put_together(xs, columns)


def _said(y: Any) -> str:
    shape = shape_of(y)
    return f"an array of shape {shape}" if shape else f"a {type(value_of(y)).__name__}"


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
    _must_be_row(xs, chunk)
    _, (columns,), _ = by_numbers_of(with_ops(f), (xs,), (0,), chunk, units=_ones)
    shape, n = shape_of(xs), len(columns)
    result = columns[0] if columns else []
    if isinstance(result, (list, tuple)):
        return [list(row) for row in zip(*columns, strict=True)]
    rows = shape_of(result)
    if shape is None and not rows:
        return columns
    stacked = np.stack(columns, axis=-1)
    return stacked.reshape((*(rows or ()), *((n,) if shape is None else shape)))


def _must_be_row(xs: Any, chunk: int) -> None:
    if not hasattr(chunk, "__index__") or chunk < 1:
        message = f"a chunk of {chunk!r} directions"
        raise BadArgument(message, "Take a whole number, at least one.", calling_span())
    is_row = isinstance(xs, (list, tuple)) and all(
        is_number(x) and shape_of(x) in (None, ()) for x in xs
    )
    if shape_of(xs) is None and not is_row:
        raise BadArgument(
            f"{xs!r} is no list, tuple or array of numbers",
            "Take `numbers.derivative` for a function of one number, `wg.gradient` for other containers.",
            calling_span(),
        )


# --- by every number of some arguments --------------------------------------------------------


def by_numbers_of(
    f: Callable[..., Any],
    args: Sequence[Any],
    argnums: Sequence[int],
    chunk: int,
    *,
    units: Callable[[Any], list[Any]] | None = None,
    moves: Callable[[Any], bool] = lambda leaf: True,
    has_aux: bool = False,
) -> tuple[Any, list[list[Any]], Any]:
    """The value of a function, and its derivatives by every number of some arguments.

    The first run is on the arguments, the others are on copies of what they were.

    Args:
        f: the function.
        args: its arguments.
        argnums: those whose numbers are differentiated by.
        chunk: how many directions one run carries.
        units: the directions of a number; those of its real and its imaginary part if left out.
        moves: which numbers are differentiated by; for the others there is no column.
        has_aux: whether `f` returns a pair, of which the second item is passed on.

    Returns:
        The value, for each of `argnums` a list of columns, and the second item of the pair.
    """
    numbers = [[leaf for leaf in numbers_in(args[k]) if moves(leaf)] for k in argnums]
    directions = [
        (j, n, unit)
        for j, leaves in enumerate(numbers)
        for n, leaf in enumerate(leaves)
        for unit in (units or units_of)(leaf)
    ]
    chunks = [directions[k : k + chunk] for k in range(0, len(directions), chunk)] or [[]]
    points = [args, *(tuple(map(copied, args)) for _ in chunks[1:])]
    found: list[list[Any]] = [[] for _ in argnums]
    y = aux = None
    for k, (point, now) in enumerate(zip(points, chunks, strict=True)):
        tangents: list[Any] = [None] * len(args)
        for j, argnum in enumerate(argnums if now else ()):
            tangents[argnum] = _along(args[argnum], j, now, moves)
        value, y_dot, also = run_along(f, point, tangents, has_aux=has_aux)
        y, aux = (value, also) if k == 0 else (y, aux)
        for d, (j, _, _) in enumerate(now):
            found[j].append(in_direction(y_dot, d))
    return y, found, aux


def numbers_in(x: Any) -> list[Any]:
    """The numbers and arrays in an argument, in their order."""
    leaves: list[Any] = []
    mapped_numbers(x, lambda leaf: leaves.append(whole(leaf)))
    return leaves


def _along(x: Any, j: int, chunk: Sequence[tuple[int, int, Any]], moves: Any) -> Any:
    """The tangents of one argument in the directions of a chunk."""
    numbers = count()

    def seed(leaf: Any) -> Any:
        if not moves(leaf):
            return None
        own = j, next(numbers)
        zero = functools.partial(
            zero_of, whole(leaf)
        )  # arrays of their own: they may change in place
        return Directions([unit if own == (k, n) else zero() for k, n, unit in chunk])

    return mapped_numbers(x, seed, gradient=True)


def units_of(x: Any) -> list[Any]:
    """The tangents of a number or an array that are 1 in one place, and i where it is complex."""
    units = _ones(x)
    return units + [unit * 1j for unit in units] if np.iscomplexobj(value_of(x)) else units


def _ones(x: Any) -> list[Any]:
    shape = shape_of(x)
    if shape is None:
        return [one_like(x)]
    return [np.reshape(one, shape) for one in np.eye(math.prod(shape))]


def zero_of(x: Any) -> Any:
    """The tangent of a number or an array that does not move."""
    shape = shape_of(x)
    return 0 * one_like(x) if shape is None else np.zeros(shape)


def put_together(
    x: Any, derivatives: Iterable[Any], moves: Callable[[Any], bool] = lambda leaf: True
) -> Any:
    """Derivatives by every number of an argument, in its structure: ∂/∂Re + i ∂/∂Im of complex numbers."""
    remaining = iter(derivatives)

    def take(leaf: Any) -> Any:
        if not moves(leaf):
            return None
        shape = shape_of(whole(leaf))
        bars = list(islice(remaining, math.prod(shape or ())))
        if np.iscomplexobj(value_of(whole(leaf))):
            bars = [bar + 1j * next(remaining) for bar in bars]
        return bars[0] if shape is None else np.reshape(rows(bars), shape)

    return mapped_numbers(x, take, gradient=True)


def rows(items: Sequence[Any]) -> Any:
    """Numbers, or arrays of one shape, as the rows of an array."""
    if any(isinstance(item, PerturbedNumber) for item in items):
        return np.stack(items)
    return gathered(np.array(items))


def one_like(x: Any) -> Any:
    """The number 1 of a number's own type."""
    value = value_of(x)
    return np.ones_like(value) if isinstance(value, np.ndarray) else zeros_of(value) + 1


def _parts(y: Any, level: Level) -> tuple[Any, Any]:
    primal = mapped(y, lambda part: parts_at(part, level)[0])
    return primal, mapped(y, lambda part: parts_at(part, level)[1])
