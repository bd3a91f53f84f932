"""NumPy's objects that are indexed to make arrays, as functions of the index: the front end reads these.

`np.r_`, `np.c_`, `np.mgrid` and `np.ogrid` spell out slices; `np.s_` gives the index itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def rows_of(items: Any) -> Any:
    """`np.r_[items]`."""
    items = items if isinstance(items, tuple) else (items,)
    return np.concatenate([np.atleast_1d(_spelled_out(item)) for item in items])


def columns_of(items: Any) -> Any:
    """`np.c_[items]`."""
    items = items if isinstance(items, tuple) else (items,)
    return np.concatenate([_as_columns(_spelled_out(item)) for item in items], axis=-1)


def _as_columns(item: Any) -> Any:
    return np.reshape(item, (-1, 1)) if np.ndim(item) < 2 else item


def mesh_of(items: Any) -> Any:
    """`np.mgrid[items]`."""
    if not isinstance(items, tuple):
        return _spelled_out(items)
    return np.stack(np.meshgrid(*[_spelled_out(item) for item in items], indexing="ij"))


def open_mesh_of(items: Any) -> Any:
    """`np.ogrid[items]`."""
    if not isinstance(items, tuple):
        return _spelled_out(items)
    axes = [_spelled_out(item) for item in items]
    return np.meshgrid(*axes, indexing="ij", sparse=True)


def index_itself(items: Any) -> Any:
    """`np.s_[items]`."""
    return items


def _spelled_out(item: Any) -> Any:
    """The numbers that a slice stands for: a step of 5j asks for five."""
    if not isinstance(item, slice):
        return item
    start = 0 if item.start is None else item.start
    if isinstance(item.step, complex):
        return np.linspace(start, item.stop, int(abs(item.step)))
    return np.arange(start, item.stop, 1 if item.step is None else item.step)


BY_CLASS: dict[type, Callable[..., Any]] = {
    type(np.r_): rows_of,
    type(np.c_): columns_of,
    type(np.mgrid): mesh_of,
    type(np.ogrid): open_mesh_of,
    type(np.s_): index_itself,
}
"""What stands for indexing an object of these classes."""
