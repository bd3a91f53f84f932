"""SciPy's tests of hypotheses in terms of NumPy's functions: the front end reads these instead.

What depends on the order of its numbers alone is constant until the order changes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import special, stats  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of
from ....ops.structure import stop_gradient
from .. import manifest
from ..same_names import same_names


class Test(NamedTuple):
    """What a test gives."""

    statistic: Any
    pvalue: Any


def _by_student(t: Any, df: Any, alternative: Any) -> Any:
    if alternative == "less":
        return Test(t, special.stdtr(df, t))
    if alternative == "greater":
        return Test(t, special.stdtr(df, -t))
    if alternative != "two-sided":
        raise ValueError("`alternative` must be 'less', 'greater', or 'two-sided'.")
    return Test(t, 2 * special.stdtr(df, -np.abs(t)))


def _sample(a: Any, axis: Any) -> Any:
    """A sample along the first axis, and its size."""
    a = array_of(a) * 1.0
    lanes = np.ravel(a) if axis is None else np.moveaxis(a, axis, 0)
    return lanes, np.shape(lanes)[0]


def ttest_1samp(a: Any, popmean: Any, axis: Any = 0, *, alternative: Any = "two-sided") -> Any:
    """`scipy.stats.ttest_1samp`."""
    a, n = _sample(a, axis)
    t = (np.mean(a, axis=0) - popmean) / np.sqrt(np.var(a, axis=0, ddof=1) / n)
    return _by_student(t, n - 1.0, alternative)


def ttest_rel(a: Any, b: Any, axis: Any = 0, *, alternative: Any = "two-sided") -> Any:
    """`scipy.stats.ttest_rel`."""
    return ttest_1samp(array_of(a) - array_of(b), 0.0, axis, alternative=alternative)


def ttest_ind(
    a: Any, b: Any, *, axis: Any = 0, equal_var: Any = True, alternative: Any = "two-sided"
) -> Any:
    """`scipy.stats.ttest_ind`: Student's test, or Welch's."""
    (a, n), (b, m) = _sample(a, axis), _sample(b, axis)
    of_a, of_b = np.var(a, axis=0, ddof=1), np.var(b, axis=0, ddof=1)
    apart = np.mean(a, axis=0) - np.mean(b, axis=0)
    return _independent(apart, of_a, n, of_b, m, equal_var, alternative)


def ttest_ind_from_stats(
    mean1: Any, std1: Any, nobs1: Any, mean2: Any, std2: Any, nobs2: Any, equal_var: Any = True,
    alternative: Any = "two-sided",
) -> Any:  # fmt: skip
    """`scipy.stats.ttest_ind_from_stats`."""
    apart = array_of(mean1) - mean2
    of_1, of_2 = array_of(std1) ** 2, array_of(std2) ** 2
    return _independent(apart, of_1, nobs1, of_2, nobs2, equal_var, alternative)


def _independent(
    apart: Any, of_a: Any, n: Any, of_b: Any, m: Any, equal_var: Any, alternative: Any
) -> Any:
    if equal_var:
        pooled = ((n - 1) * of_a + (m - 1) * of_b) / (n + m - 2.0)
        return _by_student(apart / np.sqrt(pooled * (1 / n + 1 / m)), n + m - 2.0, alternative)
    a, b = of_a / n, of_b / m
    df = (a + b) ** 2 / (a * a / (n - 1) + b * b / (m - 1))
    return _by_student(apart / np.sqrt(a + b), df, alternative)


def f_oneway(*samples: Any, axis: Any = 0) -> Any:
    """`scipy.stats.f_oneway` of groups with equal variances."""
    groups = [_sample(each, axis)[0] for each in samples]
    sizes = [np.shape(group)[0] for group in groups]
    count = sum(sizes)
    middle = sum([np.sum(group, axis=0) for group in groups]) / count
    between = sum(
        [n * (np.mean(g, axis=0) - middle) ** 2 for n, g in zip(sizes, groups, strict=True)]
    )
    within = sum([np.sum((g - np.mean(g, axis=0)) ** 2, axis=0) for g in groups])
    more, rest = len(groups) - 1.0, count - len(groups) + 0.0
    f = (between / more) / (within / rest)
    return Test(f, special.fdtrc(more, rest, f))


def chisquare(f_obs: Any, f_exp: Any = None, ddof: Any = 0, axis: Any = 0) -> Any:
    """`scipy.stats.chisquare`."""
    observed, count = _sample(f_obs, axis)
    if f_exp is None:
        expected = np.mean(observed, axis=0)
    else:
        expected = _sample(f_exp, axis)[0]
        sums = np.sum(observed, axis=0), np.sum(expected, axis=0)
        if np.any(np.abs(sums[0] - sums[1]) > 1e-8 * np.minimum(sums[0], sums[1])):
            raise ValueError("the observed frequencies must sum to what the expected ones do")
    found = np.sum((observed - expected) ** 2 / expected, axis=0)
    return Test(found, special.chdtrc(count - 1.0 - ddof, found))


# --- by the order of numbers ----------------------------------------------------------------


def _of_ranks(function: Any) -> Callable[..., Any]:
    """A function that is constant until two numbers change places."""

    def ranked(x: Any, *others: Any, **options: Any) -> Any:
        known = [stop_gradient(other) for other in others]
        return manifest.as_it_is(function, stop_gradient(x), *known, **options)

    return ranked


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(stats, globals()),
    *(
        (each, _of_ranks(each))
        for each in (
            stats.rankdata,
            stats.spearmanr,
            stats.kendalltau,
            stats.mannwhitneyu,
            stats.kruskal,
            stats.ks_2samp,
        )
    ),
]
