"""What each statement of a text binds: the values that a run shows at its line."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ...ir.records import record


@record
class Statement:
    """A statement, or the head of a compound one.

    Attributes:
        line: its first.
        names: what it binds, as `(text, parts)`: `("self.rate", ("self", "rate"))`.
        returns: whether it gives a value back.
        body: the line of the first statement in it, which runs once it has bound its names; or 0.
    """

    line: int
    names: tuple[tuple[str, tuple[str, ...]], ...]
    returns: bool
    body: int


def statements(text: str) -> dict[int, Statement]:
    """The statement of each line of a text."""
    found: dict[int, Statement] = {}
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.stmt):
            continue
        body: list[ast.stmt] = getattr(node, "body", [])
        last = body[0].lineno - 1 if body else node.end_lineno or node.lineno
        names = tuple(dict.fromkeys(bound(node)))
        first = body[0].lineno if body else 0
        one = Statement(node.lineno, names, isinstance(node, ast.Return), first)
        for line in range(node.lineno, max(last, node.lineno) + 1):
            if line not in found or found[line].line < one.line:
                found[line] = one
    return found


def bound(node: ast.stmt) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The names and attributes that a statement binds itself, not those in it."""
    match node:
        case ast.Assign(targets=targets):
            pass
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target) | ast.For(target=target):
            targets = [target]
        case ast.With(items=items):
            targets = [each.optional_vars for each in items if each.optional_vars is not None]
        case _:
            return
    for target in targets:
        yield from _names(target)


def _names(target: ast.expr) -> Iterator[tuple[str, tuple[str, ...]]]:
    match target:
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _names(part)
        case ast.Starred(value=value) | ast.Subscript(value=value):
            yield from _names(value)
        case ast.Name() | ast.Attribute():
            parts = _parts(target)
            if parts:
                yield ".".join(parts), parts
        case _:
            return


def _parts(node: ast.expr) -> tuple[str, ...]:
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=value, attr=name):
            before = _parts(value)
            return (*before, name) if before else ()
        case _:
            return ()
