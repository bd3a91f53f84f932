"""Constants of the IR as values."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ir.graph import UNDEFINED, Const
from ..form.loopform import CODES, Constant
from .complexes import known_number
from .values import NUMPY, PYTHON, Bounds, Scalar, StaticValue, Tuple, Unlowered, Value, number


def constant(atom: Const) -> Value:
    """What a constant is."""
    value = atom.value
    if atom is UNDEFINED or atom == UNDEFINED:
        return StaticValue(value)
    if isinstance(value, np.generic):
        return _numpy_scalar(value)
    if isinstance(value, complex):
        return known_number(value, PYTHON)
    if isinstance(value, (bool, int, float)):
        if isinstance(value, int) and abs(value) >= 2**63:
            raise Unlowered("an integer of more than 64 bits")
        return number(value)
    if isinstance(value, tuple):
        return Tuple(tuple(constant(Const(item)) for item in value), keys=tuple(range(len(value))))
    if isinstance(value, slice):
        parts = (value.start, value.stop, value.step)
        return Bounds(*(None if p is None else number(p) for p in parts))
    return StaticValue(value)


def _numpy_scalar(value: Any) -> Scalar | Tuple:
    if isinstance(value, np.complex128):
        return known_number(complex(value), NUMPY)
    code = CODES.get(value.dtype.name)
    if code is None:
        raise Unlowered(f"numbers of type {value.dtype.name}")
    return Scalar(Constant(value.item(), code), NUMPY)
