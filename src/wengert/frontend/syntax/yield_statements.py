"""Every `yield` as a statement of its own, so that a generator can go on behind it.

What an expression computes before it comes to a `yield` is kept under a name, as Python keeps it on the
generator's stack: `1 + f(x) * (yield y)` is `%1 = f(x)`, `%2 = yield y`, `1 + %1 * %2`.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from .declarations import local_names, names_in_cells

Yielding = ast.Yield | ast.YieldFrom
_IN_ORDER = (
    ast.Attribute,
    ast.BinOp,
    ast.List,
    ast.NamedExpr,
    ast.Set,
    ast.Slice,
    ast.Starred,
    ast.Subscript,
    ast.Tuple,
    ast.UnaryOp,
    ast.keyword,
)
"""Expressions that evaluate all their parts, in the order of their fields."""


@lru_cache(maxsize=1024)
def with_yields_as_statements(node: ast.FunctionDef) -> ast.FunctionDef:
    """A generator function whose yields are statements, or all that is assigned, as far as they can be."""
    kept = local_names(node).difference(names_in_cells(node))
    body = _Statements(frozenset(kept)).all_of(node.body)
    return _with(node, body=body)


class _Statements:
    """Rewrites statements of one generator; `kept` are the names that only itself may bind anew."""

    def __init__(self, kept: frozenset[str]):
        self._kept = kept

    def all_of(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [each for statement in body for each in self._one(statement)]

    def _one(self, statement: ast.stmt) -> list[ast.stmt]:
        if not _yields(statement) or isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            return [statement]
        match statement:
            case ast.Expr(value=value) | ast.Assign(value=value) | ast.AnnAssign(value=value):
                if value is None or isinstance(value, Yielding):
                    return self._named(statement, "value", inside=True)
                return self._named(statement, "value")
            case ast.AugAssign(target=ast.Name(id=name)) if name in self._kept:
                return self._named(statement, "value")
            case ast.Return():
                return self._named(statement, "value")
            case ast.While(test=test, orelse=[]) if _yields(test):
                return self._asked_in_the_loop(statement)
            case ast.If() | ast.While() | ast.For() | ast.Try() | ast.With():
                return self._around(statement)
            case _:
                return [statement]

    def _around(self, statement: ast.stmt) -> list[ast.stmt]:
        names = [name for name in ("body", "orelse", "finalbody") if hasattr(statement, name)]
        inner = {name: self.all_of(getattr(statement, name)) for name in names}
        if isinstance(statement, ast.Try):
            inner["handlers"] = [_with(h, body=self.all_of(h.body)) for h in statement.handlers]
        rewritten = _with(statement, **inner)
        match statement:
            case ast.If():
                return self._named(rewritten, "test")
            case ast.For():
                return self._named(rewritten, "iter")
            case _:
                return [rewritten]

    def _asked_in_the_loop(self, loop: ast.While) -> list[ast.stmt]:
        """`while (yield x): …` asks at the start of each turn."""
        leaves = ast.If(ast.UnaryOp(ast.Not(), loop.test), [ast.Break()], [])
        ask = self._named(_placed(leaves, loop.test), "test")
        always = _placed(ast.Constant(value=True), loop.test)
        return [_with(loop, test=always, body=[*ask, *self.all_of(loop.body)])]

    def _named(self, statement: Any, part: str, *, inside: bool = False) -> list[ast.stmt]:
        """A statement and, before it, what names the yields in one of its expressions."""
        before: list[ast.stmt] = []
        value = getattr(statement, part)
        if value is None or not _yields(value):
            return [statement]
        split = self._operands if inside else self._split
        named = split(value, before)
        return [*before, _with(statement, **{part: named})]

    def _split(self, value: Any, before: list[ast.stmt]) -> Any:
        """An expression that reads under a name what a `yield` in it gives."""
        if isinstance(value, Yielding):
            return _name_it(self._operands(value, before), before)
        if isinstance(value, _IN_ORDER):
            return self._operands(value, before)
        match value:
            case ast.Call(func=ast.Name()):
                return self._arguments(value, [], before)[1]
            case ast.Call(func=ast.Attribute(value=owner)):
                (owner,), call = self._arguments(value, [owner], before)
                return _with(call, func=_with(value.func, value=owner))
            case ast.Call(func=function):
                (function,), call = self._arguments(value, [function], before)
                return _with(call, func=function)
            case ast.Compare(left=left, comparators=[right]):
                left, right = self._in_order([left, right], before)
                return _with(value, left=left, comparators=[right])
            case ast.IfExp(test=test, body=body, orelse=orelse) if not (
                _yields(body) or _yields(orelse)
            ):
                return _with(value, test=self._split(test, before))
            case ast.BoolOp(values=[first, *others]) if not any(map(_yields, others)):
                return _with(value, values=[self._split(first, before), *others])
            case _:
                return value

    def _operands(self, value: Any, before: list[ast.stmt]) -> Any:
        """An expression whose parts have their yields named."""
        fields = [(name, part) for name, part in ast.iter_fields(value) if _is_part(part)]
        parts = [
            each for _, part in fields for each in (part if isinstance(part, list) else [part])
        ]
        rest = iter(self._in_order(parts, before))
        found = {
            name: [next(rest) for _ in part] if isinstance(part, list) else next(rest)
            for name, part in fields
        }
        return _with(value, **found)

    def _arguments(
        self, call: ast.Call, first: list[ast.expr], before: list[ast.stmt]
    ) -> tuple[list[Any], Any]:
        """What a call evaluates before its arguments, and the call, with their yields named."""
        args, count = self._in_order([*first, *call.args, *call.keywords], before), len(first)
        end = count + len(call.args)
        return args[:count], _with(call, args=args[count:end], keywords=args[end:])

    def _in_order(self, parts: Sequence[Any], before: list[ast.stmt]) -> list[Any]:
        """What is evaluated one after the other: what comes before a `yield` keeps the value it had then."""
        last = max((k for k, part in enumerate(parts) if _yields(part)), default=-1)
        found: list[Any] = []
        for k, part in enumerate(parts):
            here = self._split(part, before) if _yields(part) else part
            found.append(self._held(here, before) if k < last else here)
        return found

    def _held(self, part: Any, before: list[ast.stmt]) -> Any:
        match part:
            case ast.Constant():
                return part
            case ast.Name(id=name) if name in self._kept or name.startswith("%"):
                return part
            case ast.Starred(value=value) | ast.keyword(value=value):
                return _with(part, value=self._held(value, before))
            case _:
                return _name_it(part, before)


def _name_it(value: ast.expr, before: list[ast.stmt]) -> ast.expr:
    """The name of a value that is assigned first."""
    name = f"%kept{value.lineno}.{value.col_offset}.{len(before)}"
    before.append(_placed(ast.Assign([ast.Name(name, ast.Store())], value), value))
    return _placed(ast.Name(name, ast.Load()), value)


def _is_part(part: Any) -> bool:
    return isinstance(part, ast.expr) or (isinstance(part, list) and part != [])


@lru_cache(maxsize=4096)
def _yields(node: ast.AST) -> bool:
    """Whether a `yield` of the same function stands in a statement or an expression."""
    if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.ClassDef)):
        return False
    return isinstance(node, Yielding) or any(map(_yields, ast.iter_child_nodes(node)))


def _with(node: Any, **parts: Any) -> Any:
    """A copy of a node with other parts."""
    changed = copy.copy(node)
    for name, part in parts.items():
        setattr(changed, name, part)
    return changed


def _placed(node: Any, at: ast.AST) -> Any:
    """A new node in the place of another one: its own parts where they have none."""
    for inner in ast.walk(node):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, at)
    return node
