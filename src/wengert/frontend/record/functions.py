"""Functions of NumPy and others on boxes: which op each computes, or what else is to be done."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from ...errors import UnknownFunction
from ...ir.callers import calling_span
from ...ir.op import Op
from ...numbers import solutions
from ...numbers.number import PerturbedNumber, compute, value_of
from ...numbers.refusals import lost
from ...numbers.restated import folded
from ...numbers.squares import FOLLOWED, followed
from ...ops import elementwise as el
from ...ops import registry
from ...ops.arrays.joining import stack as stack_op
from ...ops.dispatch.lookup import op_of
from ...ops.signatures import bind
from ...rules.registry import rule_for
from ..polyfills import manifest
from ..polyfills.numpy.functions import WITH_OPTIONS
from . import records
from .boxes import (
    Recorded,
    asked,
    at_level_below,
    boxed_result,
    boxes_in,
    fresh,
    gathered_items,
    is_active,
    recorded,
)
from .methods import copied, real_type
from .operations import operations


def called(
    function: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    *,
    op: Op | None = None,
) -> Any:
    """A function on operands of which at least one is a box."""
    special = SPECIAL.get(function) if _is_hashable(function) else None
    if special is not None:
        return special(*args, **keywords)
    args = tuple(map(gathered_items, args))
    if isinstance(function, np.ufunc) and len(args) > function.nin:
        args, keywords["out"] = args[: function.nin], args[function.nin :]
    out = keywords.pop("out", None)
    if out is not None:
        return _into(out, function, args, keywords)
    if function in PLAIN:
        return _answered(function, args, keywords)
    if op is None:
        found = registry.find(function)
        if found is None or (registry.is_foreign(found[0]) and rule_for(found[0]) is None):
            return _otherwise(function, args, keywords)
        op = found[0]
    operands, options = bind(op, args, keywords)
    if op is el.log and len(operands) > 1:
        op = el.log_base
    if rule_for(op) is None:
        return compute(op, operands, options)
    if not _SAID_OTHERWISE.isdisjoint(options):
        said = folded(op, operands, tuple(map(all_plain, operands)), options) if op.fold else None
        if said is not None:
            return said[0]
        instead = WITH_OPTIONS.get(op.name)
        if instead is not None:
            return operations.current(instead)(*args, **keywords)
    return _noted(op, operands, options, function, args, keywords)


def _answered(function: Any, args: Any, keywords: Any) -> Any:
    """A function of which only the value matters."""
    answer = plainly(function, args, keywords)
    if function not in _OF_KINDS:
        found = registry.find(function)
        if found is None:
            asked(None, (*args, *keywords.values()), {}, None)
        else:
            asked(found[0], *bind(found[0], args, keywords), answer)
    return answer


_SAID_OTHERWISE = frozenset(("where", "initial", "retstep"))
"""Options of which a rule knows nothing."""


def _noted(op: Op, operands: Any, options: Any, function: Any, args: Any, keywords: Any) -> Any:
    all_boxes = boxes_in((*operands, *options.values()))
    if not all_boxes:
        return fresh(function(*args, **keywords))
    tape = max((box.tape for box in all_boxes), key=lambda tape: tape.level)
    result = recorded(tape, op, operands, options, function, args, keywords)
    return followed(op, operands, options, result, value_of) if op in FOLLOWED else result


def _is_hashable(function: Any) -> bool:
    return type(function).__hash__ is not None


def _otherwise(function: Any, args: Any, keywords: Any) -> Any:
    """A function that is no op: by what stands for it, or by NumPy's own Python code."""
    holds = any(map(may_hold_boxes, (*args, *keywords.values())))
    if not holds and not any(is_active(box, box.tape) for box in boxes_in((args, keywords))):
        return fresh(_without_derivatives(function, args, keywords))
    instead = manifest.stand_in_for(function)
    if instead is not None:
        return operations.current(instead)(*args, **keywords)
    own = getattr(function, "__wrapped__", None)
    if isinstance(own, FunctionType):
        return operations.current(own)(*args, **keywords)
    op = op_of(function)  # which says that it is no op
    return op(*args, **keywords)


def may_hold_boxes(x: Any) -> bool:
    """Whether an operand is a function or an iterator of the program's, which may give boxes, or a polyfill's object.

    The functions that give plain values to a solver are not.
    """
    if isinstance(x, (MethodType, partial, Iterator)) or is_polyfilled(type(x)):
        return True
    return isinstance(x, FunctionType) and x.__code__.co_filename != solutions.__file__


