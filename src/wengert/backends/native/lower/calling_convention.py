"""The border between Python values and the loop form: what each leaf of an argument or a result is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ....ir.records import replace, value_record
from ..form.loopform import CODES, Code, Expr, Slot
from ..values.values import Origin, Unlowered


@value_record
class NumberLeaf:
    """A number; `numpy` says whether it is a scalar of NumPy's."""

    code: Code
    numpy: bool


@value_record
class ComplexLeaf:
    """A complex number, as its two parts."""

    numpy: bool


@value_record
class ArrayLeaf:
    """An array. `sizes` numbers its sizes: those with the same number are the same; None is 1."""

    code: Code
    sizes: tuple[int | None, ...]
    contiguous: bool


@value_record
class ComplexArrayLeaf:
    """An array of complex numbers, whose parts lie side by side."""

    sizes: tuple[int | None, ...]
    contiguous: bool


@value_record
class KnownLeaf:
    """None or text, which is compiled in."""

    value: Any


@value_record
class PartsLeaf:
    """Tuples, lists, dictionaries or objects that are built alike, part by part."""

    form: str
    keys: tuple[Any, ...]
    type: Any
    parts: tuple[ItemLeaf, ...]


@value_record
class RowsLeaf:
    """Lists or tuples of numbers that all have as many items."""

    item: NumberLeaf


ItemLeaf = NumberLeaf | ArrayLeaf | PartsLeaf | RowsLeaf

LONG_ROW = 6
"""Rows of more items are walked over, not taken apart, as the front end has it."""


@value_record
class ListLeaf:
    """A list or tuple of numbers of one type, of arrays of one shape, or of what is made of such, part by part."""

    item: ItemLeaf
    form: str


Leaf = NumberLeaf | ComplexLeaf | ArrayLeaf | ComplexArrayLeaf | KnownLeaf | ListLeaf


@value_record
class NumberResult:
    slot: Slot
    origin: Origin


@value_record
class ComplexResult:
    re: Slot
    im: Slot
    origin: Origin


@value_record
class ArrayResult:
    """An array; `given` says that the caller makes the memory, and `dims` are known to it."""

    pointer: Slot
    code: Code
    dims: tuple[Expr, ...]
    given: bool


@value_record
class ComplexArrayResult:
    """An array of complex numbers, whose parts lie side by side."""

    pointer: Slot
    dims: tuple[Expr, ...]


@value_record
class ListResult:
    """A list or tuple: how it lies in memory, in variables of the result."""

    value: Any
    form: str


@value_record
class ArgumentResult:
    """An argument, by number."""

    number: int


@value_record
class ViewResult:
    """A part of an argument, in the same memory; strides and where it starts count elements."""

    number: int
    start: Expr
    dims: tuple[Expr, ...]
    strides: tuple[Expr, ...]


@value_record
class KnownResult:
    value: Any


Result = (
    NumberResult
    | ComplexResult
    | ArrayResult
    | ComplexArrayResult
    | ListResult
    | ArgumentResult
    | ViewResult
    | KnownResult
)


class Sizes:
    """The sizes of all arrays of a call, numbered in the order in which they are met."""

    def __init__(self) -> None:
        self.known: dict[int, int] = {}

    def number(self, size: int) -> int | None:
        return None if size == 1 else self.known.setdefault(size, len(self.known))


def leaf_of(value: Any, sizes: Sizes) -> Leaf:
    """What a leaf of an argument is.

    Raises:
        Unlowered: it is nothing that native code can work with.
    """
    kind: type = type(value)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if isinstance(value, np.ndarray):
        return _array_leaf(value, sizes)
    if isinstance(value, np.generic) and value.dtype.name in CODES:
        return NumberLeaf(CODES[value.dtype.name], numpy=True)
    if kind in (complex, np.complex128):
        return ComplexLeaf(numpy=kind is not complex)
    if isinstance(value, float):
        raise Unlowered(f"a number of class {kind.__name__}")
    if isinstance(value, (list, tuple)) and value:
        items: Sequence[Any] = value
        return _list_leaf(items, sizes)
    if value is None or isinstance(value, str):
        return KnownLeaf(value)
    raise Unlowered(f"an argument of class {kind.__name__}")


