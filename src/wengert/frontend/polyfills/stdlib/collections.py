"""Containers of `collections`, written in Python: the front end reads these instead."""

from __future__ import annotations

import array
import collections
import operator
import sys
from collections.abc import Callable, Iterator
from typing import Any, Self

from .container_bases import Dict, List, Tuple, contents_of

IN_ORDER = "__items__"
"""The attribute that a `Deque` keeps its items in."""


def _compared(op: Callable[[Any, Any], Any]) -> Callable[[Any, Any], bool]:
    return lambda self, other: op(self.__items__, list(other))


class Deque:
    """`collections.deque`, over a list."""

    def __init__(self, iterable: Any = (), maxlen: Any = None):
        self.__items__ = list(iterable)
        self.maxlen = maxlen
        if maxlen is not None:
            if maxlen < 0:
                raise ValueError("maxlen must be non-negative")
            while len(self.__items__) > maxlen:
                self.__items__.pop(0)

    def append(self, x: Any) -> None:
        self.__items__.append(x)
        if self.maxlen is not None:
            if len(self.__items__) > self.maxlen:
                self.__items__.pop(0)

    def appendleft(self, x: Any) -> None:
        self.__items__.insert(0, x)
        if self.maxlen is not None:
            if len(self.__items__) > self.maxlen:
                self.__items__.pop()

    def extend(self, iterable: Any) -> None:
        for x in iterable:
            Deque.append(self, x)

    def extendleft(self, iterable: Any) -> None:
        for x in iterable:
            Deque.appendleft(self, x)

    def pop(self) -> Any:
        if len(self.__items__) == 0:
            raise IndexError("pop from an empty deque")
        return self.__items__.pop()

    def popleft(self) -> Any:
        if len(self.__items__) == 0:
            raise IndexError("pop from an empty deque")
        return self.__items__.pop(0)

    def clear(self) -> None:
        self.__items__.clear()

    def copy(self) -> Any:
        if self.maxlen is None:
            return self.__class__(self)
        return self.__class__(self, self.maxlen)

    __copy__ = copy

    def rotate(self, n: int = 1) -> None:
        size = len(self.__items__)
        if size > 0:
            k = (-n) % size
            self.__items__[:] = self.__items__[k:] + self.__items__[:k]

    def reverse(self) -> None:
        self.__items__.reverse()

    def remove(self, value: Any) -> None:
        self.__items__.remove(value)

    def index(self, value: Any) -> int:
        return self.__items__.index(value)

    def count(self, value: Any) -> int:
        return self.__items__.count(value)

    def insert(self, i: int, x: Any) -> None:
        if self.maxlen is not None:
            if len(self.__items__) >= self.maxlen:
                raise IndexError("deque already at its maximum size")
        self.__items__.insert(i, x)

    def __len__(self) -> int:
        return len(self.__items__)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__items__)

    def __getitem__(self, index: int) -> Any:
        return self.__items__[index]

    def __setitem__(self, index: int, value: Any) -> None:
        self.__items__[index] = value

    def __delitem__(self, index: int) -> None:
        del self.__items__[index]

    def __contains__(self, value: Any) -> bool:
        return value in self.__items__

    def __bool__(self) -> bool:
        return len(self) > 0

    def __add__(self, other: Any) -> Any:
        joined = self.copy()
        Deque.extend(joined, other)
        return joined

    def __mul__(self, n: int) -> Any:
        repeated = self.copy()
        Deque.__imul__(repeated, n)
        return repeated

    def __iadd__(self, other: Any) -> Self:
        Deque.extend(self, other)
        return self

    def __imul__(self, n: int) -> Self:
        times = Deque(self.__items__ * n, self.maxlen)
        self.__items__[:] = times.__items__
        return self

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self.__items__ == list(other) if isinstance(other, collections.deque) else False

    __lt__, __le__ = _compared(operator.lt), _compared(operator.le)
    __gt__, __ge__ = _compared(operator.gt), _compared(operator.ge)


class DefaultDict(Dict):
    """`collections.defaultdict`, over a dictionary."""

    def __init__(self, default_factory: Any = None, *args: Any, **kwargs: Any):
        self.default_factory = default_factory
        self.__contents__.update(dict(*args, **kwargs))

    def __getitem__(self, key: Any) -> Any:
        own: type = type(self)
        if own is not collections.defaultdict:
            return Dict.__getitem__(self, key)  # its own class may say what is missing
        if key not in self.__contents__:
            self.__missing__(key)
        return self.__contents__[
            key
        ]  # one object, found or made: it can be followed when it changes

    def __missing__(self, key: Any) -> Any:
        if self.default_factory is None:
            raise KeyError(key)
        self.__contents__[key] = self.default_factory()
        return self.__contents__[key]

    def copy(self) -> Any:
        return self.__class__(self.default_factory, self.__contents__)

    __hash__ = None  # type: ignore[assignment]

    def __or__(self, other: Any) -> Any:
        joined = self.copy()
        joined.update(other)
        return joined


