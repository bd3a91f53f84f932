"""Generators: functions that `yield`, and generator expressions.

A loop that walks over a generator from beginning to end is read inside out: the generator's body runs,
and at every `yield` the body of the loop. What asks for items one by one (`next`, `send`, a loop that may
leave and come back) resumes the body where it stopped: its variables are in cells, and so is the number
of the `yield` that it has come to.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ..ir.graph import Atom, Const, Var
from ..ir.records import replace, value_record
from ..ops import structure as st
from . import cells, container_methods, exceptions, heap, iterators
from .declarations import local_names, own_nodes, yields
from .expressions import evaluate
from .operations import truth
from .values import (
    Activation,
    Closure,
    Items,
    Iteration,
    Maybe,
    Native,
    Scope,
    Value,
    is_iterator,
    list_of,
)
from .yield_statements import with_yields_as_statements

if TYPE_CHECKING:
    from .interpreter import Interpreter
    from .reading import Frame, Step

NOT_STARTED = 0


@value_record
class Consumer:
    """What becomes of the items."""

    take: Callable[[Interpreter, Value], None]
    left: Callable[[Interpreter], Atom]
    """Whether it wants no more of them."""
    may_leave: bool = True
    """Whether that may be before there are no more."""


# --- making and asking ----------------------------------------------------------------------


def made(it: Interpreter, closure: Closure, bound: Mapping[str, Value]) -> Value:
    """What the call of a generator function gives."""
    producer = Producer(it, closure, bound)

    def listed(it: Interpreter, args: Any, kwargs: Any) -> Value:
        return collected(it, producer)

    return iterators.iterator_of(
        it, Iteration("generator", (), Native("generator", listed, producer))
    )


def producer_of(value: Value) -> Producer:
    assert isinstance(value, Iteration)
    assert value.function is not None
    producer = value.function.value  # type: ignore[union-attr]
    assert isinstance(producer, Producer)
    return producer


def drive(it: Interpreter, generator: Value, consumer: Consumer) -> Value:
    """Hand every item of a generator to a consumer; gives what the generator returns."""
    return producer_of(generator).run(it, consumer)


def collected(it: Interpreter, producer: Producer) -> Value:
    """The items of a generator as a list."""
    producer.refuse_endless(it)
    items = list_of()

    def take(it: Interpreter, value: Value) -> None:
        container_methods.method_of_known(it, items, "append", [value], {})

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
        lambda: iterators.stop_iteration(it, default, result),
    )


def _flag(it: Interpreter, cell: Items) -> Atom:
    value = cells.contents(it, cell)
    assert isinstance(value, Var | Const)
    return value


# --- yielding -------------------------------------------------------------------------------


def evaluate_yield(it: Interpreter, node: ast.Yield) -> Value:
    value: Value = Const(None) if node.value is None else evaluate(it, node.value)
    return _producing(it, node).produce(it, node, value)


def evaluate_yield_from(it: Interpreter, node: ast.YieldFrom) -> Value:
    return _producing(it, node).produce_from(it, node, evaluate(it, node.value))


def _producing(it: Interpreter, node: ast.AST) -> _Producing:
    producing = it.frame.producing
    if producing is None:
        raise it.unsupported("`yield` stands where it cannot be read", "Use it in a `def`.", node)
    return producing


class _Producing:
    """What `yield` does in the activation of a generator."""

    may_stop = True
    """Whether the generator may be left at a `yield`."""

    def produce(self, it: Interpreter, node: ast.AST, value: Value) -> Value:
        raise NotImplementedError

    def produce_from(self, it: Interpreter, node: ast.YieldFrom, value: Value) -> Value:
        raise NotImplementedError


class _InsideOut(_Producing):
    """The consumer's code runs where the generator yields."""

    def __init__(self, producer: Producer, consumer: Consumer):
        self.producer = producer
        self._consumer = consumer
        self.may_stop = consumer.may_leave

    def produce(self, it: Interpreter, node: ast.AST, value: Value) -> Value:
        self._consumer.take(it, value)
        self._leave(it)
        return Const(None)

    def produce_from(self, it: Interpreter, node: ast.YieldFrom, value: Value) -> Value:
        result = iterators.walk(it, value, self._consumer, node)
        self._leave(it)
        return result

    def _leave(self, it: Interpreter) -> None:
        """Leave the generator where its consumer wants no more."""
        leave_if(it, self._consumer.left(it))


def leave_if(it: Interpreter, left: Atom) -> None:
    """Leave the current function where its consumer wants no more."""
    if left != Const(False):
        it.set("%returned", it.either(it.flag("%returned"), left))
        it.set("%return", Const(None))


