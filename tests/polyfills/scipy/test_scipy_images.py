"""Filters of `scipy.ndimage`: their values are SciPy's, their derivatives the differences'."""

from __future__ import annotations

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NoRule

pytest.importorskip("scipy")
from scipy import ndimage

MODES = ("reflect", "nearest", "mirror", "wrap", "constant")
RNG = np.random.default_rng(0)
IMAGE, LINE = RNG.normal(size=(5, 6)), RNG.normal(size=7)
SHARP = np.array([[0.0, -1.0, 0.2], [-1.0, 5.0, -1.0], [0.3, -1.0, 0.0]])
PLACES = RNG.uniform(-0.7, 5.6, size=(2, 12))

BLOCK = RNG.normal(size=(4, 5, 3))
LABELS = np.where(IMAGE > 0.5, 2, np.where(IMAGE > -0.5, 1, 0))

FILTERS = [
    lambda x, mode: ndimage.gaussian_filter(x, 0.8, mode=mode),
    lambda x, mode: ndimage.gaussian_filter(x, (0.5, 0.9), mode=mode, cval=0.3),
    lambda x, mode: ndimage.gaussian_filter1d(x[0], 0.5 + 0.1 * x[1, 0] ** 2, mode=mode),
    lambda x, mode: ndimage.convolve(x, SHARP, mode=mode),
    lambda x, mode: ndimage.correlate(x, SHARP[:2] * x[0, 0], mode=mode),
    lambda x, mode: ndimage.correlate1d(
        x, [1.0, 2.0, -1.0, 0.5], 0, mode=mode, cval=0.3, origin=-1
    ),
    lambda x, mode: ndimage.convolve1d(x[0], [1.0, 2.0], mode=mode, origin=-1),
    lambda x, mode: ndimage.uniform_filter(x, 3, mode=mode),
    lambda x, mode: ndimage.uniform_filter1d(x[1], 4, mode=mode),
    lambda x, mode: ndimage.sobel(x, 0, mode=mode),
    lambda x, mode: ndimage.gaussian_filter(x, 0.7, order=(1, 2), mode=mode),
    lambda x, mode: ndimage.gaussian_filter1d(x, 0.6 + 0.1 * x[0, 0] ** 2, order=3, mode=mode),
    lambda x, mode: ndimage.gaussian_gradient_magnitude(x, 0.8, mode=mode),
    lambda x, mode: ndimage.gaussian_laplace(x, (0.8, 0.6), mode=mode) + ndimage.prewitt(x),
    lambda x, mode: ndimage.laplace(x, mode=mode),
    lambda x, mode: ndimage.median_filter(x, 3, mode=mode),
    lambda x, mode: ndimage.maximum_filter(x, (3, 2), mode=mode),
    lambda x, mode: ndimage.minimum_filter(x[2], 4, mode=mode),
]
BETWEEN = [
    lambda x: ndimage.map_coordinates(x, PLACES, order=1),
    lambda x: ndimage.map_coordinates(x, PLACES, order=1, mode="nearest"),
    lambda x: ndimage.map_coordinates(x, PLACES, order=0, cval=0.4),
    lambda x: ndimage.map_coordinates(x[0], PLACES[:1], order=1),
    lambda x: ndimage.map_coordinates(IMAGE, 1.0 + x[:2] ** 2 / 3, order=1, mode="nearest"),
    lambda x: ndimage.rotate(x, 30.0, order=1) * 2,
    lambda x: ndimage.rotate(x, 90, order=1, reshape=False, mode="nearest"),
    lambda x: ndimage.rotate(IMAGE, 40 + 5 * x[0, 0], order=1, reshape=False, mode="nearest"),
    lambda x: ndimage.shift(x, (0.3, -1.2), order=1),
    lambda x: ndimage.shift(IMAGE, x[0, 0], order=1, mode="nearest"),
    lambda x: ndimage.zoom(x, (1.6, 2), order=1) + ndimage.zoom(x, (1.6, 2), order=0),
    lambda x: ndimage.affine_transform(x, [0.7, 1.1], (0.2, -0.1), (4, 3), order=1, cval=0.5),
    lambda x: ndimage.zoom(x, (1.6, 2)) + ndimage.zoom(x, (1.6, 2), order=2, mode="nearest"),
    lambda x: ndimage.rotate(x, 30.0 + x[0, 0], reshape=False, mode="reflect"),
    lambda x: ndimage.shift(x, (0.3, x[0, 0]), order=3, mode="wrap"),
    lambda x: ndimage.map_coordinates(x, PLACES, prefilter=False),
    lambda x: ndimage.map_coordinates(BLOCK * x[0, 0], 1.5 + x[:3] / 3, mode="mirror"),
    lambda x: ndimage.affine_transform(x, [0.7, 1.1], (0.2, -0.1), (4, 3), mode="grid-wrap"),
    lambda x: ndimage.spline_filter(x, 4) + ndimage.spline_filter1d(x, axis=0, mode="wrap"),
    lambda x: ndimage.sum(x**2, LABELS, [1, 2]) + ndimage.mean(x, LABELS, 2),
    lambda x: ndimage.variance(x, LABELS) + ndimage.standard_deviation(x),
    lambda x: np.array(ndimage.center_of_mass(x**2)),
    lambda x: ndimage.affine_transform(
        IMAGE, np.array([[1.0, x[0, 0]], [-0.1, 0.9]]), x[1, :2], order=1, mode="nearest"
    ),
]


