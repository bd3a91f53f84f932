"""What a node is computed of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ...ir.graph import Atom, Eqn, Var

if TYPE_CHECKING:
    from .nodes import Nodes


def missing(graph: Nodes, atom: Atom, known: Mapping[Var, Any]) -> list[Eqn]:
    """The equations that a node still needs, in order; what is known is not looked behind."""
    found: dict[Var, Eqn] = {}
    pending = [atom]
    while pending:
        var = pending.pop()
        if not isinstance(var, Var) or var in known or var in found:
            continue
        eqn = graph.builder.definition(var)
        if eqn is not None:
            found[var] = eqn
            pending.extend(eqn.operands())
    return sorted(found.values(), key=lambda eqn: eqn.outs[0].born)
