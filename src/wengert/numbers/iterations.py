"""Iterations by derivatives, as lazy streams of iterates: roots, inverses, fixed points, extrema.

A stream ends when an iterate repeats the one before or the one before that, or comes no nearer in the last digits; a
caller takes what it needs. The methods of ekmett's
`ad` (Numeric.AD.Newton and Numeric.AD.Halley), and the steps of J. Nocedal and S. Wright, Numerical
Optimization, chapter 5.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

import numpy as np

from ..errors import BadArgument
from ..ir.callers import calling_span
from ..ops.dispatch.substitution import with_ops
from ..ops.elementwise import log
from ..ops.structure import stop_gradient
from .forward import derivative, gradient, pushforward
from .number import PerturbedNumber, value_of
from .series.taylor import Taylor
from .series.towers import taylor

Function = Callable[[Any], Any]
Method = Callable[[Function, Any], Iterator[Any]]
OfNumbers = Callable[[Any], Any]
"""A function of a list of numbers, or of an array where the start is one."""
Descent = Callable[[OfNumbers, Any], Iterator[Any]]


def _on_lists(descent: Descent) -> Descent:
    """A method for lists of numbers, for arrays as well; functions that call `math` are run with ops."""

    @functools.wraps(descent)
    def run(f: OfNumbers, xs: Any) -> Iterator[Any]:
        points = descent(_of_list(with_ops(f), xs), _as_list(xs))
        return (_like(xs, point) for point in points)

    return run


def _of_list(f: OfNumbers, xs: Any) -> OfNumbers:
    return (lambda items: f(_like(xs, items))) if isinstance(xs, np.ndarray) else f


def _as_list(xs: Any) -> list[Any]:
    return xs.ravel().tolist() if isinstance(xs, np.ndarray) else list(xs)


def _like(xs: Any, items: list[Any]) -> Any:
    return np.array(items).reshape(xs.shape) if isinstance(xs, np.ndarray) else items


def newton(f: Function, x: Any) -> Iterator[Any]:
    """Newton's method for a root of f: x - f / f′, of quadratic convergence.

    Args:
        f: any callable of one real or complex number.
        x: where to start; the first iterate.

    Raises:
        BadArgument: f′ is zero where f is not.

    Example:
        >>> list(newton(lambda x: x * x - 4, 1.0))[:3]
        [1.0, 2.5, 2.05]
    """
    return _stream(lambda x: _newton_step(f, x), x)


def _newton_step(f: Function, x: Any) -> Any:
    y, slope = pushforward(f, (x,), (value_of(x) * 0 + 1,))
    return x - _quotient(y, slope, x)


def halley(f: Function, x: Any) -> Iterator[Any]:
    """Halley's method for a root of f: x - 2 f f′ / (2 f′² - f f″), of cubic convergence.

    Args:
        f: any callable of one real or complex number.
        x: where to start; the first iterate.

    Raises:
        BadArgument: the denominator is zero where f is not.
    """
    return _stream(lambda x: _halley_step(f, x), x)


def _halley_step(f: Function, x: Any) -> Any:
    y, slope, half = taylor(f, x, 2)
    return x - _quotient(2 * y * slope, 2 * slope**2 - y * (2 * half), x)


def inverse(f: Function, x: Any, y: Any, method: Method = newton) -> Iterator[Any]:
    """Where f is y, from a first guess x."""
    f = with_ops(f)
    return method(lambda x: f(x) - y, x)


def fixed_point(f: Function, x: Any, method: Method = newton) -> Iterator[Any]:
    """Where f(x) is x, from a first guess."""
    f = with_ops(f)
    return method(lambda x: f(x) - x, x)


def extremum(f: Function, x: Any, method: Method = newton) -> Iterator[Any]:
    """Where f′ is zero, from a first guess."""
    return method(lambda x: derivative(f, x), x)


@_on_lists
def gradient_descent(f: OfNumbers, xs: Any) -> Iterator[Any]:
    """Steepest descent with a step that is halved when it fails and doubled after ten successes.

    Args:
        f: a function of a list of numbers, or of an array.
        xs: where to start, a list or an array; the first iterate.

    Returns:
        The points, each with a smaller f than the one before; the stream ends at a minimum.
    """
    point, value, step, successes = list(xs), f(xs), 0.1, 0
    slope = gradient(f, point)
    yield point
    while step > 1e-300 and any(slope):
        trial = [x - step * d for x, d in zip(point, slope, strict=True)]
        found = f(trial)
        if not found < value:
            step, successes = step / 2, 0
            continue
        point, value, successes = trial, found, successes + 1
        slope = gradient(f, point)
        yield point
        if successes == 10:
            step, successes = step * 2, 0


@_on_lists
def gradient_ascent(f: OfNumbers, xs: Any) -> Iterator[Any]:
    """Steepest ascent: descent of -f."""
    return gradient_descent(lambda xs: -f(xs), xs)


@_on_lists
def conjugate_gradient_descent(f: OfNumbers, xs: Any) -> Iterator[Any]:
    """Conjugate gradients by Fletcher and Reeves, with a line search by Newton's method.

    Args:
        f: a function of a list of numbers, or of an array.
        xs: where to start, a list or an array; the first iterate.

    Returns:
        The points; the stream ends where the gradient is zero or no step makes f smaller.
    """
    point = list(xs)
    slope = gradient(f, point)
    direction = [-d for d in slope]
    yield point
    while any(slope):
        moved = _line_search(f, point, direction)
        if moved is None:
            if direction == [-d for d in slope]:
                return
            direction = [-d for d in slope]
            continue
        point, before = moved, slope
        slope = gradient(f, point)
        yield point
        factor = sum(d * d for d in slope) / sum(d * d for d in before)
        direction = [factor * v - d for v, d in zip(direction, slope, strict=True)]


@_on_lists
def conjugate_gradient_ascent(f: OfNumbers, xs: Any) -> Iterator[Any]:
    """Conjugate gradients upwards: descent of -f."""
    return conjugate_gradient_descent(lambda xs: -f(xs), xs)


def stochastic_gradient_descent(
    error: Callable[[Any, Any], Any], data: Iterable[Any], xs: Any, rate: float = 1e-3
) -> Iterator[Any]:
    """One step down the error of each datum in turn.

    Args:
        error: a function of a datum and a list of numbers, or an array.
        data: the data, which may be without end.
        xs: where to start, a list or an array; the first iterate.
        rate: the step, times the gradient.
    """
    error, point = with_ops(error), _as_list(xs)
    yield _like(xs, point)
    for datum in data:
        slope = gradient(_of_list(functools.partial(error, datum), xs), point)
        point = [x - rate * d for x, d in zip(point, slope, strict=True)]
        yield _like(xs, point)


def constrained_descent(f: OfNumbers, constraints: Sequence[OfNumbers], xs: Any) -> Iterator[Any]:
    """Descent inside g(x) > 0 for every constraint g, kept there by logarithmic barriers.

    Args:
        f: a function of a list of numbers, or of an array.
        constraints: functions of it that are positive where it may be.
        xs: where to start, a list or an array: a point that the constraints allow.

    Raises:
        BadArgument: they do not allow it, or are no sequence of functions.
    """
    if callable(constraints):
        message = f"the constraints are one function, {constraints!r}"
        raise BadArgument(message, "Give a list of functions.", calling_span())
    f, constraints = with_ops(f), [with_ops(g) for g in constraints]
    if not all(g(xs) > 0 for g in constraints):
        message = f"the constraints do not allow {xs!r}"
        raise BadArgument(message, "Start at a point inside.", calling_span())
    return _inside(f, constraints, xs)


def _inside(f: OfNumbers, constraints: Sequence[OfNumbers], xs: Any) -> Iterator[Any]:
    def barrier(weight: float) -> OfNumbers:
        def guarded(xs: Any) -> Any:
            margins = [g(xs) for g in constraints]
            if not all(margin > 0 for margin in margins):
                return float("inf")
            return f(xs) - weight * sum(log(margin) for margin in margins)

        return guarded

    point, weight = xs, 1.0
    yield point
    while weight > 1e-12:
        for nearer in islice(gradient_descent(barrier(weight), point), 1, 50):
            point = nearer
            yield point
        weight /= 10


def _line_search(
    f: Callable[[Sequence[Any]], Any], point: list[float], direction: list[float]
) -> list[float] | None:
    """An extremum on a line by Newton's method; if f is no smaller there, a point where it is."""

    def at(t: Any) -> Any:
        return [x + t * v for x, v in zip(point, direction, strict=True)]

    def along(t: Any) -> Any:
        return f(at(t))

    value, t = along(0.0), 0.0
    for _ in range(20):
        _, slope, half_curvature = taylor(along, t, 2)
        if half_curvature == 0 or slope == 0:
            break
        t -= slope / (2 * half_curvature)
    if along(t) < value:
        return at(t)
    t = 1.0
    while t > 1e-20:
        if along(t) < value:
            return at(t)
        t /= 2
    return None


