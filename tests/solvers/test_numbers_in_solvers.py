"""Numbers with derivatives in functions that SciPy's integrators and root finders call."""

import math
from itertools import islice

import mpmath
import numpy as np
import pytest

import wengert as wg
from wengert import numbers
from wengert.errors import LostDerivative

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


def square_root(a):
    return optimize.brentq(lambda t: t * t - a, 0, 2)


def sine_of_root(a):
    """sin(W(a²)) a, with Lambert's W."""
    return math.sin(optimize.brentq(lambda t: math.exp(t) * t - a * a, 0, 3)) * a


def product_of_roots(a):
    x, y = optimize.fsolve(lambda v: np.array([v[0] ** 2 + v[1] - a, v[0] - v[1] ** 3]), [1.0, 1.0])
    return x * y


SERIES = {
    "square root": (square_root, mpmath.sqrt),
    "Lambert's W": (sine_of_root, lambda a: mpmath.sin(mpmath.lambertw(a * a).real) * a),
    "two unknowns": (
        product_of_roots,
        lambda a: mpmath.findroot(lambda y: y**6 + y - a, 1) ** 4,
    ),
}


@pytest.mark.parametrize(("f", "exact"), SERIES.values(), ids=SERIES)
def test_solutions_have_series(f, exact):
    with mpmath.workdps(40):
        expected = [float(c) for c in mpmath.taylor(exact, 1.3, 5)]
    assert wg.taylor(f, 1.3, 5) == pytest.approx(expected, rel=1e-9)
    endless = list(islice(wg.derivatives(f, 1.3), 6))
    factorials = [math.factorial(k) for k in range(6)]
    assert endless == pytest.approx(
        [c * k for c, k in zip(expected, factorials, strict=True)], rel=1e-9
    )


def test_solutions_have_mixed_partials():
    p = numbers.partials(lambda a, b: optimize.brentq(lambda t: t**3 * a - b, 0, 5), 2.0, 3.0)
    root = lambda a, b: mpmath.cbrt(b / a)
    for orders in [(1, 0), (1, 1), (2, 1), (0, 3)]:
        assert p[orders] == pytest.approx(float(mpmath.diff(root, (2, 3), orders)), rel=1e-9)


def test_series_of_solutions_nest():
    slope = numbers.derivative(lambda a: wg.taylor(square_root, a, 2)[2], 2.0)
    assert slope == pytest.approx(0.5 * 3 / 8 * 2**-2.5)
    assert wg.taylor(wg.grad(square_root), 2.0, 2) == pytest.approx(
        [(k + 1) * c for k, c in enumerate(wg.taylor(square_root, 2.0, 3)[1:])]
    )


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


@pytest.mark.filterwarnings(
    "ignore:Calling linalg:DeprecationWarning"
)  # before SciPy refuses it, too
@pytest.mark.parametrize("name", AS_THEY_ARE)
def test_solvers_that_take_floats_alone_are_named(name):
    with pytest.raises(
        wg.WengertError,
        match=rf"\.{name} computes with floats, and meets [\s\S]*Dual[\s\S]*`wg.derivative`",
    ):
        numbers.derivative(AS_THEY_ARE[name], 1.3)
