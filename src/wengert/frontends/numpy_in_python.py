"""NumPy's functions that are best said in Python: the front end reads these instead.

Each gives what NumPy's gives, by functions that have rules. Options that are missing here are refused
by name. An op called by its own name is the op itself, not read again.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.creation import gather as array_of
from ..ops.factorisations import least_squares, svdvals
from ..ops.questions import may_be_nan
from ..ops.reduction import exponent_of
from ..ops.selection import take as take_op
from ..ops.statistics import (
    delete_places,
    insert_places,
    running_places,
    spread_mask,
    unique_places,
)

# --- axes ---------------------------------------------------------------------------------


def _last(x: Any, axis: Any) -> Any:
    """`x` with an axis moved to the end."""
    return x if axis == -1 else np.moveaxis(x, axis, -1)


def _back(x: Any, axis: Any) -> Any:
    """`x` with its last axis moved back."""
    return x if axis == -1 else np.moveaxis(x, -1, axis)


def _as_axes(axis: Any) -> Any:
    return axis if isinstance(axis, tuple) else (axis,)


# --- means and sums -----------------------------------------------------------------------


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False
) -> Any:
    """`np.average`."""
    a = array_of(a)
    if weights is None:
        mean = np.mean(a, axis=axis, keepdims=keepdims)
        return (mean, np.full(np.shape(mean), np.size(a) / np.size(mean))) if returned else mean
    weights = array_of(weights)
    if axis is not None and np.ndim(weights) != np.ndim(a):
        total = np.sum(weights)
        mean = np.sum(_last(a, axis) * weights, axis=-1) / total
        mean = np.expand_dims(mean, axis) if keepdims else mean
    else:
        total = np.sum(weights, axis=axis, keepdims=keepdims)
        mean = np.sum(a * weights, axis=axis, keepdims=keepdims) / total
    return (mean, np.broadcast_to(total, np.shape(mean))) if returned else mean


def cov(m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None) -> Any:
    """`np.cov` of observations that all count once."""
    rows = _variables(m, rowvar)
    if y is not None:
        rows = np.concatenate((rows, _variables(y, rowvar)), axis=0)
    less = (0 if bias else 1) if ddof is None else ddof
    deviation = rows - np.mean(rows, axis=1, keepdims=True)
    matrix = deviation @ np.conj(np.transpose(deviation)) / (np.shape(rows)[1] - less)
    return np.squeeze(matrix) if y is None and np.ndim(m) < 2 else matrix


def _variables(m: Any, rowvar: Any) -> Any:
    m = array_of(m)
    if np.ndim(m) < 2:
        return np.reshape(m, (1, -1))
    return m if rowvar else np.transpose(m)


def corrcoef(x: Any, y: Any = None, rowvar: Any = True) -> Any:
    """`np.corrcoef`."""
    matrix = cov(x, y, rowvar)
    if np.ndim(matrix) == 0:
        return matrix / matrix
    spread = np.sqrt(np.real(np.diagonal(matrix)))
    return matrix / np.expand_dims(spread, 1) / np.expand_dims(spread, 0)


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Any:
    """`np.cumulative_sum`."""
    along = 0 if axis is None else axis
    sums = np.cumsum(x, axis=along, dtype=dtype)
    if include_initial:
        return np.concatenate((0 * np.take(sums, [0], axis=along), sums), axis=along)
    return sums


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Any:
    """`np.cumulative_prod`."""
    along = 0 if axis is None else axis
    products = np.cumprod(x, axis=along, dtype=dtype)
    if include_initial:
        start = np.ones_like(np.take(products, [0], axis=along))
        return np.concatenate((start, products), axis=along)
    return products


# --- without NaN --------------------------------------------------------------------------


def _filled(a: Any, value: Any) -> Any:
    return np.where(np.isnan(a), value, a) if may_be_nan(a) else a


def _counted(a: Any, axis: Any, keepdims: Any) -> Any:
    return np.sum(~np.isnan(a), axis=axis, keepdims=keepdims)


def nansum(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    """`np.nansum`."""
    return np.sum(_filled(a, np.zeros_like(a)), axis=axis, dtype=dtype, keepdims=keepdims)


def nanprod(a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Any:
    """`np.nanprod`."""
    return np.prod(_filled(a, np.ones_like(a)), axis=axis, dtype=dtype, keepdims=keepdims)


def nanmean(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """`np.nanmean`."""
    total = np.sum(_filled(a, 0.0), axis=axis, keepdims=keepdims)
    return _mean_of(a, total, _counted(a, axis, keepdims))


def _mean_of(a: Any, total: Any, count: Any) -> Any:
    """A mean of what an array holds; that of floats of 32 bits is one, too."""
    mean = total / count
    return mean.astype(total.dtype) if may_be_nan(a) else mean


def nanvar(a: Any, axis: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    """`np.nanvar`."""
    spread = a - nanmean(a, axis=axis, keepdims=True)
    squares = np.abs(np.where(np.isnan(a), 0.0, spread) if may_be_nan(a) else spread) ** 2
    total = np.sum(squares, axis=axis, keepdims=keepdims)
    return _mean_of(a, total, _counted(a, axis, keepdims) - ddof)


def nanstd(a: Any, axis: Any = None, *, ddof: Any = 0, keepdims: Any = False) -> Any:
    """`np.nanstd`."""
    return np.sqrt(nanvar(a, axis=axis, ddof=ddof, keepdims=keepdims))


def nanmax(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """`np.nanmax`."""
    largest = np.max(_filled(a, -np.inf), axis=axis, keepdims=keepdims)
    if not may_be_nan(a):
        return largest
    return np.where(np.all(np.isnan(a), axis=axis, keepdims=keepdims), np.nan, largest)[()]


def nanmin(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """`np.nanmin`."""
    smallest = np.min(_filled(a, np.inf), axis=axis, keepdims=keepdims)
    if not may_be_nan(a):
        return smallest
    return np.where(np.all(np.isnan(a), axis=axis, keepdims=keepdims), np.nan, smallest)[()]


def nanargmax(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """`np.nanargmax`."""
    return np.argmax(_filled(a, -np.inf), axis=axis, keepdims=keepdims)


def nanargmin(a: Any, axis: Any = None, *, keepdims: Any = False) -> Any:
    """`np.nanargmin`."""
    return np.argmin(_filled(a, np.inf), axis=axis, keepdims=keepdims)


def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """`np.nancumsum`."""
    return np.cumsum(_filled(a, 0.0), axis=axis, dtype=dtype)


def nancumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """`np.nancumprod`."""
    return np.cumprod(_filled(a, 1.0), axis=axis, dtype=dtype)


# --- differences and integrals ------------------------------------------------------------


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    """`np.ediff1d`."""
    parts = [np.diff(np.ravel(ary))]
    if to_begin is not None:
        parts = [np.ravel(to_begin), *parts]
    if to_end is not None:
        parts = [*parts, np.ravel(to_end)]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: Any = -1) -> Any:
    """`np.trapezoid`."""
    y = _last(array_of(y), axis)
    means = (y[..., 1:] + y[..., :-1]) / 2.0
    if x is None:
        return np.sum(dx * means, axis=-1)
    x = array_of(x)
    return np.sum(np.diff(x if np.ndim(x) == 1 else _last(x, axis)) * means, axis=-1)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """`np.gradient`."""
    f = array_of(f)
    axes = tuple(range(np.ndim(f))) if axis is None else _as_axes(axis)
    spacings = varargs or (1.0,)
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        spacings = [spacings[0] for _ in axes]
    slopes = [_slope(f, h, k, edge_order) for h, k in zip(spacings, axes, strict=True)]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _slope(f: Any, spacing: Any, axis: Any, edge_order: Any) -> Any:
    f = _last(f, axis)
    if np.ndim(spacing) == 0:
        inside = (f[..., 2:] - f[..., :-2]) / (2.0 * spacing)
        first, second, butlast, last = spacing, spacing, spacing, spacing
    else:
        h = np.diff(spacing)
        a, b = h[:-1], h[1:]
        inside = (
            -b / (a * (a + b)) * f[..., :-2]
            + (b - a) / (a * b) * f[..., 1:-1]
            + a / (b * (a + b)) * f[..., 2:]
        )
        first, second, butlast, last = h[0], h[min(1, len(h) - 1)], h[max(-2, -len(h))], h[-1]
    if edge_order == 1:
        start = (f[..., 1:2] - f[..., :1]) / first
        end = (f[..., -1:] - f[..., -2:-1]) / last
    else:
        start = _edge(first, second, f[..., :1], f[..., 1:2], f[..., 2:3])
        end = -_edge(last, butlast, f[..., -1:], f[..., -2:-1], f[..., -3:-2])
    return _back(np.concatenate((start, inside, end), axis=-1), axis)


def _edge(a: Any, b: Any, f: Any, g: Any, h: Any) -> Any:
    """The slope at f of the parabola through f, g and h, at distances a and b."""
    return -(2.0 * a + b) / (a * (a + b)) * f + (a + b) / (a * b) * g - a / (b * (a + b)) * h


def unwrap(p: Any, discont: Any = None, axis: Any = -1, *, period: Any = 2 * np.pi) -> Any:
    """`np.unwrap`: the whole periods that it adds do not move."""
    p = array_of(p)
    jumps = np.diff(p, axis=axis)
    high = period / 2
    wrapped = np.mod(jumps + high, period) - high
    wrapped = np.where((wrapped == -high) & (jumps > 0), high, wrapped)
    limit = high if discont is None else discont
    periods = np.round(np.where(np.abs(jumps) < limit, 0.0, wrapped - jumps) / period)
    shifts = np.cumsum(periods, axis=axis)
    start = np.zeros_like(np.take(p, [0], axis=axis))
    return p + period * np.concatenate((start, shifts), axis=axis)


def kaiser(M: Any, beta: Any) -> Any:
    """`np.kaiser`."""
    if M == 1:
        return np.ones(1)
    place = (np.arange(M) - (M - 1) / 2.0) / ((M - 1) / 2.0)
    return np.i0(beta * np.sqrt(1 - place**2)) / np.i0(beta)


# --- Fourier transforms over several axes ---------------------------------------------------


def _transformed(transform: Any, a: Any, s: Any, axes: Any, norm: Any) -> Any:
    a = array_of(a)
    for k in reversed(range(len(axes))):
        a = transform(a, n=None if s is None or s[k] == -1 else s[k], axis=axes[k], norm=norm)
    return a


def _axes_of(a: Any, s: Any, axes: Any) -> Any:
    if axes is not None:
        return tuple(axes)
    return tuple(range(np.ndim(a))) if s is None else tuple(range(-len(s), 0))


def fftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.fftn`."""
    return _transformed(np.fft.fft, a, s, _axes_of(a, s, axes), norm)


def ifftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.ifftn`."""
    return _transformed(np.fft.ifft, a, s, _axes_of(a, s, axes), norm)


def fft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`np.fft.fft2`."""
    return fftn(a, s, axes, norm)


def ifft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`np.fft.ifft2`."""
    return ifftn(a, s, axes, norm)


def rfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.rfftn`."""
    axes = _axes_of(a, s, axes)
    half = np.fft.rfft(a, n=None if s is None or s[-1] == -1 else s[-1], axis=axes[-1], norm=norm)
    return _transformed(np.fft.fft, half, None if s is None else s[:-1], axes[:-1], norm)


def irfftn(a: Any, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """`np.fft.irfftn`."""
    axes = _axes_of(a, s, axes)
    whole = _transformed(np.fft.ifft, a, None if s is None else s[:-1], axes[:-1], norm)
    n = None if s is None or s[-1] == -1 else s[-1]
    return np.fft.irfft(whole, n=n, axis=axes[-1], norm=norm)


def rfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`np.fft.rfft2`."""
    return rfftn(a, s, axes, norm)


def irfft2(a: Any, s: Any = None, axes: Any = (-2, -1), norm: Any = None) -> Any:
    """`np.fft.irfft2`."""
    return irfftn(a, s, axes, norm)


_OPPOSITE: dict[Any, Any] = {
    None: "forward",
    "backward": "forward",
    "ortho": "ortho",
    "forward": "backward",
}


def hfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`np.fft.hfft`."""
    return np.fft.irfft(np.conj(a), n=n, axis=axis, norm=_OPPOSITE[norm])


def ihfft(a: Any, n: Any = None, axis: Any = -1, norm: Any = None) -> Any:
    """`np.fft.ihfft`."""
    return np.conj(np.fft.rfft(a, n=n, axis=axis, norm=_OPPOSITE[norm]))


# --- linear algebra -----------------------------------------------------------------------


def lstsq(a: Any, b: Any, rcond: Any = None) -> Any:
    """`np.linalg.lstsq`."""
    solution = least_squares(a, b, rcond=rcond)
    rank = np.linalg.matrix_rank(a) if rcond is None else np.linalg.matrix_rank(a, rtol=rcond)
    m, n = np.shape(a)
    left = np.atleast_1d(np.sum(np.abs(b - a @ solution) ** 2, axis=0))
    return solution, left if rank == n and m > n else np.zeros(0), rank, svdvals(a)


def cond(x: Any, p: Any = None) -> Any:
    """`np.linalg.cond`."""
    if p is None or p in (2, -2):
        values = svdvals(x)
        largest, smallest = values[..., 0], values[..., -1]
        return smallest / largest if p == -2 else largest / smallest
    return np.linalg.norm(x, p, axis=(-2, -1)) * np.linalg.norm(np.linalg.inv(x), p, axis=(-2, -1))


def multi_dot(arrays: Any) -> Any:
    """`np.linalg.multi_dot`: from the side where there is a vector, or where it is cheaper."""
    arrays = [array_of(a) for a in arrays]
    if len(arrays) == 3:
        a, b, c = arrays
        if np.ndim(a) == 1:
            return a @ b @ c
        if np.ndim(c) == 1:
            return a @ (b @ c)
        (k, m), (_, n) = np.shape(a), np.shape(b)
        p = np.shape(c)[1]
        return (a @ b) @ c if k * n * (m + p) < m * p * (n + k) else a @ (b @ c)
    if np.ndim(arrays[-1]) == 1:
        return functools.reduce(lambda x, y: y @ x, list(reversed(arrays)))
    return functools.reduce(lambda x, y: x @ y, arrays)


def tensorsolve(a: Any, b: Any, axes: Any = None) -> Any:
    """`np.linalg.tensorsolve`."""
    a, b = array_of(a), array_of(b)
    if axes is not None:
        others = [k for k in range(np.ndim(a)) if k not in axes]
        a = np.transpose(a, (*others, *axes))
    shape = np.shape(a)[np.ndim(b) :]
    solved = np.linalg.solve(np.reshape(a, (np.size(b), np.size(b))), np.ravel(b))
    return np.reshape(solved, shape)


def trace(x: Any, /, *, offset: Any = 0) -> Any:
    """`np.linalg.trace`."""
    return np.trace(x, offset, -2, -1)


def vecdot(x1: Any, x2: Any, /, *, axis: Any = -1) -> Any:
    """`np.vecdot`."""
    return np.sum(np.conj(x1) * x2, axis=axis)


def matvec(x1: Any, x2: Any, /) -> Any:
    """`np.matvec`."""
    return np.squeeze(x1 @ np.expand_dims(x2, -1), -1)


def vecmat(x1: Any, x2: Any, /) -> Any:
    """`np.vecmat`."""
    return np.squeeze(np.conj(np.expand_dims(x1, -2)) @ x2, -2)


def matrix_power(a: Any, n: Any) -> Any:
    """`np.linalg.matrix_power` where only the run knows the power."""
    a = np.linalg.inv(a) if n < 0 else array_of(a)
    left = abs(n)
    power = np.broadcast_to(np.eye(np.shape(a)[-1]), np.shape(a))
    while left > 0:
        if left % 2 == 1:
            power = power @ a
        left = left // 2
        if left > 0:
            a = a @ a
    return power


# --- polynomials --------------------------------------------------------------------------


def polymul(a1: Any, a2: Any) -> Any:
    """`np.polymul`."""
    return np.convolve(np.atleast_1d(a1), np.atleast_1d(a2))


def _as_long(a: Any, other: Any) -> Any:
    """Coefficients with zeros before them, where the other polynomial has more."""
    missing = max(0, np.shape(other)[0] - np.shape(a)[0])
    return np.concatenate((np.zeros(missing), a))


def polyadd(a1: Any, a2: Any) -> Any:
    """`np.polyadd`."""
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    return _as_long(a1, a2) + _as_long(a2, a1)


def polysub(a1: Any, a2: Any) -> Any:
    """`np.polysub`."""
    a1, a2 = np.atleast_1d(a1), np.atleast_1d(a2)
    return _as_long(a1, a2) - _as_long(a2, a1)


def polyder(p: Any, m: Any = 1) -> Any:
    """`np.polyder`."""
    p = np.atleast_1d(p)
    for _ in range(m):
        p = p[:-1] * np.arange(np.shape(p)[0] - 1, 0, -1)
    return p


def polyint(p: Any, m: Any = 1, k: Any = None) -> Any:
    """`np.polyint`."""
    p = np.atleast_1d(p)
    for j in range(m):
        constant = 0.0 if k is None else np.atleast_1d(k)[j if np.size(k) > 1 else 0]
        powers = np.arange(np.shape(p)[0], 0, -1)
        p = np.concatenate((p / powers, np.reshape(constant, (1,))))
    return p


def poly(seq_of_zeros: Any) -> Any:
    """`np.poly` of zeros, or of a matrix, whose zeros are its eigenvalues."""
    zeros = array_of(seq_of_zeros)
    if np.ndim(zeros) == 2:
        zeros = np.linalg.eigvals(zeros)
    coefficients = np.ones(1)
    for zero in zeros:
        coefficients = np.convolve(coefficients, np.stack((1.0 + 0.0 * zero, -zero)))
    return coefficients


def linspace_and_step(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = True,
    dtype: Any = None, axis: Any = 0,
) -> Any:  # fmt: skip
    """`np.linspace` with `retstep=True`."""
    steps = num - 1 if endpoint else num
    numbers = np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, axis=axis)
    return numbers, (stop - start) / steps if steps > 0 else np.nan


class Poly1d:
    """`np.poly1d`."""

    def __init__(self, c_or_r: Any, r: Any = False):
        self.c = poly(c_or_r) if r else np.atleast_1d(c_or_r)
        self.coeffs = self.c
        self.order = np.shape(self.c)[0] - 1

    def __call__(self, x: Any) -> Any:
        return np.polyval(self.c, x)

    def deriv(self, m: Any = 1) -> Any:
        return Poly1d(polyder(self.c, m))

    def integ(self, m: Any = 1, k: Any = None) -> Any:
        return Poly1d(polyint(self.c, m, k))

    def __neg__(self) -> Any:
        return Poly1d(-self.c)

    def __add__(self, other: Any) -> Any:
        return Poly1d(polyadd(self.c, _coefficients(other)))

    def __radd__(self, other: Any) -> Any:
        return self + other

    def __sub__(self, other: Any) -> Any:
        return Poly1d(polysub(self.c, _coefficients(other)))

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        return Poly1d(polymul(self.c, _coefficients(other)))

    def __rmul__(self, other: Any) -> Any:
        return self * other

    def __truediv__(self, other: Any) -> Any:
        return Poly1d(self.c / other)

    def __pow__(self, power: Any) -> Any:
        product = Poly1d(np.ones(1))
        for _ in range(power):
            product = product * self
        return product


def _coefficients(other: Any) -> Any:
    return other.c if isinstance(other, Poly1d) else np.atleast_1d(other)


def vander(x: Any, N: Any = None, increasing: Any = False) -> Any:
    """`np.vander`."""
    x = array_of(x)
    powers = np.arange(np.shape(x)[0] if N is None else N)
    return np.expand_dims(x, -1) ** (powers if increasing else powers[::-1])


def polyfit(x: Any, y: Any, deg: Any, rcond: Any = None, *, w: Any = None) -> Any:
    """`np.polyfit`."""
    x, y = array_of(x) + 0.0, array_of(y) + 0.0
    left = vander(x, deg + 1)
    if w is not None:
        left = left * np.expand_dims(w, -1)
        y = y * w if np.ndim(y) == 1 else y * np.expand_dims(w, -1)
    scale = np.sqrt(np.sum(left * left, axis=0))
    limit = np.shape(x)[0] * np.finfo(np.float64).eps if rcond is None else rcond
    scaled = least_squares(left / scale, y, rcond=limit)
    return np.transpose(np.transpose(scaled) / scale)


# --- functions of entries and of lanes ------------------------------------------------------


def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis`."""
    moved = _last(array_of(arr), axis)
    lead = np.shape(moved)[:-1]
    lanes = np.reshape(moved, (-1, np.shape(moved)[-1]))
    results = np.array([func1d(lane, *args, **kwargs) for lane in lanes])
    results = np.reshape(results, (*lead, *np.shape(results)[1:]))
    return _back(results, axis) if np.ndim(results) == np.ndim(moved) else results


