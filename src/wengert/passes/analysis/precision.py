"""Whether numbers narrower than Python's are about: those of 32 bits look like others before the run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import numpy as np

from ...ir.graph import Atom, Const, Eqn, Function, Var, walk
from ...ir.types import Array
from ...ops.array_kinds import dtype_name

_WIDE = frozenset(("float64", "complex128"))
_INEXACT = ("float", "complex", "longdouble", "clongdouble")


def is_of_64_bits(function: Function) -> bool:
    """Whether all numbers with a fraction that a function may meet are certainly of Python's own width."""
    if function.narrow:
        return False
    dtypes = set(_dtypes(list(walk(function.body)), function.body.params))
    return not any(not each or each.startswith(_INEXACT) for each in dtypes - _WIDE)


def _dtypes(eqns: Iterable[Eqn], params: Iterable[Var]) -> Iterator[str]:
    """The dtypes of arrays, of numbers that are written out, and those asked for; "" if the run decides."""
    inner = (each.params for eqn in eqns for each in eqn.blocks)
    for var in chain(params, *inner, *(eqn.outs for eqn in eqns)):
        if isinstance(var.kind, Array):
            yield var.kind.dtype
    for eqn in eqns:
        yield from map(_dtype_of_constant, eqn.args)
        if "dtype" in eqn.params:
            yield dtype_name(eqn.params["dtype"])
        if isinstance(eqn.op.implementation, type) and issubclass(
            eqn.op.implementation, np.inexact
        ):
            yield np.dtype(eqn.op.implementation).name


def _dtype_of_constant(atom: Atom) -> str:
    value = atom.value if isinstance(atom, Const) else None
    return value.dtype.name if isinstance(value, (np.generic, np.ndarray)) else "int64"
