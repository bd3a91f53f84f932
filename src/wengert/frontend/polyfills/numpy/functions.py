"""NumPy's functions that are best said in Python: the front end reads these instead.

Each gives what NumPy's gives, by functions that have rules. Options that are missing here are refused
by name. An op called by its own name is the op itself, not read again.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Mapping
from numbers import Number
from typing import Any

import numpy as np

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.reduction import exponent_of
from ....ops.arrays.selection import take as take_op
from ....ops.arrays.statistics import spread_mask, unique_places
from ....ops.arrays.type_queries import may_be_nan
from ....ops.program.refusals import uncovered
from ..same_names import same_names
from . import (
    by_entries as by_entries,
    linalg as linalg,
    poly as polynomials,
    statistics as statistics,
)
from .histograms import histogram, histogram2d
from .joining import block, delete, insert, resize
from .statistics import as_axes, std_where, var_where

# --- choosing -----------------------------------------------------------------------------


def require(a: Any, dtype: Any = None, requirements: Any = None) -> Any:
    """`np.require`; an array of the user's own can be written to, and lies as memory has it."""
    if not requirements:
        return np.asanyarray(a, dtype=dtype)
    first = [each.upper()[0] for each in requirements]
    if "O" in first:
        raise uncovered("`np.require` of an array that owns its memory", "Make a copy: `a.copy()`.")
    return np.asarray(a, dtype=dtype, order="F" if "F" in first else "C" if "C" in first else "A")


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """`np.select`."""
    result = default
    for condition, choice in zip(condlist[::-1], choicelist[::-1], strict=True):
        result = np.where(condition, choice, result)
    return result


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    """`np.piecewise`."""
    x = array_of(x)
    conditions = condlist if isinstance(condlist, (list, tuple)) else [condlist]
    result = 0.0 * x
    if len(funclist) > len(conditions):
        none = np.logical_not(functools.reduce(np.logical_or, conditions))
        conditions = [*conditions, none]
    for condition, function in zip(conditions, funclist, strict=True):
        result = np.where(condition, _piece(function, x, condition, args, kw), result)
    return result if may_be_nan(x) else result.astype(x.dtype)


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


# --- putting together and taking apart ------------------------------------------------------


def broadcast_arrays(*args: Any) -> Any:
    """`np.broadcast_arrays`."""
    shape = np.broadcast_shapes(*[np.shape(arg) for arg in args])
    return tuple([np.broadcast_to(arg, shape) for arg in args])


def write_through_einsum(subscripts: Any, array: Any, index: Any, value: Any) -> None:
    """`np.einsum(subscripts, array)[index] = value`, of a view."""
    places = np.reshape(np.arange(np.size(array)), np.shape(array))
    written = np.einsum(subscripts, places)[index]
    array[np.unravel_index(written, np.shape(array))] = value


def elements_together(*arrays: Any) -> Any:
    """What `np.nditer` of several arrays gives, one element of each at a time."""
    return list(zip(*[np.ravel(array) for array in broadcast_arrays(*arrays)], strict=True))


def diagflat(v: Any, k: Any = 0) -> Any:
    """`np.diagflat`."""
    return np.diag(np.ravel(v), k)


def sliding_window_view(x: Any, window_shape: Any, axis: Any = None) -> Any:
    """`np.lib.stride_tricks.sliding_window_view`, as a copy."""
    x, widths = array_of(x), as_axes(window_shape)
    rank = np.ndim(x)
    axes = tuple(range(rank)) if axis is None else as_axes(axis)
    for width, along in zip(widths, axes, strict=True):
        if width < 0:
            raise ValueError("`window_shape` cannot contain negative values")
        place = along % rank  # those of the windows come behind
        moved = np.moveaxis(x, place, -1)
        if np.shape(moved)[-1] < width:
            raise ValueError("window shape cannot be larger than input array shape")
        starts = np.arange(np.shape(moved)[-1] - width + 1)
        windows = take_op(moved, np.expand_dims(starts, 1) + np.arange(width), axis=-1)
        x = np.moveaxis(windows, -2, place)
    return x


def isscalar(element: Any) -> bool:
    """`np.isscalar`, which asks first for what is known of numbers."""
    return isinstance(element, (Number, np.generic, str, bytes, memoryview))


def geomspace(start: Any, stop: Any, num: Any = 50, endpoint: Any = True) -> Any:
    """`np.geomspace` of real numbers of one sign."""
    start, stop = start + np.zeros(()), stop + np.zeros(())  # in float64, whatever they are
    sign = np.sign(start)
    exponents = np.linspace(np.log(sign * start), np.log(sign * stop), num, endpoint=endpoint)
    return sign * np.exp(exponents)


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: Any = False, ord: Any = 2) -> Any:
    """`np.linalg.vector_norm`."""
    if axis is None:
        whole = np.linalg.norm(np.ravel(x), ord=ord)
        return np.reshape(whole, (1,) * np.ndim(x)) if keepdims else whole
    axes = as_axes(axis)
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


def linspace_and_step(
    start: Any, stop: Any, num: Any = 50, endpoint: Any = True, retstep: Any = True,
    dtype: Any = None, axis: Any = 0,
) -> Any:  # fmt: skip
    """`np.linspace` with `retstep=True`."""
    steps = num - 1 if endpoint else num
    numbers = np.linspace(start, stop, num, endpoint=endpoint, dtype=dtype, axis=axis)
    return numbers, (stop - start) / steps if steps > 0 else np.nan


def fromiter(iter: Any, dtype: Any = float, count: Any = -1) -> Any:
    """`np.fromiter`."""
    items = list(iter)
    return np.array(items if count == -1 else items[:count], dtype=dtype)


def trim_zeros(filt: Any, trim: Any = "fb", axis: Any = None) -> Any:
    """`np.trim_zeros`: what lies between the first and the last entry that is not zero."""
    ndim, sides = np.ndim(filt), trim.lower()
    if sides not in ("fb", "bf", "f", "b"):
        raise ValueError(f"unexpected character(s) in `trim`: {sides!r}")
    axes = tuple(range(ndim)) if axis is None else [k % ndim for k in as_axes(axis)]
    places = np.nonzero(filt)
    parts = []
    for k in range(ndim):
        first, last = None, None
        if k in axes and np.size(places[k]) == 0:
            first, last = 0, 0
        elif k in axes:
            first = np.min(places[k]) if "f" in sides else None
            last = np.max(places[k]) + 1 if "b" in sides else None
        parts.append(slice(first, last))
    return filt[tuple(parts)] if ndim > 1 else filt[parts[0]]


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


_OF_SOME = {"where": True, "mean": None, "correction": None}
_OTHER_FORMS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "linspace": (linspace_and_step, {"retstep": False}),
    "var": (var_where, _OF_SOME),
    "std": (std_where, _OF_SOME),
}


def other_form(name: str, options: Mapping[str, Any]) -> Callable[..., Any] | None:
    """What stands for an op with an option by which it gives something else; None where it is given none."""
    instead, defaults = _OTHER_FORMS.get(name, (None, {}))
    return None if all(options.get(k, x) is x for k, x in defaults.items()) else instead


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *by_entries.EQUIVALENTS,
    *statistics.EQUIVALENTS,
    *linalg.EQUIVALENTS,
    *polynomials.EQUIVALENTS,
    *same_names(np, globals()),
    *(
        (getattr(np, f.__name__), f)
        for f in (histogram, histogram2d, block, delete, insert, resize)
    ),
    *same_names(np.linalg, globals()),
    (np.lib.stride_tricks.sliding_window_view, sliding_window_view),
    (np.divmod, divmod_),
]
