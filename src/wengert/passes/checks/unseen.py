"""What no derivative goes through, and yet is a call of a function that nobody has read."""

from __future__ import annotations

from ...ir.graph import Eqn, walk
from ...ir.records import replace
from ...ops import structure as st


def as_unseen(eqn: Eqn) -> Eqn:
    """An equation that the derivative does not see; what it calls may not change what others see."""
    if eqn.op is st.apply:
        return replace(eqn, op=st.applied, namespace="rt")
    if any(inner.op is st.apply for block in eqn.blocks for inner in walk(block)):
        blocks = [replace(b, eqns=tuple(map(as_unseen, b.eqns))) for b in eqn.blocks]
        return replace(eqn, blocks=tuple(blocks))
    return eqn
