"""Searches by comparison in a recorded run, as bisection is: what one finds moves with the argument, unseen.

The recorder does not see how plain numbers are computed, only that they are compared with numbers that have
derivatives. The sign of a search is one place in the program that compares again and again, with differences that
become smaller by a factor each time and change their sign; and in the end a difference of nearly nothing still moves
with the argument, or what the function gives does not. Where the number that is found has a derivative, as in Newton's
method, the difference stays nothing.
Counting up to a bound, looking up a table and iterating until a step is small are no searches: differences shrink by
amounts, end at the spacing of the table, or keep their sign.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from types import CodeType, FrameType
from typing import Any

import numpy as np

from ...errors import DerivativeWarning
from ...ir.callers import span_at
from ...numbers.number import value_of
from .boxes import Recorded, is_active, operand
from .sweeps import Run
from .tape import FLOATS, Number, Tape

_SHRINKS = 0.75
_TIMES, _SIGNS, _CLOSE = 8, 2, 1e-5
_MOVES = 0.01
_REAL = frozenset((*FLOATS, int))


class Search:
    """What one place in a program has compared so far."""

    __slots__ = ("changes", "closer", "closest", "first", "last", "sign")

    def __init__(self) -> None:
        self.first = self.sign = 0.0
        self.closest = float("inf")
        self.closer, self.changes = 0, -1
        """How often a difference was smaller by a factor than all before, and how often its sign has changed."""
        self.last: tuple[Any, Any] = 0.0, 0.0

    def compare(self, difference: float) -> None:
        sign = float((difference > 0) - (difference < 0))
        if sign != self.sign or self.changes < 0:
            self.sign = sign
            self.changes += 1
        if 0.0 < abs(difference) < _SHRINKS * self.closest:
            self.closest = abs(difference)
            self.first = self.first or self.closest
            self.closer += 1

    def is_one(self) -> bool:
        is_close = self.closest < _CLOSE * self.first
        return self.closer >= _TIMES and self.changes >= _SIGNS and is_close


def compare(frame: FrameType, x: Recorded, other: Any) -> None:
    """Note that the code of a frame has compared a number that has a derivative, or arrays, by their first elements."""
    tape = x.tape
    if len(tape.compared) >= _MOST or not tape.is_open or tape.is_listed:
        return
    if x.memory is not None:
        moves = is_active(x, tape) or is_active(other, tape)
        if not moves or not x.size or np.shape(value_of(other)) not in ((), x.shape):
            return
        first = (0,) * x.ndim
        both = x[first], other[first] if np.ndim(value_of(other)) else other
    else:
        both = x, other
    tape.compared.append((frame.f_code, frame.f_lasti, tuple(operand(each, tape) for each in both)))


_MOST = 1_000
"""So many comparisons of a run are looked at: what searches for a number does so at once."""


def _searches(tape: Tape) -> dict[tuple[CodeType, int], Search]:
    """What has been compared, by the instruction that did."""
    searches: dict[tuple[CodeType, int], Search] = {}
    for code, instruction, both in tape.compared:
        left, right = (value_of(x.value if isinstance(x, Number) else x) for x in both)
        if type(left) in FLOATS and type(right) in _REAL:
            search = searches.get((code, instruction))
            if search is None:
                search = searches[code, instruction] = Search()
            search.compare(float(left) - float(right))
            search.last = both
    return searches


def warn_of_searches(run: Run, leaves: Sequence[Any], results: Sequence[Recorded]) -> None:
    """Warn where a run has searched for a number by comparing.

    Args:
        run: the run.
        leaves: the numbers and arrays that it is differentiated by.
        results: what it has given.

    Warns:
        DerivativeWarning: with the place of the comparison.
    """
    for (code, instruction), search in _searches(run.tape).items():
        if search.is_one() and (
            not any(is_active(y, run.tape) for y in results)
            or _moves(run, search, leaves) > _MOVES * search.first
        ):
            warnings.warn(
                f"{span_at(code, instruction)}: what is searched for by this comparison depends on what is "
                "differentiated through comparisons alone, so that it has no derivative: if it is a root, use "
                "`brentq` or `wg.implicit`, or cut it off (`wg.stop_gradient`) and make one step of Newton's "
                "method from there",
                DerivativeWarning,
                stacklevel=2,
            )
    run.tape.compared.clear()


def _moves(run: Run, search: Search, leaves: Sequence[Any]) -> float:
    """How far the last difference moves as what it depends on changes by itself."""
    bars = run.pulled(search.last, (1.0, -1.0), leaves)
    moves = [
        np.abs(np.multiply(value_of(bar), value_of(leaf))).sum()
        for bar, leaf in zip(bars, leaves, strict=True)
        if bar is not None
    ]
    return float(sum(moves))
