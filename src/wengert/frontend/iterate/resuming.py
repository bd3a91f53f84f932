"""Generators that are asked for one item at a time: how they stop where they yield, and go on behind it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ...ir.graph import Const
from ..domain.values import Items, Value, is_iterator
from ..heap import cells, iterator_state
from ..machine.protocol import operation
from ..syntax.declarations import yields
from ..syntax.generator_syntax import contains, loop_name, points

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter
    from ..machine.session import Step
    from .generators import GeneratorFrame


class Producing:
    """What `yield` does in the activation of a generator."""

    may_stop = True
    """Whether the generator may be left at a `yield`."""

    def produce(self, it: Interpreter, node: ast.AST, value: Value) -> Value:
        raise NotImplementedError

    def produce_from(self, it: Interpreter, node: ast.YieldFrom, value: Value) -> Value:
        raise NotImplementedError


class Stepping(Producing):
    """The generator stops where it yields."""

    def __init__(self, producer: GeneratorFrame, sent: Value):
        self.producer = producer
        self.sent = sent

    def produce(self, it: Interpreter, node: ast.AST, value: Value) -> Value:
        cells.write(it, self.producer.item, value)
        numbers = {each: k for k, each in points(self.producer.stepped.node).items()}
        cells.write(it, self.producer.point, Const(numbers[node]))
        cells.write(it, self.producer.ended, Const(False))
        it.set("%returned", Const(True))
        it.set("%yielded", Const(True))
        it.set("%return", Const(None))
        return Const(None)

    def produce_from(self, it: Interpreter, node: ast.YieldFrom, value: Value) -> Value:
        inner = value if is_iterator(value) else iterator_state.iterator_of(it, value)
        cells.write(it, it.frame.scope.vars[loop_name(node)], inner)  # type: ignore[arg-type]
        return self.go_on_from(it, node, Const(None))

    def go_on_from(self, it: Interpreter, node: ast.YieldFrom, sent: Value) -> Value:
        """Ask the inner iterator of a `yield from` for its next item; gives what it returns where there is none."""
        inner = cells.read(it, it.frame.scope.vars[loop_name(node)], "", own=True)  # type: ignore[arg-type]
        assert isinstance(inner, Items)
        take = lambda item: _ignored(self.produce(it, node, item))
        it.advance(inner, take, lambda: None, sent)
        return iterator_state.returned(it, inner)


def _ignored(value: Value) -> None:
    return


# --- resuming -------------------------------------------------------------------------------


def resume_body(it: Interpreter, body: Sequence[ast.stmt], node: ast.AST) -> None:
    """Go on behind a `yield` that stands somewhere in a body."""
    k = next(k for k, statement in enumerate(body) if contains(statement, node))
    it.run([lambda: _resume_statement(it, body[k], node), *it.steps_of(body[k + 1 :])])


def _resume_statement(it: Interpreter, statement: ast.stmt, node: ast.AST) -> None:

    match statement:
        case ast.Expr():
            _resumed_value(it, node)
        case ast.Assign(targets=targets):
            value = _resumed_value(it, node)
            _where_going_on(it, [lambda t=t: it.assign(t, value) for t in targets])
        case ast.AnnAssign(target=target):
            value = _resumed_value(it, node)
            _where_going_on(it, [lambda: it.assign(target, value)])
        case ast.If(body=body, orelse=orelse):
            resume_body(it, body if any(contains(s, node) for s in body) else orelse, node)
        case ast.While() | ast.For():
            in_else = any(contains(s, node) for s in statement.orelse)
            if in_else:
                resume_body(it, statement.orelse, node)
            else:
                _resume_loop(it, statement, node)
        case ast.Try():
            _resume_try(it, statement, node)
        case _:
            with it.at(statement):
                raise it.unsupported(
                    f"`{type(statement).__name__.lower()}` around a `yield`, in a generator whose items "
                    "are asked for one by one",
                    "Walk over the generator with a `for` loop.",
                    statement,
                )


def _where_going_on(it: Interpreter, steps: Sequence[Step]) -> None:
    """Run steps where the generator has not stopped again."""
    it.run([lambda: None, *steps])


def _resumed_value(it: Interpreter, node: ast.AST) -> Value:
    """What a `yield` gives when the generator goes on."""
    stepping = it.frame.producing
    assert isinstance(stepping, Stepping)
    if isinstance(node, ast.YieldFrom):
        return stepping.go_on_from(it, node, stepping.sent)
    return stepping.sent


def _resume_loop(it: Interpreter, loop: ast.While | ast.For, node: ast.AST) -> None:
    """The rest of an iteration, and then the iterations that follow."""
    depth = it.frame.loops + 1

    def rest() -> None:
        it.vars.update({f"%break{depth}": Const(False), f"%continue{depth}": Const(False)})
        with it.frame.in_loop():
            resume_body(it, loop.body, node)
        it.vars.pop(f"%continue{depth}")

    def following() -> None:
        broke = it.vars.pop(f"%break{depth}")
        it.branch(broke, lambda: None, lambda: run_loop_in_steps(it, loop))

    it.run([rest, following])


@operation("run_loop_in_steps")
def run_loop_in_steps(it: Interpreter, loop: ast.While | ast.For) -> None:
    """A loop that yields: its next iteration, and if that has not stopped the generator, the others."""
    if isinstance(loop, ast.While):
        run_first(it, loop, None, lambda: it.run_while(loop, again=True))
        return
    iterator = cells.read(it, it.frame.scope.vars[loop_name(loop)], "", own=True)  # type: ignore[arg-type]
    assert isinstance(iterator, Items)
    run_first(it, loop, iterator, lambda: it.run_for_iterator(loop, iterator))


@operation("run_first")
def run_first(
    it: Interpreter, loop: ast.While | ast.For, iterator: Items | None, again: Step
) -> None:
    """The first iteration of a loop, and then the others."""
    depth = it.frame.loops + 1

    def iteration_(item: Value | None) -> None:
        it.vars.update({f"%break{depth}": Const(False), f"%continue{depth}": Const(False)})
        with it.frame.in_loop():
            if item is not None:
                it.assign(loop.target, item)  # type: ignore[union-attr]
            it.execute(loop.body)
        it.vars.pop(f"%continue{depth}")

    def others() -> None:
        broke = it.vars.pop(f"%break{depth}")
        it.branch(broke, lambda: None, again)

    def end() -> None:
        it.execute(loop.orelse)

    if isinstance(loop, ast.While):
        test = it.truth(it.evaluate(loop.test))
        it.branch(test, lambda: it.run([lambda: iteration_(None), others]), end)
    else:
        take = lambda item: it.run([lambda: iteration_(item), others])
        it.advance(iterator, take, end)  # type: ignore[arg-type]


@operation("start_for_in_steps")
def start_for_in_steps(it: Interpreter, loop: ast.For) -> None:
    """A `for` loop that yields: what it walks over is kept for when the generator goes on."""
    value = it.evaluate(loop.iter)
    iterator = value if is_iterator(value) else iterator_state.iterator_of(it, value)
    cells.write(it, it.frame.scope.vars[loop_name(loop)], iterator)  # type: ignore[arg-type]
    run_loop_in_steps(it, loop)


@operation("is_stepping")
def is_stepping(it: Interpreter, node: ast.AST) -> bool:
    """Whether a loop yields in a generator whose items are asked for one by one."""
    return isinstance(it.frame.producing, Stepping) and yields(node)


def _resume_try(it: Interpreter, statement: ast.Try, node: ast.AST) -> None:
    if not any(contains(each, node) for each in statement.body):
        raise it.unsupported(
            "`yield` in a handler or in `finally`, in a generator whose items are asked for one by one",
            "Walk over the generator with a `for` loop.",
            node,
        )
    it.run_try_around(statement, lambda: resume_body(it, statement.body, node))
