"""Functions of SciPy's kind that SciPy does not have."""

from __future__ import annotations

from typing import Any

import numpy as np


def psi_derivative(z: Any, *, order: int) -> Any:
    """The derivative of that order, at least 1, of the digamma function, also at complex numbers.

    There SciPy has none: recurrence leads to where its asymptotic series holds (NIST Digital Library of
    Mathematical Functions, 5.15).
    """
    from math import factorial

    from scipy.special import polygamma  # pyright: ignore[reportMissingTypeStubs]

    if not np.iscomplexobj(z):
        return polygamma(order, z)
    z, total = np.asarray(z, dtype=complex), 0.0
    while np.any(near := z.real < 12 + order):
        total = total + np.where(near, factorial(order) * z ** -(order + 1), 0.0)
        z = z + near
    bernoulli = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
    total = total + factorial(order - 1) * z**-order + 0.5 * factorial(order) * z ** -(order + 1)
    for k, b in enumerate(bernoulli, start=1):
        rising = factorial(2 * k + order - 1) / factorial(2 * k)
        total = total + b * rising * z ** -(2 * k + order)
    return ((-1) ** (order + 1) * total)[()]


def faddeeva(z: Any, *, order: int) -> Any:
    """The derivative of that order of the Faddeeva function w(z) = exp(-z²) erfc(-iz).

    They follow from w⁽ⁿ⁺¹⁾ + 2z w⁽ⁿ⁾ + 2n w⁽ⁿ⁻¹⁾ = 0. Far from 0, in the wings of a spectral line, that
    cancels; there their ratios are computed from high orders down.
    """
    from scipy.special import wofz  # pyright: ignore[reportMissingTypeStubs]

    z = np.asarray(z, dtype=complex)
    value = wofz(z)
    far = abs(z) > 7.0
    wings = np.where(far, z, 7.0)
    ratio, product = 0.0 * wings, value
    for n in range(order + 20, 0, -1):
        ratio = -2 * n / (2 * wings + ratio)
        product = product * ratio if n <= order else product
    before, last = value, 1.1283791670955126j - 2 * z * value  # 2i / √π
    for n in range(1, order):
        before, last = last, -2 * (z * last + n * before)
    return np.where(far, product, last if order else value)[()]
