"""Operators, comparisons and truth: what they give for values that are known, and what they emit for others."""

from __future__ import annotations

import ast
import operator
from collections.abc import Sequence
from contextlib import suppress
from types import UnionType
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Var
from ...ir.op import Op
from ...ir.types import BOOL, COUNTS, NONE, STR, UNKNOWN, Array, Number, Other, Seq, Static, Struct
from ...ops import elementwise as el, structure as st
from ...ops.arrays.creation import array
from ...ops.program import checks, containers as co, identity as ident
from .. import heap
from ..classes.class_lookup import as_key
from ..containers import choosing
from ..containers.tuples import is_tuple
from ..data import columns, tables
from ..domain.number_classes import is_exact
from ..domain.operators import COMPARE, op_of
from ..domain.values import (
    Items,
    LazyIterable,
    Value,
    as_known,
    is_iterator,
    is_mutable,
    kind_of_value,
    list_of,
    object_class,
    tuple_of,
)
from ..machine.failing import fail_now
from ..machine.interpreter import Interpreter
from ..polyfills import manifest
from ..polyfills.stdlib import iterators as iterator_polyfills


def is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex))


def binary(
    it: Interpreter, operator_: ast.operator, left: Value, right: Value, node: ast.AST
) -> Value:
    """`left op right` of two values."""
    op, function = op_of(operator_)
    if _are_numbers((left, right)) and (isinstance(left, Var) or isinstance(right, Var)):
        return it.emit(op, it.atom(left), it.atom(right))
    if tables.is_table(left) or tables.is_table(right):
        return columns.operate(it, op, function, [left, right])
    if isinstance(left, Items) or isinstance(right, Items):
        joined = _binary_on_items(operator_, left, right)
        if joined is not None:
            return joined
    if _both_literal(left, right) or _both_classes(left, right):
        with suppress(Exception):  # it must fail when the program runs, not when it is read
            return as_known(function(left.value, right.value))  # type: ignore[union-attr]
    if op in (el.bitand, el.bitor, el.bitxor, el.sub):
        left, right = _set_of_keys(it, left), _set_of_keys(it, right)
    if op is el.add and (_is_list(left) or _is_list(right)):
        joined = _plus_list(it, left, right)
        if joined is not None:
            return joined
    if op is el.mul and (_is_list(left) or _is_list(right)):
        return _times_list(it, left, right)
    if object_class(left) is not None or object_class(right) is not None:
        return dispatch_operator(it, op, [left, right])
    if op is el.bitor and not all(
        isinstance(kind_of_value(v), (Number, Array)) for v in (left, right)
    ):
        from ..objects.operators import refuse_unknown_objects

        refuse_unknown_objects(it, op, [left, right])
        return it.emit(co.merge_dicts, it.atom(left), it.atom(right))
    if op is el.mod and (kind_of_value(left) == STR or _is_bytes(left)):
        return it.emit(
            st.opaque, Const(operator.mod), it.atom(left), it.atom(right), names=Const(())
        )
    return dispatch_operator(it, op, [left, right])


def _are_numbers(values: Sequence[Value]) -> bool:
    """Whether values are plain numbers, to which nothing but the op itself applies."""
    return all(
        isinstance(value.kind, Number)
        if type(value) is Var
        else type(value) is Const and type(value.value) in _PLAIN_NUMBERS
        for value in values
    )


_PLAIN_NUMBERS = (bool, int, float, complex)


def _is_bytes(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, bytes)


def _set_of_keys(it: Interpreter, value: Value) -> Value:
    """`d.keys()` and `d.items()` as the sets that they are to an operator; anything else as it is."""
    if not (isinstance(value, LazyIterable) and value.form in ("keys", "items")):
        return value

    return it.call_foreign(set, [it.atom(it.as_list(value))], {})


