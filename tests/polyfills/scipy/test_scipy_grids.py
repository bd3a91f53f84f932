"""SciPy's interpolants on grids and of scattered points: values are SciPy's, derivatives the differences'."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NoRule

interpolate = pytest.importorskip("scipy.interpolate")
spatial = pytest.importorskip("scipy.spatial")
spsolve = pytest.importorskip("scipy.sparse.linalg").spsolve

RNG = np.random.default_rng(0)


def agrees(f: Callable[..., Any], *args: Any) -> None:
    value = f(*args)
    weights = np.cos(np.arange(np.size(value))).reshape(np.shape(value))
    found = wg.pullback(f, *args)[0]
    assert np.shape(found) == np.shape(value)
    np.testing.assert_allclose(found, value, rtol=1e-9, atol=1e-12)
    wg.testing.check_gradient(lambda *x: np.sum(weights * f(*x)), *args, rtol=1e-5)


# --- grids ----------------------------------------------------------------------------------

X = np.array([0.0, 0.3, 0.5, 0.9, 1.2, 1.4, 1.7])
Y = np.linspace(0.0, 2.0, 6)
TABLE = np.sin(2 * X[:, None]) * np.cos(Y)
BLOCK = RNG.random((3, 7, 6))
AT = RNG.random((4, 2)) * 1.4 + 0.1
OUTSIDE = interpolate.RegularGridInterpolator((X, Y), TABLE, bounds_error=False, fill_value=None)

ON_GRIDS: list[Callable[..., Any]] = [
    lambda v, q: interpolate.RegularGridInterpolator((X, Y), v)(q),
    lambda v, q: interpolate.RegularGridInterpolator((X, Y), v, method="nearest")(q) * q[:, 0],
    lambda v, q: interpolate.RegularGridInterpolator((X, Y), v, method="slinear")(q[0]),
    lambda v, q: interpolate.interpn((X[::-1], Y), v, 1.4 * q, bounds_error=False, fill_value=2.0),
    lambda v, q: interpolate.interpn((X,), v, q[:, 0]),
    lambda v, q: interpolate.interpn(
        ([0.0, 0.4, 0.9], X, Y), BLOCK * v, (q[:, 0] / 2, 0.7, q[:, 1])
    ),
    lambda v, q: OUTSIDE(1.4 * q) + OUTSIDE(q, method="nearest"),
    lambda v, q: interpolate.RectBivariateSpline(X, Y, v).ev(q[:, 0], q[:, 1]) + 1.0,
    lambda v, q: interpolate.RectBivariateSpline(X, Y, v, kx=1, ky=5)(0.3, np.sort(q[:, 0])),
    lambda v, q: interpolate.RectBivariateSpline(X, Y, v).ev(q[:, 0], q[:, 1], dx=1, dy=1),
]


@pytest.mark.parametrize("f", ON_GRIDS)
def test_on_a_grid(f: Callable[..., Any]) -> None:
    agrees(f, TABLE, AT)


@pytest.mark.parametrize("method", ["cubic", "quintic"])
def test_splines_have_the_values_that_scipy_ends_with(method: str) -> None:
    """SciPy's iteration leaves errors of 1e-5, by default, which have no derivative."""

    def spline(v: Any, q: Any) -> Any:
        return interpolate.RegularGridInterpolator((X, Y), v, method=method)(q)

    def exact(v: Any, q: Any) -> Any:
        return interpolate.RegularGridInterpolator((X, Y), v, method=method, solver=spsolve)(q)

    np.testing.assert_array_equal(wg.pullback(spline, TABLE, AT)[0], spline(TABLE, AT))
    found = wg.gradient(lambda v, q: np.sum(spline(v, q)), TABLE, AT)
    for direction in (np.cos(np.arange(50.0)), np.sin(np.arange(50.0) ** 2)):
        v, q = direction[:42].reshape(7, 6), direction[42:].reshape(4, 2)
        moved = lambda h, v=v, q=q: np.sum(exact(TABLE + h * v, AT + h * q))
        expected = (moved(1e-5) - moved(-1e-5)) / 2e-5
        assert np.sum(found[0] * v) + np.sum(found[1] * q) == pytest.approx(expected, rel=1e-6)


