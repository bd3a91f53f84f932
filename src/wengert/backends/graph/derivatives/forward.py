"""Forward mode on a graph: the tangent of a node from those of its operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....ir.builder import kind_of_atom
from ....ir.graph import ZERO, Atom, Const, Eqn, Var
from ....ir.types import Array, Number
from ....ops import elementwise as el, structure as st
from ....ops.arrays import reduction as rd
from ....ops.cotangent_kinds import gradient_kind
from ....ops.program.cotangents import tangent_by_rule
from ....rules.registry import Rule
from ..rows import RowCaller, is_zero, literal_first, packed, same_shape

if TYPE_CHECKING:
    from ..graph import Graph


class Forward(RowCaller):
    """The tangents of equations whose operands have theirs."""

    RUN = "frule"

    def __init__(self, graph: Graph, of: Atom, by: Var, tangents: dict[Var, Atom]):
        super().__init__(graph)
        self._of, self._by = of, by
        self.tangents = tangents

    def tangent(self, atom: Atom) -> Atom:
        return self.tangents.get(atom, ZERO) if isinstance(atom, Var) else ZERO

    def needs(self, eqn: Eqn) -> Sequence[Atom]:
        """What an equation's tangent needs the tangents of: of a sum of products, its factors."""
        if self.graph.builder.collects and self._in_lower_ones(eqn.outs[0]) is not None:
            return ()
        return self.graph.builder.factors(eqn.outs[0]) or eqn.operands()

    def _in_lower_ones(self, node: Var) -> Atom | None:
        """The tangent of what is said in lower derivatives; None of others, and where theirs cannot be had."""
        recurrences = self.graph.recurrences
        return recurrences.derivative(node, self._by) if recurrences.goes_on(node) else None

    def tangent_of(self, eqn: Eqn) -> Atom:
        """The tangent of an equation's result."""
        self.graph.builder.span = eqn.span
        if not self.graph.builder.collects:
            return self._by_rule(eqn)
        (node,) = eqn.outs
        recurrences = self.graph.recurrences
        found = self._in_lower_ones(node)
        if found is None:
            found = self.graph.builder.tangent_in_normal_form(node, self.tangent)
            found = self._by_rule(eqn) if found is None else found
            if node == self._of:
                found = recurrences.shorter(node, self._by, found)
        recurrences.note(node, self._by, found)
        return found

    def _by_rule(self, eqn: Eqn) -> Atom:
        dots = [self.tangent(arg) for arg in eqn.args]
        if all(dot == ZERO for dot in dots):
            return ZERO
        if eqn.op is st.pack:
            whole = [self._or_zeros(d, x) for d, x in zip(dots, eqn.args, strict=True)]
            return self.graph.emit(st.pack, whole, eqn.params)
        if eqn.op is st.getitem:
            return self.graph.emit(st.getitem, [dots[0], eqn.args[1]], eqn.params)
        rule = self.rule_of(eqn.op)
        dot = getattr(self, f"_{rule.form}")(rule, eqn, dots)
        return self._whole(dot, eqn)

    def _scalar(self, rule: Rule, eqn: Eqn, dots: Sequence[Atom]) -> Atom:
        total: Atom = ZERO
        of = dict(zip(eqn.args, dots, strict=True))
        for operand, partial in self.partials(rule, eqn, lambda arg: of[arg] != ZERO):
            if not is_zero(partial):
                factors = literal_first(of[operand], partial)
                term = factors[1] if partial == Const(1) else self.graph.emit(el.mul, factors)
                total = term if total == ZERO else self.graph.emit(el.add, [total, term])
        return total

    def _linear(self, rule: Rule, eqn: Eqn, dots: Sequence[Atom]) -> Atom:
        args = list(eqn.args)
        for k, row in enumerate(rule.rows[: len(args)]):
            if row is not None:
                args[k] = self._or_zeros(dots[k], args[k])
                if isinstance(kind_of_atom(eqn.args[k]), Array):
                    args[k] = self._in_shape(args[k], eqn.args[k])
        return self.graph.emit(eqn.op, args, eqn.params)

    def _bilinear(self, rule: Rule, eqn: Eqn, dots: Sequence[Atom]) -> Atom:
        total: Atom = ZERO
        for k, dot in enumerate(dots):
            if dot != ZERO:
                args = (*eqn.args[:k], self._in_shape(dot, eqn.args[k]), *eqn.args[k + 1 :])
                term = self.graph.emit(eqn.op, args, eqn.params)
                total = term if total == ZERO else self.graph.emit(el.add, [total, term])
        return total

    def _differential(self, rule: Rule, eqn: Eqn, dots: Sequence[Atom]) -> Atom:
        pairs = zip(dots, eqn.args, strict=True)
        ds = [dot if dot == ZERO else self._in_shape(dot, x) for dot, x in pairs]
        (result,) = self.called(rule.rows[0], (*ds, *eqn.args, eqn.outs[0]), eqn)
        return result

    def _zero(self, rule: Rule, eqn: Eqn, dots: Sequence[Atom]) -> Atom:
        return ZERO

    def _frule(self, rule: Rule, eqn: Eqn, dots: Sequence[Atom]) -> Atom:
        """The rule is run when the tangent is evaluated."""
        pairs = zip(dots, eqn.args, strict=True)
        primals = packed(self.graph, eqn.args)
        tangents = packed(self.graph, [self._or_zeros(dot, x) for dot, x in pairs])
        name = Const(f"the frule of {eqn.op.name}")
        kind = gradient_kind(eqn.outs[0].kind)
        args = [Const(rule.rows[0]), name, primals, tangents]
        return self.graph.builder.emit_with(tangent_by_rule, args, eqn.params, kind=kind)

    def _or_zeros(self, dot: Atom, x: Atom) -> Atom:
        return self.graph.emit(st.zeros, [x]) if dot == ZERO else dot

    def _in_shape(self, dot: Atom, x: Atom) -> Atom:
        """A tangent in the shape of its value."""
        if isinstance(kind_of_atom(x), Number) or same_shape(dot, x):
            return dot
        op = st.fill if isinstance(kind_of_atom(dot), Number) else rd.broadcast_like
        return self.graph.emit(op, [dot, x])

    def _whole(self, dot: Atom, eqn: Eqn) -> Atom:
        is_array = isinstance(eqn.outs[0].kind, Array) and eqn.op.elementwise
        return self._in_shape(dot, eqn.outs[0]) if is_array and not is_zero(dot) else dot