def apply_over_axes(func: Any, a: Any, axes: Any) -> Any:
    """`np.apply_over_axes`."""
    for axis in axes if isinstance(axes, list | tuple) else (axes,):
        result = func(a, axis)
        a = result if np.ndim(result) == np.ndim(a) else np.expand_dims(result, axis)
    return a


def of_entries(function: Any, *args: Any) -> Any:
    """A function of numbers applied to each entry of arrays."""
    shape = np.broadcast_shapes(*[np.shape(arg) for arg in args])
    columns = [np.ravel(np.broadcast_to(arg, shape)) for arg in args]
    results = np.array([function(*entries) for entries in zip(*columns, strict=True)])
    return np.reshape(results, shape)


def vectorize(pyfunc: Any, otypes: Any = None, doc: Any = None) -> Any:
    """`np.vectorize` of a function that returns numbers."""
    return lambda *args: of_entries(pyfunc, *args)


def frompyfunc(func: Any, /, nin: Any, nout: Any) -> Any:
    """`np.frompyfunc` of a function that returns numbers."""
    return lambda *args: of_entries(func, *args)


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """`np.fromfunction`."""
    indices = np.indices(shape).astype(dtype)
    return function(*[indices[k] for k in range(len(shape))], **kwargs)


# --- choosing -----------------------------------------------------------------------------


