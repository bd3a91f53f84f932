"""An op on Taylor numbers of one level: what is a series there, and what a constant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.op import Op
from ..levels import Level
from ..pushforward import zeros_of
from .power_series import Needs, Series, order_of

Step = Callable[[int], Any]
"""From an order to the coefficient of that order."""


class AtLevel:
    """An op at a level: what is a series at that level, what is a constant."""

    def __init__(self, op: Op, level: Level):
        self.op = op
        self.level = level

    def is_series(self, x: Any) -> bool:
        """Whether an operand is a series at this level."""
        return isinstance(x, Series) and x.level == self.level

    def series_in(self, args: Sequence[Any]) -> list[Series]:
        """The series among operands, and among the items of operands that are lists."""
        found: list[Series] = []
        for arg in args:
            if isinstance(arg, Series):
                if arg.level == self.level:
                    found.append(arg)
            elif isinstance(arg, (list, tuple)):
                found += self.series_in(arg)
        return found

    def part(self, x: Any, k: int) -> Any:
        """The coefficient of an operand; a constant has only the first."""
        if isinstance(x, Series) and x.level == self.level:
            return x.known[k]
        if isinstance(x, (list, tuple)) and self.series_in(x):
            return type(x)(self.part(item, k) for item in x)
        return x if k == 0 else zeros_of(x)

    def make(
        self, args: Sequence[Any], first: Any, step: Step, needs: Needs, end: int | None = None
    ) -> Series:
        """A series from its first coefficient and the way to compute the others."""
        series = self.series_in(args)
        made = type(series[0])([first], level=self.level)
        made.order = order_of(series)
        made.step, made.needs, made.end = step, needs, end
        return made

    def coefficientwise(self, args: tuple[Any, ...], function: Callable[..., Any]) -> Any:
        """A linear function, which every order obeys by itself."""
        parts = self.series_in(args)
        ends = [part.end for part in parts]
        end = None if None in ends else max(end for end in ends if end is not None)
        if len(args) == 1 and self.is_series(args[0]):
            known = args[0].known
            step: Step = lambda k: function(known[k])
        else:
            step = lambda k: function(*[self.part(arg, k) for arg in args])
        first = step(0)
        if isinstance(first, (list, tuple)):
            return type(first)(
                self.coefficientwise(args, lambda *xs, j=j: function(*xs)[j])
                for j in range(len(first))
            )
        return self.make(args, first, step, tuple((part, 0) for part in parts), end)


def value_at(at: AtLevel, x: Any) -> Any:
    """The first coefficient of a series; a constant itself."""
    return x.value if at.is_series(x) else x
