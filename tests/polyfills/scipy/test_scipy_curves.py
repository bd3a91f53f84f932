"""Curves through points that SciPy draws: as functions of the points and of the place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import interpolate

import wengert as wg

X = np.array([0.3, -1.2, 0.8, 0.1, 2.0, -0.5])
T = np.linspace(0.0, 1.0, 6)
KNOTS, AT = T**1.2, np.array([0.1, 0.37, 0.9, -0.1, 1.1])
SPLINE, LINE = interpolate.CubicSpline(KNOTS, X), interpolate.interp1d(KNOTS, X)

INTERPOLANTS: list[Callable[..., Any]] = [
    lambda y, q: interpolate.CubicSpline(KNOTS, y)(q),
    lambda y, q: interpolate.CubicSpline(KNOTS + 0.01 * y, y, bc_type="natural")(q),
    lambda y, q: interpolate.CubicSpline(KNOTS, y, bc_type="clamped")(q, 1),
    lambda y, q: interpolate.CubicSpline(KNOTS[:3], y[:3])(q),
    lambda y, q: interpolate.CubicSpline(KNOTS[:2], y[:2])(q),
    lambda y, q: interpolate.CubicSpline(KNOTS, y).derivative(2)(q),
    lambda y, q: interpolate.CubicSpline(KNOTS, y).antiderivative()(q),
    lambda y, q: interpolate.CubicSpline(KNOTS, y).integrate(0.2, q[1]) * q,
    lambda y, q: interpolate.CubicHermiteSpline(KNOTS, y, y**2)(q),
    lambda y, q: interpolate.barycentric_interpolate(KNOTS + 0.01 * y, y, q),
    lambda y, q: interpolate.BarycentricInterpolator(KNOTS, y)(np.append(q, KNOTS[1])),
    lambda y, q: interpolate.PchipInterpolator(KNOTS, y)(q),
    lambda y, q: interpolate.PchipInterpolator(KNOTS, np.sort(y))(q),
    lambda y, q: interpolate.interp1d(KNOTS, y)(q[:3]),
    lambda y, q: interpolate.interp1d(KNOTS, y, fill_value="extrapolate")(q),
    lambda y, q: interpolate.interp1d(KNOTS, y, kind="nearest", bounds_error=False, fill_value=0.0)(
        q
    ),
    lambda y, q: interpolate.interp1d(KNOTS, y, bounds_error=False, fill_value=(y[0], y[-1]))(q),
    lambda y, q: interpolate.interp1d(KNOTS, y, kind="cubic")(q[:3]),
    lambda y, q: interpolate.make_interp_spline(KNOTS, y)(q),
    lambda y, q: interpolate.splev(q, interpolate.splrep(KNOTS, y), der=1),
    lambda y, q: interpolate.splev(q, interpolate.splrep(KNOTS, y, s=0, k=3)),
    lambda y, q: interpolate.InterpolatedUnivariateSpline(KNOTS, y)(q),
    lambda y, q: SPLINE(q) * y[0],
    lambda y, q: SPLINE(q[0]) * SPLINE.derivative()(q[1]) * y,
    lambda y, q: LINE(q[:3]) * y[0],
]

PAIRS = lambda y: np.stack((y, y**2 + y), axis=1)
CLOSED = lambda y: np.concatenate((y[:-1], y[:1]))
INNER = np.linspace(KNOTS[0], KNOTS[-1], 30)
SURFACE = interpolate.CubicSpline(KNOTS, np.outer([1.0, 2.0], X), axis=1)
MADE = [
    interpolate.interp1d(KNOTS, np.outer([1.0, 2.0], X), kind=kind)
    for kind in ("linear", "nearest", "quadratic")
]
SPLINES = interpolate.make_interp_spline(KNOTS, np.outer([1.0, 2.0], X), k=2, axis=1)

INTERPOLANTS += [
    lambda y, q: interpolate.CubicSpline(KNOTS, PAIRS(y))(q) * [1.0, 2.0],
    lambda y, q: interpolate.CubicSpline(KNOTS, PAIRS(y).T, axis=1)(q),
    lambda y, q: interpolate.CubicSpline(KNOTS, PAIRS(y))(q.reshape(1, 5), 1),
    lambda y, q: interpolate.CubicSpline(KNOTS, PAIRS(y)).integrate(0.1, q[1]),
    lambda y, q: interpolate.CubicSpline(KNOTS, np.stack((PAIRS(y), PAIRS(2 * y)), axis=2))(q),
    lambda y, q: interpolate.CubicSpline(KNOTS, CLOSED(y), bc_type="periodic")(q),
    lambda y, q: interpolate.CubicSpline(KNOTS[:3], CLOSED(y[:3]), bc_type="periodic")(q),
    lambda y, q: interpolate.CubicSpline(KNOTS[:2], CLOSED(y[:2]), bc_type="periodic")(q),
    lambda y, q: interpolate.CubicSpline(KNOTS, y, bc_type=((1, y[0]), (2, 0.5)))(q),
    lambda y, q: interpolate.CubicSpline(KNOTS[:3], y[:3], bc_type=("natural", "not-a-knot"))(q),
    lambda y, q: interpolate.CubicSpline(KNOTS, y, extrapolate=False)(q[:3]),
    lambda y, q: interpolate.CubicSpline(KNOTS, y, extrapolate="periodic")(q, 1),
    lambda y, q: interpolate.CubicSpline(KNOTS, y).derivative(4)(q) + q,
    lambda y, q: interpolate.CubicHermiteSpline(KNOTS, PAIRS(y), PAIRS(y**2))(q),
    lambda y, q: interpolate.PchipInterpolator(KNOTS, PAIRS(y))(q),
    lambda y, q: interpolate.PchipInterpolator(KNOTS, PAIRS(y).T, axis=1)(q[0]),
    lambda y, q: interpolate.PchipInterpolator(KNOTS[:2], y[:2], extrapolate=False)(q[:1]),
    lambda y, q: interpolate.pchip_interpolate(KNOTS, y, q, 1),
    lambda y, q: interpolate.Akima1DInterpolator(KNOTS, PAIRS(y))(q[:3]),
    lambda y, q: interpolate.Akima1DInterpolator(KNOTS[:2], y[:2], extrapolate=True)(q),
    *[
        lambda y, q, kind=kind: interpolate.interp1d(KNOTS, PAIRS(y).T, kind=kind)(q[:3])
        for kind in (
            "linear",
            "nearest",
            "nearest-up",
            "previous",
            "next",
            "zero",
            "slinear",
            "quadratic",
            4,
        )
    ],
    lambda y, q: interpolate.interp1d(KNOTS, PAIRS(y), axis=0, fill_value="extrapolate")(q),
    lambda y, q: interpolate.interp1d(KNOTS[::-1], y)(q[:3]),
    lambda y, q: interpolate.interp1d(KNOTS, y, kind="cubic", fill_value="extrapolate")(q),
    lambda y, q: interpolate.interp1d(
        KNOTS, y, "cubic", bounds_error=False, fill_value=(0.0, y[1])
    )(q),
    *[
        lambda y, q, k=k: interpolate.make_interp_spline(KNOTS, PAIRS(y), k=k)(q)
        for k in (0, 1, 2, 4, 5)
    ],
    lambda y, q: interpolate.make_interp_spline(KNOTS, y, bc_type="natural")(q),
    lambda y, q: interpolate.make_interp_spline(KNOTS, y).antiderivative()(q),
    lambda y, q: interpolate.make_lsq_spline(
        INNER, np.interp(INNER, KNOTS, y), [0.0] * 4 + [0.5] + [1.0] * 4
    )(q),
    lambda y, q: interpolate.make_lsq_spline(
        INNER,
        np.stack([INNER * y[0], INNER**4], axis=1),
        [0.0] * 3 + [0.5] + [1.0] * 3,
        2,
        w=1 + INNER,
    )(q),
    lambda y, q: interpolate.BSpline(np.arange(10.0), PAIRS(y), 3)(q + 4),
    lambda y, q: interpolate.BSpline(np.arange(10.0), y, 3, extrapolate="periodic")(q),
    lambda y, q: interpolate.splrep(KNOTS, y)[1][:3] * q[0],
    lambda y, q: interpolate.splev(q, interpolate.splrep(KNOTS, y, k=4)),
    lambda y, q: interpolate.UnivariateSpline(KNOTS, y, s=0, k=2, ext="zeros")(q),
    lambda y, q: interpolate.UnivariateSpline(KNOTS, y, s=0, ext=3)(q),
    lambda y, q: interpolate.PchipInterpolator(KNOTS, y, extrapolate="periodic")(q),
    lambda y, q: interpolate.Akima1DInterpolator(KNOTS, y, extrapolate="periodic")(q),
    lambda y, q: interpolate.CubicHermiteSpline(KNOTS, y, y**2, extrapolate="periodic")(q),
    lambda y, q: interpolate.make_interp_spline(KNOTS, CLOSED(y), bc_type="periodic")(q),
    lambda y, q: interpolate.splev(q, interpolate.make_interp_spline(KNOTS, y)),
    lambda y, q: interpolate.InterpolatedUnivariateSpline(KNOTS, y, y**2, ext=1)(q),
    lambda y, q: interpolate.InterpolatedUnivariateSpline(KNOTS, y).integral(0.1, 0.9) * q,
    lambda y, q: SURFACE(q) + SURFACE(q, 1) * y[0],
    *[lambda y, q, curve=curve: curve(q[:3]) * y[0] for curve in MADE],
    lambda y, q: SPLINES(q) * y[0] + SPLINES.derivative()(q),
]


@pytest.mark.parametrize("f", INTERPOLANTS)
def test_an_interpolant(f: Callable[..., Any]) -> None:
    value = f(X, AT)
    weights = np.cos(np.arange(np.size(value))).reshape(np.shape(value))

    def total(y: Any, q: Any) -> Any:
        return np.sum(weights * f(y, q))

    np.testing.assert_allclose(wg.pullback(f, X, AT)[0], value, rtol=1e-10, atol=1e-12)
    wg.testing.check_gradient(total, X, AT, rtol=2e-5)


BEYOND = [
    lambda y: interpolate.interp1d(KNOTS, y, kind="cubic")(1.5),
    lambda y: interpolate.interp1d(KNOTS, y, fill_value=0.0)(-0.1),
    lambda y: interpolate.CubicSpline(KNOTS, y, bc_type="periodic")(0.3),
    lambda y: interpolate.CubicSpline(KNOTS, y, bc_type="other")(0.3),
    lambda y: interpolate.interp1d(KNOTS, y, bounds_error=True, fill_value="extrapolate")(0.3),
]


@pytest.mark.parametrize("curve", BEYOND)
def test_what_has_no_value_raises_what_scipy_raises(curve: Callable[..., Any]) -> None:
    def program(y: Any) -> Any:
        try:
            return curve(y)
        except ValueError:
            return np.sum(y**2)

    np.testing.assert_array_equal(wg.grad(program)(X), 2 * X)
    with pytest.raises(ValueError):  # noqa: PT011
        wg.grad(curve)(X)


def test_outside_of_a_curve_that_ends_there_is_nothing() -> None:
    curve = lambda y: interpolate.CubicSpline(KNOTS, PAIRS(y), extrapolate=False)(AT)
    np.testing.assert_allclose(wg.pullback(curve, X)[0], curve(X))


@pytest.mark.parametrize(
    "f",
    [
        lambda y: interpolate.make_interp_spline(KNOTS, y, k=5, bc_type="natural")(0.3),
        lambda y: interpolate.CubicSpline(KNOTS, CLOSED(y), bc_type="periodic").integrate(0, 3),
        lambda y: interpolate.BSpline(KNOTS, y, 2, extrapolate=False).integrate(0, 3),
        lambda y: interpolate.InterpolatedUnivariateSpline(KNOTS, y, bbox=[-1, 2])(0.3),
    ],
)
def test_what_is_not_covered_says_so(f: Callable[..., Any]) -> None:
    with pytest.raises(wg.WengertError, match="WG101"):
        wg.grad(f)(X)
