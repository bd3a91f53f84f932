"""The text of a function that a module which stands alone cannot import."""

from __future__ import annotations

import ast
import builtins
import linecache
import symtable
import types
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from ...runtime.reached import closed_over
from .class_text import globals_of


class FunctionText(NamedTuple):
    """What defines a function, and the values that the definition needs by name."""

    text: str
    needs: Mapping[str, Any]


def function_text(function: types.FunctionType) -> FunctionText | None:
    """The definition of a function without its decorators; None if it is not found or a name is not bound."""
    node = _definition(function)
    if node is None or not _are_literal(function):
        return None
    text = ast.unparse(_plain(node))
    names = set(globals_of(symtable.symtable(text, "", "exec"))) - {_name_of(node)}
    around = _around(function)
    missing = {name for name in names if name not in around and not hasattr(builtins, name)}
    if missing:
        return None
    return FunctionText(text, {name: around[name] for name in sorted(names) if name in around})


def _name_of(node: ast.FunctionDef | ast.Lambda) -> str:
    return node.name if isinstance(node, ast.FunctionDef) else ""


def _definition(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda | None:
    """The one function that begins where the code says; two lambdas of a line cannot be told apart."""
    code = function.__code__
    try:
        tree = ast.parse("".join(linecache.getlines(code.co_filename)))
    except SyntaxError:
        return None
    nodes = [node for node in _functions(tree) if _begins(node) == code.co_firstlineno]
    nodes = [node for node in nodes if (_name_of(node) or "<lambda>") == code.co_name]
    return nodes[0] if len(nodes) == 1 else None


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.Lambda]:
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.Lambda)):
            yield node


def _begins(node: ast.FunctionDef | ast.Lambda) -> int:
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    return min([node.lineno, *(each.lineno for each in decorators)])


def _are_literal(function: types.FunctionType) -> bool:
    """Whether the defaults of a function are what their text says, whenever it is evaluated."""
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    return all(isinstance(each, (int, float, complex, str, type(None))) for each in defaults)


def _plain(node: ast.FunctionDef | ast.Lambda) -> ast.stmt:
    """A statement that defines the function under its name, a lambda's value as an expression."""
    if isinstance(node, ast.Lambda):
        return ast.Expr(node)
    for argument in ast.walk(node.args):
        if isinstance(argument, ast.arg):
            argument.annotation = None
    node.decorator_list, node.returns = [], None
    return node


def _around(function: types.FunctionType) -> dict[str, Any]:
    """What the names of a function's text mean: its globals, and what it has captured."""
    return {**function.__globals__, **closed_over(function)}
