"""Functions that were defined under a magic of IPython's, or by `exec`, whose text is in the history of cells."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType
from typing import NamedTuple

from ... import notebooks
from .compiled import defines

_TIMEIT = "<magic-timeit>"
_NAMES = {"<timed exec>", "<timed eval>", _TIMEIT, "<string>"}
_MAGIC = re.compile(
    r"\s*(?:[\w, ]+=\s*)?%(?P<whole>%?)time(?:it)?\b(?:\s+-(?:[nrp]\s*\d+|[tcqov]+|-[a-z-]+))*\s*"
)


class Typed(NamedTuple):
    """The file that stands for a cell, and the code of a function as it stands there."""

    file: str
    code: CodeType


class _Text(NamedTuple):
    """What was compiled, on the lines of its cell; and the lines from which its own are counted."""

    text: str
    begins: tuple[int, ...]


def typed(code: CodeType) -> Typed | None:
    """Where a function was typed that has no file of its own, if that can be found."""
    return _found(code) if code.co_filename in _NAMES and notebooks.shell() else None


@lru_cache(maxsize=256)
def _found(code: CodeType) -> Typed | None:
    for number, cell in notebooks.history():
        for text, begins in _compiled_in(cell, code.co_filename):
            for line in begins:
                there = code.replace(co_firstlineno=code.co_firstlineno + line)
                if _defines(text, there):
                    return Typed(notebooks.registered(number, text), there)
    return None


def _compiled_in(cell: str, name: str) -> Iterator[_Text]:
    """What a cell gives to a magic or to `exec`."""
    lines = cell.split("\n")
    if name == "<string>":
        yield from _executed(cell)
        return
    for k, line in enumerate(lines):
        magic = _MAGIC.match(line)
        if magic and magic["whole"]:
            rest = [line[magic.end() :], *lines[k + 1 :]]
            yield _Text("\n" * k + "\n".join(rest) + "\n", (k + 1, k))
        elif magic:
            yield _Text("\n" * k + line[magic.end() :] + "\n", (k,))


def _executed(cell: str) -> Iterator[_Text]:
    """The literals that a cell gives to `exec`."""
    try:
        tree = ast.parse(cell)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        match node:
            case ast.Call(ast.Name("exec"), [ast.Constant(str(text)), *_]):
                yield _Text(text, (0,))
            case _:
                pass


def _defines(text: str, code: CodeType) -> bool:
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return False
    if code.co_filename == _TIMEIT:  # which times a function with the text as its body
        arguments = ast.arguments([], [], None, [], [], None, [])
        around = ast.FunctionDef("inner", arguments, tree.body or [ast.Pass()], [])
        tree.body = [ast.fix_missing_locations(around)]
    return defines(tree, code)
