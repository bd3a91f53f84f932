"""SciPy's probability distributions, as far as formulas for them have rules: the front end reads these.

Of each distribution the standard form is here; where it lies and how wide it is makes the difference.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats  # pyright: ignore[reportMissingTypeStubs]
from scipy.stats import _continuous_distns  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of
from ....ops.program.refusals import FORMULA, uncovered
from .densities import (
    At,
    apply_where,
    continuous,
    discrete,
    expm1_over,
    log1p_over,
    names_of,
    places,
)
from .moments import around_the_middle, moments
from .stats import METHODS as OF_VECTORS, kernels_of

_LOG_2PI = 1.8378770664093453
_LOG_PI = 1.1447298858494002
_LOG_2 = 0.6931471805599453

# --- densities: their logarithms at z, given shapes ---------------------------------------------


def _where(inside: Any, value: Any) -> Any:
    return np.where(inside, value, -np.inf)


DENSITIES: dict[Any, Callable[..., Any]] = {
    stats.norm: lambda z: -0.5 * (z * z + _LOG_2PI),
    stats.halfnorm: lambda z: _where(z >= 0, _LOG_2 - 0.5 * (z * z + _LOG_2PI)),
    stats.lognorm: lambda z, s: _where(
        z > 0, -0.5 * (np.log(z) / s) ** 2 - np.log(s * z) - 0.5 * _LOG_2PI
    ),
    stats.expon: lambda z: _where(z >= 0, -z),
    stats.laplace: lambda z: -np.abs(z) - _LOG_2,
    stats.uniform: lambda z: _where((z >= 0) & (z <= 1), 0.0 * z),
    stats.gamma: lambda z, a: _where(z >= 0, special.xlogy(a - 1, z) - z - special.gammaln(a)),
    stats.invgamma: lambda z, a: _where(z > 0, -(a + 1) * np.log(z) - special.gammaln(a) - 1 / z),
    stats.chi2: lambda z, df: _where(
        z >= 0, special.xlogy(df / 2 - 1, z) - z / 2 - special.gammaln(df / 2) - _LOG_2 * df / 2
    ),
    stats.beta: lambda z, a, b: _where(
        (z >= 0) & (z <= 1),
        special.xlogy(a - 1, z) + special.xlog1py(b - 1, -z) - special.betaln(a, b),
    ),
    stats.t: lambda z, df: (
        special.gammaln((df + 1) / 2)
        - special.gammaln(df / 2)
        - 0.5 * (np.log(df) + _LOG_PI)
        - (df + 1) / 2 * np.log1p(z * z / df)
    ),
    stats.cauchy: lambda z: -_LOG_PI - np.log1p(z * z),
    stats.logistic: lambda z: -np.abs(z) - 2 * np.log1p(np.exp(-np.abs(z))),
    stats.gumbel_r: lambda z: -z - np.exp(-z),
    stats.gumbel_l: lambda z: z - np.exp(z),
    stats.rayleigh: lambda z: _where(z >= 0, np.log(z) - 0.5 * z * z),
    stats.weibull_min: lambda z, c: _where(z >= 0, np.log(c) + special.xlogy(c - 1, z) - z**c),
    stats.pareto: lambda z, b: _where(z >= 1, np.log(b) - (b + 1) * np.log(z)),
}

# --- how much lies below z, and above it --------------------------------------------------------


def _below_zero_none(value: Any, z: Any) -> Any:
    return np.where(z > 0, value, 0.0)


BELOW: dict[Any, Callable[..., Any]] = {
    stats.norm: special.ndtr,
    stats.halfnorm: lambda z: _below_zero_none(2 * special.ndtr(z) - 1, z),
    stats.lognorm: lambda z, s: _below_zero_none(special.ndtr(np.log(z) / s), z),
    stats.expon: lambda z: _below_zero_none(-np.expm1(-z), z),
    stats.laplace: lambda z: np.where(z > 0, 1 - 0.5 * np.exp(-z), 0.5 * np.exp(z)),
    stats.uniform: lambda z: np.clip(z, 0.0, 1.0),
    stats.gamma: lambda z, a: _below_zero_none(special.gammainc(a, z), z),
    stats.chi2: lambda z, df: _below_zero_none(special.gammainc(df / 2, z / 2), z),
    stats.beta: lambda z, a, b: special.betainc(a, b, np.clip(z, 0.0, 1.0)),
    stats.t: lambda z, df: special.stdtr(df, z),
    stats.cauchy: lambda z: 0.5 + np.arctan(z) / np.pi,
    stats.logistic: special.expit,
    stats.gumbel_r: lambda z: np.exp(-np.exp(-z)),
    stats.gumbel_l: lambda z: -np.expm1(-np.exp(z)),
    stats.rayleigh: lambda z: _below_zero_none(-np.expm1(-0.5 * z * z), z),
    stats.weibull_min: lambda z, c: _below_zero_none(-np.expm1(-(z**c)), z),
    stats.pareto: lambda z, b: np.where(z >= 1, 1 - z**-b, 0.0),
    stats.invgamma: lambda z, a: _below_zero_none(special.gammaincc(a, 1 / z), z),
}

ABOVE: dict[Any, Callable[..., Any]] = {
    stats.norm: lambda z: special.ndtr(-z),
    stats.expon: lambda z: np.where(z > 0, np.exp(-z), 1.0),
    stats.gamma: lambda z, a: np.where(z > 0, special.gammaincc(a, z), 1.0),
    stats.chi2: lambda z, df: np.where(z > 0, special.gammaincc(df / 2, z / 2), 1.0),
    stats.logistic: lambda z: special.expit(-z),
    stats.cauchy: lambda z: 0.5 - np.arctan(z) / np.pi,
}
"""Where one minus what lies below would cancel."""

QUANTILES: dict[Any, Callable[..., Any]] = {
    stats.norm: special.ndtri,
    stats.lognorm: lambda q, s: np.exp(s * special.ndtri(q)),
    stats.expon: lambda q: -np.log1p(-q),
    stats.laplace: lambda q: np.where(q > 0.5, -np.log(2 * (1 - q)), np.log(2 * q)),
    stats.uniform: lambda q: 1.0 * q,
    stats.cauchy: lambda q: np.tan(np.pi * (q - 0.5)),
    stats.logistic: special.logit,
    stats.gumbel_r: lambda q: -np.log(-np.log(q)),
    stats.rayleigh: lambda q: np.sqrt(-2 * np.log1p(-q)),
    stats.weibull_min: lambda q, c: (-np.log1p(-q)) ** (1 / c),
    stats.pareto: lambda q, b: (1 - q) ** (-1 / b),
    stats.gamma: lambda q, a: special.gammaincinv(a, q),
    stats.chi2: lambda q, df: 2 * special.gammaincinv(df / 2, q),
    stats.invgamma: lambda q, a: 1 / special.gammainccinv(a, q),
    stats.beta: lambda q, a, b: special.betaincinv(a, b, q),
    stats.t: lambda q, df: special.stdtrit(df, q),
    stats.halfnorm: lambda q: special.ndtri((1 + q) / 2),
    stats.gumbel_l: lambda q: np.log(-np.log1p(-q)),
}

MASSES: dict[Any, dict[str, Callable[..., Any]]] = {
    stats.poisson: {
        "logpmf": lambda k, mu: special.xlogy(k, mu) - special.gammaln(k + 1) - mu,
        "cdf": special.pdtr,
    },
    stats.binom: {
        "logpmf": lambda k, n, p: (
            special.gammaln(n + 1)
            - special.gammaln(k + 1)
            - special.gammaln(n - k + 1)
            + special.xlogy(k, p)
            + special.xlog1py(n - k, -p)
        ),
        "cdf": special.bdtr,
        "sf": special.bdtrc,
    },
    stats.bernoulli: {"logpmf": lambda k, p: special.xlogy(k, p) + special.xlog1py(1 - k, -p)},
    stats.geom: {"logpmf": lambda k, p: special.xlog1py(k - 1, -p) + np.log(p)},
    stats.nbinom: {
        "logpmf": lambda k, n, p: (
            special.gammaln(n + k)
            - special.gammaln(k + 1)
            - special.gammaln(n)
            + special.xlogy(n, p)
            + special.xlog1py(k, -p)
        ),
        "cdf": lambda k, n, p: special.betainc(n, k + 1, p),
        "sf": lambda k, n, p: special.betainc(k + 1, n, 1 - p),
    },
}
"""Logarithms of the probabilities of k, and sums of these, where SciPy's formulas are compiled."""

