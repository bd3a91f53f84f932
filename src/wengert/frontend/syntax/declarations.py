"""What syntax tells of names: which a function binds, and which others bind for it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from types import CodeType, FunctionType

from ...errors import NoSource
from .sources import FunctionNode, around, children, parameter_names, source_of

_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PATTERNS = (ast.MatchAs, ast.MatchStar, ast.MatchMapping)
_BINDING = (
    FunctionNode, ast.ClassDef, ast.Name, ast.alias, ast.ExceptHandler, *_PATTERNS, *_COMPREHENSIONS,
)  # fmt: skip
"""Syntax that may bind a name, or has names of its own."""


@lru_cache(maxsize=2048)
def declarations(node: ast.AST) -> dict[str, frozenset[str]]:
    """The names that a function itself declares `nonlocal` and `global`."""
    found: dict[str, set[str]] = {}
    for inner in own_nodes(node):
        if isinstance(inner, (ast.Nonlocal, ast.Global)):
            kind = "nonlocal" if isinstance(inner, ast.Nonlocal) else "global"
            found.setdefault(kind, set()).update(inner.names)
    return {kind: frozenset(names) for kind, names in found.items()}


@lru_cache(maxsize=2048)
def own_nodes(node: ast.AST) -> Sequence[ast.AST]:
    """What stands in a function or a statement, but for what is inside the functions in it."""
    found: list[ast.AST] = []
    stack = children(node)
    while stack:
        current = stack.pop()
        found.append(current)
        if not isinstance(current, (FunctionNode, ast.ClassDef)):
            stack.extend(children(current))
    return found


def _inner_functions(node: ast.AST) -> Iterator[ast.AST]:
    for inner in own_nodes(node):
        if isinstance(inner, FunctionNode):
            yield inner
        if isinstance(inner, (FunctionNode, ast.ClassDef)):
            yield from _inner_functions(inner)


@lru_cache(maxsize=2048)
def names_in_cells(node: FunctionNode) -> tuple[str, ...]:
    """The names of a function that functions or comprehensions inside of it bind."""
    bound: set[str] = set()
    for inner in _inner_functions(node):
        bound |= declarations(inner).get("nonlocal", frozenset())
    if bound:
        bound &= local_names(node)
    for inner in own_nodes(node):
        if isinstance(inner, _COMPREHENSIONS):
            walrus = [n.target.id for n in ast.walk(inner) if isinstance(n, ast.NamedExpr)]
            bound.update(walrus)
    declared = declarations(node)
    return tuple(sorted(bound.difference(*declared.values())))


def local_names(node: FunctionNode) -> set[str]:
    """The names that belong to a function: its parameters, and what it binds."""
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    names = {*parameter_names(node.args), *assigned_names(body)}
    return names.difference(*declarations(node).values())


@lru_cache(maxsize=2048)
def free_names(node: FunctionNode) -> tuple[str, ...]:
    """The names that a function takes from the functions around it, or from its module, sorted."""
    declared = declarations(node)
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    taken = _names_read(body) - local_names(node) - declared.get("global", frozenset())
    return tuple(sorted(taken | declared.get("nonlocal", frozenset())))


def _names_read(nodes: Iterable[ast.AST]) -> set[str]:
    """What some syntax reads by name, but for what the functions and comprehensions in it bind."""
    found: set[str] = set()
    stack = list(nodes)
    while stack:
        current = stack.pop()
        match current:
            case ast.Name(id=name):
                found.add(name)
            case (
                ast.FunctionDef(args=args, decorator_list=decorators)
                | ast.AsyncFunctionDef(args=args, decorator_list=decorators)
            ):
                found.update(free_names(current))
                stack += [args, *decorators]
            case ast.Lambda(args=args):
                found.update(free_names(current))
                stack.append(args)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                first, *others = current.generators
                results = [child for child in children(current) if child is not first]
                inside = _names_read([first.target, *first.ifs, *others, *results])
                found |= inside - _names_bound(current)
                stack.append(first.iter)
            case _:
                stack.extend(children(current))
    return found


def _names_bound(comprehension: ast.AST) -> set[str]:
    targets = (g.target for g in getattr(comprehension, "generators", ()))
    return {n.id for target in targets for n in ast.walk(target) if isinstance(n, ast.Name)}


def keeps_state(function: FunctionType) -> bool:
    """Whether some function binds a variable that this one has captured, once both exist."""
    code = function.__code__
    return bool(code.co_freevars) and _shares_bound_variables(code, function)


_known: dict[CodeType, bool] = {}


def _shares_bound_variables(code: CodeType, function: FunctionType) -> bool:
    if code not in _known:
        _known[code] = _finds_bound_variables(code, function)
    return _known[code]


def _finds_bound_variables(code: CodeType, function: FunctionType) -> bool:
    try:
        chain = around(function, source_of(function).node)
    except NoSource:
        return False
    names = set(code.co_freevars)
    for owner in reversed(chain):
        mine = names & local_names(owner)
        if any(
            mine & declarations(f).get("nonlocal", frozenset()) for f in _inner_functions(owner)
        ):
            return True
        names -= mine
    return False


@lru_cache(maxsize=4096)
def _names_assigned(node: ast.AST) -> frozenset[str]:
    found: set[str] = set()
    stack: list[ast.AST] = [node]
    while stack:
        current = stack.pop()
        if not isinstance(current, _BINDING):
            stack.extend(children(current))
            continue
        match current:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                found.add(name)
                continue
            case ast.Lambda():
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=asname):
                found.add((asname or name).split(".")[0])
            case (
                ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.MatchMapping(rest=str(name))
                | ast.ExceptHandler(name=str(name))
            ):
                found.add(name)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                stack.extend(n for n in ast.walk(current) if isinstance(n, ast.NamedExpr))
                continue
            case _:
                pass
        stack.extend(children(current))
    return frozenset(found)


def assigned_names(body: Sequence[ast.AST]) -> list[str]:
    """The names that some statements may bind, sorted."""
    return sorted(set().union(*(_names_assigned(node) for node in body)))


def changes_its_object(method: FunctionType) -> bool:
    """Whether a method assigns to attributes or items of its object, as far as syntax tells."""
    try:
        return _stores_into_first(source_of(method).node)
    except NoSource:
        return False


@lru_cache(maxsize=2048)
def _stores_into_first(node: ast.FunctionDef | ast.Lambda) -> bool:
    names = [parameter.arg for parameter in (*node.args.posonlyargs, *node.args.args)]
    return any(_stores_into(each, names[0]) for each in ast.walk(node)) if names else False


def _stores_into(node: ast.AST, name: str) -> bool:
    match node:
        case (
            ast.Attribute(value=inner, ctx=ast.Store())
            | ast.Subscript(value=inner, ctx=ast.Store())
        ):
            while isinstance(inner, (ast.Attribute, ast.Subscript)):
                inner = inner.value
            return isinstance(inner, ast.Name) and inner.id == name
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=first), *_]):
            return first == name
        case _:
            return False


@lru_cache(maxsize=2048)
def yields(node: ast.AST) -> bool:
    """Whether a function is a generator, or a statement makes one of the function that it is in."""
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in own_nodes(node))
