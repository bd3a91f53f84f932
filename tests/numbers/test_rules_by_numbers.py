"""Rules and hooks of users' own, where functions are run on numbers with derivatives and on terms."""

from __future__ import annotations

import math
import types
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import wengert as wg
from wengert import numbers
from wengert.errors import NoRule, UnsupportedSyntax


def with_rule(form):
    """A function whose derivative is said to be 100, and one that calls it: x f(x)."""

    def f(x):
        return x * x

    match form:
        case "scalar_rule":
            wg.scalar_rule(f, lambda x, Ω: 100.0)
        case "rrule":
            wg.rrule(f)(lambda x: (x * x, lambda y_bar: 100.0 * y_bar))
        case "frule":
            wg.frule(f)(lambda xs, dots: (xs[0] * xs[0], 100.0 * dots[0]))
        case "zero_rule":
            wg.zero_rule(f)
    return f, lambda x: f(x) * x


@pytest.mark.parametrize("form", ["scalar_rule", "rrule", "frule", "zero_rule"])
def test_a_rule_is_used_by_numbers_as_well(form):
    f, g = with_rule(form)
    slope = 0.0 if form == "zero_rule" else 100.0
    assert numbers.derivative(f, 3.0) == slope
    assert numbers.derivative(g, 3.0) == 9.0 + 3 * slope
    assert wg.taylor(g, 3.0, 3) == [27.0, 9.0 + 3 * slope, slope, 0.0]
    at_a_dual = wg.grad(g)(wg.Dual(3.0, 1.0))
    assert (at_a_dual.primal, at_a_dual.tangent) == (9.0 + 3 * slope, 2 * slope)
    term = wg.trace(g, 3.0)
    (x,) = term.graph.variables("x")
    derivative = term.derive(x) if form == "frule" else term.gradient(x)[0]
    assert derivative.eval() == 9.0 + 3 * slope


def test_a_rule_that_is_run_may_call_math_and_be_of_several_numbers():
    def wave(x, y):
        return math.sin(x) * y

    wg.rrule(wave)(lambda x, y: (wave(x, y), lambda b: (b * math.cos(x) * y, b * math.sin(x))))
    found = wg.taylor(lambda a: wave(a, y=a * a), 0.7, 3)
    assert found == pytest.approx(wg.taylor(lambda a: np.sin(a) * a * a, 0.7, 3), rel=1e-14)
    with pytest.raises(NoRule, match="meets arrays"):
        numbers.gradient(lambda v: np.sum(scaled(v)), np.ones(2))


def scaled(v):
    return 2 * v


wg.rrule(scaled)(lambda v: (2 * v, lambda b: 2 * b))


def test_a_rule_of_a_function_in_a_module():
    def cube(x):
        return x**3

    wg.scalar_rule(cube, lambda x, Ω: 7.0)
    library = types.ModuleType("library")
    library.cube = cube
    assert numbers.derivative(lambda x: library.cube(x), 2.0) == 7.0


def test_opt_out_has_the_code_itself_run():
    f, g = with_rule("scalar_rule")
    wg.opt_out(f)
    assert numbers.derivative(g, 3.0) == 27.0


def test_nodes_of_ones_own_functions_take_any_number():
    def cube(x):
        return x * x * x

    wg.scalar_rule(cube, lambda x, Ω: 3 * x * x)
    (x,) = wg.Graph().variables("x")
    node = x.apply(cube)
    assert node.eval(x=Fraction(1, 3)) == Fraction(1, 27)
    assert node.derive(x).eval(x=Fraction(1, 3)) == Fraction(1, 3)
    with mpmath.workdps(40):
        third = mpmath.mpf(1) / 3
        assert abs(node.derive(x).eval(x=third) - third) < mpmath.mpf(10) ** -39


def test_hooks_have_a_way_back_or_say_that_there_is_none():
    hooked = lambda x: wg.hook(lambda b: -b, x) * x
    assert wg.grad(hooked)(3.0) == 0.0
    assert numbers.derivative(hooked, 3.0) == wg.derivative(hooked)(3.0) == 6.0
    for call in (lambda: wg.grad(hooked)(wg.Dual(3.0, 1.0)), lambda: wg.trace(hooked, 3.0)):
        with pytest.raises(UnsupportedSyntax, match="hook changes a cotangent"):
            call()


def test_a_function_is_told_that_it_is_differentiated():
    f = lambda x: x * x if wg.is_differentiating() else 2 * x
    assert wg.grad(f)(3.0) == numbers.derivative(f, 3.0) == wg.taylor(f, 3.0, 1)[1] == 6.0
    assert not wg.is_differentiating()
