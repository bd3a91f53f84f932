"""Structural ops: containers, indexing, memory, calls, comparisons, text.

Nothing here is calculus; the passes treat most of these themselves (design: memory).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any

from ..ir.builder import Builder, kind_of_atom, kind_of_constant
from ..ir.graph import ZERO, Atom, Const, Eqn
from ..ir.op import Op
from ..ir.types import (
    BOOL,
    FLOAT,
    INT,
    PICTURE,
    RANGE,
    SLICE,
    STR,
    UNKNOWN,
    Array,
    Kind,
    Map,
    Number,
    Other,
    Seq,
    Struct,
    join,
    map_of,
)
from .array_kinds import like_first
from .cotangent_kinds import FORM_OF_COTANGENT, gradient_kind, in_shape_of_second, like_second
from .helpers import helper
from .indexing import indexed
from .registry import declare, late_helper, named

Params = Mapping[str, Atom]
Args = Sequence[Atom]


# --- containers ---------------------------------------------------------------------------


def _infer_pack(args: Args, params: Params) -> Kind:
    form, keys, type_ = (_constant(params[name]) for name in ("form", "keys", "type"))
    return Struct(form, keys, tuple(map(kind_of_atom, args)), type_)


def _infer_getitem(args: Args, params: Params) -> Kind:
    kind, index = kind_of_atom(args[0]), args[1]
    match kind:
        case Array():
            return indexed(kind, index)
        case Seq(item=item):
            return kind if is_slice(index) else item
        case Map(item=item):
            return item
        case Struct(form=form, keys=keys, items=items):
            return _item_of_struct(form, keys, items, index)
        case Other(name="range"):
            return RANGE if is_slice(index) else INT
        case Other(name="str" | "picture"):
            return kind
        case _:
            return UNKNOWN


def _item_of_struct(form: str, keys: tuple[Any, ...], items: tuple[Kind, ...], index: Atom) -> Kind:
    if isinstance(index, Const) and not isinstance(index.value, slice):
        if form == "dict":
            return items[keys.index(index.value)] if index.value in keys else UNKNOWN
        value = index.value
        if isinstance(value, int) and -len(items) <= value < len(items):
            return items[value]
    if not items:
        return UNKNOWN
    kind = items[0]
    for item in items[1:]:
        kind = join(kind, item)
    if is_slice(index):
        return Seq(kind) if form in ("list", "tuple") else UNKNOWN
    return kind


def is_slice(index: Atom) -> bool:
    """Whether an index takes a part of a sequence."""
    return kind_of_atom(index) == SLICE


def _infer_getattr(args: Args, params: Params) -> Kind:
    kind, name = kind_of_atom(args[0]), _constant(params["name"])
    if isinstance(kind, Struct) and name in kind.keys:
        return kind.items[kind.keys.index(name)]
    return UNKNOWN


def _infer_as_list(args: Args, params: Params) -> Kind:
    return Seq(item_kind(kind_of_atom(args[0])))


def _infer_as_tuple(args: Args, params: Params) -> Kind:
    """What may be an index of several dimensions is not a sequence of numbers, which would be one index."""
    item = item_kind(kind_of_atom(args[0]))
    return UNKNOWN if item in (INT, BOOL, SLICE, UNKNOWN) else Seq(item)


def _infer_unpackable(args: Args) -> Kind:
    """Iterators become lists; what can be indexed stays what it is."""
    kind = kind_of_atom(args[0])
    return kind if isinstance(kind, (Array, Seq, Struct)) or kind == PICTURE else UNKNOWN


def item_kind(kind: Kind) -> Kind:
    """The kind of the items that iterating over a value gives: of a dictionary that of its keys."""
    match kind:
        case Map(key=key):
            return key
        case Seq(item=item):
            return item
        case Array(dtype=dtype, rank=rank) if rank is not None and rank > 1:
            return Array(dtype, rank - 1)
        case Array(dtype=dtype, rank=1):
            return number_of_dtype(dtype)
        case Other(name="range"):
            return INT
        case Other(name="str" | "picture"):
            return kind
        case Struct(form="tuple" | "list" | "namedtuple", items=items) if items:
            result = items[0]
            for item in items[1:]:
                result = join(result, item)
            return result
        case _:
            return UNKNOWN


def map_of_dicts(*kinds: Kind) -> Kind:
    """The kind of a dictionary, of which only the run knows the keys, that holds what some others do."""
    maps = [_as_map(kind) for kind in kinds if kind != _EMPTY]
    return reduce(join, maps) if maps else UNKNOWN


def joined(a: Kind, b: Kind) -> Kind:
    """The kind of what is one thing or the other: of dictionaries that differ in their keys, too."""
    kind = join(a, b)
    return map_of_dicts(a, b) if kind == UNKNOWN else kind


_EMPTY = Struct("dict", (), ())


def _as_map(kind: Kind) -> Kind:
    match kind:
        case Struct(form="dict", keys=keys, items=items, type=None):
            return map_of(reduce(join, map(kind_of_constant, keys)), reduce(join, items))
        case _:
            return kind if isinstance(kind, Map) else UNKNOWN


def number_of_dtype(dtype: str) -> Kind:
    """The kind of one element of an array of that dtype."""
    for prefix, kind in (("float", FLOAT), ("int", INT), ("uint", INT), ("bool", BOOL)):
        if dtype.startswith(prefix):
            return kind
    return Number("complex") if dtype.startswith("complex") else UNKNOWN


def _make_slice(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    if all(isinstance(arg, Const) for arg in args):
        return Const(slice(*(_constant(arg) for arg in args)))
    return None


def _constant(atom: Atom) -> Any:
    assert isinstance(atom, Const)
    return atom.value


pack = declare("pack", "*items, form, keys, type", infer=_infer_pack, total=True)


def _fold_getitem(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """`x[()]` of a number: NumPy's numbers give themselves. In derivative code `x[...]`, too."""
    x, index = args
    whole = index == Const(()) or (builder.derived and index == Const(...))
    return x if whole and isinstance(kind_of_atom(x), Number) else None