def is_polyfilled(cls: type) -> bool:
    """Whether a class stands for one of a library's."""
    return cls.__module__.startswith(_OF_POLYFILLS)


_OF_POLYFILLS = manifest.__name__.rpartition(".")[0]


def _without_derivatives(function: Any, args: Any, keywords: Any) -> Any:
    """What a function gives for boxes without derivatives: what lies in their memory may be given some later."""
    found = boxes_in((args, keywords))
    if not found:
        return function(*args, **keywords)
    tape = max((box.tape for box in found), key=lambda tape: tape.level)
    below = tuple([at_level_below(x, tape) for x in args])
    named = {name: at_level_below(x, tape) for name, x in keywords.items()}
    memories = [box.memory for box in found if box.tape is tape and box.memory]
    return boxed_result(tape, _without_derivatives(function, below, named), memories)


def plainly(function: Any, args: Any, keywords: Any) -> Any:
    """What a function answers for the values alone."""
    return function(*map(all_plain, args), **{k: all_plain(x) for k, x in keywords.items()})


def all_plain(x: Any) -> Any:
    """A value without derivatives of any level."""
    if isinstance(x, PerturbedNumber):
        return value_of(x)
    if isinstance(x, (list, tuple)) and boxes_in(x):
        items = list(map(all_plain, x))
        return tuple.__new__(type(x), items) if isinstance(x, tuple) else items
    if type(x) is dict:
        return {key: all_plain(item) for key, item in x.items()}
    return all_plain(gathered_items(x)) if type(x) is np.ndarray and x.dtype == object else x


def _into(out: Any, function: Any, args: Any, keywords: Any) -> Any:
    """What a function writes to an array of the program's."""
    outs = out if isinstance(out, tuple) else (out,)
    where = keywords.pop("where", True)
    results = anything(function, args, keywords)
    results = results if isinstance(results, tuple) and len(outs) > 1 else (results,)
    for to, result in zip(outs, results, strict=True):
        if to is None:
            continue
        if type(to) is not Recorded and boxes_in((result,)):
            plainly(
                function, args, {**keywords, "out": copy.deepcopy(to)}
            )  # which may say that it cannot
            raise lost(boxes_in((result,))[0], "what an array of floats is given")
        if where is True:
            to[...] = result
        else:
            chosen = np.broadcast_to(all_plain(where), np.shape(value_of(to)))
            to[...] = np.where(chosen, result, to)
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def anything(function: Any, args: Any, keywords: Any) -> Any:
    """A function on anything: its result is a box where that may be written to or has a derivative."""
    if boxes_in(args) or boxes_in(keywords):
        return called(function, args, dict(keywords))
    return fresh(function(*args, **keywords))


# --- elementwise ----------------------------------------------------------------------------------

_FOLDS = {
    ("add", "reduce"): "sum",
    ("multiply", "reduce"): "prod",
    ("maximum", "reduce"): "max",
    ("minimum", "reduce"): "min",
    ("add", "accumulate"): "cumsum",
    ("multiply", "accumulate"): "cumprod",
}


def called_ufunc(ufunc: Any, method: str, inputs: Any, options: dict[str, Any]) -> Any:
    """An elementwise function of NumPy's, or its `reduce`, `accumulate`, `outer` or `at`."""
    if method == "__call__":
        if len(inputs) > ufunc.nin:
            inputs, options["out"] = inputs[: ufunc.nin], inputs[ufunc.nin :]
        out = options.get("out")
        is_new = out is None or (isinstance(out, tuple) and all(to is None for to in out))
        where = options.pop("where", True) if is_new else True
        if where is not True:
            raise UnknownFunction(
                f"np.{ufunc.__name__} with `where` and no `out` leaves elements as memory has them",
                "Choose elements with `np.where`.",
                calling_span(),
            )
        return called(ufunc, inputs, options)
    if method == "at":
        _at(ufunc, *inputs)
        return None
    inputs = tuple(map(gathered_items, inputs))
    if method == "outer":
        a, b = inputs
        column = np.reshape(a, (*np.shape(value_of(a)), *(1,) * np.ndim(value_of(b))))
        return ufunc(column, b, **options)
    out = options.pop("out", None)
    if out is not None:
        (to,) = out if isinstance(out, tuple) else (out,)
        to[...] = called_ufunc(ufunc, method, inputs, options)
        return to
    name = _FOLDS.get((ufunc.__name__, method))
    if name is None or "where" in options or "initial" in options:
        return _folded_by_steps(ufunc, method, inputs, options)
    operands, bound = bind(registry.named(name), inputs, {"axis": 0, **options})
    return registry.named(name)(*operands, **bound)


