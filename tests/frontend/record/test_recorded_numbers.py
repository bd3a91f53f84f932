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
