"""What stands for arguments of a call whose values are not known yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...ir.op import Op
from ...ops.signatures import parse_signature
from .values import Items, Native, Value

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter


def star(value: Value) -> Items:
    """`*value` among the arguments of a call, where its items are known only at run time."""
    return Items("star", (0,), (value,))


def is_star(value: Value) -> bool:
    return isinstance(value, Items) and value.form == "star"


DEFAULT_FACTORY = "a default factory"
"""The name of what stands for an argument that was not given, whose value a factory makes."""


def settled_default(it: Interpreter, value: Value) -> Value:
    """A value, which a factory makes where it stands for one."""
    if isinstance(value, Native) and value.name == DEFAULT_FACTORY:
        return value.call(it, [], {})
    return value


def may_be_method(op: Op, args: Sequence[Value], kwargs: Mapping[str, Value]) -> bool:
    """Whether a method of something unknown may be the one of an array: it is given what that asks for."""
    signature = parse_signature(op.signature)
    by_position = signature.options[: max(0, len(args) - len(signature.operands))]
    given = {*by_position, *kwargs}
    return any(map(is_star, args)) or given.issuperset(signature.asked)