def _folded_by_steps(ufunc: Any, method: str, inputs: Any, options: dict[str, Any]) -> Any:
    array, axis = inputs[0], options.pop("axis", 0)
    initial = options.pop("initial", None)
    keeps = options.pop("keepdims", False)
    if method not in ("reduce", "accumulate") or options or not isinstance(axis, int) or keeps:
        raise UnknownFunction(
            f"np.{ufunc.__name__}.{method} has no derivative",
            "Write it with other functions.",
            calling_span(),
        )
    rows = list(np.moveaxis(array, axis, 0)) if np.ndim(all_plain(array)) else []
    if not np.ndim(all_plain(array)):
        return array if initial is None else ufunc(initial, array)
    found = rows[:1] if initial is None else [ufunc(initial, rows[0])]
    for row in rows[1:]:
        found.append(ufunc(found[-1], row))
    return found[-1] if method == "reduce" else np.stack(found, axis)


def _at(ufunc: Any, array: Any, index: Any, value: Any = None) -> None:
    if not isinstance(array, Recorded):
        raise lost(value, "what an array of floats is given")
    if ufunc in (np.add, np.subtract):
        array.add_at(ufunc, index, value)
        return
    where = np.arange(value_of(array).size).reshape(value_of(array).shape)[all_plain(index)]
    flat = array.reshape(-1)
    values = None if value is None else np.broadcast_to(value, where.shape).reshape(-1)
    for k, place in enumerate(where.ravel().tolist()):
        flat[place] = ufunc(flat[place]) if values is None else ufunc(flat[place], values[k])


# --- arrays made of boxes -----------------------------------------------------------------------


def array(x: Any, dtype: Any = None, copy: Any = True, **options: Any) -> Any:
    """`np.array`."""
    options.pop("like", None)
    dtype = None if dtype is None else np.dtype(real_type(dtype))
    if isinstance(x, Recorded) and x.memory is not None:
        if dtype is not None and dtype != value_of(x).dtype:
            made = x.astype(dtype)
        elif copy is True:
            made = copied(x, str(options.get("order") or "K"))
        else:
            made = x
        missing = options.get("ndmin", 0) - np.ndim(value_of(made))
        return (
            made if missing <= 0 else np.reshape(made, (*(1,) * missing, *np.shape(value_of(made))))
        )
    if not isinstance(x, (list, tuple, PerturbedNumber, np.ndarray)):
        inner = getattr(type(x), "__array__", None)
        return fresh(
            np.array(x, dtype=dtype, copy=copy, **options) if inner or not boxes_in((x,)) else x
        )
    if isinstance(x, (list, tuple)):
        x = _with_items_of_objects(x)
    if not boxes_in((x,)):
        return fresh(np.array(x, dtype=dtype, copy=copy, **options))
    if type(x) is np.ndarray:
        return gathered_items(x) if dtype is None or dtype.kind != "O" else x.copy()
    if dtype is not None and dtype.kind == "O":
        return _of_objects(x)
    if dtype is not None and dtype.names is not None:
        return of_records(np.array, x, dtype)
    made = stacked(x)
    return made if dtype is None or value_of(made).dtype == dtype else made.astype(dtype)


def of_records(make: Callable[..., Any], x: Any, *args: Any, **options: Any) -> Any:
    """An array of records that is made of tuples."""
    made = fresh(make(all_plain(x), *args, **options))
    made[...] = x
    return made


def _of_fields(columns: Any, *args: Any, **options: Any) -> Any:
    """`np.rec.fromarrays`."""
    made = fresh(np.rec.fromarrays(all_plain(columns), *args, **options))
    for name, column in zip(value_of(made).dtype.names, columns, strict=True):
        made[name] = column
    return made


def _with_items_of_objects(x: Any) -> Any:
    """Lists in which arrays of objects that hold boxes are boxes."""
    items = [
        _with_items_of_objects(item) if isinstance(item, (list, tuple)) else gathered_items(item)
        for item in x
    ]
    return tuple(items) if isinstance(x, tuple) else items