# --- generators -----------------------------------------------------------------------------


class Producer(Activation):
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
        for name in (*local_names(stepped), *map(_loop_name, _loops(stepped))):
            self.scope.vars[name] = cells.new_cell(it, bound.get(name), name.strip("%"))
        for node in _froms(stepped):
            self.scope.vars[_loop_name(node)] = cells.new_cell(it, None, "")

    def refuse_endless(self, it: Interpreter) -> None:
        """Refuse to walk over all items of a generator that never ends."""
        if _is_endless(self.closure.node):
            raise it.unsupported(
                f"the generator {self.closure.name} never ends, and all its items are asked for",
                "Take what is needed of it with a `for` loop that has a `break`, with `itertools.islice` or `next`.",
            )

    def is_fresh(self, it: Interpreter) -> bool:
        """Whether nobody has asked for an item yet."""
        held = (cells.contents(it, self.point), cells.contents(it, self.ended))
        return held == (Const(NOT_STARTED), Const(False))

    def run(self, it: Interpreter, consumer: Consumer) -> Value:
        """Run from the beginning to the end, the consumer's code at every `yield`."""
        from .calls import recurs, returned
        from .reading import NeedsCallee
        from .statements import run_body

        if recurs(it, self.closure, self.bound):
            it.reading.separate.add(self.closure.identity)
            raise NeedsCallee
        scope = Scope(self.closure.scope.globals, self.closure.scope)
        scope.vars = dict(self.bound)
        cells.enter(it, self.closure, scope)
        with it.activation(self.closure, scope, self.bound, self.around) as frame:
            frame.producing = _InsideOut(self, consumer)
            scope.vars["%returned"] = Const(False)
            run_body(it, self.closure.node.body)  # type: ignore[arg-type]
            return returned(it)

    def step(self, it: Interpreter, sent: Value) -> tuple[Atom, Value]:
        """Run to the next `yield`; gives whether there was one, and the item if there was."""
        from .calls import returned

        with it.activation(self.stepped, self.scope, self.bound, self.around) as frame:
            self._refuse_unresumable(it)
            frame.producing = _Stepping(self, sent)
            self.scope.vars.update({"%returned": Const(False), "%yielded": Const(False)})
            it.branch(_flag(it, self.ended), lambda: None, lambda: self._go_on(it))
            yielded = it.flag("%yielded")
            if _returns_values(self.closure.node):
                cells.write(it, self.result, returned(it))
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
        self._from(it, _flag(it, self.point), [NOT_STARTED, *_points(self.stepped.node)])

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
        from .statements import run_body

        body: Sequence[ast.stmt] = self.stepped.node.body  # type: ignore[assignment]
        if point == NOT_STARTED:
            run_body(it, body)
        else:
            _resume_body(it, body, _points(self.stepped.node)[point])

    def _refuse_unresumable(self, it: Interpreter) -> None:
        for node in _points(self.stepped.node).values():
            if node not in _at_statements(self.stepped.node):
                raise it.unsupported(
                    "`yield` inside an expression, in a generator whose items are asked for one by one",
                    "Bind what it gives to a name first: `x = yield y`.",
                    node,
                )


class _Stepping(_Producing):
    """The generator stops where it yields."""

    def __init__(self, producer: Producer, sent: Value):
        self.producer = producer
        self.sent = sent

    def produce(self, it: Interpreter, node: ast.AST, value: Value) -> Value:
        cells.write(it, self.producer.item, value)
        numbers = {each: k for k, each in _points(self.producer.stepped.node).items()}
        cells.write(it, self.producer.point, Const(numbers[node]))
        cells.write(it, self.producer.ended, Const(False))
        it.set("%returned", Const(True))
        it.set("%yielded", Const(True))
        it.set("%return", Const(None))
        return Const(None)

    def produce_from(self, it: Interpreter, node: ast.YieldFrom, value: Value) -> Value:
        inner = value if is_iterator(value) else iterators.iterator_of(it, value)
        cells.write(it, it.frame.scope.vars[_loop_name(node)], inner)  # type: ignore[arg-type]
        return self.go_on_from(it, node, Const(None))

    def go_on_from(self, it: Interpreter, node: ast.YieldFrom, sent: Value) -> Value:
        """Ask the inner iterator of a `yield from` for its next item; gives what it returns where there is none."""
        inner = cells.read(it, it.frame.scope.vars[_loop_name(node)], "", own=True)  # type: ignore[arg-type]
        assert isinstance(inner, Items)
        take = lambda item: _ignored(self.produce(it, node, item))
        iterators.advance(it, inner, take, lambda: None, sent)
        return iterators.returned(it, inner)