def _stream(step: Function, x: Any) -> Iterator[Any]:
    """Iterates until they repeat; the last one has its derivatives, which settle after its value, from more steps."""
    before, after = None, step(x)
    while not _has_settled(before, x, after):
        yield x
        before, x, after = x, after, step(after)
    for _ in range(_steps_for_derivatives(x)):
        after = step(after)
    yield after + stop_gradient(x - after)


def _has_settled(before: Any, x: Any, after: Any) -> bool:
    """Whether iterates repeat, alternate, or come no nearer by steps in the last digits."""
    if after == x:
        return True
    if before is None:
        return False
    return after == before or _is_stuck(abs(after - x), abs(x - before), abs(x))


def _is_stuck(step: Any, step_before: Any, size: Any) -> bool:
    is_symbolic = hasattr(value_of(step), "free_symbols")
    return not is_symbolic and bool(step_before <= step <= 1e-12 * size)


def _steps_for_derivatives(x: Any) -> int:
    """How many steps make the derivatives of a root right: each makes twice as many orders right."""
    orders = 3
    while isinstance(x, PerturbedNumber):
        in_series = (x.order or _MOST_ORDERS) if isinstance(x, Taylor) else 1
        orders, x = orders + in_series, x.value
    return orders.bit_length() - 1


_MOST_ORDERS = 200
"""More than a float has factorials."""


def _quotient(a: Any, b: Any, x: Any) -> Any:
    """A step; none where there is nothing to divide."""
    if b != 0:
        return a / b
    if a != 0:
        raise BadArgument(f"no step leads on from {x!r}: the derivative is 0", "Start elsewhere.")
    return a * 0
