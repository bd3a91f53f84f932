"""The nodes of a graph: variables, what is computed of them, and the values they have."""

from __future__ import annotations

import keyword
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from ...errors import BadArgument, GraphError
from ...ir.builder import kind_of_atom
from ...ir.callers import calling_span
from ...ir.graph import Atom, Const, Var
from ...ir.op import Op
from ...ir.types import COMPLEX, FLOAT, Array, Kind, Number
from ...ops import structure as st
from ...ops.array_kinds import rank_of
from ...ops.arrays.shape import shape
from ...ops.dispatch.lookup import must_be_number
from ...rules.registry import generation
from .derivatives.recurrences import Recurrences
from .evaluation import Evaluation, is_literal, same_number
from .held import Held
from .needed import missing
from .sharing import SharingBuilder

if TYPE_CHECKING:
    from .graph import Graph
    from .term import Term

Event = Literal["node", "eval", "backprop"]
Simplify = Literal["exact", "rounding", "finite"] | None


class Nodes:
    """The nodes of a graph: what users hold of it, its terms, the class that they see makes: `Graph`."""

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
        """What the last `backprop` found; forgotten when variables are set to other values."""
        self.gradients_at: dict[Var, Any] = {}
        self.tangents: dict[Var, dict[Var, Atom]] = {}
        """Derivatives of nodes, by what they are with respect to: each is made once."""
        self.recurrences = Recurrences(cast("Graph", self))
        """What nodes are derivatives of, and how derivatives of high order are said in lower ones."""
        self._generation = generation()
        self._constant_of: dict[int, tuple[Any, Var]] = {}
        self._relied_on: dict[Var, Kind] = {}
        """Kinds of variables that the shape of a term depends on, as a program has asked for them."""
        self._counted_by: dict[Var, Any] = {}
        """Integers that a program has counted by."""
        self._hooks: dict[str, list[Callable[..., object]]] = {}
        self._evaluation: Evaluation | None = None
        self.specialised: dict[tuple[Kind, ...], Graph] = {}
        self.replays: dict[int, tuple[Term, Term]] = {}
        """Terms of the graph that this one specialises, each with the same term here."""
        self.sweeps: dict[tuple[Any, ...], Any] = {}
        """Reverse sweeps that `backprop` has made, by term and kinds."""

    # --- terms ------------------------------------------------------------------------------

    def term(self, atom: Atom, origin: tuple[Any, ...] = (), *, derived: bool = False) -> Term:
        """What users hold of a node."""
        raise NotImplementedError

    def row_term(self, atom: Atom) -> Term:
        """What a rule's row is called with for a node."""
        raise NotImplementedError

    # --- variables and values ---------------------------------------------------------------

    def set(self, /, **values: Any) -> None:
        """Give variables values, which they keep until they are set again.

        Raises:
            GraphError: there is no variable of that name.
            BadArgument: a value is no number.
        """
        for name, value in values.items():
            must_be_number(value, f"the value of {name!r}")
            var = self.variable(name)
            self.values[var] = value
            if not same_number(value, self.gradients_at.get(var)):
                self.gradients = {}

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
        values = {**self.values, **{self.variable(name): value for name, value in given.items()}}
        self.must_be_relied_on(values)
        return values

    def rely_on_kinds(self, atom: Atom | None = None) -> None:
        """Have a variable keep its kind, or all variables: a program has gone on with what follows from it."""
        for var in self.leaves.values():
            if atom is None or atom == var:
                self._relied_on[var] = var.kind

    def has_values(self, atom: Atom) -> bool:
        """Whether all variables that a node is computed of have been given values."""
        return all(var in self.values for var in self._variables_of(atom))

    def rely_on_values(self, atom: Atom) -> None:
        """Have variables keep their values: a program has counted by what is computed of them."""
        self._counted_by.update((var, self.values[var]) for var in self._variables_of(atom))

    def _variables_of(self, atom: Atom) -> list[Var]:
        needed = {atom, *(arg for eqn in missing(self, atom, {}) for arg in eqn.operands())}
        return [var for var in self.leaves.values() if var in needed]

    def must_be_relied_on(self, values: Mapping[Var, Any]) -> None:
        """Refuse values of other kinds than a program has gone on with.

        Raises:
            GraphError: a term was written for a number and gets an array, or the other way round.
        """
        for var, value in self._counted_by.items():
            if var in values and values[var] != value:
                raise GraphError(
                    f"the program was run for {var.name} = {value!r}, which it counts by",
                    f"Trace it anew for {var.name} = {values[var]!r}.",
                    calling_span(),
                )
        for var, kind in self._relied_on.items():
            if var in values and _rank(kind_of_value(values[var])) != _rank(kind):
                raise GraphError(
                    f"the value of {var.name!r} is {_said(kind_of_value(values[var]))}, and terms were written for "
                    f"{_said(kind)}",
                    f"Say what it will be: `graph.variables({var.name!r}, like=...)`, or `wg.trace` with an example.",
                    calling_span(),
                )

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
            self.recurrences = Recurrences(cast("Graph", self))
            for kept in (self.tangents, self.specialised, self.sweeps):
                kept.clear()

    # --- nodes ------------------------------------------------------------------------------

    def apply(self, op: Op, args: Sequence[Any], options: Mapping[str, Any]) -> Atom:
        """The node of an op on terms, literals and other values."""
        atoms = [self.atom(arg) for arg in args]
        params = {name: self.atom(value) for name, value in options.items()}
        return self.emit(op, atoms, params)

    def emit(self, op: Op, atoms: Sequence[Atom], params: Mapping[str, Atom] | None = None) -> Atom:
        """The node of an op on atoms; a literal stands for itself in every place of an array."""
        if op is st.getitem and isinstance(atoms[0], Const) and is_literal(atoms[0].value):
            return atoms[0]
        return self.builder.emit_with(op, atoms, params or {}, _namespace(op, atoms))

    def is_simplified(self, op: Op, atom: Atom) -> bool:
        """Whether a node is no application of the op that was asked for; for other kinds it might be."""
        eqn = self.builder.definition(atom)
        return eqn is None or eqn.op is not op

    def known_length(self, atom: Atom) -> int | None:
        """How many items a tuple has, such as the shape of an array of known rank, or a part of it."""
        if isinstance(atom, Const):
            return len(atom.value) if isinstance(atom.value, tuple) else None
        eqn = self.builder.definition(atom)
        if eqn is not None and eqn.op is shape:
            return rank_of(eqn.args[0])
        if eqn is not None and eqn.op is st.getitem and isinstance(eqn.args[1], Const):
            length, index = self.known_length(eqn.args[0]), eqn.args[1].value
            return len(range(length)[index]) if length and isinstance(index, slice) else None
        return None

    def atom(self, value: Any) -> Atom:
        """A value as an operand: the atom of a term, a literal, a constant of the graph.

        Raises:
            GraphError: a term of another graph.
        """
        if isinstance(value, Held):
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

    def atom_of_term(self, term: Any) -> Atom:
        """The atom of a term of this graph.

        Raises:
            BadArgument: it is no term.
            GraphError: it is one of another graph.
        """
        if not isinstance(term, Held):
            message = f"{term!r} is no term of a graph"
            raise BadArgument(message, "Give terms, such as `x * y`.", calling_span())
        return self.atom(term)

    def _constant(self, value: Any) -> Var:
        """A leaf that is always the same: an array, a number of another type."""
        known, var = self._constant_of.get(id(value), (None, None))
        if var is None or known is not value or not _is_still(value, self.constants[var]):
            var = Var(kind_of_value(value))
            copy = value.copy() if isinstance(value, np.ndarray) else value
            self._constant_of[id(value)] = value, var
            self._constant_of[id(copy)] = copy, var
            self.constants[var] = copy
        return var

    def kept(self, value: Any) -> Any:
        """An operand as it is now: of arrays, also inside of lists and tuples, the graph's own copies."""
        if isinstance(value, (list, tuple)):
            items = [self.kept(item) for item in value]
            return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
        return self.constants[self._constant(value)] if isinstance(value, np.ndarray) else value

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
            for function in list(functions):
                function(self.term(var), *facts)

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


