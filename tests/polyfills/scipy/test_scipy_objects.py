"""SciPy's objects that programs make outside and call inside: splines, trees, densities; and what cannot be."""

# programs under test are written as users write them

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NoRule

interpolate = pytest.importorskip("scipy.interpolate")
ndimage = pytest.importorskip("scipy.ndimage")
signal = pytest.importorskip("scipy.signal")
spatial = pytest.importorskip("scipy.spatial")
stats = pytest.importorskip("scipy.stats")

X = np.linspace(0.0, 3.0, 12)
Y = np.sin(X)
POINTS = np.random.default_rng(0).random((30, 2))
smooth = interpolate.UnivariateSpline(X, Y, s=0.01)
through = interpolate.InterpolatedUnivariateSpline(X, Y, k=2)
zeros = interpolate.UnivariateSpline(X, Y, s=0, ext="zeros")
held = interpolate.UnivariateSpline(X, Y, s=0, ext=3)
strict = interpolate.UnivariateSpline(X, Y, s=0, ext=2)
surface = interpolate.RectBivariateSpline(X, X, np.outer(Y, np.cos(X)))
plane = interpolate.RectBivariateSpline(X, X, np.outer(Y, np.cos(X)), kx=1, ky=2)
quadratic = interpolate.interp1d(X, Y, kind="quadratic")
beyond = interpolate.interp1d(X, Y, kind="cubic", fill_value="extrapolate")
filled = interpolate.interp1d(X, Y, bounds_error=False, fill_value=(-1.0, 2.0))
tck = interpolate.splrep(X, Y)
of_surface = [*surface.tck, 3, 3]
tree = spatial.cKDTree(POINTS)
density = stats.gaussian_kde(Y)

OF_NUMBERS: list[Callable[..., Any]] = [
    lambda x: smooth(x) * through(x),
    lambda x: smooth(x, 1) + through(x, nu=2),
    lambda x: smooth.derivative()(x) + smooth.derivative(2)(x) + smooth.antiderivative()(x),
    lambda x: smooth.integral(-1.0, x) + smooth.integral(x, 9.0),
    lambda x: np.sum(smooth.derivatives(x) * np.arange(4.0)),
    lambda x: zeros(x + 5.0) + zeros(x) + held(x + 5.0) + held(x) * x + strict(x),
    lambda x: surface.ev(x, 1.1 * x) + surface.ev(x, 0.3, dx=1) * surface.ev(0.3, x, dy=2),
    lambda x: surface(x, 2 * x)[0, 0] + surface(x, 0.4, grid=False) + plane.ev(x, x, 0, 1),
    lambda x: surface.ev(9.0, x) + surface.ev(-1.0, x, dx=2),
    lambda x: quadratic(x) + beyond(x + 4.0) + filled(x) * filled(x + 9.0) + filled(x - 9.0),
    lambda x: interpolate.splev(x, tck) + interpolate.splev(x, tck, der=1),
    lambda x: interpolate.splev(x + 5.0, tck, ext=1) + interpolate.splint(0.1, x, tck),
    lambda x: (
        interpolate.bisplev(x, 2 * x, of_surface) + interpolate.bisplev(0.3, x, of_surface, 1)
    ),
    lambda x: interpolate.bisplev([0.1, x], [0.2, x, 0.9], of_surface).sum() ** 2,
    lambda x: interpolate.bisplev(0.4, [x, 0.9], of_surface)[0],
    lambda x: tree.query([x, 0.5])[0] + tree.query([x, 0.2], k=3, p=1)[0].sum(),
    lambda x: density(x)[0] + density.logpdf(x)[0] + density.evaluate([x, 0.1]).sum(),
    lambda x: x * spatial.KDTree(POINTS).query([0.3, 0.4])[0],
    lambda x: x * interpolate.UnivariateSpline(X, Y, s=0.1)(0.3),
]


@pytest.mark.parametrize("f", OF_NUMBERS)
def test_objects_made_outside(f: Callable[..., Any]) -> None:
    value, gradient = wg.value_and_grad(f)(0.77)
    assert value == pytest.approx(f(0.77), rel=1e-13)
    h = 1e-3
    expected = (8 * (f(0.77 + h) - f(0.77 - h)) - f(0.77 + 2 * h) + f(0.77 - 2 * h)) / (12 * h)
    assert gradient == pytest.approx(float(expected), rel=2e-7)
    assert wg.derivative(f)(0.77) == pytest.approx(gradient, rel=1e-12)


