"""The program as a graph of its equations: one picture for each block, in which loops and branches are nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from ...backends.graph.pictures.layout import layout
from ...backends.graph.pictures.svg import edge, node, note, page
from ...errors import WengertError
from ...ir.graph import Block, Const, Eqn, Function, Var, walk
from ...ir.notation import BINARY, UNARY, constant_text
from ...ir.records import record
from ...ir.types import is_differentiable
from ...ir.values import COMMENT, FOR, IF, TRY, WHILE, Atom
from ...ops.structure import global_
from ...passes.analysis.activity import active
from .values import Run

LARGEST = 300
"""Nodes of a picture that is still drawn."""
LONGEST = 40
_BLOCKS = {
    IF: ("if true", "if false"),
    WHILE: ("the test", "the loop"),
    FOR: ("the loop",),
    TRY: ("the `try`",),
}


@record
class View:
    """A block to be drawn: what it is called, which view it is opened from, and by which equation of that."""

    title: str
    block: Block
    inside: int | None = None
    eqn: Eqn | None = None


@record
class _Page:
    """What pictures are drawn of, and what their nodes lead to.

    Attributes:
        views: the blocks.
        numbers: their numbers.
        back: the values that reverse mode comes to.
        run: the values of a run.
        anchors: the names of the elements of the lines that equations come from.
    """

    views: Sequence[View]
    numbers: Mapping[int, int]
    back: set[Var]
    run: Run
    anchors: Mapping[tuple[str, int], str]


class _Nodes:
    """The nodes of a block: what it computes, and what it reads of what is around it."""

    def __init__(self, block: Block):
        self.eqns = [eqn for eqn in block.eqns if eqn.outs and eqn.op is not COMMENT]
        self._of = {out: eqn.outs[0] for eqn in self.eqns for out in eqn.outs}
        self.eqn = {eqn.outs[0]: eqn for eqn in self.eqns}
        self._read = {eqn.outs[0]: self._operands(eqn) for eqn in self.eqns}
        read = dict.fromkeys(v for vs in self._read.values() for v in vs if v not in self.eqn)
        self.nodes: Sequence[Var] = [*read, *self.eqn]
        self.results = {self._of.get(a, a) for a in block.outs if isinstance(a, Var)}

    def parents(self, var: Var) -> list[Var]:
        return self._read.get(var, [])

    def _operands(self, eqn: Eqn) -> list[Var]:
        """The nodes that an equation reads, what the blocks in it read included."""
        inner = [e for block in eqn.blocks for e in walk(block)]
        own = {out for e in inner for out in e.outs}
        own |= {p for e in (eqn, *inner) for block in e.blocks for p in block.params}
        blocks = [block for e in (eqn, *inner) for block in e.blocks]
        atoms = [
            *(a for e in (eqn, *inner) for a in e.operands()),
            *(a for b in blocks for a in b.outs),
        ]
        found = [self._of.get(a, a) for a in atoms if isinstance(a, Var) and a not in own]
        return list(dict.fromkeys(v for v in found if v is not eqn.outs[0]))


def pictures(
    function: Function, run: Run, anchors: Mapping[tuple[str, int], str], orders: str
) -> str:
    """All blocks of a program, the outermost shown, with what plays them.

    Args:
        function: the program.
        run: its values.
        anchors: the names of the elements of the lines that equations come from.
        orders: another view, of derivatives order by order, if there is one.
    """
    views = list(_views(function))
    numbers = {id(view.block): k for k, view in enumerate(views)}
    whole = _Page(views, numbers, _with_cotangents(function), run, anchors)
    drawn = "".join(_drawn(k, whole) for k in range(len(views)))
    opens = '<button data-open="orders">order by order</button>' if orders else ""
    return f'<div class="graphs">{_CONTROLS.format(opens=opens)}{drawn}{orders}</div>'


_CONTROLS = """\
<p class="controls"><button data-play="forward">▶ forward</button>
<button data-play="reverse">◀ reverse</button> <button data-step="-1" aria-label="one step back">‹</button>
<button data-step="1" aria-label="one step on">›</button>
<button data-fit aria-pressed="false">fit</button> {opens} <output></output></p>"""


def _views(function: Function) -> Iterator[View]:
    """The blocks of a program, each behind the one that it is in."""
    todo: list[View] = [View(function.name, function.body)]
    count = 0
    while todo:
        view = todo.pop(0)
        yield view
        for eqn in view.block.eqns:
            for title, block in zip(_BLOCKS.get(eqn.op, ()), eqn.blocks, strict=False):
                if block.eqns:
                    where = "" if eqn.span is None else f", line {eqn.span.line}"
                    todo.append(View(f"{title}{where}", block, count, eqn))
        count += 1


def _drawn(number: int, whole: _Page) -> str:
    view = whole.views[number]
    path: list[str] = []
    at = view.inside
    while at is not None:
        path.insert(0, f'<button data-open="{at}">{escape(whole.views[at].title)}</button> › ')
        at = whole.views[at].inside
    beside = [
        f' or <button data-open="{k}">{escape(other.title)}</button>'
        for k, other in enumerate(whole.views)
        if view.eqn is not None and other.eqn is view.eqn and other is not view
    ]
    head = f"<h2>{''.join(path)}{escape(view.title)}{''.join(beside)}</h2>"
    hidden = " hidden" if number else ""
    picture = _picture(view, f"arrow{number}", whole)
    return f'<div class="view" data-view="{number}"{hidden}>{head}{picture}</div>'


def _picture(view: View, arrow: str, whole: _Page) -> str:
    nodes = _Nodes(view.block)
    if len(nodes.nodes) > LARGEST:
        return f"<p>{len(nodes.nodes)} nodes: too many to draw.</p>"
    labels = {var: _label(nodes.eqn.get(var), var) for var in nodes.nodes}
    notes = {var: _value(eqn, whole.run) for var, eqn in nodes.eqn.items()}
    plan = layout(nodes, lambda var: f"{labels[var]}\n{notes.get(var, '')[:22]}", 52)
    parts = [edge(boxes, arrow) for boxes in plan.edges]
    for var in nodes.nodes:
        eqn, box = nodes.eqn.get(var), plan.boxes[var]
        classes = "leaf" if eqn is None else "node block" if eqn.blocks else "node"
        classes += " result" if var in nodes.results else ""
        inside = node(box, labels[var], classes) + note(box, notes.get(var, ""))
        back = not whole.back.isdisjoint((var,) if eqn is None else eqn.outs)
        parts.append(f"<g{_attributes(eqn, back, whole)}>{inside}</g>")
    return f"<figure>{page(plan, parts, arrow)}</figure>"


def _attributes(eqn: Eqn | None, back: bool, whole: _Page) -> str:
    """What a node leads to: its line, the views of its blocks; and whether reverse mode visits it."""
    result = ' class="n"' + (' data-back="1"' if back else "") + (' data-on="1"' if eqn else "")
    if eqn is None:
        return result
    place = None if eqn.span is None else whole.anchors.get((eqn.span.file, eqn.span.line))
    result += f' data-at="{place}"' if place else ""
    views = [whole.numbers[id(block)] for block in eqn.blocks if id(block) in whole.numbers]
    if views:
        opened = views[-1 if eqn.op is WHILE else 0]
        result += f' data-open="{opened}" tabindex="0" role="button"'
    return result


def _with_cotangents(function: Function) -> set[Var]:
    """The values, in all blocks, that reverse mode comes to."""
    inputs = [var for var in function.body.params if is_differentiable(var.kind)]
    try:
        return active(
            function.body, inputs, [out for out in function.body.outs if isinstance(out, Var)]
        )
    except WengertError:  # of what a call with these arguments does not ask for
        return set()


def _value(eqn: Eqn, run: Run) -> str:
    """What the run gave an equation's value, where it has the name of a variable."""
    if eqn.span is None or not eqn.outs[0].name:
        return ""
    seen = run.lines.get((eqn.span.file, eqn.span.line), {}).get(eqn.outs[0].name)
    if seen is None:
        return ""
    last = seen.last if isinstance(seen.last, str) else f"{seen.last:.6g}"
    return last[:LONGEST] + (f" ×{seen.turns}" if seen.turns > 1 else "")


