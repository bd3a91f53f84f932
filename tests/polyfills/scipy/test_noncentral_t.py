"""`scipy.special.nctdtr` against an integral in many digits."""

from __future__ import annotations

import mpmath as mp
import numpy as np
import pytest
from scipy import special

import wengert as wg

POINTS = [
    (5.0, 0.3, 1.2), (20.0, 1.5, -0.5), (3.0, -1.0, 0.4), (5.0, 0.3, 1e-6), (2.5, 1.0, 0.0), (100.0, 3.0, 1.98),
]  # fmt: skip


def integral(df, nc, t):
    """P(Z + nc <= t √(V / df))."""

    def density(v):
        return mp.ncdf(t * mp.sqrt(v / df) - nc) * v ** (df / 2 - 1) * mp.exp(-v / 2)

    total = mp.quad(density, [0, df / 4, df, 2 * df, 4 * df + 40, 400])
    return total / (mp.mpf(2) ** (df / 2) * mp.gamma(df / 2))


def slope(k, point):
    step = mp.mpf(10) ** -12
    with mp.workdps(40):
        moved = [
            [mp.mpf(x) + (sign * step if j == k else 0) for j, x in enumerate(point)]
            for sign in (1, -1)
        ]
        return float((integral(*moved[0]) - integral(*moved[1])) / (2 * step))


@pytest.mark.parametrize("point", POINTS)
def test_R11_nctdtr(point):
    def f(nc, t):
        return special.nctdtr(point[0], nc, t)

    expected = [slope(1, point), slope(2, point)]
    np.testing.assert_allclose(wg.gradient(f, *point[1:]), expected, rtol=1e-8)
    for k, tangents in enumerate(((1.0, None), (None, 1.0))):
        assert wg.pushforward(f, *point[1:])[1](*tangents) == pytest.approx(expected[k], rel=1e-8)


def test_its_second_derivatives():
    def f(x):
        return special.nctdtr(12.0, x[0], x[1])

    x, step = np.array([1.3, 1.1]), 1e-5
    columns = [
        (wg.grad(f)(x + step * e) - wg.grad(f)(x - step * e)) / (2 * step) for e in np.eye(2)
    ]
    np.testing.assert_allclose(wg.hessian(f)(x), np.array(columns), rtol=1e-6)


def test_its_degrees_of_freedom_are_refused():
    with pytest.raises(wg.WengertError, match="WG103") as caught:
        wg.grad(lambda df: special.nctdtr(df, 0.3, 1.2))(5.0)
    assert "the derivative of nctdtr in `df` has no closed form" in str(caught.value)
