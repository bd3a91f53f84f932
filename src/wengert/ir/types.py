"""Kinds: what is known about a value before the program runs.

A kind is as much of a type as the transformations can use: a number needs no broadcasting, a
known array needs one shape comparison, a container is taken apart into its leaves, and `Unknown`
goes through the generic helpers of `wengert.runtime`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MethodType
from typing import Any, Literal

from .records import record, value_record

NumberType = Literal["bool", "int", "float", "complex"]
_NUMBER_ORDER: tuple[NumberType, ...] = ("bool", "int", "float", "complex")


class Kind:
    """Base of all kinds; compare with `==`, use as dictionary keys."""

    __slots__ = ()


@value_record
class Number(Kind):
    """A real or complex scalar: Python's, or a NumPy scalar."""

    type: NumberType

    def __str__(self) -> str:
        return self.type


@value_record
class Array(Kind):
    """An array; `dtype` is a NumPy dtype name or "" (unknown), `rank` its `ndim` or None."""

    dtype: str = ""
    rank: int | None = None

    def __str__(self) -> str:
        rank = "?" if self.rank is None else str(self.rank)
        return f"array[{self.dtype or '?'}, {rank}]"


@value_record
class Seq(Kind):
    """A list or tuple of any length whose items are all of one kind."""

    item: Kind

    def __str__(self) -> str:
        return f"seq[{self.item}]"


@value_record
class Map(Kind):
    """A dictionary of Python's own with any keys of one kind, whose items are all of one kind.

    `map_of` makes it: of items of which little is known, nothing is known of the dictionary.
    """

    key: Kind
    item: Kind

    def __str__(self) -> str:
        return f"map[{self.key}, {self.item}]"


@value_record
class Struct(Kind):
    """A container whose shape is known: its leaves are values of their own.

    `form` is "tuple", "list", "dict", "namedtuple", "dataclass", "object", "function" or "derivative";
    `type` is the class of a namedtuple, dataclass or object, what functions made by one `def` share,
    and what a derivative derives;
    `keys` are indices, dictionary keys, attribute names or captured names.
    """

    form: str
    keys: tuple[Any, ...]
    items: tuple[Kind, ...]
    type: Any = None

    def __str__(self) -> str:
        inside = ", ".join(
            f"{key}: {item}" for key, item in zip(self.keys, self.items, strict=True)
        )
        return f"{self.form}({inside})"


_BY_VALUE = (int, str, tuple, MethodType)


@record
class Static(Kind):
    """A value that is known itself: a plain function, a module, a class. It has no leaves.

    Compared by the identity of the value (numbers and strings by what they are).
    """

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Static):
            return False
        a, b = self.value, other.value
        return a is b or (isinstance(a, _BY_VALUE) and type(a) is type(b) and a == b)

    def __hash__(self) -> int:
        return hash(self.value) if isinstance(self.value, _BY_VALUE) else id(self.value)

    def __str__(self) -> str:
        return f"static({getattr(self.value, '__name__', type(self.value).__name__)})"