def test_what_grids_refuse() -> None:
    with pytest.raises(ValueError, match="out of bounds in dimension 1"):
        wg.grad(lambda q: interpolate.interpn((X, Y), TABLE, [0.5, q])[0])(3.0)
    for f in (
        lambda v: interpolate.interpn((X, Y), v, AT, method="pchip"),
        lambda v: interpolate.RectBivariateSpline(X, Y, v, s=0.1).ev(0.3, 0.4),
    ):
        with pytest.raises(NoRule, match="has no derivative rule"):
            wg.grad(lambda v, f=f: np.sum(f(v)))(TABLE)


# --- scattered points -----------------------------------------------------------------------

P = RNG.random((14, 2))
D = np.sin(3 * P[:, 0]) + P[:, 1] ** 2
Q = RNG.random((4, 2)) * 0.4 + 0.3
TRIANGLES = spatial.Delaunay(P)
RADIAL = interpolate.RBFInterpolator(P, np.stack([D, D**2], 1), kernel="gaussian", epsilon=3.0)
LINEAR = interpolate.LinearNDInterpolator(P, D, rescale=True)

SCATTERED: list[Callable[..., Any]] = [
    *(
        lambda p, d, q, kernel=kernel: interpolate.RBFInterpolator(p, d, kernel=kernel, epsilon=2)(
            q
        )
        for kernel in (
            "linear", "thin_plate_spline", "cubic", "quintic", "multiquadric",
            "inverse_multiquadric", "inverse_quadratic", "gaussian",
        )
    ),
    lambda p, d, q: interpolate.RBFInterpolator(p, np.stack([d, q[0, 0] * d], 1), smoothing=0.1)(q),
    lambda p, d, q: interpolate.RBFInterpolator(p, d, smoothing=d**2, degree=2)(q),
    lambda p, d, q: interpolate.RBFInterpolator(
        p, d, kernel="gaussian", epsilon=9 * q[0, 0], degree=-1
    )(q),
    lambda p, d, q: interpolate.RBFInterpolator(p, d)(p),
    lambda p, d, q: RADIAL(q) * d[0],
    lambda p, d, q: interpolate.LinearNDInterpolator(p, d)(q),
    lambda p, d, q: interpolate.LinearNDInterpolator(p, d, fill_value=3.0, rescale=True)(
        2 * q[:, 0], q[:, 1]
    ),
    lambda p, d, q: interpolate.LinearNDInterpolator(TRIANGLES, np.stack([d, d**2], 1))(q),
    lambda p, d, q: interpolate.LinearNDInterpolator(p, d)(0.5, q[0, 1]),
    lambda p, d, q: LINEAR(q),
    lambda p, d, q: interpolate.NearestNDInterpolator(p, d)(q),
    lambda p, d, q: interpolate.griddata(p, d, q),
    lambda p, d, q: interpolate.griddata((p[:, 0], p[:, 1]), d, (q[:, :1], q[:, 1]), "nearest"),
    lambda p, d, q: interpolate.griddata(p[:, 0], d, q[:, 0]),
]  # fmt: skip


@pytest.mark.parametrize("f", SCATTERED)
def test_scattered_points(f: Callable[..., Any]) -> None:
    agrees(f, P, D, Q)


@pytest.mark.parametrize(
    "f",
    [
        lambda d: interpolate.RBFInterpolator(P, d, neighbors=5)(Q),
        lambda d: interpolate.griddata(P, d, Q, method="cubic"),
        lambda d: interpolate.CloughTocher2DInterpolator(P, d)(0.5, 0.5),
    ],
)
def test_what_is_not_covered_of_scattered_points_is_refused(f: Any) -> None:
    with pytest.raises(NoRule, match="has no derivative rule"):
        wg.grad(lambda d: np.sum(f(d)))(D)
