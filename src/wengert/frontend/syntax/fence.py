"""What is refused, and how it is said: every unsupported construct of a function at once."""

from __future__ import annotations

import ast

from ...errors import Finding, UnsupportedSyntax
from ...ir.graph import Span

CHANGES_IN_PLACE = "changes an object in place, which cannot be differentiated yet"
_NEW_CONTAINER = (
    "Build a new value instead: `np.where`, `np.concatenate`, a list comprehension, `[*items, x]`,\n"
    "`{**d, key: x}`; or move the change out of the differentiated function."
)
_NEW_OBJECT = (
    "Build a new object instead, such as a dataclass with the new value: `Point(x=..., y=p.y)`;\n"
    "or move the change out of the differentiated function."
)
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.TryStar: (
        "`try` … `except*` cannot be differentiated",
        "Test the condition with `if` instead of catching the exceptions.",
    ),
    ast.AsyncFor: (
        "`async for` cannot be differentiated",
        "Collect the items outside, pass them in, and loop over them with a plain `for`.",
    ),
    ast.AsyncWith: (
        "`async with` cannot be differentiated",
        "Put it around the call of the derivative instead.",
    ),
    ast.AsyncFunctionDef: (
        "`async def` cannot be differentiated",
        "Write a plain `def`; await what it needs outside and pass it in.",
    ),
    ast.ClassDef: (
        "a class that a differentiated function defines is not read",
        "Define the class outside of the function.",
    ),
    ast.Await: ("`await` cannot be differentiated", "Await the value outside and pass it in."),
    ast.Delete: (
        "`del` cannot be differentiated yet",
        "Build a new container without the item; a name can be left as it is.",
    ),
}


def explain(node: ast.AST) -> tuple[str, str]:
    """Why a construct is refused, and the way out."""
    match node:
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute() as target, *_]):
            return explain(target)
        case ast.AugAssign(target=ast.Subscript() | ast.Attribute() as target):
            return explain(target)
        case ast.Subscript():
            return f"assignment to an item {CHANGES_IN_PLACE}", _NEW_CONTAINER
        case ast.Attribute():
            return f"assignment to an attribute {CHANGES_IN_PLACE}", _NEW_OBJECT
        case _:
            known = _REFUSED.get(type(node))
            name = type(node).__name__
            return known or (f"`{name}` cannot be differentiated", "Write it in another way.")


def refused(node: ast.AST, file: str) -> UnsupportedSyntax:
    """The error for a whole function that is refused."""
    message, hint = explain(node)
    return UnsupportedSyntax(message, hint, _span(node, file, getattr(node, "name", "")))


def findings(root: ast.AST, file: str) -> list[Finding]:
    """Every construct inside a function that is refused by its syntax alone."""
    found: list[Finding] = []
    name = getattr(root, "name", "lambda")
    stack: list[tuple[str, ast.AST]] = [(name, node) for node in ast.iter_child_nodes(root)]
    while stack:
        name, node = stack.pop()
        if type(node) in _REFUSED:
            message, hint = explain(node)
            found.append(Finding(message, hint, _span(node, file, name)))
        else:
            name = node.name if isinstance(node, ast.FunctionDef) else name
            stack.extend((name, child) for child in ast.iter_child_nodes(node))
    found.sort(key=lambda f: (f.span.line, f.span.column) if f.span else (0, 0))
    return found


def _span(node: ast.AST, file: str, function: str) -> Span:
    """The whole construct, but of a block only its first line."""
    line: int = node.lineno  # type: ignore[attr-defined]
    column: int = node.col_offset  # type: ignore[attr-defined]
    end: int = node.end_col_offset or column + 1  # type: ignore[attr-defined]
    if node.end_lineno != line:  # type: ignore[attr-defined]
        end = column + _KEYWORD_LENGTH.get(type(node), 1)
    return Span(file, line, column, line, end, function)


_KEYWORD_LENGTH: dict[type[ast.AST], int] = {
    ast.Try: 3,
    ast.TryStar: 3,
    ast.With: 4,
    ast.ClassDef: 5,
    ast.AsyncFunctionDef: 9,
    ast.AsyncFor: 9,
    ast.AsyncWith: 10,
}
