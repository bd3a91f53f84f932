"""Evaluating expressions symbolically."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from types import FunctionType, ModuleType, NoneType, UnionType
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import NoSource
from ..ir.builder import kind_of_atom
from ..ir.graph import Atom, Const, Var
from ..ir.op import Op
from ..ir.types import BOOL, STR, UNKNOWN, Array, Number, Other, Seq, Static, Struct
from ..ops import containers as co
from ..ops import elementwise as el
from ..ops import identity as ident
from ..ops import structure as st
from ..ops.registry import named
from . import cells, choosing, equivalents, outside
from .counts import is_by_turns, known
from .declarations import assigned_names, declarations
from .heap import now
from .signature import ForeignArray, derives, kind_of
from .values import (
    Closure,
    Items,
    Iteration,
    Maybe,
    Native,
    ObjectKey,
    Scope,
    Value,
    is_mutable,
    kind_of_value,
    list_of,
    tuple_of,
)

if TYPE_CHECKING:
    from .interpreter import Interpreter

BINARY: dict[type[ast.operator], tuple[Op, Callable[[Any, Any], Any]]] = {
    ast.Add: (el.add, operator.add),
    ast.Sub: (el.sub, operator.sub),
    ast.Mult: (el.mul, operator.mul),
    ast.Div: (el.div, operator.truediv),
    ast.FloorDiv: (el.floordiv, operator.floordiv),
    ast.Mod: (el.mod, operator.mod),
    ast.Pow: (el.pow_, operator.pow),
    ast.BitAnd: (el.bitand, operator.and_),
    ast.BitOr: (el.bitor, operator.or_),
    ast.BitXor: (el.bitxor, operator.xor),
    ast.LShift: (el.lshift, operator.lshift),
    ast.RShift: (el.rshift, operator.rshift),
}

COMPARE: dict[type[ast.cmpop], tuple[Op, Callable[[Any, Any], Any]]] = {
    ast.Eq: (st.eq, operator.eq),
    ast.NotEq: (st.ne, operator.ne),
    ast.Lt: (st.lt, operator.lt),
    ast.LtE: (st.le, operator.le),
    ast.Gt: (st.gt, operator.gt),
    ast.GtE: (st.ge, operator.ge),
    ast.Is: (st.is_, operator.is_),
    ast.IsNot: (st.is_not, operator.is_not),
    ast.In: (st.in_, lambda a, b: a in b),
    ast.NotIn: (st.not_in, lambda a, b: a not in b),
}


def evaluate(it: Interpreter, node: ast.expr) -> Value:
    """The value of an expression."""
    handler = _EXPRESSIONS.get(type(node))
    if handler is None:
        from .fence import explain

        raise it.unsupported(*explain(node), node=node)
    with it.at(node):
        return handler(it, node)


# --- names --------------------------------------------------------------------------------


def evaluate_after(it: Interpreter, node: ast.expr, earlier: Value) -> tuple[Value, Value]:
    """What an earlier expression gave, and the value of this one: what this one changes, both see."""
    value = evaluate(it, node)
    if isinstance(earlier, Const) or isinstance(node, ast.Constant | ast.Name):
        return earlier, value
    return now(it, earlier), value


def _constant(it: Interpreter, node: ast.Constant) -> Value:
    return Const(node.value)


def _name(it: Interpreter, node: ast.Name) -> Value:
    return lookup(it, it.frame.scope, node.id)


def lookup(it: Interpreter, scope: Scope, name: str) -> Value:
    """The value of a name: local, then the functions around, then global, then builtin."""
    where: Scope | None = scope
    while where is not None:
        if name in where.vars:
            value = where.vars[name]
            if isinstance(value, Items) and value.form == "cell":
                return cells.read(it, value, name, own=where is scope)
            if isinstance(value, Maybe):
                _note_unbound(it, name)
                value = where.vars[name] = it.checked(value, name)
            return now(it, value)
        where = where.outer
    if name in scope.globals and (cell := cells.known_external(it, scope.globals, name)):
        return cells.read(it, cell, name, own=False)
    if _is_local(it, scope, name):
        _note_unbound(it, name)
        from .statements import raise_now

        message = f"cannot access local variable '{name}' where it is not associated with a value"
        raise_now(it, UnboundLocalError, message)
    if name in scope.globals:
        return lift(it, scope.globals, name, scope.globals[name])
    if hasattr(builtins, name):
        return Const(getattr(builtins, name))
    from .statements import raise_now

    raise_now(it, NameError, f"name '{name}' is not defined")
    raise AssertionError("unreachable")


def _note_unbound(it: Interpreter, name: str) -> None:
    for frame in it.frames:
        frame.unbound.add(name)


def _is_local(it: Interpreter, scope: Scope, name: str) -> bool:

    frame = next((f for f in it.frames if f.scope is scope), None)
    if frame is None or isinstance(frame.closure.node, ast.Lambda):
        return False
    if name in declarations(frame.closure.node).get("global", ()):
        return False
    return name in assigned_names(frame.closure.node.body)


def lift(it: Interpreter, holder: Any, name: str, value: Any, *, key: str = "") -> Value:
    """A global, an attribute of a module, or what a closure's cell holds, as a value.

    Functions, modules and classes are known (and guarded: if the name is bound to something else
    later, the program is read again); numbers and containers are read when the program runs.
    """
    key = key or name
    cell = cells.known_external(it, holder, key)
    if cell is not None:
        return cells.read(it, cell, name, own=False)
    known = isinstance(holder, ModuleType) and holder.__name__.split(".")[0] in _FIXED_MODULES
    if known:
        return as_known(value)
    try:
        kind = kind_of(value)
    except ForeignArray as error:
        raise error.at(it.builder.span) from None
    if isinstance(kind, Struct) and kind.form == "function" and not kind.keys:
        kind = Static(value)
    it.reading.guards[id(holder), key] = (holder, key, kind)
    if value is None or isinstance(kind, Static):
        return as_known(value)
    if isinstance(value, FunctionType):
        from .calls import closure_of

        try:
            return closure_of(it, value)
        except NoSource:
            return as_known(value)  # it may have a rule, or never be called
    if derives(value):
        return _lifted_derivative(it, value)
    known_object = outside.tracked(it, holder, key, name, value, kind)
    if known_object is not None:
        current = now(it, known_object)
        return open_up(it, current)
    params = {"name": Const(name), "holder": Const(holder), "key": Const(key)}
    var = it.builder.emit_with(st.global_, (), params, name=name, kind=kind)
    assert isinstance(var, Var)
    var.shape_of = _shape_read_before(it, holder, key) or var
    it.reading.read_from[var] = holder, key
    return open_up(it, var)


def _shape_read_before(it: Interpreter, holder: Any, key: str) -> Var | None:
    """The shape of a global as it was read before: the program does not bind it anew."""
    places = it.reading.read_from.items()
    same = (var for var, place in places if place[0] is holder and place[1] == key)
    return next((var.shape_of for var in same if isinstance(var, Var)), None)


def _lifted_derivative(it: Interpreter, made: Any) -> Native:
    """A derivative function that is known: a call of it is read, so that it can be differentiated."""
    function = lift(it, made, "function", made.function)

    def run(it: Interpreter, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
        return it.reading.derivative(it, made.verb, function, args, kwargs)

    return Native(made.verb.name, run, made)


_FIXED_MODULES = {"numpy", "math", "cmath", "operator", "functools", "builtins", "itertools"}


def as_known(value: Any) -> Value:
    """A constant as a value: tuples are taken apart."""
    if type(value) is tuple:
        return tuple_of(*map(as_known, value))
    return Const(value)


# --- operators ----------------------------------------------------------------------------


def _unary(it: Interpreter, node: ast.UnaryOp) -> Value:
    value = evaluate(it, node.operand)
    if isinstance(node.op, ast.Not):
        known = it.known_truth(value)
        if known is not None:
            return Const(not known)
        return it.emit(st.not_, truth(it, value))
    op, function = _UNARY[type(node.op)]
    if isinstance(value, Const) and _is_number(value.value):
        return Const(function(value.value))
    return dispatch_operator(it, op, [value])


_UNARY: dict[type[ast.unaryop], tuple[Op, Callable[[Any], Any]]] = {
    ast.USub: (el.neg, operator.neg),
    ast.UAdd: (el.pos, operator.pos),
    ast.Invert: (el.invert, operator.invert),
}


def _is_number(value: Any) -> bool:
    return isinstance(value, bool | int | float | complex)


def _binary(it: Interpreter, node: ast.BinOp) -> Value:
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)  # a sum of 1,000 terms is no deeper than one of two
    value = evaluate(it, chain[-1].left)
    for link in reversed(chain):
        value, right = evaluate_after(it, link.right, value)
        with it.at(link):
            value = binary(it, link.op, value, right, link)
    return value


def op_of(operator_: ast.operator) -> tuple[Op, Callable[[Any, Any], Any]]:
    """The op of a binary operator, and what Python computes."""
    if isinstance(
        operator_, ast.MatMult
    ):  # not in the table: linear algebra is loaded when it is met
        return named("matmul"), operator.matmul
    return BINARY[type(operator_)]


def binary(
    it: Interpreter, operator_: ast.operator, left: Value, right: Value, node: ast.AST
) -> Value:
    """`left op right` of two values."""
    op, function = op_of(operator_)
    if isinstance(left, Items) or isinstance(right, Items):
        joined = _binary_on_items(operator_, known(it, left), known(it, right))
        if joined is not None:
            return joined
    if _both_literal(left, right) or _both_classes(left, right):
        with suppress(Exception):  # it must fail when the program runs, not when it is read
            return as_known(function(left.value, right.value))  # type: ignore[union-attr]
    if op in (el.bitand, el.bitor, el.bitxor, el.sub):
        left, right = _set_of_keys(it, left), _set_of_keys(it, right)
    if op is el.add and _is_list(left) and _is_list(right):
        return it.emit(co.join_lists, it.atom(left), it.atom(right))
    if op is el.mul and (_is_list(left) or _is_list(right)):
        return _times_list(it, left, right)
    from .values import object_class

    if object_class(left) is not None or object_class(right) is not None:
        return dispatch_operator(it, op, [left, right])
    if op is el.bitor and not all(
        isinstance(kind_of_value(v), Number | Array) for v in (left, right)
    ):
        return it.emit(co.merge_dicts, it.atom(left), it.atom(right))
    if op is el.mod and kind_of_value(left) == STR:
        return it.emit(
            st.opaque, Const(operator.mod), it.atom(left), it.atom(right), names=Const(())
        )
    return dispatch_operator(it, op, [left, right])


def _set_of_keys(it: Interpreter, value: Value) -> Value:
    """`d.keys()` and `d.items()` as the sets that they are to an operator; anything else as it is."""
    if not (isinstance(value, Iteration) and value.form in ("keys", "items")):
        return value
    from .calls import call_foreign
    from .iteration import as_list

    return call_foreign(it, set, [it.atom(as_list(it, value))], {})


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
    from ..ops.creation import array

    atom = it.atom(value)
    return it.emit(array, atom, namespace="np") if _is_list(value) else atom


def _repeated(it: Interpreter, items: Value, times: Value) -> Value:
    """`items * n` of a list, where `n` is known only when the program runs."""
    from .calls import call

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
    return call(it, Const(equivalents.repeated), [items, times], {})


def _is_list(value: Value) -> bool:
    kind = kind_of_value(value)
    return isinstance(kind, Seq) or (isinstance(kind, Struct) and kind.form in ("list", "tuple"))


def dispatch_operator(it: Interpreter, op: Op, values: Sequence[Value]) -> Value:
    """An operator on values: the user's own operator methods first, then the op."""
    from .operators import call_operator_method

    own = call_operator_method(it, op, values)
    if own is not None:
        return own
    return it.emit(op, *(it.atom(v) for v in values))


