"""Derivatives for variables of other kinds than was said: the terms are written anew over such variables.

Whether a variable is a number or an array decides what a derivative looks like: where a one has a shape,
where a cotangent is summed over what broadcasting repeated. A graph is built before its values are known; if
they turn out to be arrays, what the user wrote is replayed in a graph whose variables are arrays, once for
each combination of kinds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.graph import Const, Var
from ...ir.types import Kind
from ...ops.dispatch.lookup import equivalent_of
from .equivalents import written_out
from .held import terms_in

if TYPE_CHECKING:
    from .graph import Graph
    from .term import Term


def replayed(term: Term, kinds: Mapping[Var, Kind]) -> Term:
    """The same term in a graph whose variables have these kinds; the term itself if its graph's have."""
    if all(var.kind == kind for var, kind in kinds.items()):
        return term
    graph = _graph_of(term.graph, kinds)
    made = graph.replays
    pending = [term]
    while pending:
        each = pending[-1]
        if id(each) in made:
            pending.pop()
            continue
        waiting = [part for part in _parts(each) if id(part) not in made]
        if waiting:
            pending.extend(waiting)
        else:
            made[id(each)] = (each, _again(each, graph))
    return made[id(term)][1]


def _graph_of(graph: Graph, kinds: Mapping[Var, Kind]) -> Graph:
    key = tuple(kinds.values())
    other = graph.specialised.get(key)
    if other is None:
        other = graph.specialised[key] = type(graph)(graph.simplify)
    for name, var in graph.leaves.items():
        if name not in other.leaves:
            other.leaves[name] = Var(kinds.get(var, var.kind), name)
    other.constants.update(graph.constants)
    return other


def _parts(term: Term) -> Iterator[Term]:
    """The terms that a term was written with."""
    match term.origin:
        case ("op" | "call", _, operands, options, *_):
            yield from terms_in((*operands, *options.values()))
        case ("derive", source, variable):
            yield from (source, variable)
        case ("gradient", source, variables, _):
            yield from (source, *variables)
        case _:
            return


def _again(term: Term, graph: Graph) -> Term:
    """A term of another graph whose parts have been written there already."""

    def there(value: Any) -> Any:
        if isinstance(value, type(term)):
            return graph.replays[id(value)][1]
        if isinstance(value, (list, tuple)):
            return type(value)(map(there, value))
        return value

    match term.origin:
        case ("variable", name):
            return graph.variables(name)[0]
        case ("op", op, operands, options):
            return term.__compute_op__(
                op, there(operands), {k: there(v) for k, v in options.items()}
            )
        case ("call", function, operands, options, path):
            named = {name: there(value) for name, value in options.items()}
            equivalent = equivalent_of(function)
            assert equivalent is not None
            result = written_out(graph, function, equivalent, there(operands), named)
            for k in path:
                result = result[k]
            return result
        case ("derive", source, variable):
            return there(source).derive(there(variable))
        case ("gradient", source, variables, k):
            return there(source).gradient(*map(there, variables))[k]
        case _:
            assert isinstance(term.atom, Const)
            return type(term)(graph, term.atom)


def variables_of(terms: Sequence[Term]) -> list[str]:
    """The names of the variables that some terms were written with, in the order they were made.

    Those of a derivative are those of what it is the derivative of: for arrays it may need them all.
    """
    names: set[str] = set()
    seen: set[int] = set()
    pending = list(terms)
    while pending:
        term = pending.pop()
        if id(term) not in seen:
            seen.add(id(term))
            pending.extend(_parts(term))
            if term.origin[:1] == ("variable",):
                names.add(term.origin[1])
    return [name for name in terms[0].graph.leaves if name in names]
