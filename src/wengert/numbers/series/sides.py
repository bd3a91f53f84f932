"""Lengths at their kink: |x(t)|, where x(0) is 0, is one power series for t > 0 and another for t < 0.

What is computed of a length is computed on both sides. Where the sides agree, as they do for what is smooth, they are
its coefficients; elsewhere a coefficient is their mean, such as 0 for the slope of |t|.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...ir.op import Op
from ...rules.identities.squares import LENGTHS
from ..levels import Level
from ..number import PerturbedNumber
from ..pushforward import zeros_of
from . import recurrences
from .at_level import AtLevel
from .power_series import Series

_DEEP = 20
"""How many leading coefficients of 0 are looked through."""

_SIGNS = (1, -1)


def applied(op: Op, args: tuple[Any, ...], options: dict[str, Any], level: Level) -> Any:
    """An op on Taylor numbers of a level, on both sides of a kink that they come from."""
    at = AtLevel(op, level)
    if any(_has_sides(at, arg) for arg in args):
        both = [_on_side(at, args, options, side) for side in range(2)]
        return _joined(at, *both)
    result = recurrences.applied(at, args, options)
    return _length(at, args, options, result, _DEEP) if op.name in LENGTHS else result


def _has_sides(at: AtLevel, x: Any) -> bool:
    if isinstance(x, Series):
        return x.sides is not None and x.level == at.level
    return isinstance(x, (list, tuple)) and any(_has_sides(at, item) for item in x)


def _on_side(at: AtLevel, args: tuple[Any, ...], options: dict[str, Any], side: int) -> Any:
    of_side = lambda x: x if x.sides is None else x.sides[side]
    result = applied(at.op, _mapped(at, args, of_side), options, at.level)
    return _mapped(at, result, of_side)


def _mapped(at: AtLevel, x: Any, function: Callable[[Series], Any]) -> Any:
    """A value with something in the place of each series of the level."""
    if at.is_series(x):
        return function(x)
    if isinstance(x, (list, tuple)) and at.series_in(x):
        items = [_mapped(at, item, function) for item in x]
        return tuple.__new__(type(x), items) if isinstance(x, tuple) else items
    return x


def _joined(at: AtLevel, plus: Any, minus: Any) -> Any:
    if isinstance(plus, (list, tuple)):
        items = [_joined(at, *pair) for pair in zip(plus, minus, strict=True)]
        return tuple.__new__(type(plus), items) if isinstance(plus, tuple) else items
    if not at.is_series(plus) or not at.is_series(minus):
        return plus
    made = at.make(
        (plus, minus),
        plus.value,
        lambda k: (plus.known[k] + minus.known[k]) / 2,
        ((plus, 0), (minus, 0)),
    )
    made.sides = plus, minus
    return made


def _length(
    at: AtLevel, args: tuple[Any, ...], options: dict[str, Any], result: Any, depth: int
) -> Any:
    """A length with both its sides, where it is 0: |x| = |t| |x / t|."""
    if not at.is_series(result) or isinstance(result.value, PerturbedNumber) or depth == 0:
        return result
    at_kink: Any = result.value == 0
    if not np.any(at_kink) or any(x.order == 0 for x in at.series_in(args)):
        return result
    lower = tuple(_divided(at, arg) for arg in args)
    inner = recurrences.applied(at, lower, options)
    inner = _length(at, lower, options, inner, depth - 1)
    sides = inner.sides or (inner, inner)
    plus, minus = (
        _times(at, sign, side, result, at_kink) for sign, side in zip(_SIGNS, sides, strict=True)
    )
    return _joined(at, plus, minus)


def _divided(at: AtLevel, x: Any) -> Any:
    """x / t, of a series without its first coefficient."""
    if isinstance(x, (list, tuple)):
        return type(x)(_divided(at, item) for item in x)
    if not at.is_series(x):
        return zeros_of(x)
    first = x.coefficient(1) if x.end != 1 else zeros_of(x.value)
    end = None if x.end is None else max(x.end - 1, 1)
    made = at.make((x,), first, lambda k: x.known[k + 1], ((x, -1),), end)
    made.order = None if x.order is None else x.order - 1
    return made


def _times(at: AtLevel, sign: int, inner: Series, plain: Series, at_kink: Any) -> Series:
    """t times a series, or minus that, where a length is 0; elsewhere the length as it is."""

    def step(k: int) -> Any:
        raised = sign * inner.known[k - 1]
        return np.where(at_kink, raised, plain.known[k]) if np.ndim(at_kink) else raised

    return at.make((plain,), plain.value, step, ((inner, 1), (plain, 0)))
