"""Reductions and scans of arrays, and `math`'s and Python's own over lists."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...errors import UnsupportedSyntax
from ...ir.builder import Builder, kind_of_atom, reduced_axes
from ...ir.graph import ZERO, Atom, Const, Var
from ...ir.op import Fold, Infer, Op
from ...ir.types import FLOAT, INT, UNKNOWN, Array, Kind, Number, Seq
from ..array_kinds import dtype_of, given_option, rank_of
from ..cotangent_kinds import gradient_kind, in_shape_of_second
from ..helpers import helper
from ..promotion import Args, Params, inexact_dtype, promoted, real_dtype, shaped
from ..registry import declare, in_math, late_helper, named
from ..structure import item_kind, number_of_dtype
from .shape import converted_like

_SUMS = "x, *, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True"
_MEANS = "x, *, axis=None, dtype=None, out=None, keepdims=False, where=True"
_EXTREMES = "x, *, axis=None, out=None, keepdims=False, initial=None, where=True"
_PLACES = "x, *, axis=None, out=None, keepdims=False"
_TRUTHS = "x, *, axis=None, out=None, keepdims=False, where=True"
_SPREADS = "x, *, axis=None, dtype=None, out=None, ddof=0, keepdims=False"
_SCANS = "x, *, axis=None, dtype=None, out=None"

_DEFAULTS = {
    "axis": Const(None),
    "dtype": Const(None),
    "out": Const(None),
    "keepdims": Const(False),
}


# --- kinds --------------------------------------------------------------------------------


def _reduced(of_dtype: Callable[[str], str]) -> Infer:
    """The kind of a reduction: the rank less what was reduced away."""

    def infer(args: Args, params: Params) -> Kind:
        dtype = _dtype_option(params, of_dtype(dtype_of(args[0])))
        rank = reduced_rank(rank_of(args[0]), params)
        return UNKNOWN if rank is None else shaped(dtype, rank)

    return infer


def reduced_rank(rank: int | None, params: Params) -> int | None:
    """The rank of a reduction of an array of that rank; None if it is not known."""
    axis, keepdims = params.get("axis", Const(None)), params.get("keepdims", Const(False))
    if not isinstance(keepdims, Const) or (keepdims.value and rank is None):
        return None
    if keepdims.value:
        return rank
    if axis == Const(None):
        return 0
    if rank is None or (not isinstance(axis, Const) and not isinstance(kind_of_atom(axis), Number)):
        return None
    gone = len(axis.value) if isinstance(axis, Const) and isinstance(axis.value, tuple) else 1
    return max(rank - gone, 0)


def _scanned(args: Args, params: Params) -> Kind:
    rank = rank_of(args[0])
    along = params.get("axis", Const(None))
    dtype = _dtype_option(params, _summed(dtype_of(args[0])))
    return Array(dtype, 1 if along == Const(None) or rank == 0 else rank)


def _dtype_option(params: Params, otherwise: str) -> str:
    option = params.get("dtype")
    if option is None or option == Const(None):
        return otherwise
    return np.dtype(option.value).name if isinstance(option, Const) else ""


def _summed(dtype: str) -> str:
    """Sums of small integers and of truth values are computed in the platform's integer."""
    return np.sum(np.empty(0, dtype)).dtype.name if dtype else ""


def _like(k: int) -> Infer:
    return lambda args, params: gradient_kind(kind_of_atom(args[k]))


# --- options ------------------------------------------------------------------------------


