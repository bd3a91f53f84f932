"""SciPy's other probability distributions: the formulas that SciPy has for them in Python are read.

What surrounds them is said here: where a distribution lies, which shapes it may have, what is outside of it.
"""

# ruff: noqa: SLF001 - SciPy keeps its formulas in methods that are not for its users

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import stats  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of


def places(names: Any, args: Any, named: Any) -> Any:
    """Shapes, location and scale, however they were passed."""
    given = {"loc": 0.0, "scale": 1.0, **dict(zip(names, args, strict=False)), **named}
    return [given[name] for name in names]


def names_of(distribution: Any) -> tuple[str, ...]:
    """What the shapes, the location and the scale of a distribution are called."""
    shapes = distribution.shapes
    return (*(shapes.replace(",", " ").split() if shapes else ()), "loc", "scale")


def _within(formula: Any, inside: Any, outside: Any, x: Any, shapes: Any) -> Any:
    """A formula at the places inside, for which alone it is: SciPy's may need arrays of equal shapes."""
    inside, outside, x, *shapes = np.broadcast_arrays(inside, outside, x, *shapes)
    shape = np.shape(inside)
    picked = np.ravel(inside)
    found = np.ravel(outside) * 1.0
    if np.any(picked):
        found[picked] = formula(*[np.ravel(each)[picked] for each in (x, *shapes)])
    return np.reshape(found, shape)[()]


def log1p_over(c: Any, x: Any) -> Any:
    """`log1p(c x) / c`, with the limit where c is zero, and its derivatives."""
    t = c * x
    small = np.abs(t) < 1e-4
    series = x * (1 - t * (1 / 2 - t * (1 / 3 - t / 4)))
    return np.where(small, series, np.log1p(np.where(small, 1.0, t)) / np.where(small, 1.0, c))


def expm1_over(c: Any, x: Any) -> Any:
    """`expm1(c x) / c`, with the limit where c is zero, and its derivatives."""
    t = c * x
    small = np.abs(t) < 1e-4
    series = x * (1 + t * (1 / 2 + t * (1 / 6 + t / 24)))
    return np.where(small, series, np.expm1(t) / np.where(small, 1.0, c))


def _formulas(distribution: Any, given: Any) -> dict[str, Callable[..., Any]]:
    """SciPy's formulas, or those given; logarithms that are only taken of these are taken here."""
    names = ("logpdf", "pdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf")
    found = {name: getattr(distribution, f"_{name}") for name in names} | given
    for name in ("logpdf", "logcdf", "logsf"):
        if name not in given and getattr(type(distribution), f"_{name}") is getattr(
            stats.rv_continuous, f"_{name}"
        ):
            found[name] = functools.partial(_log_of, found[name[3:]])
    return {"support": distribution._get_support, **found}


def _log_of(formula: Any, *args: Any) -> Any:
    value = formula(*args)
    return np.where(value == 0, -np.inf, np.log(np.where(value == 0, 1.0, value)))


def continuous(distribution: Any, formulas: Any) -> dict[str, Callable[..., Any]]:
    """The methods of a distribution that has a density; formulas that are given stand for SciPy's."""
    names, of = names_of(distribution), _formulas(distribution, formulas)

    def standard(args: Any, named: Any) -> Any:
        *shapes, loc, scale = places(names, args, named)
        shapes = [array_of(shape) for shape in shapes]
        is_one = np.logical_and(distribution._argcheck(*shapes), array_of(scale) > 0)
        low, high = of["support"](*shapes)
        return shapes, loc, scale, is_one, low, high

    return {
        **_densities(standard, of, by_logarithm="logpdf" in formulas),
        **_shares(standard, of),
        **_quantiles(standard, of),
    }


def _densities(standard: Any, of: Any, *, by_logarithm: bool) -> dict[str, Callable[..., Any]]:
    def density(formula: Any, outside: Any, x: Any, args: Any, named: Any) -> Any:
        shapes, loc, scale, is_one, low, high = standard(args, named)
        z = (array_of(x) - loc) / scale
        inside = is_one & (low <= z) & (z <= high)
        other = np.where(is_one & ~np.isnan(z), outside, np.nan)
        return _within(formula, inside, other, z, shapes), scale

    def logpdf(x: Any, *args: Any, **named: Any) -> Any:
        value, scale = density(of["logpdf"], -np.inf, x, args, named)
        return value - np.log(scale)

    def pdf(x: Any, *args: Any, **named: Any) -> Any:
        if by_logarithm:
            return np.exp(logpdf(x, *args, **named))
        value, scale = density(of["pdf"], 0.0, x, args, named)
        return value / scale

    return {"logpdf": logpdf, "pdf": pdf}


def _shares(standard: Any, of: Any) -> dict[str, Callable[..., Any]]:
    """How much lies below a place, and how much above."""

    def share(formula: Any, below: Any, above: Any, x: Any, args: Any, named: Any) -> Any:
        shapes, loc, scale, is_one, low, high = standard(args, named)
        z = (array_of(x) - loc) / scale
        inside = is_one & (low < z) & (z < high)
        other = np.where(is_one & ~np.isnan(z), np.where(z <= low, below, above), np.nan)
        return _within(formula, inside, other, z, shapes)

    def cdf(x: Any, *args: Any, **named: Any) -> Any:
        return share(of["cdf"], 0.0, 1.0, x, args, named)

    def sf(x: Any, *args: Any, **named: Any) -> Any:
        return share(of["sf"], 1.0, 0.0, x, args, named)

    def logcdf(x: Any, *args: Any, **named: Any) -> Any:
        return share(of["logcdf"], -np.inf, 0.0, x, args, named)

    def logsf(x: Any, *args: Any, **named: Any) -> Any:
        return share(of["logsf"], 0.0, -np.inf, x, args, named)

    return {"cdf": cdf, "sf": sf, "logcdf": logcdf, "logsf": logsf}