class OrderedDict(Dict):
    """`collections.OrderedDict`: a dictionary whose order counts when it is compared with another one."""

    def popitem(self, last: bool = True) -> Any:
        key = list(self.__contents__)[-1 if last else 0]
        return key, self.__contents__.pop(key)

    def move_to_end(self, key: Any, last: bool = True) -> None:
        if last:
            self.__contents__[key] = self.__contents__.pop(key)
        else:
            value = self.__contents__.pop(key)
            rest = list(self.__contents__.items())
            self.__contents__.clear()
            self.__contents__[key] = value
            for other, each in rest:
                self.__contents__[other] = each

    def copy(self) -> Any:
        return self.__class__(self.__contents__)

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, collections.OrderedDict):
            return list(self.__contents__.items()) == list(other.items())
        return self.__contents__ == contents_of(other) if isinstance(other, dict) else False

    def __or__(self, other: Any) -> Any:
        joined = self.copy()
        joined.update(other)
        return joined


def _counting(op: Callable[[Any, Any], Any]) -> Callable[..., None]:
    def change(self: Any, iterable: Any = (), **kwargs: Any) -> None:
        if isinstance(iterable, dict):
            for key, amount in iterable.items():
                self.__contents__[key] = op(self.__contents__.get(key, 0), amount)
        else:
            for key in iterable:
                self.__contents__[key] = op(self.__contents__.get(key, 0), 1)
        for key, amount in kwargs.items():
            self.__contents__[key] = op(self.__contents__.get(key, 0), amount)

    return change


class Counter(Dict):
    """`collections.Counter`: how often each item occurs, or any other amount of it."""

    def __init__(self, iterable: Any = (), **kwargs: Any):
        self.update(iterable, **kwargs)

    def __missing__(self, key: Any) -> Any:
        return 0

    update, subtract = _counting(operator.add), _counting(operator.sub)

    def total(self) -> Any:
        return sum(self.values())

    def most_common(self, n: Any = None) -> Any:
        pairs = sorted(self.items(), key=_amount, reverse=True)
        return pairs if n is None else pairs[:n]

    def copy(self) -> Any:
        return self.__class__(self.__contents__)

    def __add__(self, other: Any) -> Counter:
        total = Counter(self.__contents__)
        total.update(contents_of(other))
        return total._positive()

    def __sub__(self, other: Any) -> Counter:
        rest = Counter(self.__contents__)
        rest.subtract(contents_of(other))
        return rest._positive()

    def __or__(self, other: Any) -> Counter:
        keys = {**self.__contents__, **contents_of(other)}
        return Counter({key: max(self[key], other[key]) for key in keys})._positive()

    def __and__(self, other: Any) -> Counter:
        return Counter({key: min(self[key], other[key]) for key in self.__contents__})._positive()

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, collections.Counter):
            return self.__contents__ == contents_of(other) if isinstance(other, dict) else False
        keys = {**self.__contents__, **contents_of(other)}
        return all(self[key] == other[key] for key in keys)

    def _positive(self) -> Counter:
        return Counter({key: amount for key, amount in self.__contents__.items() if amount > 0})

    def elements(self) -> Any:
        return [key for key, amount in self.__contents__.items() for _ in range(amount)]


class NumberArray(List):
    """`array.array` of Python's floats."""

    def __init__(self, typecode: Any, initializer: Any = ()) -> None:
        self.typecode = typecode
        self.itemsize = 8
        self.__contents__[:] = [x for x in initializer]  # noqa: C416

    def tolist(self) -> Any:
        return list(self.__contents__)

    fromlist = List.extend


class Globals:
    """`globals()`: the names of a module, looked up one by one."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __getitem__(self, name: str) -> Any:
        if not hasattr(self.module, name):
            raise KeyError(name)
        return getattr(self.module, name)

    def get(self, name: str, default: Any = None) -> Any:
        return getattr(self.module, name, default)

    def __contains__(self, name: str) -> bool:
        return hasattr(self.module, name)

    def _refused(self, *args: Any) -> Any:
        return other_use_of_globals()

    __getattr__ = __setitem__ = __delitem__ = __iter__ = __len__ = __eq__ = __or__ = _refused


def other_use_of_globals() -> Any:
    """Refused wherever it is called."""


def _amount(pair: Any) -> Any:
    return pair[1]


CLASSES: dict[type, type] = {
    Deque: collections.deque,
    DefaultDict: collections.defaultdict,
    Counter: collections.Counter,
    OrderedDict: collections.OrderedDict,
    NumberArray: array.array,
    Globals: dict,
}
"""What an object is an instance of whose class stands in for another one."""


def class_to_see(cls: type) -> type:
    """The class that an object is an instance of for the program."""
    found = CLASSES.get(cls) or vars(cls).get("__stands_for__", cls)
    # of a module that is not loaded for it, by its name
    return getattr(sys.modules[found[0]], found[1]) if isinstance(found, tuple) else found


STAND_INS: list[tuple[type, Callable[..., Any]]] = [
    (collections.deque, Deque),
    (collections.defaultdict, DefaultDict),
    (collections.Counter, Counter),
    (collections.OrderedDict, OrderedDict),
]


def is_deque(cls: type) -> bool:
    """Whether objects of a class are deques."""
    return issubclass(class_to_see(cls), collections.deque)


BASES: dict[type, type] = {
    collections.deque: Deque,
    collections.defaultdict: DefaultDict,
    collections.Counter: Counter,
    collections.OrderedDict: OrderedDict,
    dict: Dict,
    list: List,
    tuple: Tuple,
}
"""What stands for a container of Python's among the classes that one of the user's is built on."""

FORMS: dict[type, str] = {Dict: "dict", List: "list", Tuple: "tuple"}
"""As what objects of the classes that stand in keep their items."""
