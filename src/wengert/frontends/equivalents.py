"""Standard functions that Python implements in C, written in Python: the front end reads these instead.

They give lists where the originals give iterators; nothing that the front end accepts can tell.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable
from typing import Any


def product(*iterables: Any, repeat: int = 1) -> Any:
    """`itertools.product`."""
    return functools.reduce(_extended, [list(i) for i in iterables] * repeat, [()])


def _extended(rows: Any, items: Any) -> Any:
    return [(*row, item) for row in rows for item in items]


def chain(*iterables: Any) -> Any:
    """`itertools.chain`."""
    return [item for iterable in iterables for item in iterable]


def chain_from_iterable(iterables: Any) -> Any:
    """`itertools.chain.from_iterable`."""
    return [item for iterable in iterables for item in iterable]


def islice(iterable: Any, *bounds: Any) -> Any:
    """`itertools.islice` of something finite."""
    return list(iterable)[slice(*bounds)]


def accumulate(iterable: Any, func: Any = operator.add, *, initial: Any = None) -> Any:
    """`itertools.accumulate`."""
    items = list(iterable)
    if initial is not None:
        total, rest = initial, items
    elif len(items) == 0:
        return []
    else:
        total, rest = items[0], items[1:]
    totals = [total]
    for item in rest:
        total = func(total, item)
        totals = [*totals, total]
    return totals


def repeat(item: Any, times: int) -> Any:
    """`itertools.repeat` with a number of times."""
    return [item for _ in range(times)]


def starmap(function: Any, iterable: Any) -> Any:
    """`itertools.starmap`."""
    return [function(*args) for args in iterable]


def pairwise(iterable: Any) -> Any:
    """`itertools.pairwise`."""
    items = list(iterable)
    return [(items[k], items[k + 1]) for k in range(len(items) - 1)]


def filterfalse(predicate: Any, iterable: Any) -> Any:
    """`itertools.filterfalse`."""
    return [item for item in iterable if not predicate(item)]


def takewhile(predicate: Any, iterable: Any) -> Any:
    """`itertools.takewhile`."""
    taken = []
    for item in iterable:
        if not predicate(item):
            break
        taken = [*taken, item]
    return taken


def combinations(iterable: Any, r: int) -> Any:
    """`itertools.combinations` of two."""
    items = list(iterable)
    if r != 2:
        raise NotImplementedError("only combinations of two are covered")
    return [(items[i], items[j]) for i in range(len(items)) for j in range(i + 1, len(items))]


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    (itertools.product, product),
    (itertools.chain, chain),
    (itertools.chain.from_iterable, chain_from_iterable),
    (itertools.islice, islice),
    (itertools.accumulate, accumulate),
    (itertools.repeat, repeat),
    (itertools.starmap, starmap),
    (itertools.pairwise, pairwise),
    (itertools.filterfalse, filterfalse),
    (itertools.takewhile, takewhile),
    (itertools.combinations, combinations),
]
