"""Copies of what is about to change: snapshots of values, in memory of their own.

The text of these functions is copied into saved derivatives, so each uses NumPy and the others only.
"""

from __future__ import annotations

import copy
from array import array
from collections import deque
from enum import Enum
from typing import Any

import numpy as np

from .containers import (
    CONTENTS,
    attributes_of,
    built,
    is_built_on_container,
    own_dictionary,
    refill,
)


def can_change(x: Any) -> bool:
    """Whether a value read from a container is an object that writes may change."""
    immutable = (
        bool,
        int,
        float,
        complex,
        str,
        bytes,
        tuple,
        frozenset,
        range,
        np.generic,
        type(None),
        Enum,
    )
    return not isinstance(x, immutable) and type(x).__module__ not in ("decimal", "fractions")


def snapshot(x: Any, unbound: bool = False, parted: bool = False, copies: Any = None) -> Any:
    """What `x` holds now, in memory that later writes to `x` do not reach.

    `unbound`: it may be nothing. `parted`: where two items of `x` are one object, they are two in the copy.
    `copies`: what some of its items are copied as, by their identity.
    """
    if type(x) is float:
        return x
    if unbound and type(x).__name__.endswith("Undefined"):
        return x
    return _copied(x, _Around() if parted else dict(copies or {}))


class _Around(dict[int, Any]):
    """The copies of what is being copied, which may hold itself; of what else was copied it knows none."""


def _copied(x: Any, copies: dict[int, Any]) -> Any:
    if isinstance(x, (bool, int, float, complex, str, bytes, range, np.generic)) or x is None:
        return x
    if id(x) in copies:
        return copies[id(x)]
    made = _copied_array(x, copies) if isinstance(x, np.ndarray) else _copied_container(x, copies)
    if isinstance(copies, _Around):
        copies.pop(id(x), None)
    return made


def _copied_array(x: Any, copies: dict[int, Any]) -> Any:
    copies[id(x)] = made = lying_alike(x)
    return made


def lying_alike(x: Any) -> Any:
    """A copy of an array that lies in memory as the array does: what gives a view of one gives a view of the other.

    What only repeats others, as `np.broadcast_to` gives it, has elements of its own in the copy: it may be written to.
    """
    made = x.copy(order="K")
    strided = type(x) is np.ndarray and not any(step % x.itemsize for step in x.strides)
    if made.strides == x.strides or not x.size or not strided or not all(x.strides):
        return made
    spans = [(n - 1) * step // x.itemsize for n, step in zip(x.shape, x.strides, strict=True)]
    before = -sum(span for span in spans if span < 0)
    memory = np.empty(1 + sum(map(abs, spans)), x.dtype)
    made = np.lib.stride_tricks.as_strided(memory[before:], x.shape, x.strides)
    made[...] = x
    return made


def _copied_container(x: Any, copies: dict[int, Any]) -> Any:
    if isinstance(x, (set, frozenset, bytearray)):
        return x.copy()
    if isinstance(x, (deque, array)):
        copies[id(x)] = made = copy.copy(x)
        for k, item in enumerate(x):
            made[k] = _copied(item, copies)
        return made
    if is_built_on_container(type(x)):
        return _copied_contents(x, copies)
    if isinstance(x, list):
        copies[id(x)] = made = []
        made += [_copied(item, copies) for item in x]
        return made
    if isinstance(x, dict):
        copies[id(x)] = made = (
            {} if type(x) is dict else x.copy()
        )  # which makes items that are missing
        for key, item in x.items():
            made[key] = _copied(item, copies)
        return made
    if isinstance(x, tuple):
        # whose class may have a constructor of its own, and say how its items are walked over
        return tuple.__new__(type(x), [_copied(item, copies) for item in tuple.__iter__(x)])
    return _copied_object(x, copies)


def _copied_contents(x: Any, copies: dict[int, Any]) -> Any:
    """A copy of an object of a class that is built on a container, which may hold itself unless it is a tuple."""
    kept = attributes_of(x)
    items = kept.pop(CONTENTS)  # made for this, so that it has no identity
    again = None if isinstance(x, tuple) else built(type(x), {CONTENTS: ()})
    if again is not None:
        copies[id(x)] = again
    if isinstance(items, dict):
        items = {key: _copied(item, copies) for key, item in items.items()}
    else:
        items = type(items)([_copied(item, copies) for item in items])
    kept = {CONTENTS: items, **{name: _copied(item, copies) for name, item in kept.items()}}
    if again is None:
        return built(type(x), kept)
    refill(again, kept)
    return again


_MADE_IN_PYTHON = 1 << 9
"""The flag of classes that are not written in C (`Py_TPFLAGS_HEAPTYPE`)."""


def _copied_object(x: Any, copies: dict[int, Any]) -> Any:
    import random  # whose generators change when they are asked, which no derivative sees
    import types

    kept = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, random.Random)
    attributes = attributes_of(x)
    if isinstance(x, types.MethodType):
        return types.MethodType(x.__func__, _copied(x.__self__, copies))
    if isinstance(x, kept) or not attributes:
        return x
    if hasattr(type(x), "__snapshot__"):  # a pullback, which knows what it needs
        return x.__snapshot__()
    plain = type(x).__new__ is object.__new__
    if plain and not type(x).__flags__ & _MADE_IN_PYTHON:
        return x  # a ufunc, say
    copies[id(x)] = made = object.__new__(type(x)) if plain else copy.copy(x)
    own = own_dictionary(made)  # where a property may have the name of an attribute
    for name, item in attributes.items():
        if name in own_dictionary(x):
            own[name] = _copied(item, copies)
        else:
            object.__setattr__(made, name, _copied(item, copies))
    return made
