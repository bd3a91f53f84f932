"""Elementwise helpers of derivative code: on Python numbers as on arrays, never an exception."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def sign(x: Any) -> Any:
    """-1, 0 or 1 as a float, of a real number; NaN of NaN. Of NumPy's numbers, as one of them."""
    found = 1.0 if x > 0 else -1.0 if x < 0 else 0.0 * x
    return x.dtype.type(found) if hasattr(x, "dtype") else found


def unit(x: Any) -> Any:
    """x / |x|, and 0 of 0: the sign of a real number, the direction of a complex one."""
    if isinstance(x, (float, int)):
        return sign(x)
    return safe_div(x, np.abs(x)) if np.iscomplexobj(x) else np.sign(x)


def i_imag(x: Any) -> Any:
    """i Im x; 0 of a real number."""
    return (x - np.conj(x)) / 2


def ieee_div(a: Any, b: Any) -> Any:
    """a / b as IEEE 754 has it: dividing a Python number by zero gives ±inf or NaN."""
    if isinstance(b, np.ndarray) or b:
        return a / b
    if type(b) not in (float, int) or type(a) not in (float, int):
        with np.errstate(divide="ignore", invalid="ignore"):
            return a / np.asarray(b)[()]
    return (
        math.copysign(math.inf, a) * math.copysign(1.0, b) if a and not math.isnan(a) else math.nan
    )


def safe_div(a: Any, b: Any) -> Any:
    """a / b, and 0 where b is 0."""
    if type(b) in (float, int, complex):
        if b != 0:
            return a / b
        return 0.0 if type(a) in (float, int, complex) else np.zeros_like(a)[()]
    zero = b == 0
    return np.where(zero, 0, a / np.where(zero, 1, b))[()]


def direction_cosine(x: Any, r: Any) -> Any:
    """x / r, where r is the length of a vector with the entry x: 0 where that is 0, ±1 of an infinite entry."""
    if isinstance(x, float) and isinstance(r, float):  # as NumPy's numbers are
        if math.isinf(x):
            return type(x)(math.copysign(1.0, x))
        return x / r if r else type(x)(0.0)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(x), np.sign(x), safe_div(x, r))[()]


def safe_log(x: Any) -> Any:
    """log x, 0 of 0, and NaN of a negative number: the derivative of x**y in y, over x**y."""
    if type(x) in (float, int):
        return math.log(x) if x > 0 else 0.0 if x == 0 else math.nan
    with np.errstate(invalid="ignore"):
        logarithm = np.log(np.where(x == 0, 1, x))[()]
    return complex(logarithm) if isinstance(x, complex) else logarithm


def ieee_pow(x: Any, y: Any) -> Any:
    """x**y, and infinite where a Python number would raise."""
    if isinstance(x, np.ndarray) or isinstance(y, np.ndarray):
        x = np.asarray(x)
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            return (x.astype(float) if x.dtype.kind in "biu" else x) ** y
    try:
        return x**y
    except ArithmeticError:
        negative = not isinstance(x, complex) and math.copysign(1.0, x) < 0 and y % 2 == 1
        return -math.inf if negative else math.inf


def falling(y: Any, *, order: int, derivative: int) -> Any:
    """A derivative of the falling factorial y (y - 1) … (y - order + 1)."""
    taylor = [1.0] + [0.0] * derivative
    for i in range(order):
        for k in range(derivative, -1, -1):
            taylor[k] = taylor[k] * (y - i) + (taylor[k - 1] if k else 0.0)
    return taylor[derivative] * math.factorial(derivative)


def pow_derivative(x: Any, y: Any, *, order: int) -> Any:
    """A derivative of x**y in x; 0 wherever its factor y (y - 1) … is, also at x = 0."""
    factor = falling(y, order=order, derivative=0)
    if not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray):
        return factor * ieee_pow(x, y - order) if factor != 0 else 0.0
    power = ieee_pow(x, y - order)
    with np.errstate(invalid="ignore"):
        return np.where(factor == 0, 0, factor * power)[()]