def _plain(name: str) -> Fold:
    """Options that are the default say nothing; `out` is refused."""

    def fold(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
        if params.get("out", Const(None)) != Const(None):
            raise UnsupportedSyntax(
                f"`out=` of {name} writes into an array, which cannot be differentiated yet",
                f"Assign the result instead: `y = {name}(x)`.",
                builder.span,
            )
        if "where" in params or params.get("initial") not in (None, _LEAST.get(name)):
            return _fold_chosen(builder, name, args, params)
        said = {key: atom for key, atom in params.items() if _DEFAULTS.get(key) != atom}
        if builder.derived and namespace in ("np", "py") and _has_method(name, args):
            return builder.emit_with(named(name), args, said, "method")
        if len(said) < len(params):
            return builder.emit_with(named(name), args, said, namespace)
        return None

    return fold


_NEUTRAL = {"sum": 0, "mean": 0, "prod": 1, "any": False, "all": True}
_LEAST = {"max": Const(-math.inf), "min": Const(math.inf)}
"""What is the extreme of nothing, where an initial value is given for that."""
_COMBINED = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum"}


def _fold_chosen(builder: Builder, name: str, args: Args, params: Params) -> Atom:
    """The options `where` and `initial` said in other words: neutral elements, and a last operand."""
    rest = {key: atom for key, atom in params.items() if key not in ("where", "initial")}
    chosen = given_option(params.get("where"), True)
    initial = given_option(params.get("initial"))
    (x,) = args
    if initial is not None and name in ("max", "min"):
        initial = converted_like(builder, initial, x)
    if chosen is not None:
        neutral = initial if name in ("max", "min") else Const(_NEUTRAL[name])
        if neutral is None:
            raise UnsupportedSyntax(
                f"`where=` of {name} needs `initial=`, as it does in NumPy",
                f"Say what the {name} of nothing is: `initial=...`.",
                builder.span,
            )
        x = builder.emit(named("where"), chosen, x, neutral, namespace="np")
    if name == "mean" and chosen is not None:
        ones = builder.emit(named("where"), chosen, Const(1.0), Const(0.0), namespace="np")
        ones = builder.emit(named("broadcast_like"), ones, x)
        dtype = _dtype_option(params, inexact_dtype(dtype_of(args[0])))
        of_mean = {"dtype": Const(np.dtype(dtype).type)} if dtype else {}
        total = builder.emit_with(sum_, (x,), rest, "np")
        count = builder.emit_with(sum_, (ones,), {**rest, **of_mean}, "np")
        return builder.emit(named("div"), total, count)
    if initial is not None and name in _LEAST and dtype_of(x).startswith("float"):
        rest["initial"] = _LEAST[name]
    result = builder.emit_with(named(name), (x,), rest, "np")
    if initial is None:
        return result
    if name in ("sum", "prod"):
        initial = converted_like(builder, initial, result)
    return builder.emit(named(_COMBINED[name]), result, initial, namespace="np")


def _has_method(name: str, args: Args) -> bool:
    """Whether a reduction is to be written `x.sum()`, which is faster than `np.sum(x)`."""
    kind = kind_of_atom(args[0])
    return isinstance(kind, Array) and bool(kind.rank) and "method" in named(name).spellings


def _fold_sum(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """In derivative code: Σ -x = -Σ x, Σ c = n c, and what was divided by its own sum adds up to 1."""
    (x,) = args
    plain = all(_DEFAULTS.get(key) == atom for key, atom in params.items())
    eqn = builder.definition(x) if builder.derived and isinstance(kind_of_atom(x), Array) else None
    if eqn is not None and eqn.op is named("neg") and builder.is_derived(x):
        return builder.emit(named("neg"), builder.emit_with(sum_, eqn.args, params, namespace))
    eqn = eqn if plain else None
    if eqn is not None and eqn.op is named("fill"):
        count = builder.emit(named("size"), eqn.args[1], namespace="attr")
        return builder.emit(named("mul"), eqn.args[0], count)
    if eqn is not None and eqn.op is named("div") and _is_sum(builder, eqn.args[1], eqn.args[0]):
        return Const(1.0)
    return _plain("sum")(builder, args, params, namespace)


def _is_sum(builder: Builder, total: Atom, x: Atom) -> bool:
    eqn = builder.definition(total) or builder.primal.get(total)  # type: ignore[call-overload]
    return eqn is not None and eqn.op is sum_ and eqn.args == (x,) and not eqn.params


def _reduction(
    name: str, signature: str, of_dtype: Callable[[str], str], np: str, method: str = ""
) -> Op:
    fold = _fold_sum if name == "sum" else _plain(name)
    op = declare(name, signature, infer=_reduced(of_dtype), fold=fold, np=np, method=method or name)
    op.reduction = True
    return op


def _same(dtype: str) -> str:
    return dtype


def _spread(dtype: str) -> str:
    return real_dtype(inexact_dtype(dtype))


sum_ = _reduction("sum", _SUMS, _summed, "sum")
mean = _reduction("mean", _MEANS, inexact_dtype, "mean")
prod = _reduction("prod", _SUMS, _summed, "prod product")
max_ = _reduction("max", _EXTREMES, _same, "max amax")
min_ = _reduction("min", _EXTREMES, _same, "min amin")
ptp = declare(
    "ptp",
    _PLACES,
    infer=_reduced(_same),
    fold=lambda builder, args, params, namespace: builder.emit(
        named("sub"),
        builder.emit_with(max_, args, params, namespace),
        builder.emit_with(min_, args, params, namespace),
    ),
    np="ptp",
)
var = _reduction("var", _SPREADS, _spread, "var")
std = _reduction("std", _SPREADS, _spread, "std")
any_ = _reduction("any", _TRUTHS, lambda dtype: "bool", "any")
all_ = _reduction("all", _TRUTHS, lambda dtype: "bool", "all")
argmax = _reduction("argmax", _PLACES, lambda dtype: "int64", "argmax")
argmin = _reduction("argmin", _PLACES, lambda dtype: "int64", "argmin")
count_nonzero = declare(
    "count_nonzero",
    "x, *, axis=None, keepdims=False",
    infer=_reduced(lambda dtype: "int64"),
    np="count_nonzero",
    total=True,
)
cumsum = declare(
    "cumsum",
    _SCANS,
    infer=_scanned,
    fold=_plain("cumsum"),
    np="cumsum",
    method="cumsum",
    total=True,
)
cumprod = declare(
    "cumprod",
    _SCANS,
    infer=_scanned,
    fold=_plain("cumprod"),
    np="cumprod",
    method="cumprod",
    total=True,
)

# --- over lists ---------------------------------------------------------------------------


def _infer_sum_items(args: Args, params: Params) -> Kind:
    kind = item_kind(kind_of_atom(args[0]))
    return named("add").infer([Const(0), Var(kind)], {})


def _fold_start(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """The start of a product is its first factor: options have no derivative."""
    if "start" not in params:
        return None
    first = builder.emit(
        named("pack"), params["start"], form=Const("list"), keys=Const((0,)), type=Const(None)
    )
    items = builder.emit(named("join_lists"), first, builder.emit(named("as_list"), args[0]))
    return builder.emit(prod_items, items, namespace=namespace)


def _infer_prod_items(args: Args, params: Params) -> Kind:
    item = item_kind(kind_of_atom(args[0]))
    return item if isinstance(item, Number) and item.type in ("float", "complex") else UNKNOWN


sum_items = declare("sum_items", "xs, start=0", infer=_infer_sum_items, py="sum")
fsum = declare("fsum", "xs", infer=FLOAT, math="fsum")
prod_items = declare(
    "prod_items", "xs, *, start=1", infer=_infer_prod_items, fold=_fold_start, math="prod"
)
place_of_extreme = helper("place_of_extreme", "x, *, largest=True", INT, total=False)
"""Where the item of an array is that Python's `max` or `min` gives."""
FOLDS = frozenset((sum_items, prod_items))
"""Of no items they give the whole number that they start from."""
dist = declare("dist", "p, q", infer=FLOAT, math="dist")
sumprod = declare(  # from Python 3.12 on
    "sumprod",
    "p, q",
    infer=UNKNOWN,
    implementation=getattr(math, "sumprod", late_helper("inner_items")),
    **in_math("sumprod"),
)

# --- what derivatives are made of -----------------------------------------------------------


def _fold_count(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    defaults = {"axis": Const(None), "ddof": Const(0)}
    said = {key: atom for key, atom in params.items() if defaults[key] != atom}
    if not said and isinstance(kind_of_atom(args[0]), Array):
        size = builder.emit(named("size"), args[0], namespace="attr")
        return builder.emit(or_one, size, Const(1))  # of an empty array nothing is divided
    if not said and isinstance(kind_of_atom(args[0]), Number):
        return Const(1)
    axes = reduced_axes(args[0], said) if "ddof" not in said else None
    if axes is not None and len(axes) == 1:
        shape = builder.emit(named("shape"), args[0], namespace="attr")
        return builder.emit(named("getitem"), shape, Const(axes[0]))
    if len(said) < len(params):
        return builder.emit_with(named("reduced_count"), args, said, namespace)
    return None


def _fold_lanes(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """The one axis of a vector is its last."""
    kind, axis = kind_of_atom(args[-1]), params.get("axis", Const(None))
    is_last = axis in (Const(None), Const(0), Const(-1))
    return args[0] if isinstance(kind, Array) and kind.rank == 1 and is_last else None


def _infer_lanes(args: Args, params: Params) -> Kind:
    kind, axis = kind_of_atom(args[0]), params.get("axis", Const(None))
    if axis == Const(None):
        return Array(dtype_of(args[0]), 1)
    return (
        kind
        if isinstance(axis, Const) and isinstance(axis.value, int)
        else Array(dtype_of(args[0]))
    )


def _infer_recurrence(args: Args, params: Params) -> Kind:
    if not any(isinstance(kind_of_atom(arg), Array) for arg in args):
        return UNKNOWN
    return Array(promoted(args), rank_of(args[1]))


def _infer_at_extreme(args: Args, params: Params) -> Kind:
    return gradient_kind(kind_of_atom(args[2]))


def _fold_at(position: Op) -> Fold:
    """The entry at one index, which says more than `at_extreme`, where all axes are reduced."""

    def fold(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
        values, x, _ = args
        if values == ZERO:
            return ZERO
        rank = rank_of(x)
        axes = reduced_axes(x, params)
        if not rank or axes != tuple(range(rank)) or params.get("keepdims") == Const(True):
            return builder.emit_with(named("at_extreme"), args, params, "rt")
        flat = values if rank == 1 else builder.emit(named("ravel"), values, namespace="method")
        index = builder.emit(position, x, namespace="method")
        return builder.emit(named("getitem"), flat, index)

    return fold


def _infer_lane_of(args: Args, params: Params) -> Kind:
    rank = rank_of(args[0])
    return Array(dtype_of(args[0]), rank)


def _infer_items_of(args: Args, params: Params) -> Kind:
    lane, items = map(kind_of_atom, args)
    if isinstance(items, Array):
        return items
    if isinstance(lane, Array) and lane.rank == 1 and isinstance(items, Seq):
        return Seq(number_of_dtype(lane.dtype))
    return UNKNOWN


def _fold_sub_items(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    xs, ys = args
    if ys == ZERO:
        return xs
    return builder.emit(named("neg_items"), ys, namespace="rt") if xs == ZERO else None


def _infer_sum_of_products(args: Args, params: Params) -> Kind:
    rank = reduced_rank(rank_of(args[0]), params)
    dtype = promoted(args) if all(isinstance(kind_of_atom(arg), Array) for arg in args) else ""
    return UNKNOWN if rank is None else shaped(dtype, rank)


def _fold_sum_of_products(
    builder: Builder, args: Args, params: Params, namespace: str
) -> Atom | None:
    """The helper is for what may be a list."""
    if ZERO in args or not all(isinstance(kind_of_atom(arg), Array) for arg in args):
        return _plain("sum_of_products")(builder, args, params, namespace)
    return builder.emit_with(sum_, (builder.emit(named("mul"), *args),), params, "np")


def _fold_unreduce(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """One number has nothing to be spread along but everything."""
    if isinstance(kind_of_atom(args[0]), Number) and isinstance(kind_of_atom(args[1]), Array):
        return builder.emit(named("fill"), *args)
    return _plain("unreduce")(builder, args, params, namespace)


_AXES = "axis=None, keepdims=False"
sum_of_products = helper(
    "sum_of_products", f"x, y, *, {_AXES}", _infer_sum_of_products, _fold_sum_of_products
)
unreduce = helper(
    "unreduce", f"y_bar, x, *, {_AXES}", in_shape_of_second, _fold_unreduce, fresh=False
)
broadcast_like = helper("broadcast_like", "x, like", in_shape_of_second, fresh=False)
or_one = declare(
    "or_one", "count, one", infer=INT, py="or", implementation=lambda count, one: count or one
)
"""How many, but 1 of nothing: a mean of nothing has no entries to be divided among."""
reduced_count = helper("reduced_count", "x, *, axis=None, ddof=0", FLOAT, _fold_count)
at_extreme = helper("at_extreme", f"values, x, y, *, {_AXES}", _infer_at_extreme)
at_max, at_min = (
    declare(
        name,
        f"values, x, y, *, {_AXES}",
        infer=_infer_at_extreme,
        fold=_fold_at(position),
        implementation=late_helper("at_extreme"),
    )
    for name, position in (("at_max", argmax), ("at_min", argmin))
)
"""`at_extreme` where it is known which; they never stay in a program."""
put_extreme = helper("put_extreme", f"y_bar, x, y, *, {_AXES}", in_shape_of_second)
cumsum_reversed = helper("cumsum_reversed", "y_bar, x, *, axis=None", in_shape_of_second)
for _op in (unreduce, broadcast_like, put_extreme, cumsum_reversed):
    _op.shaped_like = 1
lanes = helper("lanes", "x, *, axis=None", _infer_lanes, _fold_lanes, fresh=False)
unlanes = helper("unlanes", "y, x, *, axis=None", in_shape_of_second, _fold_lanes, fresh=False)
products_before = helper("products_before", "x, *, reverse=False", _like(0))
linear_recurrence = helper("linear_recurrence", "a, b, *, reverse=False", _infer_recurrence)
delayed = helper("delayed", "x, *, reverse=False", _like(0))
spread_items = helper("spread_items", "y_bar, xs", _like(1), fresh=False)
scale_items = helper("scale_items", "scale, xs", _like(1))
inner_items = helper("inner_items", "xs, ys", FLOAT)
sub_items = helper("sub_items", "xs, ys", _like(0), _fold_sub_items)
neg_items = helper("neg_items", "xs", _like(0))
exponent_of = helper(
    "exponent_of",
    "x",
    lambda args, params: INT if isinstance(kind_of_atom(args[0]), Number) else UNKNOWN,
)
items_length = helper("items_length", "xs", FLOAT)
lane_of = helper("lane_of", "items", _infer_lane_of)
items_of = helper("items_of", "lane, items", _infer_items_of)
