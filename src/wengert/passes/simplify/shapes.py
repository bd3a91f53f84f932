"""Shapes: what would be computed for its shape alone is not computed.

In: any block. Out: a block with the same results, in which an array whose shape is all that is asked for
is replaced by one of the same shape that is there anyway. `tidy` then leaves out what nothing else needs.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence

from ...ir.builder import Builder
from ...ir.graph import Atom, Block, Eqn, Var
from ...ir.records import replace
from ...ir.types import Array
from ...ops import registry, structure as st
from ..analysis.write_sets import written
from ..blocks.tidy import Needed

ASKED = {
    st.unbroadcast: 1,
    st.fill: 1,
    registry.named("broadcast_like"): 1,
    registry.named("unreduce"): 1,
    registry.named("shape"): 0,
    registry.named("size"): 0,
}
"""Ops that ask for nothing but the shape of one operand, and which."""


def with_shapes_of_needed(body: Block, given: Sequence[Eqn] = ()) -> Block:
    """Ask for the shapes of values that are needed anyway, where that can be known.

    `given` are equations that run before, and stay as they are: they cannot read the body's parameters.
    """
    whole = replace(body, eqns=(*given, *body.eqns))
    shapes = _Shapes(Needed(whole, unasked=_asked_for).values, written(whole).clobbered)
    known: dict[Var, Var] = {}
    defined: dict[Var, Eqn] = {}
    shapes.learn(known, body.params)
    for eqn in given:
        shapes.enter(eqn, known, defined)
    return shapes.in_block(body, known, defined)


def _asked_for(eqn: Eqn) -> Iterable[Atom]:
    """The operand of which an equation only reads the shape."""
    return () if eqn.op not in ASKED else (eqn.args[ASKED[eqn.op]],)


class _Shapes:
    """Which needed array has which shape, block by block."""

    def __init__(self, needed: Container[Atom], clobbered: Container[Atom]):
        self._needed = needed
        self._clobbered = clobbered

    def in_block(
        self, block: Block, around: Mapping[Var, Var], defined: Mapping[Var, Eqn]
    ) -> Block:
        """The block, given what has a shape around it and how values are computed."""
        known, defined = dict(around), dict(defined)
        eqns: list[Eqn] = []
        for eqn in block.eqns:
            if eqn.blocks:
                blocks = tuple(self.in_block(inner, known, defined) for inner in eqn.blocks)
                eqns += self._asking_another(replace(eqn, blocks=blocks), known, defined)
            else:
                eqns += self._asking_another(eqn, known, defined)
            self.enter(eqn, known, defined)
        return Block(block.params, tuple(eqns), block.outs)

    def enter(self, eqn: Eqn, known: dict[Var, Var], defined: dict[Var, Eqn]) -> None:
        """What is known after an equation."""
        if not eqn.blocks:
            self.learn(known, eqn.outs)
        defined.update(dict.fromkeys(eqn.outs, eqn))

    def learn(self, known: dict[Var, Var], variables: Iterable[Var]) -> None:
        """Enter values that are there whenever they can be read; what a branch or a loop gives need not be."""
        for var in variables:
            is_array = isinstance(var.kind, Array)
            if is_array and var in self._needed and var not in self._clobbered:
                known.setdefault(var.shape_of, var)

    def _asking_another(
        self, eqn: Eqn, known: dict[Var, Var], defined: Mapping[Var, Eqn]
    ) -> list[Eqn]:
        """The equation, after one that computes what to ask if that is needed."""
        for atom in _asked_for(eqn):
            if not isinstance(atom, Var) or not isinstance(atom.kind, Array):
                continue
            if atom in self._needed:
                continue
            shape = atom.shape_of
            before, other = [], known.get(shape)
            if other is None and len(shape.roots or ()) <= self._steps(atom, defined):
                before, other = _broadcast_together(shape, known, eqn)
            if other is not None and other.kind == replace(atom.kind, dtype=_dtype(other)):
                known[shape] = other
                k = ASKED[eqn.op]
                args = (*eqn.args[:k], other, *eqn.args[k + 1 :])
                return [*before, replace(eqn, args=args)]
        return [eqn]

    def _steps(self, atom: Atom, defined: Mapping[Var, Eqn]) -> int:
        """How many equations of a block are there for this value only."""
        steps: set[Eqn] = set()
        pending = [atom]
        while pending:
            var = pending.pop()
            eqn = defined.get(var) if isinstance(var, Var) else None
            if eqn is not None and eqn not in steps and var not in self._needed:
                steps.add(eqn)
                pending.extend(eqn.operands())
        return len(steps)


def _broadcast_together(
    shape: Var, known: Mapping[Var, Var], asking: Eqn
) -> tuple[list[Eqn], Var | None]:
    """The cheapest array of the shape that several arrays broadcast to: their sum, and how to compute it."""
    roots = sorted(shape.roots or (), key=lambda var: var.born)
    if len(roots) < 2 or not all(root in known for root in roots):
        return [], None
    builder = Builder(asking.span)
    total: Atom = known[roots[0]]
    for root in roots[1:]:
        total = builder.emit(registry.named("add"), total, known[root])
    assert isinstance(total, Var)
    total.shape_of = shape
    return builder.eqns, total


def _dtype(var: Var) -> str:
    return var.kind.dtype if isinstance(var.kind, Array) else ""
