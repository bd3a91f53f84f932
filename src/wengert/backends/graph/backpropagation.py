"""Gradients as values: the reverse sweep over a graph of its own, kept for the next values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...ir.graph import Atom, Var
from ...runtime import cotangents
from .derivatives.reverse import backward
from .needed import missing
from .nodes import kinds_at
from .specialise import replayed

if TYPE_CHECKING:
    from .graph import Graph
    from .term import Term


def backpropagate(term: Term, environment: dict[Var, Any]) -> Any:
    """Evaluate a term, and leave the gradients of all it depends on in its graph."""
    graph = term.graph
    graph.keep_to_the_rules()
    value = term.value_at(environment)
    copy, there, bars = _sweep(term, environment)
    names = {var: name for name, var in graph.leaves.items()}
    given = {copy.leaves[names[var]]: value for var, value in environment.items()}
    at = copy.evaluation(given)
    graph.gradients, graph.gradients_at = {}, environment
    for var, atom in there.items():
        if isinstance(atom, Var) and atom in bars:
            graph.gradients[var] = at.value(bars[atom])
            graph.visit("backprop", var, graph.gradients[var])
    for var in graph.leaves.values():
        if var in environment and var not in graph.gradients:
            graph.gradients[var] = cotangents.zeros(environment[var])
    return value


def _sweep(
    term: Term, environment: dict[Var, Any]
) -> tuple[Graph, dict[Var, Atom], dict[Var, Atom]]:
    """A copy of the term with its cotangents: the graph, its nodes by the term's, their cotangents."""
    graph = term.graph
    kinds = kinds_at(environment, graph.leaves.values())
    key = (term.atom, *kinds.values())
    found = graph.sweeps.get(key)
    if found is None:
        source = replayed(term, kinds)
        copy, there = _copied(source)
        atom = there[source.atom] if isinstance(source.atom, Var) else source.atom
        if source.graph is not term.graph:
            there = _matched(term, source, there)
        bars = backward(copy, atom, None)
        order = dict(reversed(list(there.items())))
        found = graph.sweeps[key] = (copy, order, bars)
    return found


def _copied(term: Term) -> tuple[Graph, dict[Var, Atom]]:
    """The part of a graph that a term needs, in a graph of its own."""
    graph = term.graph
    copy = type(graph)(graph.simplify)
    there: dict[Var, Atom] = {}
    for name, var in graph.leaves.items():
        copy.leaves[name] = there[var] = Var(var.kind, name)
    for var, value in graph.constants.items():
        copy.constants[var] = value
        there[var] = var
    for eqn in missing(graph, term.atom, {}):
        args = [_there(arg, there) for arg in eqn.args]
        params = {name: _there(atom, there) for name, atom in eqn.params.items()}
        there[eqn.outs[0]] = copy.emit(eqn.op, args, params)
    return copy, there


def _there(atom: Atom, there: dict[Var, Atom]) -> Atom:
    return there[atom] if isinstance(atom, Var) else atom


def _matched(term: Term, source: Term, there: dict[Var, Atom]) -> dict[Var, Atom]:
    """The nodes of a term by those of its replay: what both were computed by."""
    matched: dict[Var, Atom] = {}
    for name, var in term.graph.leaves.items():
        matched[var] = there[source.graph.leaves[name]]
    pairs = [(term.atom, source.atom)]
    while pairs:
        mine, theirs = pairs.pop()
        if not isinstance(mine, Var) or not isinstance(theirs, Var) or mine in matched:
            continue
        a, b = term.graph.builder.definition(mine), source.graph.builder.definition(theirs)
        if theirs in there:
            matched[mine] = there[theirs]
        if a is not None and b is not None and a.op is b.op and len(a.args) == len(b.args):
            pairs.extend(zip(a.args, b.args, strict=True))
    return dict(sorted(matched.items(), key=lambda item: item[0].born))