AT_ALL_SHAPES: dict[Any, dict[str, Callable[..., Any]]] = {
    stats.genextreme: {
        "support": lambda c: (
            np.where(c < 0, 1 / np.where(c < 0, c, 1.0), -np.inf),
            np.where(c > 0, 1 / np.where(c > 0, c, 1.0), np.inf),
        ),
        "logpdf": lambda z, c: (c - 1) * log1p_over(-c, z) - np.exp(-log1p_over(-c, z)),
        "cdf": lambda z, c: np.exp(-np.exp(-log1p_over(-c, z))),
        "logcdf": lambda z, c: -np.exp(-log1p_over(-c, z)),
        "sf": lambda z, c: -np.expm1(-np.exp(-log1p_over(-c, z))),
        "logsf": lambda z, c: np.log(-np.expm1(-np.exp(-log1p_over(-c, z)))),
        "ppf": lambda q, c: expm1_over(-c, -np.log(-np.log(q))),
        "isf": lambda q, c: expm1_over(-c, -np.log(-np.log1p(-q))),
    },
    stats.genpareto: {
        "logpdf": lambda z, c: -(c + 1) * log1p_over(c, z),
        "cdf": lambda z, c: -np.expm1(-log1p_over(c, z)),
        "logcdf": lambda z, c: np.log(-np.expm1(-log1p_over(c, z))),
        "sf": lambda z, c: np.exp(-log1p_over(c, z)),
        "logsf": lambda z, c: -log1p_over(c, z),
        "ppf": lambda q, c: expm1_over(c, -np.log1p(-q)),
        "isf": lambda q, c: expm1_over(c, -np.log(q)),
    },
    stats.skewnorm: {
        "logpdf": lambda z, a: _LOG_2 - 0.5 * (z * z + _LOG_2PI) + special.log_ndtr(a * z),
        "cdf": lambda z, a: special.ndtr(z) - 2 * special.owens_t(z, a),
        "sf": lambda z, a: special.ndtr(-z) + 2 * special.owens_t(z, a),
    },
    stats.triang: {
        "pdf": lambda z, c: np.where(
            (z < c) | (c == 1),
            2 * z / np.where(c == 0, 1.0, c),
            2 * (1 - z) / np.where(c == 1, 1.0, 1 - c),
        ),
        "cdf": lambda z, c: np.where(
            (z < c) | (c == 1),
            z * z / np.where(c == 0, 1.0, c),
            (z * z - 2 * z + c) / np.where(c == 1, 1.0, c - 1),
        ),
    },
}
"""Formulas that hold where a shape is zero, too: SciPy has others there, which do not depend on it."""

