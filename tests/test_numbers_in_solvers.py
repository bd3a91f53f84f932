"""Numbers with derivatives in functions that SciPy's integrators and root finders call."""

import math

import numpy as np
import pytest

import wengert as wg
from wengert import numbers
from wengert.errors import LostDerivative, NoRule

scipy = pytest.importorskip("scipy")
integrate = pytest.importorskip("scipy.integrate")
optimize = pytest.importorskip("scipy.optimize")
linalg = pytest.importorskip("scipy.linalg")

SOLVED = {
    "quad": lambda a: integrate.quad(lambda t: np.sin(t * a), 0, a)[0] * a,
    "quad of math": lambda a: integrate.quad(lambda t: math.exp(-a * t * t), 0, math.inf)[0],
    "quad with args": lambda a: integrate.quad(lambda t, b: t**b, a, 3.0, args=(a,))[0],
    "quad by its full name": lambda a: scipy.integrate.quad(lambda t: t**a, 0, 1)[0],
    "dblquad": lambda a: integrate.dblquad(lambda y, x: x * y * a, 0, a, 0, lambda x: x * a)[0],
    "brentq": lambda a: optimize.brentq(lambda t: math.exp(t) - a, 0, 2) * a,
    "bisect": lambda a: optimize.bisect(lambda t, b: t * t - b, 0, 2, args=(a,)),
    "newton": lambda a: optimize.newton(lambda t: t * t - a, 1.0, fprime=lambda t: 2 * t),
    "root_scalar": lambda a: optimize.root_scalar(lambda t: t**3 - a, bracket=(0, 2)).root,
    "fsolve": lambda a: optimize.fsolve(lambda t: [t[0] ** 2 - a, t[1] - t[0] * a], [1.0, 1.0])[1],
    "fixed_point": lambda a: optimize.fixed_point(lambda t: math.cos(t * a / 2), 0.5),
    "neither": lambda a: integrate.quad(lambda t: t * t, 0, 1)[0] * a,
    "two of them": lambda a: integrate.quad(
        lambda t: t * optimize.brentq(lambda r: r * r - a, 0, 2), 0, 1
    )[0],
}


@pytest.mark.parametrize("f", SOLVED.values(), ids=SOLVED)
def test_derivatives_are_those_of_the_engine(f):
    found = numbers.derivative(f, 1.9)
    assert found == pytest.approx(wg.derivative(f)(1.9), rel=1e-9)
    assert found == pytest.approx((f(1.9 + 1e-5) - f(1.9 - 1e-5)) / 2e-5, rel=1e-5)
    value, _ = numbers.pushforward(f, (1.9,), (1.0,))
    assert value == pytest.approx(f(1.9), rel=1e-13)


@pytest.mark.parametrize("f", SOLVED.values(), ids=SOLVED)
def test_second_derivatives(f):
    found = numbers.derivative(lambda x: numbers.derivative(f, x), 1.9)
    assert found == pytest.approx(wg.derivative(f, order=2)(1.9), rel=1e-7, abs=1e-9)


def test_integrals_have_towers_and_gradients():
    def moment(a):
        return integrate.quad(lambda t: math.exp(a * t), 0, 1)[0]

    assert wg.taylor(moment, 0.0, 3) == pytest.approx([1, 1 / 2, 1 / 6, 1 / 24])

    def area(v):
        return integrate.quad(lambda t: v[0] * t**2 + v[1], 0, 1)[0]

    assert numbers.gradient(area, [2.0, 3.0]) == pytest.approx([1 / 3, 1.0])


def test_solutions_have_no_towers():
    def root(a):
        return optimize.brentq(lambda t: t * t - a, 0, 2)

    with pytest.raises(NoRule, match="the solution of an equation has no series"):
        next(wg.derivatives(root, 2.0))


def test_outside_of_a_verb_the_way_out_is_named():
    with pytest.raises(LostDerivative, match=r"numbers.derivative` its integrals and\s+roots"):
        integrate.quad(lambda t: t * wg.Dual(2.0, 1.0), 0, 1)


def test_what_is_stopped_has_no_derivative_in_any_number():
    assert numbers.derivative(lambda x: x * wg.stop_gradient(x), 3.0) == 3.0
    assert wg.taylor(lambda x: x * wg.stop_gradient(x * x), 3.0, 2) == [27.0, 9.0, 0.0]
    x = wg.Dual(2.0, 1.0)
    assert wg.stop_gradient([x, 1.0]) == [2.0, 1.0]
    assert wg.stop_gradient(np.array([x, x])).dtype == float
    (a,) = wg.Graph().variables("a")
    assert str((wg.stop_gradient(a * a) * a).derive(a)) == "stop_gradient(a * a)"


def test_an_array_with_derivatives_says_its_dtype():
    assert wg.Dual(np.ones(2), np.ones(2)).dtype == float
    assert wg.Dual(np.float64(1.0), 1.0).dtype == float


AS_THEY_ARE = {
    "solve_ivp": lambda a: integrate.solve_ivp(lambda t, y: -a * y, (0, 1), [1.0]).y[0, -1],
    "odeint": lambda a: integrate.odeint(lambda y, t: -a * y, 1.0, [0.0, 1.0])[-1, 0],
    "minimize": lambda a: optimize.minimize(lambda y: (y[0] - a) ** 2, [1.0]).x[0],
    "least_squares": lambda a: optimize.least_squares(lambda y: y - a, [1.0]).x[0],
    "det": lambda a: linalg.det(np.array([[a, 1.0], [2.0, a]])),
}


@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_solvers_that_take_floats_alone_are_named(name):
    with pytest.raises(
        wg.WengertError,
        match=rf"\.{name} computes with floats, and meets [\s\S]*Dual[\s\S]*`wg.derivative`",
    ):
        numbers.derivative(AS_THEY_ARE[name], 1.3)
