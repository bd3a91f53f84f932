"""Comprehensions and generator expressions."""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from typing import Any

from ...ir.graph import Atom, Const, Var
from ...ir.records import replace
from ...ops import structure as st
from ...ops.program import containers as co
from ..domain.running import Consumer, LoopKey, Running
from ..domain.values import (
    Closure,
    Items,
    LazyIterable,
    Maybe,
    Native,
    Scope,
    Value,
    is_generator,
    is_iterator,
    list_of,
    tuple_of,
)
from ..heap import iterator_state, now, walking
from ..machine.interpreter import Interpreter
from ..machine.session import Frame
from ..machine.turns import by_turns
from ..syntax.generator_syntax import as_function
from . import generators

Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

_INLINED = sys.version_info >= (3, 12)
"""Whether Python runs list comprehensions in the function that they stand in (PEP 709)."""


def comprehend(it: Interpreter, node: Comprehension) -> Value:
    """The value of a comprehension; a generator expression waits until something consumes it."""
    if isinstance(node, ast.GeneratorExp):
        return _generator_expression(it, node)
    listed = _listed(it, node, it.frame)
    match node:
        case ast.SetComp():
            return it.call_foreign(set, [listed], {})
        case ast.DictComp():
            made = it.builder.visible_definition(listed) if isinstance(listed, Var) else None
            is_made = made is not None and made.op is co.dict_of
            return listed if is_made else dictionary(it, listed)
        case _:
            return listed


def _generator_expression(it: Interpreter, node: ast.GeneratorExp) -> Value:
    """It is made where it stands, and runs where it is consumed; but what it walks over is known then."""
    frame = it.frame
    first = it.as_asked(it.evaluate(node.generators[0].iter))
    around = frame.closure
    closure = Closure(as_function(node), around.file, frame.scope, identity=node)
    producer = generators.GeneratorFrame(closure, {"%iterable": first}, frame.around or frame)

    def listed(it: Interpreter, args: Any, kwargs: Any) -> Value:
        return _listed(it, node, frame, first)

    return iterator_state.iterator_of(
        it, LazyIterable("generator", (), Native("generator", listed, producer))
    )


def _listed(
    it: Interpreter, node: Comprehension, frame: Frame, first: Value | None = None
) -> Value:
    def element() -> Value:
        if isinstance(node, ast.DictComp):
            return tuple_of(it.evaluate(node.key), it.evaluate(node.value))
        return it.evaluate(node.elt)

    with _scope_of_its_own(it, frame) as scope:
        scope.inlined = _INLINED and not isinstance(node, ast.GeneratorExp)
        produced = _produce(
            it, node.generators, element, first, pairs=isinstance(node, ast.DictComp)
        )
    return list_of(*produced) if isinstance(produced, list) else produced


@contextmanager
def _scope_of_its_own(it: Interpreter, frame: Frame) -> Generator[Scope, None, None]:
    scope = Scope(frame.scope.globals, frame.scope)
    it.frames.append(Frame(frame.closure, scope, around=frame.around or frame))
    try:
        yield scope
    finally:
        it.frames.pop()


def _produce(
    it: Interpreter,
    clauses: Sequence[ast.comprehension],
    element: Callable[[], Value],
    iterable: Value | None = None,
    *,
    pairs: bool = False,
) -> list[Value] | Atom:
    """The items that `for … if …` clauses produce: known one by one, or a list at run time.

    `pairs`: they are keys and values, and a dictionary at run time where there is one clause.
    """
    clause, *inner = clauses

    def make(item: Value) -> Value:

        it.assign(clause.target, item)
        if not inner:
            return element()
        produced = _produce(it, inner, element)
        return list_of(*produced) if isinstance(produced, list) else produced

    walked = it.as_asked(it.evaluate(clause.iter) if iterable is None else iterable)
    pairs = pairs and not inner
    produce = functools.partial(_produce_from, it, clause, make, nested=bool(inner), pairs=pairs)
    if not isinstance(walked, Items) or not is_iterator(walked):
        return produce(walked)
    with iterator_state.drained(it, walked) as rest:
        return produce(rest)


def _produce_from(
    it: Interpreter,
    clause: ast.comprehension,
    make: Callable[[Value], Value],
    walked: Value,
    *,
    nested: bool,
    pairs: bool,
) -> list[Value] | Atom:
    """The items that the last of some clauses produces, of what nobody else walks over."""
    if is_generator(walked):
        return _produce_inside_out(it, walked, clause, make, nested=nested)
    with walking.as_they_are(it, walked):
        return _produce_at_once(it, clause, make, walked, nested=nested, pairs=pairs)


def _produce_at_once(
    it: Interpreter,
    clause: ast.comprehension,
    make: Callable[[Value], Value],
    walked: Value,
    *,
    nested: bool,
    pairs: bool,
) -> list[Value] | Atom:
    items = it.iteration(walked)
    turns = by_turns(it, items) if isinstance(items, Running) and not items.guards else None
    if turns is not None:
        return _produce_known(it, clause, turns, make, nested=nested)
    if isinstance(items, list) and it.should_unroll(items):
        return _produce_known(it, clause, items, make, nested=nested)
    running = it.at_run_time(items)
    if clause.ifs:

        def keep(item: Value) -> Value:

            it.assign(clause.target, item)
            return _all_hold(it, clause.ifs)

        running = replace(running, guards=(*running.guards, keep))

    if pairs:
        return it.emit(co.dict_of, *collected_pairs(it, running, make))
    collected = it.atom(it.collect(running, make))
    return it.emit(co.flatten_lists, collected) if nested else collected


