"""The functions that were read for a derivative, by file, and the lines of them that a page shows."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NamedTuple

from ... import notebooks
from ...compile.derived import Derived
from ...ir.graph import Span
from ...ir.records import mutable_record

OURS = __file__.rpartition("api")[0]

Place = tuple[str, int]
"""A file, and a line of it that counts from 1."""


@mutable_record
class Source:
    """A file of which functions were read.

    Attributes:
        file: as code objects name it.
        title: what readers call it.
        lines: its text.
        shown: the numbers of the lines of these functions, and of the heads of their classes.
        heads: the first lines of these functions.
    """

    file: str
    title: str
    lines: list[str]
    shown: list[int]
    heads: list[int]

    @property
    def is_ours(self) -> bool:
        """Whether it is wengert that wrote it: in Python, for a function of another library."""
        return self.file.startswith(OURS)


class _Extent(NamedTuple):
    first: int
    last: int
    classes: tuple[int, ...]


def sources(f: Any, derived: Derived, places: Iterable[Place]) -> list[Source]:
    """The files that a derivative was read from: the function's own first, wengert's last.

    Args:
        f: what was differentiated.
        derived: what became of it.
        places: where equations come from: functions that hold one of these lines are shown as well.
    """
    wanted: dict[str, list[int]] = {}
    for code in dict.fromkeys([*_codes_of(f), *_codes_read(derived)]):
        wanted.setdefault(code.co_filename, []).append(code.co_firstlineno)
    for file, line in dict.fromkeys(places):
        wanted.setdefault(file, []).append(line)
    found = [s for s in (_source(file, lines) for file, lines in wanted.items()) if s is not None]
    names = Counter(source.title for source in found)
    for source in found:
        if names[source.title] > 1:
            source.title = "/".join(Path(source.file).parts[-2:])
    return sorted(found, key=lambda source: source.is_ours)


def first_line(f: Any) -> Place | None:
    """Where a function begins."""
    for code in _codes_of(f):
        return code.co_filename, code.co_firstlineno
    return None


def place(span: Span) -> Place:
    """The line where something stands."""
    return span.file, span.line


def _codes_of(f: Any) -> Iterator[CodeType]:
    while isinstance(f, partial):
        f = f.func
    function: Any = inspect.unwrap(f)
    function = getattr(function, "__func__", function)
    called: Any = function if hasattr(function, "__code__") else type(function).__call__
    code = getattr(called, "__code__", None)
    if isinstance(code, CodeType):
        yield code


def _codes_read(derived: Derived) -> Iterator[CodeType]:
    """The code that a derivative relies on: it is that of the functions that were read."""
    for holder, key, _ in derived.guards:
        if isinstance(holder, FunctionType) and key == "__code__":
            yield holder.__code__


def _source(file: str, wanted: list[int]) -> Source | None:
    lines = [line.rstrip("\n") for line in linecache.getlines(file)]
    try:
        tree = ast.parse("\n".join(lines))
    except SyntaxError:
        return None
    shown = set[int]()
    heads: list[int] = []
    for line in sorted(set(wanted)):
        extent = None if line in shown else _extent(tree, line)
        if extent is not None:
            heads.append(extent.first)
            shown |= {*range(extent.first, extent.last + 1), *extent.classes}
    if not heads:
        return None
    return Source(file, notebooks.cell(file) or Path(file).name, lines, sorted(shown), heads)


def _extent(tree: ast.Module, line: int) -> _Extent | None:
    """The lines of the outermost function around a line, or of its statement: of a lambda, that is shown."""
    classes: tuple[int, ...] = ()
    body: list[ast.stmt] = tree.body
    while True:
        node = _around(body, line)
        if node is None:
            return None
        inner = [n for n in ast.iter_child_nodes(node) if isinstance(n, ast.stmt)]
        is_function = isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        if is_function or _around(inner, line) is None:
            last = node.end_lineno if is_function or not inner else None
            return _Extent(_begins(node), last or node.lineno, classes)
        if isinstance(node, ast.ClassDef):
            classes = (*classes, node.lineno)
        body = inner


def _around(body: list[ast.stmt], line: int) -> ast.stmt | None:
    return next((n for n in body if _begins(n) <= line <= (n.end_lineno or n.lineno)), None)


def _begins(node: ast.stmt) -> int:
    decorators = getattr(node, "decorator_list", [])
    return min([node.lineno, *(each.lineno for each in decorators)])
