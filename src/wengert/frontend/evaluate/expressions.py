"""Evaluating expressions symbolically."""

from __future__ import annotations

import ast
import operator
import types
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from ...ir.graph import Atom, Const, Var
from ...ir.op import Op
from ...ir.types import Array, Kind, Number
from ...ops import elementwise as el, structure as st
from ...ops.program import containers as co
from ...ops.registry import named
from ..calls.call_expressions import evaluate_call, positional
from ..data import columns, tables
from ..domain.arguments import is_star
from ..domain.values import (
    PLAIN,
    Items,
    Value,
    is_iterator,
    is_object,
    kind_of_value,
    list_of,
    tuple_of,
)
from ..functions.closures import make_closure
from ..heap import cells, now
from ..iterate.iterators import must_be_no_walk, must_be_walked_once
from ..machine.failing import fail_now
from ..machine.interpreter import Interpreter
from ..machine.turns import must_be_known
from .operations import is_number


def evaluate(it: Interpreter, node: ast.expr) -> Value:
    """The value of an expression."""
    handler = _EXPRESSIONS.get(type(node))
    if handler is None:
        from ..syntax.fence import explain

        raise it.unsupported(*explain(node), node=node)
    with it.at(node):
        return handler(it, node)


def evaluate_after(it: Interpreter, node: ast.expr, earlier: Value) -> tuple[Value, Value]:
    """What an earlier expression gave, and the value of this one: what this one changes, both see."""
    value = evaluate(it, node)
    if isinstance(earlier, Const) or isinstance(node, (ast.Constant, ast.Name)):
        return earlier, value
    return now(it, earlier), value


def _constant(it: Interpreter, node: ast.Constant) -> Value:
    return Const(node.value)


def _name(it: Interpreter, node: ast.Name) -> Value:
    value = it.lookup(it.frame.scope, node.id)
    if isinstance(value, Var) and value in it.reading.walks_over:
        must_be_walked_once(it, value, node.id)
    return _no_view_of_another(it, value)


# --- operators ----------------------------------------------------------------------------


def _unary(it: Interpreter, node: ast.UnaryOp) -> Value:
    value = evaluate(it, node.operand)
    if isinstance(node.op, ast.Not):
        known = it.known_truth(value)
        if known is not None:
            return Const(not known)
        return it.emit(st.not_, it.truth(value))
    op, function = _UNARY[type(node.op)]
    if isinstance(value, Const) and is_number(value.value):
        return Const(function(value.value))
    if tables.is_table(value):
        return columns.operate(it, op, function, [value])
    return it.dispatch_operator(op, [value])


_UNARY: dict[type[ast.unaryop], tuple[Op, Callable[[Any], Any]]] = {
    ast.USub: (el.neg, operator.neg),
    ast.UAdd: (el.pos, operator.pos),
    ast.Invert: (el.invert, operator.invert),
}


def _binary(it: Interpreter, node: ast.BinOp) -> Value:
    chain = [node]
    while isinstance(chain[-1].left, ast.BinOp):
        chain.append(chain[-1].left)  # a sum of 1,000 terms is no deeper than one of two
    value = evaluate(it, chain[-1].left)
    for link in reversed(chain):
        value, right = evaluate_after(it, link.right, value)
        with it.at(link):
            value = it.binary(link.op, value, right, link)
    return value


def condition(it: Interpreter, node: ast.expr) -> Atom:
    """Whether an expression holds, where nothing else matters of it."""
    return it.truth(
        _folded(it, node, condition) if isinstance(node, ast.BoolOp) else evaluate(it, node)
    )


def _bool_op(it: Interpreter, node: ast.BoolOp) -> Value:
    return _folded(it, node, evaluate)


def _folded(
    it: Interpreter, node: ast.BoolOp, read: Callable[[Interpreter, ast.expr], Value]
) -> Value:
    """The value of `and` or `or`: that of the first part which decides."""

    def fold(k: int) -> Value:
        value = read(it, node.values[k])
        if k == len(node.values) - 1:
            return value
        known = it.known_truth(value)
        is_and = isinstance(node.op, ast.And)
        if known is not None:
            return fold(k + 1) if known == is_and else value
        holds = it.truth(value)
        if is_and:
            return it.choose(holds, lambda: fold(k + 1), lambda: value)
        return it.choose(holds, lambda: value, lambda: fold(k + 1))

    return fold(0)


