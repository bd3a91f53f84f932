"""A page that shows a function beside its derivative, line by line, and what both give at a point."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from ..backends.graph.trace import trace
from ..compile.calling import argument_names
from ..errors import NotScalar, WengertError
from . import gradients
from .jacobians import jacobian
from .linear_maps import pullback

LONGEST_TEXT = 400
LARGEST_GRAPH = 60
"""Nodes of a graph that a reader can still follow."""

_ORIGIN = re.compile(r"#.* (\S+\.py):(\d+)|# (\S+\.py):(\d+)")


def page(f: Callable[..., Any], *args: Any) -> str:
    """A page, complete in itself, about a function and its derivative.

    Args:
        f: a function; methods and lambdas as well.
        *args: the point that the page is about; without them the code is shown alone.

    Returns:
        HTML: the function's source with its derivative beside it (pointing at a line of one marks the lines of
        the other that belong to it), forward mode, the IR; with arguments the value and the derivatives, and
        the graph of what this call computes, where it is small.

    Raises:
        WengertError: the function cannot be differentiated.

    >>> import wengert as wg
    >>> from wengert.api.exploring import page
    >>> "y_bar * x" in page(lambda x: x * x, 3.0)
    True
    """
    file, first, source = _source(f)
    codes = {
        "reverse mode": gradients.code_adjoint(f, *args),
        "forward mode": gradients.code_tangent(f, *args),
        "what wengert reads": gradients.code_ir(f, *args),
    }
    name = getattr(f, "__name__", type(f).__name__)
    panes = [_pane(file, "", _user_lines(source, first))]
    for title, text in codes.items():
        helpers, code = _parted(text)
        panes.append(_pane(title, helpers, _generated_lines(code, file)))
    parts = [f'<div class="panes">{"".join(panes)}</div>']
    if args:
        parts = [_at_point(f, args), *parts, _graph(f, args)]
    return _TEMPLATE.format(name=escape(name), style=_STYLE, script=_SCRIPT, body="".join(parts))


# --- code ---------------------------------------------------------------------------------


def _source(f: Callable[..., Any]) -> tuple[str, int, str]:
    """The name of a function's file, its first line there, and its text."""
    function: Any = inspect.unwrap(f)
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        return "source", 1, ""
    return Path(inspect.getsourcefile(function) or "source").name, first, "".join(lines)


def _user_lines(source: str, first: int) -> Iterator[tuple[str, int | None]]:
    yield from ((line, number) for number, line in enumerate(source.splitlines(), first))


def _generated_lines(text: str, file: str) -> Iterator[tuple[str, int | None]]:
    """Lines with the user's line that they come from: a step's comment stands on its first line."""
    origin: int | None = None
    for line in text.splitlines():
        found = _ORIGIN.search(line)
        if found is not None:
            where, number = (found[1], found[2]) if found[1] else (found[3], found[4])
            origin = int(number) if where == file else None
        elif not line.strip() or line.lstrip().startswith(("#", "def ", "return ", "import ")):
            origin = None
        yield line, origin


def _parted(text: str) -> tuple[str, str]:
    """What generated code needs besides, and the function itself, which stands last."""
    *_, last = re.finditer(r"^(?:def )?\w+\(", text, re.MULTILINE)
    return text[: last.start()].strip(), text[last.start() :]


def _pane(title: str, helpers: str, lines: Iterator[tuple[str, int | None]]) -> str:
    shown = "".join(_line(text, number) for text, number in lines)
    folded = f"<details><summary>what it needs</summary><pre>{escape(helpers)}</pre></details>"
    return f"<section><h2>{escape(title)}</h2><pre>{shown}</pre>{folded * bool(helpers)}</section>"


def _line(text: str, number: int | None) -> str:
    code, mark, comment = text.partition("  # ")
    remark = f"<i>{escape(mark + comment)}</i>" if mark else ""
    origin = "" if number is None else f' data-line="{number}"'
    return f"<span{origin}>{escape(code)}{remark}\n</span>"


# --- values -------------------------------------------------------------------------------


