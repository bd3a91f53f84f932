"""Derivatives of nodes as nodes of the same graph: forward and reverse mode by the table of rules.

A rule's row is called with terms, and what it computes of them are nodes. So a derivative is built of the same
equations as the function, shares what it can with it, and can be differentiated in its turn.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ....errors import GraphError
from ....ir.callers import calling_span
from ....ir.graph import ZERO, Atom, Const, Eqn, Var
from ....ir.renaming import renamed_atom
from ....ops import structure as st
from ....rules.identities.squares import Squares, is_root
from ..needed import missing
from .forward import Forward
from .reverse import backward

if TYPE_CHECKING:
    from ..graph import Graph


def derive(graph: Graph, of: Atom, by: Atom) -> Atom:
    """The derivative of a node by another, in forward mode."""
    by = _variable(by)
    graph.keep_to_the_rules()
    if by not in graph.leaves.values():
        return _number(graph, _slope(graph, _step_by_step(graph, of), by, {}, collects=False), of)
    of = _smooth(graph, of, [by])
    return _number(graph, _slope(graph, of, by, graph.tangents.setdefault(by, {})), of)


def _slope(
    graph: Graph, of: Atom, by: Var, tangents: dict[Var, Atom], *, collects: bool = True
) -> Atom:
    """A derivative, with the derivatives that it needs kept in `tangents`."""
    graph.builder.collects = collects
    if by not in tangents:
        tangents[by] = graph.emit(st.fill, [Const(1), by])
    forward = Forward(graph, of, by, tangents)
    with graph.builder.derivative():
        for eqn in _to_differentiate(graph, of, forward):
            tangents[eqn.outs[0]] = forward.tangent_of(eqn)
    return tangents.get(of, ZERO) if isinstance(of, Var) else ZERO


def _step_by_step(graph: Graph, of: Atom) -> Atom:
    """A node in which derivatives hold the nodes that their functions were computed by.

    Their normal forms have seen through products: that of 1/u, for u = x x, holds no u any more.
    """
    same = dict[Var, Atom]()
    for eqn in missing(graph, of, {}):
        function, orders = graph.recurrences.origin(eqn.outs[0])
        if orders:
            for var in orders:
                function = _slope(graph, function, var, {}, collects=False)
            same[eqn.outs[0]] = function
        else:
            _again(graph, eqn, same)
    return renamed_atom(of, same)


def _to_differentiate(graph: Graph, of: Atom, forward: Forward) -> Iterator[Eqn]:
    """The equations whose tangents a derivative needs, in order."""
    seen, pending = set(forward.tangents), [of]
    while pending:
        var = pending[-1]
        eqn = graph.builder.definition(var)
        if not isinstance(var, Var) or eqn is None or var in seen:
            pending.pop()
            continue
        waiting = [
            atom
            for atom in forward.needs(eqn)
            if atom not in seen and graph.builder.definition(atom) is not None
        ]
        if waiting:
            pending += waiting
        else:
            seen.add(var)
            yield eqn


def gradient(graph: Graph, of: Atom, by: Sequence[Atom]) -> list[Atom]:
    """The derivatives of a node by others, in reverse mode."""
    wanted = [_variable(atom) for atom in by]
    graph.builder.collects = all(var in graph.leaves.values() for var in wanted)
    bars = backward(graph, _smooth(graph, of, wanted), wanted)
    return [_number(graph, bars.get(var, ZERO), var) for var in wanted]


def _smooth(graph: Graph, of: Atom, by: Sequence[Var]) -> Atom:
    """A node in which squares of what has a kink are said without it, if it is differentiated by variables alone."""
    eqns = missing(graph, of, {})
    if not any(map(is_root, eqns)) or not all(var in graph.leaves.values() for var in by):
        return of
    squares, same = Squares(graph.builder, {}), dict[Var, Atom]()
    for eqn in eqns:
        (out,) = eqn.outs
        again = _again(graph, eqn, same)
        if again is None:
            continue
        smooth = squares.smooth(again)
        if smooth is not None:
            same[out] = smooth
        elif (root := squares.root(again)) is not None:
            squares.roots[again.outs[0]] = root
    return renamed_atom(of, same)


def _again(graph: Graph, eqn: Eqn, same: dict[Var, Atom]) -> Eqn | None:
    """An equation of what its operands are now called; None if that is none any more."""
    args = [renamed_atom(arg, same) for arg in eqn.args]
    params = {name: renamed_atom(atom, same) for name, atom in eqn.params.items()}
    if list(eqn.args) == args and dict(eqn.params) == params:
        return eqn
    found = same[eqn.outs[0]] = graph.emit(eqn.op, args, params)
    return graph.builder.definition(found) if isinstance(found, Var) else None


def _variable(atom: Atom) -> Var:
    if isinstance(atom, Const):
        message = f"{atom.value!r} is no variable"
        raise GraphError(message, "Differentiate by a variable or a node.", calling_span())
    return atom


def _number(graph: Graph, atom: Atom, like: Atom) -> Atom:
    """A derivative as a result: a symbolic zero becomes a real one of the right shape."""
    if atom != ZERO:
        return atom
    return Const(0.0) if isinstance(like, Const) else graph.emit(st.zeros, [like])
