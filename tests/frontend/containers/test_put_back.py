"""What is put where it may have been before: a name for it sees what happens to it there."""

import types

import numpy as np
import pytest
import standing_alone

import wengert as wg

WEIGHTS = np.array([0.3, -0.7])


def added_to_twice(x, o):
    b = np.zeros(2)
    o.w = b
    o.w += x
    o.w += x
    return b @ WEIGHTS


def by_another_name(x, o):
    b = np.zeros(2)
    p = o
    o.w = b
    p.w += np.sin(x)
    o.w += x
    return b @ WEIGHTS


def chosen(x, o):
    b = o.w
    o.w = b if x > 0.1 else np.ones(2)
    o.w[1] += x
    return b @ WEIGHTS


def chosen_before(x, o):
    b = np.zeros(2)
    o.w = b
    z = o.w if x > 0.1 else np.ones(2)
    o.w = z
    z *= x
    o.w += x
    return b @ WEIGHTS + z @ WEIGHTS


def not_what_was_there(x, o):
    b = o.w
    o.w = b if x > 5.0 else np.ones(2)
    o.w[1] += x
    return b @ WEIGHTS + o.w @ WEIGHTS * x


def put_back_after_another(x, o):
    b = o.w
    c = np.ones(2) * x
    o.w = c
    o.w = b if x > 0.1 else np.zeros(2)
    c[0] += x
    return b @ WEIGHTS + c @ WEIGHTS * x + o.w @ WEIGHTS


def chosen_before_another(x, o):
    b = o.w
    t = b if x > 0.1 else np.zeros(2)
    o.w = np.ones(2)
    o.w = t
    b[0] = x * x
    return b @ WEIGHTS + o.w @ WEIGHTS * 2 + t @ WEIGHTS


def put_back_in_a_loop(x, o):
    for k in range(3):
        b = o.w
        o.w = b if x * k > 0.6 else b * 2
        o.w[0] += x
        b[1] *= x
    return b @ WEIGHTS + o.w @ WEIGHTS * 2


PROGRAMS = [
    added_to_twice,
    by_another_name,
    chosen,
    chosen_before,
    not_what_was_there,
    put_back_after_another,
    chosen_before_another,
    put_back_in_a_loop,
]


def arguments():
    return 0.5, types.SimpleNamespace(w=np.array([1.0, 2.0]))


def slope_of(program):
    above, below = (program(0.5 + h, arguments()[1]) for h in (1e-6, -1e-6))
    return (above - below) / 2e-6


@pytest.mark.parametrize("program", PROGRAMS)
def test_a_name_sees_what_is_put_back_change(program):
    expected = pytest.approx(slope_of(program), rel=1e-8, abs=1e-8)
    assert wg.grad(program)(*arguments()) == expected
    assert wg.pushforward(program, *arguments())[1](1.0, None) == expected


@pytest.mark.parametrize("program", PROGRAMS)
def test_source_that_stands_alone_sees_it_or_refuses(program):
    found = standing_alone.unless_refused(
        lambda: standing_alone.alone(wg.grad(program))(*arguments())
    )
    assert found is None or found == pytest.approx(slope_of(program), rel=1e-8, abs=1e-8)


def test_source_that_stands_alone_follows_what_an_attribute_refers_to():
    alone = standing_alone.alone(wg.grad(added_to_twice))
    assert alone(*arguments()) == pytest.approx(2 * WEIGHTS.sum())
