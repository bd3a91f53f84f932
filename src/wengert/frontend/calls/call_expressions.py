"""Call expressions: what is called, and its arguments in the order in which Python evaluates them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...ir.graph import Var
from ..domain.arguments import star
from ..domain.values import Items, Value, is_object
from ..heap import now
from ..machine.interpreter import Interpreter
from .calls import call


def evaluate_call(it: Interpreter, node: ast.Call) -> Value:
    """The value of a call expression."""
    if isinstance(node.func, ast.Attribute):
        receiver = it.evaluate(node.func.value)
        args, kwargs = _arguments(it, node)
        with it.at(node):
            return it.call_method(now(it, receiver), node.func.attr, args, kwargs)
    function = it.evaluate(node.func)
    args, kwargs = _arguments(it, node)
    # what a later argument has changed, an earlier one shows, too
    args = [now(it, arg) if isinstance(arg, Var) else arg for arg in args]
    with it.at(node):
        return call(it, function, args, kwargs)


def positional(it: Interpreter, nodes: Sequence[ast.expr]) -> list[Value]:
    """The values of expressions side by side, with the items of `*items` where these are known."""
    values: list[Value] = []
    for node in nodes:
        if not isinstance(node, ast.Starred):
            values.append(it.evaluate(node))
            continue
        value = it.settled(it.evaluate(node.value))
        items = it.known_items(value)
        values.extend(items if items is not None else [star(it.atom(value))])
    return values


def _arguments(it: Interpreter, node: ast.Call) -> tuple[list[Value], dict[str, Value]]:
    args = positional(it, node.args)
    kwargs: dict[str, Value] = {}
    for keyword in node.keywords:
        value = it.evaluate(keyword.value)
        if keyword.arg is not None:
            kwargs[keyword.arg] = value
            continue
        if isinstance(value, Var):
            value = it.open_up(value)
        elif is_object(value):
            value = it.dict_from(value)
        if not (isinstance(value, Items) and value.form == "dict"):
            raise it.unsupported(
                "`**` needs a dictionary whose keys are known when the program is read",
                "Pass the arguments by name, or specialise on an example dictionary.",
                node,
            )
        kwargs.update(zip(value.keys, value.values, strict=True))
    return args, kwargs
