"""SciPy's functions of whole arrays that models use, in terms of NumPy's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from ..ops.creation import gather as array_of


def _top(a: Any, axis: Any) -> Any:
    """The largest entry, which exponentials are taken relative to."""
    top = np.max(a, axis=axis, keepdims=True)
    return np.where(np.isfinite(top), top, 0.0)


def logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: Any = False) -> Any:
    """`scipy.special.logsumexp`."""
    a = array_of(a)
    top = _top(a if b is None else np.where(np.equal(b, 0), -np.inf, a), axis)
    powers = np.exp(a - top) if b is None else b * np.exp(a - top)
    sums = np.log(np.sum(powers, axis=axis, keepdims=True)) + top
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


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (special.logsumexp, logsumexp),
    (special.softmax, softmax),
    (special.log_softmax, log_softmax),
    (special.multigammaln, multigammaln),  # pyright: ignore[reportAttributeAccessIssue]
]
