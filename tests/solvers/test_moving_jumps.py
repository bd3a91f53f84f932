"""Jumps and kinks of what SciPy integrates, at places that move with what is differentiated."""

import math
import warnings

import numpy as np
import pytest
from error_texts import refusal

import wengert as wg
from wengert.errors import DerivativeWarning, MovingJump

integrate = pytest.importorskip("scipy.integrate")
from scipy.integrate import odeint, quad, solve_ivp  # noqa: E402

FINE = {"max_step": 0.02, "rtol": 1e-8, "atol": 1e-10}


def area(c):
    return quad(lambda t: 1.0 if t < c else 0.0, 0.0, 2.0, points=[c])[0]


def dose(end, k):
    sol = solve_ivp(lambda t, y: -k * y if t <= end else 0.0 * y, (0.0, 2.0), [1.0], **FINE)
    return sol.y[0, -1]


def helper(t, c):
    if t > 1.9:
        return 0.0
    return t if t > 0.1 and t < c else 0.0


def driven(rates, y0=1.0):
    return solve_ivp(rates, (0.0, 2.0), np.ravel(y0), **FINE).y[-1, -1]


JUMPING = {
    "a branch": area,
    "a branch in a function": lambda c: quad(helper, 0.0, 2.0, args=(c,))[0],
    "np.where": lambda c: quad(lambda t: np.where(t < c, t + 1.0, 0.0), 0.0, 2.0)[0],
    "a comparison as a number": lambda c: quad(lambda t: (t > c) * math.exp(t), 0.0, 2.0)[0],
    "sign": lambda c: quad(lambda t: np.sign(t - c), 0.0, 2.0)[0],
    "heaviside": lambda c: quad(lambda t: np.heaviside(t - c, 0.5), 0.0, 2.0)[0],
    "floor": lambda c: quad(lambda t: math.floor(t / c), 0.0, 2.0, limit=200)[0],
    "a sawtooth": lambda c: quad(lambda t: (t - c) % 1.0, 0.0, 2.0)[0],
    "an interval without end": lambda c: quad(
        lambda t: math.exp(-t) if t > c else 0.0, 0.0, math.inf
    )[0],
    "quad_vec": lambda c: integrate.quad_vec(
        lambda t: np.where(t < c, np.array([1.0, t]), 0.0), 0.0, 2.0
    )[0][1],
    "a plane": lambda c: quad(
        lambda x: quad(lambda y: x if y < c else 0.0, 0.0, 1.0, points=[c])[0], 0.0, 1.0
    )[0],
    "solve_ivp": lambda c: dose(c, 1.2),
    "BDF": lambda c: solve_ivp(
        lambda t, y: -y if t <= c else 0.0 * y, (0.0, 2.0), [1.0], method="BDF", **FINE
    ).y[0, -1],
    "odeint": lambda c: odeint(
        lambda y, t: [-y[0] if t < c else 1.0], [1.0], [0.0, 1.0, 2.0], hmax=0.02
    )[-1, 0],
    "a switch of the state": lambda c: driven(lambda t, y: [1.0 if y[0] < 1.0 + c else 3.0]),
    "the state at first": lambda c: driven(lambda t, y: [1.0 if y[0] < 1.5 else 3.0], c),
    "a trace": lambda c: driven(lambda t, y: [1.0, 1e-9 if t < c else 0.0], [0.0, 0.0]),
    "with events": lambda c: solve_ivp(
        lambda t, y: [1.0 if t < c else 3.0], (0.0, 2.0), [0.0], events=lambda t, y: y[0] - 9, **FINE
    ).y[0, -1],
}  # fmt: skip


@pytest.mark.parametrize("name", JUMPING)
def test_a_jump_that_moves_is_refused(name):
    f = JUMPING[name]
    for derivative in (wg.grad(f), wg.derivative(f), lambda x: wg.pushforward(f, x)[1](1.0)):
        with pytest.raises(MovingJump, match=r"WG213.*jumps by [\s\S]*test_moving_jumps.py:\d+"):
            derivative(0.7)


def test_A9_jumps_inside_quad_and_solve_ivp():
    refusal("WG213", ValueError, lambda: wg.grad(area)(0.7))
    with pytest.raises(MovingJump, match=r"jumps by 1 at 0.7, a place that moves"):
        wg.grad(area)(0.7)
    with pytest.raises(MovingJump, match=r"jumps by 0.485 at 0.755"):
        wg.grad(dose, (0, 1))(0.755, 1.2)
    assert wg.grad(dose, 1)(0.755, 1.2) == pytest.approx(-0.755 * math.exp(-1.2 * 0.755), rel=1e-4)
    kink = lambda c: quad(lambda t: abs(t - c), 0.0, 2.0)[0]
    with pytest.warns(DerivativeWarning, match=r"a kink at 0.7 \(test_moving_jumps.py"):
        wg.derivative(kink, order=2)(0.7)


