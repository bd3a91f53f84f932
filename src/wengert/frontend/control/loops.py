"""`for` loops: what they walk over, when they are written out, how they end."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial

from ...errors import UnsupportedSyntax
from ...ir.graph import Atom, Const
from ...ops.program import identity as ident
from ...ops.program.refusals import REFUSALS
from ..domain.running import UNROLL, Consumer, LoopKey, Running
from ..domain.values import Items, Value, is_generator, is_plain, kind_of_value, list_of
from ..heap import cells, iterator_state, materialise, now, walk_by_index, walking
from ..machine.interpreter import Interpreter
from ..machine.session import strictly
from ..machine.turns import ChosenByTurn, by_turns, item_of, short_loop, turns_of
from ..syntax.declarations import assigned_names, own_nodes, yields


def run_for(it: Interpreter, node: ast.For) -> None:
    value = it.as_asked(it.evaluate(node.iter))
    if isinstance(value, Items) and value.form == "iterator":
        _run_over_iterator(it, node, value)
    else:
        run_over(it, node, value)


def run_over(it: Interpreter, node: ast.For, iterable: Value) -> None:
    """A loop over all items of something that nobody else walks over."""
    with walking.as_they_are(it, iterable), it.holding(iterable):
        _run_over(it, node, iterable)


def _run_over(it: Interpreter, node: ast.For, iterable: Value) -> None:

    lists = walking.known_lists(it, iterable)
    dictionaries = walking.dictionaries(it, iterable)
    items, walked = _items_of(it, node, iterable)
    copied = walking.still_known(it, lists)
    depth = it.frame.loops + 1

    def body(item: Value) -> None:
        it.assign(node.target, item)
        it.execute(node.body)

    names = assigned_names([node.target, *node.body])
    turns = turns_of(it, items) if isinstance(items, Running) else None
    if isinstance(items, Running) and turns is not None:
        _write_out(it, turns, lambda k: guarded(it, items, body)(item_of(items, k)))
        walking.refuse_changed(it, copied, 0)
    elif isinstance(items, Running):

        def turn(item: Value) -> None:
            walking.raise_if_resized(it, dictionaries)
            body(item)

        it.run_loop(node, names, items, guarded(it, items, turn))
        _check_keys(it, depth, dictionaries)
        _check_lengths(it, walked)
        if id(node) in it.reading.by_index:
            walking.refuse_changed(it, copied, 0)
        else:
            _walk_by_index(it, node, lists)
    elif not items or (should_unroll(it, items) and not _is_range(iterable)):
        unroll(it, items, body, iterable, lists)
    else:
        _run_or_unroll(it, node, names, items, body, iterable, lists)
    finish(it, depth, node.orelse)


def _run_over_iterator(it: Interpreter, node: ast.For, iterator: Items) -> None:
    """A loop over what is left of an iterator, which others may ask before the loop, in it, or after it."""
    source, position = iterator_state.current(it, iterator)
    leaves = may_leave(node) or (yields(node) and iterator_state.may_stop(it))
    kept = leaves and it.is_kept(iterator)
    if not is_generator(source) and position != Const(0):
        kept = kept or it.is_kept(iterator)
    if kept:
        it.run_for_iterator(node, iterator)
        return
    with iterator_state.drained(it, iterator) as rest:
        (_run_inside_out if is_generator(rest) else run_over)(it, node, rest)


def may_leave(node: ast.For) -> bool:
    """Whether a loop may end before what it walks over does, as far as syntax tells."""
    return any(
        isinstance(each, (ast.Break, ast.Return, ast.Raise))
        for statement in node.body
        for each in (statement, *own_nodes(statement))
    )


def _run_inside_out(it: Interpreter, node: ast.For, generator: Value) -> None:
    """A generator runs, and the loop's body at every `yield`."""
    frame, depth = it.frame, it.frame.loops + 1
    it.vars[f"%break{depth}"] = Const(False)
    names = assigned_names([node.target, *node.body])
    lent = cells.lend(it, frame.scope, [*names, f"%break{depth}", "%returned", "%return"])

    def take(it: Interpreter, item: Value) -> None:
        it.frames.append(frame)
        try:
            for name in it.exits():
                it.set(name, Const(False))
            it.vars[f"%continue{depth}"] = Const(False)
            it.run([lambda: it.assign(node.target, item), lambda: it.execute(node.body)])
            it.vars.pop(f"%continue{depth}")
        finally:
            it.frames.pop()

    def left(it: Interpreter) -> Atom:
        it.frames.append(frame)
        try:
            return it.either(it.flag(f"%break{depth}"), it.flag("%returned"))
        finally:
            it.frames.pop()

    try:
        with frame.in_loop():
            leaves = may_leave(node) or (yields(node) and iterator_state.may_stop(it))
            iterator_state.drive(it, generator, Consumer(take, left, leaves))
    finally:
        cells.take_back(it, frame.scope, lent)
    finish(it, depth, node.orelse)


