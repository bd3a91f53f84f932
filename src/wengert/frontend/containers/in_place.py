"""Operators in place: `x += y` changes what it finds, where that can change."""

from __future__ import annotations

import ast
from collections.abc import Callable

import numpy as np

from ...ir.graph import Atom, Const, Var
from ...ir.types import UNKNOWN, Array, Number, Seq, Struct
from ...ops.array_kinds import promoted
from ...ops.arrays.shape import dtype as dtype_of
from ...ops.program import identity as ident, memory as me
from ...ops.registry import named
from .. import heap
from ..classes.class_lookup import defines
from ..domain.operators import op_of
from ..domain.values import Items, Value, is_iterator, kind_of_value, list_of
from ..machine.interpreter import Interpreter
from .container_methods import extend
from .run_time_containers import extend_at_run_time, is_set, replace_set
from .tuples import is_certainly_list, is_tuple
from .writes import is_list, replace_list


def add_in_place(
    it: Interpreter, operator_: ast.operator, old: Value, new: Value, node: ast.AST
) -> Value:
    """The object that `old op= new` leaves: `old` itself, changed, where it can change."""
    old, new = heap.now(it, old), heap.now(it, new)
    op, _ = op_of(operator_)
    own = it.call_method_of_class(old, _IN_PLACE.get(op.name, ""), [new])
    if own is not None:
        return own
    if op.name in ("add", "mul") and is_tuple(it, old):
        return it.binary(operator_, old, new, node)
    if op.name in ("add", "mul") and _may_be_tuple(it, old, new):
        return it.choose(
            it.emit(me.can_change, it.atom(old)),
            lambda: _changed(it, operator_, old, new, node),
            lambda: it.binary(operator_, old, it.as_tuple(new) if op.name == "add" else new, node),
        )
    return _changed(it, operator_, old, new, node)


def _changed(
    it: Interpreter, operator_: ast.operator, old: Value, new: Value, node: ast.AST
) -> Value:
    op, _ = op_of(operator_)
    if isinstance(old, Items) and old.form == "list" and op.name == "add":
        extend(it, old, new)
        return old
    if isinstance(old, Var) and op.name == "add" and (is_list(old) or _only_a_list_takes(new)):
        extend_at_run_time(it, old, [new], {})
        return old
    if isinstance(old, Var) and op.name == "bitor" and _is_dict(new):
        it.method_of_run_time(old, "update", [new], {})
        return old
    if isinstance(old, Items) and old.form == "dict" and op.name == "bitor":
        it.method_of_known(old, "update", [new], {})  # which takes pairs as well, unlike `|`
        return old
    result = it.binary(operator_, old, new, node)
    if isinstance(old, Items) and old.form == "list" and isinstance(kind_of_value(result), Array):
        return result  # NumPy's, of a list times an array
    if isinstance(old, Items) and old.form == "list" and op.name == "mul":
        _repeat_in_place(it, old, result)
        return old
    if isinstance(old, Var) and isinstance(old.kind, Array):
        if heap.may_be_number(it, old):
            return _changed_if_it_can(it, old, new, it.atom(result), heap.whole)
        heap.whole(it, old, it.atom(result))
        return old
    if isinstance(old, Var) and is_list(old):
        replace_list(it, old, it.atom(result))
        return old
    if isinstance(old, Var) and _may_change(it, old):
        if isinstance(new, Var) and is_set(it, new):
            replace_set(it, old, it.atom(result))  # only a set takes a set
            return old
        if heap.loses_lists(it, old):
            it.emit(ident.rebound, old)  # a number, most likely
            return result
        write = heap.refill if op.name == "bitor" else heap.whole
        return _changed_if_it_can(it, old, new, it.atom(result), write)
    return result


def _may_be_tuple(it: Interpreter, old: Value, new: Value) -> bool:
    """Whether only the run tells a tuple, which `old += new` leaves as it is, from a list."""
    of_lists = is_certainly_list(it, old) or is_certainly_list(it, new)
    return isinstance(old, Var) and isinstance(old.kind, Seq) and not of_lists


