"""Infinite derivatives where nothing moves, and what NumPy says of them."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import wengert as wg


def reservoir(x):
    level, out = 0.0, 0.0
    for k in range(4):
        inflow = x if k == 2 else 0.0
        level = max(level + inflow - 0.1, 0.0)
        out += math.sqrt(level)
    return out


def above_five(x):
    level = 0.0
    if x > 5:
        level = x - 5
    return math.sqrt(level) + x**2


def drained(x):
    level = x
    for _ in range(3):
        level = level - 1.0 if level > 1.0 else 0.0
        x = x + level**0.5
    return x


def sides(x):
    leg = 0.0
    while x < 3:
        x = x * 2
        if x > 2:
            leg = 0.0
    return math.hypot(leg, 0.0) + x


@pytest.mark.parametrize("f", [reservoir, above_five, drained, sides])
def test_a_tangent_that_does_not_move_meets_no_infinite_derivative(f):
    x = 1.4
    expected = (f(x + 1e-6) - f(x - 1e-6)) / 2e-6
    assert wg.grad(f)(x) == pytest.approx(expected, rel=1e-6)
    assert wg.derivative(f)(x) == pytest.approx(expected, rel=1e-6)
    assert wg.pushforward(f, x)[1](1.0) == pytest.approx(expected, rel=1e-6)
    second = (wg.grad(f)(x + 1e-5) - wg.grad(f)(x - 1e-5)) / 2e-5
    assert wg.derivative(f, 2)(x) == pytest.approx(second, rel=1e-5, abs=1e-8)


def turned(x):
    """By a vector of angles, as Rodrigues has it: the angle is 0 here."""
    angle = math.sqrt(sum(w * w for w in (x - 1.4, 2 * (x - 1.4))))
    half = angle / 2
    if half < 1e-9:
        return 3 * x
    return x * math.cos(half) / angle


def distances(x):
    total = 0.0
    for place in (1.4, 2.0):
        r = math.sqrt((x - place) ** 2)
        s = r**0.5
        if place == 1.4:
            total += x
        elif r > 0.1:
            total += math.sin(s) * r
        else:
            total += r
    return total


def handed_in(x):
    r = (x - 1.4) ** 2
    s = r**0.5
    for k in range(3):
        if r > 1e-9 or k < 0:
            x = x + s * k
    try:
        return math.log(s) * x
    except ValueError:
        return x


@pytest.mark.parametrize("f", [turned, distances, handed_in])
def test_a_cotangent_that_does_not_move_meets_no_infinite_derivative(f):
    x, expected = 1.4, {turned: 3.0, distances: 1.0 - second_part(0.6), handed_in: 1.0}[f]
    assert wg.grad(f)(x) == pytest.approx(expected, rel=1e-12)
    assert wg.pullback(f, x)[1](1.0) == (pytest.approx(expected, rel=1e-12),)
    assert wg.pushforward(f, x)[1](1.0) == pytest.approx(expected, rel=1e-12)


def second_part(r):
    """d/dr r sin √r"""
    return math.sin(r**0.5) + r**0.5 / 2 * math.cos(r**0.5)


def test_a_cotangent_that_is_computed_to_be_zero_still_meets_it():
    assert math.isnan(wg.grad(lambda x: math.sqrt(x) * x if x < 1 else 0.0)(0.0))


def logs(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        y = np.where(x > 0, np.log(x), 0.0)
    return np.sum(y)


@np.errstate(all="ignore")
def entropy(x):
    return np.sum(np.where(x > 0, x * np.log(x), 0.0))


@pytest.mark.parametrize("f", [logs, entropy])
def test_what_a_program_ignores_its_derivative_ignores(f):
    x = np.array([0.0, 1.0, 2.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wg.grad(f)(x)
        _, back = wg.pullback(f, x)
        back(1.0)
        wg.pushforward(f, x)[1](np.ones(3))


def roots(x):
    with np.errstate(divide="raise"):
        y = np.sqrt(x)
    return np.sum(y)


def caught(x):
    try:
        with np.errstate(divide="raise"):
            y = np.sqrt(x)
    except FloatingPointError:
        y = 2 * x
    return np.sum(y)


@pytest.mark.parametrize("f", [roots, caught])
def test_what_a_program_has_raised_is_raised_for_its_own_values_only(f):
    x, before = np.array([0.0, 1.0]), np.geterr()
    with np.errstate(divide="ignore"):
        assert wg.grad(f)(x) == pytest.approx([math.inf, 0.5])
        assert wg.pushforward(f, x)[1](np.ones(2)) == math.inf
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        wg.pushforward(f, x)[1](np.ones(2))
    assert np.geterr() == before


class Door:
    def __init__(self):
        self.open = False

    def __enter__(self):
        self.open = True

    def __exit__(self, *error):
        self.open = False


def test_a_context_is_left_before_a_tangent_can_raise():
    door = Door()

    def f(x):
        with door:
            y = np.sqrt(x)
        return np.sum(y)

    with np.errstate(all="raise"), pytest.raises(FloatingPointError):
        wg.pushforward(f, np.zeros(2))[1](np.ones(2))
    assert not door.open
