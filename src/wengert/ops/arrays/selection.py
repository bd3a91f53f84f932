"""The vocabulary of entries: repeating, padding, selecting and ordering the entries of arrays."""

from __future__ import annotations

from ...ir.builder import Builder
from ...ir.graph import ZERO, Atom, Const, Var
from ...ir.types import UNKNOWN, Array, Kind, Number, Seq
from ...runtime.cotangents import unbroadcast
from .. import array_kinds as ak
from ..helpers import helper
from ..registry import declare, named
from .shape import converted_like

# --- repeating ----------------------------------------------------------------------------


def _infer_tile(args: ak.Args, params: ak.Params) -> Kind:
    rank, count = ak.rank_of(args[0]), ak.length_of(params["reps"])
    known = rank is not None and count is not None
    return Array(ak.dtype_of(args[0]), max(rank, count) if known else None)  # type: ignore[type-var]


def _flat_or_same(args: ak.Args, params: ak.Params) -> Kind:
    flat = ak.constant(params.get("axis", Const(None)), 0) is None
    return Array(ak.dtype_of(args[0]), 1 if flat else ak.rank_of(args[0]))


tile = declare("tile", "x, *, reps", infer=_infer_tile, np="tile")
untile = helper("untile", "y_bar, *, reps, like", ak.like_option)
repeat = declare(
    "repeat", "x, *, repeats, axis=None", infer=_flat_or_same, np="repeat", method="repeat"
)
unrepeat = helper("unrepeat", "y_bar, *, repeats, like, axis=None", ak.like_option)
_LINEAR_PADS = frozenset(("constant", "edge", "reflect", "symmetric", "wrap"))


