"""NumPy's means, sums without NaN, differences and integrals, as the front end reads them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.type_queries import may_be_nan
from ..same_names import same_names

# --- axes ---------------------------------------------------------------------------------


def at_the_end(x: Any, axis: Any) -> Any:
    """`x` with an axis moved to the end."""
    return x if axis == -1 else np.moveaxis(x, axis, -1)


def back_in_place(x: Any, axis: Any) -> Any:
    """`x` with its last axis moved back."""
    return x if axis == -1 else np.moveaxis(x, -1, axis)


def as_axes(axis: Any) -> Any:
    return axis if isinstance(axis, tuple) else (axis,)


def is_so(answer: Any) -> Any:
    """Whether it is; of terms in a graph, whose variables have no values yet, nobody can say."""
    return isinstance(answer, (bool, np.bool_)) and answer


# --- means and sums -----------------------------------------------------------------------


def _not_zero(total: Any) -> Any:
    if is_so(np.any(total == 0.0)):
        raise ZeroDivisionError("Weights sum to zero, can't be normalized")
    return total


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
        ends = tuple(range(-np.ndim(weights), 0))
        moved = np.moveaxis(a, as_axes(axis), ends)
        mean = np.sum(moved * weights, axis=ends) / _not_zero(total)
        mean = np.expand_dims(mean, axis) if keepdims else mean
    else:
        total = np.sum(weights, axis=axis, keepdims=keepdims)
        mean = np.sum(a * weights, axis=axis, keepdims=keepdims) / _not_zero(total)
    return (mean, np.broadcast_to(total, np.shape(mean))) if returned else mean


def cov(
    m: Any, y: Any = None, rowvar: Any = True, bias: Any = False, ddof: Any = None,
    fweights: Any = None, aweights: Any = None, *, dtype: Any = None,
) -> Any:  # fmt: skip
    """`np.cov`."""
    rows = _variables(m, rowvar)
    if y is not None:
        rows = np.concatenate((rows, _variables(y, rowvar)), axis=0)
    # of 64 bits, whatever it is given
    rows = rows * np.float64(1.0) if dtype is None else rows.astype(dtype)
    less = (0 if bias else 1) if ddof is None else ddof
    if fweights is None and aweights is None:
        deviation = rows - np.mean(rows, axis=1, keepdims=True)
        matrix = deviation @ np.conj(np.transpose(deviation)) / (np.shape(rows)[1] - less)
    else:
        matrix = _weighted_cov(rows, fweights, aweights, less)
    return np.squeeze(matrix) if y is None and np.ndim(m) < 2 else matrix


def _weighted_cov(rows: Any, fweights: Any, aweights: Any, less: Any) -> Any:
    """The covariance of observations that are there so many times, and matter so much."""
    times = 1.0 if fweights is None else array_of(fweights) * 1.0
    weights = times if aweights is None else times * array_of(aweights)
    total = np.sum(weights)
    lost = less if aweights is None else less * np.sum(weights * aweights) / total
    deviation = rows - np.sum(rows * weights, axis=1, keepdims=True) / total
    return (deviation * weights) @ np.conj(np.transpose(deviation)) / (total - lost)


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


def _axis_to_accumulate(x: Any, axis: Any) -> Any:
    if axis is None and np.ndim(x) > 1:
        raise ValueError(
            "For arrays which have more than one dimension ``axis`` argument is required."
        )
    return 0 if axis is None else axis


def cumulative_sum(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Any:
    """`np.cumulative_sum`."""
    along = _axis_to_accumulate(x, axis)
    sums = np.cumsum(x, axis=along, dtype=dtype)
    if include_initial:
        return np.concatenate((0 * np.take(sums, [0], axis=along), sums), axis=along)
    return sums


def cumulative_prod(
    x: Any, /, *, axis: Any = None, dtype: Any = None, include_initial: Any = False
) -> Any:
    """`np.cumulative_prod`."""
    along = _axis_to_accumulate(x, axis)
    products = np.cumprod(x, axis=along, dtype=dtype)
    if include_initial:
        start = np.ones_like(np.take(products, [0], axis=along))
        return np.concatenate((start, products), axis=along)
    return products


# --- without NaN --------------------------------------------------------------------------


def _filled(a: Any, value: Any) -> Any:
    return np.where(np.isnan(a), value, a) if may_be_nan(a) else a


def _counted(a: Any, axis: Any, keepdims: Any, where: Any) -> Any:
    return np.sum(~np.isnan(a), axis=axis, keepdims=keepdims, where=where)


def nansum(
    a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False, initial: Any = 0,
    where: Any = True,
) -> Any:  # fmt: skip
    """`np.nansum`."""
    filled = _filled(a, np.zeros_like(a))
    return np.sum(filled, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)


def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False, initial: Any = 1,
    where: Any = True,
) -> Any:  # fmt: skip
    """`np.nanprod`."""
    filled = _filled(a, np.ones_like(a))
    return np.prod(filled, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False, where: Any = True
) -> Any:
    """`np.nanmean`."""
    total = np.sum(_filled(a, 0.0), axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return _mean_of(a, total, _counted(a, axis, keepdims, where))


def _mean_of(a: Any, total: Any, count: Any) -> Any:
    """A mean of what an array holds; that of floats of 32 bits is one, too."""
    mean = total / count
    return mean.astype(total.dtype) if may_be_nan(a) else mean


def nanvar(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    """`np.nanvar`."""
    less = ddof if correction is None else correction
    if mean is None:
        mean = nanmean(a, axis=axis, dtype=dtype, keepdims=True, where=where)
    spread = (a if dtype is None else np.asarray(a, dtype=dtype)) - mean
    squares = np.abs(np.where(np.isnan(a), 0.0, spread) if may_be_nan(a) else spread) ** 2
    total = np.sum(squares, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    return _mean_of(a, total, _counted(a, axis, keepdims, where) - less)


def nanstd(
    a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False,
    where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    """`np.nanstd`."""
    less = ddof if correction is None else correction
    return np.sqrt(nanvar(a, axis, dtype, ddof=less, keepdims=keepdims, where=where, mean=mean))


def var_where(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    """`np.var` of some entries, or around another mean."""
    less = ddof if correction is None else correction
    if mean is None:
        mean = np.mean(a, axis=axis, dtype=dtype, keepdims=True, where=where)
    squares = np.abs((array_of(a) if dtype is None else np.asarray(a, dtype=dtype)) - mean) ** 2
    total = np.sum(squares, axis=axis, dtype=dtype, keepdims=keepdims, where=where)
    count = np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=keepdims)
    return _mean_of(a, total, np.maximum(count - less, 0))


def std_where(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: Any = 0,
    keepdims: Any = False, *, where: Any = True, mean: Any = None, correction: Any = None,
) -> Any:  # fmt: skip
    """`np.std` of some entries, or around another mean."""
    less = ddof if correction is None else correction
    return np.sqrt(var_where(a, axis, dtype, out, less, keepdims, where=where, mean=mean))


def nanmax(
    a: Any, axis: Any = None, *, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Any:
    """`np.nanmax`."""
    options = {"axis": axis, "keepdims": keepdims, "where": where}
    largest = np.max(_filled(a, -np.inf), initial=initial, **options)
    if initial is not None or not may_be_nan(a):
        return largest
    return np.where(np.all(np.isnan(a), **options), np.nan, largest)[()]


def nanmin(
    a: Any, axis: Any = None, *, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Any:
    """`np.nanmin`."""
    options = {"axis": axis, "keepdims": keepdims, "where": where}
    smallest = np.min(_filled(a, np.inf), initial=initial, **options)
    if initial is not None or not may_be_nan(a):
        return smallest
    return np.where(np.all(np.isnan(a), **options), np.nan, smallest)[()]


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
    y = at_the_end(array_of(y), axis)
    means = (y[..., 1:] + y[..., :-1]) / 2.0
    if x is None:
        return np.sum(dx * means, axis=-1)
    x = array_of(x)
    return np.sum(np.diff(x if np.ndim(x) == 1 else at_the_end(x, axis)) * means, axis=-1)


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: Any = 1) -> Any:
    """`np.gradient`."""
    f = array_of(f)
    axes = tuple(range(np.ndim(f))) if axis is None else as_axes(axis)
    spacings = varargs or (1.0,)
    if len(spacings) == 1 and np.ndim(spacings[0]) == 0:
        spacings = [spacings[0] for _ in axes]
    slopes = [_slope(f, h, k, edge_order) for h, k in zip(spacings, axes, strict=True)]
    return slopes[0] if len(slopes) == 1 else tuple(slopes)


def _slope(f: Any, spacing: Any, axis: Any, edge_order: Any) -> Any:
    f = at_the_end(f, axis)
    if is_so(np.shape(f)[-1] < edge_order + 1):
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, "
            "at least (edge_order + 1) elements are required."
        )
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
    return back_in_place(np.concatenate((start, inside, end), axis=-1), axis)


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


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = same_names(np, globals())
