"""Terms as functions: a graph's nodes as a function of the IR, printed as Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any

import numpy as np

from ...errors import BadArgument
from ...ir.builder import kind_of_atom
from ...ir.callers import calling_span
from ...ir.graph import Atom, Block, Const, Eqn, Function, Input, Var
from ...ir.op import evaluator_of
from ...ir.types import Kind, Struct
from ..python.printed import render
from ..python.publish import publish
from .needed import missing
from .nodes import kinds_at, must_be_name
from .specialise import replayed, variables_of

if TYPE_CHECKING:
    from .term import Term


def to_ir(terms: Sequence[Term], name: str = "f") -> Function:
    """The IR function of the variables of some terms that computes them together."""
    graph = terms[0].graph
    names = variables_of(terms)
    variables = [graph.leaves[name] for name in names]
    found: dict[Var, Eqn] = {}
    for term in terms:
        for eqn in missing(graph, term.atom, found):
            found[eqn.outs[0]] = eqn
    eqns = sorted(found.values(), key=lambda eqn: eqn.outs[0].born)
    constants: dict[Atom, Atom] = {var: Const(value) for var, value in graph.constants.items()}
    body = [_with(eqn, constants) for eqn in eqns]
    outs = tuple(constants.get(term.atom, term.atom) for term in terms)
    kinds = tuple(map(kind_of_atom, outs))
    result = kinds[0] if len(outs) == 1 else Struct("tuple", tuple(range(len(outs))), kinds)
    inputs = tuple(Input(name, var.kind) for name, var in zip(names, variables, strict=True))
    return Function(name, inputs, Block(tuple(variables), tuple(body), outs), result)


def _with(eqn: Eqn, constants: dict[Atom, Atom]) -> Eqn:
    args = tuple(constants.get(arg, arg) for arg in eqn.args)
    params = {name: constants.get(atom, atom) for name, atom in eqn.params.items()}
    return Eqn(eqn.outs, eqn.op, args, params, (), eqn.namespace)


class TermFunction:
    """A Python function of the variables that some terms depend on, by position or by name.

    Derivatives are those for the kinds of the arguments: what is called with arrays is written anew for
    arrays, once.

    Attributes:
        source: the text of the function for the kinds that the variables have by their values, and else by
            their declaration; it runs without wengert.
    """

    def __init__(self, terms: Sequence[Term], name: str):
        must_be_name(name, "a function")
        self._terms = terms
        self._graph = terms[0].graph
        for term in terms:
            self._graph.atom_of_term(term)
        self._made: dict[tuple[Kind, ...], tuple[str, Callable[..., Any]]] = {}
        self.names = tuple(variables_of(terms))
        self.__name__ = name
        self.__signature__ = Signature(
            [Parameter(name, Parameter.POSITIONAL_OR_KEYWORD) for name in self.names]
        )
        self.source = self._for(self._kinds(self._graph.values))[0]

    def __call__(self, /, *args: Any, **named: Any) -> Any:
        given = self.bound(args, named)
        at = {self._graph.leaves[name]: value for name, value in given.items()}
        self._graph.must_be_relied_on(at)
        if any(map(_is_of_its_own, given.values())):
            values = [term.value_at(at) for term in self._terms]
            return tuple(values) if len(values) > 1 else values[0]
        return self._for(self._kinds(at))[1](**given)

    def bound(self, args: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name."""
        given = {**dict(zip(self.names, args, strict=False)), **named}
        if len(args) > len(self.names) or given.keys() != set(self.names):
            raise BadArgument(
                f"{self.__name__} is called with {_said(given, self.names)}",
                f"Its arguments: {', '.join(self.names)}.",
                calling_span(),
            )
        return given

    def at_kinds(self, kinds: Mapping[str, Kind]) -> Function:
        """The IR of the function, for variables of these kinds, in the order of `names`."""
        by_leaf = {self._graph.leaves[name]: kinds[name] for name in self.names}
        return to_ir([replayed(term, by_leaf) for term in self._terms], self.__name__)

    def _kinds(self, environment: Mapping[Var, Any]) -> dict[Var, Kind]:
        return kinds_at(environment, self._graph.leaves.values())

    def _for(self, kinds: dict[Var, Kind]) -> tuple[str, Callable[..., Any]]:
        key = tuple(kinds.values())
        if key not in self._made:
            printed = render(to_ir([replayed(term, kinds) for term in self._terms], self.__name__))
            self._made[key] = printed.source, publish(printed)
        return self._made[key]

    def __reduce__(self) -> Any:
        return TermFunction, (tuple(self._terms), self.__name__)

    def __repr__(self) -> str:
        return f"<function {self.__name__}({', '.join(self.names)}) of a graph>"


def _is_of_its_own(value: Any) -> bool:
    """Whether a value is a number that `math` has no functions of: one with derivatives, of mpmath, a term."""
    plain = isinstance(value, (int, float, complex, np.ndarray, np.generic))
    return not plain and evaluator_of((value,)) is not None


def _said(given: Mapping[str, Any], names: Sequence[str]) -> str:
    """What is wrong with the arguments of a call."""
    lacks = [repr(name) for name in names if name not in given]
    strange = [repr(name) for name in given if name not in names]
    return (
        f"no value for {', '.join(lacks)}"
        if lacks
        else f"{', '.join(strange)}, which it does not have"
        if strange
        else "too many arguments"
    )
