"""What the text of a generator tells: where it yields, which of its loops do, whether it ends."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache

from .declarations import own_nodes, yields


@lru_cache(maxsize=1024)
def points(node: ast.AST) -> dict[int, ast.AST]:
    """The places where a generator yields, numbered from 1."""
    found = [each for each in own_nodes(node) if isinstance(each, (ast.Yield, ast.YieldFrom))]
    found.sort(key=lambda each: (each.lineno, each.col_offset))
    return dict(enumerate(found, 1))


@lru_cache(maxsize=1024)
def at_statements(node: ast.AST) -> frozenset[ast.AST]:
    """The yields that are a statement, or all that is assigned."""
    return frozenset(
        each.value
        for each in own_nodes(node)
        if isinstance(each, (ast.Expr, ast.Assign, ast.AnnAssign)) and each.value is not None
    )


@lru_cache(maxsize=1024)
def loops(node: ast.AST) -> tuple[ast.For, ...]:
    return tuple(each for each in own_nodes(node) if isinstance(each, ast.For) and yields(each))


@lru_cache(maxsize=1024)
def froms(node: ast.AST) -> tuple[ast.YieldFrom, ...]:
    return tuple(each for each in own_nodes(node) if isinstance(each, ast.YieldFrom))


def loop_name(node: ast.For | ast.YieldFrom) -> str:
    return f"%items{node.lineno}.{node.col_offset}"


@lru_cache(maxsize=1024)
def returns_values(node: ast.AST) -> bool:
    found = (each.value for each in own_nodes(node) if isinstance(each, ast.Return))
    return any(value is not None for value in found)


@lru_cache(maxsize=1024)
def is_endless(node: ast.AST) -> bool:
    """Whether a generator certainly never ends: a `while True` at its end that nothing leaves."""
    body: Sequence[ast.stmt] = node.body  # type: ignore[attr-defined]
    last = body[-1] if body else None
    if (
        not isinstance(last, ast.While)
        or not isinstance(last.test, ast.Constant)
        or not last.test.value
    ):
        return False
    inside = [each for statement in last.body for each in (statement, *own_nodes(statement))]
    return not any(isinstance(each, (ast.Break, ast.Return, ast.Raise)) for each in inside)


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


@lru_cache(maxsize=4096)
def contains(node: ast.AST, inner: ast.AST) -> bool:
    return any(each is inner for each in ast.walk(node))
