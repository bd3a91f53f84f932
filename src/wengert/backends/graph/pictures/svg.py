"""Graphs as SVG: drawn here, so that nothing needs to be installed, and animated in one layout."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ....errors import BadArgument, NoPicture
from ....ir.callers import calling_span
from ....ir.graph import Var
from .dot import Picture, to_dot, values_text
from .layout import Box, Layout, layout

if TYPE_CHECKING:
    from ..term import Term

SECONDS = 0.8
"""How long each frame of an animation is shown."""

_STYLE = (
    "text{font:13px ui-monospace,Menlo,Consolas,monospace;text-anchor:middle;fill:#1b1b1b}"
    "text.small{font-size:10px;fill:#555}"
    ".node{fill:#f4f6fb;stroke:#4a5a78}.leaf{fill:#e8f5e9;stroke:#3c7a45}"
    ".result{stroke-width:2.5}.lit{fill:#ffe08a}.back{fill:#b9dcff}.edge{fill:none;stroke:#8a93a6}"
    ".later{opacity:.25}.now{fill:none;stroke:#d9480f;stroke-width:3}"
)


class Frame(NamedTuple):
    """What one frame of an animation shows: the node that is visited, with a word about it."""

    node: Var
    note: str
    classes: str = "lit"


def to_svg(
    terms: Sequence[Term], *, show_values: bool = False, highlights: Iterable[Term] = ()
) -> str:
    """A picture of the graph of some terms.

    Args:
        terms: of one graph.
        show_values: write the value and the gradient of each node under it.
        highlights: terms whose nodes are filled.
    """
    picture = Picture(terms)
    notes = {
        var: values_text(picture.graph, var, 4).replace(", grad", "\ngrad") if show_values else ""
        for var in picture.nodes
    }
    plan = layout(
        picture, lambda var: f"{picture.label(var)}\n{notes[var]}", 70 if show_values else 44
    )
    lit = picture.atoms_of(highlights)
    parts = [edge(boxes) for boxes in plan.edges]
    for var in picture.nodes:
        classes = _classes(picture, var, terms) + (" lit" if var in lit else "")
        parts.append(node(plan.boxes[var], picture.label(var), classes))
        parts.append(note(plan.boxes[var], notes[var]))
    return page(plan, parts)


def to_animated_svg(
    terms: Sequence[Term], of: Sequence[Literal["eval", "backprop", "derive"]] = ("eval",)
) -> str:
    """Frames of a graph at work, in one layout, so that no node moves from frame to frame.

    Args:
        terms: of one graph, whose variables have values for "eval" and "backprop"; for "derive" a term and
            its derivatives, which appear in this order.
        of: the sweeps, one after the other: "eval" lights each node as it gets its value, "backprop" as it
            gets its gradient, "derive" shows the nodes that each term adds.

    Raises:
        BadArgument: there is no such sweep.
        GraphError: a variable has no value.
    """
    picture = Picture(terms)
    plan = layout(picture, lambda var: f"{picture.label(var)}\n{'-' * 12}", 58)
    frames = [frame for sweep in of for frame in _frames(picture, terms, sweep)]
    total = max(len(frames), 1) * SECONDS
    boxes = plan.boxes
    parts = [edge(passed) for passed in plan.edges]
    parts += [
        node(boxes[var], picture.label(var), _classes(picture, var, terms)) for var in picture.nodes
    ]
    if "derive" in of:  # what is made later is pale till then
        parts = ['<g class="later">', *parts, "</g>"]
    for k, frame in enumerate(frames):
        box = boxes[frame.node]
        classes = f"{_classes(picture, frame.node, terms)} {frame.classes}"
        lit = node(box, picture.label(frame.node), classes) + note(box, frame.note)
        if "derive" in of:
            lit = "".join(edge(passed) for passed in plan.edges if passed[-1] is box) + lit
        parts.append(_shown(k, len(frames), total, lit))
        parts.append(_shown(k, len(frames), total, _frame(box, "now"), only=True))
    return page(plan, parts)


def _frames(picture: Picture, terms: Sequence[Term], sweep: str) -> list[Frame]:
    graph = picture.graph
    frames: list[Frame] = []
    if sweep == "eval":
        for term in terms:
            term.eval()
        return [Frame(v, f"{graph.known_value(v):.4g}") for v in picture.nodes]
    if sweep == "backprop":
        terms[-1].backprop()
        visited = [v for v in reversed(picture.nodes) if v in graph.gradients]
        return [Frame(v, f"\ngrad {graph.gradients[v]:.4g}", "back") for v in visited]
    if sweep == "derive":
        seen: set[Var] = set()
        for order, term in enumerate(terms):
            new = [var for var in Picture([term]).nodes if var not in seen]
            frames += [Frame(var, f"order {order}") for var in new]
            seen.update(new)
        return frames
    message = f"no sweep is called {sweep!r}"
    raise BadArgument(message, 'Say "eval", "backprop" or "derive".', calling_span())


def to_png(terms: Sequence[Term], **options: Any) -> bytes:
    """The picture that Graphviz makes of `to_dot`, as a PNG file.

    Args:
        terms: of one graph.
        options: those of `to_dot`.

    Raises:
        NoPicture: Graphviz is not installed.
    """
    program = shutil.which("dot")
    if program is None:
        raise NoPicture(
            "a PNG is laid out by Graphviz's `dot`, which is not installed",
            "Install Graphviz (its package is called `graphviz`), or use `to_svg()`, which needs nothing.",
        )
    text = to_dot(terms, **options).encode()
    return subprocess.run([program, "-Tpng"], input=text, capture_output=True, check=True).stdout


# --- parts --------------------------------------------------------------------------------


def _classes(picture: Picture, var: Var, results: Sequence[Term]) -> str:
    kind = "leaf" if picture.eqn(var) is None else "node"
    return f"{kind} result" if any(term.atom is var for term in results) else kind


def node(box: Box, label: str, classes: str) -> str:
    """A box with a label."""
    text = f'<text x="{box.x:.1f}" y="{box.y + 4.5:.1f}">{escape(label)}</text>'
    return _frame(box, classes) + text


def _frame(box: Box, classes: str) -> str:
    x, y = box.x - box.width / 2, box.y - box.height / 2
    rounded = 15 if "leaf" in classes else 4
    return (
        f'<rect class="{classes}" x="{x:.1f}" y="{y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="{rounded}"/>'
    )


def note(box: Box, text: str) -> str:
    """Small lines of text under a node."""
    top = box.y + box.height / 2 + 11
    return "".join(
        f'<text class="small" x="{box.x:.1f}" y="{top + 11 * k:.1f}">{escape(line)}</text>'
        for k, line in enumerate(text.split("\n"))
    )


def edge(boxes: Sequence[Box], arrow: str = "arrow") -> str:
    """A smooth line through the places that an edge passes; `arrow` is the name of its end."""
    first, last = boxes[0], boxes[-1]
    x, y = first.x + first.width / 2, first.y
    path = [f"M{x:.1f} {y:.1f}"]
    ends = [(box.x, box.y) for box in boxes[1:-1]] + [(last.x - last.width / 2 - 3, last.y)]
    for to_x, to_y in ends:
        bend = (to_x - x) / 2
        path.append(f"C{x + bend:.1f} {y:.1f} {to_x - bend:.1f} {to_y:.1f} {to_x:.1f} {to_y:.1f}")
        x, y = to_x, to_y
    return f'<path class="edge" marker-end="url(#{arrow})" d="{" ".join(path)}"/>'


def _shown(k: int, count: int, total: float, content: str, *, only: bool = False) -> str:
    """Content that is seen from its frame on until the sweep begins again, or in that frame only."""
    start, end = max(k / count, 0.0001), (k + 1) / count
    ends = only and end < 1
    values, times = ("0;1;0", f"0;{start:.4f};{end:.4f}") if ends else ("0;1", f"0;{start:.4f}")
    return (
        f'<g opacity="0">{content}<animate attributeName="opacity" calcMode="discrete" '
        f'dur="{total:.1f}s" repeatCount="indefinite" values="{values}" keyTimes="{times}"/></g>'
    )


def page(plan: Layout, parts: Iterable[str], arrow: str = "arrow") -> str:
    """A picture of its parts, as large as a layout; `arrow` is what its edges call their ends."""
    boxes = [*plan.boxes.values(), *(box for passed in plan.edges for box in passed)]
    width = max((box.x + box.width / 2 for box in boxes), default=0.0) + 20
    height = max((box.y + box.height / 2 for box in boxes), default=0.0) + 40
    marker = (
        f'<marker id="{arrow}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="#8a93a6"/></marker>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-20 -10 {width + 20:.0f} {height + 10:.0f}" '
        f'width="{width + 20:.0f}" height="{height + 10:.0f}"><style>{_STYLE}</style>'
        f"<defs>{marker}</defs>{''.join(parts)}</svg>\n"
    )


def to_html(terms: Sequence[Term]) -> str:
    """A page that shows some terms: each written out, and the graph of all of them."""
    rows = "".join(f"<li><code>{escape(str(term))}</code></li>" for term in terms)
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>wengert graph</title>'
        "<style>body{font:15px system-ui,sans-serif;margin:2rem;max-width:100%}"
        "code{white-space:pre-wrap}figure{margin:1rem 0;overflow-x:auto}</style></head>"
        f"<body><h1>Graph</h1><ol>{rows}</ol><figure>{to_svg(terms)}</figure>"
        f"<p>{len(Picture(terms).nodes)} nodes.</p></body></html>\n"
    )
