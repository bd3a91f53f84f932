"""Graphs of expressions: variables, what is computed of them, and the values they have.

A graph is IR under construction: a term stands for a value, and every operation on terms is an equation,
which is there once however often it is asked for. Derivatives are equations of the same graph.
"""

from __future__ import annotations

import keyword
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...errors import BadArgument, GraphError
from ...ir.builder import kind_of_atom
from ...ir.callers import calling_span
from ...ir.graph import Atom, Const, Var
from ...ir.op import Op
from ...ir.types import COMPLEX, FLOAT, Array, Kind, Number
from ...ops import structure as st
from ...ops.lookup import must_be_number
from ...rules.registry import generation
from .evaluation import Evaluation
from .sharing import SharingBuilder

if TYPE_CHECKING:
    from .term import Term

Event = Literal["node", "eval", "backprop"]
Simplify = Literal["exact", "rounding", "finite"] | None


class Graph:
    """Expressions that share their parts, and whose derivatives are expressions of the same graph.

    Args:
        simplify: which identities may be used when a node is made: "exact" ones change no result (but the
            sign of a zero), "rounding" ones may change its last digits, "finite" ones hold only where everything is
            finite; None takes every operation as it is written.

    `len(graph)` is the number of nodes that its terms are made of: variables and operations; literals are
    no nodes.

    Raises:
        BadArgument: there is no such group of identities.

    Example:
        >>> g = Graph()
        >>> a, b = g.variables("a", "b")
        >>> f = (a - b) * a
        >>> print(f.derive(a))
        a + a - b
        >>> f.derive(a).eval(a=2.0, b=3.0)
        1.0
    """

    def __init__(self, simplify: Simplify = "exact"):
        if simplify not in ("exact", "rounding", "finite", None):
            raise BadArgument(
                f"no identities are called {simplify!r}",
                'Say "exact", "rounding", "finite", or None for no simplification.',
                calling_span(),
            )
        self.simplify: Simplify = simplify
        self.builder = SharingBuilder(simplify)
        self.nodes: dict[Var, None] = {}
        """The nodes that terms are made of, in order; the builder may know others, which no term needs."""
        self.leaves: dict[str, Var] = {}
        self.constants: dict[Var, Any] = {}
        self.values: dict[Var, Any] = {}
        """What `set` gave the variables."""
        self.gradients: dict[Var, Any] = {}
        """What the last `backprop` found."""
        self.tangents: dict[Var, dict[Var, Atom]] = {}
        """Derivatives of nodes, by what they are with respect to: each is made once."""
        self._generation = generation()
        self._constant_of: dict[int, Var] = {}
        self._hooks: dict[str, list[Callable[..., object]]] = {}
        self._evaluation: Evaluation | None = None
        self.specialised: dict[tuple[Kind, ...], Graph] = {}
        self.replays: dict[int, tuple[Term, Term]] = {}
        """Terms of the graph that this one specialises, each with the same term here."""
        self.sweeps: dict[tuple[Any, ...], Any] = {}
        """Reverse sweeps that `backprop` has made, by term and kinds."""

    # --- variables and values ---------------------------------------------------------------

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
        from .term import Term

        for name in names:
            must_be_name(name, "a variable")
            if name not in self.leaves:
                self.leaves[name] = Var(kind_of_value(like), name)
                self.take_in(self.leaves[name])
        return tuple(Term(self, self.leaves[name], ("variable", name)) for name in names)

    def set(self, **values: Any) -> None:
        """Give variables values, which they keep until they are set again.

        Raises:
            GraphError: there is no variable of that name.
            BadArgument: a value is no number.
        """
        for name, value in values.items():
            must_be_number(value, f"the value of {name!r}")
            self.values[self.variable(name)] = value

    def variable(self, name: str) -> Var:
        """The variable of a name.

        Raises:
            GraphError: there is none.
        """
        if name not in self.leaves:
            known = ", ".join(self.leaves) or "none"
            message = f"the graph has no variable {name!r}"
            raise GraphError(message, f"Its variables: {known}.", calling_span())
        return self.leaves[name]

    def environment(self, given: Mapping[str, Any]) -> dict[Var, Any]:
        """The values of the variables: those given, and for the others those that were set.

        Raises:
            GraphError: there is no variable of a name.
            BadArgument: a value is no number.
        """
        for name, value in given.items():
            must_be_number(value, f"the value of {name!r}")
        return {**self.values, **{self.variable(name): value for name, value in given.items()}}

    def evaluation(self, environment: dict[Var, Any]) -> Evaluation:
        """The values of nodes where variables have these values; kept while they are the same."""
        before = self._evaluation
        if before is None or not before.is_at(environment):
            self._evaluation = before = Evaluation(self, environment)
        return before

    def known_value(self, var: Var) -> Any:
        """The value that a node was last found to have; None if it was not computed."""
        evaluation = self._evaluation
        if evaluation is not None and var in evaluation:
            return evaluation.value(var)
        return self.values.get(var, self.constants.get(var))

    def keep_to_the_rules(self) -> None:
        """Forget derivatives that were made by rules which others have replaced since."""
        if self._generation != generation():
            self._generation = generation()
            for kept in (self.tangents, self.specialised, self.sweeps):
                kept.clear()

    # --- nodes ------------------------------------------------------------------------------

    def apply(self, op: Op, args: Sequence[Any], options: Mapping[str, Any]) -> Atom:
        """The node of an op on terms, literals and other values."""
        atoms = [self.atom(arg) for arg in args]
        params = {name: self.atom(value) for name, value in options.items()}
        return self.emit(op, atoms, params)

    def emit(self, op: Op, atoms: Sequence[Atom], params: Mapping[str, Atom] | None = None) -> Atom:
        """The node of an op on atoms."""
        return self.builder.emit_with(op, atoms, params or {}, _namespace(op, atoms))

    def atom(self, value: Any) -> Atom:
        """A value as an operand: the atom of a term, a literal, a constant of the graph.

        Raises:
            GraphError: a term of another graph.
        """
        from .term import Term

        if isinstance(value, Term):
            if value.graph is not self:
                raise GraphError(
                    f"the term {value} belongs to another graph",
                    "Build all terms of an expression from the variables of one graph.",
                    calling_span(),
                )
            return value.atom
        if isinstance(value, np.generic):
            return Const(value.item())
        if isinstance(value, slice) and _has_term((value.start, value.stop, value.step)):
            parts = [self.atom(part) for part in (value.start, value.stop, value.step)]
            return self.builder.emit_with(st.slice_, parts, {})
        if isinstance(value, (list, tuple)) and _has_term(value):
            form, keys = type(value).__name__, tuple(range(len(value)))
            params: dict[str, Atom] = {
                "form": Const(form), "keys": Const(keys), "type": Const(None)
            }  # fmt: skip
            return self.builder.emit_with(st.pack, [self.atom(item) for item in value], params)
        if isinstance(value, (int, float, complex, str, list, tuple, slice, type, type(None))):
            return Const(value)
        if callable(value) or value is Ellipsis:
            return Const(value)
        return self._constant(value)

    def _constant(self, value: Any) -> Var:
        """A leaf that is always the same: an array, a number of another type."""
        if id(value) not in self._constant_of:
            var = self._constant_of[id(value)] = Var(kind_of_value(value))
            self.constants[var] = value
        return self._constant_of[id(value)]

    def __len__(self) -> int:
        return len(self.nodes)

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"<Graph of {', '.join(self.leaves) or 'nothing'}: {len(self)} nodes>"

    # --- hooks ------------------------------------------------------------------------------

    @contextmanager
    def hook(self, event: Event, function: Callable[..., object]) -> Generator[None]:
        """Inside a `with` block, call a function at every visit of a node.

        Args:
            event: "node": a node is made, `function(term)`; "eval": it has a value, `function(term,
                value)`; "backprop": it has a gradient, `function(term, gradient)`.
            function: what to call.

        Raises:
            BadArgument: there is no such event.
        """
        if event not in ("node", "eval", "backprop"):
            message = f"no event is called {event!r}"
            raise BadArgument(message, 'Say "node", "eval" or "backprop".', calling_span())
        functions = self._hooks.setdefault(event, [])
        functions.append(function)
        try:
            yield
        finally:
            functions.remove(function)

    def visit(self, event: Event, var: Var, *facts: Any) -> None:
        """Tell the hooks that a node is visited."""
        functions = self._hooks.get(event)
        if functions:
            from .term import Term

            for function in list(functions):
                function(Term(self, var), *facts)

    def take_in(self, atom: Atom) -> None:
        """Count the nodes that a term is made of, and tell the hooks of those that are new."""
        found: list[Var] = []
        pending = [atom]
        while pending:
            var = pending.pop()
            if isinstance(var, Var) and var not in self.nodes:
                self.nodes[var] = None
                found.append(var)
                eqn = self.builder.definition(var)
                pending.extend(eqn.operands() if eqn is not None else ())
        for var in sorted(found, key=lambda var: var.born):
            self.visit("node", var)


