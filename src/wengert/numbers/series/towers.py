"""Towers: all derivatives of a function, each computed when it is asked for and only once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count
from typing import Any

from ...errors import BadArgument, MixedNumbers
from ...ir.callers import calling_span
from ...ops.dispatch.lookup import must_be_number
from ...ops.dispatch.substitution import with_ops
from ...ops.program.checks import counted
from ..dual import Dual
from ..forward import one_like
from ..levels import Level, differentiation, level_of
from ..pushforward import zeros_of
from ..results import mapped, numbers_of, shape_of
from .power_series import times_factorial
from .taylor import Taylor


def derivatives(f: Callable[[Any], Any], x: Any) -> Iterator[Any]:
    """f(x), f′(x), f″(x) and so on without end.

    Args:
        f: any callable that computes with numbers, called once; it may return lists, tuples, dictionaries and arrays.
        x: where: an int, float, complex, Fraction, Decimal, a number of mpmath, an expression of SymPy,
            or an array (of which every element is a variable of its own, in an elementwise function; of
            another function, the derivatives are those in the direction of ones).

    Returns:
        A lazy iterator. Order n costs O(n) multiplications per operation of f once the orders before
        it are known.

    Example:
        >>> from itertools import islice
        >>> list(islice(derivatives(lambda x: x**3, 2.0), 5))
        [8.0, 12.0, 12.0, 6.0, 0.0]
    """
    must_be_number(x, "the point of a tower of derivatives")
    with differentiation() as level:
        y = with_ops(f)(Taylor([x, one_like(x)], level=level))
    for k in count():
        yield mapped(y, lambda part, k=k: times_factorial(coefficient_at(part, level, k), k))


def taylor(f: Callable[[Any], Any], x: Any, order: int) -> list[Any]:
    """The coefficients c_k = f⁽ᵏ⁾(x) / k! of a function's Taylor polynomial.

    Args:
        f: any callable that computes with numbers.
        x: the point that the polynomial is expanded at.
        order: the degree of the polynomial.

    Returns:
        A list of order + 1 coefficients.

    Raises:
        BadArgument: the order is negative or no integer.

    Example:
        >>> taylor(lambda x: 1 / (1 - x), 0.0, 4)
        [1.0, 1.0, 1.0, 1.0, 1.0]
    """
    must_be_order(order, f"a Taylor polynomial of degree {order!r}")
    must_be_number(x, "the point of an expansion")
    with differentiation() as level:
        start = [x, one_like(x)] if order else [x]
        y = with_ops(f)(Taylor(start, order=order, level=level))
    return [mapped(y, lambda part, k=k: coefficient_at(part, level, k)) for k in range(order + 1)]


def must_be_order(order: Any, what: str) -> None:
    """Refuse an order that is negative or no integer."""
    if not hasattr(order, "__index__") or order < 0:
        raise BadArgument(what, "Give an integer from 0 on.", calling_span())


def coefficient_at(y: Any, level: Level, k: int) -> Any:
    """The coefficient of a result in the infinitesimal of a level; other levels stay as they are."""
    if isinstance(y, Taylor) and y.level == level:
        return y.coefficient(k)
    if level_of(y) > level:
        if isinstance(y, Dual):
            primal, tangent = (coefficient_at(part, level, k) for part in (y.primal, y.tangent))
            return Dual(primal, tangent, y.level)
        raise MixedNumbers(
            f"the result {y!r} carries an infinitesimal of a later differentiation",
            "Take its coefficients before it leaves that differentiation.",
            calling_span(),
        )
    must_be_number(y, "the result of a function that is differentiated")
    return y if k == 0 else zeros_of(y)


class Partials:
    """All mixed partial derivatives of a function of several numbers, each computed once.

    `partials[2, 0, 1]` is ∂³f / ∂x² ∂z; `partials.order(n)` is the symmetric tensor of order n as nested
    lists; iterating gives the value, the gradient, the Hessian and so on without end.

    A number for each variable, each of a level of its own: coefficients of coefficients (ekmett's `grads`).
    """

    def __init__(self, f: Callable[..., Any], *xs: Any):
        self._count = len(xs)
        with ExitStack() as stack:
            self._levels = [stack.enter_context(differentiation()) for _ in xs]
            pairs = zip(xs, self._levels, strict=True)
            self._result = with_ops(f)(
                *[Taylor([x, one_like(x)], level=level) for x, level in pairs]
            )
        for x, level in zip(xs, self._levels, strict=True):
            _must_be_elementwise(self._result, x, level)

    def __getitem__(self, orders: tuple[int, ...] | int) -> Any:
        orders = orders if isinstance(orders, tuple) else (orders,)
        if len(orders) != self._count:
            raise BadArgument(
                f"{len(orders)} orders of a function of {self._count} variables",
                "Give one order for each variable.",
                calling_span(),
            )
        for k in orders:
            must_be_order(k, f"a partial derivative of order {k!r}")
        return mapped(self._result, lambda part: self._partial(part, orders))

    def _partial(self, value: Any, orders: tuple[int, ...]) -> Any:
        for level, k in reversed(list(zip(self._levels, orders, strict=True))):
            value = coefficient_at(value, level, k)
        for k in orders:
            value = times_factorial(value, k)
        return value

    def __repr__(self) -> str:
        return f"<partials by {counted(self._count, 'variable')}>"

    def order(self, n: int) -> Any:
        """The derivatives of order n: a number, a gradient, a Hessian, a tensor of n axes."""
        must_be_order(n, f"the derivatives of order {n!r}")
        return self._tensor(n, (0,) * self._count)

    def _tensor(self, n: int, orders: tuple[int, ...]) -> Any:
        if n == 0:
            return self[orders]
        units = ([int(j == k) for j in range(self._count)] for k in range(self._count))
        return [
            self._tensor(n - 1, tuple(a + b for a, b in zip(orders, unit, strict=True)))
            for unit in units
        ]

    def __iter__(self) -> Iterator[Any]:
        return map(self.order, count())


def _must_be_elementwise(y: Any, x: Any, level: Level) -> None:
    """Refuse a result that has fewer numbers than an array that it depends on.

    Raises:
        BadArgument: its partial by each of them would come out as their sum.
    """
    shape = shape_of(x) or ()
    for part in numbers_of(y):
        if level_of(part) >= level and math.prod(shape_of(part) or ()) < math.prod(shape):
            raise BadArgument(
                f"a result of shape {shape_of(part) or ()} has no single partial by an array of shape {shape}",
                "Make every element a variable: `partials(lambda *x: f(np.array(x)), *x)`.",
                calling_span(),
            )


def partials(f: Callable[..., Any], *xs: Any) -> Partials:
    """All mixed partial derivatives of a function at a point.

    Args:
        f: any callable of as many numbers.
        xs: the point.

    Raises:
        BadArgument: f sums up an array among `xs`; make its elements variables of their own.

    Example:
        >>> p = partials(lambda x, y: x**2 * y, 3.0, 2.0)
        >>> p[1, 1], p.order(1), p.order(2)
        (6.0, [12.0, 9.0], [[4.0, 6.0], [6.0, 0.0]])
    """
    return Partials(f, *xs)