def test_the_ways_out_have_the_right_derivative():
    split = lambda c: quad(lambda t: 1.0, 0.0, c)[0] + quad(lambda t: 0.0, c, 2.0)[0]
    assert wg.grad(split)(0.7) == pytest.approx(1.0)

    def until(end, k):
        first = solve_ivp(lambda t, y: -k * y, (0.0, end), [1.0], **FINE).y[:, -1]
        return solve_ivp(lambda t, y: 0.0 * y, (end, 2.0), first, **FINE).y[0, -1]

    value = math.exp(-1.2 * 0.755)
    expected = (-1.2 * value, -0.755 * value)
    assert wg.grad(until, (0, 1))(0.755, 1.2) == pytest.approx(expected, rel=1e-6)


QUIET = {
    "both sides meet": (
        lambda c: quad(lambda t: (t - c) ** 2 if t < c else 3 * (t - c), 0.0, 2.0, points=[c])[0],
        lambda c: c**2 - 3 * (2 - c),
    ),
    "a bend": (lambda c: quad(lambda t: max(t - c, 0.0), 0.0, 2.0, points=[c])[0], lambda c: c - 2),
    "a jump that stays": (
        lambda c: quad(lambda t: c * t if t < 1 else 0.0, 0, 2)[0],
        lambda c: 0.5,
    ),
    "a jump outside": (
        lambda c: quad(lambda t: c if t < 3 + c else 0.0, 0.0, 2.0)[0],
        lambda c: 2.0,
    ),
    "a fixed jump and a bound": (
        lambda c: quad(lambda t: t if t < 0.5 else 0.0, 0.0, c, points=[0.5])[0],
        lambda c: 0.0,
    ),
    "a fixed jump and a bound at first": (
        lambda c: quad(lambda t: 1.0 if t < 1.5 else 2.0, c, 3.0, points=[1.5])[0],
        lambda c: -1.0,
    ),
    "a half line": (
        lambda c: quad(lambda t: math.exp(-t) if t < 90.0 else 0.0, c, math.inf)[0],
        lambda c: -math.exp(-c),
    ),
    "a fixed jump and the last time": (
        lambda c: solve_ivp(lambda t, y: -y if t <= 0.5 else 0.0 * y, (0.0, c), [1.0], **FINE).y[
            0, -1
        ],
        lambda c: 0.0,
    ),
    "a fixed jump and the last time, BDF": (
        lambda c: solve_ivp(
            lambda t, y: -y if t <= 0.5 else 1.0 + 0.0 * y, (0.0, c), [1.0], method="BDF", **FINE
        ).y[0, -1],
        lambda c: 1.0,
    ),
    "a branch of the state that meets": (
        lambda c: driven(lambda t, y: [c if y[0] < 1.5 else c * (y[0] - 0.5)]),
        None,
    ),
    "a steep branch of the state that meets, loosely solved": (
        lambda c: solve_ivp(
            lambda t, y: [-1000 * (y[0] - c) if y[0] < 0.3 else -500 * (y[0] - 2 * c + 0.3)],
            (0.0, 2.0),
            [1.3 * c],
            method="LSODA",
        ).y[0, -1],
        lambda c: 2.0,
    ),
    "a terminal event at the jump": (lambda c: fallen(c), None),
}


def fallen(c):
    ground = lambda t, y: y[0]
    ground.terminal = True
    rates = lambda t, y: [y[1], -c if y[0] > 0 else 100.0]
    return solve_ivp(rates, (0, 5), [1.0, 0.0], events=ground, **FINE).t_events[0][0]


@pytest.mark.parametrize("name", QUIET)
def test_where_nothing_jumps_that_moves_nothing_is_said(name):
    f, exact = QUIET[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error", DerivativeWarning)
        found = wg.grad(f)(0.7)
        forward = wg.derivative(f)(0.7)
    expected = (f(0.7 + 1e-3) - f(0.7 - 1e-3)) / 2e-3 if exact is None else exact(0.7)
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-6)
    assert forward == pytest.approx(expected, rel=1e-3, abs=1e-6)


def test_what_is_decided_in_a_loop_is_warned_of():
    def steps(c):
        def height(t):
            total = 0.0
            k = 0
            while k < 5:
                total += 1.0 if t < c * k else 0.0
                k += 1
            return total

        return quad(height, 0.0, 2.0)[0]

    with pytest.warns(DerivativeWarning, match="not looked for inside loops"):
        wg.grad(steps)(0.7)


def test_saved_source_has_the_check():
    namespace = {}
    exec(wg.grad(area).specialize(0.7).source, namespace)
    with pytest.raises(ValueError, match=r"jumps by 1 at 0.7"):
        namespace["grad_area"](0.7)
