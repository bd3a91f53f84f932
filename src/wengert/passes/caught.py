"""What a `try` catches may carry values with derivatives: nobody follows them."""

from __future__ import annotations

from collections.abc import Container

from ..errors import NoRule
from ..ir.graph import CALL, Atom, Block, Eqn, Var, walk
from ..ops import structure as st

_UNKNOWN_INSIDE = (st.apply, st.pullback_of)
"""Ops that call what nobody has read: it may raise anything."""


def carries(body: Block, varied: Container[Atom]) -> bool:
    """Whether an exception that a block raises may hold one of some values."""
    made = {out: eqn for eqn in walk(body) for out in eqn.outs}
    for eqn in walk(body):
        if eqn.op is st.raise_ and _holds(eqn.args[0], made, varied):
            return True
        if (eqn.op is CALL or eqn.op in _UNKNOWN_INSIDE) and any(a in varied for a in eqn.args):
            return True
    return False


def _holds(exception: Atom, made: dict[Var, Eqn], varied: Container[Atom]) -> bool:
    eqn = made.get(exception) if isinstance(exception, Var) else None
    if exception in varied or eqn is None:
        return exception in varied
    return eqn.op is st.opaque and any(arg in varied for arg in eqn.args)


def refused(eqn: Eqn) -> NoRule:
    """The error for an exception through which a derivative would have to flow."""
    return NoRule(
        "no derivative flows through what an exception carries out of a function that is called here",
        "Return the value instead of raising it, or raise the exception in the `try` itself.",
        eqn.span,
    )
