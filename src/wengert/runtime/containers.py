"""Lists and dictionaries in generated code, and the cotangents that flow through them."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np


def join_lists(a: Any, b: Any) -> Any:
    """`a + b` for lists or tuples; a tuple and a list give a list."""
    return a + b if type(a) is type(b) else [*a, *b]


def made(cls: type, /, **attributes: Any) -> Any:
    """An object of a class with these attributes; its constructor is not run."""
    if issubclass(cls, tuple):
        return tuple.__new__(cls, attributes.values())
    x = cls.__new__(cls) if issubclass(cls, BaseException) else object.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(x, name, value)
    return x


def attributes_of(x: Any) -> dict[str, Any]:
    """What an object of a class keeps, in its `__dict__` and in slots."""
    names = [
        name
        for cls in type(x).__mro__
        for name in _slots(cls)
        if name not in ("__dict__", "__weakref__") and hasattr(x, name)
    ]
    return {**{name: getattr(x, name) for name in names}, **getattr(x, "__dict__", {})}


def _slots(cls: type) -> list[str]:
    slots = vars(cls).get("__slots__", ())
    owner = cls.__name__.lstrip("_")
    names = [slots] if isinstance(slots, str) else list(slots)
    private = [name.startswith("__") and not name.endswith("__") for name in names]
    return [f"_{owner}{n}" if p else n for n, p in zip(names, private, strict=True)]


def shallow_copy(x: Any) -> Any:
    """A new object with the items of another one."""
    return x.copy() if hasattr(x, "copy") else copy.copy(x)


def compress(items: list[Any], flags: list[bool]) -> list[Any]:
    """The items whose flag is set."""
    return [item for item, keep in zip(items, flags, strict=True) if keep]


def spread(kept: list[Any], flags: list[bool]) -> list[Any]:
    """The transpose of `compress`: a zero for every item that was left out."""
    items = iter(kept)
    return [next(items) if keep else 0.0 for keep in flags]


def flatten_lists(lists: list[list[Any]]) -> list[Any]:
    """The items of all the lists, one after the other."""
    return [item for items in lists for item in items]


def split_like(flat: list[Any], lists: list[list[Any]]) -> list[list[Any]]:
    """The transpose of `flatten_lists`."""
    result: list[list[Any]] = []
    start = 0
    for items in lists:
        result.append(list(flat[start : start + len(items)]))
        start += len(items)
    return result


def dict_of(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    """A dictionary from its keys and values."""
    return dict(zip(keys, values, strict=True))


def list_cotangent(items_bar: list[Any], items: Any) -> Any:
    """The cotangent of what was iterated over, from the cotangents of its items."""
    if isinstance(items, np.ndarray):
        dtype = complex if items.dtype.kind == "c" else float
        result = np.zeros(items.shape, items.dtype if items.dtype.kind in "fc" else dtype)
        for k, item_bar in enumerate(items_bar):
            result[k] = item_bar
        return result
    if isinstance(items, dict):
        return dict(zip(items, items_bar, strict=False))
    return list(items_bar)


def sorted_order(keys: list[Any], reverse: bool = False) -> list[int]:
    """The indices that sort a list, in the order `sorted` gives equal items."""
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def merge_dicts(a: Any, b: Any) -> Any:
    """`{**a, **b}`; a set with the items of `b`; of anything else `a | b`."""
    if isinstance(a, set):
        return a.union(b)
    return {**a, **b} if hasattr(a, "keys") else a | b
