"""Levels: which of several infinitesimals is which.

A derivative taken inside another has an infinitesimal of its own; adding up the two as if they were one
is perturbation confusion (Siskind and Pearlmutter, 2005). Every differentiation has a level, later ones
higher. A number of a higher level holds those of lower levels as constants: they are inside it.

Numbers that a user makes have the level just above the differentiation that is under way and above the
numbers inside them. Two of the same depth share their infinitesimal, as in `f(Dual(a, 1), Dual(b, 2))`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import count
from typing import Any

from .refusals import said_by_numpy

Level = tuple[int, int]
"""The number of the differentiation, and how deep a number is nested in it."""

_count = count(1)
_active: ContextVar[int] = ContextVar("the differentiation under way", default=0)


@contextmanager
def differentiation() -> Generator[Level]:
    """A differentiation from beginning to end, with a level that no other has."""
    number = next(_count)
    token = _active.set(number)
    try:
        yield number, 0
    except (TypeError, ValueError, AttributeError) as error:
        raise said_by_numpy(error) from error.__cause__
    finally:
        _active.reset(token)


def is_under_way() -> bool:
    """Whether a differentiation by numbers is being run."""
    return _active.get() > 0


def level_above(*parts: Any) -> Level:
    """The level of a number that a user makes of these parts."""
    number, depth = max([(_active.get(), 0), *(level_of(part) for part in parts)])
    return number, depth + 1


def level_of(x: Any) -> Level:
    """The level of a value; that of a plain number is below all others."""
    level = getattr(type(x), "level", None)
    return (0, 0) if level is None else x.level
