"""Items that change while a loop walks over them: they are read when their turn comes."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Var
from ...ir.types import UNKNOWN, Array, Number, Seq
from ...ops import structure as st
from ...ops.program import identity as ident
from ..domain.running import Running
from ..domain.whereabouts import Part
from ..heap import ByIndex, content_in, identities, walk_by_index
from ..heap.walking import changed_in_a_loop, items_written, keys_written, written_since
from ..machine.interpreter import Interpreter
from .loop_heap import Attempt


def refuse_changed_items(
    it: Interpreter,
    node: ast.AST,
    attempt: Attempt,
    running: Running | None,
    lost: Mapping[Any, Any],
    start: int,
) -> None:
    """Numbers that change while a loop walks over them are read when their turn comes.

    What is `lost` in an iteration may have changed in it, under the name of another object. What is part of an
    object has changed where it was written to since the `start` of the loop: only the whole says what it holds.

    Raises:
        ByIndex: they change, and the program is read again.
    """
    for each in running.iterables if running and not attempt.dead else ():
        iterable = _as_walked(it, each)
        item = st.item_kind(kind_of_atom(iterable))
        known = not isinstance(item, Number) and item != UNKNOWN
        if (
            known
            and iterable not in it.reading.walked
            and not items_written(it, iterable, iterable)
        ):
            continue
        for place in identities(it, iterable):
            before, after = (content_in(heap, place) for heap in (attempt.before, attempt.heap))
            unwritten = not isinstance(after, Part) or not written_since(it, place, start)
            if before is after and place not in lost and unwritten:
                continue
            has_indices = isinstance(kind_of_atom(iterable), (Array, Seq))
            if item == UNKNOWN and (iterable in it.reading.walked or not has_indices):
                _have_turns_taken(it, node, iterable)
                continue
            walk_by_index(it, id(node) if isinstance(node, ast.For) else None)


def refuse_other_keys(
    it: Interpreter, node: ast.AST, running: Running | None, elements: Sequence[Var], start: int
) -> None:
    """Refuse a comprehension that gives the dictionary which it walks over other keys: Python raises.

    Of a loop that is a statement, the run is asked (`loops`).
    """
    for listed, key in zip(running.iterables if running else (), elements, strict=False):
        mapping = it.reading.keys_of.get(listed)  # type: ignore[call-overload]
        if mapping is None or isinstance(node, ast.For):
            continue
        if any(written is not key for written in keys_written(it, mapping, start)):
            raise changed_in_a_loop(it)


def _as_walked(it: Interpreter, iterable: Atom) -> Atom:
    """What is walked over, of what is walked over backwards."""
    eqn = it.builder.visible_definition(iterable) if isinstance(iterable, Var) else None
    if eqn is None or eqn.op is not st.getitem or not _is_backwards(eqn.args[1]):
        return iterable
    items = eqn.args[0]
    return items if items in it.reading.walked or isinstance(kind_of_atom(items), Seq) else iterable


def _is_backwards(index: Atom) -> bool:
    return isinstance(index, Const) and index.value == slice(None, None, -1)


def _have_turns_taken(it: Interpreter, node: ast.AST, listed: Atom) -> None:
    """What is walked over may be an array or list that has got other items since.

    Raises:
        ByIndex: the program is read again, asking for each item when its turn comes.
    """
    if not isinstance(node, ast.For):
        it.emit(ident.objects_only, listed)
    elif id(node) not in it.reading.by_turn:
        it.reading.by_turn.add(id(node))
        raise ByIndex
