"""What classes inherit that are built on Python's containers, written in Python: the front end reads these instead.

The items of such an object are a container of Python's own, which stands among its attributes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self


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

    def __add__(self, other: Any) -> Any:
        return self.__contents__ + contents_of(other)

    def __mul__(self, n: Any) -> Any:
        return self.__contents__ * n

    def __rmul__(self, n: Any) -> Any:
        return self.__contents__ * n

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self.__contents__ == contents_of(other)

    def __ne__(self, other: object) -> bool:
        return self.__contents__ != contents_of(other)

    def __lt__(self, other: Any) -> bool:
        return self.__contents__ < contents_of(other)

    def __le__(self, other: Any) -> bool:
        return self.__contents__ <= contents_of(other)

    def __gt__(self, other: Any) -> bool:
        return self.__contents__ > contents_of(other)

    def __ge__(self, other: Any) -> bool:
        return self.__contents__ >= contents_of(other)

    def index(self, *args: Any) -> int:
        return self.__contents__.index(*args)

    def count(self, value: Any) -> int:
        return self.__contents__.count(value)


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

    def append(self, x: Any) -> None:
        self.__contents__.append(x)

    def extend(self, iterable: Any) -> None:
        self.__contents__.extend(iterable)

    def insert(self, index: Any, x: Any) -> None:
        self.__contents__.insert(index, x)

    def pop(self, *index: Any) -> Any:
        return self.__contents__.pop(*index)

    def remove(self, value: Any) -> None:
        self.__contents__.remove(value)

    def clear(self) -> None:
        self.__contents__.clear()

    def reverse(self) -> None:
        self.__contents__.reverse()

    def sort(self, *, key: Any = None, reverse: Any = False) -> None:
        self.__contents__.sort(key=key, reverse=reverse)

    def copy(self) -> Any:
        return self.__contents__.copy()


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

    def keys(self) -> Any:
        return self.__contents__.keys()

    def values(self) -> Any:
        return self.__contents__.values()

    def items(self) -> Any:
        return self.__contents__.items()

    def get(self, key: Any, default: Any = None) -> Any:
        return self.__contents__.get(key, default)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        return self.__contents__.setdefault(key, default)

    def pop(self, key: Any, *default: Any) -> Any:
        return self.__contents__.pop(key, *default)

    def popitem(self) -> Any:
        return self.__contents__.popitem()

    def update(self, *args: Any, **kwargs: Any) -> None:
        self.__contents__.update(dict(*args, **kwargs))

    def clear(self) -> None:
        self.__contents__.clear()

    def copy(self) -> Any:
        return self.__contents__.copy()

    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        return self.__contents__ == contents_of(other)

    def __ne__(self, other: object) -> bool:
        return self.__contents__ != contents_of(other)

    def __or__(self, other: Any) -> Any:
        return self.__contents__ | contents_of(other)

    def __ror__(self, other: Any) -> Any:
        return contents_of(other) | self.__contents__

    def __ior__(self, other: Any) -> Self:
        self.__contents__.update(dict(other))
        return self


def contents_of(other: Any) -> Any:
    """What an operand holds that is such an object, too; any other as it is."""
    return vars(other).get("__contents__", other)  # the front end knows without asking its class
