"""Loops that native code does not run again."""

import math

import numpy as np
import pytest
import trees

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


STEP = 0.25


def settled(x, rate):
    y = x
    while abs(y) > 0.1:
        y = y - STEP * rate * math.sin(y)
    return y * x


def value_and_change(x):
    _, push = wg.pushforward(lambda x: settled(x, 0.7), x)
    return settled(x, 0.7) + push(1.0)


def from_two_starts(x):
    return settled(x, 0.7) + settled(2.0 * x, 0.7) + settled(x, 0.8)


def in_branches(x):
    """Each branch runs the loop, of which the one before has the first as well."""
    first = settled(x, 0.7) if x > 0 else 0.0
    if x > 1:
        second = settled(x, 0.7)
        return first + second + settled(x, 0.7)
    return first + settled(x, 0.7)


def in_a_loop(x):
    total = 0.0
    for k in range(3):
        total += settled(x + k, 0.7) * settled(x + k, 0.7)
        x = x * 0.9
    return total


def over_written_elements(a):
    """What a loop reads changes in between."""
    total = 0.0
    for _ in range(2):
        k = 0
        while k < 3:
            total += a[k]
            k += 1
        a[0] = 5.0
        k = 0
        while k < 3:
            total += a[k]
            k += 1
    return total


def loops_of(f, *args):
    compiled = wg.jit(f, strict=True)
    trees.assert_close(compiled(*args), f(*args))
    return compiled.source.count("while")


@pytest.mark.parametrize(
    ("f", "loops"), [(value_and_change, 2), (from_two_starts, 3), (in_branches, 3), (in_a_loop, 1)]
)
def test_the_same_loop_runs_once(f, loops):
    assert loops_of(f, 1.3) == loops
    trees.assert_close(wg.jit(wg.grad(f), strict=True)(1.3), wg.grad(f)(1.3))


def test_loops_over_what_is_written_in_between_all_run():
    compiled = wg.jit(over_written_elements, strict=True)
    assert compiled(np.ones(3)) == over_written_elements(np.ones(3)) == 24.0
