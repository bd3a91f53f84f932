"""Which floating-point errors a program ignores: its derivative says nothing of them either."""

from __future__ import annotations

import numpy as np

from ...ir.graph import Const, Eqn, Function, walk, with_called

_OF_DECORATOR = "_make_extobj"
"""What NumPy calls where `np.errstate` decorates a function."""

ERRORS = ("divide", "over", "under", "invalid")


def ignored_errors(function: Function) -> tuple[str, ...]:
    """What some `np.errstate` of a program ignores, by NumPy's names."""
    found: set[str] = set()
    for each in with_called(function):
        for eqn in walk(each.body):
            found |= _ignored_by(eqn)
    return tuple(error for error in ERRORS if found & {error, "all"})


def _ignored_by(eqn: Eqn) -> set[str]:
    name = getattr(eqn.op.implementation, "__name__", "")
    if eqn.op.implementation is not np.errstate and name != _OF_DECORATOR:
        return set()
    return {name for name, setting in eqn.params.items() if setting == Const("ignore")}
