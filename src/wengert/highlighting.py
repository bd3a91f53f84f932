"""Python as HTML in colours: in notebooks, and in the pages of `wengert explore`."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterator
from html import escape

_STRING = "|".join(
    rf"{quote}(?:[^\\]|\\.)*?{quote}" for quote in ('"""', "'''", r'"(?!"")', r"'(?!'')")
)
_TOKEN = re.compile(
    rf"""
    (?P<c1>\#[^\n]*)
    |(?P<s1>(?i:[bru]|[rb][br]|f|[rf][rf])?(?:{_STRING}))
    |(?P<mf>(?:0[xXoObB][\da-fA-F_]+|(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d+)?[jJ]?))
    |(?P<name>[^\W\d]\w*)
    """,
    re.VERBOSE | re.DOTALL,
)
_BUILTINS = {name for name in dir(builtins) if not name.startswith("_")}
_COLOURS = """\
.wengert-source .k {color: var(--jp-mirror-editor-keyword-color, #278a3a)}
.wengert-source .nf {color: var(--jp-mirror-editor-def-color, #3d7ede)}
.wengert-source .mf {color: var(--jp-mirror-editor-number-color, #278a6e)}
.wengert-source .s1 {color: var(--jp-mirror-editor-string-color, #c4473f)}
.wengert-source .c1 {color: var(--jp-mirror-editor-comment-color, #7f8c8d); font-style: italic}"""
"""Those of the notebook's editor, light or dark; elsewhere such as can be read on both."""


def highlighted(source: str) -> str:
    """A text in the colours of the notebook."""
    lines = "\n".join(highlighted_lines(source.rstrip("\n")))
    return f'<style>{_COLOURS}</style><div class="wengert-source"><pre>{lines}\n</pre></div>'


def highlighted_lines(source: str) -> list[str]:
    """The lines of a text as HTML.

    Classes are Pygments': `k` keywords, `nf` what is defined, `nb` built-in names, `mf` numbers, `s1` text,
    `c1` comments.
    """
    lines = [""]
    for kind, text in _tokens(source):
        for position, part in enumerate(text.split("\n")):
            if position:
                lines.append("")
            if part:
                shown = escape(part)
                lines[-1] += f'<span class="{kind}">{shown}</span>' if kind else shown
    return lines


def _tokens(source: str) -> Iterator[tuple[str, str]]:
    end, before = 0, ""
    for match in _TOKEN.finditer(source):
        yield "", source[end : match.start()]
        kind, text = match.lastgroup or "", match[0]
        yield (_kind_of_name(text, before) if kind == "name" else kind), text
        end, before = match.end(), text
    yield "", source[end:]


def _kind_of_name(name: str, before: str) -> str:
    if before in ("def", "class"):
        return "nf"
    if keyword.iskeyword(name):
        return "k"
    return "nb" if name in _BUILTINS else ""
