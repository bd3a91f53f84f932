"""Operators of recorded numbers: floats, integers and truth values in every place, beside what reading finds."""

import math
import operator

import numpy as np
import pytest

import wengert as wg

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")

NUMBERS = (0.7, -1.3, 0.0, np.float64(0.7), math.inf)
OTHERS = (2, 3, 1, 0, -1, -7, 10**20, 0.5, -0.5, True, np.float64(2.0))
OPERATORS = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod, operator.floordiv,
)  # fmt: skip
FUNCTIONS = (
    operator.neg, operator.pos, abs, math.sqrt, np.sqrt, math.cos, np.cosh, math.fabs, np.square, math.exp,
)  # fmt: skip


def outcome(function, x, tier):
    """Value, slope and second derivative; or the name of the exception."""
    try:
        first = wg.value_and_grad(function, tier=tier)(x)
        return *first, wg.derivative(function, order=2, tier=tier)(x)
    except (ArithmeticError, ValueError, TypeError, wg.WengertError) as error:
        return type(error).__name__


def agree(function):
    for x in NUMBERS:
        read, recorded = (outcome(function, x, tier) for tier in ("static", "recorded"))
        if isinstance(read, str):
            assert recorded == read, x
        elif not np.iscomplexobj(read):
            np.testing.assert_allclose(recorded, read, rtol=1e-12, err_msg=repr(x))


@pytest.mark.parametrize("compute", OPERATORS)
@pytest.mark.parametrize("other", OTHERS)
def test_operators_agree_with_what_is_read(compute, other):
    if other or compute not in (operator.truediv, operator.mod, operator.floordiv):
        agree(lambda x: compute(x, other))
        agree(lambda x: compute(x * x + 1.0, other) * x)
    agree(lambda x: compute(other, x))


@pytest.mark.parametrize("compute", FUNCTIONS)
def test_functions_and_their_squares_agree_with_what_is_read(compute):
    agree(compute)
    agree(lambda x: compute(x) ** 2)
    agree(lambda x: compute(x) * compute(x) * x)
    agree(lambda x: compute(compute(x)))


@pytest.mark.parametrize(
    "compute", [abs, operator.neg, lambda x: x**0, lambda x: x**1, lambda x: x**3]
)
def test_slopes_at_what_is_no_number_agree_with_what_is_read(compute):
    read, recorded = (wg.grad(compute, tier=tier)(math.nan) for tier in ("static", "recorded"))
    np.testing.assert_equal(recorded, read)


@pytest.mark.parametrize(
    "residual", [lambda p, a: p * 2.0 - a, lambda p, a: -p * 3.0 + a + p, lambda p, a: p + p - a]
)
@pytest.mark.parametrize("square", [lambda r: r * r, lambda r: r**2])
def test_a_cotangent_that_is_zero_moves_with_what_is_around_the_run(residual, square):
    """At an optimum the cotangents are zero; how they change is what implicit derivatives are made of."""

    def slope(a):
        return wg.grad(lambda p: square(residual(p, a)), tier="recorded")(0.85)

    by_p = residual(1.0, 0.0) - residual(0.0, 0.0)
    by_a = residual(0.0, 1.0) - residual(0.0, 0.0)
    assert residual(0.85, 1.7) == pytest.approx(0.0)
    assert wg.grad(slope, tier="recorded")(1.7) == pytest.approx(2 * by_p * by_a)


@pytest.mark.parametrize(
    ("f", "x", "value", "slope"),
    [
        (lambda x: np.float64(x) / 0.0, 1.5, np.inf, np.inf),
        (lambda x: 2.0 / np.float64(x - x), 1.5, np.inf, np.nan),
        (lambda x: abs(x) / 0.0, np.float32(1.5), np.inf, np.inf),
        (lambda x: (-abs(x) / 0.0) * 1.0, np.float64(1.5), -np.inf, -np.inf),
    ],
)
def test_numbers_of_numpys_raise_nothing_at_a_pole(f, x, value, slope):
    with np.errstate(all="ignore"):
        plain, recorded = f(x), wg.value_and_grad(f, tier="recorded")(x)
        assert plain == value
        assert type(recorded[0]) is type(plain)
        np.testing.assert_equal(recorded, (value, slope))
        np.testing.assert_equal(wg.grad(f, tier="static")(x), slope)


def test_numbers_of_pythons_raise_at_a_pole():
    for f in (lambda x: x / 0.0, lambda x: abs(x) / 0.0, lambda x: float(np.float64(x)) / 0.0):
        for tier in ("static", "recorded"):
            with pytest.raises(ZeroDivisionError):
                wg.grad(f, tier=tier)(1.5)
