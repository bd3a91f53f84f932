"""Graphs as text for drawing programs: Graphviz's DOT, and Mermaid."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ....ir.graph import Atom, Const, Eqn, Var
from ..needed import missing
from .text import ATOM, SYMBOLS, Text, expression, in_python, leaf, rendered

if TYPE_CHECKING:
    from ..graph import Graph
    from ..term import Term


class Picture:
    """The nodes of some terms, numbered, with what is to be said of each."""

    def __init__(self, terms: Sequence[Term]):
        self.graph: Graph = terms[0].graph
        self.atoms_of(terms)
        found: dict[Var, None] = {}
        for term in terms:
            for eqn in missing(self.graph, term.atom, {}):
                found.update(dict.fromkeys(a for a in eqn.operands() if isinstance(a, Var)))
                found[eqn.outs[0]] = None
            if isinstance(term.atom, Var):
                found[term.atom] = None
        self.nodes = sorted(found, key=lambda var: var.born)
        self.number = {var: k for k, var in enumerate(self.nodes)}

    def atoms_of(self, terms: Iterable[Term]) -> set[Atom]:
        """The nodes of some terms of the same graph.

        Raises:
            BadArgument: one is no term.
            GraphError: one is of another graph.
        """
        return {self.graph.atom_of_term(term) for term in terms}

    def eqn(self, var: Var) -> Eqn | None:
        """The equation of a node; None of a variable."""
        return self.graph.builder.definition(var)

    def parents(self, var: Var) -> list[Var]:
        """The nodes that one is computed from."""
        eqn = self.eqn(var)
        return [] if eqn is None else [arg for arg in eqn.operands() if isinstance(arg, Var)]

    def label(self, var: Var, *, expressions: bool = False) -> str:
        """What a node is called: a variable by its name, an operation by its symbol with its literals."""
        eqn = self.eqn(var)
        if eqn is None:
            return leaf(var)[0]
        if expressions:
            return expression(self.graph, var)
        return rendered([eqn], var, _with_places)[0]


def _with_places(eqn: Eqn, parts: list[Text]) -> Text:
    """An operation by its symbol; with literals, written out with a dot for each operand that is a node."""
    if not any(isinstance(arg, Const) for arg in eqn.args):
        return SYMBOLS.get(eqn.op.name, eqn.op.name), ATOM
    pairs = zip(eqn.args, parts, strict=True)
    return in_python(eqn, [part if isinstance(arg, Const) else ("·", ATOM) for arg, part in pairs])


def to_dot(
    terms: Sequence[Term],
    *,
    show_values: bool = False,
    vertical: bool = False,
    highlights: Iterable[Term] = (),
    connect_to: Iterable[Term] = (),
    output_node: bool = False,
    output_term: bool = False,
    precision: int | None = None,
) -> str:
    """The graph of some terms in Graphviz's language.

    Args:
        terms: of one graph.
        show_values: write the value and the gradient of each node under its name.
        vertical: draw from top to bottom, not from left to right.
        highlights: terms whose nodes are filled.
        connect_to: terms that the result is connected with by dotted lines.
        output_node: draw the results with a double border.
        output_term: label nodes with whole expressions, not with their operation.
        precision: how many digits of values to show; all by default.
    """
    picture = Picture([*terms, *connect_to])
    marked = picture.atoms_of(highlights)
    outputs = {term.atom for term in terms}
    lines = ["digraph G {", f'rankdir="{"TB" if vertical else "LR"}";', "newrank=true;"]
    for var in picture.nodes:
        text = picture.label(var, expressions=output_term)
        if show_values:
            text += "\n" + values_text(picture.graph, var, precision)
        style = ' style=filled fillcolor="#ffe08a"' if var in marked else ""
        style += " peripheries=2" if output_node and var in outputs else ""
        shape = "rect" if picture.eqn(var) is not None else "ellipse"
        lines.append(f"a{picture.number[var]} [label={_quoted(text)} shape={shape}{style}];")
    for var in picture.nodes:
        number = picture.number
        lines += [f"a{number[parent]} -> a{number[var]};" for parent in picture.parents(var)]
    for term in connect_to:
        ends = (picture.number[atom] for atom in outputs if isinstance(atom, Var))
        if isinstance(term.atom, Var):
            there = picture.number[term.atom]
            lines += [f"a{end} -> a{there} [style=dotted];" for end in ends]
    return "\n".join([*lines, "}"]) + "\n"


def values_text(graph: Graph, var: Var, precision: int | None) -> str:
    """`data:2.0, grad:1.0`, as far as they are known."""
    data = graph.known_value(var)
    return f"data:{_shown(data, precision)}, grad:{_shown(graph.gradients.get(var), precision)}"


def _shown(value: Any, precision: int | None) -> str:
    if isinstance(value, np.ndarray):
        return np.array2string(value, precision=precision, separator=", ", threshold=6)
    if precision is not None and isinstance(value, (int, float, np.floating)):
        return f"{value:.{precision}g}"
    return str(value)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def to_mermaid(terms: Sequence[Term]) -> str:
    """The graph of some terms as a Mermaid flow chart, which GitHub and many editors draw."""
    picture = Picture(terms)
    lines = ["flowchart LR"]
    for var in picture.nodes:
        text = picture.label(var).replace('"', "#quot;")
        opening, closing = ("([", "])") if picture.eqn(var) is None else ("[", "]")
        lines.append(f'    a{picture.number[var]}{opening}"{text}"{closing}')
    for var in picture.nodes:
        number = picture.number
        lines += [f"    a{number[p]} --> a{number[var]}" for p in picture.parents(var)]
    return "\n".join(lines) + "\n"
