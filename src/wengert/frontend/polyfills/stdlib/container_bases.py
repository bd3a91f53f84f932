"""What classes inherit that are built on Python's containers, written in Python: the front end reads these instead.

The items of such an object are a container of Python's own, which stands among its attributes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, Self


def _asked(name: str) -> Callable[..., Any]:
    return lambda self, *args, **named: getattr(self.__contents__, name)(*args, **named)


def _beside(op: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    return lambda self, other: op(self.__contents__, contents_of(other))


class Sequence:
    """What a list and a tuple have in common."""

    __contents__: Any

    def __len__(self) -> int:
        return len(self.__contents__)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__contents__)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(self.__contents__)

    def __getitem__(self, index: Any) -> Any:
        return self.__contents__[index]

    def __contains__(self, value: Any) -> bool:
        return value in self.__contents__

    __add__ = _beside(operator.add)

    def __mul__(self, n: Any) -> Any:
        return self.__contents__ * n

    __rmul__ = __mul__
    __hash__ = None  # type: ignore[assignment]

    __eq__, __ne__ = _beside(operator.eq), _beside(operator.ne)  # type: ignore[assignment]
    __lt__, __le__ = _beside(operator.lt), _beside(operator.le)
    __gt__, __ge__ = _beside(operator.gt), _beside(operator.ge)
    index, count = _asked("index"), _asked("count")


class Tuple(Sequence):
    """`tuple`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass


class List(Sequence):
    """`list`."""

    def __init__(self, iterable: Any = ()) -> None:
        self.__contents__[:] = [x for x in iterable]  # noqa: C416

    def __setitem__(self, index: Any, value: Any) -> None:
        self.__contents__[index] = value

    def __delitem__(self, index: Any) -> None:
        del self.__contents__[index]

    def __iadd__(self, other: Any) -> Self:
        self.__contents__.extend(other)
        return self

    def __imul__(self, n: Any) -> Self:
        self.__contents__[:] = self.__contents__ * n
        return self

    append, extend, insert = _asked("append"), _asked("extend"), _asked("insert")
    pop, remove, clear = _asked("pop"), _asked("remove"), _asked("clear")
    reverse, sort, copy = _asked("reverse"), _asked("sort"), _asked("copy")


class Dict:
    """`dict`."""

    __contents__: Any
    __missing__: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.__contents__.update(dict(*args, **kwargs))

    def __getitem__(self, key: Any) -> Any:
        if hasattr(type(self), "__missing__"):
            if key not in self.__contents__:
                return self.__missing__(key)
        return self.__contents__[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.__contents__[key] = value

    def __delitem__(self, key: Any) -> None:
        del self.__contents__[key]

    def __contains__(self, key: Any) -> bool:
        return key in self.__contents__

    def __len__(self) -> int:
        return len(self.__contents__)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.__contents__)

    def __reversed__(self) -> Iterator[Any]:
        return reversed(list(self.__contents__))

    keys, values, items = _asked("keys"), _asked("values"), _asked("items")
    get, setdefault = _asked("get"), _asked("setdefault")
    pop, popitem = _asked("pop"), _asked("popitem")
    clear, copy = _asked("clear"), _asked("copy")

    def update(self, *args: Any, **kwargs: Any) -> None:
        self.__contents__.update(dict(*args, **kwargs))

    __hash__ = None  # type: ignore[assignment]
    __eq__, __ne__ = _beside(operator.eq), _beside(operator.ne)  # type: ignore[assignment]
    __or__ = _beside(operator.or_)

    def __ror__(self, other: Any) -> Any:
        return contents_of(other) | self.__contents__

    def __ior__(self, other: Any) -> Self:
        self.__contents__.update(dict(other))
        return self


def contents_of(other: Any) -> Any:
    """What an operand holds that is such an object, too; any other as it is."""
    return vars(other).get("__contents__", other)  # the front end knows without asking its class