def asarray_chkfinite(a: Any, dtype: Any = None) -> Any:
    """`np.asarray_chkfinite`."""
    a = np.asarray(a, dtype=dtype)
    if not np.all(np.isfinite(a)):
        raise ValueError("array must not contain infs or NaNs")
    return a


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """`np.select`."""
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = np.where(condition, choice, result)
    return result


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """`np.piecewise`."""
    x = array_of(x)
    conditions = condlist if isinstance(condlist, list | tuple) else [condlist]
    result = 0.0 * x
    if len(funclist) > len(conditions):
        none = np.logical_not(functools.reduce(np.logical_or, conditions))
        conditions = [*conditions, none]
    for condition, function in zip(conditions, funclist, strict=True):
        result = np.where(condition, _piece(function, x, condition, args, kw), result)
    return result


def _piece(function: Any, x: Any, condition: Any, args: Any, kw: Any) -> Any:
    if not callable(function):
        return function
    if np.ndim(x) == 0:
        return function(x, *args, **kw)
    part = x[condition]
    value: Any = function(part, *args, **kw)  # may be one number for all of them
    return spread_mask(value if np.ndim(value) else np.zeros_like(part) + value, condition)


def choose(a: Any, choices: Any, *, mode: Any = "raise") -> Any:
    """`np.choose`."""
    count = len(choices)
    if mode == "wrap":
        a = np.mod(a, count)
    elif mode == "clip":
        a = np.clip(a, 0, count - 1)
    elif np.any((np.asarray(a) < 0) | (np.asarray(a) >= count)):
        raise ValueError("invalid entry in choice array")
    result = choices[0]
    for k in range(1, count):
        result = np.where(np.equal(a, k), choices[k], result)
    return np.where(np.equal(a, 0), choices[0], result)


def compress(condition: Any, a: Any, axis: Any = None) -> Any:
    """`np.compress`."""
    return take_op(a, np.flatnonzero(condition), axis=axis)


def extract(condition: Any, arr: Any) -> Any:
    """`np.extract`."""
    return take_op(np.ravel(arr), np.flatnonzero(np.ravel(condition)))


def unique(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
) -> Any:
    """`np.unique`: each value is that of the first entry that has it."""
    places = unique_places(ar, axis=axis, equal_nan=equal_nan)
    values = take_op(ar, places[0], axis=axis)
    wanted = (return_index, return_inverse, return_counts)
    extra = [place for place, asked in zip(places, wanted, strict=True) if asked]
    return (values, *extra) if extra else values


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """`np.histogram`: linear in the weights, piecewise constant in what is counted."""
    a = np.ravel(a)
    edges = _edges(a, bins, range)
    last = np.shape(edges)[0] - 2
    inside = (a >= edges[0]) & (a <= edges[-1])
    places = _places(a[inside], edges)
    if weights is None:
        counts = np.bincount(places, minlength=last + 1)
    else:
        counts = np.bincount(places, np.ravel(weights)[inside], minlength=last + 1)
    if density:
        return counts / np.diff(edges) / np.sum(counts), edges
    return counts, edges


