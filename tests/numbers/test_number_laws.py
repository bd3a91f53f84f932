"""Laws of numbers with derivatives: a ring, a vector space of tangents, homomorphisms (HS13, HS14, HS19)."""

from fractions import Fraction
from functools import reduce
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, strategies as st

import wengert as wg
from wengert import numbers
from wengert.numbers import Taylor

Dual = wg.Dual

rationals = st.fractions(min_value=-50, max_value=50, max_denominator=20)
duals = st.builds(Dual, rationals, rationals)
invertible = duals.filter(lambda d: d.primal != 0)
series = st.lists(rationals, min_size=4, max_size=4).map(lambda c: Taylor(c, order=3))
polynomials = st.lists(rationals, min_size=1, max_size=4)


def parts(number):
    if isinstance(number, Taylor):
        return number.coefficients()
    return (number.primal, number.tangent)


def horner(coefficients):
    return lambda x: reduce(lambda total, c: total * x + c, coefficients)


@pytest.mark.parametrize("numbers_", [duals, series], ids=["Dual", "Taylor"])
def test_they_are_a_commutative_ring(numbers_):
    @given(numbers_, numbers_, numbers_)
    def laws(a, b, c):
        assert parts(a + b) == parts(b + a)
        assert parts(a * b) == parts(b * a)
        assert parts((a + b) + c) == parts(a + (b + c))
        assert parts((a * b) * c) == parts(a * (b * c))
        assert parts(a * (b + c)) == parts(a * b + a * c)
        assert parts(a + 0) == parts(a * 1) == parts(a - b + b) == parts(0 - (0 - a))

    laws()


@given(duals, invertible)
def test_division_undoes_multiplication(a, b):
    assert parts(a / b * b) == parts(a)
    assert parts(1 / (1 / b)) == parts(b)
    assert parts(b**-2) == parts(1 / (b * b))


@given(duals, duals)
def test_HS19_the_tangent_is_linear_and_obeys_leibniz(a, b):
    assert (a + b).tangent == a.tangent + b.tangent
    assert (a * b).tangent == a.tangent * b.primal + a.primal * b.tangent


@given(rationals, rationals, rationals, rationals, polynomials)
def test_tangents_are_a_vector_space(x, v, w, k, f):
    def push(dot):
        return horner(f)(Dual(x, dot)).tangent if len(f) > 1 else 0

    assert push(v + w) == push(v) + push(w)
    assert push(k * v) == k * push(v)


@given(rationals, rationals, polynomials, polynomials)
def test_HS13_HS14_differentiation_is_a_homomorphism(x, v, f, g):
    def both(h):
        y, y_dot = numbers.pushforward(h, (x,), (v,))
        return Dual(y, y_dot)

    f, g = horner(f), horner(g)
    assert parts(both(lambda x: f(x) + g(x))) == parts(both(f) + both(g))
    assert parts(both(lambda x: f(x) * g(x))) == parts(both(f) * both(g))
    if g(x) != 0:
        assert parts(both(lambda x: f(x) / g(x))) == parts(both(f) / both(g))


@given(rationals, rationals, polynomials, polynomials)
def test_HS13_so_is_composition(x, v, f, g):
    f, g = horner(f), horner(g)
    inner = g(Dual(x, v))
    composed = numbers.pushforward(lambda x: f(g(x)), (x,), (v,))
    y = f(inner)
    assert (parts(y) if isinstance(y, Dual) else (y, 0)) == composed


@given(rationals, rationals, rationals)
def test_several_directions_are_each_direction_by_itself(x, v, w):
    together = horner([1, 2, 3, 4])(Dual(x, (v, w)))
    apart = [horner([1, 2, 3, 4])(Dual(x, dot)).tangent for dot in (v, w)]
    assert list(together.tangent) == apart


@given(rationals, polynomials)
def test_towers_of_polynomials_are_exact(x, f):
    expected, coefficients = [], list(f)
    for _ in range(6):
        expected.append(horner(coefficients)(x) if coefficients else Fraction(0))
        top = len(coefficients) - 1
        coefficients = [c * (top - k) for k, c in enumerate(coefficients[:-1])]
    found = list(islice(wg.derivatives(horner(f), x), 6))
    assert found == expected


@given(st.floats(-2, 2), st.integers(0, 8))
def test_towers_are_nested_duals(x, order):
    def f(x):
        return np.exp(np.sin(x)) / (2 + x * x)

    nested = f
    for _ in range(min(order, 3)):
        nested = (lambda inner: lambda x: numbers.derivative(inner, x))(nested)
    tower = list(islice(wg.derivatives(f, x), 4))
    assert tower[min(order, 3)] == pytest.approx(nested(x), rel=1e-11, abs=1e-11)
