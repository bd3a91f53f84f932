"""Values that the path taken does not use, whose derivatives are infinite or not numbers: they do not count."""

from __future__ import annotations

import math

import pytest

import wengert as wg


def not_a_number_unless_wanted(x, want):
    length = math.nan
    total = x * x
    if want > 0:
        length = math.sin(x)
    length *= x
    if want > 0:
        total = total + length
    return total


def far_away_unless_wanted(x, want):
    nearest = math.inf if want <= 0 else x
    scaled = math.exp(-x) * nearest / x
    return x * x + scaled if want > 0 else x * x


def last_root_of_a_loop(x, want):
    root = 0.0
    power = 1.0
    for _ in range(2):
        power = power * x
        root = math.sqrt(x - 1.0)
    return power + root if want > 0 else power


def scaled_in_a_loop(x, want):
    scale = x if want > 0 else math.nan
    power = 1.0
    for _ in range(2):
        power = power * x
        scale = scale * x
    return power + scale if want > 0 else power


def root_for_the_next_iteration(x, want):
    total = x * x - x
    root = 1.0
    for k in range(2):
        total = total + x * root
        root = math.sqrt(x - 1.0) if k else 0.0 * x
    return total + root if want > 0 else total


def two_of_a_call(x, want):
    power, root = power_and_root(x, 1)
    return power + root if want > 0 else power


def power_and_root(x, n):
    if n > 0:
        power, root = power_and_root(x, n - 1)
        return power * x, root
    return x, math.sqrt(x - 1.0)


def nothing_known_of_a_call(x, want):
    power, length = power_and_length(x, 1, want)
    length *= x
    return power + length if want > 0 else power


def power_and_length(x, n, want):
    if n > 0:
        power, length = power_and_length(x, n - 1, want)
        return power * x, length
    return x, x if want > 0 else math.nan


def root_of_nothing_in_a_call(x, want):
    level = x if want > 0 else 0.0
    return x * x + root_below(level, 1)


def root_below(x, n):
    return root_below(x, n - 1) if n > 0 else math.sqrt(x)


@wg.checkpoint
def square_and_root(x):
    return x * x, math.sqrt(x - 1.0)


def of_a_checkpointed_call(x, want):
    square, root = square_and_root(x)
    return square + root if want > 0 else square


PROGRAMS = [
    not_a_number_unless_wanted,
    far_away_unless_wanted,
    last_root_of_a_loop,
    scaled_in_a_loop,
    root_for_the_next_iteration,
    two_of_a_call,
    nothing_known_of_a_call,
    root_of_nothing_in_a_call,
    of_a_checkpointed_call,
]

ASKED_TOGETHER = [root_for_the_next_iteration, two_of_a_call, of_a_checkpointed_call]
"""Whose first derivative gathers cotangents, used and unused: of a list, or of what a call saves, is asked once."""


@pytest.mark.parametrize("f", PROGRAMS)
def test_unused_values_do_not_count(f):
    assert f(1.0, 0.0) == 1.0
    assert wg.grad(f)(1.0, 0.0) == 2.0
    assert wg.derivative(lambda x: f(x, 0.0))(1.0) == 2.0
    assert wg.derivative(lambda x: f(x, 0.0), 2)(1.0) == 2.0


@pytest.mark.parametrize("f", [f for f in PROGRAMS if f not in ASKED_TOGETHER])
def test_unused_values_do_not_count_in_the_reverse_of_the_reverse(f):
    assert wg.grad(wg.grad(f))(1.0, 0.0) == 2.0


@pytest.mark.parametrize("f", PROGRAMS)
def test_used_values_count(f):
    h = 1e-6
    difference = (f(2.0 + h, 1.0) - f(2.0 - h, 1.0)) / (2 * h)
    assert wg.grad(f)(2.0, 1.0) == pytest.approx(difference, rel=1e-8)
    assert wg.derivative(lambda x: f(x, 1.0))(2.0) == pytest.approx(difference, rel=1e-8)


def test_a_cotangent_that_happens_to_be_zero_has_a_derivative():
    """What moves is a question of paths, not of values: else curvature at a fit without residuals would be lost."""

    def misfit(x):
        power, root = power_and_root(x, 1)
        return (power + root - 5.0) ** 2

    slope = 4.0 + 0.5
    assert wg.grad(misfit)(2.0) == 0.0
    assert wg.grad(wg.grad(misfit))(2.0) == pytest.approx(2 * slope**2)
    assert wg.derivative(misfit, 2)(2.0) == pytest.approx(2 * slope**2)