def _edges(a: Any, bins: Any, range: Any) -> Any:
    """The edges of the bins of a histogram."""
    if np.ndim(bins) == 1:
        return array_of(bins)
    low, high = (np.min(a), np.max(a)) if range is None else range
    apart = np.where(low == high, 0.5, 0.0)
    return np.linspace(low - apart, high + apart, bins + 1)


def _places(a: Any, edges: Any) -> Any:
    """The bin that each value is in; the last one holds its upper edge too."""
    last = np.shape(edges)[0] - 2
    return np.clip(np.searchsorted(edges, a, side="right") - 1, 0, last)


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None
) -> Any:
    """`np.histogram2d`: linear in the weights, piecewise constant in what is counted."""
    x, y = np.ravel(x), np.ravel(y)
    two = np.ndim(bins) == 0
    of_x = _edges(x, bins if two else bins[0], None if range is None else range[0])
    of_y = _edges(y, bins if two else bins[1], None if range is None else range[1])
    rows, columns = np.shape(of_x)[0] - 1, np.shape(of_y)[0] - 1
    inside = (x >= of_x[0]) & (x <= of_x[-1]) & (y >= of_y[0]) & (y <= of_y[-1])
    places = _places(x[inside], of_x) * columns + _places(y[inside], of_y)
    given = np.ones(np.shape(x)[0]) if weights is None else np.ravel(weights)
    counts = np.bincount(places, given[inside], minlength=rows * columns)
    counts = np.reshape(counts, (rows, columns))
    if density:
        counts = counts / np.outer(np.diff(of_x), np.diff(of_y)) / np.sum(counts)
    return counts, of_x, of_y


# --- putting together and taking apart ------------------------------------------------------


def block(arrays: Any) -> Any:
    """`np.block` of lists nested at most three deep."""
    if not isinstance(arrays, list):
        return array_of(arrays)
    if not isinstance(arrays[0], list):
        return _joined(arrays, -1, 1)
    if not isinstance(arrays[0][0], list):
        return _joined([_joined(row, -1, 2) for row in arrays], -2, 2)
    return _joined(
        [_joined([_joined(row, -1, 3) for row in part], -2, 3) for part in arrays], -3, 3
    )


def _joined(arrays: Any, axis: Any, least: Any) -> Any:
    rank = max([least, *[np.ndim(a) for a in arrays]])
    return np.concatenate([_with_rank(a, rank) for a in arrays], axis=axis)


def _with_rank(a: Any, rank: Any) -> Any:
    return np.reshape(a, (*[1 for _ in range(rank - np.ndim(a))], *np.shape(a)))


def insert(arr: Any, obj: Any, values: Any, axis: Any = None) -> Any:
    """`np.insert`."""
    arr = array_of(arr)
    if axis is None:
        arr, axis = np.ravel(arr), 0
    values = _with_rank(array_of(values), np.ndim(arr))
    if np.ndim(obj) > 0:
        values = np.moveaxis(values, axis, 0)
    arr = np.moveaxis(arr, axis, 0)
    count = np.shape(values)[0] if np.size(obj) == 1 else np.size(obj)
    values = np.broadcast_to(values, (count, *np.shape(arr)[1:]))
    places = insert_places(np.shape(arr)[0], obj, count)
    return np.moveaxis(take_op(np.concatenate((arr, values)), places, axis=0), 0, axis)


def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    """`np.delete`."""
    arr = array_of(arr)
    if axis is None:
        arr, axis = np.ravel(arr), 0
    return take_op(arr, delete_places(np.shape(arr)[axis], obj), axis=axis)


def resize(a: Any, new_shape: Any) -> Any:
    """`np.resize`."""
    size = np.size(np.empty(new_shape))
    return np.reshape(take_op(np.ravel(a), np.arange(size) % np.size(a)), new_shape)


def broadcast_arrays(*args: Any) -> Any:
    """`np.broadcast_arrays`."""
    shape = np.broadcast_shapes(*[np.shape(arg) for arg in args])
    return tuple([np.broadcast_to(arg, shape) for arg in args])


def elements_together(*arrays: Any) -> Any:
    """What `np.nditer` of several arrays gives, one element of each at a time."""
    return list(zip(*[np.ravel(array) for array in broadcast_arrays(*arrays)], strict=True))


def diagflat(v: Any, k: Any = 0) -> Any:
    """`np.diagflat`."""
    return np.diag(np.ravel(v), k)


def unstack(x: Any, /, *, axis: Any = 0) -> Any:
    """`np.unstack`."""
    return tuple(np.moveaxis(x, axis, 0))