class _Unread:
    """What stands in a kind for what nobody has looked at."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "unread"


UNREAD = Static(_Unread())
"""What an argument or a global object holds and the program does not look at: anything. It has no leaves."""


@value_record
class Other(Kind):
    """A value that never carries a derivative: str, None, slice, range, dtype, shape …"""

    name: str

    def __str__(self) -> str:
        return self.name


@value_record
class Unknown(Kind):
    """Nothing is known."""

    def __str__(self) -> str:
        return "?"


BOOL, INT, FLOAT, COMPLEX = (Number(t) for t in _NUMBER_ORDER)
COUNTS = BOOL, INT
"""What a list may be multiplied by."""
ARRAY = Array()
UNKNOWN = Unknown()
NONE, STR, SLICE, RANGE, DTYPE = (Other(n) for n in ("None", "str", "slice", "range", "dtype"))
PICTURE = Other("picture")
"""What a library that draws gives, and whatever that holds."""
SHAPE = Seq(INT)


@value_record
class Picked(Kind):
    """A list or tuple of which the program looks at the items in some places only, which are of one kind."""

    item: Kind
    places: tuple[int, ...]

    def __str__(self) -> str:
        return f"picked[{self.item} at {', '.join(map(str, self.places))}]"


LIST = Picked(UNREAD, ())
"""A list of which the program looks at no item."""


_WITHOUT_NUMBERS = ("bool", "str", "bytes", "datetime", "timedelta", "void")


def is_differentiable(kind: Kind) -> bool:
    """Whether a value of this kind can carry a derivative (what is unknown may)."""
    match kind:
        case Number(type=t):
            return t != "bool"
        case Array(dtype=d):
            return not d.startswith(_WITHOUT_NUMBERS)
        case Seq(item=item) | Map(item=item):
            return is_differentiable(item)
        case Struct(items=items):
            return any(is_differentiable(item) for item in items)
        case Unknown():
            return True
        case _:
            return False


def join(a: Kind, b: Kind) -> Kind:
    """The most precise kind that covers both: the kind of a value that is `a` or `b`."""
    if a == b:
        return a
    match a, b:
        case Number(type=s), Number(type=t):
            return Number(max(s, t, key=_NUMBER_ORDER.index))  # pyright: ignore[reportArgumentType]
        case Array(dtype=d, rank=r), Array(dtype=e, rank=q):
            return Array(d if d == e else "", r if r == q else None)
        case Seq(item=i), Seq(item=j):
            return Seq(join(i, j))
        case Map(), Map():
            return map_of(join(a.key, b.key), join(a.item, b.item))
        case Struct(), Struct() if (a.form, a.keys, a.type) == (b.form, b.keys, b.type):
            items = tuple(join(i, j) for i, j in zip(a.items, b.items, strict=True))
            return Struct(a.form, a.keys, items, a.type)
        case _ if _is_text(a) and _is_text(b):
            return STR
        case _ if _is_sequence(a) and _is_sequence(b):
            return Seq(_joined([*_items(a), *_items(b)]))
        case _:
            return UNKNOWN


def map_of(key: Kind, item: Kind) -> Kind:
    """The kind of a dictionary of Python's own whose keys and items are of these kinds."""
    key = STR if _is_text(key) else UNKNOWN if isinstance(key, Static) else key
    return Map(key, item) if _is_followed(item) else UNKNOWN


def _is_followed(item: Kind) -> bool:
    match item:
        case Seq(item=inner) | Map(item=inner):
            return _is_followed(inner)
        case Struct(form="tuple" | "list" | "dict", items=items, type=None):
            return all(map(_is_followed, items))
        case _:
            return isinstance(item, (Number, Array))


def _is_text(kind: Kind) -> bool:
    return kind == STR or (isinstance(kind, Static) and isinstance(kind.value, str))


def _is_sequence(kind: Kind) -> bool:
    return isinstance(kind, Seq) or (isinstance(kind, Struct) and kind.form in ("tuple", "list"))


def _items(kind: Kind) -> tuple[Kind, ...]:
    match kind:
        case Seq(item=item):
            return (item,)
        case Struct(items=items):
            return items
        case _:
            return ()


def _joined(kinds: list[Kind]) -> Kind:
    if not kinds:
        return UNKNOWN
    result, *others = kinds
    for kind in others:
        result = join(result, kind)
    return result


# --- containers as trees ------------------------------------------------------------------


@value_record
class Step:
    """One step into a container: `how` is "item", "attr" or "cell"."""

    how: Literal["item", "attr", "cell"]
    key: Any


Path = tuple[Step, ...]

_STEP_HOW: dict[str, Literal["item", "attr", "cell"]] = {
    "tuple": "item", "list": "item", "dict": "item", "namedtuple": "attr", "dataclass": "attr", "object": "attr",
    "function": "cell", "derivative": "attr", "cell": "item", "iterator": "item", "star": "item",
}  # fmt: skip


def step_into(kind: Struct, key: Any) -> Step:
    """The step that leads from a container of this kind to its item `key`."""
    return Step(_STEP_HOW[kind.form], key)


def leaves(kind: Kind, path: Path = ()) -> Iterator[tuple[Path, Kind]]:
    """The leaves of a kind, in a fixed order, each with the path that leads to it."""
    match kind:
        case Struct(keys=keys, items=items):
            for key, item in zip(keys, items, strict=True):
                yield from leaves(item, (*path, step_into(kind, key)))
        case Static():
            return
        case _:
            yield path, kind


def tuple_kind(kinds: Iterable[Kind]) -> Struct:
    """The kind of a tuple of values of some kinds, each of them one leaf."""
    items = tuple(UNKNOWN if isinstance(kind, Struct) else kind for kind in kinds)
    return Struct("tuple", tuple(range(len(items))), items)
