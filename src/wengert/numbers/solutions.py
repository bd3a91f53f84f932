"""What solvers of libraries find, as numbers with derivatives.

A solver is run as it is, on plain numbers. What it has found is then a root of its equation, and Newton's
steps from there keep the value and give the derivatives: each step makes them right to one order more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import UnsupportedSyntax
from ..runtime.containers import contents, is_built_on_container
from ..runtime.implicit import check_solution, inverse_at_root
from .arguments import is_number, mapped_numbers, whole
from .dual import Directions, Dual
from .forward import derivative, jacobian
from .levels import Level
from .number import PerturbedNumber, numbers_in
from .results import like
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
    # in a recorded run its name stands for what is read
    solver = getattr(solver, "_recorded_", solver)
    options = {name: plain(x) for name, x in options.items()}
    if not also:
        return solver(lambda *point: plain(function(*point)), *map(plain, args), **options)

    def part(k: int) -> Callable[..., Any]:
        return lambda *point: plain(function(*point)[k])

    others = {name: part(k) for k, name in enumerate(also, start=1)}
    return solver(part(0), *map(plain, args), **options, **others)


def plain(x: Any) -> Any:
    """A value without derivatives, also that of a list or an array of numbers; of what is built on one, its items."""
    if isinstance(x, PerturbedNumber):
        return plain(x.value)
    if is_built_on_container(type(x)):
        x = contents(x)
    if isinstance(x, (list, tuple)):
        return like(x, list(map(plain, x)))
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([plain(item) for item in x.flat]).reshape(x.shape)
    return x


def solution(
    residual: Callable[..., Any],
    solver: Callable[..., Any],
    args: Sequence[Any],
    options: dict[str, Any],
    tol: float | None,
) -> Any:
    """What a solver finds for plain arguments, as the function of these that its equation makes it.

    Args:
        residual: of the solution and the arguments; zero there.
        solver: of the arguments; it is run as it is.
        args: the arguments, which may be numbers with derivatives or hold some.
        options: those by keyword.
        tol: how far the solution may be off; None allows all.

    Raises:
        ValueError: the result is no solution.
        UnsupportedSyntax: it is neither a number nor an array.
    """
    given = [mapped_numbers(arg, plain) for arg in args]
    named = {name: mapped_numbers(arg, plain) for name, arg in options.items()}
    x = plain(solver(*given, **named))
    numbers: list[Any] = []
    mapped_numbers(residual(x, *args, **options), numbers.append)
    if next(_numbers(numbers), None) is None:
        return x
    if not is_number(x) or np.asarray(x).dtype.kind not in "fiu":
        raise UnsupportedSyntax(
            f"a solution that is a {type(x).__name__} has derivatives where its equation is read, not in numbers",
            "Let the solver give a real number, or an array of such, and the residual take it.",
        )
    return root_of(lambda point: residual(point, *args, **options), x + 0.0, tol)


def root_of(residual: Callable[[Any], Any], x: Any, tol: float | None = None) -> Any:
    """A root, as the function of what the residual depends on.

    Args:
        residual: of a number, or of an array and of its shape; zero at x.
        x: a float or an array of floats.
        tol: how far it may be off; None allows all.
    """
    orders: dict[Level, int | None] = {}
    numbers = list(_numbers(residual(x)))
    for number in numbers:
        _collect_orders(number, orders)
    if not orders:
        return x
    slopes = plain(getattr(type(numbers[0]), "slopes", _slopes)(residual, x))
    check_solution(x, plain(residual(x)), slopes, tol)
    steps = sum(order for order in orders.values() if order is not None)
    endless = sorted((level for level, order in orders.items() if order is None), reverse=True)
    return _in_series(_Iterates(residual, x, slopes), endless, steps)


class _Iterates:
    """Newton's steps from a root, with its slope: each makes the result right to one order more."""

    def __init__(self, residual: Callable[[Any], Any], x: Any, slopes: Any):
        self._residual = residual
        self._step = _newton_step(slopes, x)
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
    inverse = inverse_at_root(np.reshape(slopes, (np.size(x), np.size(x))))
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