def _quantiles(standard: Any, of: Any) -> dict[str, Callable[..., Any]]:
    def quantile(formula: Any, upwards: Any, q: Any, args: Any, named: Any) -> Any:
        shapes, loc, scale, is_one, low, high = standard(args, named)
        q = array_of(q)
        first, last = (low, high) if upwards else (high, low)
        ends = np.where(q == 0, first, np.where(q == 1, last, np.nan))
        other = np.where(is_one, ends, np.nan)
        return _within(formula, is_one & (q > 0) & (q < 1), other, q, shapes) * scale + loc

    def ppf(q: Any, *args: Any, **named: Any) -> Any:
        return quantile(of["ppf"], True, q, args, named)

    def isf(q: Any, *args: Any, **named: Any) -> Any:
        return quantile(of["isf"], False, q, args, named)

    return {"ppf": ppf, "isf": isf}


def discrete(distribution: Any, formulas: Any) -> dict[str, Callable[..., Any]]:
    """The methods of a distribution of whole numbers; formulas that are given stand for SciPy's."""
    names = names_of(distribution)

    def standard(k: Any, args: Any, named: Any) -> Any:
        *shapes, loc, _ = places(names, args, named)
        shapes = [array_of(shape) for shape in shapes]
        is_one = np.logical_and(distribution._argcheck(*shapes), True)
        return array_of(k) - loc, shapes, is_one

    def mass(formula: Any, outside: Any, k: Any, args: Any, named: Any) -> Any:
        k, shapes, is_one = standard(k, args, named)
        low, high = distribution._get_support(*shapes)
        inside = is_one & (low <= k) & (k <= high) & (np.floor(k) == k)
        return _within(formula, inside, np.where(is_one & ~np.isnan(k), outside, np.nan), k, shapes)

    def logpmf(k: Any, *args: Any, **named: Any) -> Any:
        if "logpmf" not in formulas:
            return mass(distribution._logpmf, -np.inf, k, args, named)
        k, shapes, is_one = standard(k, args, named)
        low, high = distribution._get_support(*shapes)
        inside = (low <= k) & (k <= high) & (np.floor(k) == k)
        value = np.where(inside, formulas["logpmf"](k, *shapes), np.where(np.isnan(k), k, -np.inf))
        return np.where(is_one, value, np.nan)[()]

    def pmf(k: Any, *args: Any, **named: Any) -> Any:
        if "logpmf" in formulas:
            return np.exp(logpmf(k, *args, **named))
        return mass(distribution._pmf, 0.0, k, args, named)

    def share(formula: Any, below: Any, above: Any, k: Any, args: Any, named: Any) -> Any:
        k, shapes, is_one = standard(k, args, named)
        low, high = distribution._get_support(*shapes)
        other = np.where(is_one & ~np.isnan(k), np.where(k < low, below, above), np.nan)
        return _within(formula, is_one & (low <= k) & (k < high), other, np.floor(k), shapes)

    def cdf(k: Any, *args: Any, **named: Any) -> Any:
        return share(formulas.get("cdf", distribution._cdf), 0.0, 1.0, k, args, named)

    def sf(k: Any, *args: Any, **named: Any) -> Any:
        return share(formulas.get("sf", distribution._sf), 1.0, 0.0, k, args, named)

    def logcdf(k: Any, *args: Any, **named: Any) -> Any:
        return np.log(cdf(k, *args, **named))

    def logsf(k: Any, *args: Any, **named: Any) -> Any:
        return np.log(sf(k, *args, **named))

    return {"logpmf": logpmf, "pmf": pmf, "cdf": cdf, "sf": sf, "logcdf": logcdf, "logsf": logsf}


def apply_where(
    cond: Any, args: Any, f1: Any, f2: Any = None, /, *, fill_value: Any = None, xp: Any = None
) -> Any:
    """`apply_where` of the array API, which SciPy's formulas call."""
    args = args if isinstance(args, tuple) else (args,)
    if f2 is None:
        return _within(f1, cond, fill_value, args[0], args[1:])
    other = _within(f2, np.logical_not(cond), 0.0, args[0], args[1:])
    return _within(f1, cond, other, args[0], args[1:])


class At:
    """`array_api_extra.at`: what is done to items of an array, which is one that can be written to."""

    def __init__(self, x: Any, idx: Any = None, /):
        self.x = x
        self.idx = idx

    def __getitem__(self, idx: Any) -> At:
        return At(self.x, idx)

    def set(self, y: Any, /, copy: Any = None, xp: Any = None) -> Any:
        x = np.array(self.x) if copy else self.x
        x[self.idx] = y
        return x

    def add(self, y: Any, /, copy: Any = None, xp: Any = None) -> Any:
        return self.set(self.x[self.idx] + y, copy)

    def subtract(self, y: Any, /, copy: Any = None, xp: Any = None) -> Any:
        return self.set(self.x[self.idx] - y, copy)

    def multiply(self, y: Any, /, copy: Any = None, xp: Any = None) -> Any:
        return self.set(self.x[self.idx] * y, copy)

    def divide(self, y: Any, /, copy: Any = None, xp: Any = None) -> Any:
        return self.set(self.x[self.idx] / y, copy)