def _fold_pad(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    """A mode that is not read off the array has no rule; neither have odd reflections."""
    mode = ak.constant(params.get("mode"), "constant")
    odd = params.get("reflect_type", Const("even")) != Const("even")
    if not isinstance(mode, str) or mode not in _LINEAR_PADS or odd:
        return builder.emit_with(pad_otherwise, args, params, "np")
    value = params.get("constant_values")
    if isinstance(value, Var) and (isinstance(value.kind, Number) or value.kind == UNKNOWN):
        return _padded_with(builder, args[0], params["pad_width"], value)
    return None


def _padded_with(builder: Builder, x: Atom, width: Atom, value: Var) -> Atom:
    """A border of one number that is computed, and converted to the dtype of the array."""
    number: Atom = value
    if value.kind == UNKNOWN:
        number = builder.emit(named("reshape"), value, namespace="np", shape=Const(()))
    number = converted_like(builder, number, x)
    ones = builder.emit(named("ones_like"), x, namespace="np", dtype=Const(bool))
    inside = builder.emit(pad, ones, namespace="np", pad_width=width)
    padded = builder.emit(pad, x, namespace="np", pad_width=width)
    return builder.emit(named("where"), inside, padded, number, namespace="np")


_PAD = "x, *, pad_width, mode='constant', constant_values=0, end_values=0, reflect_type='even'"
pad = declare("pad", _PAD, infer=ak.same_array, fold=_fold_pad, np="pad")
pad_otherwise = declare("pad_otherwise", _PAD + ", stat_length=None", infer=ak.same_array, np="pad")
"""`np.pad` in a mode that has no rule."""
pad_zeros = declare("pad_zeros", "x, *, pad_width, mode='constant'", infer=ak.same_array, np="pad")
unpad = helper("unpad", "y_bar, *, pad_width, like, mode='constant'", ak.like_option)

# --- selecting ----------------------------------------------------------------------------


def _infer_take(args: ak.Args, params: ak.Params) -> Kind:
    taken = ak.rank_of(params["indices"])
    rank = 1 if ak.constant(params.get("axis", Const(None)), 0) is None else ak.rank_of(args[0])
    if taken is None or rank is None:
        return UNKNOWN
    return ak.array_or_number(ak.dtype_of(args[0]), rank - 1 + taken)


def _infer_diag(args: ak.Args, params: ak.Params) -> Kind:
    rank = {1: 2, 2: 1}.get(ak.rank_of(args[0]) or 0)
    return Array(ak.dtype_of(args[0]), rank)


def _less_one(args: ak.Args, params: ak.Params) -> Kind:
    rank = ak.rank_of(args[0])
    return Array(ak.dtype_of(args[0]), None if rank is None else rank - 1)


def _infer_trace(args: ak.Args, params: ak.Params) -> Kind:
    rank = ak.rank_of(args[0])
    return ak.array_or_number(ak.dtype_of(args[0]), None if rank is None else rank - 2)


def _fold_undiag(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    """In derivative code: the transpose of making a matrix is reading its diagonal."""
    if not builder.derived or ZERO in args or ak.rank_of(params["like"]) != 1:
        return None
    options = {k: v for k, v in params.items() if k == "k" and v != Const(0)}
    return builder.emit_with(diag, args, options, "np")


def _fold_unrow(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    rank = ak.rank_of(params["like"])
    if ZERO in args or (rank is not None and rank > 1):
        return args[0]
    return builder.emit(named("unbroadcast"), args[0], params["like"], namespace=namespace)


take = declare(
    "take", "x, *, indices, axis=None, mode='raise'", infer=_infer_take, np="take", method="take"
)
untake = helper("untake", "y_bar, *, indices, like, axis=None, mode='raise'", ak.like_option)
take_along_axis = declare(
    "take_along_axis", "x, *, indices, axis=-1", infer=ak.along_axis, np="take_along_axis"
)
untake_along_axis = helper("untake_along_axis", "y_bar, *, indices, like, axis=-1", ak.like_option)


def _fold_diff(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    """What is put before or after the array is joined to it first; of no differences it is the array itself."""
    if params.get("n") == Const(0):
        return args[0]
    rest = {key: atom for key, atom in params.items() if key not in ("prepend", "append")}
    if len(rest) == len(params) or ZERO in args:
        return None
    axis = params.get("axis", Const(-1))
    before, after = ak.given_option(params.get("prepend")), ak.given_option(params.get("append"))
    parts = [
        atom if atom is args[0] else builder.emit(edge_like, atom, like=args[0], axis=axis)
        for atom in (before, args[0], after)
        if atom is not None
    ]
    keys = Const(tuple(range(len(parts))))
    packed = builder.emit(named("pack"), *parts, form=Const("tuple"), keys=keys, type=Const(None))
    joined = builder.emit(named("concatenate"), packed, namespace="np", axis=axis)
    return builder.emit_with(diff, (joined,), rest, "np")


edge_like = helper("edge_like", "x, *, like, axis=-1", ak.like_option)
diff = declare(
    "diff",
    "x, *, n=1, axis=-1, prepend=None, append=None",
    infer=ak.same_array,
    fold=_fold_diff,
    np="diff",
)
undiff = helper("undiff", "y_bar, *, like, n=1, axis=-1", ak.like_option)
unrow = declare(
    "unrow",
    "y_bar, *, like",
    infer=ak.like_option,
    fold=_fold_unrow,
    implementation=lambda y_bar, *, like: unbroadcast(y_bar, like),
    total=True,
)
"""The cotangent of what may have been a vector, repeated as the rows of a matrix."""
triu = declare("triu", "x, *, k=0", infer=ak.at_least_rank(2), np="triu")
tril = declare("tril", "x, *, k=0", infer=ak.at_least_rank(2), np="tril")
diag = declare("diag", "x, *, k=0", infer=_infer_diag, fresh=False, np="diag")
undiag = helper("undiag", "y_bar, *, like, k=0", ak.like_option, fold=_fold_undiag)
diagonal = declare(
    "diagonal",
    "x, *, offset=0, axis1=0, axis2=1",
    infer=_less_one,
    fresh=False,
    np="diagonal",
    method="diagonal",
)
undiagonal = helper("undiagonal", "y_bar, *, like, offset=0, axis1=0, axis2=1", ak.like_option)
trace = declare(
    "trace", "x, *, offset=0, axis1=0, axis2=1", infer=_infer_trace, np="trace", method="trace"
)
untrace = helper("untrace", "y_bar, *, like, offset=0, axis1=0, axis2=1", ak.like_option)

# --- ordering -----------------------------------------------------------------------------


def _infer_argsort(args: ak.Args, params: ak.Params) -> Kind:
    found = ak.along_axis(args, params)
    return Array("int64", found.rank) if isinstance(found, Array) else UNKNOWN


def _infer_searchsorted(args: ak.Args, params: ak.Params) -> Kind:
    return ak.array_or_number("int64", ak.rank_of(args[1]))


sort = declare("sort", "x, *, axis=-1, kind=None", infer=ak.along_axis, np="sort")
argsort = declare(
    "argsort", "x, *, axis=-1, kind=None", infer=_infer_argsort, np="argsort", method="argsort"
)
searchsorted = declare(
    "searchsorted",
    "x, values, *, side='left'",
    infer=_infer_searchsorted,
    np="searchsorted",
    method="searchsorted",
)
lexsort = declare(
    "lexsort",
    "keys, *, axis=-1",
    infer=lambda args, params: Array(
        "int64", None if (n := ak.rank_of(args[0])) is None else n - 1
    ),
    np="lexsort",
)
isin = declare(
    "isin",
    "element, test_elements, *, assume_unique=False, invert=False, kind=None",
    infer=lambda args, params: ak.array_or_number("bool", ak.rank_of(args[0])),
    np="isin",
)
argwhere = declare("argwhere", "x", infer=Array("int64", 2), np="argwhere", total=True)
flatnonzero = declare("flatnonzero", "x", infer=Array("int64", 1), np="flatnonzero", total=True)
nonzero = declare("nonzero", "x", infer=Seq(Array("int64", 1)), np="nonzero", method="nonzero")