def _at_point(f: Callable[..., Any], args: Sequence[Any]) -> str:
    value, _ = pullback(f, *args)
    names = argument_names(f, len(args))
    try:
        what, slopes = "gradient", list(gradients.gradient(f, *args))
    except NotScalar:
        what, slopes = "Jacobian", [_jacobian(f, k, args) for k in range(len(args))]
    rows = "".join(
        f"<tr><th>{escape(name)}</th><td>{_shown(arg)}</td><td>{_shown(slope)}</td></tr>"
        for name, arg, slope in zip(names, args, slopes, strict=True)
    )
    return (
        f"<p>value: {_shown(value)}</p>"
        f"<table><tr><th>argument</th><th>at</th><th>{what}</th></tr>{rows}</table>"
    )


def _jacobian(f: Callable[..., Any], argnum: int, args: Sequence[Any]) -> Any:
    try:
        return jacobian(f, argnum)(*args)
    except WengertError as refusal:
        return refusal.findings[0].message


def _shown(value: Any) -> str:
    """A value as text; a vector of numbers also as bars, upwards where they are positive."""
    text = repr(value) if isinstance(value, np.ndarray) else str(value)
    if len(text) > LONGEST_TEXT:
        text = f"{text[:LONGEST_TEXT]} …"
    return f"<code>{escape(text)}</code>{_bars(value)}"


def _bars(value: Any) -> str:
    if not (isinstance(value, np.ndarray) and value.ndim == 1 and 2 <= value.size <= 200):
        return ""
    if value.dtype.kind != "f" or not np.all(np.isfinite(value)):
        return ""
    highest = max(float(np.max(np.abs(value))), 1e-300)
    width = max(2, min(16, 320 // value.size))
    bars = "".join(
        f'<rect x="{k * width}" y="{20 - max(size, 0.0):.1f}" width="{width - 1}" '
        f'height="{abs(size):.1f}"/>'
        for k, size in enumerate((value / highest * 20).tolist())
    )
    total = value.size * width
    return f'<br><svg width="{total}" height="40">{bars}<path d="M0 20H{total}" stroke="#8a93a6"/></svg>'


def _graph(f: Callable[..., Any], args: Sequence[Any]) -> str:
    """A picture of what this call computes; nothing where it is no term, or too large to read."""
    try:
        term = trace(f, *args)
        if len(term.graph) > LARGEST_GRAPH:
            return ""
        if np.ndim(term.eval()) == 0:
            term.backprop()
        picture = term.to_svg(show_values=True)
    except Exception:  # of a container, or of a program that asks terms what only numbers can tell
        return ""
    return f"<h2>what this call computes</h2><figure>{picture}</figure>"


# --- the page -----------------------------------------------------------------------------

_STYLE = """\
body{font:15px system-ui,sans-serif;margin:2rem;color:#1b1b1b}
h2{font-size:1rem;color:#4a5a78;margin:1.2rem 0 .4rem}
pre,code{font-family:ui-monospace,Menlo,Consolas,monospace}
pre,td code,p code{font-size:13px}
pre{background:#f7f8fb;border:1px solid #dde2ec;border-radius:6px;padding:.6rem;overflow-x:auto;margin:0}
pre span{display:block;min-height:1.2em;white-space:pre}
pre span[data-line]{cursor:pointer}
pre span.lit{background:#ffe08a}
pre i{color:#8a93a6}
.panes{display:grid;grid-template-columns:repeat(auto-fit,minmax(30rem,1fr));gap:0 1.2rem}
table{border-collapse:collapse}
th,td{text-align:left;vertical-align:top;padding:.3rem .8rem .3rem 0;border-bottom:1px solid #dde2ec}
rect{fill:#4a5a78}
summary{color:#8a93a6;font-size:13px;cursor:pointer;margin:.3rem 0}
figure{margin:0;overflow-x:auto}"""

_SCRIPT = """\
const lines = document.querySelectorAll("span[data-line]");
for (const line of lines) {
  line.addEventListener("mouseenter", () => {
    for (const other of lines)
      other.classList.toggle("lit", other.dataset.line === line.dataset.line);
  });
}"""

_TEMPLATE = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>{name} and its derivative</title><style>
{style}
</style></head>
<body><h1><code>{name}</code> and its derivative</h1>
{body}
<script>
{script}
</script></body></html>
"""
