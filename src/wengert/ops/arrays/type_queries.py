"""The vocabulary of questions about arrays, their memory and their types: answers have no derivative."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Const
from ...ir.op import Op
from ...ir.types import BOOL, INT, SHAPE, UNKNOWN, Array, Kind, Number, Seq, Struct
from ..array_kinds import Args, Params
from ..helpers import helper
from ..registry import declare
from .shape import dtype


def _about(name: str, signature: str, kind: Kind = UNKNOWN) -> Op:
    return declare(name, signature, infer=kind, np=name)


def _of_type(name: str, function: Callable[[Any], Any]) -> Op:
    """What is known of a type is known when the program is read, if the type is."""

    def fold(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
        known = _known_type(builder, args[0])
        return None if known is None else Const(function(known))

    return declare(name, "dtype", infer=UNKNOWN, fold=fold, np=name)


def _known_type(builder: Builder, asked: Atom) -> Any:
    """The type that is asked about, also where it is that of an array whose kind says it."""
    if isinstance(asked, Const):
        return asked.value
    eqn = builder.visible_definition(asked)
    kind = kind_of_atom(eqn.args[0]) if eqn is not None and eqn.op is dtype else None
    return np.dtype(kind.dtype) if isinstance(kind, Array) and kind.dtype else None


def _attribute(name: str, kind: Kind = UNKNOWN) -> Op:
    return declare(name, "x", infer=kind, attr=name)


def _fold_may_be_nan(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    known = _holds_floats(kind_of_atom(args[0]))
    return None if known is None else Const(known)


def _holds_floats(kind: Kind) -> bool | None:
    """Whether numbers of a kind are floats, or complex; None if that is open."""
    match kind:
        case Number(type=type_):
            return type_ in ("float", "complex")
        case Array(dtype=dtype) if dtype:
            return np.dtype(dtype).kind in "fc"
        case Seq(item=item):
            return _holds_floats(item)
        case Struct(items=items):
            found = {_holds_floats(item) for item in items}
            return True if True in found else None if None in found else False
        case _:
            return None


may_be_nan = helper("may_be_nan", "x", BOOL, fold=_fold_may_be_nan)

QUESTIONS = (
    may_be_nan,
    _about("may_share_memory", "a, b, *, max_work=None", BOOL),
    _about("shares_memory", "a, b, *, max_work=None", BOOL),
    _about("array_equiv", "a1, a2", BOOL),
    _about("result_type", "*arrays_and_dtypes"),
    _about("promote_types", "type1, type2"),
    *(_of_type(name, function) for name, function in (("finfo", np.finfo), ("iinfo", np.iinfo))),
    _about("can_cast", "from_, to, *, casting='safe'", BOOL),
    _about("min_scalar_type", "a"),
    _about("ravel_multi_index", "multi_index, dims, *, mode='raise', order='C'"),
    _about("unravel_index", "indices, shape, *, order='C'"),
    _about("einsum_path", "*operands, optimize='greedy', einsum_call=False"),
    _attribute("nbytes", INT),
    _attribute("itemsize", INT),
    _attribute("strides", SHAPE),
    _attribute("flags"),
)