def _both_literal(left: Value, right: Value) -> bool:
    return all(
        isinstance(v, Const) and (_is_number(v.value) or isinstance(v.value, str))
        for v in (left, right)
    )


def _both_classes(left: Value, right: Value) -> bool:
    return all(
        isinstance(v, Const) and isinstance(v.value, type | UnionType) for v in (left, right)
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


def condition(it: Interpreter, node: ast.expr) -> Atom:
    """Whether an expression holds, where nothing else matters of it."""
    asked = isinstance(node, ast.BoolOp)
    return truth(it, _bool_op(it, node, whole=False) if asked else evaluate(it, node))


def _bool_op(it: Interpreter, node: ast.BoolOp, *, whole: bool = True) -> Value:
    def fold(k: int) -> Value:
        value = evaluate(it, node.values[k])
        if k == len(node.values) - 1:
            return value
        known = it.known_truth(value)
        is_and = isinstance(node.op, ast.And)
        if known is not None:
            return fold(k + 1) if known == is_and else value
        holds = truth(it, value)
        decided = value if whole or isinstance(value, Var) else Const(not is_and)
        if is_and:
            return it.choose(holds, lambda: fold(k + 1), lambda: decided)
        return it.choose(holds, lambda: decided, lambda: fold(k + 1))

    return fold(0)


def _compare(it: Interpreter, node: ast.Compare) -> Value:
    def chain(k: int, left: Value) -> Value:
        left, right = evaluate_after(it, node.comparators[k], left)
        result = compare(it, node.ops[k], left, right)
        if k == len(node.ops) - 1:
            return result
        known = it.known_truth(result)
        if known is not None:
            return chain(k + 1, right) if known else result
        return it.choose(truth(it, result), lambda: chain(k + 1, right), lambda: result)

    return chain(0, evaluate(it, node.left))


def compare(it: Interpreter, operator_: ast.cmpop, left: Value, right: Value) -> Value:
    """One comparison."""
    op, function = COMPARE[type(operator_)]
    if isinstance(operator_, ast.Is | ast.IsNot):
        known = _known_identity(left, right)
        if known is not None:
            return Const(known == isinstance(operator_, ast.Is))
        from .operators import identical

        same = identical(it, left, right)
        if same is not None:
            return same if isinstance(operator_, ast.Is) else _not(it, same)
    if isinstance(left, Const) and isinstance(right, Const):
        return Const(function(left.value, right.value))
    if isinstance(operator_, ast.In | ast.NotIn):
        if isinstance(right, Iteration) and right.form == "keys":
            right = right.parts[0]
    elif isinstance(left, Iteration) or isinstance(right, Iteration):
        left, right = _set_of_keys(it, left), _set_of_keys(it, right)
    if isinstance(operator_, ast.In | ast.NotIn) and isinstance(right, Items):
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
    return dispatch_operator(it, op, [left, right])


def _not(it: Interpreter, value: Value) -> Value:
    known = it.known_truth(value)
    return Const(not known) if known is not None else it.emit(st.not_, truth(it, value))


def key_of(it: Interpreter, index: Value) -> Value:
    """An index or a key as a constant, where it is known or the counts of the call decide it."""
    if is_by_turns(it) and isinstance(index, Items) and index.form == "tuple":
        return as_key(tuple_of(*(key_of(it, value) for value in index.values)))
    return as_key(known(it, index))


def as_key(index: Value) -> Value:
    """An index or a key; a tuple of constants is a constant, and so is a known object."""
    if isinstance(index, Items) and index.form == "tuple":
        items = [as_key(value) for value in index.values]
        if all(isinstance(item, Const) for item in items):
            return Const(tuple(item.value for item in items if isinstance(item, Const)))
    if isinstance(index, Items) and index.form == "identity":
        return Const(ObjectKey(("id", index.type), index))
    if isinstance(index, Items) and index.form in ("object", "dataclass"):
        from .objects import hash_token

        token = hash_token(index)
        return index if token is None else Const(ObjectKey(token, index))
    return index


def _known_identity(left: Value, right: Value) -> bool | None:
    """`a is b` where the kinds decide it: nothing but None is None, nothing but a bool is True."""
    if isinstance(left, Const) and isinstance(right, Const):
        return left.value is right.value
    for a, b in ((left, right), (right, left)):
        if isinstance(b, Const) and (b.value is None or isinstance(b.value, bool)):
            kind = kind_of_value(a)
            if kind == UNKNOWN or kind == BOOL == kind_of_atom(b):
                return None
            return kind == kind_of_atom(b)
    return None


def truth(it: Interpreter, value: Value) -> Atom:
    """A condition as an atom (what is known stays a constant)."""
    known = it.known_truth(value)
    if known is not None:
        return Const(known)
    if isinstance(value, Items) and it.asks_its_class(value):
        from .operators import call_method_of_class

        for name in ("__bool__", "__len__"):
            said = call_method_of_class(it, value, name, [])
            if said is not None:
                return truth(it, said)
    atom = it.atom(value)
    return it.emit(st.truth, atom) if _may_be_container(it, atom) else atom


def _may_be_container(it: Interpreter, atom: Atom) -> bool:
    """Whether something may be another truth by the time that it is asked again: it may have changed."""
    if not isinstance(atom, Var) or isinstance(atom.kind, Number | Other | Static | Array):
        return False
    eqn = it.builder.definition(atom)
    return eqn is None or not eqn.op.elementwise


# --- conditionals -------------------------------------------------------------------------


def _if_exp(it: Interpreter, node: ast.IfExp) -> Value:
    holds = condition(it, node.test)
    return it.choose(holds, lambda: evaluate(it, node.body), lambda: evaluate(it, node.orelse))


def _named(it: Interpreter, node: ast.NamedExpr) -> Value:
    from .statements import bind

    value = evaluate(it, node.value)
    frame = it.frame
    if frame.around is None:
        bind(it, node.target.id, value)
    else:  # it binds a name of the function around the comprehension, which is in a cell
        cell = cells.find(it, node.target.id, frame.around)
        assert cell is not None
        cells.write(it, cell, value)
    return value


# --- containers ---------------------------------------------------------------------------


def _sequence(it: Interpreter, node: ast.Tuple | ast.List) -> Value:
    from .binding import is_star
    from .calls import positional
    from .iteration import as_tuple, joined

    values = positional(it, node.elts)
    if any(map(is_star, values)):
        whole = joined(it, values)
        return as_tuple(it, whole) if isinstance(node, ast.Tuple) else whole
    return tuple_of(*values) if isinstance(node, ast.Tuple) else list_of(*values)


def _set(it: Interpreter, node: ast.Set) -> Value:
    values = [it.atom(evaluate(it, element)) for element in node.elts]
    packed = it.atom(list_of(*values))
    from .calls import call_foreign

    return call_foreign(it, set, [packed], {})


def _dict(it: Interpreter, node: ast.Dict) -> Value:
    entries: dict[Any, Value] = {}
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        value = evaluate(it, value_node)
        if key_node is None:
            if not (isinstance(value, Items) and value.form == "dict"):
                return _dict_at_run_time(it, node)
            entries.update(zip(value.keys, value.values, strict=True))
            continue
        key = key_of(it, evaluate(it, key_node))
        if not isinstance(key, Const):
            return _dict_at_run_time(it, node)
        entries[key.value] = value
    return Items("dict", tuple(entries), tuple(entries.values()))


def _dict_at_run_time(it: Interpreter, node: ast.Dict) -> Value:
    parts: list[Atom] = []
    keys: list[Value] = []
    values: list[Value] = []

    def close() -> None:
        if keys:
            packed = it.atom(list_of(*keys)), it.atom(list_of(*values))
            parts.append(it.emit(co.dict_of, *packed))
            keys.clear()
            values.clear()

    for key_node, value_node in zip(node.keys, node.values, strict=True):
        if key_node is None:
            close()
            parts.append(it.atom(evaluate(it, value_node)))
        else:
            keys.append(evaluate(it, key_node))
            values.append(evaluate(it, value_node))
    close()
    merged = parts[0]
    for part in parts[1:]:
        merged = it.emit(co.merge_dicts, merged, part)
    return merged


# --- attributes and items -----------------------------------------------------------------


def _attribute(it: Interpreter, node: ast.Attribute) -> Value:
    from .attributes import read_attribute

    return read_attribute(it, evaluate(it, node.value), node.attr)


def _subscript(it: Interpreter, node: ast.Subscript) -> Value:
    found = subscript(it, *evaluate_after(it, node.slice, evaluate(it, node.value)))
    of_flat = isinstance(node.value, ast.Attribute) and node.value.attr == "flat"
    if of_flat and isinstance(node.slice, ast.Slice) and isinstance(kind_of_value(found), Array):
        return it.emit(named("copy"), it.atom(found), namespace="np")  # unlike a slice of `ravel`
    return found


def _slice(it: Interpreter, node: ast.Slice) -> Value:
    parts = [
        Const(None) if p is None else it.atom(evaluate(it, p))
        for p in (node.lower, node.upper, node.step)
    ]
    return it.emit(st.slice_, *parts)


def subscript(it: Interpreter, value: Value, index: Value) -> Value:
    """`value[index]`."""
    if isinstance(value, Const) and isinstance(index, Const):
        try:
            return as_known(value.value[index.value])
        except (TypeError, KeyError, IndexError):
            pass  # it must fail when the program runs
    if isinstance(value, Items):
        item = _item_of(it, value, key_of(it, index))
        if item is not None:
            return item

        if choosing.holds_functions(value):
            return choosing.item_of(it, value, index)
    if isinstance(value, Iteration | Closure | Native):
        value = it.atom(value)
    if isinstance(value, Const) and type(value.value).__module__.startswith("numpy"):
        from .calls import call
        from .numpy_grids_in_python import BY_CLASS

        made = BY_CLASS.get(type(value.value))
        first = index.values[0] if isinstance(index, Items) and index.values else index
        if made is not None and kind_of_value(first) != STR:  # text says how to put together
            return call(it, Const(made), [index], {})
    from .operators import call_method_of_class

    own = call_method_of_class(it, value, "__getitem__", [index])
    if own is not None:
        return own
    if isinstance(value, Const) and not isinstance(value.value, _INDEXABLE):
        raise it.unsupported(
            f"indexing a {type(value.value).__name__} object",
            "Use a function: `np.concatenate`, say.",
        )
    at = index_atom(it, index)
    result = it.emit(st.getitem, it.atom(value), at)
    return open_up(it, result)


_INDEXABLE = (tuple, list, dict, str, bytes, range, np.ndarray, bool, int, float, complex, NoneType)


def index_atom(it: Interpreter, index: Value) -> Atom:
    """An index as an atom; an index of constants only is a constant."""
    if isinstance(index, Items) and index.form == "tuple":
        if all(isinstance(v, Const) for v in index.values):
            return Const(tuple(v.value for v in index.values if isinstance(v, Const)))
    return it.atom(index)


def open_up(it: Interpreter, value: Value) -> Value:
    """A run-time container whose structure is known, taken apart at its use."""
    kind = kind_of_value(value)
    if isinstance(value, Var) and isinstance(kind, Static):
        return as_known(kind.value)
    if not (isinstance(value, Var) and isinstance(kind, Struct)):
        return value
    if kind.form in ("function", "derivative"):
        return _opened_function(it, value, kind)
    items: list[Value] = []
    for key, item_kind in zip(kind.keys, kind.items, strict=True):
        if kind.form in ("dataclass", "namedtuple", "object"):
            item = it.builder.emit_with(st.getattr_, (value,), {"name": Const(key)}, kind=item_kind)
        else:
            item = it.builder.emit_with(st.getitem, (value, Const(key)), {}, kind=item_kind)
        items.append(open_up(it, item))
    return Items(kind.form, kind.keys, tuple(items), kind.type, home=value)


def _opened_function(it: Interpreter, value: Var, kind: Struct) -> Value:
    """A function that an object holds: which one is known, what it captured is read when it runs."""
    if kind.form == "derivative":
        inner = it.builder.emit_with(
            st.getattr_, (value,), {"name": Const("function")}, kind=kind.items[0]
        )
        return Items("derivative", kind.keys, (open_up(it, inner),), kind.type, home=value)
    if not kind.keys:
        return as_known(kind.type.function)
    cells = it.builder.emit_with(st.getattr_, (value,), {"name": Const("__closure__")})
    captured: list[Value] = []
    for name, item_kind in zip(kind.keys, kind.items, strict=True):
        index = Const(kind.type.co_freevars.index(name))
        cell = it.builder.emit(st.getitem, cells, index)
        params = {"name": Const("cell_contents")}
        item = it.builder.emit_with(st.getattr_, (cell,), params, name=name, kind=item_kind)
        captured.append(open_up(it, item))
    return Items("function", kind.keys, tuple(captured), kind.type, home=value)


def _item_of(it: Interpreter, items: Items, index: Value) -> Value | None:
    if items.form == "dict":
        if isinstance(index, Const) and index.value in items.keys:
            return items[index.value]
        if isinstance(index, Const):
            from .statements import raise_now

            raise_now(it, KeyError, index.value)
        return None
    if isinstance(index, Const) and items.form in ("tuple", "list", "namedtuple"):
        if isinstance(index.value, slice):
            make = list_of if items.form == "list" else tuple_of
            return make(*items.values[index.value])
        try:
            return items.values[operator.index(index.value)]
        except IndexError:
            from .statements import raise_now

            raise_now(it, IndexError, f"{items.form} index out of range")
        except TypeError:
            return None
    return None


# --- text, functions, comprehensions ------------------------------------------------------


def _joined(it: Interpreter, node: ast.JoinedStr) -> Value:
    template: list[Any] = []
    values: list[Atom] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            template.append(part.value)
            continue
        assert isinstance(part, ast.FormattedValue)
        spec = _format_spec(it, part)
        template.append((len(values), part.conversion, spec))
        values.append(it.atom(evaluate(it, part.value)))
    return it.emit(st.format_, *values, template=Const(tuple(template)))


def _format_spec(it: Interpreter, part: ast.FormattedValue) -> str:
    if part.format_spec is None:
        return ""
    assert isinstance(part.format_spec, ast.JoinedStr)
    if not all(isinstance(v, ast.Constant) for v in part.format_spec.values):
        raise it.unsupported(
            "a format specification cannot be computed at run time",
            "Use `format(value, spec)`.",
            part,
        )
    return "".join(str(v.value) for v in part.format_spec.values if isinstance(v, ast.Constant))


def _lambda(it: Interpreter, node: ast.Lambda) -> Value:
    from .statements import make_closure

    return make_closure(it, node)


def _call(it: Interpreter, node: ast.Call) -> Value:
    from .calls import evaluate_call

    return evaluate_call(it, node)


def _yield(it: Interpreter, node: ast.Yield | ast.YieldFrom) -> Value:
    from . import generators

    if isinstance(node, ast.Yield):
        return generators.evaluate_yield(it, node)
    return generators.evaluate_yield_from(it, node)


def _comprehension(it: Interpreter, node: Any) -> Value:
    from .comprehensions import comprehend

    return comprehend(it, node)


_EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.UnaryOp: _unary,
    ast.BinOp: _binary,
    ast.BoolOp: _bool_op,
    ast.Compare: _compare,
    ast.IfExp: _if_exp,
    ast.NamedExpr: _named,
    ast.Tuple: _sequence,
    ast.List: _sequence,
    ast.Set: _set,
    ast.Dict: _dict,
    ast.Attribute: _attribute,
    ast.Subscript: _subscript,
    ast.Slice: _slice,
    ast.JoinedStr: _joined,
    ast.Lambda: _lambda,
    ast.Call: _call,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.DictComp: _comprehension,
    ast.GeneratorExp: _comprehension,
    ast.Yield: _yield,
    ast.YieldFrom: _yield,
}
