"""SciPy's functions that are read as Python: their values are SciPy's, their derivatives the differences'."""

# programs under test are written as users write them

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import wengert as wg

pytest.importorskip("scipy")
from scipy import fft, integrate, interpolate, linalg, optimize, signal, sparse, spatial, stats
from scipy.sparse.linalg import spsolve

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.7], [0.5, 0.7, 5.0]])
B = np.array([[1.3, 0.4], [0.2, 0.9], [-0.5, 0.6]])
X = np.array([0.55, 1.2, 0.7, 2.1, 0.3, 1.4])
T = np.linspace(0.0, 1.0, 6)
P = np.array([0.15, 0.4, 0.6, 0.33])
C = np.ones(3)

APART = np.linspace(1.0, 2.1, 9).reshape(3, 3)

OF_MATRICES: list[Callable[..., Any]] = [
    lambda a: linalg.expm(0.1 * a),
    lambda a: linalg.expm(3.0 * a),
    lambda a: linalg.expm(np.stack([0.1 * a, 2.0 * a])),
    lambda a: linalg.logm(a),
    lambda a: linalg.sqrtm(a),
    lambda a: linalg.lu(a[::-1])[1],
    lambda a: linalg.lu(a[::-1])[2],
    lambda a: linalg.lu(a[1:])[2],
    lambda a: linalg.lu_solve(linalg.lu_factor(a[::-1]), C),
    lambda a: np.prod(np.diag(linalg.lu_factor(a[::-1])[0])),
    lambda a: np.abs(linalg.qr(a)[1]),
    lambda a: np.abs(linalg.qr(a[:, :2], mode="economic")[0]),
    lambda a: linalg.hessenberg(a * APART) + linalg.hessenberg(a * APART, calc_q=True)[1],
    lambda a: linalg.orthogonal_procrustes(a, a[::-1] ** 2)[0] * linalg.norm(a),
    lambda a: spatial.procrustes(a, a[::-1] * APART)[1],
    lambda a: linalg.svd(a)[1],
    lambda a: linalg.svd(a, compute_uv=False),
    lambda a: linalg.svdvals(a),
    lambda a: linalg.eigh(a + a.T)[0],
    lambda a: linalg.eigh(a + a.T, np.diag([1.0, 2.0, 3.0]), eigvals_only=True),
    lambda a: linalg.eigh(a + a.T, a @ a.T)[1] ** 2,
    lambda a: np.sort(linalg.eig(a)[0].real),
    lambda a: np.sort(linalg.eigvals(a).real),
    lambda a: linalg.pinv(a[:2]),
    lambda a: linalg.lstsq(a[:, :2], C)[0],
    lambda a: linalg.lstsq(a[:, :2], C)[1],
    lambda a: linalg.solve_banded((1, 1), a, C),
    lambda a: linalg.circulant(a[0]),
    lambda a: linalg.solve_sylvester(a, a[:2, :2], B),
    lambda a: linalg.solve_continuous_lyapunov(a, np.eye(3)),
    lambda a: linalg.solve_discrete_lyapunov(0.1 * a, np.eye(3)),
    lambda a: linalg.solve_continuous_are(a, B, np.eye(3), np.eye(2)),
    lambda a: linalg.solve_discrete_are(0.2 * a, B, np.eye(3), np.eye(2)),
    lambda a: signal.convolve2d(a, a[:2, :2], mode="same"),
    lambda a: signal.convolve2d(a, a[:2], mode="valid"),
    lambda a: signal.convolve2d(a, a[:2, :2], boundary="symm"),
    lambda a: signal.correlate2d(a, a[:2]),
    lambda a: signal.lfilter([1.0, 0.5, 0.2], [1.0, -0.3], a, axis=0),
    lambda a: signal.detrend(a, axis=0, type="constant"),
    lambda a: np.abs(fft.fft2(a)),
    lambda a: fft.dct(a, axis=0, norm="ortho"),
    lambda a: fft.dctn(a, 3) * fft.idctn(a, norm="ortho"),
    lambda a: fft.dstn(a, axes=(1,)) * fft.idstn(a, s=(3, 3)),
    lambda a: fft.idst(a, n=fft.next_fast_len(3)),
    lambda a: stats.zmap(a, a**2, axis=1, ddof=1),
    lambda a: stats.moment(a, 3, axis=1) + stats.moment(a, 2),
    lambda a: stats.variation(a, axis=1, ddof=1) * stats.pmean(np.abs(a) + 1, 2),
    lambda a: stats.iqr(a, axis=1, rng=(20, 60)) + stats.iqr(a * APART),
    lambda a: stats.trim_mean(a, 0.35, axis=1),
    lambda a: stats.boxcox_llf(0.3, np.exp(a), axis=1),
    lambda a: stats.boxcox_llf(0.2 * a[0, 1], np.exp(a)),
    lambda a: stats.boxcox_llf(0.0, np.exp(a), axis=1),
    lambda a: stats.median_abs_deviation(a * APART, axis=1, scale=2.0),
    lambda a: stats.median_abs_deviation(a * APART, axis=None),
    lambda a: stats.zscore(a, axis=1, ddof=1),
    lambda a: stats.multivariate_normal.logpdf(a[0], a[1], a @ a.T),
    lambda a: stats.multivariate_normal.pdf(0.1 * a, cov=2.0 * np.eye(3)),
    lambda a: integrate.simpson(a, axis=0),
]

