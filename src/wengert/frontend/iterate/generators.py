"""Generators: functions that `yield`, and generator expressions.

A loop that walks over a generator from beginning to end is read inside out: the generator's body runs,
and at every `yield` the body of the loop. What asks for items one by one (`next`, `send`, a loop that may
leave and come back) resumes the body where it stopped: its variables are in cells, and so is the number
of the `yield` that it has come to.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.graph import Atom, Const, Var
from ...ir.records import replace
from ...ops import structure as st
from .. import heap
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
from ..heap import cells
from ..machine.protocol import operation
from ..syntax.declarations import local_names
from ..syntax.generator_syntax import (
    at_statements,
    froms,
    is_endless,
    loop_name,
    loops,
    points,
    returns_values,
)
from ..syntax.yield_statements import with_yields_as_statements
from .resuming import Producing, Stepping, resume_body

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter
    from ..machine.session import Frame
from ..domain.running import Consumer
from ..heap import iterator_state
from ..heap.iterator_state import drive, leave_if, producer_of

NOT_STARTED = 0


# --- making and asking ----------------------------------------------------------------------


@operation("generator_of")
def made(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> Value:
    """What the call of a generator function gives."""
    producer = GeneratorFrame(it, closure, bound)

    def listed(it: Interpreter, args: Any, kwargs: Any) -> Value:
        return collected(it, producer)

    return iterator_state.iterator_of(
        it, LazyIterable("generator", (), Native("generator", listed, producer))
    )


@operation("items_of_generator")
def items_of_generator(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> Value:
    """What a generator function gives, as a list."""
    return collected(it, GeneratorFrame(it, closure, bound))


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
    return _producing(it, node).produce(it, node, value)


def evaluate_yield_from(it: Interpreter, node: ast.YieldFrom) -> Value:
    return _producing(it, node).produce_from(it, node, it.evaluate(node.value))


def _producing(it: Interpreter, node: ast.AST) -> Producing:
    producing = it.frame.producing
    if producing is None:
        raise it.unsupported("`yield` stands where it cannot be read", "Use it in a `def`.", node)
    return producing


class _InsideOut(Producing):
    """The consumer's code runs where the generator yields."""

    def __init__(self, producer: GeneratorFrame, consumer: Consumer):
        self.producer = producer
        self._consumer = consumer
        self.may_stop = consumer.may_leave

    def produce(self, it: Interpreter, node: ast.AST, value: Value) -> Value:
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

    def __init__(
        self,
        it: Interpreter,
        closure: Closure,
        bound: Mapping[str, Value],
        around: Frame | None = None,
    ):
        super().__init__(closure, bound)
        self.stepped = replace(closure, node=with_yields_as_statements(closure.node))  # type: ignore[arg-type]
        """The same generator, for going on behind each of its yields."""
        self.around = around
        self.point = cells.new_cell(it, Const(NOT_STARTED), "point")
        self.ended = cells.new_cell(it, Const(False), "ended")
        self.item = cells.new_cell(it, None, "item")
        self.result = cells.new_cell(it, Const(None), "result")
        self.scope = Scope(closure.scope.globals, closure.scope)
        stepped = self.stepped.node
        for name in (*local_names(stepped), *map(loop_name, loops(stepped))):
            self.scope.vars[name] = cells.new_cell(it, bound.get(name), name.strip("%"))
        for node in froms(stepped):
            self.scope.vars[loop_name(node)] = cells.new_cell(it, None, "")

    def refuse_endless(self, it: Interpreter) -> None:
        """Refuse to walk over all items of a generator that never ends."""
        if is_endless(self.closure.node):
            raise it.unsupported(
                f"the generator {self.closure.name} never ends, and all its items are asked for",
                "Take what is needed of it with a `for` loop that has a `break`, with `itertools.islice` or `next`.",
            ).final()

    def is_fresh(self, it: Interpreter) -> bool:
        """Whether nobody has asked for an item yet."""
        held = (cells.contents(it, self.point), cells.contents(it, self.ended))
        return held == (Const(NOT_STARTED), Const(False))

    def run(self, it: Interpreter, consumer: Consumer) -> Value:
        """Run from the beginning to the end, the consumer's code at every `yield`."""
        from ..machine.session import NeedsCallee

        if it.recurs(self.closure, self.bound):
            it.reading.separate.add(self.closure.identity)
            raise NeedsCallee
        scope = Scope(self.closure.scope.globals, self.closure.scope)
        scope.vars = dict(self.bound)
        cells.enter(it, self.closure, scope)
        with it.activation(self.closure, scope, self.bound, self.around) as frame:
            frame.producing = _InsideOut(self, consumer)
            scope.vars["%returned"] = Const(False)
            it.execute(self.closure.node.body)  # type: ignore[arg-type]
            return it.returned()

    def step(self, it: Interpreter, sent: Value) -> tuple[Atom, Value]:
        """Run to the next `yield`; gives whether there was one, and the item if there was."""
        with it.activation(self.stepped, self.scope, self.bound, self.around) as frame:
            self._refuse_unresumable(it)
            frame.producing = Stepping(self, sent)
            self.scope.vars.update({"%returned": Const(False), "%yielded": Const(False)})
            it.branch(_flag(it, self.ended), lambda: None, lambda: self._go_on(it))
            yielded = it.flag("%yielded")
            if returns_values(self.closure.node):
                cells.write(it, self.result, it.returned())
            self.scope.vars.pop("%return", None)
        item = cells.contents(it, self.item)
        inner = item.value if isinstance(item, Maybe) else item
        return yielded, Const(None) if inner is None else inner

    def returned(self, it: Interpreter) -> Value:
        """What the last step returned: nothing, where it came to a `yield` or the generator had ended before."""
        return cells.read(it, self.result, "result", own=True)

    def end(self, it: Interpreter) -> None:
        """Say that there are no more items."""
        cells.write(it, self.ended, Const(True))

    def _go_on(self, it: Interpreter) -> None:
        self.end(it)  # where it raises, that is how it ends
        self._from(it, _flag(it, self.point), [NOT_STARTED, *points(self.stepped.node)])

    def _from(self, it: Interpreter, point: Atom, candidates: Sequence[int]) -> None:
        """Go on from where the generator is, of some places where it may be."""
        if isinstance(point, Const):
            self._resume(it, point.value)
            return
        here, *others = candidates
        if not others:
            self._resume(it, here)
            return
        is_here = it.emit(st.eq, point, Const(here))
        it.branch(is_here, lambda: self._resume(it, here), lambda: self._from(it, point, others))

    def _resume(self, it: Interpreter, point: int) -> None:

        body: Sequence[ast.stmt] = self.stepped.node.body  # type: ignore[assignment]
        if point == NOT_STARTED:
            it.execute(body)
        else:
            resume_body(it, body, points(self.stepped.node)[point])

    def _refuse_unresumable(self, it: Interpreter) -> None:
        for node in points(self.stepped.node).values():
            if node not in at_statements(self.stepped.node):
                raise it.unsupported(
                    "`yield` inside an expression, in a generator whose items are asked for one by one",
                    "Bind what it gives to a name first: `x = yield y`.",
                    node,
                )


def cells_without_use(it: Interpreter) -> set[Any]:
    """The places of the cells of generators that run inside out: only a generator that stops has a use for them."""
    running = (f.producing.producer for f in it.frames if isinstance(f.producing, _InsideOut))
    held = (value for producer in running for value in producer.scope.vars.values())
    return {cell.place for cell in held if isinstance(cell, Items)}
