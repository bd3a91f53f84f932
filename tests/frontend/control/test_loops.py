"""Short loops that look things up by their number are written out; others stay loops."""

import numpy as np
import pytest
import trees

import wengert as wg


def quadratic(m, x):
    total = 0.0
    for i in range(len(m)):
        for j in range(len(m)):
            total += m[i][j] * x[i] * x[j]
    return total


def polynomial(p, x):
    total = 0.0
    for i in range(len(p)):
        total += p[i] * x**i
    return total


def by_names(p, x):
    total = 0.0
    for i in range(1, 4):
        for side in ("left", "right"):
            total += p[f"{side}{i}"] * x**i
    return total


def in_another_order(p, x):
    total = x
    for i in range(6):
        for _ in range(3):
            total = total * p[(i * i + 1) % 3] + np.sin(total)
    return total


NAMES = {f"{side}{i}": 0.3 * i for i in range(1, 4) for side in ("left", "right")}
SHORT = [
    (quadratic, ([[0.5, 1.0], [2.0, -1.0]], [0.3, 0.7])),
    (polynomial, ([1.0, -2.0, 0.5, 3.0], 0.7)),
    (by_names, (NAMES, 0.7)),
    (in_another_order, ([0.5, 1.5, -0.5], 0.7)),
]


@pytest.mark.parametrize(("f", "args"), SHORT)
def test_short_loops_are_written_out(f, args):
    found = wg.grad(f, (0, 1))(*args)
    trees.assert_close(found, wg.grad(f, (0, 1), tier="recorded")(*args), rel=1e-13)
    text = wg.grad(f, (0, 1)).specialize(*args).source
    body = text[text.index("def grad_") :]
    assert ("for " in body) == (f is in_another_order)


def test_long_loops_stay_loops():
    p = [0.1 * k for k in range(5)]

    def often(p, x):
        total = x
        for k in range(40):
            total = total * 0.9 + p[k % 5] * x
        return total

    slope = (often(p, 0.7 + 1e-6) - often(p, 0.7 - 1e-6)) / 2e-6
    assert wg.grad(often, 1)(p, 0.7) == pytest.approx(slope, rel=1e-8)
    text = wg.grad(often, 1).specialize(p, 0.7).source
    assert text.count("range(40)") == 1
