"""SciPy's distributions whose own formulas are read: values are SciPy's, derivatives the differences'."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import wengert as wg
from wengert.errors import NoRule

stats = pytest.importorskip("scipy.stats")

CONTINUOUS = [
    ("truncnorm", (-0.7, 1.9), "logpdf"),
    ("genextreme", (0.2,), "pdf sf ppf"),
    ("genextreme", (0.0,), "logpdf cdf isf"),
    ("genpareto", (0.4,), "pdf logcdf ppf"),
    ("genpareto", (0.0,), "logpdf logsf isf"),
    ("skewnorm", (1.3,), "pdf cdf"),
    ("skewnorm", (0.0,), "logpdf sf"),
    ("vonmises", (1.7,), "logpdf pdf"),
    ("f", (5.0, 7.0), "logpdf"),
    ("gengamma", (1.4, 0.8), "logpdf"),
    ("exponnorm", (1.5,), "pdf cdf"),
    ("rice", (0.8,), "logpdf"),
    ("maxwell", (), "logpdf cdf"),
    ("fisk", (2.5,), "logpdf logsf"),
    ("johnsonsu", (0.3, 1.2), "logpdf ppf"),
    ("triang", (0.4,), "logpdf logcdf"),
    ("crystalball", (1.2, 3.0), "pdf"),
]


@pytest.mark.parametrize(("name", "shapes", "methods"), CONTINUOUS)
def test_a_density_and_what_lies_below(name: str, shapes: Any, methods: str) -> None:
    q = np.array([0.13, 0.55, 0.86])
    places = getattr(stats, name).ppf(q, *shapes, 0.2, 1.3)
    for method in methods.split():
        x = q if method in ("ppf", "isf") else places
        p = np.array([*shapes, 0.2, 1.3])
        f = getattr(getattr(stats, name), method)

        def total(x: Any, p: Any, f: Any = f) -> Any:
            return np.sum(np.cos(np.arange(3.0)) * f(x, *p))

        assert wg.pullback(f, x, *p)[0] == pytest.approx(f(x, *p), rel=1e-11)
        wg.testing.check_gradient(total, x, p, rtol=1e-5)


BY_THEIR_SHAPES = [
    ("gamma", (1.5,), "cdf sf logsf ppf"),
    ("chi2", (3.3,), "cdf sf ppf"),
    ("beta", (1.5, 2.7), "cdf logcdf ppf"),
    ("t", (4.5,), "cdf sf ppf"),
    ("invgamma", (2.5,), "cdf ppf"),
    ("f", (3.5, 5.7), "cdf"),
]


@pytest.mark.parametrize(("name", "shapes", "methods"), BY_THEIR_SHAPES)
def test_probabilities_in_the_shapes(name: str, shapes: Any, methods: str) -> None:
    """What lies below changes with a shape as an incomplete gamma or beta function does in its parameter."""
    q = np.array([0.13, 0.55, 0.86])
    for method in methods.split():
        x = q if method == "ppf" else getattr(stats, name).ppf(q, *shapes)
        f = getattr(getattr(stats, name), method)

        def total(p: Any, f: Any = f, x: Any = x) -> Any:
            return np.sum(np.cos(np.arange(3.0)) * f(x, *p))

        wg.testing.check_gradient(total, np.array(shapes))
        hessian = wg.hessian(total)(np.array(shapes))
        slopes = wg.grad(total)
        steps = 1e-4 * np.eye(len(shapes))
        rows = [(slopes(shapes + h) - slopes(shapes - h)) / 2e-4 for h in steps]
        np.testing.assert_allclose(hessian, rows, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ["genextreme", "genpareto"])
def test_a_shape_that_is_zero_has_second_derivatives(name: str) -> None:
    f = getattr(stats, name).logpdf
    curved = wg.derivative(lambda c: f(0.7, c), order=2)
    near = wg.derivative(lambda c: f(0.7, c))
    assert curved(0.0) == pytest.approx((near(1e-3) - near(-1e-3)) / 2e-3, rel=1e-5)


DISCRETE = [
    ("nbinom", (3, 0.4), True),
    ("betabinom", (7, 1.2, 2.3), False),
    ("binom", (7, 0.4), True),
    ("poisson", (2.3,), True),
    ("geom", (0.3,), True),
    ("bernoulli", (0.3,), False),
    ("dlaplace", (0.7,), True),
]


@pytest.mark.parametrize(("name", "shapes", "summed"), DISCRETE)
def test_probabilities_of_whole_numbers(name: str, shapes: Any, summed: bool) -> None:
    k = np.array([1.0, 2.0, 3.0, -1.0, 2.5, np.nan])
    for method in ("pmf", "logpmf", "cdf", "sf")[: 4 if summed else 2]:
        f = getattr(getattr(stats, name), method)
        # whole shapes and those in which sums have no derivative are held
        held, last = shapes[:-1], shapes[-1]
        of = lambda p, k=k, f=f, held=held: f(k, *held, p)
        np.testing.assert_allclose(wg.pullback(of, last)[0], of(last), rtol=1e-12, atol=1e-15)
        total = lambda p, f=f, held=held: np.sum(f([1, 2, 1], *held, p))
        if np.isfinite(total(last)):
            wg.testing.check_gradient(total, last, rtol=1e-5)


def test_what_is_outside_and_what_is_no_distribution() -> None:
    x = np.array([-3.0, 0.1, 4.0, np.nan])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for method in ("pdf", "cdf", "logsf"):
            f = lambda x, c, method=method: getattr(stats.lomax, method)(x, c, -1.0)
            np.testing.assert_allclose(wg.pullback(f, x, 2.0)[0], f(x, 2.0), rtol=1e-14)
        np.testing.assert_array_equal(
            wg.pullback(lambda x: stats.lomax.pdf(x, -1.0), x)[0], np.full(4, np.nan)
        )
        assert np.isnan(wg.pullback(lambda p: stats.poisson.pmf(2, p), -1.0)[0])
    slopes = wg.grad(lambda c: np.sum(stats.lomax.pdf(x[:3], c, -1.0)))(2.0)
    wg.testing.check_gradient(lambda c: np.sum(stats.lomax.pdf(x[1:3], c, -1.0)), 2.0)
    assert slopes == wg.grad(lambda c: np.sum(stats.lomax.pdf(x[1:3], c, -1.0)))(2.0)


FROZEN = stats.fisk(2.5, scale=2.0)


def test_frozen_distributions() -> None:
    wg.testing.check_gradient(lambda x: FROZEN.logpdf(x) * FROZEN.cdf(x), 0.3)
    wg.testing.check_gradient(lambda p: stats.vonmises(p[0], loc=p[1]).logpdf(0.4), P)
    with pytest.raises(NotImplementedError, match="`moment` of this distribution is not covered"):
        wg.grad(lambda s: stats.norm(0, s).moment(2) * s)(1.0)


P = np.array([1.1, 0.3])
MOMENTS = [
    ("norm", ()), ("lognorm", (0.7,)), ("expon", ()), ("uniform", ()), ("gamma", (1.7,)),
    ("invgamma", (3.4,)), ("beta", (1.3, 2.2)), ("t", (5.1,)), ("f", (5.0, 9.0)), ("pareto", (3.6,)),
    ("weibull_min", (1.4,)), ("gumbel_r", ()), ("rayleigh", ()), ("triang", (0.3,)), ("chi2", (3.3,)),
    ("burr", (3.0, 1.5)), ("fisk", (4.0,)), ("genextreme", (0.1,)), ("skewnorm", (1.2,)),
    ("loggamma", (1.2,)), ("powerlaw", (1.6,)),
]  # fmt: skip


@pytest.mark.parametrize(("name", "shapes"), MOMENTS)
def test_moments(name: str, shapes: Any) -> None:
    distribution: Any = getattr(stats, name)

    def moments(p: Any) -> Any:
        frozen = distribution(*p[: len(shapes)], loc=p[-2], scale=p[-1])
        return frozen.mean() + 0.3 * frozen.std() + 0.7 * frozen.var()

    def not_frozen(p: Any) -> Any:
        *args, loc, scale = p
        return distribution.mean(*args, loc=loc, scale=scale) * distribution.std(*args, scale=scale)

    p = np.array([*shapes, 0.3, 1.3])
    for f in (moments, not_frozen):
        assert wg.pullback(f, p)[0] == pytest.approx(f(p), rel=1e-12)
        wg.testing.check_gradient(f, p, rtol=1e-6)


def test_moments_of_whole_numbers() -> None:
    def f(p: Any) -> Any:
        first = stats.poisson(p).var() + stats.binom(9, p).mean() + stats.bernoulli.var(p)
        return first + stats.nbinom(4, p).std() + stats.geom(p).mean()

    assert wg.pullback(f, 0.4)[0] == pytest.approx(f(0.4), rel=1e-12)
    wg.testing.check_gradient(f, 0.4)


@pytest.mark.parametrize("name", ["norm", "laplace", "logistic", "gumbel_r", "uniform", "halfnorm"])
def test_medians_intervals_and_entropies(name: str) -> None:
    def f(loc: Any, scale: Any) -> Any:
        frozen = getattr(stats, name)(loc, scale)
        low, high = frozen.interval(0.9)
        return frozen.median() + low * high + 0.3 * frozen.entropy()

    assert wg.pullback(f, 0.4, 1.3)[0] == pytest.approx(f(0.4, 1.3), rel=1e-12)
    wg.testing.check_gradient(f, 0.4, 1.3)


def test_moments_where_there_are_none() -> None:
    assert wg.pullback(lambda df: stats.t.var(df), 1.5)[0] == np.inf
    assert wg.pullback(lambda df: stats.f.mean(2.0, df), 1.5)[0] == np.inf
    assert np.isnan(wg.pullback(lambda s: stats.norm(0.0, s).mean(), -1.0)[0])
    assert np.isnan(wg.pullback(lambda c: stats.fisk.var(c), 1.5)[0])
    with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
        wg.grad(lambda s: stats.norm(0.0, s).interval(1.2)[0])(1.0)
    with pytest.raises(NotImplementedError, match="`entropy` of this distribution is not covered"):
        wg.grad(lambda k: stats.exponnorm(k).entropy())(1.2)  # which SciPy integrates


def test_quantiles() -> None:
    for name, shapes in (
        ("gamma", (2.0,)), ("beta", (2.0, 3.0)), ("t", (4.0,)), ("chi2", (3.0,)),
        ("invgamma", (2.5,)), ("halfnorm", ()), ("gumbel_l", ()),
    ):  # fmt: skip
        f = lambda q, s, name=name, shapes=shapes: getattr(stats, name).ppf(q, *shapes, 0.1, s)
        assert wg.pullback(f, 0.3, 1.2)[0] == pytest.approx(f(0.3, 1.2), rel=1e-12)
        wg.testing.check_gradient(f, 0.3, 1.2, rtol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda x: stats.levy_stable.pdf(x, 1.5, 0.2),
        lambda x: stats.vonmises.cdf(x, 1.2),
    ],
)
def test_formulas_that_cannot_be_read_are_refused(f: Any) -> None:
    with pytest.raises(NoRule, match="has no derivative rule"):
        wg.grad(f)(0.3)


def test_a_formula_of_scipys_own_for_one_shape_is_run_in_boxes() -> None:
    assert wg.grad(lambda x: stats.pearson3.logpdf(x, 0.0))(0.3) == pytest.approx(-0.3, rel=1e-12)


@pytest.mark.parametrize("name", ["cdf", "sf", "logcdf", "ppf"])
@pytest.mark.parametrize("scale", [-1.0, 0.0, np.array([1.5, -1.0])])
def test_a_scale_that_there_is_not_has_no_value(name: str, scale: Any) -> None:
    for each, shapes in (("norm", ()), ("gamma", (2.0,)), ("lognorm", (0.5,)), ("uniform", ())):
        f = lambda x, s, at=each, shapes=shapes: getattr(getattr(stats, at), name)(
            x, *shapes, 0.1, s
        )
        with np.errstate(all="ignore"):
            value, expected = wg.pullback(f, 0.7, scale)[0], f(0.7, scale)
        np.testing.assert_allclose(value, expected, rtol=1e-12)
        assert np.isnan(expected).any()
