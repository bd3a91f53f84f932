"""A page that shows a program beside its derivative, line by line, and what both give at a point."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ...backends.python import joint_source
from ...compile.calling import argument_names
from ...compile.derived import Derived
from ...ir.graph import Function
from ...ir.records import record
from .. import gradients
from ..linear_maps import pullback
from . import at_point, graph, notes
from .lines import Line, as_tree, of_ir, of_printed, of_source, tie_the_rest
from .reading import Source, first_line, sources


def page(f: Callable[..., Any], *args: Any) -> str:
    """A page, complete in itself, about a function and its derivative.

    Args:
        f: a function; methods and lambdas as well.
        *args: the point that the page is about; without them the code is shown alone.

    Returns:
        HTML: all functions that were read, by file, with reverse mode, forward mode and the IR beside them
        (a click on a line marks the lines of the other side that belong to it, and shows them); with arguments
        also the value and the derivatives, what each line computes, where NaN or an infinity came up first,
        and the graph of what this call computes, where it is small.

    Raises:
        WengertError: the function cannot be differentiated.

    >>> import wengert as wg
    >>> from wengert.api.exploring import page
    >>> "y_bar * x" in page(lambda x: x * x, 3.0)
    True
    """
    explored = explore(f, *args)
    values = _at_point(explored, f, args) if args else {}
    return _written(explored, getattr(f, "__name__", type(f).__name__), values)


@record
class Explored:
    """What a page shows of a function.

    Attributes:
        sources: the files that were read, with the lines of them that are shown.
        generated: reverse mode, forward mode and the IR, by their title.
        helpers: what these need besides, by the same titles.
        adjoint: the derivative that stands behind reverse mode.
        program: what stands behind the IR.
    """

    sources: tuple[tuple[Source, list[Line]], ...]
    generated: Mapping[str, list[Line]]
    helpers: Mapping[str, str]
    adjoint: Derived
    program: Function


def explore(f: Callable[..., Any], *args: Any) -> Explored:
    """What a page about a function shows."""
    adjoint = gradients.adjoint_of(f, *args)
    tangent = gradients.tangent_of(f, *args)
    program = gradients.ir_of(f, *args)
    generated = {
        "Reverse": of_printed(adjoint.printed, "r"),
        "Forward": of_printed(tangent.printed, "f"),
        "As read": of_ir(program, "i"),
    }
    helpers = {"Reverse": _helpers(adjoint), "Forward": _helpers(tangent)}
    places = [place for lines in generated.values() for line in lines for place in line.origins]
    read = sources(f, adjoint, places)
    for lines in generated.values():
        tie_the_rest(lines, read, first_line(f))
    shown = tuple((source, of_source(source, f"s{k}")) for k, source in enumerate(read))
    return Explored(shown, generated, helpers, adjoint, program)


def _helpers(derived: Derived) -> str:
    """What generated functions need besides, which stands before them."""
    source = joint_source(derived.printed)
    for text in derived.printed[0].definitions.values():
        return source[: source.index(text)].strip()
    return ""


def _at_point(explored: Explored, f: Callable[..., Any], args: Sequence[Any]) -> dict[str, str]:
    """The panes about the values at a point; the lines get what they compute there."""
    panes = {source.file: lines for source, lines in explored.sources}
    value, _ = pullback(f, *args)
    run = notes.run_of_program(f, args, [source for source, _ in explored.sources])
    said = [*notes.of_arguments(argument_names(f, len(args)), args)]
    said += [*notes.annotate(panes, run, "in the run"), notes.ended_early(run)]
    back = notes.run_of_derivative(explored.adjoint, f, args, value)
    if back is not None:
        reverse = explored.generated["Reverse"]
        said += notes.annotate({notes.DERIVATIVE: reverse}, back, "in the derivative")
        notes.add_cotangents(panes, reverse, back)
    anchors = {
        place: line.anchor for lines in panes.values() for line in lines for place in line.origins
    }
    unrolled = at_point.graph(f, args)
    below = f"<h2>what this call computes, in one</h2>{unrolled}" if unrolled else ""
    orders = at_point.by_orders(f, args) if unrolled else ""
    pictures = graph.pictures(explored.program, run, anchors, orders) + below
    return {"": "".join(said), "Values": at_point.table(f, args), "Graph": pictures}


# --- the page -----------------------------------------------------------------------------


def _written(explored: Explored, name: str, values: Mapping[str, str]) -> str:
    files = {source.file: k for k, (source, _) in enumerate(explored.sources)}
    left = "".join(_file(source, lines, files) for source, lines in explored.sources)
    codes = {
        title: _code(as_tree(lines, files), title, explored.helpers.get(title, ""))
        for title, lines in explored.generated.items()
    }
    panels = {**codes, **{title: html for title, html in values.items() if title}}
    return _TEMPLATE.format(
        name=escape(name),
        style=_text("page.css"),
        script=_text("page.js"),
        said=values.get("", ""),
        tabs="".join(_tabs(panels)),
        left=left or "<p>The source is not there.</p>",
        panels="".join(_panels(panels)),
    )


def _file(source: Source, lines: list[Line], files: Mapping[str, int]) -> str:
    title = escape(source.title)
    number = f"{files[source.file] + 1}: " if len(files) > 1 else ""
    tree = f'<div role="tree" aria-label="{title}">{as_tree(lines, files)}</div>'
    ours = source.is_ours
    heading = f"{title}, which wengert brings" if ours else title
    return f"<details{'' if ours else ' open'}><summary>{number}{heading}</summary>{tree}</details>"


def _code(tree: str, title: str, helpers: str) -> str:
    folded = f"<details><summary>what it needs</summary><pre>{escape(helpers)}</pre></details>"
    return f'<div role="tree" aria-label="{escape(title)}">{tree}</div>{folded if helpers else ""}'


def _tabs(panels: Mapping[str, str]) -> Iterator[str]:
    for k, title in enumerate(panels):
        chosen = "true" if k == 0 else "false"
        yield (
            f'<button role="tab" id="tab{k}" aria-controls="panel{k}" aria-selected="{chosen}" '
            f'tabindex="{0 if k == 0 else -1}">{escape(title)}</button>'
        )


def _panels(panels: Mapping[str, str]) -> Iterator[str]:
    for k, html in enumerate(panels.values()):
        hidden = "" if k == 0 else " hidden"
        yield (
            f'<div class="pane" role="tabpanel" id="panel{k}" aria-labelledby="tab{k}"{hidden}>'
            f"{html}</div>"
        )


def _text(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


_TEMPLATE = """\
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{name} and its derivative</title>
<style>
{style}</style></head>
<body>
<header>
<h1><code>{name}</code> and its derivative</h1>
<div role="tablist" aria-label="what stands on the right">{tabs}</div>
<label><input type="checkbox" id="together" checked> scroll together</label>
<label><input type="checkbox" id="values" checked> values</label>
<button id="fold" aria-pressed="false">fold loops</button>
{said}
</header>
<main>
<div class="pane" role="region" aria-label="the program">{left}</div>
<div class="split" role="separator" aria-orientation="vertical"></div>
{panels}
</main>
<footer aria-live="polite">A click or Enter on a line shows what goes with it on the other side;
arrow keys move and fold.</footer>
<script>
{script}</script>
</body></html>
"""