OF_VECTORS: list[Callable[..., Any]] = [
    lambda x: signal.medfilt(x, 3),
    lambda x: signal.medfilt(x**2),
    lambda x: signal.periodogram(x)[1],
    lambda x: signal.periodogram(np.tile(x, 2)[1:], 2.0, "hann", scaling="spectrum")[1],
    lambda x: signal.welch(np.tile(x, 4), 2.0, nperseg=8)[1],
    lambda x: signal.welch(np.tile(x, 4), nperseg=7, noverlap=2, scaling="spectrum")[1],
    lambda x: signal.welch(x, nperseg=6, detrend=False, window="hamming")[1],
    lambda x: integrate.trapezoid(x, T),
    lambda x: integrate.cumulative_trapezoid(x, T, initial=0),
    lambda x: integrate.simpson(x, dx=0.1),
    lambda x: integrate.simpson(x[:5] ** 2, x=T[:5] ** 2),
    lambda x: integrate.simpson(x, x=T + 0.1 * x),
    lambda x: integrate.simpson(x[:2]),
    lambda x: integrate.quad(lambda s: np.exp(-s * x[0]) * x[1], 0, x[2])[0],
    lambda x: integrate.quad(lambda s, a: np.exp(-s * a), 0, np.inf, args=(x[0],))[0],
    lambda x: integrate.quad(lambda s: np.exp(-x[0] * s * s), -np.inf, np.inf)[0],
    lambda x: integrate.quad(lambda s: np.exp(x[0] * s), -np.inf, x[1])[0],
    lambda x: integrate.quad(lambda s: np.sqrt(s + 0.01 * x[0]), 0.0, 1.0)[0],
    lambda x: integrate.fixed_quad(lambda s: np.exp(-s * x[0]), 0, x[1], n=4)[0],
    lambda x: optimize.brentq(lambda s: s**3 - x[0], 0, 3),
    lambda x: optimize.brentq(lambda s, a, b: a * s**3 - b, 0, 3, args=(x[0], x[1])),
    lambda x: optimize.bisect(lambda s: np.cos(s) - x[0] * s, 0, 3, xtol=1e-14),
    lambda x: optimize.newton(lambda s: s**3 - x[0], 1.0, tol=1e-13),
    lambda x: optimize.newton(lambda s: s**3 - x[0], 1.0, lambda s: 3 * s**2, tol=1e-13),
    lambda x: optimize.root_scalar(lambda s: s**3 - x[0], bracket=(0, 3), xtol=1e-14).root,
    lambda x: optimize.root_scalar(lambda s: s**3 - x[0], x0=1.0, xtol=1e-13).root,
    lambda x: optimize.fsolve(
        lambda s: [s[0] ** 2 + s[1] - x[0], s[1] ** 3 - x[1] * s[0]], [1.0, 1.0], xtol=1e-13
    ),
    lambda x: optimize.root(lambda s: s**3 - x[:2], [1.0, 1.0], tol=1e-13).x,
    lambda x: optimize.rosen(x),
    lambda x: stats.skew(x),
    lambda x: stats.skew(x, bias=False),
    lambda x: stats.kurtosis(x),
    lambda x: stats.gmean(x),
    lambda x: stats.hmean(x),
    lambda x: stats.moment(x[:3], [1, 2, 3]),
    lambda x: stats.moment(x[0], 1) + stats.gmean(x[1]) * stats.pmean(x[2], 3) / stats.hmean(x[3]),
    lambda x: stats.sem(x),
    lambda x: stats.entropy(x),
    lambda x: stats.entropy(x, x[::-1], base=2),
    lambda x: stats.pearsonr(x, T)[0],
    lambda x: stats.pearsonr(x, T).pvalue,
    lambda x: stats.linregress(T, x).slope,
    lambda x: stats.linregress(T, x)[1],
    lambda x: stats.linregress(x, T).rvalue,
    lambda x: stats.linregress(x, T).pvalue,
    lambda x: stats.linregress(x, T).stderr,
    lambda x: stats.linregress(T, x).intercept_stderr,
    lambda x: sum(stats.linregress(T[:2], x[:2])[:3]),
    lambda x: signal.lfilter([1.0, 0.5], [2.0, -0.3, 0.1], x),
    lambda x: signal.lfilter(x[:3], x[3:], T),
    lambda x: signal.lfilter([0.5], [2.0], x),
    lambda x: signal.lfilter([1.0, 0.5], [1.0, -0.3], x, zi=np.array([0.2]))[1],
    lambda x: signal.lfilter(x[:3], x[2:5], np.outer(x, T), axis=0, zi=np.outer(x[:2], T))[1],
    lambda x: signal.filtfilt([1.0, 0.5], [1.0, -0.3], x, padlen=3),
    lambda x: signal.sosfilt(signal.butter(4, 0.3, output="sos"), x),
    lambda x: signal.sosfiltfilt(signal.butter(3, 0.3, output="sos"), np.tile(x, 3)),
    lambda x: signal.sosfiltfilt(
        np.stack([x * [1, 1, 1, 0, 0.3, 0.1] + [0, 0, 0, 1, 0, 0]] * 2), np.arange(9.0), padlen=4
    ),
    lambda x: signal.decimate(np.tile(x, 5), 3),
    lambda x: signal.decimate(np.outer(np.tile(x, 4), x), 2, ftype="fir", axis=0),
    lambda x: signal.resample_poly(x, 3, 2),
    lambda x: signal.lsim((x[:2], [1.0, x[2], x[3]]), T**2, T)[1],
    lambda x: signal.lsim(
        (np.outer(x, x)[:2, :2], np.eye(2), x[:2], x[2:4]), np.outer(T, x[:2]), T
    )[2],
    lambda x: signal.lsim(([x[0]], [1.0, x[1]]), T, T + x[2], X0=x[:1], interp=False)[1],
    lambda x: signal.step(([x[0]], [2.0, x[1], 1.0]), T=T)[1],
    lambda x: signal.impulse((x[:2], [1.0, 0.3, x[4]]), T=T)[1],
    lambda x: stats.ttest_1samp(x, 0.4)[0] + stats.ttest_1samp(x, x[0]).pvalue,
    lambda x: stats.ttest_rel(x, T**2, alternative="less").pvalue,
    lambda x: (
        stats.ttest_ind(x, x[::2] ** 2)[1] + stats.ttest_ind(x, T, alternative="greater").pvalue
    ),
    lambda x: (
        stats.ttest_ind(np.outer(x, x), np.outer(x[:4], T), axis=0, equal_var=False).statistic
    ),
    lambda x: stats.ttest_ind_from_stats(x[0], x[1], 7, x[2], x[3], 5).pvalue,
    lambda x: stats.f_oneway(x, x[1:] ** 2, T).pvalue + stats.f_oneway(x, T).statistic,
    lambda x: stats.chisquare(x).pvalue + stats.chisquare(x, x[::-1], ddof=1).statistic,
    lambda x: (
        stats.spearmanr(x, T).statistic * x + stats.kendalltau(T, x)[1] + stats.rankdata(x) * x
    ),
    lambda x: stats.multivariate_t.logpdf(x[:3], x[3:], A * x[0], df=3 + x[1]),
    lambda x: stats.multivariate_t(shape=2.0 * np.eye(2), df=4.0).pdf(np.reshape(x, (3, 2))),
    lambda x: signal.convolve(x, x[:3]),
    lambda x: signal.convolve(x, x[:3], mode="same"),
    lambda x: signal.convolve(x, x[:4], mode="valid"),
    lambda x: signal.fftconvolve(x, x[:4], mode="same"),
    lambda x: signal.correlate(x, x[:3]),
    lambda x: signal.detrend(x),
    lambda x: signal.detrend(x[:1]) + x[1],
    lambda x: np.abs(signal.hilbert(x)),
    lambda x: np.abs(signal.hilbert(x[:5])),
    lambda x: signal.savgol_filter(x, 5, 2),
    lambda x: signal.savgol_filter(np.outer(np.tile(x, 2), x), 7, 3, deriv=1, axis=0),
    lambda x: signal.savgol_filter(x, 5, 2, mode="nearest"),
    lambda x: signal.resample(x, 8),
    lambda x: np.abs(fft.fft(x)),
    lambda x: np.abs(fft.rfft(x, 8)),
    lambda x: fft.idct(fft.dct(x) ** 2),
    lambda x: fft.dst(x),
    *(
        lambda x, kind=kind, k=k, norm=norm: kind(x, k, norm=norm) + kind(x, k, n=6)
        for kind in (fft.dct, fft.idct, fft.dst, fft.idst)
        for k in (1, 2, 3, 4)
        for norm in ("backward", "ortho", "forward")
    ),
]

