"""Functions that solvers and derivatives are given, and that change objects outside: buffers, counters, histories."""

from __future__ import annotations

import math

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("scipy")
from scipy import integrate, optimize

WORK = np.zeros(3)


def buffer(k):
    dy = np.zeros(2)

    def rhs(t, y):
        dy[0] = -k * y[0]
        dy[1] = k * y[0] - 0.3 * y[1]
        return dy

    return integrate.solve_ivp(rhs, (0.0, 2.0), [1.0, 0.0], rtol=1e-10, atol=1e-12).y[1, -1]


def buffer_of_odeint(k):
    dy = np.empty(2)

    def rhs(y, t):
        dy[0], dy[1] = y[1], -k * y[0]
        return dy

    t = np.linspace(0, 1, 5)
    return integrate.odeint(rhs, [1.0, 0.0], t)[-1, 0]


def global_buffer(k):
    def rhs(t, y):
        WORK[0] = -k * y[0] * y[1]
        WORK[1] = k * y[0] * y[1] - y[1]
        WORK[2] = y[1]
        return WORK

    return integrate.solve_ivp(rhs, (0, 3), [0.99, 0.01, 0.0], rtol=1e-10, atol=1e-12).y[2, -1]


def counted(k):
    calls = [0]

    def f(x):
        calls[0] += 1
        return x**3 - k

    return optimize.brentq(f, 0.0, 5.0)


def counted_by_name(k):
    n = 0

    def f(x):
        nonlocal n
        n += 1
        return x**3 - k

    return optimize.brentq(f, 0.0, 5.0)


def history(k):
    values = []

    def cost(x):
        value = (x[0] - k) ** 2 + (x[1] - k * k) ** 2 + 0.1 * x[0] * x[1]
        values.append(value)
        return value

    return optimize.minimize(cost, [0.0, 0.0], tol=1e-12).x[1]


def record(k):
    log = {"n": 0, "x": []}

    def f(x):
        log["n"] += 1
        log["x"].append(x)
        return [x[0] + 0.5 * x[1] ** 2 - k, x[1] - math.sin(k) + 0.1 * x[0]]

    return optimize.fsolve(f, [1.0, 1.0], xtol=1e-13)[0]


def nodes(k):
    seen = []

    def inner(t, u):
        seen.append(u)
        return math.exp(-k * t * u)

    def outer(t):
        seen.append(t)
        return integrate.quad(lambda u: inner(t, u), 0, 1)[0]

    return integrate.quad(outer, 0, 1)[0]


def remembered(k):
    rates = {}

    def rate(temperature):
        if temperature not in rates:
            rates[temperature] = k * math.exp(-1.0 / temperature)
        return rates[temperature]

    return optimize.brentq(lambda x: x - 2 * rate(300.0) + 0.1 * x**2, -1, 10)


def residuals_in_place(k):
    r, t = np.zeros(3), np.array([0.5, 1.0, 2.0])

    def residuals(p):
        for i in range(3):
            r[i] = p[0] * np.exp(-p[1] * t[i]) - k * math.exp(-0.7 * k * t[i])
        return r.copy()

    s = optimize.least_squares(residuals, [1.0, 0.5], xtol=1e-14, ftol=1e-14, gtol=1e-14)
    return s.x[0] * s.x[1]


class Reactor:
    def __init__(self, k):
        self.k = k
        self.calls = 0
        self.work = np.zeros(2)

    def rhs(self, t, y):
        self.calls += 1
        self.work[0] = -self.k * y[0]
        self.work[1] = self.k * y[0]
        return self.work


def method(k):
    model = Reactor(k)
    s = integrate.solve_ivp(model.rhs, (0, 1.5), [1.0, 0.2], method="LSODA", rtol=1e-10, atol=1e-12)
    return s.y[0, -1] + 2 * s.y[1, -1]


def one_buffer_for_all(k):
    buf = np.zeros(2)

    def f(x):
        buf[0] = x[0] ** 3 + x[1] - k
        buf[1] = x[1] ** 3 - x[0] * k
        return buf.copy()

    total = 0.0
    for i in range(3):
        a = optimize.fsolve(f, [1.0, 1.0 + 0.1 * i], xtol=1e-13)
        total += a[0] * a[1]
    return total


def changes_the_state(k):
    def rhs(t, y):
        y[0] = max(y[0], 0.0)
        return -k * y

    s = integrate.solve_ivp(rhs, (0, 1), [1.0, 2.0], rtol=1e-10, atol=1e-12)
    return s.y[0, -1] + s.y[1, -1]


def gradient_inside(k):
    n = [0]
    buf = np.zeros(2)

    def energy(q):
        n[0] += 1
        buf[0] = q[0] * k
        buf[1] = q[1] ** 2 * q[0]
        return np.sum(buf**2)

    g = wg.grad(energy)(np.array([k, 2 * k]))
    return g[0] * g[1] + n[0] + buf[0]


