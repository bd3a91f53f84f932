"""Calls of ops: binding a call's arguments to operands and options."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from ..ir.builder import kind_of_atom
from ..ir.graph import Atom, Const
from ..ir.op import Op
from ..ir.types import Number, Seq, Struct
from ..ops import registry as ops
from .values import Items, Value

if TYPE_CHECKING:
    from .interpreter import Interpreter


class Signature(NamedTuple):
    """Operands, then options; `rest` names what takes any further positional arguments."""

    operands: tuple[str, ...]
    options: tuple[str, ...]
    rest: str = ""


@functools.lru_cache(maxsize=1024)
def parse_signature(text: str) -> Signature:
    """`"x, *, axis=None"` → operand x, option axis; `"x, *shape"` → further positionals are `shape`."""
    operands: list[str] = []
    options: list[str] = []
    rest = ""
    after_star = False
    for part in filter(None, (p.strip() for p in text.split(","))):
        name = part.split("=")[0].strip()
        if name == "/":
            continue
        if name.startswith("*"):
            after_star = True
            rest = name[1:]
        elif after_star:
            options.append(name)
        else:
            operands.append(name)
    return Signature(tuple(operands), tuple(options), rest)


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
    from .expressions import open_up

    signature = parse_signature(op.signature)
    values, options = _bind(it, op, signature, args, kwargs)
    if not row:
        _refuse_objects(it, options)
    operands = [it.atom(v) if row else _operand(it, op, namespace, v) for v in values]
    namespace = _spelled_in(op, namespace, operands)
    params = {name: _option(it, value) for name, value in options.items()}
    return open_up(it, it.builder.emit_with(op, operands, params, namespace))


def _refuse_objects(it: Interpreter, options: Mapping[str, Value]) -> None:
    dtype = options.get("dtype")
    if isinstance(dtype, Const) and dtype.value in (object, "object", "O", str):
        raise it.unsupported(
            "an array of objects cannot be differentiated", "Use an array of numbers, or a list."
        )


def _spelled_in(op: Op, namespace: str, operands: Sequence[Atom]) -> str:
    """The namespace asked for, or the one that fits the operands where the op has no such spelling."""
    if not op.spellings:
        return "call" if namespace == "call" else "py"
    if namespace in op.spellings or namespace == "call":
        return namespace
    numbers = all(isinstance(kind_of_atom(a), Number) for a in operands)
    order = ("math", "py", "np", "rt") if numbers else ("np", "py", "rt", "math")
    return next((n for n in order if n in op.spellings), next(iter(op.spellings)))


def _bind(
    it: Interpreter,
    op: Op,
    signature: Signature,
    args: Sequence[Value],
    kwargs: Mapping[str, Value],
) -> tuple[list[Value], dict[str, Value]]:
    count = len(signature.operands)
    values = list(args[:count])
    extra = list(args[count:])
    options: dict[str, Value] = {}
    if signature.rest and not signature.operands:
        values, extra = list(args), []
    elif signature.rest:
        if extra:
            options[signature.rest] = _packed(extra)
    else:
        if len(extra) > len(signature.options):
            raise it.unsupported(
                f"{op.name} takes at most {count + len(signature.options)} arguments",
                "Pass options by name.",
            )
        options.update(zip(signature.options, extra, strict=False))
    for name, value in kwargs.items():
        if name in signature.operands:
            values.insert(signature.operands.index(name), value)
        elif name in (*signature.options, signature.rest) and name:
            options[name] = value
        elif name == "out":
            raise it.unsupported(
                f"`out=` of {op.name} writes into an array, which cannot be differentiated yet",
                f"Assign the result instead: `y = {op.name}(x)`.",
            )
        else:
            raise it.unsupported(
                f"the option `{name}` of {op.name} is not covered",
                "Compute it in another way, or give the function that needs it a rule (`@wg.rrule`).",
            )
    return values, options


def _packed(extra: list[Value]) -> Value:
    """`x.reshape(2, 3)` and `x.reshape((2, 3))` mean the same."""
    if len(extra) == 1 and isinstance(extra[0], Items):
        return extra[0]
    if len(extra) == 1:
        return extra[0]
    return Items("tuple", tuple(range(len(extra))), tuple(extra))


_TAKES_CONTAINERS = {
    "array", "asarray", "concatenate", "stack", "vstack", "hstack", "column_stack", "dstack",
    "block", "meshgrid", "sum_items", "length", "as_list",
}  # fmt: skip


def _operand(it: Interpreter, op: Op, namespace: str, value: Value) -> Atom:
    atom = it.atom(value)
    kind = kind_of_atom(atom)
    if namespace == "np" and op.name not in _TAKES_CONTAINERS and isinstance(kind, Seq | Struct):
        return it.emit(ops.named("array"), atom, namespace="np")
    return atom


def _option(it: Interpreter, value: Value) -> Atom:
    if isinstance(value, Items) and all(isinstance(v, Const) for v in value.values):
        constants = [v.value for v in value.values if isinstance(v, Const)]
        return Const(tuple(constants) if value.form == "tuple" else constants)
    return it.atom(value)