OF_PROBABILITIES: list[Callable[..., Any]] = [
    lambda p: stats.norm.pdf(p),
    lambda p: stats.norm.pdf(0.3, p, 2 * p),
    lambda p: stats.norm.cdf(0.3, loc=p, scale=p),
    lambda p: stats.norm.logpdf(1.0, p[0], scale=p[1]),
    lambda p: stats.norm.logcdf(-20.0 + p),
    lambda p: stats.norm.logsf(20.0 + p),
    lambda p: stats.norm.sf(p),
    lambda p: stats.norm.ppf(p),
    lambda p: stats.norm.isf(p, 1.0, 2.0),
    lambda p: stats.norm(p[0], p[1]).pdf(0.3) * stats.norm(loc=p[2]).cdf(p[3]),
    lambda p: stats.expon.pdf(p - 0.2, scale=2.0),
    lambda p: stats.expon.ppf(p) + stats.expon.sf(p) + stats.expon.cdf(p),
    lambda p: stats.gamma.logpdf(p, 2.0 + p, scale=1.5),
    lambda p: stats.gamma.cdf(p, 2.0) + stats.gamma.sf(p, a=2.0),
    lambda p: stats.invgamma.logpdf(p, 2.0),
    lambda p: stats.beta.pdf(p, 2.0 + p, 3.0) + stats.beta.cdf(p, 2.0, 3.0),
    lambda p: stats.t.logpdf(p, 4.0 + p) + stats.t.cdf(p - 0.3, 4.0) + stats.t.sf(p, df=3.0),
    lambda p: stats.lognorm.pdf(p, 0.5) + stats.lognorm.cdf(p, s=p) + stats.lognorm.ppf(p, 0.5),
    lambda p: stats.uniform.pdf(p) + stats.uniform.cdf(p, scale=2.0) + stats.uniform.ppf(p),
    lambda p: stats.chi2.sf(p, 3) + stats.chi2.logpdf(p, 3) + stats.chi2.cdf(p, 3),
    lambda p: stats.laplace.pdf(p - 0.5) + stats.laplace.cdf(p - 0.5) + stats.laplace.ppf(p),
    lambda p: stats.cauchy.pdf(p) + stats.cauchy.cdf(p) + stats.cauchy.ppf(p),
    lambda p: stats.logistic.pdf(p) + stats.logistic.cdf(p) + stats.logistic.ppf(p),
    lambda p: stats.gumbel_r.pdf(p) + stats.gumbel_r.cdf(p) + stats.gumbel_r.ppf(p),
    lambda p: stats.gumbel_l.pdf(p) + stats.gumbel_l.cdf(p),
    lambda p: stats.rayleigh.pdf(p) + stats.rayleigh.cdf(p) + stats.rayleigh.ppf(p),
    lambda p: stats.halfnorm.pdf(p) + stats.halfnorm.cdf(p),
    lambda p: (
        stats.weibull_min.pdf(p, 1.5) + stats.weibull_min.cdf(p, p) + stats.weibull_min.ppf(p, 2.0)
    ),
    lambda p: stats.pareto.pdf(1 + p, 2.0) + stats.pareto.cdf(1 + p, p) + stats.pareto.ppf(p, 2.0),
    lambda p: stats.poisson.logpmf(3, p) + stats.poisson.pmf(2, mu=p),
    lambda p: stats.binom.logpmf(3, 5, p) + stats.binom.pmf(0, 5, p),
    lambda p: stats.bernoulli.pmf(1, p) + stats.geom.logpmf(3, p),
]

