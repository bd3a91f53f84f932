"""SciPy's descriptive statistics in terms of NumPy's functions: the front end reads these instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of
from ....ops.program.refusals import FORMULA, uncovered
from ..same_names import same_names
from .hypotheses import EQUIVALENTS as OF_HYPOTHESES

_LOG_2PI = 1.8378770664093453


def _samples(a: Any) -> Any:
    """An array of which a number is the only item."""
    return np.atleast_1d(array_of(a))


def _moment(a: Any, order: Any, axis: Any) -> Any:
    return np.mean((a - np.mean(a, axis=axis, keepdims=True)) ** order, axis=axis)


def zmap(scores: Any, compare: Any, axis: Any = 0, ddof: Any = 0) -> Any:
    """`scipy.stats.zmap`."""
    compare = array_of(compare)
    spread = np.std(compare, axis=axis, ddof=ddof, keepdims=True)
    return (array_of(scores) - np.mean(compare, axis=axis, keepdims=True)) / spread


def moment(a: Any, order: Any = 1, axis: Any = 0, *, center: Any = None) -> Any:
    """`scipy.stats.moment`."""
    if np.ndim(order) > 0:
        return np.stack([moment(a, each, axis, center=center) for each in order])
    a = _samples(a)
    middle = np.mean(a, axis=axis, keepdims=True) if center is None else center
    return np.mean((a - middle) ** order, axis=axis)


def variation(a: Any, axis: Any = 0, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    """`scipy.stats.variation`."""
    spread = np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return spread / np.mean(a, axis=axis, keepdims=keepdims)


def iqr(
    x: Any, axis: Any = None, rng: Any = (25, 75), scale: Any = 1.0, *,
    interpolation: Any = "linear", keepdims: Any = False,
) -> Any:  # fmt: skip
    """`scipy.stats.iqr`."""
    options = {"axis": axis, "method": interpolation, "keepdims": keepdims}
    return (np.percentile(x, rng[1], **options) - np.percentile(x, rng[0], **options)) / scale


def boxcox_llf(lmb: Any, data: Any, *, axis: Any = 0) -> Any:
    """`scipy.stats.boxcox_llf`."""
    data = array_of(data)
    spread = np.var(special.boxcox(data, lmb), axis=axis)
    return (lmb - 1) * np.sum(np.log(data), axis=axis) - np.shape(data)[axis] / 2 * np.log(spread)


def trim_mean(a: Any, proportiontocut: Any, axis: Any = 0) -> Any:
    """`scipy.stats.trim_mean`."""
    lanes = np.moveaxis(np.sort(a, axis=axis), axis, 0)
    count = np.shape(lanes)[0]
    cut = int(proportiontocut * count)
    return np.mean(lanes[cut : count - cut], axis=0)


def median_abs_deviation(x: Any, axis: Any = 0, center: Any = np.median, scale: Any = 1.0) -> Any:
    """`scipy.stats.median_abs_deviation`."""
    x = array_of(x)
    middle = center(x) if axis is None else np.expand_dims(center(x, axis=axis), axis)
    if isinstance(scale, str):
        if scale.lower() != "normal":
            raise ValueError(f"{scale} is not a valid scale value.")
        scale = 0.6744897501960817
    return np.median(np.abs(x - middle), axis=axis) / scale


def pmean(a: Any, p: Any, *, axis: Any = 0, weights: Any = None) -> Any:
    """`scipy.stats.pmean` of another power than 0."""
    return np.average(_samples(a) ** p, axis=axis, weights=weights) ** (1 / p)


def skew(a: Any, axis: Any = 0, bias: Any = True) -> Any:
    """`scipy.stats.skew`."""
    a = array_of(a)
    found = _moment(a, 3, axis) / _moment(a, 2, axis) ** 1.5
    n = np.size(a) if axis is None else np.shape(a)[axis]
    return found if bias or n <= 2 else found * np.sqrt(n * (n - 1.0)) / (n - 2.0)


def kurtosis(a: Any, axis: Any = 0, fisher: Any = True, bias: Any = True) -> Any:
    """`scipy.stats.kurtosis`."""
    a = array_of(a)
    found = _moment(a, 4, axis) / _moment(a, 2, axis) ** 2
    n = np.size(a) if axis is None else np.shape(a)[axis]
    if not bias and n > 3:
        found = 3.0 + ((n * n - 1.0) * found - 3 * (n - 1) ** 2) / ((n - 2.0) * (n - 3.0))
    return found - 3.0 if fisher else found


def gmean(a: Any, axis: Any = 0) -> Any:
    """`scipy.stats.gmean`."""
    return np.exp(np.mean(np.log(_samples(a)), axis=axis))


def hmean(a: Any, axis: Any = 0) -> Any:
    """`scipy.stats.hmean`."""
    return 1 / np.mean(1 / _samples(a), axis=axis)


def sem(a: Any, axis: Any = 0, ddof: Any = 1) -> Any:
    """`scipy.stats.sem`."""
    a = array_of(a)
    n = np.size(a) if axis is None else np.shape(a)[axis]
    return np.std(a, axis=axis, ddof=ddof) / (np.sqrt(n) if n > 1 else np.nan)


def entropy(pk: Any, qk: Any = None, base: Any = None, axis: Any = 0) -> Any:
    """`scipy.stats.entropy`."""
    pk = array_of(pk)
    pk = pk / np.sum(pk, axis=axis, keepdims=True)
    if qk is None:
        found = np.sum(special.entr(pk), axis=axis)
    else:
        qk = array_of(qk)
        found = np.sum(special.rel_entr(pk, qk / np.sum(qk, axis=axis, keepdims=True)), axis=axis)
    return found if base is None else found / np.log(base)


class PearsonR(NamedTuple):
    """What `scipy.stats.pearsonr` gives."""

    statistic: Any
    pvalue: Any


def pearsonr(x: Any, y: Any) -> Any:
    """`scipy.stats.pearsonr`."""
    x, y = x - np.mean(x), y - np.mean(y)
    r = np.sum(x * y) / np.sqrt(np.sum(x * x) * np.sum(y * y))
    return PearsonR(r, special.betainc(np.size(x) / 2 - 1.0, 0.5, 1 - r * r))


class Line(tuple[Any, ...]):  # noqa: SLOT001
    """What `scipy.stats.linregress` gives."""

    intercept_stderr: Any
    slope = property(lambda self: self[0])
    intercept = property(lambda self: self[1])
    rvalue = property(lambda self: self[2])
    pvalue = property(lambda self: self[3])
    stderr = property(lambda self: self[4])


_LEVEL, _SLOPING = (stats.linregress([0.0, 1.0], [0.0, y])[3:5] for y in (0.0, 1.0))
"""Chance and error of a line through two points: 0 and 1, or NaN from SciPy 1.18 on."""


def linregress(x: Any, y: Any) -> Any:
    """`scipy.stats.linregress`."""
    x, y = array_of(x), array_of(y)
    n, dx, dy = np.size(x), x - np.mean(x), y - np.mean(y)
    xx, xy, yy = np.mean(dx * dx), np.mean(dx * dy), np.mean(dy * dy)
    r = np.clip(xy / np.sqrt(xx * yy), -1.0, 1.0)
    slope = xy / xx
    if n == 2:  # a line through two points
        chance, error = _LEVEL if y[0] == y[1] else _SLOPING
    else:
        chance = special.betainc(n / 2 - 1.0, 0.5, 1 - r * r)
        error = np.sqrt((1 - r * r) * yy / xx / (n - 2))
    line = Line((slope, np.mean(y) - slope * np.mean(x), r, chance, error))
    line.intercept_stderr = error * np.sqrt(np.mean(x * x))
    return line


def normal_logpdf(x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: Any = False) -> Any:
    """`scipy.stats.multivariate_normal.logpdf` of a matrix that is positive definite."""
    x, mean, cov = _of_points(x, mean, cov)
    if allow_singular:
        _refuse_singular(cov)
    (squares, log_det), size = _squares(x - mean, cov), np.shape(mean)[0]
    return _of_each(-0.5 * (squares + size * _LOG_2PI + log_det), x)


def normal_pdf(x: Any, mean: Any = None, cov: Any = 1.0, allow_singular: Any = False) -> Any:
    """`scipy.stats.multivariate_normal.pdf`."""
    return np.exp(normal_logpdf(x, mean, cov, allow_singular))


def normal_entropy(mean: Any = None, cov: Any = 1.0) -> Any:
    """`scipy.stats.multivariate_normal.entropy` of a matrix that is positive definite."""
    cov = array_of(cov)
    if np.ndim(cov) == 0:
        cov = cov * np.eye(1 if mean is None else np.size(mean))
    elif np.ndim(cov) == 1:
        cov = np.diag(cov)
    return 0.5 * (np.shape(cov)[0] * (_LOG_2PI + 1) + np.linalg.slogdet(cov)[1])


def student_logpdf(x: Any, loc: Any = None, shape: Any = 1.0, df: Any = 1) -> Any:
    """`scipy.stats.multivariate_t.logpdf` of a matrix that is positive definite."""
    if df == np.inf:
        return normal_logpdf(x, loc, shape)
    x, loc, shape = _of_points(x, loc, shape)
    (squares, log_det), size = _squares(x - loc, shape), np.shape(loc)[0]
    power = 0.5 * (df + size)
    scale = special.gammaln(power) - special.gammaln(0.5 * df) - size / 2 * np.log(df * np.pi)
    logs = scale - 0.5 * log_det - power * np.log1p(squares / df)
    return _of_each(logs, x)


def student_pdf(x: Any, loc: Any = None, shape: Any = 1.0, df: Any = 1) -> Any:
    """`scipy.stats.multivariate_t.pdf`."""
    return np.exp(student_logpdf(x, loc, shape, df))


def _of_points(x: Any, mean: Any, cov: Any) -> tuple[Any, Any, Any]:
    """Points, a vector and a matrix, of what SciPy takes for them: the mean says how many dimensions there are."""
    x, cov = array_of(x), array_of(1.0 if cov is None else cov)
    if mean is None:
        mean = np.zeros(np.shape(cov)[0]) if np.ndim(cov) == 2 else 0.0
    if np.ndim(mean) == 0:
        mean = np.reshape(mean, (1,))
        x = np.reshape(x, (-1, 1)) if np.ndim(x) == 1 else x
    elif np.ndim(x) == 1 and np.size(mean) == 1 and np.size(x) != 1:
        raise ValueError("points of one dimension: write them as a column, `x[:, None]`")
    if np.ndim(mean) != 1:
        raise ValueError(f"the mean must be a vector of length {np.size(mean)}")
    size = np.shape(mean)[0]
    if np.ndim(x) > 1 and size == 1 and np.shape(x)[-1] != 1:
        raise ValueError("the points have more dimensions than the mean")
    if np.ndim(cov) == 0:
        cov = cov * np.eye(size)
    elif np.ndim(cov) == 1:
        cov = np.diag(cov)
    if np.ndim(cov) != 2 or np.shape(cov)[0] != size or np.shape(cov)[1] != size:
        raise ValueError(f"the covariance matrix must be one of {size} rows and columns")
    return x, array_of(mean), cov


def _refuse_singular(cov: Any) -> None:
    """Refuse a matrix of which SciPy leaves out a direction: the density there has no derivative."""
    spectrum = np.linalg.eigvalsh(cov)
    if np.min(spectrum) <= 1e6 * np.finfo(float).eps * np.max(np.abs(spectrum)):
        raise np.linalg.LinAlgError("the density of a singular covariance matrix has no derivative")


def _squares(deviation: Any, cov: Any) -> tuple[Any, Any]:
    """The square of each deviation by the inverse of a matrix, and the logarithm of its determinant.

    Both are of the matrix whose lower triangle is given: SciPy does not read the upper one.
    """
    points = np.reshape(deviation, (-1, np.shape(cov)[0]))
    factor = np.linalg.cholesky(cov)
    half = np.linalg.solve(factor, np.transpose(points))
    return np.sum(half * half, axis=0), 2.0 * np.sum(np.log(np.diagonal(factor)))


def _of_each(logs: Any, x: Any) -> Any:
    """A number for one point, an array for several, as SciPy gives them."""
    if np.ndim(x) < 2:
        return logs[0]
    if np.ndim(x) > 2:
        return np.squeeze(np.reshape(logs, np.shape(x)[:-1]))
    if np.shape(x)[0] == 1:
        raise ValueError("a row of points that is one point alone: pass the point itself, `x[0]`")
    return logs


class Kernels:
    """`scipy.stats.gaussian_kde` of equally weighted points."""

    def __init__(self, dataset: Any, bw_method: Any):
        self.dataset = np.atleast_2d(array_of(dataset))
        d, n = np.shape(self.dataset)
        if bw_method is None or bw_method == "scott":
            self.factor = n ** (-1.0 / (d + 4))
        elif bw_method == "silverman":
            self.factor = (n * (d + 2) / 4.0) ** (-1.0 / (d + 4))
        else:
            self.factor = bw_method
        self.covariance = np.atleast_2d(np.cov(self.dataset)) * self.factor**2

    def logpdf(self, x: Any) -> Any:
        points = np.atleast_2d(array_of(x))
        d, n = np.shape(self.dataset)
        points = np.reshape(points, (d, -1))
        apart = np.expand_dims(points, 2) - np.expand_dims(self.dataset, 1)
        flat = np.reshape(apart, (d, -1))
        energies = -0.5 * np.sum(flat * np.linalg.solve(self.covariance, flat), axis=0)
        energies = np.reshape(energies, (-1, n))
        highest = np.max(energies, axis=1, keepdims=True)
        sums = np.log(np.sum(np.exp(energies - highest), axis=1)) + highest[:, 0]
        return sums - np.log(n * np.sqrt(np.linalg.det(2 * np.pi * self.covariance)))

    def evaluate(self, points: Any) -> Any:
        return np.exp(self.logpdf(points))

    def pdf(self, x: Any) -> Any:
        return self.evaluate(x)

    def __call__(self, points: Any) -> Any:
        return self.evaluate(points)


def gaussian_kde(dataset: Any, bw_method: Any = None, weights: Any = None) -> Any:
    """`scipy.stats.gaussian_kde`."""
    if weights is not None or callable(bw_method):
        raise uncovered("gaussian_kde with weights, or with a bandwidth by a function,", FORMULA)
    return Kernels(dataset, bw_method)


def kernels_of(density: Any) -> Any:
    """What stands for a density that was estimated outside, of equally weighted points."""
    if np.ptp(density.weights) > 0:
        return None
    return Kernels(density.dataset, density.factor)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [*OF_HYPOTHESES, *same_names(stats, globals())]
METHODS: dict[type, dict[str, Callable[..., Any]]] = {
    type(stats.multivariate_normal): {
        "logpdf": normal_logpdf,
        "pdf": normal_pdf,
        "entropy": normal_entropy,
    },
    type(stats.multivariate_t): {"logpdf": student_logpdf, "pdf": student_pdf},
}
"""By the class of an object, what stands for its methods."""
