"""Derivatives of initial value problems are as exact as the solver was asked to be, component by component."""

import time
import warnings

import mpmath
import numpy as np
import pytest

import wengert as wg

integrate = pytest.importorskip("scipy.integrate")

METHODS = ("odeint", "LSODA", "BDF", "Radau", "RK45", "RK23", "DOP853")
TIMES = np.array([0.0, 0.4, 1.0, 2.0])


def solution(method, rates, start, rtol, atol):
    """The values at `TIMES`, one row each."""
    if method == "odeint":
        return integrate.odeint(rates, start, TIMES, tfirst=True, rtol=rtol, atol=atol)
    options = {"method": method, "t_eval": TIMES, "rtol": rtol, "atol": atol}
    return integrate.solve_ivp(rates, (0.0, 2.0), start, **options).y.T


def forced(t, y, k):
    """Driven relaxation, beside a trace of it that is a thousand million times smaller."""
    return [-k * (y[0] - np.cos(t)), -k * y[1] + 1e-9 * y[0]]


def exactly_forced(t, k):
    fading, c, d = mpmath.exp(-k * t), mpmath.cos(t), mpmath.sin(t)
    share = 1 / (1 + k * k)
    main = fading * share + k * share * (k * c + d)
    of_cosine, of_sine = share * (k * c + d - k * fading), share * (k * d - c + fading)
    return [main, 1e-9 * (t * fading * share + k * share * (k * of_cosine + of_sine))]


def growth(t, y, k):
    return [k * y[0] * (1 - y[0]), 1e-12 * k * y[0] * (1 - y[0])]


def exactly_growing(t, k):
    main = 1 / (1 + 9 * mpmath.exp(-k * t))
    return [main, 1e-12 * (main - 0.1)]


PROBLEMS = {
    "forced": (forced, exactly_forced, [1.0, 0.0], 1e-9, 3.0),
    "stiff": (forced, exactly_forced, [1.0, 0.0], 1e-9, 400.0),
    "growth": (growth, exactly_growing, [0.1, 0.0], 1e-12, 2.0),
}


def exact_slopes(problem):
    """The derivatives of the exact solution by the rate, one row for each time, and what is small beside them."""
    _, exact, _, _, k = PROBLEMS[problem]
    slope = lambda t, i: mpmath.diff(lambda q: exact(t, q)[i], k)
    with mpmath.workdps(40):
        slopes = [[slope(t, i) for i in range(2)] for t in TIMES]
        values = np.array([exact(t, k) for t in TIMES], float)
    slopes = np.array(slopes, float)
    sizes = np.maximum(np.abs(slopes), np.abs(values) / k)  # as if they moved in proportion
    return slopes, np.max(sizes, axis=0)


@pytest.mark.parametrize("rtol", [1e-4, 1e-7, 1e-10])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_error_of_a_derivative_is_bounded_by_the_tolerances(problem, method, rtol):
    rates, _, start, small, k = PROBLEMS[problem]
    if problem == "stiff" and method in ("RK45", "RK23", "DOP853"):
        rtol = 1e-7  # else they take many steps, or are at the limit of what is stable
    elif method == "RK23":
        rtol = max(rtol, 1e-6)
    atol = rtol * np.array([1e-2, 1e-2 * small])
    f = lambda k: solution(method, lambda t, y: rates(t, y, k), start, rtol, atol)
    expected, size = exact_slopes(problem)
    for mode in ("reverse", "forward") if rtol == 1e-7 else ("reverse",):
        off = np.abs(wg.jacobian(f, mode=mode)(k) - expected)
        assert np.all(off <= 100 * rtol * size), (mode, off / size / rtol)


def binding(y, t, forwards, backwards):
    """One kind of molecule binds to another; in mol/l, as people write them."""
    free, receptor, bound = y
    rate = forwards * free * receptor - backwards * bound
    return [-rate, -rate, rate]


@pytest.mark.parametrize("solver", ["odeint", "LSODA", "BDF", "Radau"])
def test_B_W2_concentrations_far_below_one(solver):
    start, times = [1e-6, 1e-9, 0.0], np.linspace(0.0, 600.0, 4)

    def occupancy(log_rate):
        rates = (10.0**log_rate, 0.3)
        if solver == "odeint":
            found = integrate.odeint(binding, start, times, args=rates, rtol=1e-8, atol=1e-18)
            return found[:, 2] / 1e-9
        rhs = lambda t, y: binding(y, t, *rates)
        options = {"method": solver, "rtol": 1e-8, "atol": 1e-18, "t_eval": times}
        return integrate.solve_ivp(rhs, (0.0, 600.0), start, **options).y[2] / 1e-9

    def exactly(log_rate, t):  # the slower of two roots is that of a quadratic equation
        k, off = mpmath.power(10, log_rate), mpmath.mpf("0.3")
        a, b = mpmath.mpf("1e-6"), mpmath.mpf("1e-9")
        middle = a + b + off / k
        root = mpmath.sqrt(middle**2 - 4 * a * b)
        low, high = (middle - root) / 2, (middle + root) / 2
        fading = mpmath.exp(-k * root * t)
        return low * high * (1 - fading) / (high - low * fading) / b

    with mpmath.workdps(30):
        expected = [float(mpmath.diff(lambda q, t=t: exactly(q, t), 6)) for t in times]
    assert wg.jacobian(occupancy)(6.0) == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert wg.jacobian(occupancy, mode="forward")(6.0) == pytest.approx(
        expected, rel=1e-6, abs=1e-9
    )


