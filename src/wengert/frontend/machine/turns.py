"""Loops that are written out: how many turns they have, what each binds, and what is looked up by their numbers."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import UnsupportedSyntax
from ...ir.graph import Const, Var
from ...ir.types import Number, Seq, Struct
from ...ops import structure as st
from ...ops.program import identity as ident
from ..domain.values import Items, Value, is_plain, kind_of_value

if TYPE_CHECKING:
    from ..domain.running import Running
    from .interpreter import Interpreter


class ChosenByTurn(UnsupportedSyntax):
    """A loop of few turns looks something up by its number: it is written out, so that what it finds is known."""

    turn: Value


@contextmanager
def short_loop(it: Interpreter, turn: Value) -> Generator[None]:
    """Inside, a loop is read as a loop that may be written out; `turn` is its number or item."""
    it.short_loops.append(turn)
    try:
        yield
    finally:
        it.short_loops.pop()


def must_be_known(it: Interpreter, items: Items, index: Value) -> None:
    """What is looked up in a container has no good form where only the run chooses it.

    Raises:
        ChosenByTurn: the number of a loop decides the index, and the loop can be written out.
    """
    if not it.short_loops or items.form not in ("list", "tuple", "dict"):
        return
    if all(map(_is_row, items.values)) or not all(map(is_plain, items.values)):
        return  # of a table, or functions, which are chosen among
    turn = _deciding_turn(it, index)
    if turn is not None:
        error = ChosenByTurn("a look-up by the number of a loop", "", it.builder.span)
        error.turn = turn
        raise error


def _is_row(value: Value) -> bool:
    """Whether a value is a list of numbers: rows of tables trade places, as only the run knows."""
    kind = kind_of_value(value)
    if isinstance(kind, Struct):
        return kind.form == "list" and all(isinstance(item, Number) for item in kind.items)
    return isinstance(kind, Seq) and isinstance(kind.item, Number)


def _deciding_turn(it: Interpreter, index: Value) -> Value | None:
    """The innermost of such loops whose number an index is computed from, if from nothing else of the run."""
    deciding = {index} if isinstance(index, Var) else set[Var]()
    for eqn in reversed(it.builder.eqns):
        if not deciding.isdisjoint(eqn.outs):
            deciding.difference_update(eqn.outs)
            deciding.update(x for x in eqn.operands() if isinstance(x, Var))
    if not deciding or not deciding.issubset(v for v in it.short_loops if isinstance(v, Var)):
        return None
    return next(turn for turn in reversed(it.short_loops) if turn in deciding)


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