def sliding_window_view(x: Any, window_shape: Any, axis: Any = None) -> Any:
    """`np.lib.stride_tricks.sliding_window_view`, as a copy."""
    x, widths = array_of(x), _as_axes(window_shape)
    rank = np.ndim(x)
    axes = tuple(range(rank)) if axis is None else _as_axes(axis)
    for width, along in zip(widths, axes, strict=True):
        place = along % rank  # those of the windows come behind
        moved = np.moveaxis(x, place, -1)
        starts = np.arange(np.shape(moved)[-1] - width + 1)
        windows = take_op(moved, np.expand_dims(starts, 1) + np.arange(width), axis=-1)
        x = np.moveaxis(windows, -2, place)
    return x


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True) -> Any:
    """`np.geomspace` of real numbers of one sign."""
    sign = np.sign(start)
    exponents = np.linspace(np.log(sign * start), np.log(sign * stop), num, endpoint=endpoint)
    return sign * np.exp(exponents)


def logspace(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, base: Any = 10.0, axis: Any = 0
) -> Any:
    """`np.logspace`."""
    return np.power(base, np.linspace(start, stop, num=num, endpoint=endpoint, axis=axis))


def polyval(p: Any, x: Any) -> Any:
    """`np.polyval`, by Horner's scheme."""
    y = np.zeros_like(x)
    for coefficient in p:
        y = y * x + coefficient
    return y


def diagonal_of_matrices(x: Any, /, *, offset: Any = 0) -> Any:
    """`np.linalg.diagonal`."""
    return np.diagonal(x, offset=offset, axis1=-2, axis2=-1)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """`np.linalg.vector_norm`."""
    if axis is None:
        whole = np.linalg.norm(np.ravel(x), ord=ord)
        return np.reshape(whole, (1,) * np.ndim(x)) if keepdims else whole
    axes = _as_axes(axis)
    moved = np.moveaxis(x, axes, tuple(range(-len(axes), 0)))
    kept = np.shape(moved)[: np.ndim(x) - len(axes)]
    norms = np.linalg.norm(np.reshape(moved, (*kept, -1)), ord=ord, axis=-1)
    return np.expand_dims(norms, axes) if keepdims else norms


def matrix_norm(x: Any, /, *, keepdims: Any = False, ord: Any = "fro") -> Any:
    """`np.linalg.matrix_norm`."""
    return np.linalg.norm(x, ord=ord, axis=(-2, -1), keepdims=keepdims)


def ndindex(*shape: Any) -> Any:
    """`np.ndindex`, as a list."""
    lengths = shape[0] if len(shape) == 1 and isinstance(shape[0], tuple) else shape
    return list(itertools.product(*[range(length) for length in lengths]))


def ndenumerate(arr: Any) -> Any:
    """`np.ndenumerate`: an element is what it is when its turn comes."""
    return ((index, arr[index]) for index in ndindex(*np.shape(arr)))


def rollaxis(a: Any, axis: Any, start: Any = 0) -> Any:
    """`np.rollaxis`."""
    rank = np.ndim(a)
    source, target = axis % rank, start + rank if start < 0 else start
    return np.moveaxis(a, source, target - 1 if source < target else target)


def fromiter(iter: Any, dtype: Any = float, count: Any = -1) -> Any:
    """`np.fromiter`."""
    items = list(iter)
    return np.array(items if count == -1 else items[:count], dtype=dtype)


# --- parts of numbers -----------------------------------------------------------------------


def modf(x: Any, /) -> Any:
    """`np.modf`."""
    return np.fmod(x, 1.0), np.trunc(x)


def frexp(x: Any, /) -> Any:
    """`np.frexp`."""
    exponent = exponent_of(x)
    return np.ldexp(x, -exponent), exponent


def divmod_(x1: Any, x2: Any, /) -> Any:
    """`np.divmod`."""
    return np.floor_divide(x1, x2), np.mod(x1, x2)


# --- methods of NumPy's elementwise functions -----------------------------------------------


def outer(ufunc: Any, a: Any, b: Any) -> Any:
    """`ufunc.outer(a, b)`."""
    a, b = array_of(a), array_of(b)
    return ufunc(np.reshape(a, (*np.shape(a), *[1 for _ in range(np.ndim(b))])), b)


def logaddexp_reduce(x: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """`np.logaddexp.reduce`."""
    top = np.max(x, axis=axis, keepdims=True)
    sums = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    return sums if keepdims else np.squeeze(sums, axis)


def sum_of(x: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False) -> Any:
    """`np.add.reduce`."""
    return np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims)


def product_of(x: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False) -> Any:
    """`np.multiply.reduce`."""
    return np.prod(x, axis=axis, dtype=dtype, keepdims=keepdims)


