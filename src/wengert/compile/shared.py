"""Objects that a function is given, or has captured, in two ways: it sees a change of one of them by both.

What reading takes apart has one name. Where the program changes something that it is given, it is looked whether
anything that can change is reached twice: by two functions that have captured it, or as a part of two objects.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from ..errors import UnsupportedSyntax
from ..ir.callers import calling_span
from ..ir.graph import Const, Function, Var
from ..ir.steps import Field, Viewed
from ..ir.types import leaves
from ..passes.analysis.changed_parts import Way, changed_parts
from ..runtime import identity, unchanged
from ..runtime.containers import SEQUENCES, own_attributes
from ..runtime.copies import can_change
from ..runtime.reached import reached_from
from . import calling

Changes = tuple[tuple[str, Way], ...]
"""By the name of an input, the ways to what a program changes of it."""


def changes_of(function: Function) -> Changes | None:
    """What a program changes of what it is given; None if not all of it is known."""
    parts = changed_parts(function.body)
    if parts is None:
        return None
    names: dict[Var, str] = {}
    params = iter(function.body.params)
    for each in function.inputs:
        for path, _ in leaves(each.kind):
            param = next(params)
            if not path:
                names[param] = each.name
    if not all(param in names for param, _ in parts):
        return None
    return tuple((names[param], way) for param, way in parts)


def refuse(
    function: Any, args: Sequence[Any], kwargs: Mapping[str, Any], changes: Changes | None
) -> None:
    """Refuse to read a program that changes what it may see by another name.

    Raises:
        UnsupportedSyntax: something that it changes is reached in two ways.
    """
    given = (*args, *kwargs.values())
    try:
        unchanged.apart(*given)
    except ValueError:
        return  # one argument given twice: the call is refused
    captured = calling.captured_by(function)
    changed: list[Any] | None = None
    if changes is not None:
        names = calling.argument_names(function, len(args))
        values = {**dict(zip(names, args, strict=True)), **kwargs, **captured}
        changed = [x for name, way in changes for x in _reached_by(values[name], way)]
    if is_reached_twice((*given, *captured.values()), changed):
        raise UnsupportedSyntax(
            f"{calling.name_of(function)} changes an object, and reaches one in two ways: two functions have captured "
            "it, or two objects hold it",
            "Reach it in one way, or take the derivative with `wg.grad`, which records a run.",
            calling_span(),
        )


def _reached_by(value: Any, way: Way) -> list[Any]:
    """What a way leads to; by steps that only the run knows, all that they may lead to."""
    found = [value]
    for step in way:
        if all(isinstance(x, np.ndarray) for x in found):
            break
        key = step.value if isinstance(step, Const) else None
        found = [y for x in found for y in _parts(x, key)]
    return found


def _parts(x: Any, key: Any) -> list[Any]:
    if isinstance(key, Viewed):
        return [x]
    try:
        if isinstance(key, Field):
            return [key.of(x)]
        if isinstance(key, (int, str)):
            return [x[key]]
    except (AttributeError, LookupError, TypeError):
        pass  # it is made by the run
    return [y for y in reached_from(x) if can_change(y)]


def is_reached_twice(values: Iterable[Any], changed: Sequence[Any] | None = None) -> bool:
    """Whether an object that can change is held in two places of what is given, or two arrays share memory.

    `changed`: what the program changes, if that is known; others may be held in several places.
    """
    held = list(_all_held(values))
    times = Counter(map(id, held))
    again = [x for x in held if times[id(x)] > 1 and _holds_data(x)]
    if again and changed is not None:
        wanted = {id(x) for x in changed}
        again = [x for x in _all_held(again) if id(x) in wanted]
    arrays = [x for x in held if isinstance(x, np.ndarray)]
    of_arrays = changed is None or any(isinstance(x, np.ndarray) for x in changed)
    return bool(again) or (of_arrays and identity.overlap(arrays))


def _all_held(values: Iterable[Any]) -> Iterator[Any]:
    """What can change among some values and what they hold, each as often as it is held."""
    seen: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, ModuleType) or not (can_change(value) or isinstance(value, tuple)):
            continue
        if not isinstance(value, np.ndarray) and hasattr(type(value), "__array_function__"):
            continue  # an array of another library, as the program sees it
        yield value
        if id(value) not in seen:
            seen.add(id(value))
            pending.extend(reached_from(value))


def _holds_data(value: Any) -> bool:
    """Whether a value is an object with items or attributes that a program may change."""
    if isinstance(value, (tuple, type, FunctionType, functools.partial)):
        return False
    return isinstance(value, (list, dict, set, *SEQUENCES)) or bool(own_attributes(value))