def _compare(it: Interpreter, node: ast.Compare) -> Value:
    def chain(k: int, left: Value) -> Value:
        left, right = evaluate_after(it, node.comparators[k], left)
        result = it.compare(node.ops[k], left, right)
        if k == len(node.ops) - 1:
            return result
        known = it.known_truth(result)
        if known is not None:
            return chain(k + 1, right) if known else result
        return it.choose(it.truth(result), lambda: chain(k + 1, right), lambda: result)

    return chain(0, evaluate(it, node.left))


# --- conditionals -------------------------------------------------------------------------


def _if_exp(it: Interpreter, node: ast.IfExp) -> Value:
    holds = condition(it, node.test)
    return it.choose(holds, lambda: evaluate(it, node.body), lambda: evaluate(it, node.orelse))


def _named(it: Interpreter, node: ast.NamedExpr) -> Value:

    value = evaluate(it, node.value)
    frame = it.frame
    if frame.around is None:
        it.bind(node.target.id, value)
    else:  # it binds a name of the function around the comprehension, which is in a cell
        cell = cells.find(it, node.target.id, frame.around)
        assert cell is not None
        cells.write(it, cell, value)
    return value


# --- containers ---------------------------------------------------------------------------


def _sequence(it: Interpreter, node: ast.Tuple | ast.List) -> Value:
    values = positional(it, node.elts)
    if any(map(is_star, values)):
        whole = it.joined(values)
        return it.as_tuple(whole) if isinstance(node, ast.Tuple) else whole
    return tuple_of(*values) if isinstance(node, ast.Tuple) else list_of(*values)


def _set(it: Interpreter, node: ast.Set) -> Value:
    values = positional(it, node.elts)
    listed = it.joined(values) if any(map(is_star, values)) else list_of(*values)
    return it.call(Const(set), [listed], {})


_Entry = tuple[Value | None, Value]
"""A key and a value, or None and a dictionary whose entries these are."""


def _dict(it: Interpreter, node: ast.Dict) -> Value:
    given: list[_Entry] = []
    for key_node, value_node in zip(node.keys, node.values, strict=True):
        key = None if key_node is None else it.key_of(evaluate(it, key_node))
        value = evaluate(it, value_node)
        given.append((key, value if key is not None else _unpacked(it, value)))
    entries: dict[Any, Value] = {}
    for key, value in given:
        if isinstance(key, Const):
            entries[key.value] = value
        elif key is None and isinstance(value, Items) and value.form == "dict":
            entries.update(zip(value.keys, value.values, strict=True))
        else:
            return _dict_at_run_time(it, given)
    return Items("dict", tuple(entries), tuple(entries.values()))


def _unpacked(it: Interpreter, value: Value) -> Value:
    """The entries of `**value`; an object is asked for them."""
    value = now(it, value)
    return it.dict_from(value) if is_object(value) else value


def _dict_at_run_time(it: Interpreter, given: Sequence[_Entry]) -> Value:
    parts: list[Atom] = []
    keys: list[Value] = []
    values: list[Value] = []

    def close() -> None:
        if keys:
            packed = it.atom(list_of(*keys)), it.atom(list_of(*values))
            parts.append(it.emit(co.dict_of, *packed))
            keys.clear()
            values.clear()

    for key, value in given:
        if key is None:
            close()
            parts.append(it.atom(value))
        else:
            keys.append(key)
            values.append(value)
    close()
    if given[0][0] is None:  # whose dictionary stays its own
        parts.insert(0, it.atom(Items("dict", (), ())))
    merged = parts[0]
    for part in parts[1:]:
        merged = it.emit(co.merge_dicts, merged, part)
    return merged


# --- attributes and items -----------------------------------------------------------------


def _attribute(it: Interpreter, node: ast.Attribute) -> Value:

    found = it.getattr(evaluate(it, node.value), node.attr)
    if node.attr != "flat":
        must_be_no_walk(it, found)
    return found if node.attr == "__dict__" else _no_view_of_another(it, found)


def _no_view_of_another(it: Interpreter, value: Value) -> Value:
    """A value that a program reads; what shows the items of another object is refused: these may change there."""
    if isinstance(value, Const) and isinstance(value.value, (types.MappingProxyType, memoryview)):
        raise it.unsupported(
            f"a {type(value.value).__name__} shows what another object holds, whose changes it would have to follow",
            "Read the array or the dictionary itself, or pass a copy: `list(m)`, `dict(p)`.",
        )
    return value


