"""The methods of NumPy's elementwise functions, as the front end reads them: `np.add.reduce` and its like."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.statistics import running_places
from .statistics import as_axes

# --- of any function ------------------------------------------------------------------------


def outer(ufunc: Any, a: Any, b: Any) -> Any:
    """`ufunc.outer(a, b)`."""
    a, b = array_of(a), array_of(b)
    return ufunc(np.reshape(a, (*np.shape(a), *[1 for _ in range(np.ndim(b))])), b)


def reduce(
    ufunc: Any, x: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False,
    initial: Any = None, where: Any = True,
) -> Any:  # fmt: skip
    """`ufunc.reduce`, one entry after the other, from the function's identity if it has one."""
    x = array_of(x) if dtype is None else np.asarray(x, dtype=dtype)
    if np.ndim(x) == 0:  # which has one entry, along axis 0 or none
        return reduce(ufunc, np.reshape(x, 1), initial=initial, where=where)
    axes = tuple(range(np.ndim(x))) if axis is None else as_axes(axis)
    rows = _along(x, axes)
    if where is not True:
        total = _reduced_where(
            ufunc, rows, _along(np.broadcast_to(where, np.shape(x)), axes), initial
        )
    elif initial is not None:
        total = functools.reduce(ufunc, rows, initial)
    elif ufunc.identity is not None:  # with which even one entry is combined: np.hypot of it is |x|
        total = functools.reduce(
            ufunc, rows, np.full(np.shape(rows)[1:], ufunc.identity, dtype=x.dtype)
        )
    elif np.shape(rows)[0] == 0:
        raise ValueError(
            f"zero-size array to reduction operation {ufunc.__name__} which has no identity"
        )
    else:
        total = functools.reduce(ufunc, rows[1:], rows[0])
    return np.expand_dims(total, axes) if keepdims else total


def _along(x: Any, axes: Any) -> Any:
    """What an array holds along some axes, one after the other along the first."""
    if len(axes) == 1:
        return np.moveaxis(x, axes[0], 0)
    moved = np.moveaxis(x, axes, tuple(range(len(axes))))
    return np.reshape(moved, (-1, *np.shape(moved)[len(axes) :]))


def _reduced_where(ufunc: Any, rows: Any, chosen: Any, initial: Any) -> Any:
    total = ufunc.identity if initial is None else initial
    if total is None:
        raise ValueError(
            f"reduction operation '{ufunc.__name__}' does not have an identity, so to use a where mask "
            "one has to specify 'initial'"
        )
    for row, counts in zip(rows, chosen, strict=True):
        total = np.where(counts, ufunc(total, row), total)
    return total


