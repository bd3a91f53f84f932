"""Arrays of records: which calls of NumPy make one, and what is read in place of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.graph import Const
from ...ir.op import Op
from ..domain.values import Args, Items, Kwargs, Value, tuple_of
from ..machine.interpreter import Interpreter
from ..polyfills.numpy import records as written

_FILLED = {"zeros_array": np.zeros, "empty": np.empty, "ones": np.ones}


def made(it: Interpreter, op: Op, operands: Args, options: Kwargs) -> Value | None:
    """The array of records that a function of NumPy makes; None where its dtype has no fields."""
    dtype = _structured(it, options["dtype"])
    if dtype is None:
        return None
    described = [_fields(it, dtype), Const(dtype)]
    if op.name in _FILLED:
        make = Const(_FILLED[op.name])
        return it.call(Const(written.filled), [make, options["shape"], *described], {})
    if op.name in ("array", "asarray"):
        return it.call(Const(written.listed), [operands[0], *described], {})
    raise _refused(it, f"`{op.name}` with a dtype that has fields")


def _known(it: Interpreter, dtype: Value) -> Any:
    """What an argument says of a dtype; None where only the run knows."""
    try:
        said = it.constant(dtype)
    except LookupError:
        return None
    return list(said) if isinstance(said, tuple) else said  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _structured(it: Interpreter, dtype: Value) -> np.dtype[Any] | None:
    said = _known(it, dtype)
    known = np.dtype(said) if isinstance(said, (list, np.dtype)) else None
    return known if known is not None and known.names else None


def _fields(it: Interpreter, dtype: np.dtype[Any]) -> Items:
    """Of each field its name, the class of its numbers, and the axes that it has of its own."""
    fields: list[Value] = []
    for name in dtype.names or ():
        base, axes = dtype[name].base, dtype[name].shape
        if base.kind not in "biufc":
            raise _refused(it, f"the field {name!r} of an array of records is no number")
        fields.append(tuple_of(Const(name), Const(base.type), tuple_of(*map(Const, axes))))
    return tuple_of(*fields)


def _dtype(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`np.dtype` of what is known when the program is read."""
    said = _known(it, args[0])
    return it.call_foreign(np.dtype, args, kwargs) if said is None else Const(np.dtype(said))


def _named(make: Callable[..., Any]) -> Callable[[Interpreter, Args, Kwargs], Value]:
    """`np.rec.array` of a list of tuples, `np.rec.fromarrays` of the arrays of the fields."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        dtype = _structured(it, kwargs.get("dtype", Const(None)))
        if dtype is None or len(args) != 1 or len(kwargs) != 1:
            raise _refused(it, "a `recarray` without a dtype that is known")
        records = it.call(Const(make), [args[0], _fields(it, dtype), Const(dtype)], {})
        return it.call(Const(written.named), [records], {})

    return handler


def _refused(it: Interpreter, what: str) -> Exception:
    return it.unsupported(what, "Use one array for each field, or a dictionary of arrays.")


def _other_use(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    raise _refused(it, "this is not covered for an array of records")


HANDLERS: list[tuple[Any, Callable[[Interpreter, Args, Kwargs], Value]]] = [
    (np.dtype, _dtype),
    (np.rec.array, _named(written.listed)),
    (np.rec.fromarrays, _named(written.of_columns)),
    (written.other_use_of_records, _other_use),
]
