"""The vocabulary of joining arrays and of splitting them."""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Var
from ...ir.op import Infer
from ...ir.types import UNKNOWN, Array, Kind, Seq, Struct
from .. import array_kinds as ak
from ..cotangent_kinds import gradient_kind
from ..helpers import helper
from ..registry import declare


def _items(atom: Atom) -> list[Kind] | None:
    match kind_of_atom(atom):
        case Struct(items=items) if items:
            return list(items)
        case Seq(item=item):
            return [item]
        case Array(dtype=name, rank=int(rank)) if rank:
            return [Array(name, rank - 1)]
        case _:
            return None


def _joined(more: int = 0, least: int = 1) -> Infer:
    """Arrays joined along an axis: `more` new axes, at least `least` in all."""

    def infer(args: ak.Args, params: ak.Params) -> Kind:
        items = _items(args[0])
        if items is None:
            return Array()
        if ak.constant(params.get("axis"), 0) is None:
            return Array(ak.promoted(*items), 1)
        ranks = [ak.rank_of_kind(kind) for kind in items]
        known = [rank for rank in ranks if rank is not None]
        rank = max(max(known) + more, least) if len(known) == len(ranks) else None
        return Array(ak.promoted(*items), rank)

    return infer


def _infer_append(args: ak.Args, params: ak.Params) -> Kind:
    flat = ak.constant(params.get("axis", Const(None)), 0) is None
    return Array(ak.promoted(*map(kind_of_atom, args)), 1 if flat else ak.rank_of(args[0]))


def _infer_split(args: ak.Args, params: ak.Params) -> Kind:
    """A list of views; how many is known where the sections are."""
    part = ak.same_array(args, params)
    where = params["indices_or_sections"]
    if isinstance(where, Const) and isinstance(where.value, int):
        count: int | None = where.value
    elif isinstance(where, Const):
        count = len(where.value) + 1
    else:
        count = None
    if count is None or not 0 < count <= 64:
        return Seq(part)
    return Struct("list", tuple(range(count)), (part,) * count)


def _like_items(args: ak.Args, params: ak.Params) -> Kind:
    return gradient_kind(kind_of_atom(params["like"]))


concatenate = declare("concatenate", "arrays, *, axis=0", infer=_joined(), np="concatenate concat")
stack = declare("stack", "arrays, *, axis=0", infer=_joined(more=1), np="stack")
vstack = declare("vstack", "arrays", infer=_joined(least=2), np="vstack")
hstack = declare("hstack", "arrays", infer=_joined(), np="hstack")
dstack = declare("dstack", "arrays", infer=_joined(least=3), np="dstack")
column_stack = declare("column_stack", "arrays", infer=_joined(least=2), np="column_stack")
append = declare("append", "x, values, *, axis=None", infer=_infer_append, np="append")
unconcatenate = helper("unconcatenate", "x_bar, *, like, axis=0, rank=1", _like_items)
split = declare(
    "split", "x, *, indices_or_sections, axis=0", infer=_infer_split, fresh=False, np="split"
)
array_split = declare(
    "array_split",
    "x, *, indices_or_sections, axis=0",
    infer=_infer_split,
    fresh=False,
    np="array_split",
)
vsplit, hsplit, dsplit = (
    declare(name, "x, *, indices_or_sections", infer=_infer_split, fresh=False, np=name)
    for name in ("vsplit", "hsplit", "dsplit")
)


def _infer_meshgrid(args: ak.Args, params: ak.Params) -> Kind:
    if any(isinstance(arg, Var) and arg.kind == UNKNOWN for arg in args):
        return UNKNOWN
    grids = tuple(Array(ak.dtype_of(arg), len(args)) for arg in args)
    return Struct("tuple", tuple(range(len(args))), grids)


meshgrid = declare(
    "meshgrid", "*arrays, indexing='xy', sparse=False", infer=_infer_meshgrid, np="meshgrid"
)