def _plus_list(it: Interpreter, left: Value, right: Value) -> Value | None:
    """A list or a tuple plus something: the two joined, unless the something is an array or has its own `+`."""
    from ..objects.operators import refuse_unknown_objects

    def join() -> Value:
        return it.emit(co.join_lists, it.atom(left), it.atom(right))

    if _is_list(left) and _is_list(right):
        return join()
    other = right if _is_list(left) else left
    if kind_of_value(other) != UNKNOWN:
        return None
    refuse_unknown_objects(it, el.add, [other, other])
    is_sequence = it.emit(ident.is_sequence, it.atom(other))
    return it.choose(is_sequence, join, lambda: dispatch_operator(it, el.add, [left, right]))


def _times_list(it: Interpreter, left: Value, right: Value) -> Value:
    """A list times something: the list many times over, or times each number of an array."""

    def elementwise() -> Value:
        return it.emit(el.mul, *(_as_array(it, value) for value in (left, right)))

    items, times = (left, right) if _is_list(left) else (right, left)
    if isinstance(kind_of_value(times), Array):
        return elementwise()
    if kind_of_value(times) != UNKNOWN:
        return _repeated(it, items, times)
    is_array = it.emit(ident.is_view, it.atom(times))
    return it.choose(is_array, elementwise, lambda: _repeated(it, items, times))


def _as_array(it: Interpreter, value: Value) -> Atom:
    """What NumPy makes of an operand that may be a list."""
    atom = it.atom(value)
    return it.emit(array, atom, namespace="np") if _is_list(value) else atom


def _repeated(it: Interpreter, items: Value, times: Value) -> Value:
    """`items * n` of a list, where `n` is known only when the program runs."""
    if isinstance(items, Items) and all(isinstance(v, Const) for v in items.values):
        return it.emit(co.repeated_items, it.atom(items), it.atom(times))
    for item in items.values if isinstance(items, Items) else ():
        if isinstance(item, Var) and item.kind == UNKNOWN:
            it.emit(ident.unshared, item)
        elif is_mutable(item):
            raise it.unsupported(
                "a list is made of one object many times over",
                "Make a new object for every item: `[[0.0] * n for _ in range(m)]`.",
            )
    repeated = it.call(Const(manifest.repeated), [items, times], {})
    return it.as_tuple(repeated) if is_tuple(it, items) else repeated


def _is_list(value: Value) -> bool:
    kind = kind_of_value(value)
    return isinstance(kind, Seq) or (isinstance(kind, Struct) and kind.form in ("list", "tuple"))


def _as_numpy_sees(it: Interpreter, op: Op, values: Sequence[Value]) -> Sequence[Value]:
    if not any(isinstance(kind_of_value(value), Array) for value in values):
        return values
    from ..classes.objects_in_numpy import operands_of_numpy
    from ..objects.operators import METHODS

    return operands_of_numpy(it, METHODS.get(op.name, ""), *values)


def dispatch_operator(it: Interpreter, op: Op, values: Sequence[Value]) -> Value:
    """An operator on values: the user's own operator methods first, then the op."""
    from ..objects.operators import call_operator_method, refuse_unknown_objects

    if len(values) == 2 and any(isinstance(value, Items) for value in values):
        values = _as_numpy_sees(it, op, values)
    own = call_operator_method(it, op, values)
    if own is not None:
        return own
    if _never_fit(op, values):
        assert op.implementation is not None
        fail_now(it, op.implementation, *values)
    refuse_unknown_objects(it, op, values)
    if any(isinstance(kind_of_value(value), Array) for value in values):
        return it.emit(op, *(_as_array(it, value) for value in values))
    _refuse_number_beside_list(it, op, values)
    result = it.emit(op, *(it.atom(value) for value in values))
    unknown = [v for v in values if isinstance(v, Var) and v.kind == UNKNOWN]
    counted = op is el.mul and any(kind_of_value(value) in COUNTS for value in values)
    if isinstance(result, Var) and len(unknown) + counted == 2 and op in (el.add, el.mul):
        heap.note_joined(it, result, unknown)
    return result


