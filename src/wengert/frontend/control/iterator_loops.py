"""Loops that ask an iterator for one item after the other, which others may ask as well."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...ir.graph import Const
from ..domain.values import Items, Value, is_generator
from ..heap import iterator_state
from ..machine.protocol import operation
from ..machine.runs import take_turn
from ..syntax.declarations import assigned_names
from .loops import by_test, finish

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter


@operation("run_for_iterator")
def run_for_iterator(it: Interpreter, node: ast.For, iterator: Items) -> None:
    """A loop that asks an iterator for one item after the other."""
    depth = it.frame.loops + 1
    source, _ = iterator_state.current(it, iterator)
    if is_generator(source) and iterator_state.producer_of(source).is_fresh(it):
        # from the second item on it is known better where the generator is
        it.run_first(node, iterator, lambda: run_for_iterator(it, node, iterator))
        return

    def take(item: Value) -> None:
        it.run([lambda: it.assign(node.target, item), lambda: it.execute(node.body)])

    if it.reading.is_one_run and _is_known(it, iterator):
        _iterate_in_turns(it, node, iterator, take)
        finish(it, depth, node.orelse)
        return

    def end() -> None:
        it.vars[f"%test{depth}"] = Const(True)
        it.set(f"%break{depth}", Const(True))

    names = [*assigned_names([node.target, *node.body]), f"%test{depth}"]
    it.vars[f"%test{depth}"] = Const(False)

    def body(_: Value) -> None:
        it.advance(iterator, take, end)

    it.run_loop(node, names, None, body, test=lambda: Const(True))
    by_test(it, depth)
    finish(it, depth, node.orelse)


def _is_known(it: Interpreter, iterator: Items) -> bool:
    """Whether it is known if an iterator has another item."""
    mark = it.mark()
    found = it.next_if_known(iterator)
    it.return_to(mark)
    return found is not None


def _iterate_in_turns(
    it: Interpreter, node: ast.For, iterator: Items, take: Callable[[Value], None]
) -> None:
    """A loop over an iterator, written out: as long as it is known whether there is another item."""

    def turns() -> None:
        while True:
            mark = it.mark()
            found = it.next_if_known(iterator)
            if found is None and node.orelse:
                raise it.unsupported(
                    "only the run knows how many items this loop takes", "Walk over a list of them."
                )
            if found is None:
                it.return_to(mark)
                run_for_iterator(it, node, iterator)
                return
            if not found:
                return
            take_turn(it)
            it.vars[f"%continue{depth}"] = Const(False)
            take(found[0])
            it.vars[f"%continue{depth}"] = Const(False)
            left = it.left()
            if left != Const(False):
                it.run_rest(left, turns)
                return

    with it.frame.in_loop() as depth:
        it.vars[f"%break{depth}"] = Const(False)
        turns()