def _of_objects(x: Any) -> Any:
    shape = np.shape(np.array(all_plain(x)))
    made = np.empty(shape, dtype=object)
    for index in np.ndindex(shape):
        item = x
        for k in index:
            item = item[k]
        made[index] = item
    return made


def asarray(x: Any, dtype: Any = None, **options: Any) -> Any:
    """`np.asarray`, `np.asanyarray`, `np.ascontiguousarray` …"""
    if isinstance(x, Recorded) and x.memory is not None and dtype is None:
        order = options.get("order")
        flags = value_of(x).flags
        fits = order in (None, "K", "A") or flags[f"{order}_CONTIGUOUS"]
        return x if fits else copied(x, str(order))
    options.pop("copy", None)
    return array(x, dtype, copy=False if isinstance(x, Recorded) else None, **options)


def ascontiguousarray(x: Any, dtype: Any = None, **options: Any) -> Any:
    made = asarray(x, dtype, order="C")
    return made if np.ndim(value_of(made)) else made.reshape(1)


def asfortranarray(x: Any, dtype: Any = None, **options: Any) -> Any:
    return asarray(x, dtype, order="F")


def stacked(x: Any) -> Any:
    """An array of numbers and arrays, of which some are boxes."""
    if isinstance(x, np.ndarray):
        made = stacked(x.ravel().tolist())
        return made.reshape(x.shape)
    if isinstance(x, Recorded):
        return x if x.memory is not None else stacked([x]).reshape(())
    items = [stacked(item) if isinstance(item, (list, tuple)) else item for item in x]
    shapes = {np.shape(value_of(item)) for item in items}
    if len(shapes) > 1:
        np.array([all_plain(item) for item in items])  # which says that they do not fit
    found = boxes_in(tuple(items))
    if not found:
        return fresh(np.array(items))
    tape = max((box.tape for box in found), key=lambda tape: tape.level)
    # NumPy reads a number of several levels below as what it is there: level by level
    return recorded(tape, stack_op, (items,), {}, _stack, (items,), {})


def _stack(items: Any) -> Any:
    return stacked(items) if boxes_in(tuple(items)) else np.array(items)


def full(shape: Any, fill_value: Any, dtype: Any = None, **options: Any) -> Any:
    dtype = None if dtype is None else np.dtype(real_type(dtype))
    found = all_plain(fill_value)
    made = fresh(np.empty(all_plain(shape), dtype or np.asarray(found).dtype))
    made[...] = fill_value
    return made


def arange(*args: Any, dtype: Any = None, **options: Any) -> Any:
    named = {name: options[name] for name in ("start", "stop", "step") if name in options}
    start, stop, step = (*args, None, None)[:3] if len(args) > 1 else (0, *(args or (None,)), None)
    start, stop = named.get("start", start), named.get("stop", stop)
    step = named.get("step", 1 if step is None else step)
    plain = np.arange(*map(all_plain, (start, stop, step)), dtype=real_type(dtype))
    if plain.dtype.kind not in "fc" or not boxes_in((start, step)):
        return fresh(plain)
    return start + step * np.arange(len(plain))


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None, **options: Any) -> Any:
    dtype = None if dtype is None else np.dtype(real_type(dtype))
    made = fresh(np.empty_like(all_plain(a), dtype=dtype, shape=shape))
    made[...] = fill_value
    return made


def _like(function: Any) -> Callable[..., Any]:
    def make(a: Any, dtype: Any = None, *args: Any, **options: Any) -> Any:
        dtype = None if dtype is None else np.dtype(real_type(dtype))
        return fresh(function(all_plain(a), dtype, *args, **options))

    return make


# --- functions that write -----------------------------------------------------------------------


def copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if not isinstance(dst, Recorded):
        raise lost(boxes_in((src,))[0], "what an array of floats is given")
    if where is True:
        dst[...] = src
    else:
        dst[...] = np.where(all_plain(where), src, dst)


def put(a: Any, ind: Any, v: Any, mode: str = "raise") -> None:
    index = np.ravel(all_plain(ind))
    size = value_of(a).size
    if mode != "raise":
        index = np.clip(index, 0, size - 1) if mode == "clip" else index % size
    index = np.where(index < 0, index + size, index)
    values = np.ravel(v)
    values = values[np.arange(index.size) % value_of(values).size] if index.size else values[:0]
    if value_of(a).flags.c_contiguous:
        a.reshape(-1)[index] = values
    else:
        a[np.unravel_index(index, value_of(a).shape)] = values


