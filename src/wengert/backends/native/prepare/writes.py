"""Which ops change arrays in place."""

from __future__ import annotations

from ....ir.graph import Function, walk

WRITES = frozenset(("store", "stored", "add_at", "overwrite"))
"""Ops that change their first operand in place."""
OF_DERIVATIVES = frozenset(("stored", "add_at"))
"""Those of them whose operand nobody else sees."""


def changes_arrays(function: Function) -> bool:
    """Whether a function writes to arrays, or calls one that does."""
    return any(
        eqn.op.name in WRITES - OF_DERIVATIVES or eqn.param("updates", ())
        for eqn in walk(function.body)
    )