_BY_CASES = (stats.pearson3, stats.kappa4, stats.tukeylambda)
"""Distributions of which SciPy has formulas for single values of a shape: these have other derivatives."""

# Sums are NumPy's numbers where an operand is an array without axes, as `np.where` gives it.

# --- methods ----------------------------------------------------------------------------------


def _of_scale(value: Any, scale: Any) -> Any:
    """The value, NaN for a scale that there is not."""
    if np.ndim(scale) == 0:
        return value if scale > 0 else value * np.nan
    return np.where(scale > 0, value, np.nan)


def _methods_of(names: Any, density: Any, below: Any, above: Any, quantile: Any) -> Any:
    def logpdf(x: Any, *args: Any, **named: Any) -> Any:
        *shapes, loc, scale = places(names, args, named)
        return density((array_of(x) - loc) / scale, *shapes) - np.log(scale)

    def pdf(x: Any, *args: Any, **named: Any) -> Any:
        return np.exp(logpdf(x, *args, **named))

    def cdf(x: Any, *args: Any, **named: Any) -> Any:
        *shapes, loc, scale = places(names, args, named)
        return _of_scale(below((array_of(x) - loc) / scale, *shapes) + 0.0, scale)

    def sf(x: Any, *args: Any, **named: Any) -> Any:
        *shapes, loc, scale = places(names, args, named)
        z = (array_of(x) - loc) / scale
        value = 1 - below(z, *shapes) if above is None else above(z, *shapes) + 0.0
        return _of_scale(value, scale)

    def ppf(q: Any, *args: Any, **named: Any) -> Any:
        *shapes, loc, scale = places(names, args, named)
        return _of_scale(quantile(array_of(q), *shapes) * scale + loc, scale)

    def isf(q: Any, *args: Any, **named: Any) -> Any:
        return ppf(1 - array_of(q), *args, **named)

    def logcdf(x: Any, *args: Any, **named: Any) -> Any:
        return np.log(cdf(x, *args, **named))

    def logsf(x: Any, *args: Any, **named: Any) -> Any:
        return np.log(sf(x, *args, **named))

    methods = {"logpdf": logpdf, "pdf": pdf}
    if below is not None:
        methods |= {"cdf": cdf, "sf": sf, "logcdf": logcdf, "logsf": logsf}
    return methods | ({} if quantile is None else {"ppf": ppf, "isf": isf})