def _refuse_number_beside_list(it: Interpreter, op: Op, values: Sequence[Value]) -> None:
    """A number of NumPy's makes an array of a list, where one of Python's raises: only the run tells them apart.

    Raises:
        UnsupportedSyntax: it is such an operator.
    """
    is_one = any(isinstance(kind_of_value(value), Number) for value in values)
    if is_one and op in _OF_ARRAYS and any(map(_is_list, values)):
        raise it.unsupported(
            "a number meets a list, of which NumPy makes an array if the number is its own",
            "Say so: `np.array(items)`.",
        )


_OF_ARRAYS = frozenset((el.add, el.sub, el.div, el.floordiv, el.mod, el.pow_))
_FOR_NUMBERS = frozenset((st.lt, st.le, st.gt, st.ge, el.add, el.sub, el.div, el.floordiv, el.pow_))


def _never_fit(op: Op, values: Sequence[Value]) -> bool:
    """Whether Python has no such operation on operands of these kinds: on a number and text, say."""
    kinds = [kind_of_value(value) for value in values]
    is_one = any(isinstance(kind, Number) for kind in kinds)
    return is_one and op in _FOR_NUMBERS and (NONE in kinds or STR in kinds)


def _both_literal(left: Value, right: Value) -> bool:
    return all(
        isinstance(v, Const) and (is_number(v.value) or isinstance(v.value, str))
        for v in (left, right)
    )


def _both_classes(left: Value, right: Value) -> bool:
    return all(
        isinstance(v, Const) and isinstance(v.value, (type, UnionType)) for v in (left, right)
    )


def _binary_on_items(operator_: ast.operator, left: Value, right: Value) -> Value | None:
    """List and tuple concatenation and repetition, where the items are known."""
    sequences = ("list", "tuple")
    if isinstance(operator_, ast.Add) and isinstance(left, Items) and isinstance(right, Items):
        if left.form == right.form and left.form in sequences:
            make = list_of if left.form == "list" else tuple_of
            return make(*left.values, *right.values)
    if isinstance(operator_, ast.Mult):
        for items, times in ((left, right), (right, left)):
            if isinstance(items, Items) and isinstance(times, Const) and items.form in sequences:
                if isinstance(times.value, int) and len(items.values) * times.value <= 64:
                    make = list_of if items.form == "list" else tuple_of
                    return make(*items.values * times.value)
    if isinstance(operator_, ast.BitOr) and isinstance(left, Items) and isinstance(right, Items):
        if left.form == right.form == "dict":
            merged = dict(zip(left.keys, left.values, strict=True))
            merged.update(zip(right.keys, right.values, strict=True))
            return Items("dict", tuple(merged), tuple(merged.values()))
    return None


