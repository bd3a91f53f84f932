"""What solvers of libraries find, as numbers with derivatives.

A solver is run as it is, on plain numbers. What it has found is then a root of its equation, and Newton's
steps from there keep the value and give the derivatives: each step makes them right to one order more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import NoRule
from ..ir.callers import calling_span
from .dual import Directions, Dual
from .forward import derivative, jacobian
from .levels import Level
from .number import PerturbedNumber, gathered, numbers_in


def found(
    solver: Callable[..., Any],
    function: Callable[..., Any],
    args: Sequence[Any],
    also: Sequence[str],
    options: dict[str, Any],
) -> Any:
    """What a solver finds for a function; it has no derivative.

    Args:
        solver: takes a function first.
        function: what it is given; it may compute with numbers that have derivatives.
        args: what the solver is given after the function.
        also: keywords of other functions the solver is given; `function` returns a tuple of its own
            value and theirs.
        options: what it is given by keyword.
    """
    if not also:
        return solver(lambda *point: plain(function(*point)), *map(plain, args), **options)

    def part(k: int) -> Callable[..., Any]:
        return lambda *point: plain(function(*point)[k])

    others = {name: part(k) for k, name in enumerate(also, start=1)}
    return solver(part(0), *map(plain, args), **options, **others)


def plain(x: Any) -> Any:
    """A value without derivatives, also that of a list or an array of numbers."""
    if isinstance(x, PerturbedNumber):
        return plain(x.value)
    if isinstance(x, (list, tuple)):
        return type(x)(map(plain, x))
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([plain(item) for item in x.flat]).reshape(x.shape)
    return x


def root_of(residual: Callable[[Any], Any], x: Any) -> Any:
    """A root, as the function of what the residual depends on.

    Args:
        residual: of a number, or of an array and of its shape; zero at x.
        x: a float or an array of floats.

    Raises:
        NoRule: the residual carries a series, of which no step gives all orders.
    """
    levels = {level for number in _numbers(residual(x)) for level in _levels_in(number)}
    if not levels:
        return x
    step = _newton_step(residual, x)
    moved = x
    for _ in levels:
        moved = _as_one(moved - step(_as_one(residual(moved))))
    return moved + (x - plain(moved))


def _newton_step(residual: Callable[[Any], Any], x: Any) -> Callable[[Any], Any]:
    """From a residual near x to Newton's step, with the slope at x."""
    if np.ndim(x) == 0:
        slope = plain(derivative(residual, x))
        return lambda r: r / slope
    slopes = plain(jacobian(residual, x))
    inverse = np.linalg.inv(np.reshape(slopes, (np.size(x), np.size(x))))
    return lambda r: np.reshape(inverse @ np.ravel(r), np.shape(x))


def _as_one(x: Any) -> Any:
    """An array of numbers with derivatives as one number that is an array."""
    return gathered(x) if isinstance(x, np.ndarray) else x


def _numbers(x: Any) -> Iterator[PerturbedNumber]:
    return numbers_in(list(x.flat) if isinstance(x, np.ndarray) else x)


def _levels_in(x: Any) -> Iterator[Level]:
    """The levels of a number with derivatives, and of the numbers inside it."""
    if isinstance(x, Directions):
        for each in x:
            yield from _levels_in(each)
    elif isinstance(x, Dual):
        yield x.level
        yield from _levels_in(x.primal)
        yield from _levels_in(x.tangent)
    elif isinstance(x, PerturbedNumber):
        raise NoRule(
            "the solution of an equation has no series of all orders",
            "Nest `wengert.numbers.derivative`, once for each order.",
            calling_span(),
        )
