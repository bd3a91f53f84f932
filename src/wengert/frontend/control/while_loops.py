"""`while` loops: by their test, written out where few turns come, or asking an iterator."""

from __future__ import annotations

import ast
from contextlib import suppress
from functools import lru_cache

from ...errors import UnsupportedSyntax
from ...ir.graph import Atom, Const, births, walk
from ...ops.program import memory as me
from ..domain.running import UNROLL
from ..domain.values import Items, Value
from ..heap import Heap
from ..machine.interpreter import Interpreter
from ..machine.session import NeedsTestInBody, NeverReturns
from ..polyfills.stdlib import iterators as iterator_polyfills
from ..syntax.declarations import assigned_names
from .loops import finish


def run_while(it: Interpreter, node: ast.While) -> None:
    depth = it.frame.loops + 1
    marked = it.checkpointed_test(node.test)
    every, tested = (None, node.test) if marked is None else (Const(None), marked)
    known = it.known_truth(it.evaluate(tested)) if isinstance(tested, ast.Constant) else None
    if known is False:
        it.execute(node.orelse)
        return
    if known is True and marked is None and _asks_for_items(it, node) and _run_few_turns(it, node):
        return
    names = assigned_names([node.test, *node.body])
    if _simple_test(tested) and not it.catching.explicit and node not in it.reading.acting_tests:

        def test() -> Atom:
            start, before, regions = next(births), dict(it.heap), it.catching.regions_read
            with suppress(NeverReturns):
                condition = it.condition(tested)
                if it.catching.regions_read == regions and not _has_written(it, start, before):
                    return condition
            it.reading.acting_tests.add(node)
            raise NeedsTestInBody

        it.run_loop(
            node,
            names,
            None,
            lambda _: it.execute(node.body),
            test=test,
            every=every,
            certain=known is True,
        )
    else:
        # the test binds names, changes something or may leave: it becomes the first statement of an endless loop
        def body(_: Value) -> None:
            def leave() -> None:
                it.vars[f"%test{depth}"] = Const(True)
                it.vars[f"%break{depth}"] = Const(True)

            it.branch(it.condition(tested), lambda: it.execute(node.body), leave)

        it.vars[f"%test{depth}"] = Const(False)
        names = [*names, f"%test{depth}"]
        it.run_loop(node, names, None, body, test=lambda: Const(True), every=every, certain=True)
        by_test(it, depth)
    if known is True and it.vars.get(f"%break{depth}") == Const(False):
        if it.flag("%returned") == Const(False):
            raise NeverReturns
        it.set("%returned", Const(True))  # `while True` without `break` ends only by `return`
    finish(it, depth, node.orelse)


def _asks_for_items(it: Interpreter, node: ast.While) -> bool:
    """Whether a loop asks an iterator for one item at a time."""
    ours = it.frame.scope.globals.get("__name__") == iterator_polyfills.__name__
    return ("step" if ours else "next") in _called_by_name(node)


@lru_cache(maxsize=1024)
def _called_by_name(node: ast.AST) -> frozenset[str]:
    calls = (each.func for each in ast.walk(node) if isinstance(each, ast.Call))
    return frozenset(function.id for function in calls if isinstance(function, ast.Name))


def _run_few_turns(it: Interpreter, node: ast.While) -> bool:
    """Write a `while True` out, if few turns come before it is certain to be left; says whether it was.

    Where one walks over known items, a generator is not left in a place that only the run knows. There may
    be more turns of which nothing is left to the run.
    """
    mark, depth = it.mark(), it.frame.loops + 1
    it.vars[f"%break{depth}"] = left = Const(False)
    with it.frame.in_loop(), suppress(UnsupportedSyntax):
        for turn in range(8 * UNROLL):
            if turn > UNROLL and it.builder.eqns and it.builder.eqns[-1] is not mark.last:
                break
            it.vars[f"%continue{depth}"] = Const(False)
            it.execute(node.body)
            it.vars[f"%continue{depth}"] = Const(False)
            left = it.left()
            if left != Const(False):
                break
    if left != Const(True):
        it.return_to(mark)
        return False
    finish(it, depth, node.orelse)
    return True


def by_test(it: Interpreter, depth: int) -> None:
    """Leaving by the test is not a `break`: the loop's `else` runs."""
    by_test = it.vars.pop(f"%test{depth}")
    it.branch(by_test, lambda: it.vars.update({f"%break{depth}": Const(False)}), lambda: None)


def _simple_test(node: ast.expr) -> bool:
    """Whether a `while` test is one expression that binds nothing."""
    return not any(
        isinstance(n, (ast.NamedExpr, ast.Lambda, ast.ListComp, ast.GeneratorExp))
        for n in ast.walk(node)
    )


def _has_written(it: Interpreter, start: int, before: Heap) -> bool:
    """Whether a test has changed an object: what a loop carries does not pass through its test."""
    if any(it.heap[place] is not before.get(place) for place in it.heap if place.born <= start):
        return True
    inside = (each for eqn in it.builder.eqns for block in eqn.blocks for each in walk(block))
    return any(eqn.op in me.OWN or eqn.param("updates", ()) for eqn in (*it.builder.eqns, *inside))


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
