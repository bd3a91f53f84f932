"""Arguments and gradients as flat vectors of real coordinates.

A complex number has two coordinates, an array as many as its elements; strings, truth values,
`None` and functions have none.
"""

from __future__ import annotations

import dataclasses
from types import FunctionType, SimpleNamespace

import numpy as np
from exact import Exact
from twin import attributes, is_library_type


def is_number(value):
    return isinstance(value, int | float | complex | np.number) and not isinstance(value, bool)


def is_numeric_array(value):
    return isinstance(value, np.ndarray) and value.dtype.kind in "iufcO"


def children(value):
    """The parts of a container or object as a dictionary; `None` if it has no parts."""
    if isinstance(value, dict):
        return value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return value._asdict()
    if isinstance(value, list | tuple):
        return dict(enumerate(value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value) if hasattr(value, field.name)]
        return {name: getattr(value, name) for name in names}
    if isinstance(value, SimpleNamespace):
        return vars(value)
    if isinstance(value, type | Exact | np.generic | np.ndarray) or is_library_type(type(value)):
        return None
    return attributes(value) or None


def is_plain_object(value):
    """Whether a value with parts is none of Python's containers, nor a dataclass."""
    return not (isinstance(value, dict | list | tuple) or dataclasses.is_dataclass(value))


def rebuilt(value, parts):
    """A container or object like `value` made of other parts."""
    if isinstance(value, dict):
        return dict(parts)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(**parts)
    if isinstance(value, list | tuple):
        return type(value)(parts.values())
    if isinstance(value, SimpleNamespace):
        return SimpleNamespace(**parts)
    made = object.__new__(type(value))
    for name, part in parts.items():
        object.__setattr__(made, name, part)
    return made


def map_leaves(function, value, *others):
    """`function` of every number and array; what is neither becomes `None`.

    An object becomes a namespace with its attributes, as in a gradient.
    """
    if is_number(value) or is_numeric_array(value) or isinstance(value, Exact):
        return function(value, *others)
    parts = children(value)
    if parts is None:
        return None
    others = [children(other) for other in others]
    mapped = {
        key: map_leaves(function, part, *(other[key] for other in others))
        for key, part in parts.items()
    }
    return SimpleNamespace(**mapped) if is_plain_object(value) else rebuilt(value, mapped)


def coordinates(value, exactly=False):
    """The real coordinates of a tree, as floats or as exact numbers."""
    if value is None or isinstance(value, bool | str | FunctionType):
        return []
    if is_number(value) or isinstance(value, Exact):
        return _of_number(value, exactly)
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "iufcO":
            return []
        items = [value[index] for index in np.ndindex(value.shape)]
        return [x for item in items for x in _of_number(item, exactly)]
    parts = children(value)
    if parts is None:
        return []
    return [x for part in parts.values() for x in coordinates(part, exactly)]


def _of_number(value, exactly):
    complex_ = value.is_complex if isinstance(value, Exact) else np.iscomplexobj(value)
    number = Exact(value)
    parts = [number.real, number.imag] if complex_ else [number]
    return parts if exactly else [float(part.value) for part in parts]


def from_coordinates(like, numbers, array):
    """A tree like `like` made of the next of `numbers`; `array(items, like)` makes its arrays."""
    if is_number(like):
        return _next_number(like, numbers)
    if is_numeric_array(like):
        items = [_next_number(like[index], numbers) for index in np.ndindex(like.shape)]
        return array(items, like)
    parts = children(like)
    if parts is None:
        return like
    return rebuilt(
        like, {key: from_coordinates(part, numbers, array) for key, part in parts.items()}
    )


def _next_number(like, numbers):
    real = next(numbers)
    if not np.iscomplexobj(like):
        return real
    imag = next(numbers)
    if isinstance(real, Exact):
        return Exact(real.value + 1j * imag.value)
    return complex(real, imag)


def float_array(items, like):
    dtype = like.dtype if like.dtype.kind in "fc" else float
    return np.array(items, dtype=dtype).reshape(like.shape)


def random_like(value, seed=0):
    """A tangent or cotangent for `value`, with no number in it that is near zero."""
    random = np.random.default_rng(seed)
    size = len(coordinates(value))
    draws = random.uniform(0.2, 1.0, size) * random.choice([-1.0, 1.0], size)
    drawn = from_coordinates(value, iter(draws.tolist()), float_array)
    return map_leaves(lambda leaf: leaf, drawn)


def assert_looks_like_a_gradient(found, argument, path="gradient"):
    """The table *What a gradient looks like*: types, shapes, dtypes and structure."""
    if is_number(argument):
        expected = complex if np.iscomplexobj(argument) else float
        assert isinstance(found, expected), f"{path}: {found!r} is not a {expected.__name__}"
    elif isinstance(argument, np.ndarray) and argument.dtype.kind in "iufc":
        assert isinstance(found, np.ndarray), f"{path}: {type(found)} is not an array"
        dtype = argument.dtype if argument.dtype.kind in "fc" else np.dtype(float)
        assert (found.shape, found.dtype) == (argument.shape, dtype), path
    elif children(argument) is None:
        assert found is None, f"{path}: {found!r} for {argument!r}"
    else:
        expected = SimpleNamespace if is_plain_object(argument) else type(argument)
        assert type(found) is expected, f"{path}: {type(found)} for {type(argument)}"
        parts, found_parts = children(argument), children(found)
        assert list(parts) == list(found_parts), path
        for key, part in parts.items():
            assert_looks_like_a_gradient(found_parts[key], part, f"{path}[{key!r}]")


def assert_close(found, expected, rel=1e-11, scale=1e-3):
    """Coordinate by coordinate; NaN is close to nothing.

    A coordinate may miss by `rel` of itself plus `rel` / 100 of the largest one (at least of
    `scale`: terms that cancel altogether leave a rounding error behind).
    """
    found, expected = coordinates(found), coordinates(expected)
    assert len(found) == len(expected), f"{len(found)} numbers, {len(expected)} expected"
    largest = max([abs(x) for x in expected] + [scale])
    for position, (x, wanted) in enumerate(zip(found, expected, strict=True)):
        allowed = rel * abs(wanted) + rel / 100 * largest
        assert abs(x - wanted) <= allowed, (
            f"number {position} is {x!r}, not {wanted!r} (off by {abs(x - wanted):.3g}, "
            f"allowed {allowed:.3g}); found {found}, expected {expected}"
        )


def inner(a, b):
    """The real inner product of two trees of the same structure."""
    pairs = zip(coordinates(a), coordinates(b), strict=True)
    return float(np.sum([x * y for x, y in pairs]))
