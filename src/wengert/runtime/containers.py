"""Lists and dictionaries in generated code, and the cotangents that flow through them."""

from __future__ import annotations

import copy
from array import array
from collections import defaultdict, deque
from collections.abc import Iterator
from types import MemberDescriptorType
from typing import Any

import numpy as np


def join_lists(a: Any, b: Any) -> Any:
    """`a + b` for lists or tuples; a tuple and a list give a list."""
    return a + b if type(a) is type(b) else [*a, *b]


def made(cls: type, /, **attributes: Any) -> Any:
    """An object of a class with these attributes; its constructor is not run."""
    if CONTENTS in attributes:
        return built(cls, attributes)
    if issubclass(cls, tuple):
        return tuple.__new__(cls, attributes.values())
    x = cls.__new__(cls) if issubclass(cls, BaseException) else object.__new__(cls)
    for name, value in attributes.items():
        object.__setattr__(x, name, value)
    return x


def attributes_of(x: Any) -> dict[str, Any]:
    """What an object of a class keeps, in its `__dict__` and in slots, and the items of a container that it is."""
    kept = own_attributes(x)
    if not is_built_on_container(type(x)):
        return kept
    made_by = {"default_factory": x.default_factory} if isinstance(x, defaultdict) else {}
    return {CONTENTS: contents(x), **made_by, **kept}


def own_attributes(x: Any) -> dict[str, Any]:
    """What an object keeps in slots and in its `__dict__`; no `__getattr__` of its class is asked."""
    own = own_dictionary(x)
    if own is x:  # a dictionary whose attributes are its items
        own = {"__dict__": dict}
    return {**dict(_in_slots(x)), **own}


def own_dictionary(x: Any) -> dict[str, Any]:
    """The `__dict__` of an object, or an empty one; no `__getattr__` of its class is asked."""
    try:
        return object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}


def hold(x: Any, name: str, item: Any) -> None:
    """Have an object hold an attribute: in its `__dict__`, where a property has that name."""
    if isinstance(getattr(type(x), name, None), property):
        own_dictionary(x)[name] = item
    else:
        object.__setattr__(x, name, item)


def _in_slots(x: Any) -> Iterator[tuple[str, Any]]:
    for cls in type(x).__mro__:
        for name in _slots(cls) if "__slots__" in vars(cls) else ():
            slot = vars(cls).get(name)
            if isinstance(slot, MemberDescriptorType):
                try:
                    yield name, slot.__get__(x, type(x))
                except AttributeError:
                    continue  # nothing has been assigned to it


def _slots(cls: type) -> list[str]:
    slots = vars(cls)["__slots__"]
    owner = cls.__name__.lstrip("_")
    names = [slots] if isinstance(slots, str) else list(slots)
    private = [name.startswith("__") and not name.endswith("__") for name in names]
    return [f"_{owner}{n}" if p else n for n, p in zip(names, private, strict=True)]


# --- objects of classes that a program builds on Python's containers ------------------------

CONTENTS = "__contents__"
"""What stands among the attributes of such an object for its items, as a container of Python's own."""


def is_built_on_container(cls: type) -> bool:
    """Whether a class is one of a program's own that is built on a list, a tuple or a dictionary."""
    if cls in (list, tuple, dict) or not issubclass(cls, (list, tuple, dict)):
        return False
    made_in_python = bool(cls.__flags__ & 1 << 9)
    of_others = (
        cls.__module__ == "collections" or hasattr(cls, "_fields") or hasattr(cls, "of_class")
    )
    return made_in_python and not of_others


def own_base(cls: type) -> Any:
    """The class written in C that says how an object of such a class keeps its items."""
    return next(base for base in cls.__mro__ if not base.__flags__ & 1 << 9)


def contents(x: Any) -> Any:
    """The items of such an object as Python keeps them, whatever its class says of reading them.

    Of what looks like one, a gradient, those that it has.
    """
    if not is_built_on_container(type(x)):
        return x if isinstance(x, (list, tuple, dict)) else x.contents
    base = own_base(type(x))
    if issubclass(base, dict):
        return {key: base.__getitem__(x, key) for key in base.__iter__(x)}
    return [*list.__iter__(x)] if base is list else (*tuple.__iter__(x),)


def built(cls: type, attributes: dict[str, Any]) -> Any:
    """An object of such a class with these attributes and contents; its constructor is not run."""
    base = own_base(cls)
    x = base.__new__(cls, attributes[CONTENTS]) if base is tuple else base.__new__(cls)
    refill(x, attributes)
    return x


def refill(x: Any, attributes: dict[str, Any]) -> None:
    """Have such an object hold these attributes and contents."""
    base = own_base(type(x))
    for name, value in attributes.items():
        if name == "__dict__":
            object.__setattr__(x, name, x)
        elif name != CONTENTS:
            object.__setattr__(x, name, value)
        elif isinstance(x, list):
            list.__setitem__(x, slice(None), value)
        elif isinstance(x, dict):
            base.clear(x)
            for key, item in dict(value).items():
                base.__setitem__(x, key, item)


_READING = (
    "__getitem__", "__missing__", "__iter__", "__len__", "__contains__", "__eq__",
    "get", "keys", "values", "items", "__getattribute__",
)  # fmt: skip


def reads_plainly(cls: type) -> bool:
    """Whether the items of such an object are read as those of a container of Python's own are."""
    base = own_base(cls)
    return all(getattr(cls, name, None) is getattr(base, name, None) for name in _READING)


SEQUENCES = (deque, array, bytearray)
"""Containers written in C that hold items in order, as lists do; their cotangents are lists."""


def values_held(x: Any) -> list[Any]:
    """What a container or an object holds: items, whatever its class says of reading them, and attributes."""
    if isinstance(x, SEQUENCES):
        return list(x)
    if isinstance(x, (list, tuple, dict)) and not is_built_on_container(type(x)):
        return list(x.values() if isinstance(x, dict) else x)
    kept = attributes_of(x)
    items = kept.pop(CONTENTS, [])
    return [*(items.values() if isinstance(items, dict) else items), *kept.values()]


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
