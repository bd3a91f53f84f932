"""What solvers of libraries find, as numbers with derivatives.

A solver is run as it is, on plain numbers. What it has found is then a root of its equation, and Newton's
steps from there keep the value and give the derivatives: each step makes them right to one order more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from .arguments import whole
from .dual import Directions, Dual
from .forward import derivative, jacobian
from .levels import Level
from .number import PerturbedNumber, numbers_in
from .series.taylor import Taylor
from .series.towers import coefficient_at


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
    """
    orders: dict[Level, int | None] = {}
    numbers = list(_numbers(residual(x)))
    for number in numbers:
        _collect_orders(number, orders)
    if not orders:
        return x
    slopes = getattr(type(numbers[0]), "slopes", _slopes)
    steps = sum(order for order in orders.values() if order is not None)
    endless = sorted((level for level, order in orders.items() if order is None), reverse=True)
    return _in_series(_Iterates(residual, x, slopes(residual, x)), endless, steps)


class _Iterates:
    """Newton's steps from a root, with its slope: each makes the result right to one order more."""

    def __init__(self, residual: Callable[[Any], Any], x: Any, slopes: Any):
        self._residual = residual
        self._step = _newton_step(plain(slopes), x)
        self._root = x
        self._moved = [x]

    def __getitem__(self, steps: int) -> Any:
        while len(self._moved) <= steps:
            moved = self._moved[-1]
            self._moved.append(whole(moved - self._step(whole(self._residual(moved)))))
        moved = self._moved[steps]
        return moved + (self._root - plain(moved))


def _in_series(
    iterates: _Iterates,
    endless: Sequence[Level],
    steps: int,
    orders: tuple[tuple[Level, int], ...] = (),
) -> Any:
    """The coefficient of some orders, itself a series at each of the levels that have no last order."""
    if not endless:
        value = iterates[steps]
        for level, k in orders:
            value = coefficient_at(value, level, k)
        return value
    level, *lower = endless

    def coefficient(k: int) -> Any:
        return _in_series(iterates, lower, steps + k, (*orders, (level, k)))

    series = Taylor([coefficient(0)], level=level)
    series.step, series.end = coefficient, None
    return series


def _slopes(residual: Callable[[Any], Any], x: Any) -> Any:
    """The derivative of a residual by x, or its Jacobian."""
    return derivative(residual, x) if np.ndim(x) == 0 else jacobian(residual, x)


def _newton_step(slopes: Any, x: Any) -> Callable[[Any], Any]:
    """From a residual near x to Newton's step, with the slope at x."""
    if np.ndim(x) == 0:
        return lambda r: r / slopes
    inverse = np.linalg.inv(np.reshape(slopes, (np.size(x), np.size(x))))
    return lambda r: np.reshape(inverse @ np.ravel(r), np.shape(x))


def _numbers(x: Any) -> Iterator[PerturbedNumber]:
    return numbers_in(list(x.flat) if isinstance(x, np.ndarray) else x)


def _collect_orders(x: Any, orders: dict[Level, int | None]) -> None:
    """The levels of a number with derivatives and of those inside it, each with the last order that it keeps."""
    if isinstance(x, Directions):
        for each in x:
            _collect_orders(each, orders)
    elif isinstance(x, Dual):
        orders[x.level] = 1
        _collect_orders(x.primal, orders)
        _collect_orders(x.tangent, orders)
    elif isinstance(x, Taylor):
        orders[x.level] = x.order
        for coefficient in x.known if x.order is None else x.coefficients():
            _collect_orders(coefficient, orders)
    elif isinstance(x, PerturbedNumber):  # of a recorded run
        orders[x.level] = 1
        _collect_orders(x.value, orders)
