"""Rule rows, called with terms of a graph: what they compute of them are nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from ...errors import NoRule
from ...ir.graph import ZERO, Atom, Const, Eqn, Var
from ...ir.op import Op
from ...ir.types import Array, Kind, Number
from ...ops import structure as st
from ...ops.program.cotangents import cotangents_by_rule, tangent_by_rule
from ...rules.arrays import scatter as scatter
from ...rules.registry import Row, Rule, options_of, rule_for

if TYPE_CHECKING:
    from .graph import Graph


_READ = "Write one that can be read: `wg.scalar_rule`, `wg.linear_rule` or `wg.differential`."
_FORMS = ("scalar", "linear", "bilinear", "differential", "zero")


class RowCaller:
    """Rule rows, called with terms of a graph."""

    RUN: ClassVar[str]
    """The form of the rules that are not called with terms, but run when a node is evaluated."""

    def __init__(self, graph: Graph):
        self.graph = graph

    def rule_of(self, op: Op) -> Rule:
        """The rule for an op, in a form that can be called with terms."""
        rule = rule_for(op)
        if rule is not None:
            for each in (rule, *rule.also.values()):
                if each.form in (*_FORMS, self.RUN):
                    return each
        raise NoRule(self._lacks(op, rule), _READ, self.graph.builder.span)

    def _lacks(self, op: Op, rule: Rule | None) -> str:
        if op in (cotangents_by_rule, tangent_by_rule):
            return (
                "a rule that is run (`wg.rrule`, `wg.frule`) gives no second derivative in a graph"
            )
        if rule is None:
            return f"{op.name} has no rule that the terms of a graph could use"
        mode = ".derive()" if self.RUN == "frule" else ".gradient()"
        return f"{op.name} has an {rule.form} but no {self.RUN}, which `{mode}` needs"

    def called(self, row: Row | None, operands: Sequence[Atom], eqn: Eqn) -> tuple[Atom, ...]:
        """What a row gives, as atoms."""
        assert row is not None
        names, takes_all = options_of(row)
        given = eqn.params.items()
        options = {k: self._value(v) for k, v in given if takes_all or k in names}
        terms = [
            x.value if isinstance(x, Const) and _is_no_integer(x) else self.graph.row_term(x)
            for x in operands
        ]
        with self.graph.builder.row():
            result = row(*terms, **options)
        several = isinstance(result, tuple) and len(eqn.args) > 1
        return tuple(self._atom(each) for each in (result if several else (result,)))

    def _value(self, atom: Atom) -> Any:
        return atom.value if isinstance(atom, Const) else self.graph.row_term(atom)

    def _atom(self, value: Any) -> Atom:
        return Const(int(value)) if isinstance(value, bool) else self.graph.atom(value)

    def partials(self, rule: Rule, eqn: Eqn, wanted: Callable[[Atom], bool]) -> list[Any]:
        """The operands that are wanted, each with its partial."""
        operands = (*eqn.args, eqn.outs[0])
        if len(rule.rows) == 1 and rule.rows[0] is not None:
            together = self.called(rule.rows[0], operands, eqn)
            pairs = zip(eqn.args, together, strict=True)
            return [(arg, partial) for arg, partial in pairs if wanted(arg)]
        return [
            (arg, self.called(row, operands, eqn)[0])
            for arg, row in zip(eqn.args, rule.rows, strict=False)
            if row is not None and wanted(arg)
        ]


def _is_no_integer(x: Const) -> bool:
    """Whether a row may be called with a literal as it is: an integer's quotients would be floats."""
    return x != ZERO and type(x.value) is not int


def packed(graph: Graph, items: Sequence[Atom]) -> Atom:
    """A tuple of nodes as a node."""
    keys = tuple(range(len(items)))
    return graph.emit(
        st.pack, items, {"form": Const("tuple"), "keys": Const(keys), "type": Const(None)}
    )


def is_zero(atom: Atom) -> bool:
    """Whether a tangent or a partial is known to vanish."""
    return atom == ZERO or atom in (Const(0), Const(0.0))


def literal_first(x: Atom, y: Atom) -> list[Atom]:
    """Two factors, a literal before what it multiplies."""
    return [y, x] if isinstance(y, Const) else [x, y]


def same_shape(a: Atom, b: Atom) -> bool:
    """Whether two values are arrays that are known to have one shape."""
    return (
        isinstance(a, Var)
        and isinstance(b, Var)
        and a.shape_of is b.shape_of
        and not isinstance(a.kind, Number)
    )


def may_be_complex(kind: Kind) -> bool:
    """Whether values of a kind may be complex: arrays of an unknown dtype may."""
    if isinstance(kind, Array):
        return not kind.dtype or "complex" in kind.dtype
    return kind == Number("complex")
