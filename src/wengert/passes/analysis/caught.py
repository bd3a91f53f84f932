"""What a `try` catches may carry values with derivatives: nobody follows them."""

from __future__ import annotations

from collections.abc import Container

from ...errors import NoRule
from ...ir.graph import CALL, Atom, Block, Eqn, walk
from ...ops import structure as st

HOLDING = (st.opaque, st.pack)
"""Ops that make exceptions of values, and containers that hold exceptions."""

_UNKNOWN_INSIDE = (st.apply, st.pullback_of)
"""Ops that call what nobody has read: it may raise anything."""


def carries(body: Block, varied: Container[Atom]) -> bool:
    """Whether an exception that a block raises may hold one of some values, or be one of them."""
    for eqn in walk(body):
        if eqn.op is st.raise_ and eqn.args[0] in varied:
            return True
        if (eqn.op is CALL or eqn.op in _UNKNOWN_INSIDE) and any(a in varied for a in eqn.args):
            return True
    return False


def refused(eqn: Eqn) -> NoRule:
    """The error for an exception through which a derivative would have to flow."""
    return NoRule(
        "no derivative flows through what an exception carries out of a function that is called here",
        "Return the value instead of raising it, or raise the exception in the `try` itself.",
        eqn.span,
    )
