"""NumPy's functions that apply a function to entries or lanes of arrays: the front end reads these instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.type_queries import may_be_nan
from ..same_names import same_names
from .statistics import at_the_end, back_in_place


def without_axes(value: Any) -> Any:
    """What `x.fill` takes: one number, or an array of one without axes."""
    if np.ndim(value) > 0:
        raise ValueError("setting an array element with a sequence.")
    return value


def apply_along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """`np.apply_along_axis`."""
    moved = at_the_end(array_of(arr), axis)
    lead = np.shape(moved)[:-1]
    if 0 in lead:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    lanes = np.reshape(moved, (-1, np.shape(moved)[-1]))
    results = _shaped([func1d(lane, *args, **kwargs) for lane in lanes], None, lead)
    return back_in_place(results, axis) if np.ndim(results) == np.ndim(moved) else results


def fromfunction(function: Any, shape: Any, *, dtype: Any = float, **kwargs: Any) -> Any:
    """`np.fromfunction`."""
    indices = np.indices(shape).astype(dtype)
    return function(*[indices[k] for k in range(len(shape))], **kwargs)


def frompyfunc(func: Any, /, nin: Any, nout: Any) -> Any:
    """`np.frompyfunc` of a function that returns numbers, each of which stays what it is."""

    def of_entries(*args: Any) -> Any:
        results, shape = _of_entries(func, args)
        return np.reshape(np.array(results), shape)

    return of_entries


# --- np.vectorize ---------------------------------------------------------------------------


def vectorize(
    pyfunc: Any = None,
    otypes: Any = None,
    doc: Any = None,
    excluded: Any = None,
    cache: Any = False,
    signature: Any = None,
) -> Any:
    """`np.vectorize`."""
    if pyfunc is None:
        return lambda function: vectorize(function, otypes, doc, excluded, cache, signature)
    return lambda *args, **kwargs: vectorized(
        pyfunc, otypes, excluded, cache, signature, *args, **kwargs
    )


def vectorized(
    function: Any, otypes: Any, excluded: Any, cache: Any, signature: Any, *args: Any, **kwargs: Any
) -> Any:
    """What a call of `np.vectorize(function, …)` gives."""
    left_alone = () if excluded is None else excluded
    places = [k for k in range(len(args)) if k not in left_alone]
    names = [name for name in kwargs if name not in left_alone]

    def of_these(*entries: Any) -> Any:
        positional = list(args)
        for k, entry in zip(places, entries):  # noqa: B905 - the rest is passed by name
            positional[k] = entry
        by_name = entries[len(places) :]
        return function(*positional, **{**kwargs, **dict(zip(names, by_name, strict=True))})

    plain = len(kwargs) == 0 and len(places) == len(args)
    taken = function if plain else of_these
    chosen = [*[args[k] for k in places], *[kwargs[name] for name in names]]
    if signature is not None:
        results, shape = _of_parts(taken, signature, chosen)
        if len(results) == 0 and otypes is None:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        return _joined(results, otypes, shape)
    if otypes is not None or cache:
        results, shape = _of_entries(taken, chosen)
        if len(results) == 0 and otypes is None:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
        return _joined(results, otypes, shape)
    first = _of_first_entry(taken, chosen)
    results, shape = _of_entries(taken, chosen)
    each = first if isinstance(first, tuple) else (first,)
    return _joined(results, [_narrow_dtype(one) for one in each], shape)


def _of_first_entry(function: Any, args: Any) -> Any:
    """What NumPy takes the dtypes of: the function is called once more, with one of NumPy's own numbers."""
    for arg in args:
        if np.size(arg) == 0:
            raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    return function(*[np.ravel(arg)[0] for arg in args])


def _narrow_dtype(first: Any) -> Any:
    """The dtype of a number that Python's numbers are too wide for; None of any other."""
    return type(first) if type(first) in (np.float16, np.float32, np.complex64) else None


def _of_entries(function: Any, args: Any) -> Any:
    """What a function of numbers gives for the entries of arrays, side by side, and in which shape."""
    if len(args) == 1:
        shape, columns = np.shape(args[0]), [np.ravel(args[0]).tolist()]
    else:
        shape = np.broadcast_shapes(*[np.shape(arg) for arg in args])
        columns = [np.ravel(np.broadcast_to(arg, shape)).tolist() for arg in args]
    return [function(*entries) for entries in zip(*columns, strict=True)], shape


def _of_parts(function: Any, signature: Any, args: Any) -> Any:
    """The same of parts of arrays: the last axes of each argument, as many as the signature names."""
    names = _axes_named(signature.split("->")[0])
    arrays = [array_of(arg) for arg in args]
    if len(names) != len(arrays):
        raise TypeError(
            f"wrong number of positional arguments: expected {len(names)}, got {len(arrays)}"
        )
    own = [_last(np.shape(array), len(axes)) for array, axes in zip(arrays, names, strict=True)]
    _refuse_different(names, own)
    shapes = [np.shape(array)[: np.ndim(array) - len(axes)] for array, axes in zip(arrays, names)]  # noqa: B905
    shape = np.broadcast_shapes(*shapes)
    columns = [
        np.reshape(np.broadcast_to(array, (*shape, *axes)), (-1, *axes))
        for array, axes in zip(arrays, own, strict=True)
    ]
    return [function(*parts) for parts in zip(*columns, strict=True)], shape


def _axes_named(text: Any) -> Any:
    """The names of the axes of each argument: [["m", "n"], []] of "(m,n),()"."""
    arguments = text.replace(" ", "")[1:-1].split("),(")
    return [argument.split(",") if argument != "" else [] for argument in arguments]


def _last(shape: Any, count: Any) -> Any:
    if len(shape) < count:
        raise ValueError(
            f"{len(shape)}-dimensional argument does not have enough dimensions for all core dimensions"
        )
    return shape[len(shape) - count :]


def _refuse_different(names: Any, shapes: Any) -> None:
    """Raise where one name stands for axes of different lengths."""
    sizes = {}
    for axes, shape in zip(names, shapes, strict=True):
        for name, size in zip(axes, shape, strict=True):
            if sizes.setdefault(name, size) != size:
                raise ValueError(
                    f"inconsistent size for core dimension {name!r}: {size} vs {sizes[name]}"
                )


def _joined(results: Any, otypes: Any, shape: Any) -> Any:
    """The results as an array, or as one for each of several results."""
    if len(results) == 0:
        none = [np.zeros(shape, dtype) for dtype in otypes]
        return none[0] if len(none) == 1 else tuple(none)
    if not isinstance(results[0], tuple):
        return _shaped(results, None if otypes is None else otypes[0], shape)
    return tuple(
        [
            _shaped([result[k] for result in results], None if otypes is None else otypes[k], shape)
            for k in range(len(results[0]))
        ]
    )


def _shaped(results: Any, dtype: Any, shape: Any) -> Any:
    """Results of one dtype: that which is asked for, or that of the first, as NumPy has it."""
    made = np.array(results)
    if dtype is not None:
        made = made.astype(dtype)
    elif may_be_nan(made) and not isinstance(results[0], (float, np.ndarray)):
        made = made.astype(np.asarray(results[0]).dtype)
    return np.reshape(made, (*shape, *np.shape(made)[1:]))


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = same_names(np, globals())
