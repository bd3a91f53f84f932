"""The recurrences of arithmetic on Taylor numbers: Griewank and Walther, Evaluating Derivatives, table 13.1."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op
from ...ops import elementwise as el
from ...ops.dispatch.precision import in_precision_of
from ..number import value_of
from ..pushforward import as_numpy_divides, whole
from .at_level import AtLevel, Step, value_at
from .power_series import Series


def _add(at: AtLevel, x: Any, y: Any) -> Any:
    return _sum(at, x, y, operator.add, operator.pos)


def _sub(at: AtLevel, x: Any, y: Any) -> Any:
    return _sum(at, x, y, operator.sub, operator.neg)


def _sum(at: AtLevel, x: Any, y: Any, plus: Callable[[Any, Any], Any], alone: Step) -> Any:
    if at.is_series(x) and at.is_series(y):
        return at.coefficientwise((x, y), plus)
    first = plus(value_at(at, x), value_at(at, y))
    series: Series = x if at.is_series(x) else y
    known = series.known
    step: Step = (lambda k: known[k]) if series is x else (lambda k: alone(known[k]))
    if getattr(first, "shape", ()) != getattr(series.value, "shape", ()):
        narrow = step
        step = lambda k: whole(narrow(k), first)
    return at.make((series,), first, step, ((series, 0),), series.end)


def _neg(at: AtLevel, x: Series) -> Any:
    return at.coefficientwise((x,), operator.neg)


def _pos(at: AtLevel, x: Series) -> Any:
    return x


def _mul(at: AtLevel, x: Any, y: Any) -> Any:
    if at.is_series(x) and at.is_series(y):
        return convolved(at, x, y, operator.mul)
    if at.is_series(x):
        return at.coefficientwise((x,), lambda a: a * y)
    return at.coefficientwise((y,), lambda b: x * b)


def convolved(at: AtLevel, x: Series, y: Series, times: Callable[[Any, Any], Any]) -> Series:
    """v_k = Σ x_j y_{k-j}."""

    def step(k: int) -> Any:
        low = 0 if y.end is None else max(0, k - y.end + 1)
        high = k if x.end is None else min(k, x.end - 1)
        left = x.known[low : high + 1]
        right = y.known[k - high : k - low + 1]
        right.reverse()
        return sum(map(times, left, right))

    end = None if x.end is None or y.end is None else x.end + y.end - 1
    return at.make((x, y), times(x.value, y.value), step, ((x, 0), (y, 0)), end)


def _div(at: AtLevel, x: Any, y: Any) -> Any:
    """v_k = (x_k - Σ y_j v_{k-j}) / y_0."""
    if not at.is_series(y):
        _, by = as_numpy_divides(el.div, (x, y), None)
        return at.coefficientwise((x,), lambda a: at.op(a, by))
    divisor = y.value

    def step(k: int) -> Any:
        last = k if y.end is None else min(k, y.end - 1)
        before = v.known[k - last : k]
        before.reverse()
        rest = sum(map(operator.mul, y.known[1 : last + 1], before))
        return at.op(x.known[k] - rest if at.is_series(x) else -rest, divisor)

    v = at.make(
        (x, y), at.op(value_at(at, x), divisor), step, tuple((s, 0) for s in at.series_in((x, y)))
    )
    return v


def _pow(at: AtLevel, x: Any, y: Any) -> Any:
    if at.is_series(y):
        return _exponential(at, x, y)
    known = issubclass(type(y), (int, float))  # a number of another level only says that it is one
    if known and y == int(y) and abs(y) <= 64:
        n = int(y)
        power = _product(x, abs(n)) if n else 0 * x + 1
        return power if n >= 0 else 1 / power
    if np.any(value_of(x.value) == 0):
        return None
    return _real_power(at, x, y)


def _product(x: Any, n: int) -> Any:
    """xⁿ by repeated squaring."""
    half = x if n < 2 else _product(x, n // 2)
    return x if n == 1 else half * half * x if n % 2 else half * half


def _real_power(at: AtLevel, x: Series, r: Any) -> Series:
    """k x_0 v_k = Σ (j r - (k - j)) x_j v_{k-j}."""

    def step(k: int) -> Any:
        last = k if x.end is None else min(k, x.end - 1)
        terms = ((j * (r + 1) - k) * x.known[j] * v.known[k - j] for j in range(1, last + 1))
        return sum(terms) / (k * x.value)

    v = at.make((x,), at.op(x.value, r), step, ((x, 0),))
    return v


def _exponential(at: AtLevel, x: Any, y: Series) -> Series:
    """x^y = exp(y log x), its value as the power itself gives it."""
    exponent = y * el.log(in_precision_of(value_of(y), x))

    def step(k: int) -> Any:
        return over(sum(j * exponent.known[j] * v.known[k - j] for j in range(1, k + 1)), k)

    v = at.make((x, y), at.op(value_at(at, x), y.value), step, ((exponent, 0),))
    return v


ARITHMETIC: dict[Op, Callable[..., Any]] = {
    el.add: _add,
    el.sub: _sub,
    el.neg: _neg,
    el.pos: _pos,
    el.mul: _mul,
    el.div: _div,
    el.ieee_div: _div,
    el.safe_div: _div,
    el.direction_cosine: _div,
    el.pow_: _pow,
    el.float_power: _pow,
    el.ieee_pow: _pow,
}


def over(total: Any, k: int) -> Any:
    """A quotient by an integer, exact where it is one."""
    return total // k if type(total) is int and total % k == 0 else total / k