getitem = declare(
    "getitem",
    "x, index",
    infer=_infer_getitem,
    fold=_fold_getitem,
    fresh=False,
    implementation=operator.getitem,
)
_attribute = late_helper("attribute")
slice_ = declare(
    "slice", "start, stop, step", infer=SLICE, fold=_make_slice, implementation=slice, total=True
)
getattr_ = declare(
    "getattr",
    "x, *, name",
    infer=_infer_getattr,
    fresh=False,
    implementation=lambda x, *, name: _attribute(x, name),
)
as_list = declare("as_list", "x", infer=_infer_as_list, py="list", implementation=list)
as_tuple = declare("as_tuple", "x", infer=_infer_as_tuple, py="tuple", implementation=tuple)
unpackable = helper(
    "unpackable",
    "x, count, starred",
    lambda args, params: _infer_unpackable(args),
    fresh=False,
    effect=True,
)
range_ = declare("range", "*bounds", infer=RANGE, py="range", implementation=range)
length = declare("length", "x", infer=INT, py="len", implementation=len)

# --- memory and cotangents ----------------------------------------------------------------


def item_keys(eqn: Eqn) -> Sequence[Any]:
    """The keys of a packed container's items in its cotangent: a list or a dictionary."""
    if eqn.op is closure or eqn.param("form") in ("tuple", "list", "namedtuple"):
        return range(len(eqn.args))
    return eqn.param("keys")


