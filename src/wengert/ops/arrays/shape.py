"""The vocabulary of array shapes: looking at arrays, rearranging, joining and selecting them.

A `*name` in a signature is an option that takes any further positional arguments, so that
`x.reshape(2, 3)` and `x.reshape((2, 3))` are the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import ZERO, Atom, Const, Eqn, Var
from ...ir.op import Op
from ...ir.types import BOOL, DTYPE, INT, SHAPE, UNKNOWN, Array, Kind, Number, Seq
from ...runtime.numeric import transposes as rt
from .. import array_kinds as ak
from ..cotangent_kinds import gradient_kind
from ..helpers import helper
from ..indexing import element_kind
from ..registry import declare, named

# --- looking at an array ------------------------------------------------------------------


def _fold_shape(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    """A number has the shape (); in derivative code an array's is `x.shape`."""
    kind = kind_of_atom(args[0])
    if isinstance(kind, Number):
        return Const(())
    if builder.derived and isinstance(kind, Array) and namespace != "attr":
        return builder.emit(shape, *args, namespace="attr")
    return None


def _fold_shaped(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    x, like, matrix = args[0], params["like"], params.get("matrix")
    known = matrix is None or ak.rank_of(matrix) == 2
    both = isinstance(x, Var) and isinstance(like, Var) and builder.definition(x) is not None
    if known and both and isinstance(x.kind, Array):  # type: ignore[union-attr]
        x.shape_of = like.shape_of  # type: ignore[union-attr]
    return x


def _fold_ndim(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    kind = kind_of_atom(args[0])
    rank = ak.rank_of_kind(kind) if isinstance(kind, (Array, Number)) else None
    return None if rank is None else Const(rank)


def _fold_iscomplexobj(
    builder: Builder, args: ak.Args, params: ak.Params, namespace: str
) -> Atom | None:
    match kind_of_atom(args[0]):
        case Number(type=type_) if type_ != "complex" or isinstance(args[0], Const):
            return Const(type_ == "complex")  # what may be complex may be real, too
        case Array(dtype=dtype) if dtype:
            return Const(dtype.startswith("complex"))
        case _:
            return None


shape = declare("shape", "x", infer=SHAPE, fold=_fold_shape, np="shape", attr="shape", total=True)
ndim = declare("ndim", "x", infer=INT, fold=_fold_ndim, np="ndim", attr="ndim", total=True)
size = declare("size", "x, *, axis=None", infer=INT, np="size", attr="size", total=True)
iscomplexobj = declare(
    "iscomplexobj", "x", infer=BOOL, fold=_fold_iscomplexobj, np="iscomplexobj", total=True
)
dtype = declare("dtype", "x", infer=DTYPE, attr="dtype", implementation=lambda x: x.dtype)
shaped = declare(
    "shaped",
    "x, *, like, matrix=None",
    infer=ak.same_array,
    fresh=False,
    fold=_fold_shaped,
    implementation=lambda x, *, like, matrix=None: x,
    total=True,
)
"""A remark in a rule row, that `x` has the shape of `like` (where `matrix` is not a stack)."""
memory_order = helper(
    "memory_order",
    "x, order",
    UNKNOWN,
    fold=lambda b, args, p, n: args[1] if ak.constant(args[1]) in ("C", "F") else None,
)
inverse_permutation = helper(
    "inverse_permutation",
    "axes",
    SHAPE,
    fold=lambda b, args, p, n: (
        Const(rt.inverse_permutation(args[0].value)) if isinstance(args[0], Const) else None
    ),
)
other_axes = helper(
    "other_axes",
    "k, rank, indexing",
    SHAPE,
    fold=lambda b, args, p, n: (
        Const(rt.other_axes(*map(ak.constant, args))) if all(map(ak.is_constant, args)) else None
    ),
)

# --- rearranging --------------------------------------------------------------------------


def _infer_reshape(args: ak.Args, params: ak.Params) -> Kind:
    return Array(ak.dtype_of(args[0]), ak.length_of(params["shape"]))


def _fold_reshape(
    builder: Builder, args: ak.Args, params: ak.Params, namespace: str
) -> Atom | None:
    """`reshape(y, x.shape)` is like `x`, and in derivative code order="C" goes without saying."""
    if ZERO in args:
        return None
    if builder.derived and params.get("order") == Const("C"):
        return builder.emit(reshape, *args, namespace=namespace, shape=params["shape"])
    return _in_fixed_order(builder, reshape, args, params, namespace) or (
        _shaped_like(builder, reshape, args, params, namespace)
    )


def _fold_ravel(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    return _in_fixed_order(builder, ravel, args, params, namespace)


def _fold_flat(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom:
    """A view of all items: of one axis whatever the layout is."""
    if ak.rank_of(args[0]) == 1:
        return builder.emit(named("getitem"), args[0], Const(slice(None)))
    return builder.emit(ravel, *args, namespace="np")


def _fold_flatten(
    builder: Builder, args: ak.Args, params: ak.Params, namespace: str
) -> Atom | None:
    return _in_fixed_order(builder, flatten, args, params, namespace)


def _in_fixed_order(
    builder: Builder, op: Op, args: ak.Args, params: ak.Params, namespace: str
) -> Atom | None:
    """An order that depends on the operand's memory is settled, so that its tangent follows it."""
    if ak.constant(params.get("order")) not in ("A", "K") or ZERO in args:
        return None
    order = builder.emit(memory_order, args[0], params["order"])
    return builder.emit_with(op, args, {**params, "order": order}, namespace)


def _shaped_like(
    builder: Builder, op: Op, args: ak.Args, params: ak.Params, namespace: str
) -> Atom | None:
    """The equation, if its option `shape` is `x.shape`: its result has the shape of `x`."""
    source = builder.definition(params["shape"])
    if source is None or source.op is not shape or not isinstance(source.args[0], Var):
        return None
    x, (y, *_) = source.args[0], args
    if builder.derived and isinstance(y, Var) and y.shape_of is x.shape_of:
        return y
    out = Var(Array(ak.dtype_of(y), ak.rank_of(x)), "", x.shape_of)
    builder.append(Eqn((out,), op, tuple(args), params, (), namespace, builder.span))
    return out


def _infer_squeeze(args: ak.Args, params: ak.Params) -> Kind:
    rank, removed = ak.rank_of(args[0]), params.get("axis")
    count = ak.length_of(removed) if removed is not None else 0 if rank == 0 else None
    return Array(
        ak.dtype_of(args[0]), rank - count if rank is not None and count is not None else None
    )


def _infer_expand_dims(args: ak.Args, params: ak.Params) -> Kind:
    rank, count = ak.rank_of(args[0]), ak.length_of(params["axis"])
    return Array(
        ak.dtype_of(args[0]), rank + count if rank is not None and count is not None else None
    )


def _fold_transpose(
    builder: Builder, args: ak.Args, params: ak.Params, namespace: str
) -> Atom | None:
    """In derivative code: xᵀᵀ = x, a vector is its own transpose, and `.T` reads best."""
    (x,) = args
    if not builder.derived or params.get("axes", Const(None)) != Const(None) or x == ZERO:
        return None
    kind = kind_of_atom(x)
    if isinstance(kind, Number) or (isinstance(kind, Array) and kind.rank in (0, 1)):
        return x
    before = builder.definition(x)
    if before is not None and before.op is transpose and not before.params:
        return before.args[0]
    if isinstance(kind, Array) and kind.rank is not None and namespace != "attr":
        return builder.emit(transpose, x, namespace="attr")
    return None


def _fold_matrix_transpose(
    builder: Builder, args: ak.Args, params: ak.Params, namespace: str
) -> Atom | None:
    """In derivative code: the transpose of one matrix is `.T`."""
    if builder.derived and args[0] != ZERO and ak.rank_of(args[0]) == 2:
        return builder.emit(transpose, args[0], namespace=namespace)
    return None


def _flattened(x: Any, order: Any = "C") -> Any:
    return np.asarray(x).flatten(order)


reshape = declare(
    "reshape",
    "x, *shape, order='C'",
    infer=_infer_reshape,
    fresh=False,
    fold=_fold_reshape,
    np="reshape",
    method="reshape",
)
ravel = declare(
    "ravel",
    "x, *, order='C'",
    infer=ak.of_rank(1),
    fresh=False,
    fold=_fold_ravel,
    np="ravel",
    method="ravel",
    total=True,
)
flat = declare(
    "flat",
    "x",
    infer=ak.of_rank(1),
    fresh=False,
    fold=_fold_flat,
    attr="flat",
    implementation=np.ravel,
    total=True,
)
flatten = declare(
    "flatten",
    "x, *, order='C'",
    infer=ak.of_rank(1),
    fold=_fold_flatten,
    method="flatten",
    implementation=_flattened,
    total=True,
)
transpose = declare(
    "transpose",
    "x, *axes",
    infer=ak.same_array,
    fresh=False,
    fold=_fold_transpose,
    np="transpose",
    method="transpose",
    attr="T",
)
matrix_transpose = declare(
    "matrix_transpose",
    "x",
    infer=ak.same_array,
    fresh=False,
    fold=_fold_matrix_transpose,
    np="matrix_transpose linalg.matrix_transpose",
    attr="mT",
)
swapaxes = declare(
    "swapaxes",
    "x, *, axis1, axis2",
    infer=ak.same_array,
    fresh=False,
    fold=lambda b, args, p, n: (  # the method takes no keywords
        b.emit_with(swapaxes, args, p, "np") if n == "method" and ZERO not in args else None
    ),
    np="swapaxes",
    method="swapaxes",
)
moveaxis = declare(
    "moveaxis", "x, *, source, destination", infer=ak.same_array, fresh=False, np="moveaxis"
)
squeeze = declare(
    "squeeze", "x, *, axis=None", infer=_infer_squeeze, fresh=False, np="squeeze", method="squeeze"
)
expand_dims = declare(
    "expand_dims", "x, *, axis", infer=_infer_expand_dims, fresh=False, np="expand_dims"
)
broadcast_to = declare(
    "broadcast_to",
    "x, *, shape",
    infer=_infer_reshape,
    fresh=False,
    fold=lambda b, args, p, n: (
        _shaped_like(b, broadcast_to, args, p, n) if ZERO not in args else None
    ),
    np="broadcast_to",
)
atleast_1d, atleast_2d, atleast_3d = (
    declare(f"atleast_{n}d", "x", infer=ak.at_least_rank(n), fresh=False, np=f"atleast_{n}d")
    for n in (1, 2, 3)
)
flip = declare(
    "flip",
    "x, *, axis=None",
    infer=lambda args, params: ak.array_or_number(ak.dtype_of(args[0]), ak.rank_of(args[0])),
    fresh=False,
    np="flip",
)
flipud = declare("flipud", "x", infer=ak.same_array, fresh=False, np="flipud")
fliplr = declare("fliplr", "x", infer=ak.same_array, fresh=False, np="fliplr")
rot90 = declare("rot90", "x, *, k=1, axes=None", infer=ak.same_array, fresh=False, np="rot90")
roll = declare("roll", "x, *, shift, axis=None", infer=ak.same_array, np="roll")
unroll = helper("unroll", "y_bar, *, shift, axis=None", ak.same_array)

# --- copying and converting ---------------------------------------------------------------


def _infer_astype(args: ak.Args, params: ak.Params) -> Kind:
    return Array(ak.dtype_name(params["dtype"]), ak.rank_of(args[0]))


def _infer_cast(args: ak.Args, params: ak.Params) -> Kind:
    target = gradient_kind(kind_of_atom(params["like"]))
    name = ak.dtype_of(params["like"]) if isinstance(target, (Array, Number)) else ""
    name = "float64" if name.startswith(("int", "uint", "bool")) else name
    return Array(name, ak.rank_of(args[0]))


copy = declare(
    "copy", "x, *, order='K'", infer=ak.same_array, elementwise=True, np="copy", method="copy"
)
astype = declare(
    "astype",
    "x, *, dtype, order='K', casting='unsafe', subok=True, copy=True",
    infer=_infer_astype,
    elementwise=True,
    fold=ak.fold_no_text,
    method="astype",
    implementation=lambda x, dtype, **options: np.asarray(x).astype(dtype, **options),
)


def _fold_item(builder: Builder, args: ak.Args, params: ak.Params, namespace: str) -> Atom | None:
    """`x.item(k)` counts along the flattened array, `x.item(i, j)` along the axes."""
    at = params.get("args")
    if at is None or ZERO in args:
        return None
    flat_ = kind_of_atom(at) == INT
    x = builder.emit(ravel, *args, namespace="np") if flat_ else args[0]
    return builder.emit(item, builder.emit(named("getitem"), x, at), namespace="method")


item = declare(
    "item",
    "x, *args",
    infer=lambda args, params: element_kind(ak.dtype_of(args[0])),
    fold=_fold_item,
    method="item",
    implementation=lambda x, *, args=(): np.asarray(x).item(
        *(args if isinstance(args, tuple) else (args,))
    ),
)
tolist = declare(
    "tolist",
    "x",
    infer=lambda args, params: _nested(ak.dtype_of(args[0]), ak.rank_of(args[0])),
    method="tolist",
    implementation=lambda x: np.asarray(x).tolist(),
    total=True,
)
cast_like = helper("cast_like", "x, *, like", _infer_cast, elementwise=True)


def converted_like(builder: Builder, number: Atom, x: Atom) -> Atom:
    """A number as an array holds it: of an array of integers the fraction is lost."""
    known = ak.dtype_of(x)
    whole = isinstance(number, Const) and isinstance(number.value, int)
    if whole or known.startswith(("float", "complex")):
        return number
    number = builder.emit(named("asarray"), number, namespace="np")
    of_array = Const(np.dtype(known)) if known else builder.emit(dtype, x, namespace="attr")
    return builder.emit(astype, number, namespace="method", dtype=of_array)


def _nested(dtype_: str, rank: int | None) -> Kind:
    if rank is None:
        return UNKNOWN
    return Seq(_nested(dtype_, rank - 1)) if rank else element_kind(dtype_)


# --- numbers of NumPy, which have the methods of arrays ---------------------------------------

_REARRANGING = frozenset((transpose, swapaxes, moveaxis, squeeze, reshape, astype, copy))
"""Ops that give one of NumPy's numbers of such a number, and an array without axes of such an array."""


def kind_if_number(op: Op, namespace: str, args: ak.Args, params: ak.Params) -> Kind | None:
    """The kind of the result of an op where its operand is, or may be, a number; None if the op knows.

    The functions of NumPy make arrays of Python's numbers: of which a number is, its kind does not say.
    """
    kind = kind_of_atom(args[0])
    unsure = kind == UNKNOWN or (op is reshape and isinstance(kind, Array) and kind.rank is None)
    if op not in _REARRANGING or not (isinstance(kind, Number) or unsure):
        return None
    if (op is copy and namespace == "np") or (op is reshape and ak.length_of(params["shape"]) != 0):
        return None
    if unsure or namespace == "np" or op is reshape:
        return UNKNOWN
    return element_kind(ak.dtype_name(params["dtype"])) if op is astype else kind
