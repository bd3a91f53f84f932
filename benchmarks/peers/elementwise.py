"""The elementwise problems: apart, because importing SciPy takes longer than most first gradients."""

import math

import numpy as np
from problems import ELEMENTWISE, Problem
from scipy.special import erf


def black_scholes(s, k, t):
    root = 0.2 * np.sqrt(t)
    d = (np.log(s / k) + 0.05 * t) / root
    e = d - root
    call = s * 0.5 * (1 + erf(d / math.sqrt(2))) - k * np.exp(-0.03 * t) * 0.5 * (
        1 + erf(e / math.sqrt(2))
    )
    return np.sum(call)


def softplus_of_gelu(x):
    gelu = 0.5 * x * (1 + np.tanh(0.7978845608028654 * (x + 0.044715 * x**3)))
    y = 1.5 * gelu + 0.3
    return np.sum(np.maximum(y, 0) + np.log1p(np.exp(-np.abs(y))))


def problems_of(many: int) -> list[Problem]:
    """Both, over so many elements."""
    rng = np.random.default_rng(2)
    options = tuple(rng.uniform(0.5, 2.0, many) for _ in range(3))
    return [
        Problem("Black–Scholes", ELEMENTWISE, black_scholes, options, (0, 1, 2), 1.2),
        Problem("softplus∘GELU", ELEMENTWISE, softplus_of_gelu, (rng.normal(size=many),), 0, 1.2),
    ]
