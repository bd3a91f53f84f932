"""Values of nodes: each computed once for one set of values of the variables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import GraphError
from ...ir.graph import Atom, Const, Eqn, Var
from ...ops import structure as st
from ...ops.dispatch.precision import constant_in_precision_of, in_precision_of, is_exact
from .needed import missing

if TYPE_CHECKING:
    from .nodes import Nodes


class Evaluation:
    """The values that nodes have where the variables have certain values."""

    def __init__(self, graph: Nodes, environment: Mapping[Var, Any]):
        self._graph = graph
        self._environment = dict(environment)
        self._known: dict[Var, Any] = dict(environment)
        self._constants = 0
        self._number = next(filter(is_exact, map(_innermost, environment.values())), None)
        """A number of more digits than floats, or of none: literals are to be as exact."""

    def is_at(self, environment: Mapping[Var, Any]) -> bool:
        """Whether the variables have these values; an array may have changed, and counts as another."""
        mine = self._environment
        return (
            environment.keys() == mine.keys()
            and all(
                value is mine[var] or same_number(value, mine[var])
                for var, value in environment.items()
            )
            and not any(hasattr(type(value), "__setitem__") for value in mine.values())
        )

    def value(self, atom: Atom) -> Any:
        """The value of a node.

        Raises:
            GraphError: it depends on a variable that has none.
        """
        if isinstance(atom, Const):
            return atom.value
        if self._constants < len(self._graph.constants):
            self._constants = len(self._graph.constants)
            self._known.update(self._graph.constants)
        for eqn in missing(self._graph, atom, self._known):
            self._compute(eqn)
        if atom not in self._known:
            raise _unset(self._graph, atom, atom)
        return self._known[atom]

    def __contains__(self, var: Var) -> bool:
        return var in self._known

    def _compute(self, eqn: Eqn) -> None:
        (out,) = eqn.outs
        for atom in eqn.operands():
            if isinstance(atom, Var) and atom not in self._known:
                raise _unset(self._graph, atom, out)
        args = [self._of(atom) for atom in eqn.args]
        options = {name: self._of(atom) for name, atom in eqn.params.items()}
        try:
            if eqn.op is st.pack:
                value = tuple(args) if options["form"] == "tuple" else args
            elif self._number is not None and eqn.op.elementwise:
                value = eqn.op(*self._exact(eqn, args), **options)
            else:
                value = eqn.op(*args, **options)
        except Exception as error:
            from .pictures.text import expression

            where = "" if eqn.span is None else f", written at {eqn.span.file}:{eqn.span.line}"
            error.add_note(f"in the node {expression(self._graph, out)}{where}")
            raise
        self._known[out] = value
        self._graph.visit("eval", out, value)

    def _exact(self, eqn: Eqn, args: list[Any]) -> list[Any]:
        """Literals in the precision of the numbers that the graph is evaluated for."""
        if all(isinstance(atom, Const) for atom in eqn.args):
            return [in_precision_of(self._number, arg) for arg in args]
        found: list[Any] = []
        for atom, arg in zip(eqn.args, args, strict=True):
            is_float = isinstance(atom, Const) and type(arg) is float and math.isfinite(arg)
            meant = constant_in_precision_of(self._number, arg) if is_float else None
            found.append(arg if meant is None else meant)
        return found

    def _of(self, atom: Atom) -> Any:
        return atom.value if isinstance(atom, Const) else self._known[atom]


def _innermost(value: Any) -> Any:
    while hasattr(value, "primal"):
        value = value.primal
    return value


def own(value: Any) -> Any:
    """A result that shares no memory with what was given, or with what others are given."""
    if isinstance(value, (list, tuple)):
        items = [own(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return value.copy() if isinstance(value, np.ndarray) else value


def same_number(a: Any, b: Any) -> bool:
    """Whether two values are one and the same number of Python's; an array may have changed."""
    return type(a) is type(b) and is_literal(a) and repr(a) == repr(b)


def is_literal(x: Any) -> bool:
    """Whether a value is a number of Python's own."""
    return type(x) in (int, float, complex)


def _unset(graph: Nodes, var: Var, node: Var) -> GraphError:
    from .pictures.text import expression

    eqn = graph.builder.definition(node)
    return GraphError(
        f"the variable {var.name!r} has no value, and {expression(graph, node)} needs it",
        f"Give it one: `term.eval({var.name}=...)` or `graph.set({var.name}=...)`.",
        None if eqn is None else eqn.span,
    )
