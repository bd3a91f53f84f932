"""When a program that takes long to read is recorded instead, and when it is read after all.

Reading is paid once and makes every call fast, recording is paid in every call. So reading stops at a budget; runs are
recorded until they have taken as long as the next reading may, which may read more. However many calls there are, they
take a bounded multiple of the better way (renting or buying skis; Karlin, Manasse, Rudolph and Sleator, Competitive
snoopy caching, Algorithmica 3, 1988).
"""

from __future__ import annotations

import math
from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter

from ..errors import UnsupportedSyntax
from ..frontend.machine.budget import Budget, TakesLong, reading_within
from ..ir.graph import Span

NODES = 20_000
"""How many expressions and statements of the user's a first reading may read: what they take is a second or two."""
GROWTH = 4
"""How many times as much the next one may read."""


class Account:
    """What readings of one function have cost in vain, and recorded runs since."""

    def __init__(self) -> None:
        self.nodes: float = NODES
        self.owed = 0.0
        """The seconds of recorded runs to go before it is read again."""

    @contextmanager
    def reading(self) -> Generator[None]:
        """Read within the budget.

        Raises:
            LongReading: that is not enough, or the last reading has not paid yet.
        """
        waits = self.owed > 0
        token = reading_within.set(Budget(0 if waits else self.nodes))
        begun = perf_counter()
        try:
            yield
        except TakesLong as stopped:
            if not waits:
                self.owed = GROWTH * (perf_counter() - begun)
                self.nodes *= GROWTH
            raise LongReading.by(self, stopped.span) from None
        finally:
            reading_within.reset(token)

    @contextmanager
    def recording(self) -> Generator[None]:
        """Record a run, which pays for the last reading."""
        begun = perf_counter()
        try:
            yield
        finally:
            self.owed -= perf_counter() - begun

    def read_at_once(self) -> None:
        """From now on, read whatever it takes: recording is refused."""
        self.nodes, self.owed = math.inf, 0.0


class LongReading(UnsupportedSyntax):
    """What is recorded because reading it takes long."""

    account: Account

    @classmethod
    def by(cls, account: Account, span: Span | None) -> LongReading:
        refusal = cls(
            "reading this program takes longer than recording some runs of it; it had come this far",
            "Once recorded runs have taken as long as reading would, it is read.\n"
            '`tier="static"` reads it at once.',
            span,
        )
        refusal.account = account
        return refusal
