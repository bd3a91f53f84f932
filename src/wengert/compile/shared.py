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
from ..frontend.domain.values import held_by, is_mutable
from ..frontend.machine.guards import Guard
from ..ir.callers import calling_span
from ..ir.graph import Block, Const, Eqn, Function, Var, walk
from ..ir.steps import Field, Viewed
from ..ir.types import Static, leaves
from ..ops import structure as st
from ..passes.analysis.changed_parts import Way, changed_parts
from ..passes.analysis.write_sets import written
from ..runtime import identity, unchanged
from ..runtime.containers import SEQUENCES, own_attributes
from ..runtime.copies import can_change
from ..runtime.reached import reached_from
from . import calling

Changes = tuple[tuple[str, Way], ...]
"""By the name of an input, the ways to what a program changes of it."""


def changes_of(function: Function) -> Changes | None:
    """What a program changes of what it is given; None if not all of it is known, or it changes what is outside."""
    if _changed_outside(function.body):
        return None
    parts = changed_parts(function.body, function.body.params)
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
    function: Any,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    changes: Changes | None,
    guards: Iterable[Guard],
) -> None:
    """Refuse to read a program that changes what it may see by another name, also of a global that it relies on.

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
    outside = [
        held_by(holder, key)
        for holder, key, kind in guards
        if isinstance(holder, (dict, ModuleType)) and not isinstance(kind, Static)
    ]
    if is_reached_twice((*given, *captured.values(), *outside), changed):
        raise UnsupportedSyntax(
            f"{calling.name_of(function)} changes an object, and reaches one in two ways: two functions have captured "
            "it, or two objects or a global hold it",
            "Reach it in one way, or take the derivative with `wg.grad`, which records a run.",
            calling_span(),
        )


class Outside:
    """What a program changes outside: by who holds it and under which name, the way there if it is known.

    The places of others that it reads, and that may hold objects, come with it.
    """

    def __init__(
        self,
        changes: Sequence[tuple[Any, str, Way | None]],
        others: Sequence[tuple[Any, str]],
    ):
        self._changes = changes
        self._others = others

    @property
    def is_reached_once(self) -> bool:
        """Whether nothing that is changed has a second name within what holds it, or what else is read."""
        roots = [held_by(holder, key) for holder, key, _ in self._changes]
        ways = [way for *_, way in self._changes]
        changed = [
            x for root, way in zip(roots, ways, strict=True) for x in _reached_by(root, way or ())
        ]
        within = {id(x): x for x in roots}.values()
        if is_reached_twice(within, None if None in ways else changed):
            return False
        others = [held_by(*place) for place in self._others]
        seen = _all_held(x for x in others if not any(x is root for root in roots))
        return not meet(_all_held(within) if None in ways else changed, seen)


def guards_of(function: Function) -> tuple[Guard, ...]:
    """What is relied on where a program changes objects that were there before it ran.

    Raises:
        UnsupportedSyntax: something that it changes is reached in two ways.
    """
    changed = _changed_outside(function.body)
    if not changed:
        return ()
    parts = changed_parts(function.body, changed)
    ways = [(root, None) for root in changed] if parts is None else parts
    places = [
        (changed[root].param("holder"), changed[root].param("key"), way) for root, way in ways
    ]
    others = {
        (id(eqn.param("holder")), eqn.param("key")): (eqn.param("holder"), eqn.param("key"))
        for eqn in walk(function.body)
        if eqn.op is st.global_ and eqn.outs[0] not in changed and is_mutable(eqn.outs[0])
    }
    outside = Outside(places, list(others.values()))
    if not outside.is_reached_once:
        raise UnsupportedSyntax(
            f"`{places[0][1]}`, which was there before the program ran, is changed, and holds an object twice",
            "Put a copy into one of the two places.",
            changed[ways[0][0]].span,
        )
    return ((outside, "is_reached_once", Static(True)),)


def _changed_outside(body: Block) -> dict[Var, Eqn]:
    """What a program changes of what was there before it ran, and the equations that read it."""
    early = {eqn.outs[0]: eqn for eqn in body.eqns if eqn.op is st.global_}
    changed = written(body).clobbered if early else ()
    return {var: eqn for var, eqn in early.items() if var in changed}


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


def meet(some: Iterable[Any], others: Iterable[Any]) -> bool:
    """Whether an object of some is one of others, or an array shares memory with one of theirs."""
    some, others = list(some), list(others)
    wanted = {id(x) for x in some if _holds_data(x)}
    if any(id(x) in wanted for x in others):
        return True
    arrays, theirs = ([x for x in each if isinstance(x, np.ndarray)] for each in (some, others))
    return any(np.may_share_memory(x, y) for x in arrays for y in theirs)


def _all_held(values: Iterable[Any]) -> Iterator[Any]:
    """What can change among some values and what they hold, each as often as it is held."""
    seen: set[int] = set()
    pending = list(values)
    while pending:
        value = pending.pop()
        if type(value) is np.ndarray and not value.dtype.hasobject:
            yield value  # which holds nothing
            continue
        if isinstance(value, ModuleType) or not (can_change(value) or isinstance(value, tuple)):
            continue
        if not isinstance(value, np.ndarray) and hasattr(type(value), "__array_function__"):
            continue  # an array of another library, as the program sees it
        yield value
        if id(value) not in seen:
            seen.add(id(value))
            pending.extend(x for x in reached_from(value) if type(x) not in _PLAIN)


_PLAIN = frozenset((float, int, bool, complex, str, type(None)))


def _holds_data(value: Any) -> bool:
    """Whether a value is an object with items or attributes that a program may change."""
    if isinstance(value, (tuple, type, FunctionType, functools.partial)):
        return False
    return isinstance(value, (list, dict, set, *SEQUENCES)) or bool(own_attributes(value))
