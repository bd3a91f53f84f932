"""Functions of NumPy and others on boxes: which op each computes, or what else is to be done."""

from __future__ import annotations

import copy
import inspect
from typing import Any

import numpy as np

from ...errors import UnknownFunction, UnsupportedSyntax
from ...ir.callers import calling_span
from ...ir.op import Op
from ...numbers.number import PerturbedNumber, compute, value_of
from ...numbers.refusals import lost
from ...numbers.restated import restated
from ...numbers.squares import FOLLOWED, followed
from ...ops import elementwise as el, registry
from ...ops.signatures import bind, parse_signature
from ...rules.checks import operands_needed
from ...rules.registry import rule_for
from ..polyfills import ordinary_options
from ..polyfills.numpy import pads, ufuncs
from ..polyfills.numpy.functions import other_form
from . import records
from .arrays import SPECIAL, all_plain, stacked
from .boxes import (
    OF_RECORDS,
    Recorded,
    asked,
    boxes_in,
    fresh,
    gathered_items,
    noted,
    noting,
    recorded,
    takes_list,
)
from .foreign import otherwise, plainly
from .operations import operations
from .operators import as_objects, of_float


def called(
    function: Any,
    args: tuple[Any, ...],
    keywords: dict[str, Any],
    *,
    op: Op | None = None,
) -> Any:
    """A function on operands of which at least one is a box."""
    hashable, is_method = type(function).__hash__ is not None, op is not None
    if hashable and op is None and len(args) == 1 and not keywords and type(args[0]) is Recorded:
        found = _of_one(function, args[0])
        if found is not None:
            return found
    special = SPECIAL.get(function) if hashable else None
    if special is not None:
        return special(*args, **keywords)
    args = tuple(map(gathered_items, args))
    if isinstance(function, np.ufunc) and len(args) > function.nin:
        args, keywords["out"] = args[: function.nin], args[function.nin :]
    out = keywords.pop("out", None)
    outs = out if isinstance(out, tuple) else (out,)
    if any(to is not None for to in outs):
        return _into(out, function, args, keywords)
    if function in PLAIN:
        return _answered(function, args, keywords)
    if function in _ONE_BY_ONE and len(args) > 1:
        return tuple([anything(function, (x,), {}) for x in args])
    if op is None:
        found = registry.find(function)
        if found is None or (registry.is_foreign(found[0]) and rule_for(found[0]) is None):
            return otherwise(function, args, keywords)
        op = found[0]
    instead = _other_form(op, args, keywords)
    if instead is not None:
        return operations.current(instead)(*args, **keywords)
    if keywords and _is_of_numpy(function):
        keywords = _read_options(op, keywords, function)
    args, operands, options = _bound(op, args, keywords)
    lists = {id(x) for x in operands if isinstance(x, (list, tuple))}
    columns = [x for x in operands if _is_column(x)]
    if columns and isinstance(function, np.ufunc):
        raise noting(_gives_column(columns[0]))
    lists |= {id(x) for x in columns if x is not operands[0]}  # whose class may say what comes back
    if lists and not takes_list(op) and (is_method or _is_of_numpy(function)):
        args = tuple([_as_array(x) if id(x) in lists else x for x in args])
        keywords = {k: _as_array(x) if id(x) in lists else x for k, x in keywords.items()}
        operands, options = bind(op, args, keywords)
    if op is el.log and len(operands) > 1:
        op = el.log_base
    if not takes_list(op) and _is_of_numpy(function):
        args, keywords, operands = _with_arrays(args, keywords, operands)
    if rule_for(op) is None:
        return compute(op, operands, options)
    said = restated(op, operands, options, all_plain)
    if said is not None:
        return said[0]
    return _noted(op, operands, options, function, args, keywords)


def _with_arrays(args: Any, keywords: Any, operands: Any) -> Any:
    """What a function is given, with arrays in the place of lists of numbers.

    As lists they would be arrays of this level once more, where it is called at the level below.
    """
    arrays = {id(x): fresh(np.asarray(x)) for x in operands if _is_of_numbers(x)}
    if not arrays:
        return args, keywords, operands
    as_array = lambda x: arrays.get(id(x), x)
    named = {name: as_array(x) for name, x in keywords.items()}
    return tuple(map(as_array, args)), named, tuple(map(as_array, operands))


_ONE_BY_ONE = (np.atleast_1d, np.atleast_2d, np.atleast_3d)


def _bound(op: Op, args: Any, keywords: Any) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    """What a function is given, arrays of boxes in its lists as boxes, and the operands and options of its op."""
    if takes_list(op) and args and isinstance(args[0], (list, tuple)):
        args = (list(map(gathered_items, args[0])), *args[1:])
    operands, options = bind(op, args, keywords)
    return args, _with_defaults(op, operands) if op in registry.ruled else operands, options


def _read_options(op: Op, keywords: dict[str, Any], function: Any) -> dict[str, Any]:
    """The options of a call but for those that say what holds without them, as `casting="same_kind"`."""
    signature = parse_signature(op.signature)
    accepted = {*signature.operands, *signature.options, signature.rest}
    return ordinary_options.left_of(keywords, accepted, function)


def _with_defaults(op: Op, operands: tuple[Any, ...]) -> tuple[Any, ...]:
    """Operands of a function with a rule of its user's, whose rows may be written for its defaults too."""
    rule = rule_for(op)
    needed = 0 if rule is None else operands_needed(rule)
    if len(operands) >= needed:
        return operands
    assert op.implementation is not None
    parameters = list(inspect.signature(op.implementation).parameters.values())
    return (*operands, *[p.default for p in parameters[len(operands) : needed]])


