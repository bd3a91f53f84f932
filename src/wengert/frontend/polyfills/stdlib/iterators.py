"""Python's functions on iterators, as generators: they ask for an item when they are asked for one.

Where nothing that they walk over is an iterator that somebody else may ask as well, `equivalents` has
shorter ones, which give lists.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

from ..manifest import groups, refuse_negative


def step(iterator: Any) -> tuple[bool, Any]:
    """Whether an iterator has another item, and the item; the front end knows how."""
    raise NotImplementedError


def until(function: Any, sentinel: Any) -> Any:
    """`iter(function, sentinel)`."""
    while True:
        item = function()
        if item == sentinel:
            return
        yield item


def by_next(iterator: Any) -> Any:
    """An object that has a `__next__`."""
    while True:
        try:
            item = iterator.__next__()
        except StopIteration:
            return
        yield item


def by_index(items: Any) -> Any:
    """An object that has a `__getitem__` and no `__iter__`."""
    k = 0
    while True:
        try:
            item = items[k]
        except IndexError:
            return
        yield item
        k += 1


def by_index_from_the_end(items: Any) -> Any:
    """`reversed` of an object that has a `__getitem__` and a `__len__`."""
    for k in range(len(items) - 1, -1, -1):
        yield items[k]


def next_or(iterator: Any, default: Any) -> Any:
    """`next` of an object that has a `__next__`, with a default."""
    try:
        return iterator.__next__()
    except StopIteration:
        return default


def zip_(*iterables: Any, strict: bool = False) -> Any:
    """`zip`."""
    iterators = [iter(iterable) for iterable in iterables]
    while True:
        items = []
        for iterator in iterators:
            there, item = step(iterator)
            if not there:
                if strict and items:
                    k = len(items)
                    raise ValueError(f"zip() argument {k + 1} is shorter than {_up_to(k)}")
                if strict:
                    _must_all_end(iterators[1:], 1)
                return
            items.append(item)
        yield tuple(items)


def zip_around(before: Any, generator: Any, after: Any) -> Any:
    """`zip` of one generator and, before and after it, what can be asked for one item at a time."""
    earlier = [iter(each) for each in before]
    later = [iter(each) for each in after]
    ahead = ()
    for iterator in earlier:
        there, item = step(iterator)
        if not there:
            return
        ahead = (*ahead, item)
    for own in generator:
        items = (*ahead, own)
        for iterator in later:
            there, item = step(iterator)
            if not there:
                return
            items = (*items, item)
        yield items
        ahead = ()
        for iterator in earlier:
            there, item = step(iterator)
            if not there:
                return
            ahead = (*ahead, item)


def strict_zip_around(before: Any, generator: Any, after: Any) -> Any:
    """`zip(…, strict=True)` of one generator, with one or nothing before it."""
    earlier = [iter(each) for each in before]
    later = [iter(each) for each in after]
    position = len(earlier)
    goes_on, first = step(earlier[0]) if earlier else (True, None)
    for own in generator:
        if not goes_on:
            raise ValueError(f"zip() argument {position + 1} is longer than {_up_to(position)}")
        items = (first, own) if earlier else (own,)
        for k, iterator in enumerate(later, start=position + 1):
            there, item = step(iterator)
            if not there:
                raise ValueError(f"zip() argument {k + 1} is shorter than {_up_to(k)}")
            items = (*items, item)
        yield items
        if earlier:
            goes_on, first = step(earlier[0])
    if earlier and goes_on:
        raise ValueError(f"zip() argument {position + 1} is shorter than {_up_to(position)}")
    _must_all_end(later, position + 1)


def strict_zip(*lists: Any) -> Any:
    """`zip(…, strict=True)` of what has a length, which is compared when the first has come to its end."""
    for items in zip(*lists):  # noqa: B905, UP028 - a loop of its own, which can ask for items by index
        yield items
    equally_long(*[len(each) for each in lists])


def equally_long(*lengths: int) -> None:
    """Raise what `zip(…, strict=True)` raises where lengths differ; the front end knows how."""
    raise NotImplementedError


def _must_all_end(iterators: Any, first: int) -> None:
    """Raise where what is before the first of some iterators has come to its end, and not all of them have."""
    for k, iterator in enumerate(iterators, start=first):
        there, _ = step(iterator)
        if there:
            raise ValueError(f"zip() argument {k + 1} is longer than {_up_to(k)}")


def _up_to(k: int) -> str:
    return f"arguments 1-{k}" if k > 1 else "argument 1"


def reversed_(items: Any) -> Any:
    """`reversed` of a list."""
    return _backwards(items, len(items))


def _backwards(items: Any, length: int) -> Any:
    for k in range(length - 1, -1, -1):
        if k >= len(items):
            return
        yield items[k]


def enumerate_(iterable: Any, start: Any = 0) -> Any:
    """`enumerate`."""
    k = start
    for item in iterable:
        yield k, item
        k += 1


def map_(function: Any, *iterables: Any) -> Any:
    """`map`."""
    if len(iterables) == 1:
        for item in iterables[0]:
            yield function(item)
    else:
        for items in zip(*iterables):  # noqa: B905
            yield function(*items)


def filter_(function: Any, iterable: Any) -> Any:
    """`filter`."""
    for item in iterable:
        if item if function is None else function(item):
            yield item


def count(start: Any = 0, step: Any = 1) -> Any:
    """`itertools.count`."""
    k = start
    while True:
        yield k
        k = k + step


def cycle(iterable: Any) -> Any:
    """`itertools.cycle`."""
    items = list(iterable)
    while True:
        for item in items:  # noqa: UP028
            yield item


def repeat(item: Any) -> Any:
    """`itertools.repeat` without end."""
    while True:
        yield item


def chain(*iterables: Any) -> Any:
    """`itertools.chain`."""
    for iterable in iterables:
        yield from iterable


def chain_from_iterable(iterables: Any) -> Any:
    """`itertools.chain.from_iterable`."""
    for iterable in iterables:
        yield from iterable


def islice(iterable: Any, *bounds: Any) -> Any:
    """`itertools.islice`."""
    refuse_negative(bounds)
    start, stop, by = 0, None, 1
    if len(bounds) == 1:
        stop = bounds[0]
    elif len(bounds) == 2:
        start, stop = bounds
    else:
        start, stop, by = bounds
    if start is None:
        start = 0
    if by is None:
        by = 1
    if stop is not None and stop <= 0:
        return
    k, wanted = 0, start
    for item in iterable:
        if k == wanted:
            yield item
            wanted += by
        k += 1  # noqa: SIM113  # `enumerate` would be one more iterator
        if stop is not None and k >= stop:
            return


def accumulate(iterable: Any, func: Any = operator.add, *, initial: Any = None) -> Any:
    """`itertools.accumulate`."""
    begun = initial is not None
    if begun:
        total = initial
        yield total
    for item in iterable:
        total = func(total, item) if begun else item  # pyright: ignore[reportPossiblyUnboundVariable]
        begun = True
        yield total


def starmap(function: Any, iterable: Any) -> Any:
    """`itertools.starmap`."""
    for items in iterable:
        yield function(*items)


def pairs_below(count: int) -> Any:
    """`itertools.combinations(range(count), 2)`, which native code has loops for."""
    return [(i, j) for i in range(count) for j in range(i + 1, count)]


def filterfalse(predicate: Any, iterable: Any) -> Any:
    """`itertools.filterfalse`."""
    for item in iterable:
        if not (item if predicate is None else predicate(item)):
            yield item


def takewhile(predicate: Any, iterable: Any) -> Any:
    """`itertools.takewhile`."""
    for item in iterable:
        if not predicate(item):
            break
        yield item


def dropwhile(predicate: Any, iterable: Any) -> Any:
    """`itertools.dropwhile`."""
    dropping = True
    for item in iterable:
        if dropping and predicate(item):
            continue
        dropping = False
        yield item


def groupby(iterable: Any, key: Any = None) -> Any:
    """`itertools.groupby` of what nobody else asks: a group has no more items once the next is asked for."""
    for of_group, items in groups(iterable, key):
        group = iter(items)
        yield of_group, group
        for _ in group:
            pass


def groupby_(iterable: Any, key: Any = None) -> Any:
    """`itertools.groupby`."""
    iterator = iter(iterable)
    there, item = step(iterator)
    of_item = _key_of(key, item) if there else None

    def group(of_group: Any) -> Any:
        nonlocal there, item, of_item
        while there and of_item == of_group:
            yield item
            there, item = step(iterator)
            if there:
                of_item = _key_of(key, item)

    while there:
        current = group(of_item)
        yield of_item, current
        for _ in current:
            pass


def _key_of(key: Any, item: Any) -> Any:
    return item if key is None else key(item)


def any_(iterable: Any) -> Any:
    """`any`, which asks for no more than it needs."""
    for item in iterable:  # noqa: SIM110
        if item:
            return True
    return False


def all_(iterable: Any) -> Any:
    """`all`, which asks for no more than it needs."""
    for item in iterable:  # noqa: SIM110
        if not item:
            return False
    return True


def contains(iterator: Any, wanted: Any) -> Any:
    """`wanted in iterator`, which asks for no more than it needs."""
    for item in iterator:  # noqa: SIM110
        if item == wanted:
            return True
    return False


def reduce_(function: Any, iterable: Any, *initial: Any) -> Any:
    """`functools.reduce`, of a function that may change what the items are made of."""
    iterator = iter(iterable)
    if len(initial) == 1:
        total = initial[0]
    else:
        there, total = step(iterator)
        if not there:
            raise TypeError("reduce() of empty iterable with no initial value")
    for item in iterator:
        total = function(total, item)
    return total


LAZY: list[tuple[Any, Callable[..., Any]]] = [
    (itertools.chain, chain),
    (itertools.islice, islice),
    (itertools.accumulate, accumulate),
    (itertools.starmap, starmap),
    (itertools.filterfalse, filterfalse),
    (itertools.takewhile, takewhile),
    (itertools.dropwhile, dropwhile),
]
"""What stands for a function where something that it walks over is asked by others too."""

ENDLESS: list[tuple[Any, Callable[..., Any]]] = [(itertools.count, count), (itertools.cycle, cycle)]
