"""Which values writes could concern at all: the others need no closer look.

Values are connected where one may be the other, a part of it or what holds it, at any time. Only what is
connected with something that is written to can be changed by a write.
"""

from __future__ import annotations

from ...ir.graph import CALL, Atom, Block, Eqn, Var, walk
from ...ir.types import Seq, Unknown
from ..analysis.groups import Groups, handed_over, has_memory, is_computed
from ..analysis.write_sets import WRITES, targets
from ..blocks.flow import flow

JOINING = frozenset(("add", "mul"))
"""Ops that compute an array, or make a list of the items of others."""


class Concerned(Groups):
    """The values that are connected with what some equation of a function writes to."""

    def __init__(self, body: Block):
        super().__init__(body)
        written = [target for eqn in walk(body) for target in _written(eqn)]
        self._written = {self.find(var) for var in written if isinstance(var, Var)}

    def __contains__(self, var: Var) -> bool:
        return self.find(var) in self._written

    def _equation(self, eqn: Eqn) -> None:
        if eqn.blocks:
            self._come_of(flow(eqn))
        elif eqn.op is CALL or eqn.op.effect or not computes(eqn):
            found = [atom for atom in (*eqn.outs, *eqn.operands()) if has_memory(atom)]
            for atom in found[1:]:
                self.join(found[0], atom)


def computes(eqn: Eqn) -> bool:
    """Whether a result is in memory of its own, and holds nothing that is elsewhere."""
    joins = eqn.op.name in JOINING and isinstance(eqn.outs[0].kind, (Unknown, Seq))
    return is_computed(eqn) and not joins


def _written(eqn: Eqn) -> tuple[Atom, ...]:
    if eqn.op in WRITES:
        return eqn.args[:1]
    return (*targets(eqn), *handed_over(eqn).values())