ALL = [
    *((f, A) for f in OF_MATRICES),
    *((f, X) for f in OF_VECTORS),
    *((f, P) for f in OF_PROBABILITIES),
]


@pytest.mark.parametrize(("f", "x"), ALL)
def test_a_function_of_scipy(f: Callable[..., Any], x: Any) -> None:
    weights = np.cos(np.arange(np.size(f(x))).reshape(np.shape(f(x))))

    def total(x: Any) -> Any:
        return np.sum(weights * f(x))

    np.testing.assert_allclose(wg.pullback(f, x)[0], f(x), rtol=1e-10, atol=1e-12)
    wg.testing.check_gradient(total, x, rtol=2e-5)


@pytest.mark.parametrize("y", [np.array([3.0, 5.0]), np.array([3.0, 3.0])])
def test_a_line_through_two_points_is_as_certain_as_scipy_says(y: Any) -> None:
    with np.errstate(invalid="ignore"):
        mine = wg.pullback(lambda y: list(stats.linregress(T[:2], y)), y)[0]
        np.testing.assert_allclose(mine, stats.linregress(T[:2], y), rtol=1e-12)


LAPLACIAN = sparse.csr_matrix(np.diag(np.full(6, -2.0)) + np.eye(6, k=1))

SPARSE: list[Callable[..., Any]] = [
    lambda x: LAPLACIAN @ x**2,
    lambda x: LAPLACIAN.dot(x**2),
    lambda x: LAPLACIAN * x**2,
    lambda x: x**2 @ LAPLACIAN,
    lambda x: (LAPLACIAN * 0.5).T @ x**2,
    lambda x: sparse.diags([1.0, -2.0], [-1, 0], shape=(6, 6)).tocsr() @ x**2,
    lambda x: spsolve(LAPLACIAN.tocsc(), x**2),
]