def as_the_array_holds_it(it: Interpreter, old: Value, new: Value, result: Value) -> Value:
    """What `old op= new` leaves in an array that nobody else sees: it keeps its dtype and its axes."""
    before, after = kind_of_value(old), kind_of_value(result)
    if not isinstance(before, Array) or not isinstance(after, Array) or before.rank == 0:
        return result
    if None not in (before.rank, after.rank) and before.rank != after.rank:
        return _written_to(it, old, result)
    if before.dtype == after.dtype and (before.dtype or isinstance(new, Const)):
        return result
    if before.dtype and not _can_be_cast(after.dtype, before.dtype):
        return _written_to(it, old, result)
    dtype = Const(np.dtype(before.dtype).type) if before.dtype else it.emit(dtype_of, it.atom(old))
    params: dict[str, Atom] = {"dtype": dtype}
    if not after.dtype and not isinstance(kind_of_value(new), Number):
        params["casting"] = Const("same_kind")  # as in place: complex numbers are no floats
    return it.builder.emit_with(named("astype"), (it.atom(result),), params, "method")


def _can_be_cast(dtype: str, target: str) -> bool:
    """Whether an operator in place may write results of a dtype, if it is known, to floats of another."""
    if not target.startswith(("float", "complex")):
        return False
    return not dtype or np.can_cast(np.dtype(dtype), np.dtype(target), casting="same_kind")


def _written_to(it: Interpreter, old: Value, result: Value) -> Value:
    """The array, overwritten: the run raises what NumPy raises where that cannot be done."""
    assert isinstance(old, Var)
    heap.whole(it, old, it.atom(result))
    return old


def extends(old: Value, new: Value, operator_: ast.operator) -> bool:
    """Whether `old += new` asks for the items of something one by one, which `old + new` does not take."""
    is_known_list = isinstance(old, Items) and old.form == "list"
    one_pass = is_iterator(new) or _only_a_list_takes(new)
    return isinstance(operator_, ast.Add) and one_pass and (is_known_list or isinstance(old, Var))


def casts(old: Value, new: Value, operator_: ast.operator) -> bool:
    """Whether `old op= new` keeps the dtype of an array, or cannot, where `old op new` has another one."""
    kind = kind_of_value(old)
    if not isinstance(kind, Array) or not kind.dtype or kind.rank == 0:
        return False
    divides_integers = isinstance(operator_, ast.Div) and kind.dtype.startswith(("int", "uint"))
    return divides_integers or promoted(kind, kind_of_value(new)) not in (kind.dtype, "")


def has_no_axes(old: Value) -> bool:
    """Whether a value is an array without axes: `old op= new` leaves it an array, `old op new` is a number."""
    kind = kind_of_value(old)
    return isinstance(kind, Array) and kind.rank == 0


def _only_a_list_takes(new: Value) -> bool:
    """Whether a value is an object that is walked over and says nothing of `+`."""
    return defines(new, "__iter__") and not defines(new, "__radd__")


def _is_dict(new: Value) -> bool:
    kind = kind_of_value(new)
    return isinstance(kind, Struct) and kind.form == "dict"


def _may_change(it: Interpreter, old: Var) -> bool:
    """Whether only the run knows if an operator in place changes a value."""
    if old.kind == UNKNOWN and heap.is_of_copy(it, old):
        heap.check_views(it, old)
        return False
    return old.kind == UNKNOWN


def _repeat_in_place(it: Interpreter, items: Items, new: Value) -> None:
    """`items *= n` of a known list, where `new` is what it holds then."""
    new, before = heap.now(it, new), heap.now(it, items)
    count = len(before.values) if isinstance(before, Items) else 0
    if isinstance(new, Items) and len(new.values) >= count > 0:
        extend(it, items, list_of(*new.values[count:]))
    else:
        var = it.as_run_time(items)
        heap.moved(it, var)
        heap.whole(it, var, it.atom(new))


def _changed_if_it_can(
    it: Interpreter, old: Var, new: Value, result: Atom, write: Callable[..., None]
) -> Value:
    """What `old op= new` leaves of what may be a number, or an array that others see change."""

    def change() -> Value:
        write(it, old, result)
        if isinstance(new, Items):
            added = it.atom(new)
            assert isinstance(added, Var)
            heap.hold_items(it, old, added)
        elif isinstance(new, Var) and new.kind == UNKNOWN:
            heap.note_taken_in(it, new, old)
        return old

    return it.choose(it.emit(me.can_change, old), change, lambda: result)


_IN_PLACE = {
    "add": "__iadd__", "sub": "__isub__", "mul": "__imul__", "div": "__itruediv__",
    "floordiv": "__ifloordiv__", "mod": "__imod__", "pow": "__ipow__", "matmul": "__imatmul__",
    "bitand": "__iand__", "bitor": "__ior__", "bitxor": "__ixor__",
    "lshift": "__ilshift__", "rshift": "__irshift__",
}  # fmt: skip
