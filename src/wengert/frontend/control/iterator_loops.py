"""Loops that ask an iterator for one item after the other, which others may ask as well."""

from __future__ import annotations

import ast

from ...ir.graph import Const
from ..domain.values import Items, Value
from ..machine.interpreter import Interpreter
from ..syntax.declarations import assigned_names
from .loops import finish
from .while_loops import by_test


def run_for_iterator(it: Interpreter, node: ast.For, iterator: Items) -> None:
    """A loop that asks an iterator for one item after the other."""
    depth = it.frame.loops + 1

    def take(item: Value) -> None:
        it.run([lambda: it.assign(node.target, item), lambda: it.execute(node.body)])

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