def largest_of(x: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """`np.maximum.reduce`."""
    return np.max(x, axis=axis, keepdims=keepdims)


def smallest_of(x: Any, axis: Any = 0, *, keepdims: Any = False) -> Any:
    """`np.minimum.reduce`."""
    return np.min(x, axis=axis, keepdims=keepdims)


def running_sums(x: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """`np.add.accumulate`."""
    return np.cumsum(x, axis=axis, dtype=dtype)


def running_products(x: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """`np.multiply.accumulate`."""
    return np.cumprod(x, axis=axis, dtype=dtype)


def sums_between(x: Any, indices: Any, axis: Any = 0) -> Any:
    """`np.add.reduceat`."""
    return _between(np.sum, x, indices, axis)


def products_between(x: Any, indices: Any, axis: Any = 0) -> Any:
    """`np.multiply.reduceat`."""
    return _between(np.prod, x, indices, axis)


def largest_between(x: Any, indices: Any, axis: Any = 0) -> Any:
    """`np.maximum.reduceat`."""
    return _between(np.max, x, indices, axis)


def smallest_between(x: Any, indices: Any, axis: Any = 0) -> Any:
    """`np.minimum.reduceat`."""
    return _between(np.min, x, indices, axis)


def _between(reduce: Any, x: Any, indices: Any, axis: Any) -> Any:
    """From each index to the next; the entry alone, where the next one is not larger."""
    moved = np.moveaxis(array_of(x), axis, 0)
    ends = [*indices[1:], np.shape(moved)[0]]
    parts = [moved[a : max(a + 1, b)] for a, b in zip(indices, ends, strict=True)]
    return np.moveaxis(np.stack([reduce(part, axis=0) for part in parts]), 0, axis)


def running_largest(x: Any, axis: Any = 0) -> Any:
    """`np.maximum.accumulate`."""
    x = array_of(x)
    return np.take_along_axis(x, running_places(x, axis=axis, largest=True), axis=axis)


def running_smallest(x: Any, axis: Any = 0) -> Any:
    """`np.minimum.accumulate`."""
    x = array_of(x)
    return np.take_along_axis(x, running_places(x, axis=axis, largest=False), axis=axis)


OF_UFUNCS: dict[tuple[Any, str], Callable[..., Any]] = {
    (np.add, "reduce"): sum_of,
    (np.multiply, "reduce"): product_of,
    (np.maximum, "reduce"): largest_of,
    (np.minimum, "reduce"): smallest_of,
    (np.logaddexp, "reduce"): logaddexp_reduce,
    (np.add, "accumulate"): running_sums,
    (np.multiply, "accumulate"): running_products,
    (np.maximum, "accumulate"): running_largest,
    (np.minimum, "accumulate"): running_smallest,
    (np.add, "reduceat"): sums_between,
    (np.multiply, "reduceat"): products_between,
    (np.maximum, "reduceat"): largest_between,
    (np.minimum, "reduceat"): smallest_between,
}
"""What stands for a method of one of NumPy's elementwise functions."""

_NAMED: dict[str, Callable[..., Any]] = {
    "average": average, "cov": cov, "corrcoef": corrcoef,
    "cumulative_sum": cumulative_sum, "cumulative_prod": cumulative_prod,
    "nansum": nansum, "nanprod": nanprod, "nanmean": nanmean, "nanvar": nanvar, "nanstd": nanstd,
    "nanmax": nanmax, "nanmin": nanmin, "nanargmax": nanargmax, "nanargmin": nanargmin,
    "nancumsum": nancumsum, "nancumprod": nancumprod,
    "ediff1d": ediff1d, "trapezoid": trapezoid, "gradient": gradient, "unwrap": unwrap, "kaiser": kaiser,
    "fft.fftn": fftn, "fft.ifftn": ifftn, "fft.fft2": fft2, "fft.ifft2": ifft2,
    "fft.rfftn": rfftn, "fft.irfftn": irfftn, "fft.rfft2": rfft2, "fft.irfft2": irfft2,
    "fft.hfft": hfft, "fft.ihfft": ihfft,
    "linalg.lstsq": lstsq, "linalg.cond": cond, "linalg.multi_dot": multi_dot,
    "linalg.tensorsolve": tensorsolve, "linalg.trace": trace,
    "vecdot": vecdot, "linalg.vecdot": vecdot, "matvec": matvec, "vecmat": vecmat,
    "polymul": polymul, "polyadd": polyadd, "polysub": polysub, "polyder": polyder,
    "polyint": polyint, "poly": poly, "poly1d": Poly1d,
    "vander": vander, "polyfit": polyfit,
    "apply_along_axis": apply_along_axis, "apply_over_axes": apply_over_axes,
    "vectorize": vectorize, "frompyfunc": frompyfunc, "fromfunction": fromfunction,
    "select": select, "piecewise": piecewise, "choose": choose,
    "compress": compress, "extract": extract, "unique": unique,
    "histogram": histogram, "histogram2d": histogram2d, "asarray_chkfinite": asarray_chkfinite,
    "block": block, "insert": insert, "delete": delete, "resize": resize,
    "ndindex": ndindex, "ndenumerate": ndenumerate, "rollaxis": rollaxis, "fromiter": fromiter,
    "broadcast_arrays": broadcast_arrays, "diagflat": diagflat, "unstack": unstack,
    "lib.stride_tricks.sliding_window_view": sliding_window_view, "geomspace": geomspace,
    "logspace": logspace, "polyval": polyval, "linalg.diagonal": diagonal_of_matrices,
    "linalg.vector_norm": vector_norm, "linalg.matrix_norm": matrix_norm,
    "modf": modf, "frexp": frexp, "divmod": divmod_,
}  # fmt: skip


def _of_numpy(path: str) -> Any:
    """A function by its name; None where this NumPy has none."""
    found: Any = np
    for name in path.split("."):
        found = getattr(found, name, None)
    return found


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (function, equivalent)
    for path, equivalent in _NAMED.items()
    if (function := _of_numpy(path)) is not None
]
