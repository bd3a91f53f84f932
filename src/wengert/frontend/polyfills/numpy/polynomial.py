"""`numpy.polynomial`'s evaluation of series, in Python: Horner's and Clenshaw's schemes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import polynomial

from ....ops.arrays.creation import gather as array_of
from ..same_names import same_names


def _against(x: Any, c: Any, tensor: Any) -> Any:
    """The coefficients, those of several series standing apart from the places."""
    c = array_of(c)
    if tensor and np.ndim(x) > 0 and np.ndim(c) > 1:
        return np.reshape(c, (*np.shape(c), *[1 for _ in range(np.ndim(x))]))
    return c


def polyval(x: Any, c: Any, tensor: Any = True) -> Any:
    """`numpy.polynomial.polynomial.polyval`."""
    c = _against(x, c, tensor)
    value = c[-1] + x * 0
    for k in range(2, np.shape(c)[0] + 1):
        value = c[-k] + value * x
    return value


def polyder(c: Any, m: Any = 1, scl: Any = 1, axis: Any = 0) -> Any:
    """`numpy.polynomial.polynomial.polyder`."""
    c = np.moveaxis(array_of(c), axis, -1)
    for _ in range(m):
        c = c[..., 1:] * np.arange(1, np.shape(c)[-1]) * scl
    return np.moveaxis(c, -1, axis)


def polyint(c: Any, m: Any = 1, k: Any = (), lbnd: Any = 0, scl: Any = 1) -> Any:
    """`numpy.polynomial.polynomial.polyint` of one series."""
    c = array_of(c)
    constants = np.atleast_1d(k)
    for j in range(m):
        higher = np.concatenate((np.zeros(1), c / np.arange(1, np.shape(c)[0] + 1) * scl))
        constant = constants[j] if j < np.shape(constants)[0] else 0.0
        start = np.reshape(constant - polyval(lbnd, higher), (1,))
        c = np.concatenate((start, higher[1:]))
    return c


def polymul(c1: Any, c2: Any) -> Any:
    """`numpy.polynomial.polynomial.polymul`."""
    return np.convolve(np.atleast_1d(c1), np.atleast_1d(c2))


def polyadd(c1: Any, c2: Any) -> Any:
    """`numpy.polynomial.polynomial.polyadd`."""
    return _sum_of(np.atleast_1d(c1), np.atleast_1d(c2))


def polysub(c1: Any, c2: Any) -> Any:
    """`numpy.polynomial.polynomial.polysub`."""
    return _sum_of(np.atleast_1d(c1), -np.atleast_1d(c2))


def polyroots(c: Any) -> Any:
    """`numpy.polynomial.polynomial.polyroots`, in the order that it gives."""
    return np.sort(np.roots(array_of(c)[::-1]))


def polyvander(x: Any, deg: Any) -> Any:
    """`numpy.polynomial.polynomial.polyvander`."""
    return np.expand_dims(array_of(x), -1) ** np.arange(deg + 1)


def polyfit(x: Any, y: Any, deg: Any, *, w: Any = None) -> Any:
    """`numpy.polynomial.polynomial.polyfit` of all powers up to one."""
    return np.polyfit(x, y, deg, w=w)[::-1]


def polyfromroots(roots: Any) -> Any:
    """`numpy.polynomial.polynomial.polyfromroots`."""
    return np.poly(np.sort(roots))[::-1]


def chebval(x: Any, c: Any, tensor: Any = True) -> Any:
    """`numpy.polynomial.chebyshev.chebval`, by Clenshaw's sums b_k = c_k + 2 x b_{k+1} - b_{k+2}."""
    x = array_of(x)
    c = _against(x, c, tensor)
    first, second = 0.0 * x + 0.0 * c[0], 0.0 * x + 0.0 * c[0]
    for k in range(np.shape(c)[0] - 1, -1, -1):
        first, second = c[k] + 2 * x * first - second, first
    return first - x * second


def _scaled(x: Any, domain: Any, window: Any) -> Any:
    if domain is None:
        return x
    (a, b), (c, d) = domain, (-1.0, 1.0) if window is None else window
    return (b * c - a * d + x * (d - c)) / (b - a)


class PowerSeries:
    """`numpy.polynomial.Polynomial`."""

    __array_ufunc__ = None  # as NumPy's has it: arrays leave their operators to it

    def __init__(self, coef: Any, domain: Any = None, window: Any = None):
        self.coef = np.atleast_1d(coef)
        self.domain = domain
        self.window = window

    def __call__(self, x: Any) -> Any:
        return polyval(_scaled(x, self.domain, self.window), self.coef)

    def _with(self, coef: Any) -> Any:
        return PowerSeries(coef, self.domain, self.window)

    def _stretch(self) -> Any:
        return _scaled(1.0, self.domain, self.window) - _scaled(0.0, self.domain, self.window)

    def degree(self) -> Any:
        return np.shape(self.coef)[0] - 1

    def deriv(self, m: Any = 1) -> Any:
        coef = self.coef
        for _ in range(m):
            coef = coef[1:] * np.arange(1, np.shape(coef)[0]) * self._stretch()
        return self._with(coef)

    def integ(self, m: Any = 1, k: Any = 0.0, lbnd: Any = None) -> Any:
        start = 0.0 if lbnd is None else _scaled(lbnd, self.domain, self.window)
        return self._with(polyint(self.coef, m, np.atleast_1d(k), start, 1 / self._stretch()))

    def roots(self) -> Any:
        return (polyroots(self.coef) - _scaled(0.0, self.domain, self.window)) / self._stretch()

    def __neg__(self) -> Any:
        return self._with(-self.coef)

    def __add__(self, other: Any) -> Any:
        return self._with(_sum_of(self.coef, _coefficients(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self._with(_sum_of(self.coef, -_coefficients(other)))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        return self._with(np.convolve(self.coef, _coefficients(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return self._with(self.coef / other)

    def __pow__(self, n: Any) -> Any:
        power = self._with(np.ones(1))
        for _ in range(n):
            power = power * self
        return power


def _coefficients(other: Any) -> Any:
    return other.coef if isinstance(other, PowerSeries) else np.atleast_1d(other)


def _sum_of(a: Any, b: Any) -> Any:
    size = max(np.shape(a)[0], np.shape(b)[0])
    return np.pad(a, (0, size - np.shape(a)[0])) + np.pad(b, (0, size - np.shape(b)[0]))


def chebyshev_of(coef: Any, domain: Any = None, window: Any = None) -> Any:
    """`numpy.polynomial.Chebyshev`, as a function."""
    return lambda x: chebval(_scaled(x, domain, window), coef)


def legendre_of(coef: Any, domain: Any = None, window: Any = None) -> Any:
    """`numpy.polynomial.Legendre`, as a function."""
    return lambda x: polynomial.legendre.legval(_scaled(x, domain, window), coef)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(polynomial.polynomial, globals()),
    (polynomial.chebyshev.chebval, chebval),
    (polynomial.Polynomial, PowerSeries),
    (polynomial.Chebyshev, chebyshev_of),
    (polynomial.Legendre, legendre_of),
]
