"""Options of NumPy's and SciPy's functions, and SciPy's interpolants and kernels: values and derivatives."""

import numpy as np
import pytest
from error_texts import refusal

import wengert as wg
from wengert.errors import UnsupportedSyntax

pytest.importorskip("scipy")
from scipy import integrate, interpolate, linalg, ndimage, optimize, signal, sparse, stats
from scipy.spatial import distance

X = np.array([1.3, 0.4, 2.2])
A = np.array([[2.0, 0.3, 0.1], [0.3, 3.0, 0.2], [0.1, 0.2, 4.0]])
KNOTS = [0.0, 0, 0, 0.5, 1, 1, 1]
GRID = interpolate.RegularGridInterpolator((np.arange(3.0), np.arange(2.0)), np.outer(X, X[:2]))
CURVE = interpolate.BSpline(KNOTS, [1.0, 2.0, -1.0, 0.5], 2)


def grid_of(x):
    return interpolate.RegularGridInterpolator((np.arange(3.0), [0.0, 2.0]), np.stack([x, x**2], 1))


PROGRAMS = {
    "kurtosis(bias=)": lambda x: stats.kurtosis(np.append(x, x**2), bias=False),
    "kurtosis of rows": lambda x: np.sum(
        stats.kurtosis(np.outer(x, [1.0, 2.0, 4.0, 9.0]) ** 2, axis=1, bias=False, fisher=False)
    ),
    "skew of two": lambda x: stats.skew(x[:2] ** 2, bias=False) + x[0],
    "median_abs_deviation(scale=)": lambda x: stats.median_abs_deviation(x**2, scale="normal"),
    "resample of columns": lambda x: np.sum(signal.resample(np.outer(x, x**2), 4)[:, 1] ** 2),
    "resample(axis=)": lambda x: np.sum(signal.resample(np.outer(x, x**2), 4, axis=1)[1] ** 3),
    "norm(keepdims=) of the run": lambda x: sum(
        np.sum(np.linalg.norm(np.outer(x, x), keepdims=keep)) for keep in [True, False] * 9
    ),
    "clip(max=)": lambda x: np.sum(x.clip(max=1.5 * x[1] + 1)) + np.sum(x.clip(max=1.0)),
    "clip(min=)": lambda x: np.sum(np.clip(x, min=0.5, max=2.0) * x),
    "clip(low)": lambda x: np.sum(x.clip(0.5 * x[1]) * x) + np.sum(np.clip(x, min=1.0)),
    "linspace(retstep=)": lambda x: sum(map(np.sum, np.linspace(x[0], x[2], 5, retstep=True))),
    "linspace of constants": lambda x: np.linspace(0.0, 1.0, 5, retstep=True)[1] * x[0],
    "linspace(endpoint=)": lambda x: np.linspace(x[0], 3.0, 4, endpoint=False, retstep=True)[1],
    "interp(left=)": lambda x: np.interp(0.1, [1.0, 2.0], [3.0, 4.0], left=x[0] ** 2),
    "interp(left=, right=)": lambda x: np.sum(
        np.interp([0.1, 1.5, 7.0], [1.0, 2.0], [3 * x[1], 4.0], left=x[0], right=x[1] ** 2)
    ),
    "piecewise with arguments": lambda x: np.sum(
        np.piecewise(x, [x > 1], [lambda v, k: k * v, lambda v, k: k], x[0] ** 2)
    ),
    "nditer of two": lambda x: sum(a * b**2 for a, b in np.nditer([x, x[::-1]])),
    "poly1d": lambda x: (np.poly1d(x) ** 2 / x[1])(0.7),
    "lagrange": lambda x: interpolate.lagrange([0.0, 1.0, 2.0], x)(0.7),
    "solve of positive": lambda x: np.sum(linalg.solve(A * x[0] + np.diag(x), x, assume_a="pos")),
    "solve of symmetric": lambda x: np.sum(
        linalg.solve(A * np.outer(x, x**2) + np.eye(3), x, lower=True, assume_a="sym")
    ),
    "hankel": lambda x: np.sum(linalg.hankel(x, x**2) * A),
    "solve_toeplitz": lambda x: np.sum(
        linalg.solve_toeplitz((x + 3 * np.eye(3)[0], x), np.ones(3)) * x
    ),
    "Akima": lambda x: np.sum(
        interpolate.Akima1DInterpolator(np.arange(5.0), [*x, x[0], x[1] ** 2])([0.3, 1.7, 3.9])
    ),
    "Akima's argument": lambda x: interpolate.Akima1DInterpolator(
        np.arange(5.0), [1.0, 3.0, 2.0, 0.0, 1.0]
    )(x).sum(),
    "B-spline": lambda x: np.sum(interpolate.BSpline(KNOTS, [*x, x[0] ** 2], 2)([0.1, 0.5, 0.9])),
    "B-spline's argument": lambda x: np.sum(CURVE(x / 3) + CURVE(x / 3, 1)),
    "B-spline's knots": lambda x: interpolate.BSpline(
        [0.0, 0.0, x[1], x[0], x[0]], [1.0, 2.0, 3.0], 1
    )(0.7),
    "derivative of a B-spline": lambda x: interpolate.BSpline(KNOTS, [*x, 1.0], 2).derivative()(
        0.4
    ),
    "grid": lambda x: np.sum(grid_of(x)([[0.5, 0.3], [1.2, 1.7]])),
    "grid's argument": lambda x: GRID([[x[1], 0.3], [1.2, x[1] ** 2]]).sum() * x[0],
    "grid of two arrays": lambda x: np.sum(grid_of(x)((x[:2], x[1:] / 2))),
    "kernels": lambda x: np.sum(stats.gaussian_kde(x)([0.5, 1.0])),
    "kernels' argument": lambda x: stats.gaussian_kde([0.0, 1.0, 3.0], "silverman").logpdf(x).sum(),
    "kernels in the plane": lambda x: stats.gaussian_kde(np.stack([x, x[::-1] ** 2]))([0.5, 0.2])[
        0
    ],
}


