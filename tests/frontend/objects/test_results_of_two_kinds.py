"""Results that are an array on one path and a number on the other, where the run takes the number."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg

POINT = np.array([1.0, 2.0, 3.0])


def asked_for_its_type(v):
    t = v / (v[0] * v[1])
    if type(t) is complex:
        return abs(t)
    return t.sum()


def left_early(v):
    t = v.squeeze() * (v[0] * v[1])
    if v[0] > 100:
        return abs(t)
    return t.sum()


def named(v):
    n = np.dot(v, v)
    t = v / n
    s = abs(t) if v[0] > 100 else t.sum()
    return s * 2


def nested(v):
    t = v * v[1]
    if v[0] > 100:
        s = -t if v[1] > 50 else t * 2
    else:
        s = t.sum() if v[2] > 0 else t
    return s


def handled(v):
    t = v * v[2]
    try:
        s = np.log(t) if v[0] > 100 else [][0]
    except IndexError:
        s = t.sum()
    return s


def on_every_path(v):
    t = v.sum()
    s = t * v[1]
    return abs(s) if v[0] > 100 else -s


@pytest.mark.parametrize(
    "f", [asked_for_its_type, left_early, named, nested, handled, on_every_path]
)
def test_what_one_path_says_of_shapes_is_true_of_that_path(f):
    step = 1e-6
    moved = [(f(POINT + e) - f(POINT - e)) / (2 * step) for e in np.eye(3) * step]
    assert wg.grad(f)(POINT) == pytest.approx(np.array(moved), rel=1e-7)
    assert wg.pushforward(f, POINT)[1](np.ones(3)) == pytest.approx(sum(moved), rel=1e-7)