_PLAIN: dict[type, NumberLeaf] = {
    float: NumberLeaf("f64", numpy=False),
    int: NumberLeaf("i64", numpy=False),
    bool: NumberLeaf("b1", numpy=False),
}


_CODES: dict[np.dtype[Any], Code] = {np.dtype(name): code for name, code in CODES.items()}
"""By dtypes, of which NumPy makes a name at every question."""


def _array_leaf(value: np.ndarray[Any, Any], sizes: Sizes) -> ArrayLeaf | ComplexArrayLeaf:
    code = _CODES.get(value.dtype)
    if (code is None and value.dtype != complex) or type(value) is not np.ndarray:
        raise Unlowered(f"an array of {value.dtype.name}")
    if any(stride % value.itemsize for stride in value.strides) or not value.flags.aligned:
        raise Unlowered("an array whose elements are not aligned")
    numbers = tuple(map(sizes.number, value.shape))
    if code is None:
        return ComplexArrayLeaf(numbers, value.flags.c_contiguous)
    return ArrayLeaf(code, numbers, value.flags.c_contiguous)


def _list_leaf(value: Sequence[Any], sizes: Sizes) -> ListLeaf:
    return ListLeaf(_item_leaf(value, sizes), "tuple" if isinstance(value, tuple) else "list")


def _item_leaf(values: Sequence[Any], sizes: Sizes) -> ItemLeaf:
    """What the items of a list are."""
    if len(set(map(type, values))) > 1:
        raise Unlowered("a list of items of different types")
    built = _built(values[0])
    if built is not None:
        form, keys, type_ = built
        if issubclass(type(values[0]), (tuple, list)):
            alike = set(map(len, values)) == {len(keys)}
        elif form == "dict":
            alike = set(map(tuple, values)) == {keys}
        else:
            alike = all(_built(x) == built for x in values)
        if not alike:
            raise Unlowered("a list of items that are built in different ways")
        if form in ("tuple", "list") and len(keys) > LONG_ROW:
            item = _item_leaf([x for row in values for x in row], sizes)
            if isinstance(item, NumberLeaf):
                return RowsLeaf(item)
        columns = columns_of(form, values)
        return PartsLeaf(form, keys, type_, tuple(_item_leaf(c, sizes) for c in columns))
    item = leaf_of(values[0], sizes)
    if isinstance(item, ArrayLeaf):
        if any(x.shape != values[0].shape or x.dtype != values[0].dtype for x in values):
            raise Unlowered("a list of arrays of different shapes or types")
        return replace(item, contiguous=True)  # they are put one after the other
    if not isinstance(item, NumberLeaf):
        raise Unlowered("a list of something that is no number and no array")
    return item


def _built(value: Any) -> tuple[str, tuple[Any, ...], Any] | None:
    """The form of a container or an object, its keys and its class; None of all else."""
    cls: Any = type(value)
    if cls in (tuple, list) and value:
        return cls.__name__, tuple(range(len(value))), None
    if cls is dict and value:
        return "dict", tuple(value), None
    if hasattr(cls, "_fields") and issubclass(cls, tuple):
        return "namedtuple", tuple(value._fields), cls
    if hasattr(cls, "__dataclass_fields__") and getattr(value, "__dict__", None):
        return "dataclass", tuple(vars(value)), cls
    return None


def columns_of(form: str, values: Sequence[Any]) -> Iterable[tuple[Any, ...]]:
    """The parts of items that are built alike, each for all of them."""
    rows = values
    if form == "dict":
        rows = [value.values() for value in values]
    elif form == "dataclass":
        rows = [vars(value).values() for value in values]
    return zip(*rows, strict=True)


def arrays_in(leaf: Leaf | ItemLeaf) -> Iterator[ArrayLeaf | ComplexArrayLeaf]:
    """The arrays of a leaf, whose sizes a call has."""
    match leaf:
        case ArrayLeaf() | ComplexArrayLeaf():
            yield leaf
        case ListLeaf(item=item):
            yield from arrays_in(item)
        case PartsLeaf(parts=parts):
            for part in parts:
                yield from arrays_in(part)
        case _:
            pass
