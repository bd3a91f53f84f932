"""Draws from a distribution whose parameters have derivatives, as functions of a draw that has none.

The front end reads these instead of the methods of NumPy's and Python's generators: what is drawn is the same
number, and it moves with the parameters while the generator stays as it is (the pathwise derivative). For the
shape of a gamma or a beta distribution there is no such formula: those draws have no derivative.

Source: Glasserman, "Monte Carlo Methods in Financial Engineering", 2003, section 7.2; Devroye, "Non-Uniform
Random Variate Generation", 1986, for the transformations.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def _size(size: Any, *parameters: Any) -> Any:
    """How many numbers to draw, if as many as the parameters are: None for one."""
    shape = np.broadcast_shapes(*map(np.shape, parameters))
    if size is None:
        return None if shape == () else shape
    if shape != ():
        wanted = (size,) if isinstance(size, (int, np.integer)) else tuple(size)
        together = np.broadcast_shapes(wanted, shape)
        if together != wanted:
            raise ValueError(
                f"Output size {wanted} is not compatible with broadcast dimensions of inputs {together}."
            )
    return size


def _double(value: Any) -> Any:
    """A parameter as NumPy draws with it: in double precision."""
    return float(value) if np.ndim(value) == 0 else np.asarray(value, np.float64)


def _not_negative(value: Any, name: str) -> Any:
    value = _double(value)
    if np.any(value < 0):
        raise ValueError(f"{name} < 0")
    return value


# --- of NumPy -----------------------------------------------------------------------------


def normal(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    scale = _not_negative(scale, "scale")
    return _double(loc) + scale * generator.standard_normal(_size(size, loc, scale))


def lognormal(generator: Any, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
    sigma = _not_negative(sigma, "sigma")
    return np.exp(_double(mean) + sigma * generator.standard_normal(_size(size, mean, sigma)))


def uniform(generator: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    low, high = _double(low), _double(high)
    return low + (high - low) * generator.uniform(0.0, 1.0, _size(size, low, high))


def uniform_in_order(generator: Any, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
    if np.any(_double(high) < _double(low)):
        raise ValueError("high - low < 0")
    return uniform(generator, low, high, size)


def exponential(generator: Any, scale: Any = 1.0, size: Any = None) -> Any:
    scale = _not_negative(scale, "scale")
    return scale * generator.standard_exponential(_size(size, scale))


def rayleigh(generator: Any, scale: Any = 1.0, size: Any = None) -> Any:
    scale = _not_negative(scale, "scale")
    return scale * generator.rayleigh(1.0, _size(size, scale))


def laplace(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    scale = _not_negative(scale, "scale")
    return _double(loc) + scale * generator.laplace(0.0, 1.0, _size(size, loc, scale))


def logistic(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    scale = _not_negative(scale, "scale")
    return _double(loc) + scale * generator.logistic(0.0, 1.0, _size(size, loc, scale))


def gumbel(generator: Any, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
    scale = _not_negative(scale, "scale")
    return _double(loc) + scale * generator.gumbel(0.0, 1.0, _size(size, loc, scale))


def weibull(generator: Any, a: Any, size: Any = None) -> Any:
    a = _not_negative(a, "a")
    return generator.standard_exponential(_size(size, a)) ** (1.0 / a)


def pareto(generator: Any, a: Any, size: Any = None) -> Any:
    a = _double(a)
    if np.any(a <= 0):
        raise ValueError("a <= 0")
    return np.expm1(generator.standard_exponential(_size(size, a)) / a)


def gamma(generator: Any, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
    scale = _not_negative(scale, "scale")
    return scale * generator.standard_gamma(shape, _size(size, shape, scale))


# --- of Python ----------------------------------------------------------------------------


def gauss(generator: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + generator.gauss(0.0, 1.0) * sigma


def normalvariate(generator: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return mu + generator.normalvariate(0.0, 1.0) * sigma


def lognormvariate(generator: Any, mu: Any = 0.0, sigma: Any = 1.0) -> Any:
    return math.exp(mu + generator.normalvariate(0.0, 1.0) * sigma)


def uniform_number(generator: Any, a: Any, b: Any) -> Any:
    return a + (b - a) * generator.random()


def expovariate(generator: Any, lambd: Any = 1.0) -> Any:
    return generator.expovariate(1.0) / lambd


def paretovariate(generator: Any, alpha: Any) -> Any:
    return (1.0 - generator.random()) ** (-1.0 / alpha)


def weibullvariate(generator: Any, alpha: Any, beta: Any) -> Any:
    return alpha * (-math.log(1.0 - generator.random())) ** (1.0 / beta)


def triangular(generator: Any, low: Any = 0.0, high: Any = 1.0, mode: Any = None) -> Any:
    u = generator.random()
    if mode is not None and high == low:
        return low
    c = 0.5 if mode is None else (mode - low) / (high - low)
    if u > c:
        return high + (low - high) * math.sqrt((1.0 - u) * (1.0 - c))
    return low + (high - low) * math.sqrt(u * c)


def gammavariate(generator: Any, alpha: Any, beta: Any) -> Any:
    return beta * generator.gammavariate(alpha, 1.0)


OF_OLD_NUMPY: dict[str, Callable[..., Any]] = {
    each.__name__: each
    for each in (
        normal, lognormal, uniform, exponential, rayleigh, laplace, logistic, gumbel, weibull, pareto, gamma,
    )
}  # fmt: skip
OF_NUMPY = {**OF_OLD_NUMPY, "uniform": uniform_in_order}
OF_PYTHON: dict[str, Callable[..., Any]] = {
    "uniform": uniform_number,
    **{
        each.__name__: each
        for each in (
            gauss, normalvariate, lognormvariate, expovariate, paretovariate, weibullvariate, triangular, gammavariate,
        )
    },
}  # fmt: skip