def putmask(a: Any, mask: Any, values: Any) -> None:
    chosen = np.broadcast_to(all_plain(mask), value_of(a).shape)
    size = np.size(all_plain(values))
    if np.shape(all_plain(values)) != value_of(a).shape:
        values = np.ravel(values)[(np.arange(value_of(a).size) % size).reshape(value_of(a).shape)]
    a[chosen] = values[chosen]


def place(arr: Any, mask: Any, vals: Any) -> None:
    chosen = np.broadcast_to(all_plain(mask), value_of(arr).shape)
    count = int(chosen.sum())
    values = np.ravel(vals)
    arr[chosen] = values[np.arange(count) % value_of(values).size]


def fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    shape = value_of(a).shape
    if wrap or len(shape) != 2:
        raise UnknownFunction(
            "np.fill_diagonal of more than two axes", "Index the array.", calling_span()
        )
    along = np.arange(min(shape))
    values = np.ravel(val)
    a[along, along] = values[along % value_of(values).size]


def put_along_axis(arr: Any, indices: Any, values: Any, axis: int | None) -> None:
    if axis is None:
        arr.reshape(-1)[np.ravel(indices)] = values
        return
    counts = np.shape(indices)
    grid = list(np.broadcast_arrays(*np.ix_(*map(np.arange, counts))))
    grid[axis] = np.asarray(indices)
    arr[tuple(grid)] = values


def _sort(a: Any, axis: Any = -1, **options: Any) -> Any:
    if axis is None:
        a, axis = np.ravel(a), 0
    if records.is_record(a):
        made = asarray(a).copy()
        made.sort(axis, **options)
        return made
    order = np.argsort(all_plain(a), axis=axis, kind="stable")
    return np.take_along_axis(asarray(a), order, axis=axis)


PLAIN = frozenset((
    np.argsort, np.argmax, np.argmin, np.isnan, np.isfinite, np.isinf, np.isposinf, np.isneginf, np.searchsorted,
    np.nonzero, np.count_nonzero, np.allclose, np.isclose, np.array_equal, np.array_equiv, np.iscomplexobj,
    np.isrealobj, np.isreal, np.iscomplex, np.isscalar, np.lexsort, np.argpartition, np.flatnonzero, np.signbit,
    np.digitize, np.any, np.all, np.array_repr, np.array2string, np.array_str, np.argwhere, np.ndim, np.size,
    np.shape, np.may_share_memory, np.shares_memory, np.result_type, np.can_cast, np.min_scalar_type,
    np.logical_and, np.logical_or, np.logical_not, np.logical_xor, np.greater, np.greater_equal, np.less,
    np.less_equal, np.equal, np.not_equal, np.isin, np.common_type, np.nanargmax, np.nanargmin, np.broadcast_shapes,
    np.linalg.matrix_rank, np.format_float_positional,
    np.format_float_scientific,
))  # fmt: skip
"""Functions of which only the value matters."""

_OF_KINDS = frozenset((
    np.iscomplexobj, np.isrealobj, np.isscalar, np.ndim, np.size, np.shape, np.may_share_memory, np.shares_memory,
    np.result_type, np.can_cast, np.min_scalar_type, np.common_type, np.broadcast_shapes, np.array_repr,
    np.array2string, np.array_str, np.format_float_positional, np.format_float_scientific,
))  # fmt: skip
"""Those that are asked for shapes and types, or for text."""

SPECIAL: dict[Any, Callable[..., Any]] = {
    np.array: array,
    np.asarray: asarray,
    np.asanyarray: asarray,
    np.ascontiguousarray: ascontiguousarray,
    np.asfortranarray: asfortranarray,
    np.copy: lambda a, order="K", subok=False: array(a, order=order),
    np.full: full,
    np.arange: arange,
    np.full_like: full_like,
    np.zeros_like: _like(np.zeros_like),
    np.ones_like: _like(np.ones_like),
    np.empty_like: _like(np.empty_like),
    np.copyto: copyto,
    np.put: put,
    np.putmask: putmask,
    np.place: place,
    np.fill_diagonal: fill_diagonal,
    np.put_along_axis: put_along_axis,
    np.sort: _sort,
    np.rec.array: partial(of_records, np.rec.array),
    np.rec.fromarrays: _of_fields,
}


operations.called = called
operations.called_ufunc = called_ufunc
operations.stacked = stacked
operations.put = put
