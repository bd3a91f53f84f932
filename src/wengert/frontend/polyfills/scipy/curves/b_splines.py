"""SciPy's B-splines, in Python: the front end reads these instead.

Where coefficients are arrays, their axis along the knots comes first in here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import interpolate  # pyright: ignore[reportMissingTypeStubs]

from .....ops.arrays.creation import gather as array_of
from .....ops.program.refusals import FORMULA, uncovered
from .cubics import cubic_spline, in_front, in_place, solved, widened


class Basis:
    """`scipy.interpolate.BSpline`, by de Boor's recurrence."""

    def __init__(self, t: Any, c: Any, k: Any, extrapolate: Any = True, axis: Any = 0):
        self.t = t
        self.c = c
        self.k = k
        self.extrapolate = extrapolate
        self.axis = axis

    def __call__(self, x: Any, nu: Any = 0, extrapolate: Any = None) -> Any:
        at, beyond = array_of(x), self.extrapolate if extrapolate is None else extrapolate
        if nu > 0:
            return self.derivative(nu)(x, 0, beyond)
        t, k, rank = self.t, self.k, np.ndim(self.c) - 1
        last = np.shape(t)[0] - k - 2
        if isinstance(beyond, str):
            at = t[k] + (at - t[k]) % (t[last + 1] - t[k])
        place = np.clip(np.searchsorted(t, at, side="right") - 1, k, last)
        d = de_boor(t, k, place, at, [self.c[place - k + j] for j in range(k + 1)], rank)
        if not beyond:
            outside = (at < t[k]) | (at > t[last + 1])
            d = np.where(widened(outside, rank), np.nan, d)
        return in_place(d, np.ndim(at), self.axis)

    def derivative(self, nu: Any = 1) -> Any:
        t, c, k = self.t, self._coefficients(), self.k
        for _ in range(nu):
            if k == 0:
                c = 0.0 * c
            else:
                widths = widened(t[k + 1 : -1] - t[1 : -k - 1], np.ndim(c) - 1)
                c = k * np.diff(c, axis=0) / np.where(widths == 0.0, 1.0, widths)
                t, k = t[1:-1], k - 1
        return Basis(t, c, k, self.extrapolate, self.axis)

    def antiderivative(self, nu: Any = 1) -> Any:
        t, c, k = self.t, self._coefficients(), self.k
        for _ in range(nu):
            widths = widened(t[k + 1 :] - t[: -k - 1], np.ndim(c) - 1)
            sums = np.cumsum(c * widths, axis=0) / (k + 1)
            c = np.concatenate((0.0 * c[:1], sums))
            t, k = np.concatenate((t[:1], t, t[-1:])), k + 1
        beyond = self.extrapolate and not isinstance(self.extrapolate, str)
        return Basis(t, c, k, beyond, self.axis)

    def integrate(self, a: Any, b: Any) -> Any:
        if isinstance(self.extrapolate, str) or not self.extrapolate:
            raise uncovered("an integral of a spline that ends, or is periodic", FORMULA)
        whole = self.antiderivative()
        return whole(b) - whole(a)

    def _coefficients(self) -> Any:
        return self.c[: np.shape(self.t)[0] - self.k - 1]


def de_boor(t: Any, k: Any, place: Any, at: Any, d: Any, rank: Any = 0) -> Any:
    """A spline by de Boor's recurrence, from the coefficients `d` that matter between two knots."""
    for r in range(1, k + 1):
        for j in range(k, r - 1, -1):
            left, right = t[place + j - k], t[place + j + 1 - r]
            alpha = widened((at - left) / (right - left), rank)
            d[j] = (1 - alpha) * d[j - 1] + alpha * d[j]
    return d[k]


def b_spline(t: Any, c: Any, k: Any, extrapolate: Any = True, axis: Any = 0) -> Any:
    """`scipy.interpolate.BSpline`."""
    return Basis(array_of(t), in_front(c, axis), k, extrapolate, axis % np.ndim(c))


def _values_of_basis(t: Any, k: Any, x: Any) -> Any:
    """The basis splines at some points: a row for each of these."""
    return Basis(t, np.eye(np.shape(t)[0] - k - 1), k)(x)


def make_interp_spline(
    x: Any, y: Any, k: Any = 3, *, bc_type: Any = None, axis: Any = 0, check_finite: Any = True
) -> Any:
    """`scipy.interpolate.make_interp_spline` with knots of its own choice."""
    axis, x, y = axis % np.ndim(y), array_of(x), in_front(y, axis)
    if bc_type is not None:
        if k != 3 or not isinstance(bc_type, str):
            raise uncovered("make_interp_spline with these conditions at its ends", FORMULA)
        return cubic_spline(x, np.moveaxis(y, 0, axis), axis, bc_type)
    if k == 0:
        return Basis(np.concatenate((x, x[-1:])), y, 0, True, axis)
    inner = x if k % 2 == 1 else (x[1:] + x[:-1]) / 2
    away = (k + 1) // 2
    start, end = np.repeat(x[:1], k + 1), np.repeat(x[-1:], k + 1)
    t = np.concatenate((start, inner[away:-away], end))
    return Basis(t, solved(_values_of_basis(t, k, x), y), k, True, axis)


def make_lsq_spline(
    x: Any, y: Any, t: Any, k: Any = 3, w: Any = None, axis: Any = 0, check_finite: Any = True
) -> Any:
    """`scipy.interpolate.make_lsq_spline`, by its normal equations."""
    axis, x, y, t = axis % np.ndim(y), array_of(x), in_front(y, axis), array_of(t)
    values = _values_of_basis(t, k, x)
    weighted = values if w is None else values * np.expand_dims(array_of(w) ** 2, 1)
    right = np.tensordot(weighted, y, axes=(0, 0))
    return Basis(t, solved(weighted.T @ values, right), k, True, axis)


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (interpolate.BSpline, b_spline),
    (interpolate.make_interp_spline, make_interp_spline),
    (interpolate.make_lsq_spline, make_lsq_spline),
]
