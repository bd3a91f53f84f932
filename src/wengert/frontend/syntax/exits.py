"""Where control does not go on, by the syntax alone."""

from __future__ import annotations

import ast
from collections.abc import Sequence


def always_leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether control certainly does not reach the end of a body (by its syntax alone)."""
    if not body:
        return False
    last = body[-1]
    match last:
        case ast.Return() | ast.Raise() | ast.Break() | ast.Continue():
            return True
        case ast.If(body=then, orelse=other):
            return always_leaves(then) and always_leaves(other)
        case _:
            return False