def must_be_name(name: str, of: str) -> None:
    """Refuse what cannot be a name in Python.

    Raises:
        GraphError: it is no identifier, or a keyword.
    """
    if not name.isidentifier() or keyword.iskeyword(name):
        raise GraphError(
            f"{name!r} is no name for {of}", "Use an identifier, and no keyword.", calling_span()
        )


def _has_term(items: Iterable[Any]) -> bool:
    """Whether there is a term among some items, or inside of them."""
    from .term import Term

    for item in items:
        if isinstance(item, Term) or (isinstance(item, (list, tuple)) and _has_term(item)):
            return True
        if isinstance(item, slice) and _has_term((item.start, item.stop, item.step)):
            return True
    return False


def _namespace(op: Op, atoms: Sequence[Atom]) -> str:
    """Which spelling of an op fits its operands, when the term is printed as Python."""
    kinds = [kind_of_atom(atom) for atom in atoms]
    if not op.spellings.get("py", "a")[0].isalpha():
        return "py"
    on_numbers = all(isinstance(kind, Number) for kind in kinds) and COMPLEX not in kinds
    wanted = ("math", "py", "np") if on_numbers else ("np", "py")
    return next((n for n in (*wanted, *op.spellings) if n in op.spellings), "call")


def kind_of_value(value: Any) -> Kind:
    """What is known of a variable that has such a value: an array of a rank, a complex number, a number."""
    while hasattr(value, "primal"):
        value = value.primal
    if isinstance(value, np.ndarray):
        return Array(value.dtype.name, value.ndim)
    if isinstance(value, (complex, np.complexfloating)) and not isinstance(value, float):
        return COMPLEX
    return FLOAT


def kinds_at(
    graph: Graph, environment: Mapping[Var, Any], wanted: Iterable[Var]
) -> dict[Var, Kind]:
    """The kinds that variables have by their values, and otherwise by their declaration."""
    return {
        var: kind_of_value(environment[var]) if var in environment else var.kind for var in wanted
    }
