"""The vocabulary of factorisations: singular values, QR, eigenvalues, least squares."""

from __future__ import annotations

import numpy as np

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Const
from ...ir.types import UNKNOWN, Array, Kind, Struct
from .. import array_kinds as ak
from ..helpers import helper
from ..registry import declare

_SVD: type = type(np.linalg.svd(np.eye(1)))
_QR: type = type(np.linalg.qr(np.eye(1)))
_EIG: type = type(np.linalg.eig(np.eye(1)))


def _matrix(args: ak.Args) -> Array:
    return Array(ak.inexact(ak.dtype_of(args[0])), ak.rank_of(args[0]))


def _values(args: ak.Args) -> Array:
    rank = ak.rank_of(args[0])
    return Array(ak.real_of(ak.inexact(ak.dtype_of(args[0]))), None if rank is None else rank - 1)


# --- singular values ----------------------------------------------------------------------


def _infer_svd(args: ak.Args, params: ak.Params) -> Kind:
    if ak.constant(params.get("compute_uv"), True) is not True:
        return UNKNOWN
    items = (_matrix(args), _values(args), _matrix(args))
    return Struct("namedtuple", ("U", "S", "Vh"), items, _SVD)


def _fold_svd(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    """Singular values alone have a rule of their own."""
    if params.get("compute_uv", Const(True)) != Const(False):
        return None
    return builder.emit(svdvals, *args, namespace="np")


svd = declare(
    "svd",
    "a, *, full_matrices=True, compute_uv=True, hermitian=False",
    infer=_infer_svd,
    fold=_fold_svd,
    np="linalg.svd",
)
svdvals = declare("svdvals", "a", infer=lambda args, params: _values(args), np="linalg.svdvals")

# --- QR -----------------------------------------------------------------------------------


def _infer_qr(args: ak.Args, params: ak.Params) -> Kind:
    match ak.constant(params.get("mode"), "reduced"):
        case "r":
            return _matrix(args)
        case "reduced" | "complete":
            return Struct("namedtuple", ("Q", "R"), (_matrix(args), _matrix(args)), _QR)
        case _:
            return UNKNOWN


def _fold_qr(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    mode = ak.constant(params.get("mode"), "reduced")
    if mode == "r":
        return builder.emit(qr_r, *args, namespace="np", mode=Const("r"))
    return builder.emit(qr_raw, *args, namespace="np", mode=Const("raw")) if mode == "raw" else None


qr = declare("qr", "a, *, mode='reduced'", infer=_infer_qr, fold=_fold_qr, np="linalg.qr")
qr_r = declare("qr_r", "a, *, mode", infer=_infer_qr, np="linalg.qr")
"""`np.linalg.qr(a, mode="r")`."""
qr_raw = declare("qr_raw", "a, *, mode", infer=_infer_qr, np="linalg.qr")
"""LAPACK's own form of a QR factorisation, which has no rule."""
full_rank = helper("full_rank", "R, *, free", ak.like_first)

# --- eigenvalues --------------------------------------------------------------------------


def _infer_eigvals(args: ak.Args, params: ak.Params) -> Kind:
    """Real or complex, as it turns out."""
    rank = ak.rank_of(args[0])
    return Array("", None if rank is None else rank - 1)


def _infer_eig(args: ak.Args, params: ak.Params) -> Kind:
    items = (_infer_eigvals(args, params), Array("", ak.rank_of(args[0])))
    return Struct("namedtuple", ("eigenvalues", "eigenvectors"), items, _EIG)


eigvals = declare("eigvals", "a", infer=_infer_eigvals, np="linalg.eigvals")
eig = declare("eig", "a", infer=_infer_eig, np="linalg.eig")

roots = declare("roots", "p", infer=Array("", 1), np="roots")
_OVER = "x, s, *, free, used=()"
over_values = helper("over_values", _OVER, ak.like_first)
over_values_bar = helper("over_values_bar", _OVER, ak.like_first)
completing = helper("completing", "x, rest", ak.like_first)
completing_bar = helper("completing_bar", "x, rest", ak.like_first)
matched = helper("matched", "x, values", lambda args, params: Array("int64", ak.rank_of(args[0])))
independent = helper("independent", "V, w, A", ak.like_first)
blur = helper("blur", "w, V, A", lambda args, params: Array("float64", ak.rank_of(args[0])))

# --- least squares ------------------------------------------------------------------------


def _infer_solution(args: ak.Args, params: ak.Params) -> Kind:
    dtype = ak.inexact(ak.promoted(*map(kind_of_atom, args[:2])))
    return Array(dtype, ak.rank_of_kind(kind_of_atom(args[1])))


least_squares = helper("least_squares", "a, b, *, rcond=None", _infer_solution)
"""The solution that `np.linalg.lstsq` gives first."""
