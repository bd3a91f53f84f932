"""The moments of SciPy's distributions, their medians and entropies: SciPy's formulas for these are read.

In a formula stands the standard form of a distribution; where it lies and how wide it is makes the difference.
"""

# ruff: noqa: SLF001 - SciPy keeps its formulas in methods that are not for its users

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special, stats  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of
from .densities import names_of, places


def _of_student(df: Any) -> Any:
    spread = np.where(df > 1, np.inf, np.nan)
    variance = np.where(df > 2, df / np.where(df > 2, df - 2, 1.0), spread)
    return np.where(df > 1, 0.0, np.inf), variance


def _of_f(dfn: Any, dfd: Any) -> Any:
    two, four = (np.where(dfd > k, dfd - k, 1.0) for k in (2, 4))
    variance = 2 * dfd * dfd * (dfn + dfd - 2) / (dfn * two * two * four)
    return np.where(dfd > 2, dfd / two, np.inf), np.where(dfd > 4, variance, np.inf)


def _of_burr(c: Any, d: Any) -> Any:
    """SciPy's formula, for the moments that there are: it also asks for others, at poles of what they are made of."""
    one, two = (
        d * special.beta(d + k / safe, 1 - k / safe)
        for k, safe in ((1, np.where(c > 1, c, 2.0)), (2, np.where(c > 2, c, 3.0)))
    )
    return np.where(c > 1, one, np.nan), np.where(c > 2, two - one * one, np.nan)


GIVEN: dict[Any, Callable[..., Any]] = {
    stats.nbinom: lambda n, p: (n * (1 - p) / p, n * (1 - p) / (p * p)),
    stats.t: _of_student,
    stats.f: _of_f,
    stats.burr: _of_burr,
    stats.fisk: lambda c: _of_burr(c, 1.0),
}
"""Mean and variance of the standard form, where SciPy's formulas cannot be read, or have no derivative everywhere."""

_BY_ITEMS = (stats.truncnorm,)
"""Distributions whose formulas call a function for every item: they are not read."""


def _stats_of(distribution: Any) -> Callable[..., Any] | None:
    """What gives the mean and the variance of the standard form, or None for each; None if SciPy integrates."""
    own = _is_own(distribution, "_stats")
    if distribution in GIVEN:
        return GIVEN[distribution]
    if distribution in _BY_ITEMS or not (own or _is_own(distribution, "_munp")):
        return None
    if own and distribution._stats_has_moments:
        return lambda *shapes: distribution._stats(*shapes, moments="mv")[:2]
    return lambda *shapes: distribution._stats(*shapes)[:2]


def _is_own(distribution: Any, name: str) -> bool:
    """Whether a distribution has a formula of its own: others are integrals that SciPy computes."""
    function = getattr(type(distribution), name)
    return all(
        function is not getattr(base, name, None)
        for base in (stats.rv_continuous, stats.rv_discrete)
    )


def moments(distribution: Any) -> dict[str, Callable[..., Any]]:
    """The methods that tell the mean, the variance and the entropy of a distribution, as far as there are formulas."""
    names, of = names_of(distribution), _stats_of(distribution)
    power = distribution._munp if _is_own(distribution, "_munp") else None

    def standard(args: Any, named: Any) -> Any:
        *shapes, loc, scale = places(names, args, named)
        shapes = [array_of(shape) for shape in shapes]
        is_one = np.logical_and(distribution._argcheck(*shapes), array_of(scale) > 0)
        return shapes, loc, scale, is_one

    def mean(*args: Any, **named: Any) -> Any:
        shapes, loc, scale, is_one = standard(args, named)
        assert of is not None
        first, _ = of(*shapes)
        if power is not None and first is None:
            first = power(1, *shapes)
        return np.where(is_one, first * scale + loc, np.nan)[()]

    def var(*args: Any, **named: Any) -> Any:
        shapes, _, scale, is_one = standard(args, named)
        assert of is not None
        first, second = of(*shapes)
        if power is not None and second is None:
            first = power(1, *shapes) if first is None else first
            second = power(2, *shapes) - first * first
        return np.where(is_one, second * scale * scale, np.nan)[()]

    def std(*args: Any, **named: Any) -> Any:
        return np.sqrt(var(*args, **named))

    def entropy(*args: Any, **named: Any) -> Any:
        shapes, _, scale, is_one = standard(args, named)
        return np.where(is_one, distribution._entropy(*shapes) + np.log(scale), np.nan)[()]

    found = {} if of is None else {"mean": mean, "var": var, "std": std}
    return found | ({"entropy": entropy} if _is_own(distribution, "_entropy") else {})


def around_the_middle(quantile: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The methods that quantiles give: the median, and what a share of the probability lies within."""

    def median(*args: Any, **named: Any) -> Any:
        return quantile(0.5, *args, **named)

    def interval(confidence: Any, *args: Any, **named: Any) -> Any:
        share = array_of(confidence)
        if np.any((share > 1) | (share < 0)):
            raise ValueError("alpha must be between 0 and 1 inclusive")
        low, high = (1.0 - share) / 2, (1.0 + share) / 2
        return quantile(low, *args, **named), quantile(high, *args, **named)

    return {"median": median, "interval": interval}
