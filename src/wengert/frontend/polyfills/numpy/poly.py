"""NumPy's polynomials, as the front end reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.factorisations import least_squares
from ..manifest import is_known_as
from ..same_names import same_names

# --- polynomials --------------------------------------------------------------------------


def _is_polynomial(p: Any) -> Any:
    return isinstance(p, np.poly1d)


def polymul(a1: Any, a2: Any) -> Any:
    """`np.polymul`."""
    if _is_polynomial(a1) or _is_polynomial(a2):
        return Poly1d(polymul(_coefficients(a1), _coefficients(a2)))
    return np.convolve(np.atleast_1d(a1), np.atleast_1d(a2))


def polyder(p: Any, m: Any = 1) -> Any:
    """`np.polyder`."""
    if _is_polynomial(p):
        return Poly1d(polyder(p.c, m))
    p = np.atleast_1d(p)
    for _ in range(m):
        p = p[:-1] * np.arange(np.shape(p)[0] - 1, 0, -1)
    return p


def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    """`np.polyint`."""
    if _is_polynomial(p):
        return Poly1d(polyint(p.c, m, k))
    p = np.atleast_1d(p)
    for j in range(m):
        constant = 0.0 if k is None else np.atleast_1d(k)[j if np.size(k) > 1 else 0]
        powers = np.arange(np.shape(p)[0], 0, -1)
        p = np.concatenate((p / powers, np.reshape(constant, (1,))))
    return p


class Poly1d:
    """`np.poly1d`."""

    __stands_for__ = np.poly1d

    def __init__(self, c_or_r: Any, r: Any = False):
        self.c = np.poly(c_or_r) if r else np.atleast_1d(c_or_r)
        self.coeffs = self.coef = self.coefficients = self.c
        self.order = np.shape(self.c)[0] - 1

    def __call__(self, x: Any) -> Any:
        return np.polyval(self.c, x)

    def __getitem__(self, power: Any) -> Any:
        return self.c[self.order - power] if 0 <= power <= self.order else 0

    def __len__(self) -> Any:
        return self.order

    def __array__(self) -> Any:
        return self.c

    @property
    def roots(self) -> Any:
        return np.roots(self.c)

    r = roots

    def deriv(self, m: Any = 1) -> Any:
        return Poly1d(polyder(self.c, m))

    def integ(self, m: Any = 1, k: Any = None) -> Any:
        return Poly1d(polyint(self.c, m, k))

    def __neg__(self) -> Any:
        return Poly1d(-self.c)

    def __add__(self, other: Any) -> Any:
        return Poly1d(np.polyadd(self.c, _coefficients(other)))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return Poly1d(np.polysub(self.c, _coefficients(other)))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        return Poly1d(polymul(self.c, _coefficients(other)))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return Poly1d(self.c / other)

    def __pow__(self, power: Any) -> Any:
        product = Poly1d(np.ones(1))
        for _ in range(power):
            product = product * self
        return product


def _coefficients(other: Any) -> Any:
    return other.c if _is_polynomial(other) else np.atleast_1d(other)


def polyval(p: Any, x: Any) -> Any:
    """`np.polyval`, by Horner's scheme."""
    coefficients = array_of(p.c if _is_polynomial(p) else p)
    if is_known_as(x, np.poly1d):
        return _horner(Poly1d(coefficients[:1]), coefficients[1:], x)
    return _horner(np.zeros_like(x)[()], coefficients, x)  # of a number, a number


def _horner(y: Any, coefficients: Any, x: Any) -> Any:
    for coefficient in coefficients:
        y = y * x + coefficient
    return y


def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    """`np.vander`."""
    x = array_of(x)
    if np.ndim(x) != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    powers = np.arange(np.shape(x)[0] if N is None else N)
    return np.expand_dims(x, -1) ** (powers if increasing else powers[::-1])


def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, *, w: Any = None) -> Any:
    """`np.polyfit`."""
    x, y = array_of(x) + 0.0, array_of(y) + 0.0
    left = vander(x, deg + 1)
    if w is not None:
        left = left * np.expand_dims(w, -1)
        y = y * w if np.ndim(y) == 1 else y * np.expand_dims(w, -1)
    scale = np.sqrt(np.sum(left * left, axis=0))
    limit = np.shape(x)[0] * np.finfo(np.float64).eps if rcond is None else rcond
    scaled = least_squares(left / scale, y, rcond=limit)
    return np.transpose(np.transpose(scaled) / scale)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(np, globals()),
    (np.poly1d, Poly1d),
]
