"""The vocabulary of statistics and tables: quantiles, interpolation, counting, sorted places."""

from __future__ import annotations

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import ZERO, Atom, Const, Var
from ...ir.op import Op
from ...ir.types import UNKNOWN, Array, Kind, Struct
from .. import array_kinds as ak
from ..helpers import helper, refuse_options
from ..registry import declare, named
from .reduction import reduced_rank

# --- quantiles ----------------------------------------------------------------------------


def _infer_quantile(args: ak.Args, params: ak.Params) -> Kind:
    rank = reduced_rank(ak.rank_of(args[0]), params)
    asked = ak.rank_of(args[1]) if len(args) > 1 else 0
    known = rank is not None and asked is not None
    return ak.array_or_number(ak.inexact(ak.dtype_of(args[0])), rank + asked if known else None)  # type: ignore[operator]


def _infer_weights(args: ak.Args, params: ak.Params) -> Kind:
    rank, asked = ak.rank_of(args[0]), ak.rank_of(args[1])
    return Array("float64", None if rank is None or asked is None else rank + asked)


_MEDIAN = "a, *, axis=None, out=None, overwrite_input=False, keepdims=False"
_QUANTILE = "a, q, *, axis=None, out=None, overwrite_input=False, method='linear', keepdims=False"


def _quantile(name: str, signature: str) -> Op:
    fold = refuse_options(name, out=None, overwrite_input=False)
    return declare(name, signature, infer=_infer_quantile, fold=fold, np=name)


median, nanmedian = (_quantile(name, _MEDIAN) for name in ("median", "nanmedian"))
quantile, nanquantile, percentile, nanpercentile = (
    _quantile(name, _QUANTILE)
    for name in ("quantile", "nanquantile", "percentile", "nanpercentile")
)
quantile_weights = helper(
    "quantile_weights",
    "lane, q, *, method='linear', skip_nan=False, order=0",
    _infer_weights,
    total=False,
)

# --- tables -------------------------------------------------------------------------------


def _infer_interp(args: ak.Args, params: ak.Params) -> Kind:
    return ak.array_or_number(ak.inexact(ak.promoted(kind_of_atom(args[2]))), ak.rank_of(args[0]))


def _infer_interval(args: ak.Args, params: ak.Params) -> Kind:
    return ak.array_or_number("int64", ak.rank_of(args[0]))


def _fold_interp(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    """A periodic table is continued on both sides; outside of others there may be values of their own."""
    for side in ("left", "right"):
        if isinstance(params.get(side), Var):
            return _with_value_outside(builder, args, params, side)
    period = params.get("period")
    if ZERO in args or period is None:
        return None
    if period == Const(None):
        rest = {key: atom for key, atom in params.items() if key != "period"}
        return builder.emit_with(interp, args, rest, namespace)
    x, xp, fp = args
    place = builder.emit(periodic_places, xp, period=period)
    turns = builder.emit(named("mul"), builder.emit(periodic_turns, xp, period=period), period)
    x = builder.emit(named("mod"), x, period)
    xp, fp = (builder.emit(named("take"), a, namespace="np", indices=place) for a in (xp, fp))
    return builder.emit(interp, x, builder.emit(named("add"), xp, turns), fp, namespace="np")


def _with_value_outside(builder: Builder, args: ak.Args, params: ak.Params, side: str) -> Atom:
    x, xp, _ = args
    rest = {key: atom for key, atom in params.items() if key != side}
    inside = builder.emit_with(interp, args, rest, "np")
    end = builder.emit(named("getitem"), xp, Const(0 if side == "left" else -1))
    beyond = builder.emit(named("lt" if side == "left" else "gt"), x, end)
    return builder.emit(named("where"), beyond, params[side], inside, namespace="np")


interp = declare(
    "interp",
    "x, xp, fp, *, left=None, right=None, period=None",
    infer=_infer_interp,
    fold=_fold_interp,
    np="interp",
)
periodic_places = helper("periodic_places", "xp, *, period", Array("int64", 1))
periodic_turns = helper("periodic_turns", "xp, *, period", Array("float64", 1))
interval_of = helper("interval_of", "x, xp", _infer_interval, total=False)
digitize = declare("digitize", "x, bins, *, right=False", infer=_infer_interval, np="digitize")

# --- counting -----------------------------------------------------------------------------


def _infer_bincount(args: ak.Args, params: ak.Params) -> Kind:
    return Array("float64" if len(args) > 1 else "int64", 1)


bincount = declare(
    "bincount", "x, weights=None, *, minlength=0", infer=_infer_bincount, np="bincount"
)

# --- where values come from ---------------------------------------------------------------


def _infer_places(args: ak.Args, params: ak.Params) -> Kind:
    found = ak.along_axis(args, params)
    return Array("int64", found.rank) if isinstance(found, Array) else UNKNOWN


def _infer_like_mask(args: ak.Args, params: ak.Params) -> Kind:
    return Array(ak.inexact(ak.dtype_of(args[0])), ak.rank_of(args[1]))


def _infer_of_unique(args: ak.Args, params: ak.Params) -> Kind:
    where = Array("int64", 1 if ak.rank_of(args[0]) == 1 else None)
    return Struct("tuple", (0, 1, 2), (Array("int64", 1), where, Array("int64", 1)))


partition = declare(
    "partition", "a, *, kth, axis=-1, kind='introselect', order=None",
    infer=ak.along_axis, np="partition",
)  # fmt: skip
argpartition = declare(
    "argpartition", "a, *, kth, axis=-1, kind='introselect', order=None",
    infer=_infer_places, np="argpartition", method="argpartition",
)  # fmt: skip
partition_places = helper("partition_places", "x, y, *, axis=-1", _infer_places, total=False)
running_places = helper("running_places", "x, *, axis=0, largest=True", _infer_places)
unique_places = helper(
    "unique_places", "x, *, axis=None, equal_nan=True", _infer_of_unique, total=False
)
insert_places = helper("insert_places", "length, at, count", Array("int64", 1), total=False)
delete_places = helper("delete_places", "length, at", Array("int64", 1), total=False)
spread_mask = helper("spread_mask", "values, mask", _infer_like_mask)