@pytest.mark.filterwarnings("ignore:`lagrange` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("f", PROGRAMS.values(), ids=PROGRAMS)
def test_derivatives(f):
    value, gradient = wg.value_and_grad(f)(X.copy())
    assert value == pytest.approx(f(X), rel=1e-12)
    steps = 1e-6 * np.eye(3)
    expected = [(f(X + step) - f(X - step)) / 2e-6 for step in steps]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-7)
    _, push = wg.pushforward(f, X.copy())
    np.testing.assert_allclose([push(e) for e in np.eye(3)], gradient, rtol=1e-10, atol=1e-12)


def test_outside_of_what_is_interpolated():
    found = wg.pullback(
        lambda x: interpolate.Akima1DInterpolator(np.arange(5.0), np.ones(5))(x),
        np.array([-1.0, 1]),
    )[0]
    np.testing.assert_array_equal(found, [np.nan, 1.0])
    with pytest.raises(ValueError, match="out of bounds"):
        wg.grad(lambda x: GRID([[x[0], x[1]]])[0])(np.array([5.0, 0.5]))


def entered(x):
    with np.nditer(x) as items:
        return sum(v for v in items)


@pytest.mark.static_tier
@pytest.mark.parametrize(
    "f",
    [
        entered,
        lambda x: sum(v for v in np.nditer(x, flags=["multi_index"])),
        lambda x: sum(v for v in np.nditer(x, op_flags=["readwrite"])),
    ],
)
def test_options_of_nditer_are_refused(f):
    with pytest.raises(UnsupportedSyntax, match=r"np\.ndindex"):
        wg.grad(f)(X)


