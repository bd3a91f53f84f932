"""Derivatives at numbers of more digits than a float has: the function is run on them, nothing is rounded."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

import mpmath
import pytest

import wengert as wg
from wengert.errors import BadArgument

NUMBERS = [Fraction, Decimal, mpmath.mpf]


def cube(x):
    return x * x * x


@pytest.mark.parametrize("number", NUMBERS)
def test_verbs_keep_the_class_of_the_number(number):
    x, y = number("0.5") if number is not Fraction else Fraction(1, 2), number(3)
    found = [
        *wg.gradient(cube, x),
        wg.grad(cube)(x),
        wg.derivative(cube)(x),
        wg.value_and_grad(cube)(x)[1],
        wg.pullback(cube, x)[1](number(1))[0],
        wg.pushforward(cube, x)[1](number(1)),
    ]
    assert found == [3 * x * x] * 6
    assert {type(each) for each in found} == {number}
    assert wg.grad(wg.grad(cube))(x) == wg.derivative(cube, order=2)(x) == 6 * x
    assert wg.gradient(lambda a, b: a * a / b, x, y) == (2 * x / y, -x * x / (y * y))
    assert wg.grad(lambda d: d["a"] * d["b"][0])({"a": x, "b": [y]}) == {"a": y, "b": [x]}


def test_loops_run_on_exact_numbers():
    def newton(a):
        x = Fraction(1)
        for _ in range(3):
            x = (x + a / x) / 2
        return x

    h = Fraction(1, 10**12)
    slope = (newton(2 + h) - newton(2 - h)) / (2 * h)
    assert abs(wg.grad(newton)(Fraction(2)) - slope) < Fraction(1, 10**20)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("verb", [wg.jacobian, wg.hessian, wg.diag_hessian])
def test_what_makes_arrays_of_floats_refuses_them(verb, number):
    with pytest.raises(BadArgument, match=f"arrays of floats, and .* is a {number.__name__}"):
        verb(cube)(number(2))


def test_an_argument_may_hold_itself():
    kept = [3.0]
    kept.append(kept)
    assert wg.grad(lambda x, held: x * held[0])(2.0, kept) == 3.0


def test_what_is_made_for_floats_refuses_them():
    with pytest.raises(BadArgument, match="a number of class Fraction, and code is derived for fl"):
        wg.grad(cube).specialize(Fraction(1, 2))


def test_fractions_that_a_program_adds_up_are_constants():
    def harmonic(x):
        total = Fraction(0)
        for k in range(1, 4):
            total += Fraction(1, k)
        return x * float(total)

    assert wg.gradient(harmonic, 2.0) == (pytest.approx(11 / 6, rel=1e-15),)
