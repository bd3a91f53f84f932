"""Objects that a function is given, or has captured, in two ways: it sees a change of one of them by both.

What reading takes apart has one name. Where the program changes something that it is given, it is looked whether
anything that can change is reached twice: by two functions that have captured it, or as a part of two objects.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..errors import UnsupportedSyntax
from ..ir.callers import calling_span
from ..runtime import identity
from ..runtime.containers import SEQUENCES, own_attributes
from ..runtime.memory import can_change
from ..runtime.reached import reached_from
from . import calling


def refuse(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Refuse to read a program that changes what it may see by another name.

    Raises:
        UnsupportedSyntax: something that can change is reached in two ways.
    """
    given = (*args, *kwargs.values())
    try:
        identity.apart(*given)
    except ValueError:
        return  # one argument given twice: the call is refused
    if is_reached_twice((*given, *calling.captured_by(function).values())):
        raise UnsupportedSyntax(
            f"{calling.name_of(function)} changes an object, and reaches one in two ways: two functions have captured "
            "it, or two objects hold it",
            "Reach it in one way, or take the derivative with `wg.grad`, which records a run.",
            calling_span(),
        )


def is_reached_twice(values: Iterable[Any]) -> bool:
    """Whether an object that can change is held in two places of what is given, or two arrays share memory."""
    seen: set[int] = set()
    arrays: list[np.ndarray[Any, Any]] = []
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, np.ndarray):
            arrays.append(value)
        elif hasattr(type(value), "__array_function__"):
            continue  # an array of another library, as the program sees it
        if isinstance(value, ModuleType) or not (can_change(value) or isinstance(value, tuple)):
            continue
        if id(value) not in seen:
            seen.add(id(value))
            pending.extend(reached_from(value))
        elif _holds_data(value):
            return True
    return identity.overlap(arrays)


def _holds_data(value: Any) -> bool:
    """Whether a value is an object with items or attributes that a program may change."""
    if isinstance(value, (tuple, type, FunctionType, functools.partial)):
        return False
    return isinstance(value, (list, dict, set, *SEQUENCES)) or bool(own_attributes(value))
