"""Derivatives of functions of one number, every way, against differences."""

import functools

import pytest

import wengert as wg


def slope(f, x, h=1e-3):
    """f'(x), by central differences extrapolated twice."""
    rows = [[(f(x + d) - f(x - d)) / (2 * d) for d in (h, h / 2, h / 4)]]
    for k in (1, 2):
        last, factor = rows[-1], 4**k
        pairs = zip(last[1:], last, strict=False)
        rows.append([(factor * fine - coarse) / (factor - 1) for fine, coarse in pairs])
    return rows[-1][-1]


def agree(f, *points, second=True, only=None):
    """Assert that every way to differentiate a function gives what differences give.

    `only` is a path's own formula, at points where differences would cross to another path.
    """
    for x in points:
        reference = only or f
        first = pytest.approx(slope(reference, x), rel=1e-8, abs=1e-9)
        value, push = wg.pushforward(f, x)
        assert value == pytest.approx(f(x), rel=1e-13)
        assert wg.gradient(f, x)[0] == first
        assert wg.grad(f)(x) == first
        assert push(1.0) == first
        found, gradient = wg.value_and_grad(f)(x)
        assert (found, gradient) == (pytest.approx(f(x), rel=1e-13), first)
        if second:
            slopes = functools.partial(slope, reference)
            curvature = pytest.approx(slope(slopes, x), rel=1e-5, abs=1e-6)
            assert wg.grad(wg.grad(f))(x) == curvature
            assert wg.pushforward(wg.grad(f), x)[1](1.0) == curvature
            assert wg.derivative(wg.derivative(f))(x) == curvature
