"""Linear functions of plain numbers, for numbers with derivatives: every coefficient by itself."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..ops.elementwise import pos
from .arguments import mapped_numbers
from .dual import Directions, Dual, part
from .forward import numbers_in
from .number import PerturbedNumber
from .pushforward import completed
from .results import in_direction
from .series.at_level import AtLevel

OfLeaves = Callable[[Sequence[Any]], list[Any]]


def coefficientwise(function: Callable[[Any], Any], given: Any) -> Any:
    """What a linear function of a structure of plain numbers gives for one of numbers with derivatives."""
    result: Any = None

    def of_leaves(leaves: Sequence[Any]) -> list[Any]:
        nonlocal result
        remaining = iter(leaves)
        result = function(mapped_numbers(given, lambda _: next(remaining)))
        return numbers_in(result)

    found = iter(_of(of_leaves, numbers_in(given)))
    return mapped_numbers(result, lambda _: next(found))


def _of(function: OfLeaves, leaves: Sequence[Any]) -> list[Any]:
    levels = [leaf.level for leaf in leaves if isinstance(leaf, PerturbedNumber)]
    if not levels:
        return function(leaves)
    level = max(levels)
    if not any(isinstance(leaf, Dual) and leaf.level == level for leaf in leaves):
        at = AtLevel(pos, level)
        return list(at.coefficientwise(tuple(leaves), lambda *parts: tuple(_of(function, parts))))
    tangents = [completed(part(leaf, level, "tangent"), leaf) for leaf in leaves]
    values = _of(function, [part(leaf, level, "primal") for leaf in leaves])
    several = next((len(dot) for dot in tangents if isinstance(dot, Directions)), 0)
    columns = [
        _of(function, [in_direction(dot, k) for dot in tangents]) for k in range(several or 1)
    ]
    dots = [Directions(each) if several else each[0] for each in zip(*columns, strict=True)]
    return [Dual(y, dot, level) for y, dot in zip(values, dots, strict=True)]