def _produce_inside_out(
    it: Interpreter,
    generator: Value,
    clause: ast.comprehension,
    make: Callable[[Value], Value],
    *,
    nested: bool,
) -> list[Value] | Atom:
    """The generator runs, and at every `yield` what becomes of the item."""
    frame, items = it.frame, list_of()

    def put(item: Value) -> None:
        it.method_of_known(items, "extend" if nested else "append", [make(item)], {})

    def take(it: Interpreter, item: Value) -> None:
        names = dict(frame.scope.vars)
        it.frames.append(frame)
        try:
            it.assign(clause.target, item)
            kept = it.truth(_all_hold(it, clause.ifs)) if clause.ifs else Const(True)
            it.branch(kept, lambda: put(item), lambda: None)
        finally:
            it.frames.pop()
            frame.scope.vars = names

    consumer = Consumer(take, lambda it: Const(False), may_leave=False)
    iterator_state.drive(it, generator, consumer)
    listed = now(it, items)
    return list(listed.values) if isinstance(listed, Items) else it.atom(listed)


def _all_hold(it: Interpreter, conditions: Sequence[ast.expr]) -> Value:
    first, *rest = conditions
    value = it.evaluate(first)
    if not rest:
        return value
    return it.choose(it.truth(value), lambda: _all_hold(it, rest), lambda: Const(False))


def _produce_known(
    it: Interpreter,
    generator: ast.comprehension,
    items: Iterable[Value],
    make: Callable[[Value], Value],
    *,
    nested: bool,
) -> list[Value] | Atom:

    parts: list[Value] = []
    certain = True
    for item in items:
        it.assign(generator.target, item)
        kept = _all_hold(it, generator.ifs) if generator.ifs else Const(True)
        known = it.known_truth(kept)
        if known is False:
            continue
        if known is None:
            certain = False
            parts.append(
                it.choose(
                    it.truth(kept), lambda item=item: _as_list(make(item), nested=nested), list_of
                )
            )
        else:
            parts.append(_as_list(make(item), nested=nested))
    if certain and all(isinstance(part, Items) for part in parts):
        return [value for part in parts if isinstance(part, Items) for value in part.values]
    joined: Atom = it.atom(list_of())
    for part in parts:
        joined = it.emit(co.join_lists, joined, it.atom(part))
    return joined


def _as_list(value: Value, *, nested: bool) -> Value:
    return value if nested else list_of(value)


def collect_guarded(it: Interpreter, running: Running, make: Callable[[Value], Value]) -> Value:
    """A list with one value for every item that passes the guards."""
    return next(iter(_collected(it, running, lambda item: [make(item)])), list_of())


def collected_pairs(
    it: Interpreter, running: Running, make: Callable[[Value], Value]
) -> list[Atom]:
    """A list of keys and one of values, of the pairs that are made of every item which passes the guards.

    They are apart: a key has no derivative where the value has one.
    """

    def parts(item: Value) -> Sequence[Value]:
        pair = make(item)
        assert isinstance(pair, Items)
        return pair.values

    return list(map(it.atom, _collected(it, running, parts) or (list_of(), list_of())))


def _collected(
    it: Interpreter, running: Running, make: Callable[[Value], Sequence[Value]]
) -> Sequence[Value]:
    """Lists of what is made of every item that passes the guards; none if no iteration comes to its end."""
    kept: list[Value] = []

    def body(item: Value) -> None:
        def holds(k: int) -> Value:
            if k == len(running.guards):
                return Const(True)
            passed = it.truth(running.guards[k](item))
            return it.choose(passed, lambda: holds(k + 1), lambda: Const(False))

        flag = it.truth(holds(0))
        count = 0

        def put() -> None:
            nonlocal count
            made = make(item)
            count = len(made)
            for k, each in enumerate(made):
                it.vars[f"%item{k}"] = it.atom(each)

        it.branch(flag, put, lambda: None)
        values = [it.vars.pop(f"%item{k}", Const(None)) for k in range(count)]
        kept[:] = [*(v.value if isinstance(v, Maybe) else v for v in values), flag]

    marker = LoopKey(it.frame.closure.node)
    plain = replace(running, guards=())
    lists = it.run_loop(marker, [], plain, body, collecting=lambda: kept)
    if not running.guards:
        return lists[:-1]
    return [it.emit(co.compress, each, lists[-1]) for each in lists[:-1]]


def dictionary(it: Interpreter, pairs: Value) -> Value:
    """A dictionary of pairs; those of a known list are known as well."""
    if isinstance(pairs, Items):
        entries = [pair for pair in pairs.values if isinstance(pair, Items)]
        keys, values = zip(*(pair.values for pair in entries), strict=True) if entries else ((), ())
        known = [it.key_of(key) for key in keys]
        if all(isinstance(key, Const) for key in known):
            items = {key.value: v for key, v in zip(known, values, strict=True)}  # type: ignore[union-attr]
            return Items("dict", tuple(items), tuple(items.values()))
        return it.emit(co.dict_of, it.atom(list_of(*keys)), it.atom(list_of(*values)))
    source = it.atom(pairs)
    from .iteration import iterate_var

    running = iterate_var(it, source)

    def nth(k: int) -> Callable[[Value], Value]:
        return lambda pair: (
            pair.values[k]
            if isinstance(pair, Items)
            else it.emit(st.getitem, it.atom(pair), Const(k))
        )

    keys = it.atom(it.collect(running, nth(0)))
    values = it.atom(it.collect(running, nth(1)))
    return it.emit(co.dict_of, keys, values)
