"""Activity: which values depend on a differentiated input and reach the output.

Only these get a tangent or a cotangent. Loop counters, shapes, indices, strings and comparisons
never do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ..errors import NoRule
from ..ir.builder import kind_of_atom
from ..ir.graph import CALL, IF, Atom, Block, Eqn, Var, walk
from ..ir.types import FLOAT, Array, Number, Seq, Struct, is_differentiable
from ..ops import cotangents as ct
from ..ops import structure as st
from ..rules.registry import rule_for
from .loops import LOOPS, view

Operands = Callable[[Eqn], Iterable[Atom]]

ZERO_OPS = frozenset(
    (
        st.zeros, st.stop_gradient, st.slice_, st.range_, st.length, st.global_, st.opaque,
        st.raise_, st.format_, st.eq, st.ne, st.lt, st.le, st.gt, st.ge, st.is_, st.is_not,
        st.in_, st.not_in, st.not_, st.both, st.either, st.truth,
    )
)  # fmt: skip
"""Structural ops whose result never carries a derivative."""

FIRST_ONLY = frozenset(
    (
        st.getitem, st.getattr_, st.as_list, st.bound, st.unpackable, st.project,
        ct.collected_cotangent, ct.shadow_attr, ct.shadow_items, ct.rule_cotangents, ct.as_returned,
    )
)  # fmt: skip
"""Structural ops that are linear in their first operand and have no derivative in the others."""


def active(
    block: Block,
    varied: Iterable[Var],
    useful: Iterable[Var],
    differentiable_operands: Operands | None = None,
) -> set[Var]:
    """The values, at every depth of a block, that a derivative flows through.

    Args:
        block: the program.
        varied: the values it is differentiated with respect to.
        useful: the values whose derivative is wanted.
        differentiable_operands: the operands of an equation through which derivatives flow.
    """
    operands = differentiable_operands or operands_of
    forward = _Varied(set(varied), operands)
    forward.block(block)
    refuse_active_options(block, forward.varied)
    backward = _Useful(set(useful), forward.varied, operands)
    backward.block(block)
    return forward.varied & backward.useful


STAND_INS = frozenset(("like", "vector", "result", "matrix", "x", "rule", "owned"))
"""Options of helper ops that hold a value only for its shape, or whose rules know of it."""


def refuse_active_options(block: Block, varied: set[Var]) -> None:
    """An option has no derivative: a value that should have one must not arrive in it.

    Raises:
        NoRule: naming the option.
    """
    for eqn in walk(block):
        if eqn.op.control or eqn.op in ZERO_OPS:
            continue
        for name, atom in eqn.params.items():
            if atom in varied and name not in STAND_INS and _is_inexact(atom):
                raise NoRule(
                    f"no derivative flows through the argument `{name}` of {eqn.op.name}",
                    "Compute what depends on it yourself, give the function a rule (`wg.rrule`), or keep\n"
                    "the argument out of the derivative with `wg.stop_gradient`.",
                    eqn.span,
                )


def _is_inexact(atom: Atom) -> bool:
    match kind_of_atom(atom):
        case Number(type=type_):
            return type_ in ("float", "complex")
        case Array(dtype=dtype):
            return dtype.startswith(("float", "complex"))
        case Seq(item=item):
            return item == FLOAT
        case Struct(items=items):
            return FLOAT in items
        case _:
            return False


def varied_values(block: Block, varied: Iterable[Var]) -> set[Var]:
    """The values that depend differentiably on some values."""
    forward = _Varied(set(varied), operands_of)
    forward.block(block)
    refuse_active_options(block, forward.varied)
    return forward.varied


def operands_of(eqn: Eqn) -> Iterable[Atom]:
    """The operands of an equation in which its results may have a derivative."""
    op = eqn.op
    if op in ZERO_OPS:
        return ()
    if op in FIRST_ONLY:
        return eqn.args[:1]
    if op is st.add_at:
        return (eqn.args[0], eqn.args[-1])
    if op is ct.add_attr:
        return (eqn.args[0], eqn.args[2])
    return _by_rule(eqn)


def _by_rule(eqn: Eqn) -> Iterable[Atom]:
    rule = rule_for(eqn.op)
    if rule is None:
        return eqn.args
    if rule.form == "zero":
        return ()
    rows = rule.rows
    if rule.form in ("linear", "bilinear") or (rule.form == "scalar" and len(rows) > 1):
        return [arg for arg, row in zip(eqn.args, rows, strict=False) if row is not None]
    return eqn.args


class _Varied:
    """Forward: what depends on the differentiated values."""

    def __init__(self, varied: set[Var], operands: Operands):
        self.varied = varied
        self.operands = operands

    def mark(self, var: Var) -> bool:
        if var in self.varied or not is_differentiable(var.kind):
            return False
        self.varied.add(var)
        return True

    def any_in(self, atoms: Iterable[Atom]) -> bool:
        return any(atom in self.varied for atom in atoms)

    def block(self, block: Block) -> None:
        for eqn in block.eqns:
            if eqn.op is IF:
                self.if_(eqn)
            elif eqn.op in LOOPS:
                self.loop(eqn)
            elif self.any_in(eqn.args if eqn.op is CALL else self.operands(eqn)):
                for out in eqn.outs:
                    self.mark(out)

    def if_(self, eqn: Eqn) -> None:
        for inner in eqn.blocks:
            self.block(inner)
            for out, result in zip(eqn.outs, inner.outs, strict=True):
                if result in self.varied:
                    self.mark(out)

    def loop(self, eqn: Eqn) -> None:
        loop = view(eqn)
        self.copy(loop.iterables, loop.items)
        self.copy(loop.initials, loop.carried)
        changed = True
        while changed:
            self.block(loop.body)
            changed = self.copy(loop.results, loop.carried)
        self.copy(loop.carried, loop.outs)
        self.copy(loop.collected, loop.lists)

    def copy(self, sources: Sequence[Atom], targets: Sequence[Var]) -> bool:
        pairs = zip(sources, targets, strict=True)
        marked = [self.mark(target) for source, target in pairs if source in self.varied]
        return any(marked)


class _Useful:
    """Backward: what the wanted values depend on."""

    def __init__(self, useful: set[Var], varied: set[Var], operands: Operands):
        self.useful = useful
        self.varied = varied
        self.operands = operands

    def mark(self, atoms: Iterable[Atom]) -> None:
        self.useful.update(atom for atom in atoms if isinstance(atom, Var) and atom in self.varied)

    def block(self, block: Block) -> None:
        for eqn in reversed(block.eqns):
            if eqn.op in LOOPS:
                self.loop(eqn)
            elif not any(out in self.useful for out in eqn.outs):
                continue
            elif eqn.op is IF:
                self.if_(eqn)
            else:
                self.mark(eqn.args if eqn.op is CALL else self.operands(eqn))

    def if_(self, eqn: Eqn) -> None:
        for inner in eqn.blocks:
            pairs = zip(eqn.outs, inner.outs, strict=True)
            self.mark(result for out, result in pairs if out in self.useful)
            self.block(inner)

    def loop(self, eqn: Eqn) -> None:
        loop = view(eqn)
        if not any(out in self.useful for out in eqn.outs):
            return
        self.copy(loop.lists, loop.collected)
        self.copy(loop.outs, loop.carried)
        before = -1
        while before != len(self.useful):
            before = len(self.useful)
            self.copy(loop.carried, loop.results)
            self.block(loop.body)
        self.copy(loop.carried, loop.initials)
        self.copy(loop.items, loop.iterables)
        self.copy(loop.carried, loop.outs)

    def copy(self, needed: Sequence[Var], sources: Sequence[Atom]) -> None:
        self.mark(source for var, source in zip(needed, sources, strict=True) if var in self.useful)
