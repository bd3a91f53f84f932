"""SciPy's functions of whole arrays that models use, in terms of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs]
from scipy.special._ufuncs import (
    _spherical_in,  # pyright: ignore[reportPrivateUsage]
    _spherical_in_d,  # pyright: ignore[reportPrivateUsage]
    _spherical_jn,  # pyright: ignore[reportPrivateUsage]
    _spherical_jn_d,  # pyright: ignore[reportPrivateUsage]
    _spherical_kn,  # pyright: ignore[reportPrivateUsage]
    _spherical_kn_d,  # pyright: ignore[reportPrivateUsage]
    _spherical_yn,  # pyright: ignore[reportPrivateUsage]
    _spherical_yn_d,  # pyright: ignore[reportPrivateUsage]
)

from ....ops.arrays.creation import gather as array_of
from ..same_names import same_names


def _top(a: Any, axis: Any) -> Any:
    """The largest entry, which exponentials are taken relative to."""
    top = np.max(a, axis=axis, keepdims=True)
    return np.where(np.isfinite(top), top, 0.0)


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False) -> Any:
    """`scipy.special.logsumexp`."""
    a = array_of(a)
    top = _top(a if b is None else np.where(np.equal(b, 0), -np.inf, a), axis)
    shifted = a - top
    if b is not None:  # a large term may have the weight 0: its power would be infinite
        shifted = np.minimum(shifted, -np.log(np.finfo(shifted.dtype).tiny))
    powers = np.exp(shifted) if b is None else b * np.exp(shifted)
    total = np.sum(powers, axis=axis, keepdims=True)
    nothing = np.equal(total, 0)  # whose logarithm has no slope that could be used
    sums = np.where(nothing, -np.inf, np.log(np.where(nothing, 1.0, total)) + top)
    if keepdims:
        return sums
    return np.reshape(sums, ())[()] if axis is None else np.squeeze(sums, axis)


def softmax(x: Any, axis: Any = None) -> Any:
    """`scipy.special.softmax`."""
    x = array_of(x)
    powers = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return powers / np.sum(powers, axis=axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """`scipy.special.log_softmax`."""
    x = array_of(x)
    shifted = x - np.max(x, axis=axis, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=axis, keepdims=True))


def multigammaln(a: Any, d: Any) -> Any:
    """`scipy.special.multigammaln`."""
    constant = d * (d - 1) * 0.25 * 1.1447298858494002  # log π
    total = constant + special.gammaln(a)
    for j in range(2, d + 1):
        total = total + special.gammaln(a - (j - 1.0) / 2)
    return total


def _mirrored(function: Any, sign: Any, n: Any, z: Any) -> Any:
    """A function at real z below 0 by its value at -z: `sign` times that if n is even."""
    z = array_of(z)
    if np.iscomplexobj(z):
        return function(n, z)
    even = np.equal(np.mod(n, 2), 0)
    return np.where(z < 0, np.where(even, sign, -sign), 1.0) * function(n, np.where(z < 0, -z, z))


def _spherical(function: Any, slope: Any, sign: Any) -> Callable[..., Any]:
    """A spherical Bessel function: `sign` says whether that of order 0 is even."""

    def spherical(n: Any, z: Any, derivative: Any = False) -> Any:
        if derivative:
            return _mirrored(slope, -sign, n, z)
        return _mirrored(function, sign, n, z)

    return spherical


spherical_jn = _spherical(_spherical_jn, _spherical_jn_d, 1.0)
spherical_yn = _spherical(_spherical_yn, _spherical_yn_d, -1.0)
spherical_in = _spherical(_spherical_in, _spherical_in_d, 1.0)


def spherical_kn(n: Any, z: Any, derivative: Any = False) -> Any:
    """`scipy.special.spherical_kn`; of a real number below 0, the real part."""
    function = _spherical_kn_d if derivative else _spherical_kn
    z = array_of(z)
    if np.iscomplexobj(z) or np.all(z >= 0):
        return function(n, z)
    return np.real(function(n, z + 0j))


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = same_names(special, globals())