def _ignored(value: Value) -> None:
    return


# --- resuming -------------------------------------------------------------------------------


def _resume_body(it: Interpreter, body: Sequence[ast.stmt], node: ast.AST) -> None:
    """Go on behind a `yield` that stands somewhere in a body."""
    from .statements import steps_of

    k = next(k for k, statement in enumerate(body) if _contains(statement, node))
    it.run([lambda: _resume_statement(it, body[k], node), *steps_of(it, body[k + 1 :])])


@lru_cache(maxsize=4096)
def _contains(node: ast.AST, inner: ast.AST) -> bool:
    return any(each is inner for each in ast.walk(node))


def _resume_statement(it: Interpreter, statement: ast.stmt, node: ast.AST) -> None:
    from .statements import assign

    match statement:
        case ast.Expr():
            _resumed_value(it, node)
        case ast.Assign(targets=targets):
            value = _resumed_value(it, node)
            where_going_on(it, [lambda t=t: assign(it, t, value) for t in targets])
        case ast.AnnAssign(target=target):
            value = _resumed_value(it, node)
            where_going_on(it, [lambda: assign(it, target, value)])
        case ast.If(body=body, orelse=orelse):
            _resume_body(it, body if any(_contains(s, node) for s in body) else orelse, node)
        case ast.While() | ast.For():
            in_else = any(_contains(s, node) for s in statement.orelse)
            if in_else:
                _resume_body(it, statement.orelse, node)
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


def where_going_on(it: Interpreter, steps: Sequence[Step]) -> None:
    """Run steps where the generator has not stopped again."""
    it.run([lambda: None, *steps])


def _resumed_value(it: Interpreter, node: ast.AST) -> Value:
    """What a `yield` gives when the generator goes on."""
    stepping = it.frame.producing
    assert isinstance(stepping, _Stepping)
    if isinstance(node, ast.YieldFrom):
        return stepping.go_on_from(it, node, stepping.sent)
    return stepping.sent


def _resume_loop(it: Interpreter, loop: ast.While | ast.For, node: ast.AST) -> None:
    """The rest of an iteration, and then the iterations that follow."""
    depth = it.frame.loops + 1

    def rest() -> None:
        it.vars.update({f"%break{depth}": Const(False), f"%continue{depth}": Const(False)})
        with it.frame.in_loop():
            _resume_body(it, loop.body, node)
        it.vars.pop(f"%continue{depth}")

    def following() -> None:
        broke = it.vars.pop(f"%break{depth}")
        it.branch(broke, lambda: None, lambda: run_loop_in_steps(it, loop))

    it.run([rest, following])


def run_loop_in_steps(it: Interpreter, loop: ast.While | ast.For) -> None:
    """A loop that yields: its next iteration, and if that has not stopped the generator, the others."""
    from .iterator_loops import run_for_iterator
    from .loops import run_while

    if isinstance(loop, ast.While):
        run_first(it, loop, None, lambda: run_while(it, loop, again=True))
        return
    iterator = cells.read(it, it.frame.scope.vars[_loop_name(loop)], "", own=True)  # type: ignore[arg-type]
    assert isinstance(iterator, Items)
    run_first(it, loop, iterator, lambda: run_for_iterator(it, loop, iterator))


def run_first(
    it: Interpreter, loop: ast.While | ast.For, iterator: Items | None, again: Step
) -> None:
    """The first iteration of a loop, and then the others."""
    from .statements import assign, run_body

    depth = it.frame.loops + 1

    def iteration_(item: Value | None) -> None:
        it.vars.update({f"%break{depth}": Const(False), f"%continue{depth}": Const(False)})
        with it.frame.in_loop():
            if item is not None:
                assign(it, loop.target, item)  # type: ignore[union-attr]
            run_body(it, loop.body)
        it.vars.pop(f"%continue{depth}")

    def others() -> None:
        broke = it.vars.pop(f"%break{depth}")
        it.branch(broke, lambda: None, again)

    def end() -> None:
        run_body(it, loop.orelse)

    if isinstance(loop, ast.While):
        test = truth(it, evaluate(it, loop.test))
        it.branch(test, lambda: it.run([lambda: iteration_(None), others]), end)
    else:
        take = lambda item: it.run([lambda: iteration_(item), others])
        iterators.advance(it, iterator, take, end)  # type: ignore[arg-type]


