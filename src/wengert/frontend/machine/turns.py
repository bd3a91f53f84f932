"""Loops over names, which are written out: how many turns they have, and what each binds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ...ir.graph import Const
from ...ops import structure as st
from ...ops.program import identity as ident
from ..domain.values import Value

if TYPE_CHECKING:
    from ..domain.running import Running
    from .interpreter import Interpreter


def turns_of(it: Interpreter, running: Running) -> int | None:
    """How many turns a loop over names has, and over what is walked over beside them; None of other loops."""
    if running.named is None:
        return None
    for array in running.named.arrays:
        length = it.emit(st.length, it.atom(array))
        it.emit(ident.long_enough, length, Const(running.named.turns))
    return running.named.turns


def by_turns(it: Interpreter, running: Running) -> Iterator[Value] | None:
    """The items of a loop over names, turn by turn; None of other loops."""
    count = turns_of(it, running)
    return None if count is None else (item_of(running, k) for k in range(count))


def item_of(running: Running, k: int) -> Value:
    """What a loop over names binds in one of its turns."""
    assert running.named is not None
    return running.named.item(k)


def taken(it: Interpreter, running: Running, k: int) -> Value:
    """The item that a loop comes to in one of its turns: arrays are looked at then, not before."""
    elements: list[Any] = []
    for iterable in running.iterables:
        if isinstance(iterable, Const):
            elements.append(Const(iterable.value[k]))
        else:
            elements.append(it.emit(st.getitem, it.atom(it.now(iterable)), Const(k)))
    return running.item(elements)