def pushed(x):
    n = [0]

    def f(y):
        n[0] += 1
        return y**2 * n[0]

    y, push = wg.pushforward(f, x)
    return push(1.0) + push(2.0) + y + n[0]


def implicit_inside(k):
    n = [0]

    def residual(x, a):
        n[0] += 1
        return x**3 + x - a

    def solver(a):
        x = 1.0
        for _ in range(50):
            n[0] += 1
            x = x - residual(x, a) / (3 * x * x + 1)
        return x

    return wg.implicit(residual, solver)(k * 2)


PROGRAMS = [
    buffer, buffer_of_odeint, global_buffer, counted, counted_by_name, history, record, nodes, remembered,
    residuals_in_place, method, one_buffer_for_all, changes_the_state, gradient_inside, pushed, implicit_inside,
]  # fmt: skip


@pytest.mark.parametrize("f", PROGRAMS)
def test_what_they_change_is_no_part_of_the_derivative(f):
    x = 1.3
    expected = (f(x + 1e-4) - f(x - 1e-4)) / 2e-4
    assert wg.grad(f)(x) == pytest.approx(expected, rel=1e-5)
    value, push = wg.pushforward(f, x)
    assert (value, push(1.0)) == pytest.approx((f(x), wg.grad(f)(x)), rel=1e-8)


def test_what_they_change_of_the_callers_is_left_as_the_program_leaves_it():
    def f(k, log, work, counts):
        def equation(x):
            log.append(x)
            counts["n"] += 1
            work[0] = x**3 - k
            return work[0]

        return optimize.brentq(equation, 0.0, 5.0)

    plain, ours = ([], np.zeros(1), {"n": 0}), ([], np.zeros(1), {"n": 0})
    f(1.3, *plain)
    assert wg.grad(f)(1.3, *ours) == pytest.approx(1.3 ** (-2 / 3) / 3)
    assert ours == plain
    of_object = lambda m: integrate.solve_ivp(m.rhs, (0, 1.0), [1.0, 0.0]).y[1, -1]
    plain, ours = Reactor(0.7), Reactor(0.7)
    of_object(plain)
    wg.grad(of_object)(ours)
    assert (ours.calls, *ours.work) == (plain.calls, *plain.work)


@pytest.mark.static_tier
def test_an_equation_that_remembers_is_refused():
    def by_item(k):
        peak = [0.0]

        def rhs(t, y):
            peak[0] = max(peak[0], y[0])
            return [k * math.cos(3 * t) - 0.3 * peak[0]]

        return integrate.solve_ivp(rhs, (0, 3), [0.0]).y[0, -1]

    def by_name(k):
        peak = 0.0

        def rhs(t, y):
            nonlocal peak
            peak = max(peak, y[0])
            return [k * math.cos(3 * t) - 0.3 * peak]

        return integrate.solve_ivp(rhs, (0, 3), [0.0]).y[0, -1]

    with pytest.raises(ValueError, match="by what an earlier call of it left in an object"):
        wg.grad(by_item)(1.0)
    with pytest.raises(wg.WengertError, match="what an earlier call of it bound a name to"):
        wg.grad(by_name)(1.0)


@pytest.mark.static_tier
def test_what_a_solvers_function_left_is_not_read():
    def f(k):
        n = [0]

        def equation(x):
            n[0] += 1
            return x**3 - k

        return optimize.brentq(equation, 0.0, 5.0) * n[0]

    with pytest.raises(wg.WengertError, match="a function that a solver is given changed it"):
        wg.grad(f)(1.3)


# --- Jacobians of functions that change their arguments ---------------------------------------


def rescaled(x):
    x[0] = x[0] * 2
    return x * x[0]


def rescaled_sum(x):
    x[0] = x[0] * 2
    x[1] *= x[0]
    return np.sum(x**3)


def of_two(x, y):
    y[0] = y[0] * 2 * x[0]
    return np.sum(x * y[0])


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("f", [rescaled, rescaled_sum])
def test_jacobians_of_what_changes_its_argument(f, mode):
    x, left = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0])
    expected = wg.jacobian(lambda x: f(x.copy()), mode="reverse")(x)
    assert wg.jacobian(f, mode=mode)(x) == pytest.approx(expected)
    f(left)
    assert x == pytest.approx(left)


def test_hessians_of_what_changes_its_argument():
    pure = lambda x: rescaled_sum(x.copy())
    x = np.array([1.0, 2.0, 3.0])
    for of in (wg.hessian, wg.diag_hessian):
        assert of(rescaled_sum)(x.copy()) == pytest.approx(of(pure)(x.copy()))
    a, b = wg.jacobian(of_two, (0, 1))(x.copy(), x.copy())
    assert a == pytest.approx([14.0, 2.0, 2.0])
    assert b == pytest.approx([12.0, 0.0, 0.0])
