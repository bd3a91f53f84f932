"""NumPy's scalar types as functions: `np.float32(x)` rounds, its derivative does not; `np.int64(x)` has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import Atom, Const
from ..ir.types import BOOL, COMPLEX, FLOAT, INT, UNKNOWN, Array, Kind, Seq, Struct
from ..ops import registry as ops
from ..ops.array_kinds import Args, Params, fold_no_text
from ..ops.elementwise import real
from .forms import linear_rule, zero_rule


def _infer(number: Kind) -> Callable[[Args, Params], Kind]:
    def infer(args: Args, params: Params) -> Kind:
        kind = kind_of_atom(args[0])
        unsure = isinstance(kind, Array) and kind.rank is None  # an array of an array with axes
        return UNKNOWN if kind == UNKNOWN or unsure else number

    return infer


def _fold(type_: type) -> Callable[[Builder, Args, Params, str], Atom | None]:
    """Of an array the type gives an array: itself, where it is of that type."""

    def fold(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
        if not args:
            return Const(type_())
        kind = kind_of_atom(args[0])
        if not (isinstance(kind, (Seq, Struct)) or (isinstance(kind, Array) and kind.rank)):
            return fold_no_text(builder, args, params, namespace)
        dtype: dict[str, Any] = {"dtype": Const(type_)}
        return builder.emit_with(ops.named("asarray"), args[:1], dtype, "np")

    return fold


for _type in (np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
    _op = ops.foreign(_type, infer=_infer(INT))
    _op.fold = _fold(_type)
    zero_rule(_op)
_op = ops.foreign(np.bool_, infer=_infer(BOOL))
_op.fold = _fold(np.bool_)
zero_rule(_op)
for _type in (np.float16, np.float32, np.float64, np.longdouble):
    _op = ops.foreign(_type, infer=_infer(FLOAT))
    _op.fold = _fold(_type)
    linear_rule(_op, transpose=lambda ȳ, x: real(ȳ))
for _type in (np.complex64, np.complex128):
    _op = ops.foreign(_type, infer=_infer(COMPLEX))
    _op.fold = _fold(_type)
    linear_rule(_op, transpose=(lambda ȳ, re, im=0: ȳ, lambda ȳ, re, im: -1j * ȳ))
