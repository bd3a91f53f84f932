"""Reverse mode on a graph: from the cotangent of a node to those of its operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ....ir.builder import kind_of_atom
from ....ir.graph import ZERO, Atom, Const, Eqn, Var
from ....ir.types import Array, Kind, Number
from ....ops import elementwise as el, structure as st
from ....ops.arrays import reduction as rd
from ....ops.arrays.scatter import scatter
from ....ops.cotangent_kinds import gradient_kind
from ....ops.program.cotangents import cotangents_by_rule
from ....rules.registry import Row, Rule
from ..needed import missing
from ..rows import RowCaller, is_zero, literal_first, may_be_complex, packed, same_shape

if TYPE_CHECKING:
    from ..graph import Graph


def backward(graph: Graph, of: Atom, wanted: Sequence[Var] | None) -> dict[Var, Atom]:
    """The cotangents of the nodes between some and the one that is differentiated; of all if None."""
    if not isinstance(of, Var):
        return {}
    eqns = missing(graph, of, {})
    sweep = Reverse(graph, active(eqns, wanted))
    sweep.add(of, graph.emit(st.fill, [Const(1), of]))
    with graph.builder.derivative():
        for eqn in reversed(eqns):
            if eqn.outs[0] in sweep.bars:
                sweep.through(eqn)
    return sweep.bars


def active(eqns: Sequence[Eqn], wanted: Sequence[Var] | None) -> Callable[[Atom], bool]:
    """What depends on the wanted nodes; everything, if all are."""
    if wanted is None:
        return lambda atom: isinstance(atom, Var)
    active = set(wanted)
    for eqn in eqns:
        if any(arg in active for arg in eqn.args):
            active.add(eqn.outs[0])
    return lambda atom: atom in active


class Reverse(RowCaller):
    """The cotangents of nodes, added up from those of what was computed of them."""

    RUN = "rrule"

    def __init__(self, graph: Graph, active: Callable[[Atom], bool]):
        super().__init__(graph)
        self._active = active
        self.bars: dict[Var, Atom] = {}

    def add(self, to: Atom, bar: Atom) -> None:
        """Add to a node's cotangent."""
        if isinstance(to, Var) and bar != ZERO:
            bar = self._real(bar, to.kind)
            before = self.bars.get(to)
            plus = el.add if isinstance(to.kind, (Number, Array)) else st.accumulate
            self.bars[to] = bar if before is None else self.graph.emit(plus, [before, bar])

    def _real(self, bar: Atom, kind: Kind) -> Atom:
        """The cotangent of a real value is real."""
        if not may_be_complex(kind_of_atom(bar)) or may_be_complex(kind):
            return bar
        return self.graph.emit(el.real, [bar]) if isinstance(kind, (Number, Array)) else bar

    def through(self, eqn: Eqn) -> None:
        """From the cotangent of a result to those of the operands."""
        self.graph.builder.span = eqn.span
        bar = self.bars[eqn.outs[0]]
        if not any(map(self._active, eqn.args)):
            return
        if eqn.op is st.pack:
            for k, arg in enumerate(eqn.args):
                self.add(arg, self.graph.emit(st.getitem, [bar, Const(k)]))
        elif eqn.op is st.getitem:
            self.add(eqn.args[0], self.graph.emit(scatter, [bar, eqn.args[0], eqn.args[1]]))
        elif eqn.op is scatter:
            self.add(eqn.args[0], self.graph.emit(st.getitem, [bar, eqn.args[2]]))
        else:
            rule = self._rule_at(eqn)
            getattr(self, f"_{rule.form}")(rule, eqn, bar)

    def _rule_at(self, eqn: Eqn) -> Rule:
        """The rule of an op; the linear one, if it has one for all operands that a derivative is asked by."""
        rule = self.rule_of(eqn.op)
        linear = rule.also.get("linear")
        if linear is None:
            return rule
        wanted = [k for k, arg in enumerate(eqn.args) if self._active(arg)]
        rows = dict(enumerate(linear.rows))
        return linear if all(rows.get(k) is not None for k in wanted) else rule

    def _scalar(self, rule: Rule, eqn: Eqn, bar: Atom) -> None:
        for operand, partial in self.partials(rule, eqn, self._active):
            if not is_zero(partial):
                product = self.graph.emit(el.mul, literal_first(bar, self._conjugate(partial)))
                self.add(operand, self._narrowed(product, operand, eqn))

    def _linear(self, rule: Rule, eqn: Eqn, bar: Atom) -> None:
        for operand, row in zip(eqn.args, rule.rows, strict=False):
            if row is not None and self._active(operand):
                (arg_bar,) = self._once(row, (bar, *eqn.args), eqn)
                self.add(operand, self._narrowed(arg_bar, operand, eqn))

    _bilinear = _linear

    def _once(self, row: Row, operands: Sequence[Atom], eqn: Eqn) -> tuple[Atom, ...]:
        found = self.called(row, operands, eqn)
        return found if len(found) == 1 else (packed(self.graph, found),)

    def _differential(self, rule: Rule, eqn: Eqn, bar: Atom) -> None:
        """The row is linear in the d's: its cotangents by them are the operands'."""
        ds = {k: _d_of(arg) for k, arg in enumerate(eqn.args) if self._active(arg)}
        tangents = [ds.get(k, ZERO) for k in range(len(eqn.args))]
        (row,) = self.called(rule.rows[0], (*tangents, *eqn.args, eqn.outs[0]), eqn)
        if not isinstance(row, Var):
            return
        eqns = missing(self.graph, row, dict.fromkeys(_variables(eqn)))
        inner = Reverse(self.graph, active(eqns, list(ds.values())))
        inner.add(row, bar)
        for each in reversed(eqns):
            if each.outs[0] in inner.bars:
                inner.through(each)
        # What a transposed row reads of a d can only be its shape, which is that of the operand.
        stand_in: dict[Atom, Atom] = {d: eqn.args[k] for k, d in ds.items()}
        for k, d in ds.items():
            total = self._replaced(inner.bars.get(d, ZERO), stand_in)
            self.add(eqn.args[k], self._narrowed(total, eqn.args[k], eqn))

    def _zero(self, rule: Rule, eqn: Eqn, bar: Atom) -> None:
        """Nothing flows."""

    def _rrule(self, rule: Rule, eqn: Eqn, bar: Atom) -> None:
        """The rule is run when the cotangents are evaluated, and gives those of all operands at once."""
        row, name = Const(rule.rows[0]), Const(f"the rrule of {eqn.op.name}")
        bars = self.graph.emit(cotangents_by_rule, [row, name, bar, *eqn.args], eqn.params)
        for k, arg in enumerate(eqn.args):
            if self._active(arg):
                kind = gradient_kind(kind_of_atom(arg))
                item = self.graph.builder.emit_with(st.getitem, [bars, Const(k)], {}, kind=kind)
                self.add(arg, item)

    def _replaced(self, atom: Atom, stand_in: dict[Atom, Atom]) -> Atom:
        """The same node over other leaves."""
        changed = dict(stand_in)
        for eqn in missing(self.graph, atom, {}):
            if any(atom in changed for atom in eqn.operands()):
                args = [changed.get(arg, arg) for arg in eqn.args]
                params = {name: changed.get(atom, atom) for name, atom in eqn.params.items()}
                changed[eqn.outs[0]] = self.graph.emit(eqn.op, args, params)
        return changed.get(atom, atom)

    def _conjugate(self, partial: Atom) -> Atom:
        is_real = not may_be_complex(kind_of_atom(partial))
        return partial if is_real else self.graph.emit(el.conj, [partial])

    def _narrowed(self, bar: Atom, operand: Atom, eqn: Eqn) -> Atom:
        """A cotangent summed over what broadcasting repeated, and of the shape of its operand."""
        kinds = [kind_of_atom(atom) for atom in (*eqn.args, eqn.outs[0], bar)]
        if bar == ZERO or all(isinstance(kind, Number) for kind in kinds):
            return bar
        if not eqn.op.elementwise or same_shape(bar, operand):
            return bar
        if isinstance(kind_of_atom(bar), Number) and isinstance(kind_of_atom(operand), Array):
            return self.graph.emit(st.fill, [bar, operand])
        whole = self._broadcast(bar, eqn)
        return self.graph.emit(st.unbroadcast, [whole, operand])

    def _broadcast(self, bar: Atom, eqn: Eqn) -> Atom:
        """A cotangent in the shape of the result, so that what is summed is all there."""
        if isinstance(eqn.outs[0].kind, Number) or same_shape(bar, eqn.outs[0]):
            return bar
        op = st.fill if isinstance(kind_of_atom(bar), Number) else rd.broadcast_like
        return self.graph.emit(op, [bar, eqn.outs[0]])


def _variables(eqn: Eqn) -> list[Var]:
    """The operands and the result of an equation, literals left out."""
    return [atom for atom in (*eqn.args, *eqn.outs) if isinstance(atom, Var)]


def _d_of(operand: Atom) -> Var:
    assert isinstance(operand, Var)
    return Var(gradient_kind(operand.kind), "d", operand.shape_of)
