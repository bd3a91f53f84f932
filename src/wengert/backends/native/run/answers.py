"""What a native function answers in the place of a result."""

from __future__ import annotations


class Answer:
    """One of the two answers; compared by identity."""

    __slots__ = ("meaning",)

    def __init__(self, meaning: str):
        self.meaning = meaning

    def __repr__(self) -> str:
        return f"<{self.meaning}>"


EXITED = Answer("left to the Python form")
OTHER_TYPES = Answer("arguments of other types")

interrupts: list[KeyboardInterrupt] = []
"""What the user interrupted while native code had Python compute something: raised once that has returned."""
