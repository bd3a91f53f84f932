"""The vocabulary of new arrays: constants, ranges, and arrays made of numbers and lists."""

from __future__ import annotations

import numpy as np

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import ZERO, Atom, Const, Eqn, Var
from ...ir.op import Fold, Infer, Op
from ...ir.types import FLOAT, INT, UNKNOWN, Array, Kind, Number, Struct
from .. import array_kinds as ak
from ..helpers import refuse_options
from ..registry import declare, named

# --- constants ----------------------------------------------------------------------------


def _of_shape(args: ak.Args, params: ak.Params) -> Kind:
    return Array(ak.dtype_option(params, "float64"), ak.length_of(params["shape"]))


def _of_rank(rank: int) -> Infer:
    return lambda args, params: Array(ak.dtype_option(params, "float64"), rank)


def _like(args: ak.Args, params: ak.Params) -> Kind:
    rank = ak.length_of(params["shape"]) if "shape" in params else ak.rank_of(args[0])
    return Array(ak.dtype_option(params, ak.dtype_of(args[0])), rank)


def _infer_full(args: ak.Args, params: ak.Params) -> Kind:
    return Array(ak.dtype_option(params, ak.dtype_of(args[1])), ak.length_of(args[0]))


def _in_shape_of_another(op: str) -> Fold:
    def fold(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
        """The equation, if its option `shape` is `x.shape`: its result has the shape, and the rank, of `x`."""
        given = params["shape"]
        source = builder.visible_definition(given) if isinstance(given, Var) else None
        if source is None or source.op.name != "shape":
            return None
        x = source.args[0]
        if not isinstance(x, Var) or not isinstance(x.kind, Array):
            return None
        out = Var(Array(ak.dtype_option(params, "float64"), x.kind.rank), "", x.shape_of)
        builder.append(Eqn((out,), named(op), (), params, (), namespace, builder.span))
        return out

    return fold


def _declared(op: str, spelling: str) -> Op:
    options = "*, shape, dtype=None, order='C'"
    return declare(op, options, infer=_of_shape, fold=_in_shape_of_another(op), np=spelling)


zeros_array = _declared("zeros_array", "zeros")
ones = _declared("ones", "ones")
empty = _declared("empty", "empty")
full = declare("full", "shape, fill_value, *, dtype=None, order='C'", infer=_infer_full, np="full")
zeros_like = declare(
    "zeros_like", "x, *, dtype=None, order='K'", infer=_like, np="zeros_like", total=True
)
ones_like = declare(
    "ones_like", "x, *, dtype=None, order='K'", infer=_like, np="ones_like", total=True
)
empty_like = declare(
    "empty_like", "x, *, dtype=None, order='K'", infer=_like, np="empty_like", total=True
)
full_like = declare(
    "full_like", "x, fill_value, *, dtype=None, order='K'", infer=_like, np="full_like"
)
eye = declare("eye", "*, N, M=None, k=0, dtype=None, order='C'", infer=_of_rank(2), np="eye")
identity = declare("identity", "*, n, dtype=None", infer=_of_rank(2), np="identity")
tri = declare("tri", "*, N, M=None, k=0, dtype=None", infer=_of_rank(2), np="tri")
grid_indices = declare(
    "indices",
    "*, dimensions",
    infer=lambda args, params: Array("int64", _one_more(ak.length_of(params["dimensions"]))),
    np="indices",
)
_ROWS_AND_COLUMNS = Struct("tuple", (0, 1), (Array("int64", 1), Array("int64", 1)))
tril_indices = declare(
    "tril_indices", "*, n, k=0, m=None", infer=lambda a, p: _ROWS_AND_COLUMNS, np="tril_indices"
)
triu_indices = declare(
    "triu_indices", "*, n, k=0, m=None", infer=lambda a, p: _ROWS_AND_COLUMNS, np="triu_indices"
)
diag_indices = declare("diag_indices", "*, n, ndim=2", infer=UNKNOWN, np="diag_indices")


def _one_more(rank: int | None) -> int | None:
    return None if rank is None else rank + 1


# --- ranges -------------------------------------------------------------------------------


def _infer_arange(args: ak.Args, params: ak.Params) -> Kind:
    kinds = [kind_of_atom(arg) for arg in args]
    known = all(kind in (INT, FLOAT) for kind in kinds)
    dtype = "float64" if FLOAT in kinds else "int64"
    return Array(ak.dtype_option(params, dtype if known else ""), 1)


def _fold_arange(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    """A range with a start is linear in its start and step; one with a stop alone is constant."""
    whole = ak.dtype_option(params, "float64").startswith(("int", "uint", "bool"))
    if len(args) == 1 or whole or ZERO in args:
        return None
    step = args[2] if len(args) == 3 else Const(1)
    made = builder.emit(arange_from, args[0], args[1], step, namespace=namespace)
    if params.get("dtype", Const(None)) == Const(None):
        return made
    return builder.emit_with(named("astype"), (made,), params, "method")


def _infer_linspace(args: ak.Args, params: ak.Params) -> Kind:
    ranks = [ak.rank_of(arg) for arg in args]
    known = [rank for rank in ranks if rank is not None]
    dtype = ak.promoted(Number("float"), *map(kind_of_atom, args))
    return Array(dtype, max(known) + 1 if len(known) == len(ranks) else None)


arange = declare(
    "arange",
    "start, stop, step, *, dtype=None",
    infer=_infer_arange,
    fold=_fold_arange,
    np="arange",
)
arange_from = declare("arange_from", "start, stop, step", infer=_infer_arange, np="arange")
linspace = declare(
    "linspace",
    "start, stop, *, num=50, endpoint=True, retstep=False, dtype=None, axis=0",
    infer=_infer_linspace,
    fold=refuse_options("linspace", retstep=False, dtype=None),
    np="linspace",
)

# --- from numbers and lists ---------------------------------------------------------------


def _infer_array(args: ak.Args, params: ak.Params) -> Kind:
    kind = kind_of_atom(args[0])
    rank, least = ak.rank_of_kind(kind), ak.constant(params.get("ndmin"), 0)
    rank = None if rank is None else max(rank, least)
    return Array(ak.dtype_option(params, ak.dtype_of_kind(kind)), rank)


def _fold_array(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> None:
    if "dtype" in params:
        ak.fold_no_text(builder, args, params, namespace)


def _fold_gather(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    return args[0] if isinstance(kind_of_atom(args[0]), Array) else None


array = declare(
    "array",
    "x, *, dtype=None, copy=True, order='K', ndmin=0",
    infer=_infer_array,
    fold=_fold_array,
    np="array",
    total=True,
)
asarray = declare(
    "asarray",
    "x, *, dtype=None, order=None",
    infer=_infer_array,
    fold=_fold_array,
    fresh=False,
    np="asarray asanyarray",
    total=True,
)
ascontiguousarray = declare(
    "ascontiguousarray",
    "x, *, dtype=None",
    infer=lambda args, params: Array(
        ak.dtype_option(params, ak.dtype_of(args[0])), _raised(ak.rank_of(args[0]))
    ),
    fresh=False,
    np="ascontiguousarray",
    total=True,
)
asfortranarray = declare(
    "asfortranarray",
    "x, *, dtype=None",
    infer=ascontiguousarray.infer,
    fresh=False,
    np="asfortranarray",
    total=True,
)
gather = declare(
    "gather",
    "x",
    infer=_infer_array,
    fresh=False,
    fold=_fold_gather,
    np="asarray",
    implementation=np.asarray,
    total=True,
)


fromstring = declare(
    "fromstring",
    "text, *, dtype=float, count=-1, sep=''",
    infer=lambda args, params: Array("", 1),
    fold=lambda b, args, p, n: (
        None if isinstance(args[0], Const) else ak.fold_no_text(b, args, {}, n)
    ),
    np="fromstring",
)


def _raised(rank: int | None) -> int | None:
    return None if rank is None else max(rank, 1)
