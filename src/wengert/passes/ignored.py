"""Which floating-point errors a program ignores: its derivative says nothing of them either."""

from __future__ import annotations

import numpy as np

from ..ir.graph import CALL, Block, Const, Eqn, Function, walk

_OF_DECORATOR = "_make_extobj"
"""What NumPy calls where `np.errstate` decorates a function."""

ERRORS = ("divide", "over", "under", "invalid")


def ignored_errors(function: Function) -> tuple[str, ...]:
    """What some `np.errstate` of a program ignores, by NumPy's names."""
    found: set[str] = set()
    seen: set[int] = set()
    pending: list[Block] = [function.body]
    while pending:
        for eqn in walk(pending.pop()):
            found |= _ignored_by(eqn)
            callee = eqn.param("callee").function if eqn.op is CALL else None
            if isinstance(callee, Function) and id(callee) not in seen:
                seen.add(id(callee))
                pending.append(callee.body)
    return tuple(error for error in ERRORS if found & {error, "all"})


def _ignored_by(eqn: Eqn) -> set[str]:
    name = getattr(eqn.op.implementation, "__name__", "")
    if eqn.op.implementation is not np.errstate and name != _OF_DECORATOR:
        return set()
    return {name for name, setting in eqn.params.items() if setting == Const("ignore")}
