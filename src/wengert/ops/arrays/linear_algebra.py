"""The vocabulary of linear algebra: products, norms, solving, factorisations.

A product `f` and its two transposes `f_left`, `f_right` (the cotangents of its operands) are the
gradients of one form ⟨ȳ, f(a, b)⟩, so that each has a rule in terms of the other two. Where the
ranks are known the transposes fold into plain products.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Const
from ...ir.op import Fold, Infer
from ...ir.types import INT, UNKNOWN, Array, Kind, Number, Struct
from ...runtime.cotangents import unbroadcast
from ...runtime.numeric import products
from .. import array_kinds as ak
from ..helpers import drop_none, helper
from ..promotion import promoted as arithmetic_dtype
from ..registry import declare
from .product_folds import (
    MOST_OPERANDS,
    fold_columns,
    fold_contract,
    fold_contract_left,
    fold_contract_right,
    fold_einsum,
    fold_einsum_bar,
    fold_matmul_left,
    fold_matmul_right,
    fold_matrix_power,
    fold_solve,
    fold_unstacked,
    result_rank,
)


def _dtype(args: ak.Args) -> str:
    if all(isinstance(kind_of_atom(arg), (Number, Array)) for arg in args):
        if any(isinstance(kind_of_atom(arg), Array) for arg in args):
            return arithmetic_dtype(args)
        return ak.promoted(*map(kind_of_atom, args))
    return ""


def _product(rank: Any) -> Infer:
    """A product whose rank follows from the ranks of its operands."""

    def infer(args: ak.Args, params: ak.Params) -> Kind:
        a, b = map(ak.rank_of, args)
        if a is None or b is None:
            return UNKNOWN
        return ak.array_or_number(_dtype(args), rank(a, b))

    return infer


def _transposes(name: str, options: str, left: Fold | None = None, right: Fold | None = None):
    """The two transposes of a product."""
    return (
        helper(f"{name}_left", f"y_bar, b, *, {options}like", ak.like_option, left),
        helper(f"{name}_right", f"a, y_bar, *, {options}like", ak.like_option, right),
    )


# --- products -----------------------------------------------------------------------------


def _matmul_rank(a: int, b: int) -> int:
    return max(a, b) if min(a, b) > 1 else max(a, b) - 1


def _dot_rank(a: int, b: int) -> int:
    return a + b - 2 if a and b else max(a, b)


def _infer_outer(args: ak.Args, params: ak.Params) -> Kind:
    return Array(_dtype(args), 2)


def _infer_tensordot(args: ak.Args, params: ak.Params) -> Kind:
    a, b = map(ak.rank_of, args)
    axes = ak.constant(params.get("axes"), None) if "axes" in params else 2
    if isinstance(axes, (tuple, list)) and len(axes) == 2:
        axes = 1 if isinstance(axes[0], int) else len(axes[0])
    known = a is not None and b is not None and isinstance(axes, int)
    return Array(_dtype(args), a + b - 2 * axes if known else None)  # type: ignore[operator]


def _infer_einsum(args: ak.Args, params: ak.Params) -> Kind:
    ranks = [ak.rank_of(arg) for arg in args[1:]]
    rank = result_rank(ak.constant(args[0]), ranks)
    return ak.array_or_number(_dtype(args[1:]), rank)


def _infer_einsum_bar(args: ak.Args, params: ak.Params) -> Kind:
    return Array(_dtype(args), ak.rank_of(params["like"]))


matmul = declare(
    "matmul",
    "a, b",
    infer=_product(_matmul_rank),
    py="@",
    np="matmul linalg.matmul",
    operator="matmul",
)
matmul_left, matmul_right = _transposes("matmul", "", fold_matmul_left, fold_matmul_right)

dot = declare("dot", "a, b", infer=_product(_dot_rank), np="dot", method="dot")
inner = declare("inner", "a, b", infer=_product(_dot_rank), np="inner")
tensordot = declare(
    "tensordot", "a, b, *, axes=2", infer=_infer_tensordot, np="tensordot linalg.tensordot"
)
contract = declare(
    "contract",
    "a, b, *, axes",
    infer=_infer_tensordot,
    fold=fold_contract,
    np="tensordot",
    implementation=lambda a, b, *, axes: (
        getattr(np, axes)(a, b) if isinstance(axes, str) else np.tensordot(a, b, axes)
    ),
)
contract_left, contract_right = _transposes(
    "contract", "axes, ", fold_contract_left, fold_contract_right
)

outer = declare("outer", "a, b", infer=_infer_outer, np="outer linalg.outer", total=True)
vdot = declare("vdot", "a, b", infer=_product(lambda a, b: 0), np="vdot")
kron = declare("kron", "a, b", infer=_product(max), np="kron")
kron_left, kron_right = _transposes("kron", "")
_AXES = "axisa=-1, axisb=-1, axisc=-1, axis=None"
cross = declare("cross", f"a, b, *, {_AXES}", infer=_product(max), np="cross linalg.cross")
cross_left, cross_right = _transposes("cross", _AXES + ", ")

# --- einsum -------------------------------------------------------------------------------

einsum = declare(
    "einsum", "*operands, optimize=False", infer=_infer_einsum, fold=fold_einsum, np="einsum"
)
"""What the user calls; with a known number of operands it becomes one of the next."""

einsums = [
    declare(
        f"einsum_{n}",
        "subscripts, " + ", ".join("abcdef"[:n]) + ", *, optimize=False",
        infer=_infer_einsum,
        np="einsum",
    )
    for n in range(1, MOST_OPERANDS + 1)
]
"""`np.einsum` of 1, 2, … operands."""

einsum_bar = declare(
    "einsum_bar",
    "*operands, subscripts, index, like",
    infer=_infer_einsum_bar,
    fold=fold_einsum_bar,
    rt="einsum_bar",
    implementation=products.einsum_bar,
)
einsum_bars = [
    declare(
        f"einsum_bar_{n}",
        "y_bar" + "".join(f", {c}" for c in "abcdef"[: n - 1]) + ", *, subscripts, index, like",
        infer=_infer_einsum_bar,
        rt="einsum_bar",
        implementation=products.einsum_bar,
    )
    for n in range(1, MOST_OPERANDS + 1)
]
"""The cotangent of one operand of an einsum of 1, 2, … operands."""

# --- norms --------------------------------------------------------------------------------


def _infer_norm(args: ak.Args, params: ak.Params) -> Kind:
    dtype, rank = ak.real_of(ak.inexact(ak.dtype_of(args[0]))), ak.rank_of(args[0])
    keepdims = params.get("keepdims", Const(False))
    if not isinstance(keepdims, Const):
        return UNKNOWN
    if keepdims.value:
        return Array(dtype, rank)
    axis = params.get("axis")
    if axis is None or ak.constant(axis, axis) is None:
        return ak.array_or_number(dtype, 0)
    removed = ak.length_of(axis)
    known = rank is not None and removed is not None
    return ak.array_or_number(dtype, rank - removed if known else None)  # type: ignore[operator]


norm = declare(
    "norm", "x, *, ord=None, axis=None, keepdims=False", infer=_infer_norm, np="linalg.norm"
)


def _fold_normed_rank(
    builder: Builder, args: ak.Args, params: ak.Params, namespace: str
) -> Atom | None:
    x, axis = args
    rank = ak.rank_of(x) if axis == Const(None) else ak.length_of(axis)
    return None if rank is None else Const(rank)


normed_rank = helper("normed_rank", "x, axis", INT, _fold_normed_rank)

# --- solving and factorisations -----------------------------------------------------------


def _inexact_same(args: ak.Args, params: ak.Params) -> Kind:
    return Array(ak.inexact(ak.dtype_of(args[0])), ak.rank_of(args[0]))


def _infer_det(args: ak.Args, params: ak.Params) -> Kind:
    rank = ak.rank_of(args[0])
    return ak.array_or_number(ak.inexact(ak.dtype_of(args[0])), None if rank is None else rank - 2)


def _infer_slogdet(args: ak.Args, params: ak.Params) -> Kind:
    rank = ak.rank_of(args[0])
    dtype = ak.inexact(ak.dtype_of(args[0]))
    items = tuple(
        ak.array_or_number(name, None if rank is None else rank - 2)
        for name in (dtype, ak.real_of(dtype))
    )
    return Struct("namedtuple", ("sign", "logabsdet"), items, _SLOGDET)


def _infer_eigvalsh(args: ak.Args, params: ak.Params) -> Kind:
    rank, dtype = ak.rank_of(args[0]), ak.inexact(ak.dtype_of(args[0]))
    return Array(ak.real_of(dtype), None if rank is None else rank - 1)


def _infer_eigh(args: ak.Args, params: ak.Params) -> Kind:
    items = (_infer_eigvalsh(args, params), _inexact_same(args, params))
    return Struct("namedtuple", ("eigenvalues", "eigenvectors"), items, _EIGH)


def _infer_solve(args: ak.Args, params: ak.Params) -> Kind:
    a, b = map(ak.rank_of, args)
    dtype = ak.inexact(_dtype(args))
    if a is None or b is None:
        return Array(dtype)
    return Array(dtype, a - 1 if b == 1 else max(a, b))


_SLOGDET: type = type(np.linalg.slogdet(np.eye(1)))
_EIGH: type = type(np.linalg.eigh(np.eye(1)))

inv = declare("inv", "x", infer=_inexact_same, np="linalg.inv")
pinv = declare(
    "pinv",
    "x, *, rcond=None, hermitian=False, rtol=None",
    infer=_inexact_same,
    fold=drop_none("pinv", "rcond", "rtol"),
    np="linalg.pinv",
)
solve = declare("solve", "a, b", infer=_infer_solve, fold=fold_solve, np="linalg.solve")
det = declare("det", "x", infer=_infer_det, np="linalg.det")
slogdet = declare("slogdet", "x", infer=_infer_slogdet, np="linalg.slogdet")
cholesky = declare("cholesky", "x, *, upper=False", infer=_inexact_same, np="linalg.cholesky")
eigh = declare("eigh", "x, *, UPLO='L'", infer=_infer_eigh, np="linalg.eigh")
eigvalsh = declare("eigvalsh", "x, *, UPLO='L'", infer=_infer_eigvalsh, np="linalg.eigvalsh")
matrix_power = declare(
    "matrix_power", "x, *, n", infer=ak.same_array, fold=fold_matrix_power, np="linalg.matrix_power"
)
matrix_rank = declare(
    "matrix_rank",
    "x, *, tol=None, hermitian=False, rtol=None",
    infer=lambda args, params: INT if ak.rank_of(args[0]) == 2 else UNKNOWN,
    np="linalg.matrix_rank",
)
_OVER_GAPS = "x, w, *, used=(), within=None, name='eigenvalues'"
over_gaps = helper("over_gaps", _OVER_GAPS, _inexact_same)
over_gaps_bar = helper("over_gaps_bar", _OVER_GAPS, _inexact_same)
spectral = helper(
    "spectral",
    "g, slope, x, w, V, *, UPLO='L'",
    lambda args, params: Array(ak.dtype_of(args[4]), ak.rank_of(args[4])),
)
values_along = helper(
    "values_along",
    "h, x, w, V, *, UPLO='L'",
    lambda args, params: Array(ak.dtype_of(args[2]), ak.rank_of(args[2])),
)
quotients = helper(
    "quotients",
    "g, slope, w",
    lambda args, params: Array(
        ak.dtype_of(args[1]), None if (r := ak.rank_of(args[1])) is None else r + 1
    ),
)
halved_tril = helper("halved_tril", "x", ak.same_array, elementwise=True)
cofactor = helper("cofactor", "x", _inexact_same)
cofactor_along = helper("cofactor_along", "x, a", _inexact_same)
cofactor_twice = helper("cofactor_twice", "x, a, b", _inexact_same)
cofactor_beyond = helper("cofactor_beyond", "x, a", _inexact_same)
cofactor_thrice = helper("cofactor_thrice", "x, a, b, c", _inexact_same)
as_columns = helper(
    "as_columns",
    "x, *, vector, result",
    lambda args, params: Array(ak.dtype_of(args[0])),
    fold=fold_columns,
)
from_columns = helper(
    "from_columns",
    "x, *, vector, result",
    lambda args, params: Array(ak.dtype_of(args[0])),
    fold=fold_columns,
)
unstacked = declare(
    "unstacked",
    "x_bar, *, like, matrix",
    infer=ak.like_option,
    fold=fold_unstacked,
    implementation=lambda x_bar, *, like, matrix: unbroadcast(x_bar, like),
)
"""The cotangent of a right-hand side that a stack of matrices may have shared."""