_Items = tuple[list[Value] | Running, list[tuple[Atom, Atom]]]


def _items_of(it: Interpreter, node: ast.For, iterable: Value) -> _Items:
    """What a loop walks over, and the lists among it that its body may change: with their lengths."""
    if id(node) in it.reading.by_index:
        return _items_by_index(it, iterable)
    around = it.walked_by_turn
    it.walked_by_turn = walked = [] if id(node) in it.reading.by_turn else None
    try:
        return it.iteration(iterable), walked or []
    finally:
        it.walked_by_turn = around


def _items_by_index(it: Interpreter, iterable: Value) -> _Items:
    """What a loop walks over whose body changes the items: they are taken out one by one, by index.

    Gives the lists among it, too, and how long they are before the loop.
    """
    if isinstance(iterable, Items) and iterable.form == "list" and len(iterable.values) > UNROLL:
        iterable = materialise(it, iterable)
    around, it.walked_by_index = it.walked_by_index, []
    try:
        return it.iteration(iterable), it.walked_by_index
    finally:
        it.walked_by_index = around


def _is_range(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, range)


def _run_or_unroll(
    it: Interpreter,
    node: ast.For,
    names: list[str],
    items: list[Value],
    body: Callable[[Value], None],
    iterable: Value,
    lists: Sequence[walking.Walked],
) -> None:
    """A loop over known items as a loop; written out where an iteration needs to know its item."""
    turns: list[Value] = []

    def one_turn(item: Value) -> None:
        turns.append(item)
        with short_loop(it, item) if may_be_written_out else nullcontext():
            body(item)

    def run() -> None:
        it.run_loop(node, names, it.at_run_time(items), one_turn, certain=True)
        _walk_by_index(it, node, lists)

    may_be_written_out = len(items) * it.turns_around <= 2 * UNROLL
    if may_be_written_out and id(node) in it.reading.looking_up:
        unroll(it, items, body, iterable, lists)
        return
    mark = it.mark()
    try:
        with strictly(it.reading):
            run()
    except REFUSALS as refusal:
        if isinstance(refusal, ChosenByTurn):
            if refusal.turn not in turns:
                raise  # the number of a loop around this one
            it.reading.looking_up.add(id(node))
        is_short = isinstance(refusal, UnsupportedSyntax) and len(items) <= 4 * UNROLL
        if not is_short and not it.reading.defers:
            raise
        it.return_to(mark)
        if is_short:
            unroll(it, items, body, iterable, lists)
        else:
            run()


def _check_keys(it: Interpreter, depth: int, walked: Sequence[tuple[Value, Atom]]) -> None:
    """Have it checked that the dictionaries that a loop walked over to their end have as many keys as they had."""
    if any(now(it, mapping) is not mapping for mapping, _ in walked):
        walking.refuse_reordered(it, walked)
        left = it.either(it.flag(f"%break{depth}"), it.flag("%returned"))
        it.branch(left, lambda: None, lambda: walking.raise_if_resized(it, walked))


def _check_lengths(it: Interpreter, walked: Sequence[tuple[Atom, Atom]]) -> None:
    """Have it checked that what a loop walked over by index is as long as it was."""
    for items, count in walked:
        whole, _ = it.whole_list(items)
        if whole is not items and walking.items_written(it, whole, count):
            raise walking.changed_in_a_loop(it)  # a slice holds what it held
        if walking.items_written(it, items, count):
            it.emit(ident.as_long, it.atom(now(it, items)), count)


