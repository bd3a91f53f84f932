"""Arrays without axes and arrays that repeat others: their tangents and cotangents can be written to."""

import math

import numpy as np
import pytest

import wengert as wg


def written_after_a_sum(x):
    s = np.zeros(2) + sum([x] * int(x + 1))
    s[0] = 0.0
    return s[1] * x


def doubled_after_a_sum(x):
    s = np.zeros(2) + sum([t for t in [x] if t > 0])
    s[0] *= 2
    return np.sum(s * s)


def product_after_a_write(x):
    t = np.array(x)
    t[...] = t * 2
    return math.prod([t, x])


def product_in_place(x):
    t = np.array(x)
    t *= 2
    return math.prod([t, x])


def fraction(x):
    return math.modf(np.array(x))[0] ** 2 + math.modf(x)[0]


def no_such_pattern(x):
    for _ in (x, 0.5):
        match (x, ("x",)):
            case ["mul", p]:
                x = x * p
    return x * x


@pytest.mark.parametrize(
    ("f", "slope", "bend"),
    [
        (written_after_a_sum, 4.8, 4.0),
        (doubled_after_a_sum, 12.0, 10.0),
        (product_after_a_write, 4.8, 4.0),
        (product_in_place, 4.8, 4.0),
        (fraction, 1.4, 2.0),
        (no_such_pattern, 2.4, 2.0),
    ],
)
def test_every_way_to_first_and_second_derivatives(f, slope, bend):
    assert wg.grad(f)(1.2) == pytest.approx(slope)
    assert wg.pushforward(f, 1.2)[1](1.0) == pytest.approx(slope)
    assert wg.grad(f, tier="recorded")(1.2) == pytest.approx(slope)
    assert wg.grad(wg.grad(f))(1.2) == pytest.approx(bend)
    assert wg.hessian(f)(1.2) == pytest.approx(bend)
    assert wg.derivative(f, order=2)(1.2) == pytest.approx(bend)
