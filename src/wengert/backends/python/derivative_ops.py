"""Ops that derivatives are made of, in plain Python where the kinds of their operands are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...ir.builder import kind_of_atom, reduced_axes
from ...ir.graph import Const, Eqn
from ...ir.types import Array, Map, Number
from . import writes
from .code import PRIMARY, Code, binary, call, concat, keyword, receiver, string, ternary
from .spellings import is_real

if TYPE_CHECKING:
    from .expressions import Expressions


def _snapshot(expressions: Expressions, eqn: Eqn) -> Code | None:
    (x,) = eqn.args
    kind = kind_of_atom(x)
    if "lying" in eqn.params:
        return expressions.helper(
            "lying_alike" if isinstance(kind, Array) else "snapshot", expressions.atom(x)
        )
    if not (isinstance(kind, Array) or writes.holds_numbers(kind)) or "unbound" in eqn.params:
        return None
    copy = concat(receiver(expressions.atom(x)), ".copy", level=PRIMARY)
    if isinstance(kind, Array) and eqn.op.name == "duplicate" and kind.rank != 1:
        return call(copy, keyword("order", expressions.bindings.constant("K")))
    return call(copy)


def _zeros(expressions: Expressions, eqn: Eqn) -> Code | None:
    kind = kind_of_atom(eqn.args[0])
    if isinstance(kind, Number):
        return expressions.bindings.constant(0j if kind.type == "complex" else 0.0)
    x = expressions.atom(eqn.args[0])
    if isinstance(kind, Map) and isinstance(kind.item, Number) and "unbound" not in eqn.params:
        zero = expressions.bindings.constant(0j if kind.item.type == "complex" else 0.0)
        return call(
            concat(expressions.bindings.builtin("dict"), ".fromkeys", level=PRIMARY), x, zero
        )
    if not isinstance(kind, Array) or not kind.dtype or "unbound" in eqn.params:
        return None
    if kind.dtype.startswith(("float", "complex")):
        return call(expressions.bindings.member("np", "zeros_like"), x)
    return call(expressions.bindings.member("np", "zeros"), concat(receiver(x), ".shape"))


def _given_at(expressions: Expressions, eqn: Eqn) -> Code | None:
    """The cotangent of a number in a dictionary, which has none of what is not in it."""
    x_bar, *path, _ = eqn.args
    if len(path) != 1 or not writes.holds_numbers(kind_of_atom(x_bar)):
        return None
    return writes.item_or_zero(expressions, x_bar, path[0])


def _fill(expressions: Expressions, eqn: Eqn) -> Code | None:
    scalar, x = eqn.args
    if not isinstance(kind_of_atom(x), Array):
        return None
    shape = concat(receiver(expressions.atom(x)), ".shape")
    return call(expressions.bindings.member("np", "full"), shape, expressions.atom(scalar))


def _accumulate(expressions: Expressions, eqn: Eqn) -> Code | None:
    kinds = [kind_of_atom(arg) for arg in eqn.args]
    if not all(isinstance(kind, (Number, Array)) for kind in kinds):
        return None
    return binary("+", *expressions.atoms(eqn.args))


def _project(expressions: Expressions, eqn: Eqn) -> Code | None:
    x_bar, x = (kind_of_atom(arg) for arg in eqn.args)
    if is_real(x) and is_real(x_bar):
        return call(expressions.bindings.builtin("float"), expressions.atom(eqn.args[0]))
    if x == Number("complex") and isinstance(x_bar, Number):
        return call(expressions.bindings.builtin("complex"), expressions.atom(eqn.args[0]))
    return None


def _unbroadcast(expressions: Expressions, eqn: Eqn) -> Code | None:
    """Between known arrays one comparison of shapes is cheaper than a call."""
    codes = expressions.atoms(eqn.args)
    arrays = all(isinstance(kind_of_atom(arg), Array) for arg in eqn.args)
    if not arrays or not all(code.text.isidentifier() for code in codes):
        return None
    x_bar, x = codes
    same = binary("==", concat(x_bar, ".shape"), concat(x, ".shape"))
    return ternary(
        same, x_bar, expressions.helper(eqn.op.spellings.get("rt", "unbroadcast"), x_bar, x)
    )


def _spread(expressions: Expressions, eqn: Eqn) -> Code | None:
    """`np.broadcast_to(y, x.shape)`, where NumPy's rules put the axes where they belong."""
    y, x = eqn.args
    if not all(isinstance(kind_of_atom(atom), Array) for atom in eqn.args):
        return None
    if eqn.op.name == "unreduce":
        axes = reduced_axes(x, eqn.params)
        leading = axes is not None and axes == tuple(range(len(axes)))
        if axes is None or not (leading or eqn.param("keepdims", False)):
            return None
    shape = concat(receiver(expressions.atom(x)), ".shape")
    return call(expressions.bindings.member("np", "broadcast_to"), expressions.atom(y), shape)


def _expand_dims(expressions: Expressions, eqn: Eqn) -> Code | None:
    """`x[:, None]`, which is faster than the function."""
    rank = getattr(kind_of_atom(eqn.outs[0]), "rank", None)
    if eqn.namespace != "index" or rank is None:
        return None
    axis = eqn.param("axis")
    axes = {k % rank for k in (axis if isinstance(axis, tuple) else (axis,))}
    index = [None if k in axes else slice(None) for k in range(max(axes) + 1)]
    return expressions.subscript(expressions.atom(eqn.args[0]), Const(tuple(index)))


def _bound(expressions: Expressions, eqn: Eqn) -> Code:
    options = [Code(string(eqn.param("name")))]
    free = eqn.param("free", False)
    options += [] if free is False else [Code(f"free={free}")]
    return expressions.helper(
        eqn.op.spellings.get("rt", "bound"), expressions.atom(eqn.args[0]), *options
    )


def _apart(expressions: Expressions, eqn: Eqn) -> Code | None:
    """Two arrays need no walk over what objects hold."""
    if len(eqn.args) != 2 or not all(isinstance(kind_of_atom(x), Array) for x in eqn.args):
        return None
    return expressions.helper("no_shared_memory", *map(expressions.atom, eqn.args))


def _operand(expressions: Expressions, eqn: Eqn) -> Code:
    """What an op is given: its name matters to derivatives only, or nothing reads it."""
    return expressions.atom(eqn.args[0])


OF_DERIVATIVES: dict[str, Callable[[Expressions, Eqn], Code | None]] = {
    "zeros": _zeros,
    "snapshot": _snapshot,
    "duplicate": _snapshot,
    "fill": _fill,
    "given_at": _given_at,
    "accumulate": _accumulate,
    "project": _project,
    "unbroadcast": _unbroadcast,
    "evaluated": _operand,
    "apart": _apart,
    "unreduce": _spread,
    "broadcast_like": _spread,
    "expand_dims": _expand_dims,
    "bound": _bound,
    "stop_gradient": _operand,
    "root": _operand,
    "means": _operand,
}
"""By the name of an op; what gives None is written as its spelling says."""