@pytest.mark.parametrize("f", SPARSE)
def test_a_product_with_a_sparse_matrix(f: Callable[..., Any]) -> None:
    weights = np.cos(np.arange(6))
    np.testing.assert_allclose(wg.pullback(f, X)[0], f(X), rtol=1e-12)
    wg.testing.check_gradient(lambda x: np.sum(weights * f(x)), X, rtol=2e-5)
    slopes = wg.grad(lambda x: np.sum(f(x) ** 2))
    wg.testing.check_gradient(lambda x: np.sum(weights * slopes(x)), X, rtol=2e-5)


def test_what_was_called_as_it_is_keeps_its_rule() -> None:
    """The product of a matrix and a number is SciPy's, that of two numbers is differentiated."""
    wg.grad(lambda x: np.sum((LAPLACIAN * 0.5).T @ x**2))(X)
    assert wg.grad(lambda x: operator.mul(*(y for y in (x, x))))(3.0) == 6.0


def test_a_method_of_a_sparse_matrix_made_inside() -> None:
    def f(x: Any) -> Any:
        return np.sum(sparse.diags([1.0, -2.0], [-1, 0], shape=(6, 6)).tocsr().dot(x**2))

    wg.testing.check_gradient(f, X, rtol=2e-5)


FROZEN = stats.norm(0.5, 2.0)


