"""The program as a graph of its equations: one picture for each block, in which loops and branches are nodes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from ...backends.graph.pictures.layout import layout
from ...backends.graph.pictures.svg import edge, node, note, page
from ...ir.graph import Block, Const, Eqn, Function, Var, walk
from ...ir.notation import BINARY, UNARY, constant_text
from ...ir.records import record
from ...ir.types import is_differentiable
from ...ir.values import COMMENT, FOR, IF, TRY, WHILE, Atom
from ...ops.structure import global_
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
    """A block to be drawn: what it is called, which view it is opened from, and its number there."""

    title: str
    block: Block
    inside: int | None


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


def pictures(function: Function, run: Run, anchors: Mapping[tuple[str, int], str]) -> str:
    """All blocks of a program, the outermost shown, with what plays them.

    Args:
        function: the program.
        run: its values.
        anchors: the names of the elements of the lines that equations come from.
    """
    views = list(_views(function))
    numbers = {id(view.block): k for k, view in enumerate(views)}
    drawn = "".join(_drawn(k, view, views, numbers, run, anchors) for k, view in enumerate(views))
    return f'<div class="graphs">{_CONTROLS}{drawn}</div>'


_CONTROLS = """\
<p class="controls"><button data-play="forward">▶ forward</button>
<button data-play="reverse">◀ reverse</button> <button data-step="-1" aria-label="one step back">‹</button>
<button data-step="1" aria-label="one step on">›</button>
<button data-fit aria-pressed="false">fit</button> <output></output></p>"""


def _views(function: Function) -> Iterator[View]:
    """The blocks of a program, each behind the one that it is in."""
    todo: list[View] = [View(function.name, function.body, None)]
    count = 0
    while todo:
        view = todo.pop(0)
        yield view
        for eqn in view.block.eqns:
            for title, block in zip(_BLOCKS.get(eqn.op, ()), eqn.blocks, strict=False):
                if block.eqns:
                    where = "" if eqn.span is None else f", line {eqn.span.line}"
                    todo.append(View(f"{title}{where}", block, count))
        count += 1


def _drawn(
    number: int,
    view: View,
    views: Sequence[View],
    numbers: Mapping[int, int],
    run: Run,
    anchors: Mapping[tuple[str, int], str],
) -> str:
    path: list[str] = []
    at: int | None = view.inside
    while at is not None:
        path.insert(0, f'<button data-open="{at}">{escape(views[at].title)}</button> › ')
        at = views[at].inside
    head = f"<h2>{''.join(path)}{escape(view.title)}</h2>"
    hidden = " hidden" if number else ""
    picture = _picture(view, f"arrow{number}", numbers, run, anchors)
    return f'<div class="view" data-view="{number}"{hidden}>{head}{picture}</div>'


def _picture(
    view: View,
    arrow: str,
    numbers: Mapping[int, int],
    run: Run,
    anchors: Mapping[tuple[str, int], str],
) -> str:
    nodes = _Nodes(view.block)
    if not nodes.eqns or len(nodes.nodes) > LARGEST:
        return f"<p>{len(nodes.nodes)} nodes: too many to draw.</p>" if nodes.eqns else ""
    labels = {var: _label(nodes.eqn.get(var), var) for var in nodes.nodes}
    notes = {var: _value(eqn, run) for var, eqn in nodes.eqn.items()}
    plan = layout(nodes, lambda var: f"{labels[var]}\n{notes.get(var, '')[:22]}", 52)
    parts = [edge(boxes, arrow) for boxes in plan.edges]
    back = _with_cotangents(nodes)
    for var in nodes.nodes:
        eqn = nodes.eqn.get(var)
        classes = "leaf" if eqn is None else "node block" if eqn.blocks else "node"
        classes += " result" if var in nodes.results else ""
        inside = node(plan.boxes[var], labels[var], classes) + note(
            plan.boxes[var], notes.get(var, "")
        )
        parts.append(f"<g{_attributes(eqn, var in back, numbers, anchors)}>{inside}</g>")
    return f"<figure>{page(plan, parts, arrow)}</figure>"


def _attributes(
    eqn: Eqn | None, back: bool, numbers: Mapping[int, int], anchors: Mapping[tuple[str, int], str]
) -> str:
    """What a node leads to: the line that it comes from, the views of its blocks; whether reverse mode visits it."""
    result = ' class="n"' + (' data-back="1"' if back else "") + (' data-on="1"' if eqn else "")
    if eqn is None:
        return result
    anchor = anchors.get((eqn.span.file, eqn.span.line)) if eqn.span is not None else None
    result += f' data-at="{anchor}"' if anchor else ""
    views = [str(numbers[id(block)]) for block in eqn.blocks if id(block) in numbers]
    if views:
        result += f' data-open="{views[-1 if eqn.op is WHILE else 0]}" tabindex="0" role="button"'
    return result


def _with_cotangents(nodes: _Nodes) -> set[Var]:
    """The nodes of numbers that may change that a result is computed from."""
    found = {var for var in nodes.results if is_differentiable(var.kind)}
    for var in reversed(nodes.nodes):
        if var in found:
            found |= {parent for parent in nodes.parents(var) if is_differentiable(parent.kind)}
    return found


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