def _label(eqn: Eqn | None, var: Var) -> str:
    """What is written on a node: the value's name, and its operation with a dot for each operand."""
    if eqn is None:
        return var.name[:LONGEST] or "·"
    name = f"{var.name} = " if var.name else ""
    if eqn.op is global_:
        return var.name[:LONGEST]
    if eqn.blocks:
        names = ", ".join(dict.fromkeys(out.name for out in eqn.outs if out.name))
        return f"{eqn.op.name}: {names}"[:LONGEST]
    return (name + _operation(eqn))[:LONGEST]


def _operation(eqn: Eqn) -> str:
    texts = [_operand(atom) for atom in eqn.args]
    if eqn.op.name in BINARY and len(texts) == 2:
        return f"{texts[0]} {BINARY[eqn.op.name]} {texts[1]}"
    if eqn.op.name in UNARY and len(texts) == 1:
        return f"{UNARY[eqn.op.name]}{texts[0]}"
    if eqn.op.name == "getitem" and len(texts) == 2:
        return f"{texts[0]}[{texts[1]}]"
    if eqn.op.name == "pack":
        return f"[{', '.join(texts)}]"
    callee = eqn.params.get("callee")
    name = eqn.param("callee").name if isinstance(callee, Const) else eqn.op.name
    return f"{name}({', '.join(texts)})"


def _operand(atom: Atom) -> str:
    return "·" if isinstance(atom, Var) else constant_text(atom.value)[:12]
