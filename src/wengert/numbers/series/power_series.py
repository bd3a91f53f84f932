"""Power series: coefficients computed as they are asked for, each once, by what an operation left to do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...errors import BadArgument, OrderExceeded
from ...ir.callers import calling_span
from ...ops.dispatch.lookup import must_be_number
from ..levels import Level, level_above
from ..number import PerturbedNumber, value_of
from ..pushforward import zeros_of

Needs = tuple[tuple["Series", int], ...]
"""Series that the coefficient of an order is computed from, each with how many orders it may lag behind."""


class Series(PerturbedNumber):
    """A power series in an infinitesimal; what its operations are, the class that users see knows: `Taylor`."""

    __slots__ = ("_known", "_shared", "end", "level", "needs", "order", "prepare", "sides", "step")

    def __init__(
        self, coefficients: Iterable[Any], order: int | None = None, level: Level | None = None
    ):
        self._known = list(coefficients)
        if not self._known or (order is not None and not 0 < len(self._known) <= order + 1):
            raise BadArgument(
                f"{len(self._known)} coefficients of a Taylor number of order {order}",
                "A number of order n has one to n + 1 coefficients.",
                calling_span(),
            )
        if level is None:
            for each in self._known:
                must_be_number(each, "a coefficient of a Taylor number")
        self.order = order
        self.level: Level = level_above(*self._known) if level is None else level
        self.end: int | None = len(self._known)
        self.needs: Needs = ()
        self.step: Callable[[int], Any] | None = None
        self.prepare: Callable[[], tuple[Callable[[int], Any], Needs]] | None = None
        self._shared: dict[Any, Any] = {}
        self.sides: tuple[Series, Series] | None = None
        self.root_of = None

    @property
    def value(self) -> Any:
        return self._known[0]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        """NumPy's functions, by its own conventions: the logarithm of 0 is -inf, not an exception."""
        try:
            return super().__array_ufunc__(ufunc, method, *inputs, **options)
        except (ArithmeticError, ValueError):
            as_numpy = (_as_numpy_computes(x) for x in inputs)
            return super().__array_ufunc__(ufunc, method, *as_numpy, **options)

    @property
    def known(self) -> list[Any]:
        """The coefficients computed so far."""
        return self._known

    def coefficient(self, k: int) -> Any:
        """c_k, which is f⁽ᵏ⁾ / k!."""
        if self.order is not None and k > self.order:
            raise OrderExceeded(
                f"order {k} of a Taylor number that keeps order {self.order}",
                f"Make it with order={k}, or leave `order` out: any order can then be asked for.",
                calling_span(),
            )
        if len(self._known) <= k:
            _compute(self, k)
        return self._known[k]

    def derivative(self, k: int) -> Any:
        """The derivative of order k."""
        return times_factorial(self.coefficient(k), k)

    def coefficients(self) -> list[Any]:
        """All coefficients that the order keeps; without an order, those computed so far."""
        last = len(self._known) - 1 if self.order is None else self.order
        return [self.coefficient(k) for k in range(last + 1)]

    def __copy__(self) -> Series:
        return self  # it never changes; what is computed later is the same for all

    def __deepcopy__(self, memo: Any) -> Series:
        return self

    def shared(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was computed of this number before under a key: the sine's cosine's sine is the sine."""
        if key not in self._shared:
            self._shared[key] = make()
        return self._shared[key]

    def __repr__(self) -> str:
        if self.order is None:
            return (
                f"Taylor({self._known!r})" if self.step is None else f"Taylor({self._known!r}, …)"
            )
        return f"Taylor({self.coefficients()!r}, order={self.order})"

    def __format__(self, spec: str) -> str:
        return (
            f"Taylor([{', '.join(format(c, spec) for c in self.coefficients())}])"
            if spec
            else repr(self)
        )


def _compute(series: Series, order: int) -> None:
    """Compute coefficients up to an order, and first those of other series that they need.

    The stack is a list of its own: a program may be longer than Python's stack is deep.
    """
    pending = [(series, order)]
    while pending:
        node, last = pending[-1]
        k = len(node.known)
        if k > last:
            pending.pop()
        elif node.end is not None and k >= node.end:
            node.known.append(zeros_of(node.value))
        else:
            missing = [(n, k - lag) for n, lag in node.needs if len(n.known) <= k - lag]
            if missing:
                pending.extend(missing)
            elif node.prepare is not None:
                node.step, node.needs = node.prepare()
                node.prepare = None
            else:
                assert node.step is not None
                node.known.append(node.step(k))


def _as_numpy_computes(x: Any) -> Any:
    """A number of Python's, or a series that starts with one, as NumPy's."""
    if isinstance(x, Series) and type(value_of(x)) in (float, int):
        return x * np.float64(1.0)
    return np.asarray(x)[()] if type(x) in (float, int) else x


def times_factorial(coefficient: Any, k: int) -> Any:
    """k! c_k, also where k! is larger than every float."""
    if isinstance(coefficient, float) and k > 170:
        for factor in range(2, k + 1):
            coefficient *= factor
        return coefficient
    return coefficient * math.factorial(k)


def order_of(numbers: Sequence[Series]) -> int | None:
    """The order that a result of several numbers keeps."""
    return min((n.order for n in numbers if n.order is not None), default=None)
