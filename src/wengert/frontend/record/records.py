"""Arrays of records in a run: each of their fields lies in the memory of the whole, and so does each record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...numbers.number import value_of
from .memory import Memory, may_have_derivatives, relaid
from .steps import Taken
from .tape import Seen

if TYPE_CHECKING:
    from .boxes import Recorded


def is_record(x: Any) -> bool:
    """Whether a value is a record, or an array of records."""
    value = value_of(x)
    return isinstance(value, (np.ndarray, np.void)) and value.dtype.names is not None


def item(box: Recorded, index: Any) -> Any:
    """What an index finds in a record or an array of records.

    Args:
        box: a box of records.
        index: a field, or places.
    """
    memory, record = box.memory, _as_array(box)
    assert memory is not None
    if record is not box:
        found = record[_name(record, index)]
        return found if np.ndim(value_of(found)) else found[()]
    found = box.value[index]
    lies_in = np.asarray(value_of(found))
    if not may_have_derivatives(lies_in):
        return value_of(found)
    if isinstance(index, str) or memory.holds(lies_in):
        return box.seen_as(found)
    own = Memory(found)
    own.active = memory.active and box.tape.is_open
    if own.active:
        taken = Taken(memory, value_of(box.value), index, Seen(found, own, keeps=False))
        box.tape.entries.append(taken)
    return type(box)(found, box.tape, memory=own)


def write(box: Recorded, index: Any, value: Any) -> None:
    """Write to a record or to an array of them, field by field."""
    record = _as_array(box)
    if record is not box:
        record[_name(record, index)][...] = value
    elif isinstance(index, str):
        box[index][...] = value
    else:
        names = value_of(box).dtype.names
        values = [_field(value, k) for k in range(len(names))]
        for name, each in zip(names, values, strict=True):
            box[name][index] = each


def copied(box: Recorded) -> Any:
    """A copy of a record, or of an array of records."""
    record = _as_array(box)
    found = record.value.copy()
    made = type(box)(found, box.tape, memory=Memory(found))
    write(made, ..., record)
    return made if record is box else made[()]


def _as_array(box: Recorded) -> Recorded:
    """A box of a record as one of an array of no axes that lies in the same memory."""
    plain = value_of(box)
    if not isinstance(plain, np.void):
        return box
    return box.seen_as(relaid(box.value, np.asarray(plain)))


def _name(record: Recorded, index: Any) -> Any:
    """A field by its name or its number."""
    return index if isinstance(index, str) else value_of(record).dtype.names[index]


def _field(value: Any, k: int) -> Any:
    """What is written to the k-th field of records."""
    if is_record(value):
        found = value[value_of(value).dtype.names[k]]
        # what is written lies where it is read, perhaps
        return found.copy() if np.ndim(value_of(found)) else found
    if isinstance(value, tuple):
        return value[k]
    return [_field(row, k) for row in value] if isinstance(value, list) else value