@pytest.mark.parametrize("size", [1e-8, 1e-10, 1e-12])
def test_B_W2_a_trace_beside_a_main_component(size):
    def trace(w):
        def rates(y, t):
            return [y[1], -y[0], size * w * np.cos(w * t)]

        found = integrate.odeint(rates, [1.0, 0.0, 0.0], [0.0, 1.3], rtol=1e-10, atol=1e-20)
        return found[1, 2] / size

    assert wg.grad(trace)(20.0) == pytest.approx(1.3 * np.cos(26.0), rel=1e-7)


def test_B_W2_dense_output_of_a_trace():
    def between(k):
        def rates(t, y):
            return [-y[0], 1e-11 * k * y[0]]

        options = {"method": "LSODA", "rtol": 1e-9, "atol": 1e-20, "dense_output": True}
        return integrate.solve_ivp(rates, (0.0, 2.0), [1.0, 0.0], **options).sol(1.3)[1] * 1e11

    assert wg.grad(between)(0.7) == pytest.approx(1 - np.exp(-1.3), rel=1e-7)


def test_what_the_steps_do_not_follow_is_said_component_by_component():
    from wengert.errors import DerivativeWarning
    from wengert.solvers.results import must_follow

    found = np.array([[1.0, 1e-9], [2.0, 2e-9]])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        must_follow(found * (1 + 1e-7), found, 1e-8, 1e-20)
        must_follow(found[:0], found[:0], 1e-8, 1e-20)
    with pytest.warns(
        DerivativeWarning, match=r"component 1 .* is 2e-14 off .* whose size is 2e-09"
    ):
        must_follow(found * [1.0, 1 + 1e-5], found, 1e-8, 1e-20)
    with pytest.raises(ArithmeticError, match="component 1"):
        must_follow(found * [1.0, 1.1], found, 1e-8, 1e-20)
    must_follow(found * [1.0, 1.1], found, 1e-8, [1e-20, 1e-9])


# --- what it costs ------------------------------------------------------------------------


def robertson(k):
    def rates(t, y):
        a, b, c = y
        slow, fast, fastest = k[0] * a, k[1] * b * c, k[2] * b * b
        return [-slow + fast, slow - fast - fastest, fastest]

    options = {"method": "LSODA", "rtol": 1e-6, "atol": 1e-10}
    return integrate.solve_ivp(rates, (0, 40.0), [1.0, 0, 0], **options).y[2, -1]


def van_der_pol(mu):
    rates = lambda t, y: [y[1], mu * (1 - y[0] ** 2) * y[1] - y[0]]
    return integrate.solve_ivp(rates, (0, 20.0), [2.0, 0.0], method="LSODA", rtol=1e-6).y[0, -1]


def heat(k, cells):
    x = np.linspace(0.0, 1.0, cells)

    def rates(t, u):
        slope = np.zeros(cells)
        slope[1:-1] = k * (u[2:] - 2 * u[1:-1] + u[:-2]) * (cells - 1) ** 2
        return slope

    return np.sum(integrate.solve_ivp(rates, (0, 0.1), np.sin(np.pi * x), method="BDF").y[:, -1])


def fastest(f, *args):
    times = []
    for _ in range(7):
        begin = time.process_time()
        f(*args)
        times.append(time.process_time() - begin)
    return min(times)


STIFF = {
    "robertson": (robertson, np.array([0.04, 1e4, 3e7]), 1e-5),
    "van der Pol, 100": (van_der_pol, 100.0, 1e-5),
    "van der Pol, 1000": (van_der_pol, 1000.0, 1e-5),
    "heat, 50 cells": (lambda k: heat(k, 50), 1.0, 1e-2),
    "heat, 200 cells": (lambda k: heat(k, 200), 1.0, 1e-2),
}


@pytest.mark.parametrize("name", STIFF)
def test_B_S1_stiff_equations_cost_a_bounded_multiple(name):
    f, x, exact = STIFF[name]
    gradient = wg.grad(f)
    assert gradient(x) == pytest.approx(wg.jacobian(f, mode="forward")(x), rel=1e-6)
    tight = {"robertson": [4.2475129, -1.37305723e-5, 2.28846889e-9]}.get(name)
    if tight is not None:
        assert gradient(x) == pytest.approx(tight, rel=exact)
    assert fastest(gradient, x) <= 60 * fastest(f, x)  # about 20; thousands before
