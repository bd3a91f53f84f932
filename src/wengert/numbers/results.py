"""Results of functions: containers and arrays of numbers with derivatives, taken apart and put together."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .dual import Directions
from .number import value_of


def mapped(y: Any, function: Callable[[Any], Any]) -> Any:
    """What a function gives for every number of a result, in a result of the same structure."""
    if isinstance(y, (list, tuple)):
        return like(y, [mapped(each, function) for each in y])
    if isinstance(y, dict):
        return {key: mapped(each, function) for key, each in y.items()}
    if isinstance(y, np.ndarray) and y.dtype == object:
        return _joined([function(item) for item in y.flat], y.shape)
    return function(y)


def numbers_of(y: Any) -> Iterator[Any]:
    """The numbers that a result consists of; an array of floats counts as one."""
    if isinstance(y, (list, tuple, dict)) or (isinstance(y, np.ndarray) and y.dtype == object):
        items = (
            y.values() if isinstance(y, dict) else np.ravel(y) if isinstance(y, np.ndarray) else y
        )
        for item in items:
            yield from numbers_of(item)
    else:
        yield y


def shape_of(x: Any) -> tuple[int, ...] | None:
    """The shape of an array, also of one with derivatives; None of anything else."""
    return getattr(value_of(x), "shape", None)


def like(example: Any, items: list[Any]) -> Any:
    """A list or tuple of the class of another."""
    return (
        tuple.__new__(type(example), items) if hasattr(example, "_fields") else type(example)(items)
    )


def in_direction(dot: Any, k: int) -> Any:
    """The part of a tangent that belongs to one of several directions."""
    if isinstance(dot, (list, tuple)):
        return like(dot, [in_direction(each, k) for each in dot])
    if isinstance(dot, dict):
        return {key: in_direction(each, k) for key, each in dot.items()}
    return dot[k] if isinstance(dot, Directions) else dot


def _joined(items: list[Any], shape: tuple[int, ...]) -> Any:
    """What was found for the items of an array, as an array; of directions, the directions of an array."""
    several = next((len(item) for item in items if isinstance(item, Directions)), 0)
    if several:
        columns = ([in_direction(item, k) for item in items] for k in range(several))
        return Directions([_joined(column, shape) for column in columns])
    array = np.array(items)
    return array.reshape(shape + array.shape[1:])
