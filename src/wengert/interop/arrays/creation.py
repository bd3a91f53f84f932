"""Arrays made anew, on the device of the namespace."""

from __future__ import annotations

from typing import Any

import numpy as np

from .duck import Array, Duck
from .namespace import Namespace
from .table import FUNCTIONS, like_numpys


def _shape(shape: Any) -> tuple[int, ...]:
    if isinstance(shape, (tuple, list)):
        return tuple(int(n) for n in shape)
    return (int(shape),)


def _filled(name: str) -> None:
    def make(space: Namespace, shape: Any, dtype: Any = float, order: str = "C") -> Any:
        own = space.own_dtype(dtype or float)
        raw = getattr(space.xp, name)(_shape(shape), dtype=own, **space.on_device)
        return Array(space, raw)

    make.__name__ = name
    FUNCTIONS[make.__name__] = make


def _filled_like(name: str) -> None:
    def make(space: Namespace, x: Any, dtype: Any = None, shape: Any = None) -> Any:
        x = space.numpy.asarray(x)
        whole = x.shape if shape is None else _shape(shape)
        return getattr(space.numpy, name)(whole, dtype or x.dtype)

    make.__name__ = f"{name}_like"
    FUNCTIONS[make.__name__] = make


for each in ("zeros", "ones"):
    _filled(each)
    _filled_like(each)
_filled_like("empty")


def empty(space: Namespace, shape: Any, dtype: Any = float, order: str = "C") -> Any:
    return space.numpy.zeros(shape, dtype)


def full(space: Namespace, shape: Any, fill_value: Any, dtype: Any = None, order: str = "C") -> Any:
    value = space.array(fill_value, dtype=dtype)
    return Array(space, space.copied(space.xp.broadcast_to(value, _shape(shape))))


def full_like(
    space: Namespace, x: Any, fill_value: Any, dtype: Any = None, order: str = "C"
) -> Any:
    x = space.numpy.asarray(x)
    return full(space, x.shape, fill_value, dtype or x.dtype)


def array(space: Namespace, x: Any, dtype: Any = None, *, ndmin: int = 0, order: str = "K") -> Any:
    raw = space.array(x, dtype=dtype)
    own = isinstance(x, Duck) and raw is x.raw
    raw = space.copied(raw) if own else raw
    while len(raw.shape) < ndmin:
        raw = space.xp.expand_dims(raw, axis=0)
    return Array(space, raw)


def copy(space: Namespace, x: Any, order: str = "K") -> Any:
    return array(space, x)


def asarray(space: Namespace, x: Any, dtype: Any = None, order: str = "C") -> Any:
    if isinstance(x, Array) and (dtype is None or x.dtype == np.dtype(dtype)):
        return x
    return Array(space, space.array(x, dtype=dtype))


def asanyarray(space: Namespace, x: Any, dtype: Any = None, order: str = "C") -> Any:
    return asarray(space, x, dtype)


def ascontiguousarray(space: Namespace, x: Any, dtype: Any = None, order: str = "C") -> Any:
    return asarray(space, x, dtype)


def asfortranarray(space: Namespace, x: Any, dtype: Any = None, order: str = "C") -> Any:
    return asarray(space, x, dtype)


def _by_numpy(name: str) -> None:
    """What depends on numbers of the program's own structure: NumPy makes it, and it is moved once."""

    def make(space: Namespace, *args: Any, **options: Any) -> Any:
        return Array(space, space.moved(getattr(np, name)(*args, **options)))

    make.__name__ = name
    FUNCTIONS[make.__name__] = make


for each in ("arange", "eye", "identity", "tri", "indices"):
    _by_numpy(each)


def linspace(space: Namespace, start: Any, stop: Any, num: int = 50, endpoint: bool = True) -> Any:
    if not isinstance(start, Duck) and not isinstance(stop, Duck):
        return Array(space, space.moved(np.linspace(start, stop, num, endpoint)))
    parts = max(num - (1 if endpoint else 0), 1)
    steps = space.numpy.arange(num) / parts
    return space.numpy.add(start, steps * space.numpy.subtract(stop, start))


def meshgrid(space: Namespace, *axes: Any, indexing: str = "xy") -> Any:
    raws = space.xp.meshgrid(*map(space.array, axes), indexing=indexing)
    return [Array(space, space.copied(raw)) for raw in raws]


def diag(space: Namespace, x: Any, k: int = 0) -> Any:
    np_, x = space.numpy, space.numpy.asarray(x)
    if x.ndim == 2:
        return np_.diagonal(x, k).copy()
    size = len(x) + abs(k)
    row = np.arange(len(x)) + max(-k, 0)
    result = np_.zeros((size, size), x.dtype)
    result[row, row + k] = x
    return result


def vander(space: Namespace, x: Any, N: int | None = None, increasing: bool = False) -> Any:
    count = len(x) if N is None else N
    powers = range(count) if increasing else reversed(range(count))
    return space.numpy.stack([space.numpy.asarray(x) ** k for k in powers], axis=1)


like_numpys(globals())
