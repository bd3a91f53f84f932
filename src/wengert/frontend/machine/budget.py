"""How much of a program may be read: what takes longer is recorded for the time being."""

from __future__ import annotations

import math
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...ir.graph import Span


class TakesLong(Exception):
    """A reading has read as much as it may.

    Attributes:
        span: how far it has come.
    """

    def __init__(self, span: Span | None):
        self.span = span


class Budget:
    """How many expressions and statements may yet be read, each as often as it is read."""

    def __init__(self, nodes: float = math.inf):
        self.left = nodes

    def spend(self, span: Span | None) -> None:
        """Count one that is read.

        Raises:
            TakesLong: it is one too many.
        """
        self.left -= 1
        if self.left < 0:
            raise TakesLong(span)

    def take(self, pairs: int) -> None:
        """Count pairs of objects that may share something: these are looked at many times over in large programs."""
        self.left -= pairs / PAIRS


PAIRS = 20
"""How many pairs of objects count as an expression: where there are many, all that follows objects takes longer."""


reading_within: ContextVar[Budget | None] = ContextVar("reading_within", default=None)
"""What readings that begin now may read; None for all there is."""


def budget_of_reading() -> Budget:
    """The budget of a reading that begins now."""
    return reading_within.get() or Budget()