def _other_form(op: Op, args: Any, keywords: Any) -> Any:
    """What stands for a function of NumPy with arguments by which it gives something else."""
    if op.name != "pad":
        return other_form(op.name, keywords)
    border = keywords.get("constant_values")
    has_several = bool(boxes_in((border,))) and np.ndim(all_plain(border)) > 0
    mode = args[2] if len(args) > 2 else keywords.get("mode", "constant")
    return pads.stand_in(mode, keywords.get("reflect_type") == "odd", has_several)


def _is_of_numpy(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, np.ufunc) or module.partition(".")[0] == "numpy"


def _is_column(x: Any) -> bool:
    """Whether a value is one of another library's that NumPy makes an array of, such as a column of a table."""
    return hasattr(type(x), "__array__") and not isinstance(
        x, (np.ndarray, np.generic, PerturbedNumber)
    )


def _is_of_numbers(x: Any) -> bool:
    """Whether a list, or a tuple that is no shape and names no axes, stands for an array."""
    return isinstance(x, list) or (isinstance(x, tuple) and any(isinstance(i, float) for i in x))


def _gives_column(x: Any) -> UnsupportedSyntax:
    return UnsupportedSyntax(
        f"an elementwise function gives a {type(x).__name__}, which holds no derivatives",
        "Take the column as an array: `column.to_numpy()`.",
        calling_span(),
    )


def _as_array(x: Any) -> Any:
    if _is_column(x):
        return np.asarray(x)
    return stacked(x) if isinstance(x, (list, tuple)) and boxes_in(x) else gathered_items(x)


def _of_one(function: Any, x: Recorded) -> Any:
    """A function of one number that has a row, or of the items of an array; None where more is to be asked."""
    found = registry.find(function)
    if found is None:
        return None
    op = found[0]
    rule = rule_for(op)
    if rule is None or rule.form != "scalar" or len(rule.rows) != 1 or op in registry.ruled:
        return None
    if x.memory is not None:
        is_noted = type(function) is np.ufunc and op not in FOLLOWED
        return noted(x.tape, op, (x,), {}, function(x.value)) if is_noted else None
    return of_float(op, rule.rows[0], function, x)


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


def _noted(op: Op, operands: Any, options: Any, function: Any, args: Any, keywords: Any) -> Any:
    all_boxes = boxes_in((*operands, *options.values()))
    if not all_boxes:
        return fresh(function(*args, **keywords))
    if op.name in _MOVES and any(map(records.is_record, all_boxes)):
        return _moved_by_fields(function, args, keywords)
    tape = max((box.tape for box in all_boxes), key=lambda tape: tape.level)
    result = recorded(tape, op, operands, options, function, args, keywords)
    return followed(op, operands, options, result, value_of) if op in FOLLOWED else result


_MOVES = frozenset((
    "concatenate", "stack", "vstack", "hstack", "dstack", "column_stack", "repeat", "tile", "roll", "take", "where",
))  # fmt: skip
"""Ops that move elements to other places, whatever these are."""


def _moved_by_fields(function: Any, args: Any, keywords: Any) -> Any:
    """Records that are moved to other places, field by field."""
    made = fresh(plainly(function, args, keywords))
    for name, (dtype, *_) in value_of(made).dtype.fields.items():
        if dtype.shape:
            raise noting(UnsupportedSyntax(*OF_RECORDS, calling_span()))
        named = {k: _fields(x, name) for k, x in keywords.items()}
        made[name][...] = function(*[_fields(x, name) for x in args], **named)
    return made


def _fields(x: Any, name: str) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)([_fields(item, name) for item in x])
    return x[name] if records.is_record(x) else x


def _into(out: Any, function: Any, args: Any, keywords: Any) -> Any:
    """What a function writes to an array of the program's."""
    outs = out if isinstance(out, tuple) else (out,)
    where = keywords.pop("where", True)
    results = anything(function, args, keywords)
    results = results if isinstance(results, tuple) and len(outs) > 1 else (results,)
    for to, result in zip(outs, results, strict=True):
        if to is None:
            continue
        is_of_objects = type(to) is np.ndarray and to.dtype == object
        items = as_objects(result) if is_of_objects and type(result) is Recorded else result
        if type(to) is not Recorded and not is_of_objects and boxes_in((result,)):
            plainly(
                function, args, {**keywords, "out": copy.deepcopy(to)}
            )  # which may say that it cannot
            raise lost(boxes_in((result,))[0], "what an array of floats is given")
        if where is True:
            to[...] = items
        else:
            chosen = np.broadcast_to(all_plain(where), np.shape(value_of(to)))
            to[...] = np.where(chosen, items, to)
    return out[0] if isinstance(out, tuple) and len(out) == 1 else out


def anything(function: Any, args: Any, keywords: Any) -> Any:
    """A function on anything: its result is a box where that may be written to or has a derivative."""
    if boxes_in(args) or boxes_in(keywords):
        return called(function, args, dict(keywords))
    return fresh(function(*args, **keywords))


# --- elementwise ----------------------------------------------------------------------------------


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
    out = options.pop("out", None)
    if out is not None:
        (to,) = out if isinstance(out, tuple) else (out,)
        to[...] = called_ufunc(ufunc, method, inputs, options)
        return to
    if ufunc in PLAIN:
        return plainly(getattr(ufunc, method), inputs, options)
    instead = ufuncs.method_of(ufunc, method)
    if instead is None:
        raise UnknownFunction(
            f"np.{ufunc.__name__}.{method} has no derivative",
            "Write it with other functions.",
            calling_span(),
        )
    function, takes_it = instead
    return operations.current(function)(*(ufunc,) * takes_it, *map(_as_array, inputs), **options)


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

operations.called = called
operations.called_ufunc = called_ufunc
