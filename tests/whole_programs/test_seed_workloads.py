"""Whole programs, differentiated and descended, end at their published numbers."""

import itertools

import numpy as np
import programs_seed as programs
import pytest

import wengert as wg

# The figures are printed in full; the last digits depend on the order of the additions.
PUBLISHED = {"rel": 1e-12, "abs": 0}


def descend(loss, start, rate):
    """The endless sequence of points of gradient descent from `start`, a tuple of arguments."""
    gradient = wg.grad(loss, argnums=tuple(range(len(start))))
    point = start
    while True:
        yield point
        point = step(point, gradient(*point), rate)


def step(value, slope, rate):
    if isinstance(value, tuple | list):
        return type(value)(step(v, s, rate) for v, s in zip(value, slope, strict=True))
    return value - rate * slope


def after(steps, points):
    return next(itertools.islice(points, steps, None))


def test_w1_curve_fit():
    point = after(100, descend(programs.curve_fit_loss, (0.0, 1.0, 1.0), 0.01))
    assert point == pytest.approx(tuple(programs.CURVE_FIT.values()), **PUBLISHED)
    assert programs.curve_fit_loss(*point) == pytest.approx(programs.CURVE_FIT_LOSS, **PUBLISHED)


@pytest.mark.parametrize("as_parameter", [float, np.array], ids=["numbers", "0-d arrays"])
def test_w2_curve_fit_on_arrays(as_parameter):
    xs = np.array(programs.SAMPLE_XS)
    ys = np.array([programs.gaussian_truth(x) for x in programs.SAMPLE_XS])

    def loss(*params):
        return programs.array_curve_fit_loss(params, xs, ys)

    points = descend(loss, tuple(map(as_parameter, (0.0, 1.0, 1.0))), 0.01)
    before, last = itertools.islice(points, 99, 101)
    assert loss(*before) == pytest.approx(programs.CURVE_FIT_LOSS_AFTER_99, **PUBLISHED)
    assert last == pytest.approx(tuple(programs.CURVE_FIT.values()), **PUBLISHED)


def test_w3_peak_separation():
    peaks = after(500, descend(programs.peaks_loss, programs.PEAKS_START, 0.01))
    assert peaks == pytest.approx(programs.PEAKS, **PUBLISHED)


def test_w5_two_classes():
    points = descend(programs.two_class_loss, programs.TWO_CLASS_START, 0.01)
    first, second = after(99, points)
    assert first == pytest.approx(programs.TWO_CLASS_AFTER_99, **PUBLISHED)
    assert np.shape(second) == (3,)


def test_w6_three_classes():
    points = descend(programs.three_class_loss, (programs.THREE_CLASS_START,), 0.01)
    (before,), (last,) = itertools.islice(points, 198, 200)
    for found, expected in zip(last, programs.THREE_CLASS_AFTER_199, strict=True):
        assert found == pytest.approx(expected, **PUBLISHED)
    loss = programs.three_class_loss
    assert loss(before) == pytest.approx(programs.THREE_CLASS_LOSS_AFTER_198, **PUBLISHED)
    assert loss(last) == pytest.approx(programs.THREE_CLASS_LOSS_AFTER_199, **PUBLISHED)


def test_w7_orbit_in_the_complex_plane():
    start, loss = programs.ORBIT_START, programs.orbit_loss
    assert wg.gradient(loss, start) == pytest.approx((programs.ORBIT_GRADIENT,), **PUBLISHED)
    last = after(30, descend(loss, (start,), 5e-5))
    assert loss(*last) == pytest.approx(programs.ORBIT_FINAL_LOSS, rel=1e-10)


def test_w8_cannon():
    start, loss = programs.CANNON_START, programs.cannon_loss
    assert wg.gradient(loss, *start) == pytest.approx(programs.CANNON_GRADIENT, **PUBLISHED)
    last = after(30, descend(loss, start, 3e-4))
    assert loss(*last) == pytest.approx(programs.CANNON_FINAL_LOSS, rel=1e-10)


def test_w9_intercept():
    start, loss = programs.INTERCEPT_START, programs.intercept_loss
    assert wg.gradient(loss, *start) == pytest.approx(programs.INTERCEPT_GRADIENT, **PUBLISHED)
    last = after(30, descend(loss, start, 3e-4))
    assert loss(*last) == pytest.approx(programs.INTERCEPT_FINAL_LOSS, rel=1e-10)
