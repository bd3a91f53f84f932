"""What derivatives are where there is none, or only one-sided ones: a value, never an exception."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

INF = math.inf


def horner_free(cs: list[float], x: float) -> float:
    return sum(c * x**k for k, c in enumerate(cs))


KINKS: list[tuple[Callable[..., Any], tuple[float, ...], tuple[float, ...]]] = [
    (lambda x: abs(x), (0.0,), (0.0,)),
    (lambda x: math.fabs(x), (0.0,), (0.0,)),
    (lambda x: np.abs(x), (0.0,), (0.0,)),
    (lambda x: math.copysign(x, -2.0), (0.0,), (0.0,)),
    (lambda x: math.copysign(x, -3.0), (2.0,), (-1.0,)),
    (lambda x: math.sqrt(x), (0.0,), (INF,)),
    (lambda x: x**0.5, (0.0,), (INF,)),
    (lambda x: math.cbrt(x), (0.0,), (INF,)),
    (lambda x: math.asin(x), (1.0,), (INF,)),
    (lambda x: math.acos(x), (-1.0,), (-INF,)),
    (lambda x: math.acosh(x), (1.0,), (INF,)),
    (lambda x, y: max(x, y), (1.0, 1.0), (1.0, 0.0)),
    (lambda x, y: min(x, y), (1.0, 1.0), (1.0, 0.0)),
    (lambda x, y: np.fmax(x, y), (1.0, math.nan), (1.0, 0.0)),
    (lambda x, y: np.fmin(x, y), (math.nan, 1.0), (0.0, 1.0)),
    (lambda x, y: x**y, (0.0, 0.0), (0.0, 0.0)),
    (lambda x, y: x**y, (0.0, 1.0), (1.0, 0.0)),
    (lambda x, y: x**y, (0.0, 2.0), (0.0, 0.0)),
    (lambda x: x**0, (0.0,), (0.0,)),
    (lambda x: x**1, (0.0,), (1.0,)),
    (lambda x: x**2, (0.0,), (0.0,)),
    (lambda x, y: math.hypot(x, y), (0.0, 0.0), (0.0, 0.0)),
    (lambda y, x: math.atan2(y, x), (0.0, 0.0), (0.0, 0.0)),
    (lambda x: np.clip(x, 0.0, 1.0), (1.0,), (1.0,)),
    (lambda x, low, high: np.clip(x, low, high), (0.5, 2.0, 1.0), (0.0, 0.0, 1.0)),
    (lambda x, low, high: np.clip(x, low, high), (1.5, 2.0, 1.0), (0.0, 0.0, 1.0)),
    (lambda x, low, high: np.clip(x, low, high), (1.0, 1.5, 1.5), (0.0, 0.0, 1.0)),
    (lambda x: math.floor(x) * x, (2.5,), (2.0,)),
    (lambda x, y: x % y, (7.5, 2.0), (1.0, -3.0)),
]


@pytest.mark.parametrize(("f", "at", "expected"), KINKS)
def test_kink(f: Callable[..., Any], at: tuple[float, ...], expected: tuple[float, ...]) -> None:
    assert wg.gradient(f, *at) == expected


def test_powers_known_only_at_run_time_are_right_at_zero() -> None:
    coefficients = [5.0, 3.0, 2.0, 7.0]
    f = lambda x: horner_free(coefficients, x)
    derivatives = [wg.derivative(f, order)(0.0) for order in (1, 2, 3, 4)]
    assert derivatives == [3.0, 4.0, 42.0, 0.0]


def test_an_array_of_zeros_has_no_spread() -> None:
    for f in (lambda x: np.std(x), lambda x: np.var(x), lambda x: np.std(x, ddof=1)):
        (x_bar,) = wg.gradient(f, np.zeros(3))
        np.testing.assert_array_equal(x_bar, np.zeros(3))


def test_the_first_of_several_extremes_counts() -> None:
    x = np.array([[1.0, 3.0, 3.0], [3.0, 0.0, 3.0]])
    (x_bar,) = wg.gradient(lambda x: np.max(x), x)
    np.testing.assert_array_equal(x_bar, [[0, 1, 0], [0, 0, 0]])
    (x_bar,) = wg.gradient(lambda x: np.sum(np.max(x, axis=0)), x)
    np.testing.assert_array_equal(x_bar, [[0, 1, 1], [1, 0, 0]])


def test_products_of_zeros() -> None:
    (x_bar,) = wg.gradient(lambda x: np.prod(x), np.array([0.0, 2.0, 3.0]))
    np.testing.assert_array_equal(x_bar, [6.0, 0.0, 0.0])
    second = wg.hessian(lambda x: np.prod(x))(np.array([0.0, 0.0, 3.0]))
    np.testing.assert_array_equal(second, [[0, 3, 0], [3, 0, 0], [0, 0, 0]])


def test_a_mask_hides_what_is_not_finite() -> None:
    f = lambda x: np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), 0.0))
    (x_bar,) = wg.gradient(f, np.array([4.0, 0.0, -1.0]))
    np.testing.assert_array_equal(x_bar, [0.25, 0.0, 0.0])


@pytest.mark.parametrize(
    ("f", "expected"),
    [
        (lambda z: abs(z) ** 2, 2 + 4j),
        (lambda z: abs(z), (1 + 2j) / math.sqrt(5)),
        (lambda z: z.real, 1 + 0j),
        (lambda z: z.imag, 1j),
        (lambda z: z.conjugate().imag, -1j),
        (lambda z: (z * z).real, 2 - 4j),
        (lambda z: cmath.phase(z), (-2 + 1j) / 5),
        (lambda z: np.angle(z), (-2 + 1j) / 5),
        (lambda z: cmath.exp(z).real, cmath.exp(1 - 2j)),
        (lambda z: abs(cmath.log(z)), None),
    ],
)
def test_complex_gradients(f: Callable[[complex], float], expected: complex | None) -> None:
    z, h = 1 + 2j, 1e-6
    by_differences = (f(z + h) - f(z - h) + 1j * (f(z + 1j * h) - f(z - 1j * h))) / (2 * h)
    (z_bar,) = wg.gradient(f, z)
    assert isinstance(z_bar, complex)
    assert z_bar == pytest.approx(by_differences, rel=1e-8)
    if expected is not None:
        assert z_bar == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    "length", [lambda x: math.hypot(x, 1.3), lambda x: math.atan2(x, 1.3), abs]
)
def test_calls_with_several_results_beside_a_length(length):
    """Their second result was taken for the first one where a slope was followed, and second derivatives were wrong."""

    def f(x):
        def power(n, y):
            return power(n - 1, y * x) if n else y

        return power(3, 1.3) + length(x)

    x, step = 1.5, 1e-4
    wanted = (wg.grad(f)(x + step) - wg.grad(f)(x - step)) / (2 * step)
    assert wg.hessian(f)(x) == pytest.approx(wanted, rel=1e-6)
    assert wg.hvp(f)(x, 1.0) == pytest.approx(wanted, rel=1e-6)
    assert wg.jacobian(wg.grad(f), mode="reverse")(x) == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("tier", ["static", "recorded"])
@pytest.mark.parametrize("x", [math.nan, np.array([math.nan, -1.5])])
def test_second_derivatives_of_absolute_values_are_zero_at_nan_too(x, tier):
    zero = np.zeros(np.shape(x) * 2)
    np.testing.assert_array_equal(wg.hessian(lambda x: np.sum(np.abs(x)), tier=tier)(x), zero)
    nested = wg.jacobian(wg.grad(lambda x: np.sum(abs(x)), tier=tier), tier=tier)
    np.testing.assert_array_equal(nested(x), zero)