def _fold_zeros(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    kind = kind_of_atom(args[0])
    if isinstance(kind, Number):
        return Const(0j if kind.type == "complex" else 0.0)
    return None


def row_of_zeros(builder: Builder, kind: Kind) -> Atom | None:
    """The cotangent that is zero of a few numbers in a container, as a container of them; None of anything else."""
    if not isinstance(kind, Struct) or kind.form not in FORM_OF_COTANGENT:
        return None
    real = all(isinstance(item, Number) and item.type != "complex" for item in kind.items)
    if not real or len(kind.items) > _MOST_WRITTEN_OUT:
        return None
    form = FORM_OF_COTANGENT[kind.form]
    return _row(builder, [_NONE_YET] * len(kind.items), form, kind.keys if form == "dict" else None)


_MOST_WRITTEN_OUT = 8
"""Up to so many numbers the cotangent of a row is put together where it is known, not written to."""
_NONE_YET = Const(0.0)


def _row(builder: Builder, items: Sequence[Atom], form: str, keys: Any) -> Atom:
    keys = tuple(range(len(items))) if keys is None else keys
    params = {"form": Const(form), "keys": Const(keys), "type": Const(None)}
    kind = gradient_kind(Struct(form, keys, (FLOAT,) * len(items)))
    return builder.emit_with(pack, items, params, kind=kind)


def _fold_add_at(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    """What is added to an item of a row that has just been put together is that item."""
    buffer, index, *rest = args
    eqn = builder.definition(buffer)
    if eqn is None or eqn.op is not pack or len(rest) != 1:
        return None
    keys, kind = eqn.param("keys"), eqn.outs[0].kind
    if gradient_kind(kind) != kind or not isinstance(index, Const) or index.value not in keys:
        return None
    if kind_of_atom(rest[0]) != FLOAT:
        return None
    items, k = list(eqn.args), keys.index(index.value)
    items[k] = rest[0] if items[k] is _NONE_YET else builder.emit(named("add"), items[k], *rest)
    return _row(builder, items, eqn.param("form"), keys)


def _fold_accumulate(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    a, b = args
    return b if a == ZERO else a if b == ZERO else None


def _fold_fill(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    scalar, x = args
    if isinstance(kind_of_atom(x), Number):
        return scalar
    if isinstance(scalar, Const) and type(scalar.value) is int:
        return builder.emit(
            fill, Const(float(scalar.value)), x
        )  # an array of floats, not of integers
    if kind_of_atom(scalar) == INT:
        return builder.emit(fill, builder.emit(named("to_float"), scalar), x)
    return None


def _fold_project(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    x_bar, x = args
    if (
        isinstance(x_bar, Const)
        and isinstance(x_bar.value, (int, float))
        and kind_of_atom(x) == FLOAT
    ):
        return Const(float(x_bar.value))
    if kind_of_atom(x_bar) == FLOAT and kind_of_atom(x) == FLOAT and x_bar != ZERO:
        return x_bar
    return None


def _fold_identity(builder: Builder, args: Args, params: Params, namespace: str) -> Atom | None:
    return args[0] if isinstance(args[0], Const) else None


add_at = helper("add_at", "buffer, index, value", like_first, _fold_add_at, fresh=False)
zeros = helper(
    "zeros",
    "x, *, unbound=None, depth=0",
    lambda args, params: gradient_kind(kind_of_atom(args[0])),
    fold=_fold_zeros,
)
accumulate = helper(
    "accumulate", "a, b", lambda args, params: join(*map(kind_of_atom, args)), fold=_fold_accumulate
)
unbroadcast = helper("unbroadcast", "x_bar, x", in_shape_of_second, fresh=False)
fill = helper("fill", "scalar, x", in_shape_of_second, fold=_fold_fill)
project = helper("project", "x_bar, x", like_second, fold=_fold_project)
bound = helper("bound", "x, *, name, free=False", like_first, fresh=False, effect=True)
stop_gradient = helper("stop_gradient", "x", like_first, fold=_fold_identity, fresh=False)

hook = helper("hook", "x, *captured, callee", like_first, fresh=False)

for _op, _k in ((add_at, 0), (zeros, 0), (unbroadcast, 1), (fill, 1), (project, 1), (bound, 0)):
    _op.shaped_like = _k

# --- calls --------------------------------------------------------------------------------

global_ = declare("global", "*, name, holder, key", infer=UNKNOWN, fresh=False, total=True)
apply = declare("apply", "f, *args, names", infer=UNKNOWN, fresh=False, effect=True)
applied = helper("applied", "f, *args, names", UNKNOWN, fresh=False, effect=True)
"""`apply` where its result does not matter: what it is given must not change then."""
pullback_of = declare(
    "pullback_of",
    "f, *args, names",
    infer=Struct("tuple", (0, 1), (UNKNOWN, UNKNOWN)),
    fresh=False,
    effect=True,
    rt="pullback",
)


def _remark(name: str, signature: str) -> Op:
    """An op that gives its first operand, and says something about it."""
    return declare(
        name,
        signature,
        infer=like_first,
        fresh=False,
        implementation=lambda first, *others, **options: first,
        total=True,
    )


means = _remark("means", "x, *operands, reader, names")
"""x, which was got in a way that nobody can differentiate: it is what `reader(*operands)` gives."""
ruled = _remark("ruled", "x, *captured, function, names")
"""x, which a function with a rule returned: the rule knows nothing of what the function has captured."""
valued = _remark("valued", "value, smooth")
"""A value, computed as it was written, that has the derivative of another expression of it (`passes/edges/squares`)."""
unknown_where = _remark("unknown_where", "x, at_kink")
"""x, of which the derivative is NaN in some places, unless nothing depends on it (`passes/edges/unknown_slopes`)."""
opaque = declare("opaque", "f, *args, names", infer=UNKNOWN, fresh=False, effect=True)
closure = declare("closure", "*captured, function, names", infer=UNKNOWN, total=True)
raise_ = declare("raise", "exception, cause", infer=Other("never"), effect=True)


def _formatted(*values: Any, template: Sequence[str | tuple[int, int, str]]) -> str:
    """What an f-string gives: pieces of text, and values with the conversion and format they are put in."""
    pieces = [
        each if isinstance(each, str) else _text_of(values[each[0]], *each[1:]) for each in template
    ]
    return "".join(pieces)


def _text_of(value: Any, conversion: int, spec: str) -> str:
    convert: dict[int, Callable[[Any], str]] = {ord("r"): repr, ord("s"): str, ord("a"): ascii}
    return format(convert[conversion](value) if conversion in convert else value, spec)


format_ = declare("format", "*values, template", infer=STR, implementation=_formatted)

# --- truth --------------------------------------------------------------------------------

_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _infer_comparison(args: Args, params: Params) -> Kind:
    kinds = [kind_of_atom(arg) for arg in args]
    if any(isinstance(kind, Array) for kind in kinds):
        ranks = [kind.rank if isinstance(kind, Array) else 0 for kind in kinds]
        known = [rank for rank in ranks if rank is not None]
        return Array("bool", max(known) if len(known) == len(ranks) else None)
    if any(kind == UNKNOWN for kind in kinds):
        return UNKNOWN
    return BOOL


def _comparison(name: str, symbol: str, np: str) -> Op:
    return declare(
        name,
        "a, b",
        infer=_infer_comparison,
        elementwise=True,
        py=symbol,
        operator=name,
        implementation=_COMPARISONS[symbol],
        np=np,
    )


eq = _comparison("eq", "==", np="equal")
ne = _comparison("ne", "!=", np="not_equal")
lt = _comparison("lt", "<", np="less")
le = _comparison("le", "<=", np="less_equal")
gt = _comparison("gt", ">", np="greater")
ge = _comparison("ge", ">=", np="greater_equal")
is_ = declare("is", "a, b", infer=BOOL, py="is", implementation=operator.is_)
is_not = declare("is_not", "a, b", infer=BOOL, py="is not", implementation=operator.is_not)
in_ = declare("in", "a, b", infer=BOOL, py="in", implementation=lambda a, b: a in b)
not_in = declare("not_in", "a, b", infer=BOOL, py="not in", implementation=lambda a, b: a not in b)
not_ = declare("not", "x", infer=BOOL, py="not", implementation=operator.not_)
both = declare("both", "a, b", infer=BOOL, py="and", implementation=lambda a, b: a and b)
either = declare("either", "a, b", infer=BOOL, py="or", implementation=lambda a, b: a or b)
truth = declare("truth", "x", infer=BOOL, py="bool", implementation=bool)