def test_a_frozen_distribution_from_outside() -> None:
    wg.testing.check_gradient(lambda x: FROZEN.cdf(x) * FROZEN.pdf(x), 0.3)


def test_roots_have_second_derivatives() -> None:
    def cube_root(a: float) -> Any:
        return optimize.brentq(lambda x: x**3 - a, 0.0, 3.0)

    assert wg.derivative(cube_root, order=2)(2.0) == pytest.approx(-2 / 9 * 2 ** (-5 / 3))


def test_welchs_chance_and_his_statistic() -> None:
    """The degrees of freedom depend on the samples, and the distribution has a derivative in them."""
    wg.testing.check_gradient(lambda x: stats.ttest_ind(x, T, equal_var=False)[0], X)
    wg.testing.check_gradient(lambda x: stats.ttest_ind(x, T, equal_var=False).pvalue, X)


@pytest.mark.static_tier
def test_options_without_a_meaning_here_are_refused() -> None:
    with pytest.raises(wg.errors.UnsupportedSyntax, match="this call of lu is not covered"):
        wg.grad(lambda a: np.sum(linalg.lu(a, permute_l=True)[0]))(A)


def test_a_sequence_of_coefficients_before_what_is_filtered() -> None:
    def f(x: Any) -> Any:
        return np.sum(signal.filtfilt(*signal.butter(2, 0.3), np.tile(x, 4)) ** 2)

    wg.testing.check_gradient(f, X, rtol=2e-5)


def test_a_class_that_cython_has_made_is_refused_at_its_line() -> None:
    corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    with pytest.raises(wg.errors.NoRule, match="CloughTocher2DInterpolator has no derivative rule"):
        wg.grad(lambda x: interpolate.CloughTocher2DInterpolator(corners, x)(0.3, 0.4))(X[:4])


def _matrix(x: Any) -> Any:
    return np.outer(x, np.cos(x)) + np.diag(np.arange(3.0, 9.0))


MATRIX_FUNCTIONS: list[Callable[..., Any]] = [
    lambda x: linalg.polar(_matrix(x))[0] + linalg.polar(_matrix(x), "left")[1],
    lambda x: linalg.cosm(0.1 * _matrix(x)) + linalg.sinm(0.1 * _matrix(x)),
    lambda x: linalg.coshm(0.1 * _matrix(x)) - linalg.sinhm(0.1 * _matrix(x)),
    lambda x: linalg.pinvh(_matrix(x)),
    lambda x: linalg.fractional_matrix_power(_matrix(x), 0.3),
    lambda x: linalg.eigh_tridiagonal(x, x[1:])[0] + linalg.eigvalsh_tridiagonal(x**2, x[:-1]),
    lambda x: (
        integrate.romb(np.tile(x, 3)[:17], dx=0.1) + integrate.romb(np.outer(x[:5], x), axis=0)
    ),
]


