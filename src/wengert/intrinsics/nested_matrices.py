"""Matrices of derivatives that a program takes: their verbs are written in Python, and read."""

from __future__ import annotations

import numpy as np

from ..errors import BadArgument
from ..frontend import heap
from ..frontend.calls.calls import call
from ..frontend.domain.values import Args, Items, Kwargs, Value, kind_of_value
from ..frontend.machine.interpreter import Interpreter
from ..ir.graph import Const
from ..ir.types import Array, Kind, Number, Seq, Struct, Unknown
from ..ops.program.refusals import of_matrix
from ..runtime.containers import CONTENTS, reads_plainly


def class_of_contents(it: Interpreter, value: Value) -> type | None:
    """The class of an object whose items alone matter to a matrix of derivatives; None of what is no such object."""
    items = heap.now(it, value)
    if not isinstance(items, Items) or CONTENTS not in items.keys:
        return None
    if len(items.keys) == 1 and reads_plainly(items.type):
        return items.type
    raise _no_matrix(it, items.type)


def _no_matrix(it: Interpreter, cls: type) -> BadArgument:
    return BadArgument(*of_matrix(cls), it.builder.span)


def contents(it: Interpreter, value: Value) -> Value:
    items = heap.now(it, value)
    assert isinstance(items, Items)
    return heap.now(it, items[CONTENTS])


def is_number(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Whether a value is known to be one number."""
    return Const(isinstance(kind_of_value(args[0]), Number))


def has_parts(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Whether a value is known to be a container, and no row or table of numbers."""
    kind = kind_of_value(args[0])
    if isinstance(kind, Struct) and CONTENTS in kind.keys:
        raise _no_matrix(it, kind.type)
    return Const(_has_parts(kind))


def _has_parts(kind: Kind) -> bool:
    match kind:
        case Struct(form="list" | "tuple", items=items):
            lengths = {len(i.items) if isinstance(i, Struct) else None for i in items}
            return len(lengths) > 1 or any(isinstance(i, Array) or _has_parts(i) for i in items)
        case Struct(form="dict" | "namedtuple" | "dataclass"):
            return True
        case _:
            return False


def may_vary(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """Whether a part of an argument may be one to differentiate with respect to."""
    kind = kind_of_value(args[0])
    return Const(_has_parts(kind) or isinstance(kind, (Number, Array, Seq, Struct, Unknown)))


def as_array(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """A list or tuple of numbers as an array; what is of unknown kind may be one."""
    (y,) = args
    if _has_parts(kind_of_value(y)):
        return y
    match kind_of_value(y):
        case Seq() | Struct(form="list" | "tuple"):
            return call(it, Const(np.array), args, {})
        case Unknown():
            return call(it, Const(np.asarray), args, {})
        case _:
            return y
