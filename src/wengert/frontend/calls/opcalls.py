"""Calls of ops: in the forms that NumPy has, with their options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Var
from ...ir.op import Op
from ...ir.types import Array, Kind, Number, Seq, Struct
from ...ops import elementwise as el, registry as ops
from ...ops.array_kinds import dtype_of, dtype_of_kind
from ...ops.arrays.shape import kind_if_number
from ...ops.signatures import Signature, parse_signature, with_own_names
from ...rules.registry import rule_for
from ..domain.number_classes import must_be_real
from ..domain.values import Args, Items, Kwargs, Value, is_object, kind_of_value, tuple_of
from ..heap import now
from ..machine.interpreter import Interpreter
from ..polyfills import ordinary_options
from ..polyfills.numpy import functions, pads
from ..polyfills.stdlib import collections as container_polyfills
from . import writing_functions
from .op_binding import bind, spread


def emit_op(
    it: Interpreter,
    op: Op,
    namespace: str,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
    *,
    row: bool = False,
) -> Value:
    """Emit `op(*args, **kwargs)` as the user called it, or as a `row` of the rule table does."""
    signature = parse_signature(op.signature)
    args = spread(it, op, namespace, signature, args)
    plain = _without_ordinary(it, op, namespace, args, kwargs) if kwargs and not row else None
    if plain is not None:
        return plain
    if op.name.startswith("atleast_") and len(args) > 1:
        return tuple_of(*[emit_op(it, op, namespace, [arg], kwargs) for arg in args])
    if op.name == "reshape" and namespace == "np" and len(args) == 3:
        args, kwargs = args[:2], {**kwargs, "order": args[2]}
    if op.name == "arange" and namespace == "np":
        args, kwargs = _range(args, kwargs)
    out, args, kwargs = _without_out(op, namespace, signature, args, kwargs)
    if out is not None:
        return _into_out(it, op, namespace, out, args, kwargs)
    if namespace == "np" and op.elementwise and "dtype" not in signature.options:
        args, kwargs = _computed_in(it, args, kwargs)
    if op.name in _JOINING and kwargs.get("dtype", Const(None)) != Const(None):
        return _joined_as(it, op, args, kwargs)
    stand_in = _other_form(op, args, kwargs) if kwargs or op.name == "pad" else None
    if stand_in is not None:
        return it.call(Const(stand_in), args, kwargs)
    kwargs = with_own_names(op, kwargs)
    values, options = bind(it, op, signature, args, kwargs)
    if options.get("copy", Const(True)) != Const(True):
        return writing_functions.without_a_copy(it, op, namespace, values, options)
    if op.name == "conj" and not row:
        kind = kind_of_value(values[0])
        if namespace == "np":
            op = _conj_of(kind, op)
        elif isinstance(kind, Array) and not _is_complex(kind):
            return values[0]  # the method gives a real array itself
    if not row:
        _refuse_objects(it, options)
    names = signature.operands[: len(values)]
    return _emit_bound(it, op, namespace, zip_longest(names, values), options, row=row)


def _range(args: Sequence[Value], kwargs: Kwargs) -> tuple[Sequence[Value], Kwargs]:
    """The operands of `np.arange` by position, and its options: with no stop, the start is the stop."""
    given = {**dict(zip(("start", "stop", "step", "dtype"), args, strict=False)), **kwargs}
    given = {name: value for name, value in given.items() if value != Const(None)}
    start, stop, step = (given.pop(name, None) for name in ("start", "stop", "step"))
    if stop is None:
        start, stop = None, start
    if stop is None or (start is None and step is None):
        return [each for each in (stop, step) if each is not None], given
    ends = [Const(0) if start is None else start, stop]
    return ends if step is None else [*ends, step], given


def _into_out(
    it: Interpreter, op: Op, namespace: str, out: Value, args: Args, kwargs: Kwargs
) -> Value:
    """What an op writes to an array that it is given for its result."""
    where = kwargs.get("where", Const(True))
    if op.elementwise and where != Const(True):
        function = ops.resolve(op, namespace) if namespace == "np" else op
        return writing_functions.written_where(it, function, [out, where, *args])
    return writing_functions.write_to_out(it, out, emit_op(it, op, namespace, args, kwargs))


def _emit_bound(
    it: Interpreter,
    op: Op,
    namespace: str,
    values: Iterable[tuple[str | None, Value]],
    options: Kwargs,
    *,
    row: bool,
) -> Value:
    """Emit an op on values by the names of its operands."""
    operands = [
        it.atom(v) if row or name == "shape" else _operand(it, op, namespace, v)
        for name, v in values
    ]
    if op in _TELLING_COMPLEX and not row:
        must_be_real(it, operands[0])
    namespace = _spelled_in(op, namespace, operands)
    params = {name: _option(it, value) for name, value in options.items()}
    kind = None if row or not operands else kind_if_number(op, namespace, operands, params)
    result = it.builder.emit_with(op, operands, params, namespace, kind=kind)
    if op.name in _FROM_TEXT and not it.reading.inert.isdisjoint(operands):
        _refuse_numbers_of_text(it, op, params)
        it.reading.inert.add(result)
    return it.open_up(_of_dtype(it, op, operands, params, result))


_TELLING_COMPLEX = frozenset((el.abs_, el.real, el.imag, el.conj))
"""Ops that do something else with complex numbers than with floats."""


def _without_ordinary(
    it: Interpreter, op: Op, namespace: str, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value | None:
    """A call with options that are not read and say what holds without them; None if there are none."""
    if namespace not in ("np", "method"):
        return None
    signature, always_floats = parse_signature(op.signature), op.name in _ALWAYS_FLOATS
    accepted = {*signature.operands, *signature.options, signature.rest}
    accepted -= {"dtype"} if always_floats else set()
    if accepted.issuperset(kwargs):
        return None
    function = ops.resolve(op, namespace) if namespace == "np" else None
    plain = ordinary_options.without(kwargs, accepted, function)
    floats = ordinary_options.float_dtype(plain, accepted) if always_floats else None
    if floats is not None:
        plain = {name: value for name, value in plain.items() if name != "dtype"}
        made = emit_op(it, op, namespace, args, plain)
        return ordinary_options.as_floats(it, made, floats)
    if len(plain) == len(kwargs):
        return None
    return emit_op(it, op, namespace, args, plain)


_ALWAYS_FLOATS = frozenset(("linspace", "indices", "matmul"))
"""Functions that compute as they do, and then give their result the dtype that is asked for, if of floats."""


def _of_dtype(
    it: Interpreter, op: Op, operands: Sequence[Atom], params: Mapping[str, Atom], result: Atom
) -> Atom:
    """The result once more, of a dtype that only the run knows: if of integers, it has no derivative."""
    asked = params.get("dtype", Const(None))
    like_another = op.name == "full_like" and asked == Const(None) and isinstance(operands[1], Var)
    rule = rule_for(op)
    known = not isinstance(asked, Var) and not (like_another and not dtype_of(operands[0]))
    if known or rule is None or rule.form == "zero":
        return result
    of_result = it.emit(ops.named("dtype"), result, namespace="attr")
    return it.emit(
        ops.named("astype"), result, namespace="method", dtype=of_result, copy=Const(False)
    )


def _conj_of(kind: Kind, conj: Op) -> Op:
    """What `np.conj` is: the method gives a real array itself, the function a copy of it."""
    if _is_complex(kind):
        return conj
    if isinstance(kind, Array) and kind.rank is None:
        return conj
    return ops.named("copy" if isinstance(kind, Array) and kind.rank else "pos")


_JOINING = frozenset(("concatenate", "stack", "vstack", "hstack"))


def _joined_as(
    it: Interpreter, op: Op, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """Arrays joined into one of a dtype that is asked for."""
    rest = {name: value for name, value in kwargs.items() if name not in ("dtype", "casting")}
    casting = kwargs.get("casting", Const("same_kind"))
    joined = emit_op(it, op, "np", args, rest)
    options = {"dtype": kwargs["dtype"], "casting": casting}
    return emit_op(it, ops.named("astype"), "method", [joined], options)


def _other_form(op: Op, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Any:
    """What stands for a function of NumPy with arguments by which it gives something else."""
    if op.name != "pad":
        options = {k: x.value if isinstance(x, Const) else x for k, x in kwargs.items()}
        return functions.other_form(op.name, options)
    mode = args[2] if len(args) > 2 else kwargs.get("mode", Const("constant"))
    border = kwargs.get("constant_values")
    dtype = dtype_of_kind(kind_of_value(args[0])) if args else ""
    of_whole_numbers = bool(dtype) and not dtype.startswith(("float", "complex"))
    if not isinstance(mode, Const) or not isinstance(mode.value, str) or of_whole_numbers:
        return None  # those are rounded
    is_odd = kwargs.get("reflect_type", Const("even")) == Const("odd")
    has_several = isinstance(border, Items) and not all(isinstance(x, Const) for x in border.values)
    return pads.stand_in(mode.value, is_odd, has_several)


def _is_complex(kind: Kind) -> bool:
    known = isinstance(kind, (Array, Number))
    return not known or "complex" in str(kind) or (isinstance(kind, Array) and not kind.dtype)


_FROM_TEXT = frozenset(("array", "asarray", "astype", "to_complex"))
"""What makes numbers of text, too."""


def _refuse_numbers_of_text(it: Interpreter, op: Op, params: Mapping[str, Atom]) -> None:
    if op.name in ("array", "asarray") and params.get("dtype", Const(None)) == Const(None):
        return
    raise it.unsupported(
        "a number read back from text has lost its derivative",
        "Use the number itself; turn it into text only to show it.",
    ).final()


RECORDS = (
    "an array of records is not read, whose fields share its memory",
    "Use one array for each field, or a dictionary of arrays.",
)
"""What is said of arrays whose dtype has fields."""


def _refuse_objects(it: Interpreter, options: Mapping[str, Value]) -> None:
    try:
        dtype = it.constant(options.get("dtype", Const(None)))
    except LookupError:
        return
    if dtype in (object, "object", "O", str):
        raise it.unsupported(
            "an array of objects cannot be differentiated", "Use an array of numbers, or a list."
        )
    if isinstance(dtype, tuple) or getattr(dtype, "names", None):
        raise it.unsupported(*RECORDS)


def _without_out(
    op: Op, namespace: str, signature: Signature, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[Value | None, Sequence[Value], Mapping[str, Value]]:
    """The array that a call of NumPy writes to, and the arguments without it."""
    out = kwargs.get("out")
    if out is not None and out != Const(None):
        kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    elif (
        op.elementwise
        and namespace in ("np", "call")
        and len(args) == _operands_of_ufunc(op, signature) + 1
    ):
        *args, out = args
    if out == Const(None) or "out" in kwargs:
        out = None
    return out, args, kwargs


def _computed_in(
    it: Interpreter, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> tuple[Sequence[Value], Mapping[str, Value]]:
    """The arguments of an elementwise function in the dtype that `dtype=` asks for, and the others."""
    dtype = kwargs.get("dtype", Const(None))
    rest = {name: value for name, value in kwargs.items() if name != "dtype"}
    if dtype in (Const(None), Const(bool), Const(np.bool_)):
        return args, rest
    options = {"dtype": dtype, "casting": kwargs.get("casting", Const("same_kind"))}
    rest.pop("casting", None)
    arrays = [emit_op(it, ops.named("asarray"), "np", [arg], {}) for arg in args]
    return [emit_op(it, ops.named("astype"), "method", [a], options) for a in arrays], rest


def _operands_of_ufunc(op: Op, signature: Signature) -> int:
    """How many operands NumPy's function takes: `math.log` takes a base as well."""
    function = ops.resolve(op, "np") if "np" in op.spellings else op.implementation
    return getattr(function, "nin", len(signature.operands))


