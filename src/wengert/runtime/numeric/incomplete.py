"""Derivatives of the incomplete gamma and beta functions in their parameters, which have no closed form.

What is summed is a truncated Taylor series in the parameters: an array whose first two axes count powers
of the one and of the other, so that one evaluation gives a derivative of any order. Only the ratio to the
function itself is computed so; SciPy gives the function.

Formulas: NIST Digital Library of Mathematical Functions, 8.7, 8.9 and 8.17.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def gammainc_derivative(a: Any, x: Any, *, order: int) -> Any:
    """The derivative of that order, at least 1, of `scipy.special.gammainc(a, x)` in `a`."""
    from scipy.special import gammainc, gammaincc  # pyright: ignore[reportMissingTypeStubs]

    dtype = np.asarray(gammainc(a, x)).dtype
    a, x = np.broadcast_arrays(np.asarray(a, dtype=float), np.asarray(x, dtype=float))
    inside = (a > 0) & (x > 0) & (x < np.inf)
    below = x < np.maximum(a + 1, 2.0)  # above, the function is close to 1
    found = np.where((a > 0) & ((x == 0) | (x == np.inf)), 0.0, np.full(a.shape, np.nan))
    for part, value, series in (
        (inside & below, gammainc, _gamma_below),
        (inside & ~below, lambda a, x: -gammaincc(a, x), _gamma_above),
    ):
        if np.any(part):
            of = a[part], x[part]
            found[part] = value(*of) * _coefficient(series(*of, order), (order, 0))
    return found.astype(dtype)[()]


def betainc_derivative(a: Any, b: Any, x: Any, *, orders: tuple[int, int]) -> Any:
    """The derivative of `scipy.special.betainc(a, b, x)`, so many times in `a` and so many times in `b`."""
    from scipy.special import betainc, betaincc  # pyright: ignore[reportMissingTypeStubs]

    dtype = np.asarray(betainc(a, b, x)).dtype
    a, b, x = np.broadcast_arrays(*(np.asarray(each, dtype=float) for each in (a, b, x)))
    inside = (a > 0) & (b > 0) & (x > 0) & (x < 1)
    below = x <= (a + 1) / (a + b + 2)  # above, the function is that of 1 - x, taken from 1
    found = np.where((a > 0) & (b > 0) & ((x == 0) | (x == 1)), 0.0, np.full(a.shape, np.nan))
    if np.any(part := inside & below):
        of = a[part], b[part], x[part]
        found[part] = betainc(*of) * _coefficient(_beta(*of, 1 - of[2], *orders), orders)
    if np.any(part := inside & ~below):
        of, turned = (a[part], b[part], x[part]), (orders[1], orders[0])
        series = _beta(of[1], of[0], 1 - of[2], of[2], *turned)
        found[part] = -betaincc(*of) * _coefficient(series, turned)
    return found.astype(dtype)[()]


def _coefficient(series: np.ndarray, orders: tuple[int, int]) -> Any:
    """The derivative of these orders of a series that is 1 where it starts."""
    from math import factorial

    return series[orders] * float(factorial(orders[0]) * factorial(orders[1]))


# --- series of the functions, over their value --------------------------------------------------


def _gamma_below(a: Any, x: Any, order: int) -> np.ndarray:
    """Of P(a, x) = xᵃ e⁻ˣ / Γ(a + 1) · Σ xⁿ / (a + 1)ₙ."""
    shape = (order + 1, 1, *a.shape)
    term = total = _linear(shape, 1.0)
    n = 0
    while n % 8 or n == 0 or np.any(abs(term) > 1e-17 * abs(total)):
        n += 1
        term = x * _product(term, _inverse(_linear(shape, a + n, 1.0)))
        total = total + term
    return _with_factor(total, lambda k: (np.log(x) if k == (1, 0) else 0.0) - _polygamma(k, a + 1))


def _gamma_above(a: Any, x: Any, order: int) -> np.ndarray:
    """Of 1 - P(a, x) = xᵃ e⁻ˣ / Γ(a) · 1/(x + 1 - a - 1(1 - a)/(x + 3 - a - 2(2 - a)/(x + 5 - a - …)))."""
    shape = (order + 1, 1, *a.shape)
    count = int(70 + 2.5 * np.sqrt(np.max(a)))
    rest = _linear(shape, x + 2 * count + 1 - a, -1.0)
    for n in range(count, 0, -1):
        quotient = _product(_linear(shape, n * (a - n), n), _inverse(rest))
        rest = _linear(shape, x + 2 * n - 1 - a, -1.0) + quotient
    return _with_factor(
        _inverse(rest), lambda k: (np.log(x) if k == (1, 0) else 0.0) - _polygamma(k, a)
    )


def _beta(a: Any, b: Any, x: Any, y: Any, i: int, j: int) -> np.ndarray:
    """Of I(a, b, x) = xᵃ yᵇ / (a B(a, b)) · 1/(1 + d₁/(1 + d₂/(1 + …))) with y = 1 - x."""
    shape = (i + 1, j + 1, *a.shape)
    one = rest = _linear(shape, 1.0)
    for n in range(2 * int(12 + 5 * np.sqrt(np.max(np.maximum(a, b)))) + 1, 0, -1):
        rest = one + _product(_numerator_of_beta(shape, n, a, b, x), _inverse(rest))

    def slope(k: tuple[int, int]) -> Any:
        own = _polygamma(k, a + 1) if k[1] == 0 else _polygamma(k, b) if k[0] == 0 else 0.0
        logarithm = {(1, 0): np.log(x), (0, 1): np.log(y)}.get(k, 0.0)
        return logarithm + _polygamma(k, a + b) - own

    return _with_factor(_inverse(rest), slope)


def _numerator_of_beta(shape: tuple[int, ...], n: int, a: Any, b: Any, x: Any) -> np.ndarray:
    """dₙ: m(b - m)x / (a + 2m - 1)(a + 2m) of n = 2m, and -(a + m)(a + b + m)x / (a + 2m)(a + 2m + 1) after it."""
    m, odd = divmod(n, 2)
    if odd:
        above = _product(_linear(shape, a + m, 1.0), _linear(shape, -x * (a + b + m), -x, -x))
    else:
        above = _linear(shape, m * (b - m) * x, 0.0, m * x)
    under = _product(_linear(shape, a + n - 1, 1.0), _linear(shape, a + n, 1.0))
    return _product(above, _inverse(under))


def _polygamma(orders: tuple[int, int], z: Any) -> Any:
    """The derivative of log Γ of as many orders in all."""
    from scipy.special import polygamma  # pyright: ignore[reportMissingTypeStubs]

    return polygamma(sum(orders) - 1, z)


# --- truncated Taylor series ----------------------------------------------------------------------


def _linear(shape: tuple[int, ...], value: Any, first: Any = 0.0, second: Any = 0.0) -> np.ndarray:
    """value + first · ε + second · δ."""
    series = np.zeros(shape)
    series[0, 0] = value
    if shape[0] > 1:
        series[1, 0] = first
    if shape[1] > 1:
        series[0, 1] = second
    return series


def _product(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    made = np.zeros_like(x)
    for i, j in np.ndindex(*x.shape[:2]):
        for k, m in np.ndindex(i + 1, j + 1):
            made[i, j] += x[k, m] * y[i - k, j - m]
    return made


def _inverse(x: np.ndarray) -> np.ndarray:
    """1 / x."""
    made = _linear(x.shape, 1 / x[0, 0])
    for i, j in np.ndindex(*x.shape[:2]):
        if (i, j) != (0, 0):
            others = ((k, m) for k, m in np.ndindex(i + 1, j + 1) if (k, m) != (0, 0))
            made[i, j] = -made[0, 0] * sum(x[k, m] * made[i - k, j - m] for k, m in others)
    return made


def _with_factor(series: np.ndarray, slope: Callable[[tuple[int, int]], Any]) -> np.ndarray:
    """A series times a factor, over the value of both; `slope` gives derivatives of the factor's logarithm."""
    from math import factorial

    factor = _linear(series.shape, 1.0)
    for i, j in np.ndindex(*series.shape[:2]):
        axis = 0 if i else 1
        for k in np.ndindex(i + 1, j + 1):
            if k[axis]:  # (exp f)' = f' exp f
                of_logarithm = slope(k) / (factorial(k[0]) * factorial(k[1]))
                factor[i, j] += k[axis] / (i, j)[axis] * of_logarithm * factor[i - k[0], j - k[1]]
    return _product(factor, series / series[0, 0])
