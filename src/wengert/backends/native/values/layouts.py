"""What the records of recursive functions hold: `containers.kept` writes and reads them."""

from __future__ import annotations

from collections.abc import Iterable

from ....ir.records import field, mutable_record
from ..form.loopform import Expr, Slot
from .values import PYTHON, Scalar, Tuple, Unlowered, Value

KEPT = "kept"


@mutable_record
class Item:
    """An item of a record: an example of it, and its first word."""

    like: Value
    start: int


@mutable_record
class Layout:
    """What the records of one function hold, once it has been lowered.

    Attributes:
        items: what is in them.
        record: the variable of a record where it is written.
        readers: those of records where they are read, word by word.
    """

    items: list[Item] = field(default_factory=list[Item])
    record: Slot | None = None
    readers: list[Slot] = field(default_factory=list[Slot])


def record_of(address: Expr, layout: Layout) -> Tuple:
    """What stands for a record."""
    return Tuple((Scalar(address, PYTHON),), KEPT, type=layout)


def is_kept(value: Value) -> bool:
    """Whether a value is a record."""
    return isinstance(value, Tuple) and value.form == KEPT


def must_be_open(value: Tuple) -> None:
    """Refuse to take a record for a container whose items are known one by one."""
    if is_kept(value):
        raise Unlowered("a container that a recursive function gives")


def layouts_in(values: Iterable[Value]) -> list[Layout]:
    """The layouts of the records among some values."""
    return [value.type for value in values if is_kept(value)]
