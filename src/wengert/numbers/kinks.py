"""A length at 0 of duals inside others is that of the inner direction (`passes/edges/slopes_at_kinks`).

Its slope there as a number, 0, says nothing of what is near, so that |x| tanh |x| would have the second derivative 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..ir.op import Op
from ..ops import elementwise as el
from .dual import Directions, Dual
from .number import value_of
from .pushforward import pushforward, zeros_of


def along(
    op: Op,
    operands: tuple[Any, ...],
    options: dict[str, Any],
    tangents: Sequence[Any],
    found: tuple[Any, Any],
) -> tuple[Any, Any]:
    """A length and its tangent, on the side that the inner direction leads to where they are 0."""
    length, slope = found
    at_kink = np.equal(value_of(length), 0)
    if not isinstance(length, Dual) or not np.any(at_kink):
        return found
    if any(isinstance(each, Directions) for each in (slope, length.tangent, *tangents)):
        return found
    inner = tuple(_tangent_of(x, length) for x in operands)
    size = op(*inner, **options)
    push = pushforward(op, inner, size, options)
    assert push is not None
    of_side = push(list(tangents))
    moved = Dual(length.primal, _chosen(at_kink, size, length.tangent), length.level)
    return moved, _chosen(at_kink, of_side, slope)


def _tangent_of(x: Any, like: Dual) -> Any:
    return x.tangent if isinstance(x, Dual) and x.level == like.level else zeros_of(x)


def _chosen(at_kink: Any, then: Any, other: Any) -> Any:
    if np.ndim(at_kink) == 0:
        return then if at_kink else other
    return el.where(at_kink, then, other)
