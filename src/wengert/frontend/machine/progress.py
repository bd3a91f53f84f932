"""How far a reading came before it was refused: what stopped the one that came furthest is what is wrong.

A program is read by kinds, then for one run. Each may overcome what stopped the one before it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from types import CodeType, TracebackType

from ...errors import WengertError
from ...ir.records import value_record


@value_record
class Progress:
    """Which statements a reading has completed, and in which it stopped: the outermost first."""

    completed: frozenset[int]
    stopped: tuple[ast.stmt, ...]

    def goes_beyond(self, other: Progress) -> bool:
        """Whether it has overcome what stopped another reading."""
        if not other.stopped or not self.stopped:
            return False
        obstacle = other.stopped[-1]
        if id(obstacle) in self.completed:
            return True
        if any(each is obstacle for each in self.stopped):
            return len(self.stopped) > len(other.stopped)
        return _lines(self.stopped) > _lines(other.stopped)


def _lines(statements: Sequence[ast.stmt]) -> list[int]:
    return [each.lineno for each in statements]


def note(error: WengertError, completed: set[int], reads: CodeType) -> None:
    """Note how far a reading came that an error has ended; `reads` is the code that reads statements."""
    stopped: list[ast.stmt] = []
    entry: TracebackType | None = error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code is reads:
            stopped.append(entry.tb_frame.f_locals["node"])
        entry = entry.tb_next
    error.progress = Progress(frozenset(completed), tuple(stopped))


def furthest(refusals: Sequence[WengertError]) -> WengertError:
    """The error of the reading that came furthest; of those that came as far, the first."""
    first, *others = refusals
    for each in others:
        if first.progress is None:
            return first  # that reading came to its end
        says_more = set(first.findings) < set(each.findings)
        if says_more or each.progress is None or each.progress.goes_beyond(first.progress):
            first = each
    return first