def sech(x: Any) -> Any:
    """1 / cosh x, which neither overflows nor loses digits."""
    if type(x) in (float, int):
        e = math.exp(-abs(x))
        return 2.0 * e / (1.0 + e * e)
    e = np.exp(np.where(np.real(x) < 0, x, -x))[()]
    return 2 * e / (1 + e * e)


def expit(x: Any) -> Any:
    """The logistic function 1 / (1 + exp(-x))."""
    if type(x) in (float, int):
        e = math.exp(-abs(x))
        return (1.0 if x > 0 else e) / (1.0 + e)
    e = np.exp(-np.abs(x))
    return np.where(x > 0, 1, e)[()] / (1 + e)


def sinc_derivative(x: Any, *, order: int) -> Any:
    """A derivative of sin(πx) / (πx): its Taylor series near 0, a recurrence further out."""
    number = complex if np.iscomplexobj(x) else float
    t = np.pi * np.asarray(x, dtype=number)
    near = np.abs(t) < order + 1
    small = np.where(near, t, 0.0)
    series, power = np.zeros_like(t), np.ones_like(t)
    for k in range(40 + 3 * order):
        series += power * (1, 0, -1, 0)[(order + k) % 4] / (order + k + 1)
        power = power * small / (k + 1)
    large = np.where(near, 1.0, t)
    turn = np.pi * (x - 2 * np.round(np.real(np.asarray(x, dtype=number)) / 2))
    waves = (np.sin(turn), np.cos(turn))
    far = waves[0] / large
    for k in range(1, order + 1):
        wave = waves[k % 2] if k % 4 < 2 else -waves[k % 2]
        far = (wave - k * far) / large
    result = np.where(near, series, far) * np.pi**order
    if not isinstance(x, np.ndarray):
        return number(result)
    return result.astype(x.dtype) if x.dtype.kind in "fc" else result


def bessel_i(x: Any, *, order: int) -> Any:
    """The modified Bessel function I of an integer order, by its continued fraction over I₀."""
    t = np.abs(np.asarray(x, dtype=float))
    ratio = np.zeros_like(t)
    value = np.i0(t)
    ratios: list[Any] = []
    largest = min(np.max(t, initial=0.0, where=np.isfinite(t)), 800.0)  # I₀ has overflowed there
    top = order + 40 + int(2 * largest**0.5 + 0.6 * largest)
    for n in range(top, -1, -1):
        ratio = t / (2 * (n + 1) + t * ratio)
        if n < order:
            ratios.append(ratio)
    for each in ratios:
        value = value * each
    result = np.where(np.asarray(x) < 0, (-1.0) ** order * value, value)
    return result.astype(x.dtype) if isinstance(x, np.ndarray) else float(result)


def polygamma(x: float, *, order: int) -> float:
    """The derivative of that order of the digamma function ψ (order 0 is ψ itself)."""
    if x <= 0 and x == math.floor(x):
        return math.nan
    if x < 0.5 and order < 2:
        angle = math.pi * (x - round(x))
        if order == 0:
            return polygamma(1.0 - x, order=0) - math.pi / math.tan(angle)
        return (math.pi / math.sin(angle)) ** 2 - polygamma(1.0 - x, order=1)
    sign_ = 1.0 if order % 2 else -1.0
    factorial = math.factorial(order)
    terms = []
    while x < 12.0 + order:
        terms.append(sign_ * factorial * x ** -(order + 1))
        x += 1.0
    if order == 0:
        terms += [math.log(x), -0.5 / x]
    else:
        terms.append(sign_ * math.factorial(order - 1) * x**-order)
        terms.append(sign_ * 0.5 * factorial * x ** -(order + 1))
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
    for k, b in enumerate(bernoulli, start=1):
        rising = math.factorial(2 * k + order - 1) / math.factorial(2 * k)
        terms.append(sign_ * b * rising * x ** -(2 * k + order))
    return math.fsum(terms)