def start_for_in_steps(it: Interpreter, loop: ast.For) -> None:
    """A `for` loop that yields: what it walks over is kept for when the generator goes on."""
    value = evaluate(it, loop.iter)
    iterator = value if is_iterator(value) else iterators.iterator_of(it, value)
    cells.write(it, it.frame.scope.vars[_loop_name(loop)], iterator)  # type: ignore[arg-type]
    run_loop_in_steps(it, loop)


def may_stop(it: Interpreter) -> bool:
    """Whether the current function is a generator that may be left where it yields."""
    producing = it.frame.producing
    return producing is not None and producing.may_stop


def cells_without_use(it: Interpreter) -> set[Any]:
    """The places of the cells of generators that run inside out: only a generator that stops has a use for them."""
    running = (f.producing.producer for f in it.frames if isinstance(f.producing, _InsideOut))
    held = (value for producer in running for value in producer.scope.vars.values())
    return {cell.place for cell in held if isinstance(cell, Items)}


def is_stepping(it: Interpreter, node: ast.AST) -> bool:
    """Whether a loop yields in a generator whose items are asked for one by one."""
    return isinstance(it.frame.producing, _Stepping) and yields(node)


def _resume_try(it: Interpreter, statement: ast.Try, node: ast.AST) -> None:
    if not any(_contains(each, node) for each in statement.body):
        raise it.unsupported(
            "`yield` in a handler or in `finally`, in a generator whose items are asked for one by one",
            "Walk over the generator with a `for` loop.",
            node,
        )
    exceptions.run_try_around(it, statement, lambda: _resume_body(it, statement.body, node))


# --- what syntax tells ------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _points(node: ast.AST) -> dict[int, ast.AST]:
    """The places where a generator yields, numbered from 1."""
    found = [each for each in own_nodes(node) if isinstance(each, ast.Yield | ast.YieldFrom)]
    found.sort(key=lambda each: (each.lineno, each.col_offset))
    return dict(enumerate(found, 1))


@lru_cache(maxsize=1024)
def _at_statements(node: ast.AST) -> frozenset[ast.AST]:
    """The yields that are a statement, or all that is assigned."""
    return frozenset(
        each.value
        for each in own_nodes(node)
        if isinstance(each, ast.Expr | ast.Assign | ast.AnnAssign) and each.value is not None
    )


@lru_cache(maxsize=1024)
def _loops(node: ast.AST) -> tuple[ast.For, ...]:
    return tuple(each for each in own_nodes(node) if isinstance(each, ast.For) and yields(each))


@lru_cache(maxsize=1024)
def _froms(node: ast.AST) -> tuple[ast.YieldFrom, ...]:
    return tuple(each for each in own_nodes(node) if isinstance(each, ast.YieldFrom))


def _loop_name(node: ast.For | ast.YieldFrom) -> str:
    return f"%items{node.lineno}.{node.col_offset}"


@lru_cache(maxsize=1024)
def _returns_values(node: ast.AST) -> bool:
    found = (each.value for each in own_nodes(node) if isinstance(each, ast.Return))
    return any(value is not None for value in found)


@lru_cache(maxsize=1024)
def _is_endless(node: ast.AST) -> bool:
    """Whether a generator certainly never ends: a `while True` at its end that nothing leaves."""
    body: Sequence[ast.stmt] = node.body  # type: ignore[attr-defined]
    last = body[-1] if body else None
    if (
        not isinstance(last, ast.While)
        or not isinstance(last.test, ast.Constant)
        or not last.test.value
    ):
        return False
    inside = [each for statement in last.body for each in (statement, *own_nodes(statement))]
    return not any(isinstance(each, ast.Break | ast.Return | ast.Raise) for each in inside)


def as_function(node: ast.GeneratorExp) -> ast.FunctionDef:
    """A generator expression as the generator function that it stands for."""
    return _as_function(node)


@lru_cache(maxsize=1024)
def _as_function(node: ast.GeneratorExp) -> ast.FunctionDef:
    body: ast.stmt = ast.Expr(ast.Yield(node.elt))
    for k, clause in reversed(list(enumerate(node.generators))):
        for condition in reversed(clause.ifs):
            body = ast.If(condition, [body], [])
        iterable = ast.Name("%iterable", ast.Load()) if k == 0 else clause.iter
        body = ast.For(clause.target, iterable, [body], [])
        ast.copy_location(body, clause.target)  # by which loops are told apart
    argument = ast.arg("%iterable")
    arguments = ast.arguments([], [argument], None, [], [], None, [])
    function = ast.FunctionDef("<genexpr>", arguments, [body], [])
    ast.copy_location(function, node)
    for inner in ast.walk(function):
        if not hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    return function
