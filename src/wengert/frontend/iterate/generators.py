"""Generators: functions that `yield`, and generator expressions.

What walks over a generator is read inside out: the generator's body runs, and at every `yield` what becomes
of the item. A generator that would have to stop at a `yield` and go on later (asked by `next` again and again,
by `send`, or by a loop that leaves it to others) is refused.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir.graph import Atom, Const, Var
from .. import heap
from ..domain.running import Consumer
from ..domain.values import (
    Activation,
    Closure,
    Items,
    LazyIterable,
    Maybe,
    Native,
    Scope,
    Value,
    list_of,
)
from ..heap import cells, iterator_state
from ..heap.iterator_state import drive, leave_if, producer_of
from ..machine.interpreter import Interpreter
from ..machine.session import Frame, NeedsCallee
from ..syntax.generator_syntax import is_endless, statements_of

# --- making and asking ----------------------------------------------------------------------


def made(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> Value:
    """What the call of a generator function gives."""
    producer = GeneratorFrame(closure, bound)

    def listed(it: Interpreter, args: Any, kwargs: Any) -> Value:
        return collected(it, producer)

    return iterator_state.iterator_of(
        it, LazyIterable("generator", (), Native("generator", listed, producer))
    )


def items_of_generator(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> Value:
    """What a generator function gives, as a list."""
    return collected(it, GeneratorFrame(closure, bound))


def collected(it: Interpreter, producer: GeneratorFrame) -> Value:
    """The items of a generator as a list."""
    producer.refuse_endless(it)
    items = list_of()

    def take(it: Interpreter, value: Value) -> None:
        it.method_of_known(items, "append", [value], {})

    producer.run(it, Consumer(take, lambda it: Const(False), may_leave=False))
    return heap.now(it, items)


def folded(
    it: Interpreter, generator: Value, start: Value, combine: Callable[[Value, Value], Value]
) -> Value:
    """What comes of combining a value with one item of a generator after the other."""
    total = cells.new_cell(it, start, "")

    def take(it: Interpreter, item: Value) -> None:
        cells.write(it, total, combine(_held(it, total), item))

    producer_of(generator).refuse_endless(it)
    drive(it, generator, Consumer(take, lambda it: Const(False), may_leave=False))
    return _held(it, total)


def _held(it: Interpreter, cell: Items) -> Value:
    value = cells.contents(it, cell)
    assert value is not None
    return value


def first(it: Interpreter, generator: Value, default: Sequence[Value]) -> Value:
    """The first item of a generator that is asked for no more."""
    item, found = cells.new_cell(it, None, ""), cells.new_cell(it, Const(False), "")

    def take(it: Interpreter, value: Value) -> None:
        cells.write(it, item, value)
        cells.write(it, found, Const(True))

    result = drive(it, generator, Consumer(take, lambda it: _flag(it, found)))
    value = cells.contents(it, item)
    inner = value.value if isinstance(value, Maybe) else value
    return it.choose(
        _flag(it, found),
        lambda: inner,  # type: ignore[return-value]
        lambda: iterator_state.stop_iteration(it, default, result),
    )


def _flag(it: Interpreter, cell: Items) -> Atom:
    value = cells.contents(it, cell)
    assert isinstance(value, (Var, Const))
    return value


# --- yielding -------------------------------------------------------------------------------


def evaluate_yield(it: Interpreter, node: ast.Yield) -> Value:
    value: Value = Const(None) if node.value is None else it.evaluate(node.value)
    return _producing(it, node).produce(it, value)


def evaluate_yield_from(it: Interpreter, node: ast.YieldFrom) -> Value:
    return _producing(it, node).produce_from(it, node, it.evaluate(node.value))


def _producing(it: Interpreter, node: ast.AST) -> Producing:
    producing = it.frame.producing
    if producing is None:
        raise it.unsupported("`yield` stands where it cannot be read", "Use it in a `def`.", node)
    return producing


class Producing:
    """What `yield` does in a generator that runs: its consumer's code runs there."""

    def __init__(self, consumer: Consumer):
        self._consumer = consumer
        self.may_stop = consumer.may_leave
        """Whether the generator may be left at a `yield`."""

    def produce(self, it: Interpreter, value: Value) -> Value:
        self._consumer.take(it, value)
        self._leave(it)
        return Const(None)

    def produce_from(self, it: Interpreter, node: ast.YieldFrom, value: Value) -> Value:
        result = it.walk(value, self._consumer, node)
        self._leave(it)
        return result

    def _leave(self, it: Interpreter) -> None:
        """Leave the generator where its consumer wants no more."""
        leave_if(it, self._consumer.left(it))


# --- generators -----------------------------------------------------------------------------


class GeneratorFrame(Activation):
    """One generator: the activation of a generator function."""

    def __init__(self, closure: Closure, bound: Mapping[str, Value], around: Frame | None = None):
        super().__init__(closure, bound)
        self.around = around

    def refuse_endless(self, it: Interpreter) -> None:
        """Refuse to walk over all items of a generator that never ends."""
        if is_endless(self.closure.node):
            raise it.unsupported(
                f"the generator {self.closure.name} never ends, and all its items are asked for",
                "Take what is needed of it with a `for` loop that has a `break`, with `itertools.islice` or `next`.",
            ).final()

    def run(self, it: Interpreter, consumer: Consumer) -> Value:
        """Run from the beginning to the end, the consumer's code at every `yield`."""
        if it.recurs(self.closure, self.bound):
            it.reading.separate.add(self.closure.identity)
            raise NeedsCallee
        scope = Scope(self.closure.scope.globals, self.closure.scope)
        scope.vars = dict(self.bound)
        cells.enter(it, self.closure, scope)
        with it.activation(self.closure, scope, self.bound, self.around) as frame:
            frame.producing = Producing(consumer)
            scope.vars["%returned"] = Const(False)
            it.execute(statements_of(self.closure.node))
            return it.returned()