@pytest.mark.parametrize("f", MATRIX_FUNCTIONS)
def test_functions_of_matrices(f: Callable[..., Any]) -> None:
    np.testing.assert_allclose(wg.pullback(f, X)[0], f(X), rtol=1e-9, atol=1e-12)
    weights = np.cos(np.arange(np.size(f(X)))).reshape(np.shape(f(X)))
    wg.testing.check_gradient(lambda x: np.sum(weights * f(x)), X, rtol=2e-5)


POINTS = {
    "a number": 0.3,
    "a point": np.array([0.3, -0.2]),
    "points": np.arange(6.0).reshape(3, 2) / 5,
    "a column": np.arange(3.0).reshape(3, 1) / 5,
    "points in rows": np.arange(12.0).reshape(3, 2, 2) / 9,
    "one point in a row": np.array([[0.3, -0.2]]),
}
MEANS = {
    "none": None,
    "a number": 0.1,
    "of one": [0.1],
    "of two": np.array([0.1, 0.2]),
    "a row": np.ones((1, 2)),
}
COVARIANCES = {
    "a number": 1.5,
    "variances": np.array([1.0, 2.0]),
    "a matrix": np.array([[1.0, 0.3], [0.3, 2.0]]),
    "of one": [[2.0]],
}


@pytest.mark.parametrize("density", [stats.multivariate_normal.logpdf, stats.multivariate_t.pdf])
@pytest.mark.parametrize("cov", COVARIANCES)
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("points", POINTS)
def test_densities_of_several_variables_take_what_scipy_takes(density, points, mean, cov):
    x, mean, cov = POINTS[points], MEANS[mean], COVARIANCES[cov]
    if density == stats.multivariate_t.pdf and mean is not None and np.ndim(mean) == 2:
        pytest.skip("SciPy fails in another way")

    def f(s):
        return density(s * np.asarray(x), mean, cov)

    try:
        value = f(1.0)
    except ValueError:
        with pytest.raises((ValueError, IndexError)):
            wg.pullback(f, 1.0)
        return
    slope = (np.sum(f(1 + 1e-6)) - np.sum(f(1 - 1e-6))) / 2e-6
    of_one = np.shape(mean) == (1,) or (mean is None and np.shape(cov) == (1, 1))
    if np.shape(x) == (1, 2) or (np.ndim(x) == 1 and of_one):  # the kinds do not say so
        with pytest.raises(ValueError, match=r"write them as a column|pass the point itself"):
            wg.pullback(f, 1.0)
        return
    found, back = wg.pullback(f, 1.0)
    assert np.shape(found) == np.shape(value)
    np.testing.assert_allclose(found, value, rtol=1e-12)
    assert back(np.ones(np.shape(value)))[0] == pytest.approx(slope, rel=1e-6, abs=1e-8)


def test_a_covariance_that_may_be_singular():
    def f(c):
        return stats.multivariate_normal.logpdf([0.1, 0.2], None, [[1.0, c], [c, 1.0]], True)

    slope = (f(0.5 + 1e-6) - f(0.5 - 1e-6)) / 2e-6
    assert wg.value_and_grad(f)(0.5) == pytest.approx((f(0.5), slope), rel=1e-6)
    with pytest.raises(np.linalg.LinAlgError, match="has no derivative"):
        wg.grad(f)(1.0)


def test_axes_that_are_put_before_those_of_an_array_without_a_copy():
    def f(x):
        rows = np.array(x, copy=False, ndmin=2)
        rows[0, 1] = 5 * x[0]
        return x.sum() + np.array(x, copy=False, ndmin=1)[0]

    np.testing.assert_array_equal(wg.grad(f)(np.ones(3)), [7.0, 0.0, 1.0])