def accumulate(ufunc: Any, x: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """`ufunc.accumulate`, one entry after the other."""
    x = array_of(x) if dtype is None else np.asarray(x, dtype=dtype)
    rows = np.moveaxis(x, axis, 0)
    totals = [rows[0]]
    for row in rows[1:]:
        totals.append(ufunc(totals[-1], row))
    return np.moveaxis(np.stack(totals), 0, axis)


def reduceat(ufunc: Any, x: Any, indices: Any, axis: Any = 0) -> Any:
    """`ufunc.reduceat`: from each index to the next; the entry alone, where the next one is not larger."""
    moved = np.moveaxis(array_of(x), axis, 0)
    size = np.shape(moved)[0]
    for index in indices:
        if not 0 <= index < size:
            raise IndexError(
                f"index {index} out-of-bounds in {ufunc.__name__}.reduceat [0, {size})"
            )
    ends = [*indices[1:], size]
    parts = [moved[a : max(a + 1, b)] for a, b in zip(indices, ends, strict=True)]
    return np.moveaxis(np.stack([_reduced(ufunc, part) for part in parts]), 0, axis)


def _reduced(ufunc: Any, part: Any) -> Any:
    if ufunc is np.add:
        return np.sum(part, axis=0)
    if ufunc is np.multiply:
        return np.prod(part, axis=0)
    if ufunc is np.maximum:
        return np.max(part, axis=0)
    if ufunc is np.minimum:
        return np.min(part, axis=0)
    return functools.reduce(ufunc, part[1:], part[0])


# --- of those that NumPy has another function for -------------------------------------------


def logaddexp_reduce(
    x: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False, initial: Any = None,
    where: Any = True,
) -> Any:  # fmt: skip
    """`np.logaddexp.reduce`."""
    x = array_of(x) if dtype is None else np.asarray(x, dtype=dtype)
    if where is not True:
        x = np.where(where, x, -np.inf)
    top = np.max(x * 1.0, axis=axis, keepdims=True, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)  # of two infinities the difference is NaN
    sums = np.log(np.sum(np.exp(x - top), axis=axis, keepdims=True)) + top
    total = sums if keepdims else np.squeeze(sums, axis)[()]
    return total if initial is None else np.logaddexp(total, initial)


def sum_of(
    x: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False, initial: Any = 0,
    where: Any = True,
) -> Any:  # fmt: skip
    """`np.add.reduce`."""
    return np.sum(x, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)


def product_of(
    x: Any, axis: Any = 0, dtype: Any = None, *, keepdims: Any = False, initial: Any = 1,
    where: Any = True,
) -> Any:  # fmt: skip
    """`np.multiply.reduce`."""
    return np.prod(x, axis=axis, dtype=dtype, keepdims=keepdims, initial=initial, where=where)


def largest_of(
    x: Any, axis: Any = 0, *, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Any:
    """`np.maximum.reduce`."""
    return np.max(x, axis=axis, keepdims=keepdims, initial=initial, where=where)


def smallest_of(
    x: Any, axis: Any = 0, *, keepdims: Any = False, initial: Any = None, where: Any = True
) -> Any:
    """`np.minimum.reduce`."""
    return np.min(x, axis=axis, keepdims=keepdims, initial=initial, where=where)


def running_sums(x: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """`np.add.accumulate`."""
    return np.cumsum(x, axis=axis, dtype=dtype)


def running_products(x: Any, axis: Any = 0, dtype: Any = None) -> Any:
    """`np.multiply.accumulate`."""
    return np.cumprod(x, axis=axis, dtype=dtype)


def running_largest(x: Any, axis: Any = 0) -> Any:
    """`np.maximum.accumulate`."""
    x = array_of(x)
    return np.take_along_axis(x, running_places(x, axis=axis, largest=True), axis=axis)


def running_smallest(x: Any, axis: Any = 0) -> Any:
    """`np.minimum.accumulate`."""
    x = array_of(x)
    return np.take_along_axis(x, running_places(x, axis=axis, largest=False), axis=axis)


_BY_THEMSELVES: dict[tuple[Any, str], Callable[..., Any]] = {
    (np.add, "reduce"): sum_of,
    (np.multiply, "reduce"): product_of,
    (np.maximum, "reduce"): largest_of,
    (np.minimum, "reduce"): smallest_of,
    (np.logaddexp, "reduce"): logaddexp_reduce,
    (np.add, "accumulate"): running_sums,
    (np.multiply, "accumulate"): running_products,
    (np.maximum, "accumulate"): running_largest,
    (np.minimum, "accumulate"): running_smallest,
}

_ENTRY_BY_ENTRY = {"reduce": reduce, "accumulate": accumulate, "reduceat": reduceat}

_OF_TWO_NUMBERS = (
    np.add, np.subtract, np.multiply, np.divide, np.maximum, np.minimum, np.fmax, np.fmin, np.fmod,
    np.remainder, np.hypot, np.arctan2, np.logaddexp, np.logaddexp2, np.copysign, np.power,
    np.float_power,
)  # fmt: skip


def method_of(ufunc: Any, name: str) -> tuple[Callable[..., Any], bool] | None:
    """What stands for a method of an elementwise function, and whether it takes the function first."""
    if name == "outer":
        return outer, True
    if (ufunc, name) in _BY_THEMSELVES:
        return _BY_THEMSELVES[ufunc, name], False
    if ufunc in _OF_TWO_NUMBERS and name in _ENTRY_BY_ENTRY:
        return _ENTRY_BY_ENTRY[name], True
    return None
