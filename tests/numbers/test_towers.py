"""Taylor numbers against arbitrary precision, and what they cost."""

from collections import namedtuple
from itertools import islice

import mpmath
import numpy as np
import pytest

import wengert as wg
from wengert.numbers import Taylor

FUNCTIONS = {
    "exp": (np.exp, mpmath.exp),
    "expm1": (np.expm1, mpmath.expm1),
    "exp2": (np.exp2, lambda x: 2**x),
    "log": (np.log, mpmath.log),
    "log1p": (np.log1p, mpmath.log1p),
    "log2": (np.log2, lambda x: mpmath.log(x, 2)),
    "log10": (np.log10, mpmath.log10),
    "sqrt": (np.sqrt, mpmath.sqrt),
    "cbrt": (np.cbrt, mpmath.cbrt),
    "sin": (np.sin, mpmath.sin),
    "cos": (np.cos, mpmath.cos),
    "tan": (np.tan, mpmath.tan),
    "asin": (np.arcsin, mpmath.asin),
    "acos": (np.arccos, mpmath.acos),
    "atan": (np.arctan, mpmath.atan),
    "sinh": (np.sinh, mpmath.sinh),
    "cosh": (np.cosh, mpmath.cosh),
    "tanh": (np.tanh, mpmath.tanh),
    "asinh": (np.arcsinh, mpmath.asinh),
    "acosh": (lambda x: np.arccosh(1 + x), lambda x: mpmath.acosh(1 + x)),
    "atanh": (np.arctanh, mpmath.atanh),
    "erf": (lambda x: x.erf(), mpmath.erf),
    "gamma": (lambda x: x.gamma(), mpmath.gamma),
    "lgamma": (lambda x: x.lgamma(), mpmath.loggamma),
    "power": (lambda x: x**2.5, lambda x: x ** mpmath.mpf(2.5)),
    "inverse cube": (lambda x: x**-3, lambda x: x**-3),
    "of a power": (lambda x: 2**x, lambda x: 2**x),
    "to itself": (lambda x: x**x, lambda x: x**x),
    "quotient": (lambda x: np.sin(x) / (1 + x * x), lambda x: mpmath.sin(x) / (1 + x * x)),
    "atan2": (lambda x: np.arctan2(x, 2.0), lambda x: mpmath.atan2(x, 2)),
    "hypot": (lambda x: np.hypot(x, 2.0), lambda x: mpmath.sqrt(x * x + 4)),
    "modulus": (lambda x: abs(-x) * x, lambda x: x * x),
    "maximum": (lambda x: np.maximum(x, 0.1) * x, lambda x: x * x),
    "where": (lambda x: np.where(x > 0, x * x, x), lambda x: x * x),
    "sinc": (np.sinc, lambda x: mpmath.sincpi(x)),
    "logaddexp": (lambda x: np.logaddexp(x, 1.0), lambda x: mpmath.log(mpmath.exp(x) + mpmath.e)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_against_arbitrary_precision(name):
    f, exact = FUNCTIONS[name]
    with mpmath.workdps(60):
        expected = mpmath.taylor(exact, mpmath.mpf(0.3), 8)
    found = wg.taylor(f, 0.3, 8)
    scale = [max(abs(c), mpmath.mpf(10) ** -20) for c in expected]
    worst = max(abs(a - b) / s for a, b, s in zip(found, expected, scale, strict=True))
    assert worst < 2e-14


def gaussian_derivatives(x, count):
    with mpmath.workdps(60):
        x = mpmath.mpf(x)
        return [(-1) ** n * mpmath.hermite(n, x) * mpmath.exp(-x * x) for n in range(count)]


@pytest.mark.parametrize("x", [0.5, 1.0, 2.0, -1.7])
def test_forty_derivatives_of_the_gaussian(x):
    found = list(islice(wg.derivatives(lambda x: np.exp(-(x**2)), x), 41))
    for value, expected in zip(found, gaussian_derivatives(x, 41), strict=True):
        assert abs(value - expected) < 1e-12 * abs(expected)


class Counting:
    """A number that counts the multiplications made with it."""

    count = 0

    def __init__(self, value):
        self.value = value

    def __add__(self, other):
        return Counting(self.value + getattr(other, "value", other))

    def __mul__(self, other):
        Counting.count += 1
        return Counting(self.value * getattr(other, "value", other))

    def __sub__(self, other):
        return Counting(self.value - getattr(other, "value", other))

    def __truediv__(self, other):
        return Counting(self.value / getattr(other, "value", other))

    def __neg__(self):
        return Counting(-self.value)

    __radd__, __rmul__ = __add__, __mul__


def multiplications(order):
    x = Taylor([Counting(1.5 + k) for k in range(order + 1)], order=order)
    y = Taylor([Counting(2.5 - k) for k in range(order + 1)], order=order)
    Counting.count = 0
    (x * y / (x + y)).coefficients()
    return Counting.count


def test_a_product_costs_the_square_of_the_order():
    counts = [multiplications(n) for n in (10, 20, 40, 80)]
    assert counts[0] == 11 * 12 / 2 + 10 * 11 / 2
    assert counts[3] == 81 * 82 / 2 + 80 * 81 / 2


def test_an_order_is_computed_once_and_only_when_asked_for():
    calls = []

    def f(x):
        calls.append(x)
        return np.exp(x)

    tower = wg.derivatives(f, 0.0)
    assert calls == []
    assert list(islice(tower, 3)) == [1.0, 1.0, 1.0]
    assert next(tower) == 1.0
    assert len(calls) == 1
    (x,) = calls
    assert len(x.exp().known) == 4  # the series that f asked for


def test_a_program_may_be_longer_than_the_stack_is_deep():
    def f(x):
        total = x
        for _ in range(1500):
            total = abs(total) + x
        return total

    assert list(islice(wg.derivatives(f, 1.0), 3)) == [1501.0, 1501.0, 0.0]


def test_arrays():
    a = np.array([[2.0, 1.0], [0.0, 3.0]])
    inverse = wg.taylor(lambda t: np.linalg.inv(a * t), 1.0, 3)
    for k, found in enumerate(inverse):
        np.testing.assert_allclose(found, (-1) ** k * np.linalg.inv(a), rtol=1e-14, atol=1e-16)
    product = wg.taylor(lambda t: (a * t) @ (a + t), 1.0, 3)
    np.testing.assert_allclose(product[1], a @ (a + 1) + a @ np.ones((2, 2)), rtol=1e-15)
    np.testing.assert_array_equal(product[3], np.zeros((2, 2)))
    x = np.array([0.3, 0.7])
    found = list(islice(wg.derivatives(lambda x: np.sum(np.sin(x)), x), 2))
    np.testing.assert_allclose(found[1], np.cos(x).sum(), rtol=1e-15)


def test_derivatives_beyond_the_largest_factorial_of_a_float():
    *_, last = islice(wg.derivatives(lambda x: np.sin(0.01 * x), 0.0), 182)
    assert last == pytest.approx(0.0, abs=0) or abs(last) == pytest.approx(0.01**181, rel=1e-10)


def test_arrays_of_numbers_as_results_keep_all_orders():
    f = lambda a: np.array([a * a, np.sin(a)])
    expected = [[4.0, np.sin(2.0)], [4.0, np.cos(2.0)], [1.0, -np.sin(2.0) / 2]]
    np.testing.assert_allclose(wg.taylor(f, 2.0, 2), expected, rtol=1e-15)
    streamed = list(islice(wg.derivatives(f, 2.0), 3))
    np.testing.assert_allclose(streamed[2], 2 * np.array(expected[2]), rtol=1e-15)
    ((first,),) = [wg.numbers.partials(f, 2.0).order(1)]
    np.testing.assert_allclose(first, expected[1], rtol=1e-15)
    product = wg.taylor(
        lambda a: np.array([[a * a, a], [1.0, a]]) @ np.array([[a, 1.0], [2.0, a]]), 2.0, 1
    )
    np.testing.assert_allclose(product[1], [[14.0, 8.0], [3.0, 4.0]])
    ((inside,), (slope,)) = wg.taylor(lambda a: [np.vectorize(lambda x: x * x)(a)], 3.0, 1)
    assert (inside, slope) == (9.0, 6.0)


def test_containers_as_results_come_back_as_they_are():
    pair = namedtuple("pair", "p q")
    assert wg.taylor(lambda a: pair(a * a, a), 2.0, 1) == [pair(4.0, 2.0), pair(4.0, 1.0)]
    assert list(islice(wg.derivatives(lambda a: {"a": a * a}, 2.0), 2)) == [{"a": 4.0}, {"a": 4.0}]
    assert wg.numbers.derivative(lambda a: pair(a * a, a), 2.0) == pair(4.0, 1.0)
    assert wg.numbers.partials(lambda x, y: (x * y, x), 2.0, 3.0).order(1) == [
        (3.0, 1.0),
        (2.0, 0.0),
    ]


@pytest.mark.parametrize("dtype", [float, "float64", np.dtype(float)])
def test_conversions_keep_all_orders(dtype):
    found = wg.taylor(lambda s: np.sum((np.arange(3.0) * s**2).astype(dtype)), 1.0, 2)
    assert found == [3.0, 6.0, 3.0]
