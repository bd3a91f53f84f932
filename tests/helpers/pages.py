"""The examples and tables of README.md and docs/, ready to be run."""

from __future__ import annotations

import contextlib
import io
import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from places import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`]+)`")


@dataclass(frozen=True)
class Example:
    """A block of Python, and the block of text after it, if the next block is one."""

    line: int
    code: str
    shown: str
    span: tuple[int, int] | None
    """Where in the page the shown text stands."""


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def examples(text: str) -> list[Example]:
    """The Python blocks of a page."""
    fences = list(FENCE.finditer(text))
    found: list[Example] = []
    for fence, after in itertools.zip_longest(fences, fences[1:]):
        if fence[1] == "python":
            shown = after if after is not None and after[1] == "text" else None
            line = text.count("\n", 0, fence.start()) + 1
            span = shown.span(2) if shown else None
            found.append(Example(line, fence[2], shown[2] if shown else "", span))
    return found


def outputs(page: Path, folder: Path) -> list[str]:
    """What the examples of a page print; each is a file of its own, all share one namespace."""
    namespace: dict[str, Any] = {"__name__": "example"}
    printed: list[str] = []
    for example in examples(text_of(page)):
        file = folder / str(example.line) / "example.py"
        file.parent.mkdir()
        file.write_text(example.code, encoding="utf-8")
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(example.code, str(file), "exec", dont_inherit=True), namespace)
        printed.append(_tidy(out.getvalue(), file.parent))
    return printed


def _tidy(output: str, folder: Path) -> str:
    """Output as a page shows it: no absolute paths, no empty lines around, no trailing blanks."""
    for root in (folder, ROOT):
        output = output.replace(f"{root}/", "")
    return "".join(line.rstrip() + "\n" for line in output.strip("\n").splitlines())


def with_outputs(text: str, printed: list[str]) -> str:
    """A page that shows what its examples print now."""
    for example, output in zip(examples(text)[::-1], printed[::-1], strict=True):
        if example.span is not None:
            start, end = example.span
            text = text[:start] + output + text[end:]
    return text


def rows(text: str, heading: str) -> Iterator[list[str]]:
    """The cells of the tables of a page whose first column has this heading."""
    inside = False
    for line in text.split("\n"):
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if not cells:
            inside = False
        elif cells[0] == heading:
            inside = True
        elif inside and not set(cells[0]) <= set("-: "):
            yield [cell.replace(r"\|", "|") for cell in cells]


def code_in(cell: str) -> str:
    """The code of a cell; lines are separated by `<br>`."""
    return "\n".join(CODE.findall(cell))