def _walk_by_index(it: Interpreter, node: ast.For, lists: Sequence[walking.Walked]) -> None:
    """Have the program read again where a loop walks over what it has changed.

    Raises:
        ByIndex: it has.
    """
    if any(walking.is_changed(it, each, 0) for each in lists):
        walk_by_index(it, id(node))


def guarded(
    it: Interpreter, running: Running, body: Callable[[Value], None]
) -> Callable[[Value], None]:
    """The body, for the items that pass every guard."""
    for guard in running.guards:
        body = partial(_run_if_passed, it, guard, body)
    return body


def _run_if_passed(
    it: Interpreter, guard: Callable[[Value], Value], body: Callable[[Value], None], item: Value
) -> None:
    it.branch(it.truth(guard(item)), partial(body, item), lambda: None)


def should_unroll(it: Interpreter, items: list[Value]) -> bool:
    if len(items) <= UNROLL:
        return True
    if it.can_be_written_out(items):
        return True
    kinds = {kind_of_value(item) for item in items}
    return len(kinds) > 1 or not all(map(is_plain, items))


def unroll(
    it: Interpreter,
    items: list[Value],
    body: Callable[[Value], None],
    iterable: Value,
    lists: Sequence[walking.Walked],
) -> None:
    """A loop written out, one iteration after the other.

    `lists` are those that it walks over, as they were before anything was asked of what it walks over.
    """
    dictionaries = walking.dictionaries(it, iterable)

    def turn(k: int) -> None:
        walking.raise_if_resized(it, dictionaries)
        if k == len(items):
            return
        item = items[k]
        if any(walking.is_changed(it, each, k) for each in lists):
            item = _taken_anew(it, iterable, lists, k)
        body(item)

    _write_out(it, len(items) + bool(dictionaries), turn)
    walking.refuse_changed(it, lists, len(items), ended=True)


def _taken_anew(it: Interpreter, iterable: Value, lists: Sequence[walking.Walked], k: int) -> Value:
    """The item that a loop comes to, of lists or dictionaries that have changed since it started."""
    if not walking.asks_anew(iterable):
        walking.refuse_changed(it, lists, k)
    items = it.iteration(now(it, iterable))
    if not isinstance(items, list) or k >= len(items):
        walking.refuse_changed(it, lists, k)
    assert isinstance(items, list)
    return items[k]


def _write_out(it: Interpreter, count: int, turn: Callable[[int], None]) -> None:
    with it.frame.in_loop() as depth, it.writing_out(count):
        it.vars[f"%break{depth}"] = Const(False)

        def step(k: int) -> None:
            it.vars[f"%continue{depth}"] = Const(False)
            turn(k)
            it.vars[f"%continue{depth}"] = Const(False)

        it.run([partial(step, k) for k in range(count)])


def finish(it: Interpreter, depth: int, orelse: Sequence[ast.stmt]) -> None:
    """After a loop: its `else` runs unless something left it."""
    broke = it.flag(f"%break{depth}")
    it.vars.pop(f"%break{depth}", None)
    it.vars.pop(f"%continue{depth}", None)
    if orelse:
        left = it.either(broke, it.flag("%returned"))
        it.branch(left, lambda: None, lambda: it.execute(orelse))


def collect(it: Interpreter, running: Running, make: Callable[[Value], Value]) -> Value:
    """A list with one value per item."""
    made: list[Value] = []

    def body(item: Value) -> None:
        made[:] = [make(item)]

    turns = None if running.guards else by_turns(it, running)
    if turns is not None:
        return list_of(*map(make, turns))
    if running.guards:
        return it.collect_guarded(running, make)
    node = it.frame.closure.node
    marker = LoopKey(node)
    lists = it.run_loop(marker, [], running, body, collecting=lambda: made)
    return lists[0] if lists else list_of()  # no iteration ever comes to its end


def loop_over(
    it: Interpreter, running: Running, names: Sequence[str], body: Callable[[Value], None]
) -> None:
    """A loop that the interpreter itself writes; `names` are the slots it carries."""
    marker = LoopKey(it.frame.closure.node)
    it.run_loop(marker, names, running, guarded(it, running, body))
    it.vars.pop(f"%break{it.frame.loops + 1}", None)
