"""Cotangents of what loops walk over and containers are joined of.

The text of these functions is copied into saved derivatives, so each uses NumPy and the others only.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .containers import CONTENTS, SEQUENCES
from .cotangents import of_items, zeros


def collected_cotangent(items_bar: list[Any], items: Any, reverse: bool = False) -> Any:
    """The cotangent of what a loop iterated over, from the cotangents of the items it reached.

    `reverse` says that the loop ran backwards, so that the items it did not reach are the first.
    """
    if isinstance(items, (dict, set)):
        return zeros(items)  # iterating gave its keys
    if isinstance(items, SEQUENCES):
        return collected_cotangent(items_bar, list(items), reverse)
    if isinstance(items, np.ndarray):
        n = len(items_bar)
        start = len(items) - n if reverse else 0
        result = zeros(items)
        if n:
            bars = np.asarray(items_bar)
            result[start : start + n] = bars if items.dtype.kind == "c" else np.real(bars)
        return result
    if complex in map(type, items_bar) or np.complex128 in map(type, items_bar):
        # what is real has a real cotangent, also beside complex items
        reached = items[len(items) - len(items_bar) :] if reverse else items
        pairs = zip(items_bar, reached, strict=False)
        items_bar = [bar.real if isinstance(x, float) else bar for bar, x in pairs]
    missing = len(items) - len(items_bar)
    rest = items[:missing] if reverse else items[len(items) - missing :]
    return [*zeros(rest), *items_bar] if reverse else [*items_bar, *zeros(rest)]


def items_reached(bar: Any, items_bar: list[Any], items: Any, reverse: bool = False) -> Any:
    """The cotangents of the items that a loop reached, from that of all it iterated over."""
    if isinstance(items, dict):
        return zeros(items_bar)  # iterating gave its keys
    listed, n = list(bar), len(items_bar)
    return listed[len(listed) - n :] if reverse else listed[:n]


def nested_list(x_bar: Any, depth: int, numbers: bool = False) -> list[Any] | None:
    """The cotangent of lists in lists, so deep, as such: of an array that was made of them it is an array.

    `numbers`: the innermost hold numbers or arrays, or nothing, whose cotangent is a number that adds to any.
    """
    if x_bar is None:
        return None
    if depth == 1:
        return [0.0 if item is None and numbers else item for item in x_bar]
    return [nested_list(item, depth - 1, numbers) for item in x_bar]


def shadow_items(x_bar: Any) -> list[Any]:
    """The tangents of the items that iterating over a container gives."""
    if isinstance(x_bar, dict):
        if CONTENTS in x_bar:
            raise of_items("an object")
        return [zeros(key) for key in x_bar]
    return list(x_bar)


def entries_of(merged: Any, x: Any, others: Any) -> Any:
    """The entries of a merged dictionary that came from `x`; zeros for those that `others` took the place of."""
    if not hasattr(x, "keys"):
        return 0.0
    lost = () if others is None else others
    return {key: merged[key] if key in merged and key not in lost else zeros(x[key]) for key in x}


def values_at(mapping: Any, keys: list[Any], values: list[Any]) -> list[Any]:
    """The transpose of `dict_of`: of a key that occurs twice only the last value counted."""
    last = {key: k for k, key in enumerate(keys)}
    return [
        mapping[key] if last[key] == k else zeros(value)
        for k, (key, value) in enumerate(zip(keys, values, strict=True))
    ]
