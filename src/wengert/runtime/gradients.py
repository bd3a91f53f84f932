"""Gradients in their final form: of the shape, the dtype and the class of what they belong to.

The text of these functions is copied into saved derivatives, so each uses NumPy and the others only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .containers import (
    CONTENTS,
    SEQUENCES,
    attributes_of,
    contents,
    is_built_on_container,
    made,
    reads_plainly,
)
from .cotangents import of_items, zeros


def project(x_bar: Any, x: Any, owned: bool = False) -> Any:
    """The gradient of `x` in its final form: shape, dtype and realness of `x`, memory of its own.

    `owned` says that nothing else refers to the memory of an array `x_bar`.
    """
    if type(x_bar) is float and type(x) in _NUMBERS:
        return x_bar
    if type(x) in (list, tuple):
        return _project_list(zeros(x) if x_bar is None else x_bar, x)
    if isinstance(x, (bool, np.bool_)):
        return None
    if isinstance(x, np.ndarray):
        return _project_array(x_bar, x, owned)
    if isinstance(x, (complex, np.complexfloating)) and not isinstance(x, float):
        return complex(0 if x_bar is None else x_bar)
    if isinstance(x, (float, int, np.number)):
        return float(0 if x_bar is None else np.real(x_bar))
    return _project_container(zeros(x) if x_bar is None else x_bar, x)


def _project_list(x_bar: Any, x: Any) -> Any:
    if _NUMBERS.issuperset(map(type, x)) and _FLOATS.issuperset(map(type, x_bar)):
        if len(x) == len(x_bar):
            return type(x)(map(float, x_bar))
    return type(x)([project(b, item) for b, item in zip(x_bar, x, strict=True)])


_FLOATS = {float, np.float64}
_NUMBERS = {*_FLOATS, int}


def number_like(x: Any, like: Any) -> Any:
    """A tangent or cotangent as a real number of the class of the value that it belongs to."""
    return type(like)(x) if isinstance(like, (float, np.floating)) else x


def _project_array(x_bar: Any, x: Any, owned: bool) -> Any:
    if x.dtype.kind not in "fciu":
        return None
    dtype = x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)
    value = np.asarray(0.0 if x_bar is None else x_bar)
    if value.dtype.kind == "c" and dtype.kind != "c":
        value = np.real(value)
    if value.ndim < x.ndim:
        value = np.broadcast_to(value, x.shape)
    elif value.shape != x.shape:
        raise ValueError(
            f"operands could not be broadcast together with shapes {value.shape} {x.shape}"
        )
    elif owned and value.dtype == dtype and value.flags.owndata:
        return value
    return np.array(value, dtype)


def _project_container(x_bar: Any, x: Any) -> Any:
    if is_built_on_container(type(x)):
        return _project_attributes(x_bar, x)
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        return tuple.__new__(type(x), map(project, x_bar, tuple.__iter__(x)))
    if isinstance(x, (list, tuple)):
        return _project_list(x_bar, x)
    if isinstance(x, dict):
        return {key: project(x_bar.get(key), item) for key, item in x.items()}
    if isinstance(x, SEQUENCES):
        return [project(b, item) for b, item in zip(x_bar, x, strict=True)]
    shadow = zeros(x)
    return _project_attributes(x_bar, x) if isinstance(shadow, dict) else None


def _project_attributes(x_bar: Any, x: Any) -> Any:
    kept = attributes_of(x)
    others = [x_bar[name] for name in x_bar.keys() - kept.keys()]  # that it got later, or items
    if hasattr(type(x), "__getitem__") and not _is_zero(others):
        raise of_items(f"a {type(x).__name__}")
    return _like_object(x, {name: project(x_bar.get(name), item) for name, item in kept.items()})


def _is_zero(x_bar: Any) -> bool:
    if isinstance(x_bar, (list, tuple, dict)):
        return all(map(_is_zero, x_bar.values() if isinstance(x_bar, dict) else x_bar))
    return x_bar is None or not np.any(x_bar)


def _like_object(x: Any, items: dict[str, Any]) -> Any:
    import dataclasses
    import types

    if is_built_on_container(type(x)):
        return like_built_on(type(x), items)
    if not dataclasses.is_dataclass(x):
        return types.SimpleNamespace(**items)
    result = object.__new__(type(x))
    for name, item in items.items():
        object.__setattr__(result, name, item)
    return result


def like_built_on(cls: type, items: dict[str, Any]) -> Any:
    """What looks like an object of a class that is built on a container, with these attributes and contents.

    Where the class says itself how items are read, it is nothing but that.
    """
    import types

    if reads_plainly(cls):
        return made(cls, **items)
    return types.SimpleNamespace(**dict(zip(gradient_names(items), items.values(), strict=True)))


def parts_of_gradient(gradient: Any) -> dict[str, Any]:
    """What `like_built_on` was given; of a plain container that stands for it, its items."""
    if type(gradient) in (list, tuple, dict):
        return {CONTENTS: gradient}
    kept = {k: v for k, v in attributes_of(gradient).items() if k not in (CONTENTS, "contents")}
    return {CONTENTS: contents(gradient), **kept}


def gradient_names(names: Any) -> tuple[str, ...]:
    """What the attributes of an object are called in its gradient."""
    return tuple("contents" if name == CONTENTS else name for name in names)
