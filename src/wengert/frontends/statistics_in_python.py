"""The standard library's `statistics`, in terms of sums that have rules."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable
from typing import Any


def fmean(data: Any, weights: Any = None) -> Any:
    """`statistics.fmean`."""
    data = list(data)
    if weights is None:
        return math.fsum(data) / len(data)
    weights = list(weights)
    return math.fsum([x * w for x, w in zip(data, weights, strict=True)]) / math.fsum(weights)


def mean(data: Any) -> Any:
    """`statistics.mean`."""
    return fmean(data)


def geometric_mean(data: Any) -> Any:
    """`statistics.geometric_mean`."""
    return math.exp(fmean([math.log(x) for x in data]))


def harmonic_mean(data: Any, weights: Any = None) -> Any:
    """`statistics.harmonic_mean`."""
    data = list(data)
    weights = [1.0 for _ in data] if weights is None else list(weights)
    return math.fsum(weights) / math.fsum([w / x for x, w in zip(data, weights, strict=True)])


def _squares(data: Any, center: Any) -> Any:
    center = fmean(data) if center is None else center
    return math.fsum([(x - center) ** 2 for x in data])


def _needs(data: Any, count: Any, what: Any) -> None:
    if len(data) < count:
        raise statistics.StatisticsError(f"{what} requires at least {count} data points")


def variance(data: Any, xbar: Any = None) -> Any:
    """`statistics.variance`."""
    data = list(data)
    _needs(data, 2, "variance")
    return _squares(data, xbar) / (len(data) - 1)


def pvariance(data: Any, mu: Any = None) -> Any:
    """`statistics.pvariance`."""
    data = list(data)
    _needs(data, 1, "pvariance")
    return _squares(data, mu) / len(data)


def stdev(data: Any, xbar: Any = None) -> Any:
    """`statistics.stdev`."""
    return math.sqrt(variance(data, xbar))


def pstdev(data: Any, mu: Any = None) -> Any:
    """`statistics.pstdev`."""
    return math.sqrt(pvariance(data, mu))


def mean_stdev(data: Any) -> Any:
    data = list(data)
    xbar = mean(data)
    return xbar, stdev(data, xbar)


def covariance(x: Any, y: Any, /) -> Any:
    """`statistics.covariance`."""
    x, y = list(x), list(y)
    return _products(x, y) / (len(x) - 1)


def _products(x: Any, y: Any) -> Any:
    x_mean, y_mean = fmean(x), fmean(y)
    return math.fsum([(a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)])


def correlation(x: Any, y: Any, /) -> Any:
    """`statistics.correlation` of the values themselves."""
    x, y = list(x), list(y)
    return _products(x, y) / math.sqrt(_squares(x, None) * _squares(y, None))


def linear_regression(x: Any, y: Any, /, *, proportional: Any = False) -> Any:
    """`statistics.linear_regression`."""
    x, y = list(x), list(y)
    if proportional:
        products = [a * b for a, b in zip(x, y, strict=True)]
        return statistics.LinearRegression(math.fsum(products) / math.fsum([a * a for a in x]), 0.0)
    slope = _products(x, y) / _squares(x, None)
    return statistics.LinearRegression(slope, fmean(y) - slope * fmean(x))


def quantiles(data: Any, *, n: Any = 4, method: Any = "exclusive") -> Any:
    """`statistics.quantiles`."""
    data = sorted(data)
    count = len(data)
    result = []
    for i in range(1, n):
        if method == "inclusive":
            j, share = divmod(i * (count - 1), n)
        else:
            j, share = divmod(i * (count + 1), n)
            j = max(1, min(j, count - 1))
            share = i * (count + 1) - j * n
            j = j - 1
        low, high = data[j], data[min(j + 1, count - 1)]
        result = [*result, (low * (n - share) + high * share) / n]
    return result


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (statistics.fmean, fmean),
    (statistics.mean, mean),
    (statistics.geometric_mean, geometric_mean),
    (statistics.harmonic_mean, harmonic_mean),
    (statistics.variance, variance),
    (statistics.pvariance, pvariance),
    (statistics.stdev, stdev),
    (statistics.pstdev, pstdev),
    (statistics.covariance, covariance),
    (statistics.correlation, correlation),
    (statistics.linear_regression, linear_regression),
    (statistics.quantiles, quantiles),
    # what `NormalDist.from_samples` asks for
    *((f, mean_stdev) for name, f in vars(statistics).items() if name == "_mean_stdev"),
]