def _is_still(array: Any, copy: Any) -> bool:
    """Whether an array holds what it held when it was copied."""
    if not isinstance(array, np.ndarray) or array is copy:
        return True
    same = array.dtype == copy.dtype and array.shape == copy.shape
    return same and array.dtype != object and array.tobytes() == copy.tobytes()


def must_be_name(name: str, of: str) -> None:
    """Refuse what cannot be a name in Python.

    Raises:
        GraphError: it is no identifier, or a keyword.
    """
    is_text = isinstance(cast(Any, name), str)
    if not is_text or not name.isidentifier() or keyword.iskeyword(name):
        raise GraphError(
            f"{name!r} is no name for {of}", "Use an identifier, and no keyword.", calling_span()
        )


def _rank(kind: Kind) -> int | None:
    return kind.rank if isinstance(kind, Array) else 0


def _said(kind: Kind) -> str:
    return "a number" if not _rank(kind) else f"an array of rank {_rank(kind)}"


def _has_term(items: Iterable[Any]) -> bool:
    """Whether there is a term among some items, or inside of them."""
    for item in items:
        if isinstance(item, Held) or (isinstance(item, (list, tuple)) and _has_term(item)):
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


def kinds_at(environment: Mapping[Var, Any], wanted: Iterable[Var]) -> dict[Var, Kind]:
    """The kinds that variables have by their values, and otherwise by their declaration."""
    return {
        var: kind_of_value(environment[var]) if var in environment else var.kind for var in wanted
    }