def compare(it: Interpreter, operator_: ast.cmpop, left: Value, right: Value) -> Value:
    """One comparison."""
    op, function = COMPARE[type(operator_)]
    is_identity = isinstance(operator_, (ast.Is, ast.IsNot))
    if not is_identity and (tables.is_table(left) or tables.is_table(right)):
        return columns.operate(it, op, function, [left, right])
    if isinstance(operator_, (ast.Is, ast.IsNot)):
        known = _known_identity(it, left, right)
        if known is not None:
            return Const(known == isinstance(operator_, ast.Is))
        from ..objects.identities import identical

        same = identical(it, left, right)
        if same is not None:
            return same if isinstance(operator_, ast.Is) else _not(it, same)
    if isinstance(left, Const) and isinstance(right, Const):
        with suppress(Exception):  # it must fail when the program runs
            return Const(function(left.value, right.value))
    if isinstance(operator_, (ast.Eq, ast.NotEq)) and (is_iterator(left) or is_iterator(right)):
        alike = compare(it, ast.Is(), left, right)
        return alike if isinstance(operator_, ast.Eq) else _not(it, alike)
    if isinstance(operator_, (ast.In, ast.NotIn)):
        if isinstance(right, LazyIterable) and right.form == "keys":
            right = right.parts[0]
    elif isinstance(left, LazyIterable) or isinstance(right, LazyIterable):
        left, right = _set_of_keys(it, left), _set_of_keys(it, right)
    if isinstance(operator_, (ast.In, ast.NotIn)) and isinstance(right, Items):
        if right.form == "iterator":
            found = it.call(Const(iterator_polyfills.contains), [right, left], {})
            return found if isinstance(operator_, ast.In) else _not(it, found)
        if right.form == "tuple" and isinstance(left, Const):
            right = as_key(right)
            if isinstance(right, Const):
                return Const(function(left.value, right.value))
        elif right.form == "dict":
            left = key_of(it, left)
            if isinstance(left, Const):
                return Const((left.value in right.keys) == isinstance(operator_, ast.In))
            among = choosing.among_keys(it, left, right)
            return among if isinstance(operator_, ast.In) else _not(it, among)
    if isinstance(operator_, (ast.Eq, ast.NotEq)):
        from ..objects.identities import equal_by_items

        equal = equal_by_items(it, left, right)
        if equal is not None:
            return equal if isinstance(operator_, ast.Eq) else _not(it, equal)
    return dispatch_operator(it, op, [left, right])


def _not(it: Interpreter, value: Value) -> Value:
    known = it.known_truth(value)
    return Const(not known) if known is not None else it.emit(st.not_, truth(it, value))


def key_of(it: Interpreter, index: Value) -> Value:
    """An index or a key as a constant, where it is known."""
    return as_key(index)


def _known_identity(it: Interpreter, left: Value, right: Value) -> bool | None:
    """`a is b` where the kinds decide it: nothing but None is None, nothing but a bool is True."""
    if isinstance(left, Const) and isinstance(right, Const):
        return left.value is right.value
    for a, b in ((left, right), (right, left)):
        if isinstance(b, Const) and (b.value is None or isinstance(b.value, bool)):
            kind = kind_of_value(a)
            if kind == UNKNOWN or kind == BOOL == kind_of_atom(b):
                return None
            if b.value is not None and isinstance(kind, Number) and not is_exact(it, it.atom(a)):
                return None
            return kind == kind_of_atom(b)
    return None


def truth(it: Interpreter, value: Value) -> Atom:
    """A condition as an atom (what is known stays a constant)."""
    known = it.known_truth(value)
    if known is not None:
        return Const(known)
    if isinstance(value, LazyIterable) and value.form in ("keys", "values", "items"):
        return truth(it, heap.now(it, value.parts[0]))
    if isinstance(value, Items) and it.asks_its_class(value):
        for name in ("__bool__", "__len__"):
            said = it.call_method_of_class(value, name, [])
            if said is not None:
                is_own = not value.type.__module__.startswith("wengert.")
                if name == "__bool__" and is_own and isinstance(said, Var):
                    it.emit(checks.python_truth, said, namespace="rt")
                return truth(it, said)
    atom = it.atom(value)
    asked = _may_be_container(it, atom) or _may_have_several_items(atom)
    return it.emit(st.truth, atom) if asked else atom


def _may_have_several_items(atom: Atom) -> bool:
    """Whether an array has axes: it may have no truth, also where nothing depends on that."""
    kind = kind_of_atom(atom)
    return isinstance(kind, Array) and bool(kind.rank)


def _may_be_container(it: Interpreter, atom: Atom) -> bool:
    """Whether something may be another truth by the time that it is asked again: it may have changed."""
    if not isinstance(atom, Var) or isinstance(atom.kind, (Number, Other, Static, Array)):
        return False
    eqn = it.builder.definition(atom)
    return eqn is None or not eqn.op.elementwise
