"""A generated function that tells what it binds; to trace it would copy its hundreds of variables at each line."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

from ...backends.python import Printed
from ...backends.python.publish import publish
from ...ir.records import replace
from .statements import bound

_SEE = "__see__"


def watching(printed: Printed, see: Callable[[int, str, Any], None]) -> Callable[..., Any]:
    """A printed function that calls `see` with the line, the name and the value of what it binds and returns."""

    def seen(line: int, name: str, value: Any) -> Any:
        see(line, name, value)
        return value

    tree = ast.parse(printed.text)
    tree.body = _watched(tree.body)
    text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    names = {**printed.names, _SEE: seen}
    nothing = {printed.name: ""}
    told = replace(printed, text=text, names=names, definitions=nothing, lines={}, marks={})
    return publish(told)


def _watched(body: list[ast.stmt]) -> list[ast.stmt]:
    result: list[ast.stmt] = []
    for node in body:
        holders: list[Any] = [node, *getattr(node, "handlers", [])]
        for holder in holders:
            for part in ("body", "orelse", "finalbody"):
                inner = getattr(holder, part, None)
                if inner:
                    setattr(holder, part, _watched(inner))
        told = [_told(node.lineno, parts[0]) for _, parts in bound(node) if len(parts) == 1]
        if isinstance(node, ast.For):
            node.body[:0] = told
            told = []
        elif isinstance(node, ast.Return) and node.value is not None:
            node.value = _call(node.lineno, "return", node.value)
        result += [node, *told]
    return result


def _told(line: int, name: str) -> ast.stmt:
    return ast.Expr(_call(line, name, ast.Name(name, ast.Load())))


def _call(line: int, name: str, value: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(_SEE, ast.Load()), [ast.Constant(line), ast.Constant(name), value], [])