def _log_normal_below(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    return _of_scale(special.log_ndtr((array_of(x) - loc) / scale), scale)


def _log_normal_above(x: Any, loc: Any = 0.0, scale: Any = 1.0) -> Any:
    return _of_scale(special.log_ndtr((loc - array_of(x)) / scale), scale)


METHODS: dict[type, dict[str, Callable[..., Any]]] = {
    **{
        type(each): _methods_of(
            names_of(each), density, BELOW.get(each), ABOVE.get(each), QUANTILES.get(each)
        )
        for each, density in DENSITIES.items()
    },
    **OF_VECTORS,
}
"""By a distribution's class, what stands for its methods."""
METHODS[type(stats.norm)] |= {"logcdf": _log_normal_below, "logsf": _log_normal_above}


def _called(name: str) -> Callable[..., Any]:
    return lambda self, *at: self.method_(name)(*at, *self.args, **self.named)


class Frozen:
    """A distribution with its shapes, location and scale."""

    def __init__(self, methods: Any, args: Any, named: Any):
        self.methods = methods
        self.args = args
        self.named = named

    pdf, logpdf, pmf, logpmf = map(_called, ("pdf", "logpdf", "pmf", "logpmf"))
    cdf, logcdf, sf, logsf = map(_called, ("cdf", "logcdf", "sf", "logsf"))
    ppf, isf, interval, entropy = map(_called, ("ppf", "isf", "interval", "entropy"))
    median, mean, var, std = map(_called, ("median", "mean", "var", "std"))

    def method_(self, name: str) -> Any:
        if name not in self.methods:
            raise uncovered(f"`{name}` of this distribution", FORMULA)
        return self.methods[name]

    def __getattr__(self, name: str) -> Any:
        return self.method_(name)


@functools.cache
def _methods_by(cls: type) -> dict[str, Callable[..., Any]] | None:
    """What stands for the methods of a distribution of SciPy's."""
    if not issubclass(cls, (stats.rv_continuous, stats.rv_discrete)):
        return METHODS.get(cls)
    known = next((each for each in vars(stats).values() if type(each) is cls), None)
    if known is None or known in _BY_CASES:
        return None
    if cls in METHODS:
        methods = METHODS[cls]
    elif isinstance(known, stats.rv_continuous):
        methods = continuous(known, AT_ALL_SHAPES.get(known, {}))
    else:
        methods = discrete(known, MASSES.get(known, {}))
    by_quantiles = around_the_middle(methods["ppf"]) if "ppf" in methods else {}
    return {**moments(known), **by_quantiles, **methods}


def equivalent_of(function: Any) -> Callable[..., Any] | None:
    """What stands for a method of a distribution, frozen or not, or for the distribution as a function."""
    methods = _methods_by(type(function))
    if methods is not None:
        return lambda *args, **named: Frozen(methods, args, named)
    owner: Any = getattr(function, "__self__", None)
    methods = _methods_by(type(owner))
    if methods is not None:
        return methods.get(function.__name__)
    for density in (function, owner):
        if isinstance(density, stats.gaussian_kde):
            made = kernels_of(density)
            return made if density is function else getattr(made, function.__name__, None)
    methods = _methods_by(type(getattr(owner, "dist", None))) or {}
    if getattr(function, "__name__", "") not in methods:
        return None
    return getattr(Frozen(methods, owner.args, owner.kwds), function.__name__)


_ARRAYS: Any = getattr(_continuous_distns, "xpx", None)
"""A library that SciPy brings with it, from 1.17 on, and keeps in another place in each version."""

EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = (
    [] if _ARRAYS is None else [(_ARRAYS.apply_where, apply_where), (_ARRAYS.at, At)]
)