def _subscript(it: Interpreter, node: ast.Subscript) -> Value:
    value, index = evaluate_after(it, node.slice, evaluate(it, node.value))
    if isinstance(value, Items) and not isinstance(node.value, ast.Subscript):  # `table[i][j]`
        must_be_known(it, value, index)
    found = it.getitem(value, index)
    must_be_no_walk(it, found)
    of_flat = isinstance(node.value, ast.Attribute) and node.value.attr == "flat"
    is_walk = of_flat or (isinstance(value, Var) and value in it.reading.walks_over)
    is_part = isinstance(node.slice, ast.Slice) or index == Const(...)
    if is_walk and is_part and isinstance(kind_of_value(found), Array):
        return it.emit(named("copy"), it.atom(found), namespace="np")  # unlike a slice of `ravel`
    return found


def _slice(it: Interpreter, node: ast.Slice) -> Value:
    parts = [
        Const(None) if p is None else it.atom(evaluate(it, p))
        for p in (node.lower, node.upper, node.step)
    ]
    return it.emit(st.slice_, *parts)


# --- text, functions, comprehensions ------------------------------------------------------


def _joined(it: Interpreter, node: ast.JoinedStr) -> Value:
    template: list[Any] = []
    values: list[Atom] = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            template.append(part.value)
            continue
        assert isinstance(part, ast.FormattedValue)
        value, spec = evaluate(it, part.value), _known_spec(part)
        if spec is None:
            value = _formatted(it, part, value)
        elif spec and part.conversion == -1 and not _is_formatted_so(kind_of_value(value), spec):
            fail_now(it, format, value, Const(spec))
        template.append((len(values), *((-1, "") if spec is None else (part.conversion, spec))))
        values.append(it.atom(value))
    known = _known_joined(values, template)
    return known or it.emit(st.format_, *values, template=Const(tuple(template)))


def _is_formatted_so(kind: Kind, spec: str) -> bool:
    """Whether there may be text of a value in a format.

    What is known for a number may be of a type that is narrower: of `min(1, x)`, 1 is an integer.
    """
    for number in (1, 1.0, 1j) if isinstance(kind, Number) else ():
        with suppress(ValueError):
            format(number, spec)
            return True
    return not isinstance(kind, Number)


def _known_joined(values: Sequence[Atom], template: Sequence[Any]) -> Const | None:
    """The text that an f-string gives, where the numbers and texts in it are known: a key, or the name of one."""
    given = [atom.value for atom in values if isinstance(atom, Const) and type(atom.value) in PLAIN]
    if len(given) < len(values):
        return None
    try:
        return Const(st.format_(*given, template=template))
    except (ValueError, TypeError):  # it must fail when the program runs, not when it is read
        return None


def _known_spec(part: ast.FormattedValue) -> str | None:
    """A format specification that is written out."""
    if part.format_spec is None:
        return ""
    assert isinstance(part.format_spec, ast.JoinedStr)
    parts = [v.value for v in part.format_spec.values if isinstance(v, ast.Constant)]
    return "".join(map(str, parts)) if len(parts) == len(part.format_spec.values) else None


_CONVERSIONS = {ord("r"): repr, ord("s"): str, ord("a"): ascii}


def _formatted(it: Interpreter, part: ast.FormattedValue, value: Value) -> Value:
    """The text of a value whose format is computed, as in `f"{x:{width}}"`."""
    assert part.format_spec is not None
    if part.conversion in _CONVERSIONS:
        value = it.call(Const(_CONVERSIONS[part.conversion]), [value], {})
    return it.call(Const(format), [value, evaluate(it, part.format_spec)], {})


def _lambda(it: Interpreter, node: ast.Lambda) -> Value:
    return make_closure(it, node)


def _call(it: Interpreter, node: ast.Call) -> Value:
    value = evaluate_call(it, node)
    return now(it, value) if is_iterator(value) else value  # which refuses one that is lost


def _yield(it: Interpreter, node: ast.Yield | ast.YieldFrom) -> Value:
    from ..iterate import generators

    if isinstance(node, ast.Yield):
        return generators.evaluate_yield(it, node)
    return generators.evaluate_yield_from(it, node)


def _comprehension(it: Interpreter, node: Any) -> Value:
    from ..iterate.comprehensions import comprehend

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