def agrees(f):
    value, (found,) = f(IMAGE), wg.gradient(lambda x: np.sum(np.sin(f(x))), IMAGE.copy())
    seen, push = wg.pushforward(f, IMAGE.copy())
    assert seen == pytest.approx(value, rel=1e-12, abs=1e-13)
    direction = np.cos(np.arange(IMAGE.size)).reshape(IMAGE.shape)
    moved = lambda h: np.sum(np.sin(f(IMAGE + h * direction)))
    expected = (moved(1e-6) - moved(-1e-6)) / 2e-6
    assert np.sum(found * direction) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert np.sum(np.cos(value) * push(direction)) == pytest.approx(expected, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("k", range(len(FILTERS)))
def test_a_filter(k, mode):
    filtered = FILTERS[k]
    agrees(lambda x: filtered(x, mode))


@pytest.mark.parametrize("mode", [*MODES, "grid-wrap"])
@pytest.mark.parametrize("order", range(6))
def test_a_spline_of_each_order(order, mode):
    agrees(lambda x: ndimage.map_coordinates(x, PLACES, order=order, mode=mode, cval=0.3))
    if order > 0:
        agrees(lambda x: ndimage.map_coordinates(IMAGE, 1 + x[:2] * 3, order=order, mode=mode))


@pytest.mark.parametrize("f", BETWEEN)
def test_values_between_the_places(f):
    agrees(f)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: ndimage.map_coordinates(x, PLACES, mode="grid-constant"),
        lambda x: ndimage.rotate(x, 20, axes=(1, 0), mode="grid-constant"),
    ],
)
def test_what_is_called_as_it_is_has_no_derivative(f):
    with pytest.raises(NoRule, match="has no derivative rule"):
        wg.grad(lambda x: np.sum(f(x)))(IMAGE)
    assert wg.grad(lambda y: y * np.sum(f(IMAGE)))(2.0) == pytest.approx(np.sum(f(IMAGE)))


def test_a_number_is_no_picture():
    for f in (ndimage.gaussian_laplace, ndimage.gaussian_gradient_magnitude):
        with pytest.raises(wg.WengertError, match="a filter of a number is not covered"):
            wg.grad(lambda x, f=f: f(x, 1.0) * 1.0)(2.0)


def test_a_histogram_of_pairs_is_linear_in_its_weights():
    a, b, edges = RNG.uniform(size=20), RNG.uniform(size=20), np.array([0.0, 0.3, 1.0])
    for options in (
        {"bins": 3},
        {"bins": [2, edges], "range": [[0.1, 0.8], [0, 1]]},
        {"density": True},
    ):
        f = lambda w, options=options: np.histogram2d(a, b, weights=w, **options)[0]
        w = RNG.uniform(0.5, 1.0, size=20)
        assert wg.pushforward(f, w)[0] == pytest.approx(f(w))
        moved = lambda h, f=f, w=w: np.sum(f(w + h * a) ** 2)
        found = wg.grad(lambda w, f=f: np.sum(f(w) ** 2))(w) @ a
        assert found == pytest.approx((moved(1e-6) - moved(-1e-6)) / 2e-6, rel=1e-6)
