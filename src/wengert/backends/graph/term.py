"""Terms: what the user of a graph holds, a node with Python's operators."""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import BadArgument, GraphError
from ...ir.builder import kind_of_atom
from ...ir.callers import calling_span
from ...ir.graph import Atom, Const, Var
from ...ir.op import Op
from ...ir.types import Array, Number
from ...ops import elementwise as el, registry, structure as st
from ...ops.arrays import linear_algebra as la
from ...ops.dispatch.lookup import Method, called_elementwise, equivalent_of, op_of, op_of_name
from ...ops.signatures import bind
from .derivatives import differentiate
from .equivalents import written_out
from .evaluation import own
from .held import Held, Origin, gathered, terms_in
from .nodes import kinds_at
from .pictures.seeing import Shown
from .specialise import replayed

if TYPE_CHECKING:
    from .graph import Graph


def compute(op: Op, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """An op on values of which at least one is a term."""
    term = next(terms_in((*args, *options.values())))
    args = tuple(
        term.graph.kept(gathered(arg) if isinstance(arg, np.ndarray) else arg) for arg in args
    )
    options = {name: term.graph.kept(value) for name, value in options.items()}
    if not op.elementwise and len(args) > 1:
        args, options = bind(op, args, options)
    if type(term) is RowTerm:
        return RowTerm(term.graph, term.graph.apply(op, args, options))
    term.graph.builder.span = calling_span()
    atom = term.graph.apply(op, args, options)
    derived = term.graph.is_simplified(op, atom) or any(each.derived for each in terms_in(args))
    return Term(term.graph, atom, ("op", op, args, options), derived=derived)


def _binary(op: Op) -> Any:
    return lambda self, other: _of_two(op, self, other, self, other)


def _reflected(op: Op) -> Any:
    return lambda self, other: _of_two(op, other, self, self, other)


def _of_two(op: Op, left: Any, right: Any, term: Term, other: Any) -> Any:
    if getattr(type(other), "compute_priority", 0) > Term.compute_priority:
        return NotImplemented
    if other is None or isinstance(other, (str, bytes, dict, set)):
        return NotImplemented
    return compute(op, (left, right), {})


def _in_place(symbol: str) -> Any:
    def change(self: Term, other: Any) -> Any:
        if isinstance(self.atom, Var) and not isinstance(self.atom.kind, Number):
            raise GraphError(
                f"`{symbol}` would change the array {self} in place, and a term does not change",
                f"Write `x = x {symbol[:-1]} y`.",
                calling_span(),
            )
        return NotImplemented  # a number does not change: the name is bound anew

    return change


def _unary(op: Op) -> Callable[[Term], Term]:
    return lambda self: compute(op, (self,), {})


class Term(Shown, Held):
    """A node of a graph.

    Terms take Python's operators, NumPy's functions (`np.exp(x)`) and methods named after ops (`x.exp()`).
    `a < b` and `a == b` are nodes as well, for `np.where`; as a truth value, `a == b` is True of one and the
    same node, and refused where it depends on the values.

    Example:
        >>> from wengert import Graph
        >>> x, = Graph().variables("x")
        >>> str((-x * x).exp().derive(x))
        '-2 * x * exp(-(x * x))'
    """

    __slots__ = ()
    compute_priority = 1
    is_node = True
    """It has no value yet, whatever it is used as."""
    _op_priority = 100.0
    """SymPy leaves operators to the operand with the higher one."""
    __compute_op__ = staticmethod(compute)

    def __init__(self, graph: Graph, atom: Atom, origin: Origin = (), derived: bool = False):
        self.graph = graph
        self.atom = atom
        self.origin = origin
        self.derived = derived
        if origin:
            graph.take_in(atom)

    # --- derivatives ------------------------------------------------------------------------

    def derive(self, variable: Term) -> Term:
        """The derivative by a variable, or by any node, as a term of the same graph (forward mode).

        What does not depend on the variable has the derivative 0, and no node is made for it. By an array,
        it is the derivative in the direction of ones.

        Raises:
            GraphError: the variable is of another graph.
            NoRule: an op on the way has no rule that can be read.
        """
        by = self.graph.atom(variable)
        atom = differentiate.derive(self.graph, self.atom, by)
        return Term(self.graph, atom, ("derive", self, variable), derived=True)

    def gradient(self, *variables: Term) -> tuple[Term, ...]:
        """The derivatives by variables, or by any nodes, as terms of the same graph (reverse mode).

        Of a term that is an array they are those of the sum of its elements.

        Args:
            variables: by what; by all variables of the graph if there are none.

        Returns:
            A tuple of terms, also for one variable.

        Raises:
            GraphError: a variable is of another graph.
            NoRule: an op on the way has no rule that can be read.
        """
        wanted = variables or self.graph.variables(*self.graph.leaves)
        by = [self.graph.atom(variable) for variable in wanted]
        atoms = differentiate.gradient(self.graph, self.atom, by)
        return tuple(
            Term(self.graph, atom, ("gradient", self, wanted, k), derived=True)
            for k, atom in enumerate(atoms)
        )

    # --- values -----------------------------------------------------------------------------

    def eval(self, /, **values: Any) -> Any:
        """The value of the term.

        Args:
            values: values of variables, for this call; the others have those that `graph.set` gave.

        Returns:
            What the operations give: a number, an array.

        Raises:
            GraphError: a variable has no value, or there is none of that name.
        """
        return own(self.value_at(self.graph.environment(values)))

    def value_at(self, environment: dict[Var, Any]) -> Any:
        """The value where the variables have these values."""
        term = self._for(environment)
        if term.graph is not self.graph:
            names = {var: name for name, var in self.graph.leaves.items()}
            given = {names[var]: value for var, value in environment.items()}
            return term.graph.evaluation(term.graph.environment(given)).value(term.atom)
        return self.graph.evaluation(environment).value(self.atom)

    def _for(self, environment: dict[Var, Any]) -> Term:
        """The term, its derivatives taken anew if the values are of other kinds than was said."""
        if not self.derived:
            return self
        kinds = kinds_at(environment, self.graph.leaves.values())
        return replayed(self, kinds)

    def backprop(self, /, **values: Any) -> Any:
        """Evaluate the term and give every node that it depends on its `grad`.

        Returns:
            The value of the term. No node is added to the graph; gradients of an earlier `backprop` are
            forgotten.

        Raises:
            GraphError: a variable has no value.
        """
        from .backpropagation import backpropagate

        return own(backpropagate(self, self.graph.environment(values)))

    @property
    def value(self) -> Any:
        """The value where the variables have the values that `graph.set` gave them."""
        return self.eval()

    @property
    def grad(self) -> Any:
        """What the last `backprop` found for this node.

        Raises:
            GraphError: it did not come by here.
        """
        if self.atom not in self.graph.gradients:
            raise GraphError(
                f"{self} has no gradient",
                "Call `backprop()` on a term that depends on it.",
                calling_span(),
            )
        return own(self.graph.gradients[self.atom])

    # --- operators --------------------------------------------------------------------------

    __add__, __radd__ = _binary(el.add), _reflected(el.add)
    __sub__, __rsub__ = _binary(el.sub), _reflected(el.sub)
    __mul__, __rmul__ = _binary(el.mul), _reflected(el.mul)
    __truediv__, __rtruediv__ = _binary(el.div), _reflected(el.div)
    __floordiv__, __rfloordiv__ = _binary(el.floordiv), _reflected(el.floordiv)
    __mod__, __rmod__ = _binary(el.mod), _reflected(el.mod)
    __pow__, __rpow__ = _binary(el.pow_), _reflected(el.pow_)
    __matmul__, __rmatmul__ = _binary(la.matmul), _reflected(la.matmul)
    __and__, __rand__ = _binary(el.bitand), _reflected(el.bitand)
    __or__, __ror__ = _binary(el.bitor), _reflected(el.bitor)
    __xor__, __rxor__ = _binary(el.bitxor), _reflected(el.bitxor)
    __invert__ = _unary(el.invert)
    __lt__, __le__ = _binary(st.lt), _binary(st.le)
    __gt__, __ge__ = _binary(st.gt), _binary(st.ge)
    __iadd__, __isub__, __imul__ = _in_place("+="), _in_place("-="), _in_place("*=")
    __itruediv__, __ipow__, __imatmul__ = _in_place("/="), _in_place("**="), _in_place("@=")
    __neg__, __pos__, __abs__ = _unary(el.neg), _unary(el.pos), _unary(el.abs_)
    __trunc__, __floor__, __ceil__ = _unary(el.trunc), _unary(el.floor), _unary(el.ceil)

    def __divmod__(self, other: Any) -> tuple[Any, Any]:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> tuple[Any, Any]:
        return other // self, other % self

    def __round__(self, digits: int | None = None) -> Term:
        return compute(el.round_, (self,) if digits is None else (self, digits), {})

    def __format__(self, spec: str) -> str:
        if spec:
            raise self._not_yet("number that could be formatted")
        return str(self)

    def __getitem__(self, index: Any) -> Term:
        return compute(st.getitem, (self, index), {})

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        kind = kind_of_atom(self.atom)
        if name == "dtype" and isinstance(kind, Array) and kind.dtype:
            self.graph.rely_on_kinds()
            return np.dtype(kind.dtype)
        op = registry.find_attribute(name)
        return compute(op, (self,), {}) if op else Method(op_of_name(name, "a term"), self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        return called_elementwise(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        found = registry.find(function)
        instead = equivalent_of(function) if found is None else None
        if instead is not None:
            return written_out(self.graph, function, instead, args, keywords)
        op = op_of(function)
        operands, options = bind(op, args, keywords)
        return op(*operands, **options)

    def apply(self, function: Callable[..., Any], *others: Any, **options: Any) -> Term:
        """A function of one's own as a single node; its rule (`wg.scalar_rule` …) gives its differentiate."""
        if not callable(function):
            message = f"{function!r} is no function"
            raise BadArgument(
                message, "Give the function itself: `x.apply(np.sin)`.", calling_span()
            )
        found = registry.find(function)
        op = found[0] if found is not None else registry.foreign(function)
        operands, options = bind(op, (self, *others), options)
        return compute(op, operands, options)

    def __eq__(self, other: object) -> Any:
        return self._compared(st.eq, other)

    def __ne__(self, other: object) -> Any:
        return self._compared(st.ne, other)

    def _compared(self, op: Op, other: object) -> Any:
        """A node that is not counted until something is computed of it."""
        if not isinstance(other, (Term, numbers.Number, np.ndarray)):
            return NotImplemented
        other = self.graph.kept(other)
        atom = self.graph.apply(op, (self, other), {})
        made = type(self)(self.graph, atom)
        made.origin = ("op", op, (self, other), {})
        return made

    def __hash__(self) -> int:
        return hash(self.atom)

    def __bool__(self) -> bool:
        if isinstance(self.atom, Const):
            return bool(self._known(self.atom))
        eqn = self.graph.builder.definition(self.atom)
        if eqn is not None and all(isinstance(arg, Const) for arg in eqn.args):
            return bool(eqn.op(*[self._known(arg) for arg in eqn.args]))
        if eqn is not None and eqn.op in (st.eq, st.ne) and eqn.args[0] == eqn.args[1]:
            return eqn.op is st.eq  # the same node
        raise GraphError(
            f"whether {self} is true is not known before the variables have values",
            "Choose with `np.where(condition, x, y)`.",
            calling_span(),
        )

    def _known(self, atom: Atom) -> Any:
        """What follows from the kinds of the variables alone, such as a rank: they may not change any more."""
        assert isinstance(atom, Const)
        self.graph.rely_on_kinds()
        return atom.value

    def __float__(self) -> float:
        raise self._not_yet("float")

    def __int__(self) -> int:
        raise self._not_yet("integer")

    def __index__(self) -> int:
        if isinstance(self.atom, Const):
            return operator.index(self._known(self.atom))
        if not self.graph.has_values(self.atom) or not isinstance(self.value, int):
            raise self._not_yet("integer")
        self.graph.rely_on_values(self.atom)
        return self.value

    def __complex__(self) -> complex:
        raise self._not_yet("complex number")

    def _not_yet(self, what: str) -> GraphError:
        return GraphError(
            f"{self} is no {what} before the variables have values",
            "Write `np.sin(x)`, `x.sin()` or `wg.ops.sin(x)` for a function; `x.eval(...)` for a value.",
            calling_span(),
        )

    def __iter__(self) -> Any:
        count = self.graph.known_length(self.atom)
        if count is None:
            raise self._not_counted("Index it: `x[0]`.")
        return iter([self[k] for k in range(self._known(Const(count)))])

    def __len__(self) -> int:
        count = self.graph.known_length(self.atom)
        if count is None:
            raise self._not_counted("`x.shape[0]` is a term.")
        return self._known(Const(count))

    def _not_counted(self, hint: str) -> GraphError:
        return GraphError(f"how many items {self} has is not known", hint, calling_span())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """A number as an item of an array of objects, which is taken for an array of terms."""
        if isinstance(self.atom, Var) and isinstance(self.atom.kind, Array):
            raise GraphError(
                f"{self} is an array already, but no array of NumPy's before the variables have values",
                "Leave `np.asarray` out; put arrays together with `np.stack` or `np.concatenate`.",
                calling_span(),
            )
        self.graph.rely_on_kinds(self.atom)
        array = np.empty((), dtype=object)
        array[()] = self
        return array

    def __setitem__(self, index: Any, value: Any) -> None:
        raise GraphError(
            f"{self} would change in place, and a term does not change",
            "Build a new one: `np.where`, `np.concatenate`, `np.stack`.",
            calling_span(),
        )


class RowTerm(Term):
    """A term inside a rule row: what is computed of it is no expression of the user's."""

    __slots__ = ()

    def _known(self, atom: Atom) -> Any:
        """Where the kinds turn out to be others, the row is called anew."""
        assert isinstance(atom, Const)
        return atom.value
