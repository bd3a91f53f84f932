"""Graphs of expressions: variables, what is computed of them, and the values they have.

A graph is IR under construction: a term stands for a value, and every operation on terms is an equation,
which is there once however often it is asked for. Derivatives are equations of the same graph.
"""

from __future__ import annotations

from typing import Any

from ...ir.graph import Atom, Var
from .nodes import Nodes, kind_of_value, must_be_name
from .term import Origin, RowTerm, Term


class Graph(Nodes):
    """Expressions that share their parts, and whose derivatives are expressions of the same graph.

    Args:
        simplify: which identities may be used when a node is made: "exact" ones change no result (but the
            sign of a zero), "rounding" ones may change its last digits, "finite" ones hold only where everything is
            finite; None takes every operation as it is written. Unless it is None, derivatives are kept in normal form,
            as sums of products of powers, which may change their last digits.

    `len(graph)` is the number of nodes that its terms are made of: variables and operations; literals are
    no nodes.

    Raises:
        BadArgument: there is no such group of identities.

    Example:
        >>> g = Graph()
        >>> a, b = g.variables("a", "b")
        >>> f = (a - b) * a
        >>> print(f.derive(a))
        a - b + a
        >>> f.derive(a).eval(a=2.0, b=3.0)
        1.0
    """

    def variables(self, *names: str, like: Any = 0.0) -> tuple[Term, ...]:
        """Variables by their names, new ones or those that are there.

        Args:
            names: any identifiers.
            like: a value of the kind that new ones will have: a number, an array, a complex number.

        Returns:
            A tuple of terms, also for one name.

        Raises:
            GraphError: a name is no identifier.
        """
        for name in names:
            must_be_name(name, "a variable")
            if name not in self.leaves:
                self.leaves[name] = Var(kind_of_value(like), name)
                self.take_in(self.leaves[name])
        return tuple(Term(self, self.leaves[name], ("variable", name)) for name in names)

    def term(self, atom: Atom, origin: Origin = (), *, derived: bool = False) -> Term:
        return Term(self, atom, origin, derived)

    def row_term(self, atom: Atom) -> Term:
        return RowTerm(self, atom)
