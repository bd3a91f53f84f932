"""Private names: inside a class `C`, Python reads `__x` as `_C__x`."""

from __future__ import annotations

import ast
import re

_CANDIDATES = r"\b__\w+"


def mangled(name: str, owner: str) -> str:
    """A name as it is inside a class; only what begins with two underscores and does not end so is private."""
    return f"_{owner.lstrip('_')}{name}" if _is_private(name) and owner.strip("_") else name


def _is_private(name: str) -> bool:
    return name.startswith("__") and not name.endswith("__")


def with_private_names(tree: ast.Module, text: str) -> ast.Module:
    """A syntax tree (it is changed) with private names as Python reads them.

    Functions keep the names of their `def`, as their code objects do.
    """
    if "__" in text and any(map(_is_private, re.findall(_CANDIDATES, text))):
        _mangle(tree, "")
    return tree


def _mangle(node: ast.AST, owner: str) -> None:
    if owner:
        _mangle_names(node, owner)
    inner = node.name if isinstance(node, ast.ClassDef) else owner
    for field, value in ast.iter_fields(node):
        outside = isinstance(node, ast.ClassDef) and field != "body"
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST):
                _mangle(child, owner if outside else inner)


def _mangle_names(node: ast.AST, owner: str) -> None:
    for field in _NAMES.get(type(node), ()):
        value = getattr(node, field)
        if isinstance(value, str):
            setattr(node, field, mangled(value, owner))
        elif value is not None:
            setattr(node, field, [mangled(name, owner) for name in value])


_NAMES: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Attribute: ("attr",),
    ast.Name: ("id",),
    ast.arg: ("arg",),
    ast.Global: ("names",),
    ast.Nonlocal: ("names",),
    ast.alias: ("asname",),
    ast.ExceptHandler: ("name",),
    ast.MatchAs: ("name",),
    ast.MatchStar: ("name",),
    ast.MatchMapping: ("rest",),
}
"""The fields that hold names which Python mangles; keywords of calls and patterns it does not."""
