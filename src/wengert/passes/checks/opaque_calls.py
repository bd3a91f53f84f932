"""What no derivative goes through, and yet is a call of a function that nobody has read."""

from __future__ import annotations

from ...errors import NoRule
from ...ir.graph import Const, Eqn, walk
from ...ir.records import replace
from ...ops import structure as st
from ...runtime import calls


def as_unseen(eqn: Eqn) -> Eqn:
    """An equation that the derivative does not see; what it calls may not change what others see."""
    if eqn.op is st.apply:
        return replace(eqn, op=st.applied, namespace="rt")
    if any(inner.op is st.apply for block in eqn.blocks for inner in walk(block)):
        blocks = [replace(b, eqns=tuple(map(as_unseen, b.eqns))) for b in eqn.blocks]
        return replace(eqn, blocks=tuple(blocks))
    return eqn


def refuse_third(eqn: Eqn) -> None:
    """Refuse to differentiate a second derivative of a call whose function nobody has read.

    Raises:
        NoRule: saying what to do.
    """
    derived = [calls.reader(name) for name in ("cotangents", "tangent")]
    if any(isinstance(arg, Const) and arg.value in derived for arg in eqn.args):
        raise NoRule(
            "no third derivative passes through a function that is known only when the program runs",
            "Choose the function where wengert can see it: pass it as an argument of its own, or select\n"
            "it with `if` instead of looking it up.",
            eqn.span,
        )
