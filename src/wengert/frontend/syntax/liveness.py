"""Which names are read after an exception, as far as syntax tells: too many do no harm."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

Loop = ast.For | ast.While


def live_after(function: ast.AST, node: ast.Try) -> frozenset[str]:
    """The names that may be read once the body of a `try` has raised something that it catches."""
    found = _read_in(node.finalbody)
    comes_back = bool(node.finalbody)
    for handler in node.handlers:
        found |= _read_in(handler.body)
        comes_back = comes_back or not _ends_path(handler.body)
    if comes_back:
        found |= read_around(function, node, node.body) - _always_bound(node)
    return found


def read_around(function: ast.AST, node: ast.AST, body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names that a function may read when control has left some statements inside of it."""
    found = frozenset(_counted(function) - _counted(node))
    return found | _read_in(body) if node in _in_loops(function) else found


@lru_cache(maxsize=1024)
def _counted(node: ast.AST) -> Counter[str]:
    """How often syntax reads each name."""
    return Counter(name for inner in ast.walk(node) for name in _reads(inner))


@lru_cache(maxsize=256)
def _in_loops(function: ast.AST) -> frozenset[ast.AST]:
    """The parts of a function's syntax that stand in loops."""
    loops = (each for each in ast.walk(function) if isinstance(each, Loop))
    return frozenset(inner for loop in loops for inner in ast.walk(loop))


def _read_in(body: Sequence[ast.AST]) -> frozenset[str]:
    return frozenset(name for each in body for inner in ast.walk(each) for name in _reads(inner))


def _reads(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Name(id=name, ctx=ast.Load() | ast.Del()):
            yield name
        case ast.AugAssign(target=ast.Name(id=name)):
            yield name
        case _:
            return


def _always_bound(node: ast.Try) -> frozenset[str]:
    """The names that every handler which comes back binds anew."""
    bound = [_bound_by(h.body) for h in node.handlers if not _ends_path(h.body)]
    return frozenset[str]().union(*bound).intersection(*bound) if bound else frozenset()


def _bound_by(body: Sequence[ast.stmt]) -> frozenset[str]:
    """The names that a body certainly binds."""
    targets: list[ast.expr] = []
    for statement in body:
        match statement:
            case ast.Assign(targets=several):
                targets += several
            case ast.AnnAssign(target=target, value=ast.expr()):
                targets.append(target)
            case _:
                continue
    return frozenset(target.id for target in targets if isinstance(target, ast.Name))


def _ends_path(body: Sequence[ast.stmt]) -> bool:
    """Whether control leaves the function at the end of a body."""
    from .exits import always_leaves

    return always_leaves(body) and not any(
        isinstance(inner, (ast.Break, ast.Continue)) for each in body for inner in ast.walk(each)
    )


# --- what an exception carries ------------------------------------------------------------

_AS_TEXT = {"str", "repr", "print", "type", "isinstance"}
_LOGGING = {"debug", "info", "warning", "error", "exception", "critical", "log"}


def looks_inside(name: str | None, body: Sequence[ast.stmt]) -> bool:
    """Whether code does more with the exception of this name than show it or raise it again."""
    if name is None:
        return False
    shown: set[ast.AST] = set()
    reads: set[ast.AST] = set()
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id == name:
                reads.add(node)
            shown.update(_shown(node))
    return not reads <= shown


def _shown(node: ast.AST) -> list[ast.AST]:
    match node:
        case ast.FormattedValue(value=value):
            return [value]
        case ast.Call(func=ast.Name(id=name), args=args) if name in _AS_TEXT:
            return list(args)
        case ast.Call(func=ast.Attribute(attr=name), args=args) if name in _LOGGING:
            return list(args)
        case ast.Raise(exc=exception, cause=cause):
            return [each for each in (exception, cause) if each is not None]
        case _:
            return []
