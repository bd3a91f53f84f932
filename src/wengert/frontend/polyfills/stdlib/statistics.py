"""The standard library's `statistics`, in terms of sums that have rules."""

from __future__ import annotations

import math
import statistics
import sys
from collections.abc import Callable
from typing import Any

from ..same_names import same_names

_OF_ZERO_AND_ONE = sys.version_info >= (3, 13)
"""Python 3.13 has a geometric mean of numbers that may be zero."""


def fmean(data: Any, weights: Any = None) -> Any:
    """`statistics.fmean`."""
    data = list(data)
    if weights is None:
        return _mean(data, "fmean")
    weights = list(weights)
    _require(len(weights) == len(data), "data and weights must be the same length")
    total = math.fsum(weights)
    _require(total, "sum of weights must be non-zero")
    return math.fsum([x * w for x, w in zip(data, weights, strict=True)]) / total


def _require(holds: Any, message: Any) -> None:
    if not holds:
        raise statistics.StatisticsError(message)


def _mean(data: Any, what: Any) -> Any:
    _require(data, f"{what} requires at least one data point")
    return math.fsum(data) / len(data)


def mean(data: Any) -> Any:
    """`statistics.mean`."""
    return _mean(list(data), "mean")


def geometric_mean(data: Any) -> Any:
    """`statistics.geometric_mean`."""
    data = list(data)
    if _OF_ZERO_AND_ONE:
        _require(data, "Must have a non-empty dataset")
        for x in data:
            if x < 0:
                raise statistics.StatisticsError("No negative inputs allowed", x)
        if min(data) == 0:
            return 0.0
    fits = data and min(data) > 0
    _require(fits, "geometric mean requires a non-empty dataset containing positive numbers")
    return math.exp(fmean([math.log(x) for x in data]))


def harmonic_mean(data: Any, weights: Any = None) -> Any:
    """`statistics.harmonic_mean`."""
    data = list(data)
    _require(data, "harmonic_mean requires at least one data point")
    weights = [1.0 for _ in data] if weights is None else list(weights)
    _require(len(weights) == len(data), "Number of weights does not match data size")
    _require(min(data) >= 0, "harmonic mean does not support negative values")
    if min(data) == 0:
        return 0
    total = math.fsum([w / x for x, w in zip(data, weights, strict=True)])
    _require(total > 0, "Weighted sum must be positive")
    return math.fsum(weights) / total


def _squares(data: Any, center: Any) -> Any:
    center = fmean(data) if center is None else center
    return math.fsum([(x - center) ** 2 for x in data])


def _variance(data: Any, xbar: Any, what: Any) -> Any:
    _require(len(data) >= 2, f"{what} requires at least two data points")
    return _squares(data, xbar) / (len(data) - 1)


def _pvariance(data: Any, mu: Any, what: Any) -> Any:
    _require(data, f"{what} requires at least one data point")
    return _squares(data, mu) / len(data)


def variance(data: Any, xbar: Any = None) -> Any:
    """`statistics.variance`."""
    return _variance(list(data), xbar, "variance")


def pvariance(data: Any, mu: Any = None) -> Any:
    """`statistics.pvariance`."""
    return _pvariance(list(data), mu, "pvariance")


def stdev(data: Any, xbar: Any = None) -> Any:
    """`statistics.stdev`."""
    return math.sqrt(_variance(list(data), xbar, "stdev"))


def pstdev(data: Any, mu: Any = None) -> Any:
    """`statistics.pstdev`."""
    return math.sqrt(_pvariance(list(data), mu, "pstdev"))


def mean_stdev(data: Any) -> Any:
    data = list(data)
    xbar = mean(data)
    return xbar, stdev(data, xbar)


def _in_pairs(x: Any, y: Any, what: Any) -> Any:
    x, y = list(x), list(y)
    same = f"{what} requires that both inputs have same number of data points"
    _require(len(x) == len(y), same)
    _require(len(x) >= 2, f"{what} requires at least two data points")
    return x, y


def covariance(x: Any, y: Any, /) -> Any:
    """`statistics.covariance`."""
    x, y = _in_pairs(x, y, "covariance")
    return _products(x, y) / (len(x) - 1)


def _products(x: Any, y: Any) -> Any:
    x_mean, y_mean = fmean(x), fmean(y)
    return math.fsum([(a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)])


def correlation(x: Any, y: Any, /) -> Any:
    """`statistics.correlation` of the values themselves."""
    x, y = _in_pairs(x, y, "correlation")
    spread = math.sqrt(_squares(x, None) * _squares(y, None))
    _require(spread, "at least one of the inputs is constant")
    return _products(x, y) / spread


def linear_regression(x: Any, y: Any, /, *, proportional: Any = False) -> Any:
    """`statistics.linear_regression`."""
    x, y = _in_pairs(x, y, "linear regression")
    if proportional:
        products = [a * b for a, b in zip(x, y, strict=True)]
        return statistics.LinearRegression(math.fsum(products) / math.fsum([a * a for a in x]), 0.0)
    spread = _squares(x, None)
    _require(spread, "x is constant")
    slope = _products(x, y) / spread
    return statistics.LinearRegression(slope, fmean(y) - slope * fmean(x))


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(statistics, globals()),
    # what `NormalDist.from_samples` asks for
    *((f, mean_stdev) for name, f in vars(statistics).items() if name == "_mean_stdev"),
]