def test_arrays_of_points() -> None:
    at = np.array([0.3, 1.1, 2.7])
    wg.testing.check_gradient(lambda x: surface(x, x**2 / 3).sum() + smooth(x) @ x, at)
    np.testing.assert_allclose(
        wg.jacobian(lambda x: surface.ev(x, x))(at),
        np.diag(surface.ev(at, at, dx=1) + surface.ev(at, at, dy=1)),
        rtol=1e-12,
    )


def test_bounds_are_those_of_scipy() -> None:
    with pytest.raises(ValueError, match="spalde"):
        wg.grad(lambda x: strict(x))(5.0)
    with pytest.raises(ValueError, match="outside the interpolation range"):
        wg.grad(lambda x: quadratic(x))(5.0)
    for refused in (
        lambda x: smooth(x, 4),
        lambda x: surface.ev(x, x, dx=3),
        lambda x: surface([x, 0], x),
    ):
        with pytest.raises(ValueError, match=r"der|pardeu|increasing") as of_scipy:
            refused(1.0)
        with pytest.raises(ValueError, match=re.escape(str(of_scipy.value))):
            wg.grad(lambda x, f=refused: np.sum(f(x)))(1.0)


def test_what_cannot_be_made_inside_names_the_class_and_the_users_line() -> None:
    def smoothed(y: Any) -> Any:
        return interpolate.UnivariateSpline(X, y, s=0.1)(0.3)

    with pytest.raises(NoRule, match="UnivariateSpline has no derivative rule") as caught:
        wg.grad(smoothed)(Y)
    assert "return interpolate.UnivariateSpline(X, y, s=0.1)(0.3)" in str(caught.value)


def test_a_constructor_may_make_an_object_of_a_subclass() -> None:
    class Shape:
        def __new__(cls, *sizes: float) -> Self:
            return super().__new__(Square if len(sizes) == 1 else Rectangle)

    class Square(Shape):
        def __init__(self, width: float) -> None:
            self.area = width**2

    class Rectangle(Shape):
        def __init__(self, width: float, height: float) -> None:
            self.area = width * height

    def areas(x: float) -> float:
        return Shape(x).area * Shape(x, 3.0).area  # type: ignore[attr-defined]

    assert wg.grad(areas)(2.0) == pytest.approx(9 * 2.0**2)


# --- spectra and images ---------------------------------------------------------------------


SIGNAL = np.random.default_rng(1).normal(size=43)
OF_SIGNALS: list[Callable[..., Any]] = [
    lambda x: signal.spectrogram(x, fs=2.0, nperseg=16)[2],
    lambda x: signal.spectrogram(x, nperseg=15, noverlap=4, detrend=False, scaling="spectrum")[2],
    lambda x: np.abs(signal.stft(x, fs=3.0, nperseg=10)[2]),
    lambda x: np.abs(signal.stft(x, nperseg=11, noverlap=3)[2]),
    lambda x: np.abs(signal.stft(x, nperseg=8, boundary=None, padded=False)[2]),
    lambda x: np.abs(signal.freqz(x[:3], np.exp(x[3:5]), worN=8)[1]),
    lambda x: signal.freqz(x[:3], worN=[0.1, 0.4], fs=1.0)[1].imag,
]


@pytest.mark.parametrize("f", OF_SIGNALS)
def test_signals(f: Callable[..., Any]) -> None:
    value = wg.pullback(f, SIGNAL)[0]
    np.testing.assert_allclose(value, f(SIGNAL), rtol=1e-12, atol=1e-14)
    wg.testing.check_gradient(lambda x: np.sum(f(x) ** 2), SIGNAL)


def test_frequencies_and_times_are_those_of_scipy() -> None:
    def where(x: Any) -> Any:
        f, t, _ = signal.stft(x, fs=2.0, nperseg=11)
        g, u, _ = signal.spectrogram(x, fs=2.0, nperseg=16)
        w, _ = signal.freqz(x[:3], worN=7, whole=True)
        return np.concatenate([f, t, g, u, w])

    axes = wg.pullback(where, SIGNAL)[0]
    np.testing.assert_allclose(axes, where(SIGNAL), rtol=1e-13)


def test_constants_may_be_anything() -> None:
    constant = np.outer(SIGNAL, SIGNAL)

    def f(x: float) -> float:
        wide = ndimage.zoom(constant[:5, :5], 2)
        return x * wide.sum() * signal.stft(constant, nperseg=8)[2].real.sum()

    assert wg.grad(f)(2.0) == pytest.approx(f(1.0))
