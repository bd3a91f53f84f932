"""What the text of a generator tells: whether it ends, and a generator expression as a function."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from .declarations import own_nodes


@lru_cache(maxsize=1024)
def is_endless(node: ast.AST) -> bool:
    """Whether a generator certainly never ends: a `while True` at its end that nothing leaves."""
    body = statements_of(node)
    last = body[-1] if body else None
    if (
        not isinstance(last, ast.While)
        or not isinstance(last.test, ast.Constant)
        or not last.test.value
    ):
        return False
    inside = [each for statement in last.body for each in (statement, *own_nodes(statement))]
    return not any(isinstance(each, (ast.Break, ast.Return, ast.Raise)) for each in inside)


def statements_of(function: ast.AST) -> Sequence[ast.stmt]:
    """What a function consists of, which may be a lambda."""
    body: Any = function.body  # type: ignore[attr-defined]
    return [ast.copy_location(ast.Expr(body), body)] if isinstance(function, ast.Lambda) else body


def as_function(node: ast.GeneratorExp) -> ast.FunctionDef:
    """A generator expression as the generator function that it stands for."""
    return _as_function(node)


@lru_cache(maxsize=1024)
def _as_function(node: ast.GeneratorExp) -> ast.FunctionDef:
    body: ast.stmt = ast.Expr(ast.Yield(node.elt))
    for k, clause in reversed(list(enumerate(node.generators))):
        for condition in reversed(clause.ifs):
            body = ast.If(condition, [body], [])
        iterable = ast.Name("%iterable", ast.Load()) if k == 0 else clause.iter
        body = ast.For(clause.target, iterable, [body], [])
        ast.copy_location(body, clause.target)  # by which loops are told apart
    argument = ast.arg("%iterable")
    arguments = ast.arguments([], [argument], None, [], [], None, [])
    function = ast.FunctionDef("<genexpr>", arguments, [body], [])
    ast.copy_location(function, node)
    for inner in ast.walk(function):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    return function
