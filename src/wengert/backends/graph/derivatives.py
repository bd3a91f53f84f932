"""Derivatives of nodes as nodes of the same graph: forward and reverse mode by the table of rules.

A rule's row is called with terms, and what it computes of them are nodes. So a derivative is built of the same
equations as the function, shares what it can with it, and can be differentiated in its turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...errors import GraphError
from ...ir.callers import calling_span
from ...ir.graph import ZERO, Atom, Const, Var
from ...ops import structure as st
from .evaluation import missing
from .forward import Forward
from .reverse import backward

if TYPE_CHECKING:
    from .graph import Graph


def derive(graph: Graph, of: Atom, by: Atom) -> Atom:
    """The derivative of a node by another, in forward mode."""
    by = _variable(graph, by)
    graph.keep_to_the_rules()
    tangents = graph.tangents.setdefault(by, {})
    if by not in tangents:
        tangents[by] = graph.emit(st.fill, [Const(1), by])
    forward = Forward(graph, tangents)
    with graph.builder.derivative():
        for eqn in missing(graph, of, tangents):
            tangents[eqn.outs[0]] = forward.tangent_of(eqn)
    dot = tangents.get(of, ZERO) if isinstance(of, Var) else ZERO
    return _number(graph, dot, of)


def gradient(graph: Graph, of: Atom, by: Sequence[Atom]) -> list[Atom]:
    """The derivatives of a node by others, in reverse mode."""
    wanted = [_variable(graph, atom) for atom in by]
    bars = backward(graph, of, wanted)
    return [_number(graph, bars.get(var, ZERO), var) for var in wanted]


def _variable(graph: Graph, atom: Atom) -> Var:
    if isinstance(atom, Const):
        message = f"{atom.value!r} is no variable"
        raise GraphError(message, "Differentiate by a variable or a node.", calling_span())
    return atom


def _number(graph: Graph, atom: Atom, like: Atom) -> Atom:
    """A derivative as a result: a symbolic zero becomes a real one of the right shape."""
    if atom != ZERO:
        return atom
    return Const(0.0) if isinstance(like, Const) else graph.emit(st.zeros, [like])