def _spelled_in(op: Op, namespace: str, operands: Sequence[Atom]) -> str:
    """The namespace asked for, or the one that fits the operands where the op has no such spelling."""
    if not op.spellings:
        return "call" if namespace == "call" else "py"
    if namespace in op.spellings or namespace == "call":
        return namespace
    numbers = all(isinstance(kind_of_atom(a), Number) for a in operands)
    order = ("math", "py", "np", "rt") if numbers else ("np", "py", "rt", "math")
    return next((n for n in order if n in op.spellings), next(iter(op.spellings)))


_TAKES_CONTAINERS = {
    "array", "asarray", "concatenate", "stack", "vstack", "hstack", "column_stack", "dstack",
    "block", "meshgrid", "sum_items", "length", "as_list",
}  # fmt: skip


def _operand(it: Interpreter, op: Op, namespace: str, value: Value) -> Atom:
    value = now(it, value)
    if isinstance(value, Items) and is_object(value) and container_polyfills.is_deque(value.type):
        value = value[container_polyfills.IN_ORDER]  # NumPy makes an array of it as of a list
    of_arrays = namespace == "np" or isinstance(op.implementation, np.ufunc)
    if of_arrays:
        value = _as_array(it, op, value)
    atom = it.atom(value)
    kind = kind_of_atom(atom)
    if of_arrays and op.name not in _TAKES_CONTAINERS and isinstance(kind, (Seq, Struct)):
        return it.emit(ops.named("array"), atom, namespace="np")
    return atom


def _as_array(it: Interpreter, op: Op, value: Value) -> Value:
    if not isinstance(value, Items):
        return value
    from ..classes.objects_in_numpy import as_numpy_sees, refuse_own_functions

    if op.name not in ("array", "asarray"):
        refuse_own_functions(it, value)
    return as_numpy_sees(it, value)


def _option(it: Interpreter, value: Value) -> Atom:
    """An option of an op: shapes and axes that are known are constants."""
    if isinstance(value, Items) and all(isinstance(v, Const) for v in value.values):
        constants = [v.value for v in value.values if isinstance(v, Const)]
        return Const(tuple(constants) if value.form == "tuple" else constants)
    return it.atom(value)
