"""`heapq`, in Python: what it chooses keeps its derivative, the order that decides it has none."""

from __future__ import annotations

import functools
import heapq
from collections.abc import Callable
from typing import Any

from ..same_names import same_names


def nlargest(n: int, iterable: Any, key: Any = None) -> Any:
    """`heapq.nlargest`."""
    return sorted(iterable, key=key, reverse=True)[: max(n, 0)]


def nsmallest(n: int, iterable: Any, key: Any = None) -> Any:
    """`heapq.nsmallest`."""
    return sorted(iterable, key=key)[: max(n, 0)]


def merge(*iterables: Any, key: Any = None, reverse: bool = False) -> Any:
    """`heapq.merge`, as a list: streams that are merged one after the other are merged all at once."""
    streams = [list(iterable) for iterable in iterables]
    return functools.reduce(lambda a, b: _merged(a, b, key, reverse), streams, [])


def _merged(a: Any, b: Any, key: Any, reverse: bool) -> Any:
    merged, i, j = [], 0, 0
    while i < len(a) and j < len(b):
        x, y = (a[i], b[j]) if key is None else (key(a[i]), key(b[j]))
        if x < y if reverse else y < x:
            merged.append(b[j])
            j += 1
        else:
            merged.append(a[i])
            i += 1
    return [*merged, *a[i:], *b[j:]]


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = same_names(heapq, globals())