SQUARES = np.outer(X, X)
WAYS_OUT = {
    "a convolution with weights of an even size": (
        lambda x: ndimage.convolve(x * SQUARES, A[:2]).sum(),
        "Pad them with zeros.",
    ),
    "the median of an even number of places": (
        lambda x: ndimage.median_filter(x * SQUARES, 2).sum(),
        "Take windows of odd sizes.",
    ),
    "medfilt of more than one axis": (
        lambda x: signal.medfilt(x * SQUARES).sum(),
        "Take `scipy.ndimage.median_filter` with mode='constant'.",
    ),
    "sosfilt with states of several signals": (
        lambda x: signal.sosfilt([[1.0, 0, 0, 1, x, 0]], A, zi=np.zeros((1, 3, 2)))[0].sum(),
        "Filter one at a time.",
    ),
    "the distance 'jaccard'": (
        lambda x: distance.cdist(x * A, A, "jaccard").sum(),
        "Write its formula, or put it into a function of your own with a rule (`@wg.rrule`).",
    ),
    "the polar decomposition of a matrix that is not square": (
        lambda x: linalg.polar(x * A[:2])[0].sum(),
        "Write its formula, or put it into a function of your own with a rule (`@wg.rrule`).",
    ),
    "`moment` of this distribution": (
        lambda x: stats.norm(0.0, x).moment(3),
        "Write its formula, or put it into a function of your own with a rule (`@wg.rrule`).",
    ),
    "`fmin` with `retall`": (
        lambda x: optimize.fmin(lambda t: (t[0] - x) ** 2, np.ones(1), retall=True)[0][0],
        "Take `minimize`, whose result has everything.",
    ),
    "`fmin_bfgs` with `full_output`": (
        lambda x: optimize.fmin_bfgs(lambda t: (t[0] - x) ** 2, np.ones(1), full_output=1)[0][0],
        "Take `minimize`, whose result has everything.",
    ),
    "quad_vec over an interval without end": (
        lambda x: integrate.quad_vec(lambda t: np.exp(-t * t * x), 0.0, np.inf)[0],
        "Call `quad` for each of the numbers.",
    ),
    "a part of a sparse matrix that has one of its rows twice": (
        lambda x: sparse.csr_matrix(x * A)[[0, 0]].sum(),
        "Take parts, and `vstack` them.",
    ),
}


@pytest.mark.static_tier
@pytest.mark.parametrize("what", WAYS_OUT)
def test_what_is_not_covered_says_where_why_and_what_to_do(what):
    program, way_out = WAYS_OUT[what]
    error = refusal("WG101", NotImplementedError, lambda: wg.grad(program)(0.7))
    lines = str(error).split("\n")
    assert lines[0] == f"[WG101] {what} is not covered in a function that is differentiated"
    assert lines[2].startswith(f"  {__file__}:{program.__code__.co_firstlineno}, in ")
    assert set(lines[4].strip()) == {"^"}
    assert lines[6] == f"  {way_out}"
    # what a run has refused says before that how to have it recorded
    assert lines[-2:] == ["", "  explained by `wengert explain WG101`"]


@pytest.mark.static_tier
@pytest.mark.parametrize(
    "way", [wg.grad, wg.derivative, lambda f: lambda x: wg.pushforward(f, x)[1](1.0)]
)
def test_a_handler_does_not_catch_what_is_not_covered(way):
    """SciPy raises nothing here: the handler is not run in the program."""

    def f(x):
        try:
            y = distance.cdist(x * A, A, "jaccard").sum() * x
        except Exception:
            y = x * x
        return y

    refusal("WG101", NotImplementedError, lambda: way(f)(0.7))


def test_a_median_filter_with_zeros_beyond_the_ends_is_medfilt():
    ours = ndimage.median_filter(SQUARES, size=3, mode="constant")
    assert np.array_equal(signal.medfilt(SQUARES), ours)


@pytest.mark.parametrize("of", [np.cumulative_sum, np.cumulative_prod])
def test_what_is_accumulated_needs_an_axis(of):
    with pytest.raises(ValueError, match="``axis`` argument is required"):
        wg.grad(lambda x: np.sum(of(np.outer(x, x))))(X)


def test_a_norm_whose_shape_the_run_decides():
    def f(x, keep):
        return np.linalg.norm(x, keepdims=keep)

    for keep, ones in ((True, [1.0]), (False, 1.0)):
        value, back = wg.pullback(f, X, keep)
        assert np.shape(value) == np.shape(ones)
        np.testing.assert_allclose(back(ones)[0], X / np.linalg.norm(X))
