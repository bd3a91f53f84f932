"""Running a loop: which values it carries, and how it ends."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ..errors import UnsupportedSyntax
from ..ir.builder import Builder, kind_of_atom
from ..ir.graph import Atom, Const, Var, births
from ..ir.records import mutable_record
from ..ir.types import (
    BOOL,
    Array,
    Kind,
    Number,
    Seq,
    Static,
    is_differentiable,
    join,
)
from ..ops import identity as ident
from ..ops import structure as st
from . import cells, generators, iterators
from .captures import taken_apart
from .cells import is_cell
from .checkpoints import checkpointed_test
from .counts import by_turns, is_by_turns, item_of_turn, take_turn, turns_of
from .declarations import assigned_names, own_nodes
from .expressions import condition, evaluate, truth
from .heap import (
    ByIndex,
    Heap,
    content_in,
    depth_of_items,
    hold_same,
    identities,
    materialise,
    now,
    place_of,
)
from .interpreter import coerce, fresh
from .iteration import UNROLL, Running, at_run_time, iteration
from .loop_aliases import Ends, Objects, link, objects_in
from .loop_heap import (
    Name,
    Names,
    bind_slot,
    follow,
    hint_of,
    is_whole,
    slots_of,
    up_to_date,
)
from .reading import Diverges
from .values import (
    Closure,
    Items,
    Maybe,
    Native,
    Place,
    Value,
    flatten,
    is_mutable,
    is_plain,
    kind_of_value,
    list_of,
    same,
)
from .walking import is_changed, items_written, known_lists, refuse_changed

if TYPE_CHECKING:
    from .interpreter import Interpreter


def run_for(it: Interpreter, node: ast.For) -> None:
    from .statements import assign, run_body

    if generators.is_stepping(it, node):
        generators.start_for_in_steps(it, node)
        return
    iterable = whole_of(it, node, evaluate(it, node.iter))
    if iterable is None:
        return
    by_index = id(node) in it.reading.by_index
    items, walked = _items_by_index(it, iterable) if by_index else (iteration(it, iterable), [])
    depth = it.frame.loops + 1

    def body(item: Value) -> None:
        assign(it, node.target, item)
        run_body(it, node.body)

    names = assigned_names([node.target, *node.body])
    turns = turns_of(it, items) if isinstance(items, Running) else None
    if isinstance(items, Running) and turns is not None:
        _write_out(it, turns, lambda k: guarded(it, items, body)(item_of_turn(it, items, k)))
    elif isinstance(items, Running):
        run_loop(it, node, names, items, guarded(it, items, body))
        for walked_list, count in walked:
            if items_written(it, walked_list, count):
                it.emit(ident.as_long, it.atom(now(it, walked_list)), count)
    elif not items or (should_unroll(it, items) and (is_by_turns(it) or not _is_range(iterable))):
        unroll(it, items, body, iterable)
    else:
        _run_or_unroll(it, node, names, items, body, iterable)
    _finish(it, depth, node.orelse)


def whole_of(it: Interpreter, node: ast.For, iterable: Value) -> Value | None:
    """What a loop walks over, where nobody else does; None where the loop has been run already."""
    iterable = iterators.as_asked(it, iterable)
    if not isinstance(iterable, Items) or iterable.form != "iterator":
        return iterable
    source, position = iterators.current(it, iterable)
    leaves = may_leave(node) or (generators.yields(node) and generators.may_stop(it))
    kept = iterators.is_kept(it, iterable)
    if generators.is_generator(source):
        fresh = generators.producer_of(source).is_fresh(it)
        if fresh and not (kept and leaves):
            _run_inside_out(it, node, iterators.taken_over(it, iterable))
        else:
            run_for_iterator(it, node, iterable)
        return None
    if kept and (leaves or position != Const(0)):
        run_for_iterator(it, node, iterable)
        return None
    return iterators.taken_over(it, iterable)


def may_leave(node: ast.For) -> bool:
    """Whether a loop may end before what it walks over does, as far as syntax tells."""
    return any(
        isinstance(each, ast.Break | ast.Return | ast.Raise)
        or (isinstance(each, ast.Name) and each.id == "next")
        for statement in node.body
        for each in (statement, *own_nodes(statement))
    )


def _run_inside_out(it: Interpreter, node: ast.For, generator: Value) -> None:
    """A generator runs, and the loop's body at every `yield`."""
    from .statements import assign, run_body

    frame, depth = it.frame, it.frame.loops + 1
    frame.loops = depth
    it.vars[f"%break{depth}"] = Const(False)
    names = assigned_names([node.target, *node.body])
    lent = cells.lend(it, frame.scope, [*names, f"%break{depth}", "%returned", "%return"])

    def take(it: Interpreter, item: Value) -> None:
        it.frames.append(frame)
        try:
            for name in it.exits():
                it.set(name, Const(False))
            it.vars[f"%continue{depth}"] = Const(False)
            it.run([lambda: assign(it, node.target, item), lambda: run_body(it, node.body)])
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
        generators.drive(it, generator, generators.Consumer(take, left, may_leave(node)))
    finally:
        cells.take_back(it, frame.scope, lent)
        frame.loops = depth - 1
    _finish(it, depth, node.orelse)


def run_for_iterator(it: Interpreter, node: ast.For, iterator: Items) -> None:
    """A loop that asks an iterator for one item after the other."""
    from .statements import assign, run_body

    depth = it.frame.loops + 1
    source, _ = iterators.current(it, iterator)
    if generators.is_generator(source) and generators.producer_of(source).is_fresh(it):
        # from the second item on it is known better where the generator is
        generators.run_first(it, node, iterator, lambda: run_for_iterator(it, node, iterator))
        return

    def take(item: Value) -> None:
        it.run([lambda: assign(it, node.target, item), lambda: run_body(it, node.body)])

    def end() -> None:
        it.vars[f"%test{depth}"] = Const(True)
        it.set(f"%break{depth}", Const(True))

    names = [*assigned_names([node.target, *node.body]), f"%test{depth}"]
    it.vars[f"%test{depth}"] = Const(False)

    def body(_: Value) -> None:
        iterators.advance(it, iterator, take, end)

    run_loop(it, node, names, None, body, test=lambda: Const(True))
    _by_test(it, depth)
    _finish(it, depth, node.orelse)


def _items_by_index(
    it: Interpreter, iterable: Value
) -> tuple[list[Value] | Running, list[tuple[Atom, Atom]]]:
    """What a loop walks over whose body changes the items: they are taken out one by one, by index.

    Gives the lists among it, too, and how long they are before the loop.
    """
    if isinstance(iterable, Items) and iterable.form == "list" and len(iterable.values) > UNROLL:
        iterable = materialise(it, iterable)
    around, it.walked_by_index = it.walked_by_index, []
    try:
        return iteration(it, iterable), it.walked_by_index
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
) -> None:
    """A loop over known items as a loop; written out where an iteration needs to know its item."""
    mark = it.mark()
    try:
        running = at_run_time(it, items)
        lists = known_lists(it, iterable)
        run_loop(it, node, names, running, body)
        if any(is_changed(it, each, 0) for each in lists):
            it.reading.by_index.add(id(node))
            raise ByIndex
    except UnsupportedSyntax:
        if len(items) > 4 * UNROLL:
            raise
        it.return_to(mark)
        unroll(it, items, body, iterable)


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
    it.branch(truth(it, guard(item)), partial(body, item), lambda: None)


def should_unroll(it: Interpreter, items: list[Value]) -> bool:
    if len(items) <= UNROLL or is_by_turns(it):
        return True
    kinds = {kind_of_value(item) for item in items}
    return len(kinds) > 1 or not all(map(is_plain, items))


def unroll(
    it: Interpreter, items: list[Value], body: Callable[[Value], None], iterable: Value
) -> None:
    """A loop written out, one iteration after the other."""
    lists = known_lists(it, iterable)

    def turn(k: int) -> None:
        refuse_changed(it, lists, k)
        if is_by_turns(it):
            take_turn(it)
        body(items[k])

    _write_out(it, len(items), turn)
    refuse_changed(it, lists, len(items))


def _write_out(it: Interpreter, count: int, turn: Callable[[int], None]) -> None:
    it.frame.loops += 1
    depth = it.frame.loops
    it.vars[f"%break{depth}"] = Const(False)

    def step(k: int) -> None:
        it.vars[f"%continue{depth}"] = Const(False)
        turn(k)
        it.vars[f"%continue{depth}"] = Const(False)

    it.run([partial(step, k) for k in range(count)])
    it.frame.loops -= 1


def _finish(it: Interpreter, depth: int, orelse: Sequence[ast.stmt]) -> None:
    """After a loop: its `else` runs unless something left it."""
    from .statements import run_body

    broke = it.flag(f"%break{depth}")
    it.vars.pop(f"%break{depth}", None)
    it.vars.pop(f"%continue{depth}", None)
    if orelse:
        left = it.either(broke, it.flag("%returned"))
        it.branch(left, lambda: None, lambda: run_body(it, orelse))


@mutable_record
class Carried:
    """What is assumed of one name around a loop."""

    kind: Kind | None = None
    """The kind of the value it carries; None: the loop leaves it as it was."""
    maybe: bool = False
    """Whether the name may be unbound when an iteration starts."""


def _assume(entry: Value | None, learned: Carried | None) -> Carried:
    """A first guess, from the value on entry and what an earlier reading of the loop learned."""
    guess = _first_guess(entry)
    if learned is None or learned.kind is None:
        return guess
    if entry is None or guess.kind is None:
        return guess if entry is not None else Carried(learned.kind, maybe=True)
    return Carried(join(guess.kind, learned.kind), guess.maybe or learned.maybe)


def _first_guess(entry: Value | None) -> Carried:
    if entry is None:
        return Carried(None, maybe=True)
    maybe = isinstance(entry, Maybe)
    value = entry.value if isinstance(entry, Maybe) else entry
    kind = kind_of_value(value)
    fixed = isinstance(value, Const) and not is_differentiable(kind)
    fixed = fixed or (isinstance(value, Items) and is_mutable(value))  # it may stay the same object
    return Carried(None if fixed or isinstance(kind, Static) else kind, maybe)


@mutable_record
class Attempt:
    """One reading of a loop's body under an assumption."""

    builder: Builder
    before: Heap
    """The heap at the start of an iteration."""
    heap: Heap
    """The heap at its end."""
    params: dict[Name, Value]
    end: Names
    stop: Atom
    collected: list[Atom]
    objects: dict[Name, Objects]
    """The objects that the carried names refer to at its end."""
    held: list[set[Place]]
    """The objects that the collected values are."""
    dead: bool
    unbound: set[str]
    """Names that were read where nothing had bound them."""
    unfollowed: set[str]
    """Names of run-time objects that cannot be followed to the end."""


Collect = Callable[[], Sequence[Value]]


def run_loop(
    it: Interpreter,
    node: ast.AST,
    names: Sequence[str],
    running: Running | None,
    body: Callable[[Value], None],
    *,
    test: Callable[[], Atom] | None = None,
    collecting: Collect | None = None,
    every: Atom | None = None,
) -> list[Var]:
    """Emit a `for` (over `running`) or a `while` (on `test`); gives the collected lists.

    A checkpointed `while` has `every`; a `for` has it of what it walks over.
    """
    every = running.every if running else every

    def read() -> list[Var]:
        lists = _read_loop(it, node, names, running, body, test, collecting, every)
        it.catching.after_blocks()
        return lists

    return it.catching.whole(read)


def _read_loop(
    it: Interpreter,
    node: ast.AST,
    names: Sequence[str],
    running: Running | None,
    body: Callable[[Value], None],
    test: Callable[[], Atom] | None,
    collecting: Collect | None,
    every: Atom | None,
) -> list[Var]:
    it.frame.loops += 1
    depth = it.frame.loops
    it.vars[f"%break{depth}"] = Const(False)
    flags = [f"%break{depth}", "%returned", "%return"]
    entry: dict[Name, Value | None] = {
        name: up_to_date(it, it.vars.get(name)) or it.vars.get(name)
        for name in (*names, *flags)
        if not is_cell(it.vars.get(name))
    }
    key = (id(node), tuple(id(frame.closure.node) for frame in it.frames))
    learned = it.reading.loop_kinds.get(key, {})
    assumed = {name: _assume(value, learned.get(name)) for name, value in entry.items()}
    elements = [Var(st.item_kind(kind_of_atom(i))) for i in running.iterables] if running else []
    # an item that is an array or a list belongs to what is iterated over
    it.reading.inputs += [e for e in elements if isinstance(e.kind, Array | Seq)]
    it.reading.elements.update((e, id(node)) for e in elements if not isinstance(e.kind, Number))
    parts = _link_elements(it, elements, running)
    start, lost, ends, forgotten = next(births), dict[Any, Any](), Ends(), list[str]()
    for _ in range(12):
        attempt = _attempt(
            it, entry, assumed, lost, ends, start, elements, running, body, collecting
        )
        rebound = _forget(it, assumed, attempt)
        forgotten += rebound
        if rebound:
            continue
        assumed, held = _widen(entry, assumed, attempt)
        followed = attempt.dead or follow(it, entry, assumed, attempt, lost, ends, start)
        if held and followed:
            break
    else:
        raise it.unsupported(
            "the kinds of the values that this loop carries from turn to turn never settle",
            "Start them as what they become: 0.0 instead of None or an empty list, say.",
        )
    _refuse_changed_items(it, node, attempt, running)
    if not isinstance(node, LoopKey):
        it.reading.loop_kinds[key] = {k: v for k, v in assumed.items() if isinstance(k, str)}
    it.frame.loops -= 1
    with it.catching.quiet():
        lists = _emit_loop(it, entry, assumed, attempt, lost, elements, running, test, every)
    it.heap.update(lost)
    for name in forgotten:
        it.vars[name] = _of_an_iteration(it)
    after: dict[Name, Value] = {name: it.vars[name] for name in assumed if name in it.vars}
    link(it, entry, ends, _followed(after), start)
    for out, held in zip(lists, attempt.held, strict=True):
        for place in held:
            if place.born <= start:
                for source, below in parts.get(place, {place: 0}).items():
                    hold_same(it, source, below, place_of(it, out), 1)
    return lists


def _refuse_changed_items(
    it: Interpreter, node: ast.AST, attempt: Attempt, running: Running | None
) -> None:
    """Numbers that change while a loop walks over them are read when their turn comes.

    Raises:
        ByIndex: they change, and the program is read again.
    """
    for iterable in running.iterables if running and not attempt.dead else ():
        if not isinstance(st.item_kind(kind_of_atom(iterable)), Number):
            continue
        for place in identities(it, iterable):
            if content_in(attempt.heap, place) is content_in(attempt.before, place):
                continue
            if not isinstance(node, ast.For):
                raise it.unsupported(
                    "the items that this walks over change meanwhile",
                    "Walk over a copy: `list(items)`.",
                )
            it.reading.by_index.add(id(node))
            raise ByIndex


def _followed(values: Mapping[Any, Value]) -> dict[Name, Value]:
    """The carried values, but for objects that are carried under their own identity."""
    return {name: value for name, value in values.items() if not is_whole(name)}


def _forget(it: Interpreter, assumed: dict[Name, Carried], attempt: Attempt) -> list[str]:
    """Names that refer to what cannot be followed from one iteration to the next are not carried.

    Only who reads one before an iteration has bound it, or after the loop, is refused.
    """
    found = [name for name in assumed if isinstance(name, str) and _is_lost(it, attempt, name)]
    for name in found:
        del assumed[name]
        it.vars[name] = _of_an_iteration(it)
    return found


def _is_lost(it: Interpreter, attempt: Attempt, name: str) -> bool:
    end = attempt.end.get(name)
    if name in attempt.unfollowed:
        return True
    return iterators.is_iterator(end) and not _is_same(end, it.vars.get(name))


def _of_an_iteration(it: Interpreter) -> Value:
    return iterators.lost_iterator(it, "every iteration of a loop binds its name to another one")


def _is_same(a: Value | None, b: Value | None) -> bool:
    return a is not None and b is not None and same(a, b)


def _link_elements(
    it: Interpreter, elements: Sequence[Var], running: Running | None
) -> dict[Place, dict[Place, int]]:
    """Note that the items of a loop are parts of what it walks over; gives which, and how deep."""
    parts: dict[Place, dict[Place, int]] = {}
    for element, iterable in zip(elements, running.iterables if running else (), strict=True):
        if is_mutable(element):
            place, below = place_of(it, element), depth_of_items(kind_of_atom(iterable))
            parts[place] = dict.fromkeys(identities(it, iterable, own=True), below)
            for source in parts[place]:
                hold_same(it, source, below, place, 0)
    return parts


def _attempt(
    it: Interpreter,
    entry: Names,
    assumed: dict[Name, Carried],
    lost: Heap,
    ends: Ends,
    start: int,
    elements: Sequence[Var],
    running: Running | None,
    body: Callable[[Value], None],
    collecting: Collect | None,
) -> Attempt:
    outer, scope, before, heap = it.builder, it.frame.scope, dict(it.vars), it.heap
    it.builder, it.heap = outer.child(), {**heap, **lost}
    depth = it.frame.loops
    unbound, it.frame.unbound = it.frame.unbound, set()
    params = _enter(it, entry, assumed)
    link(it, entry, ends, _followed(params), start)
    begun = dict(it.heap)
    # an iteration starts only where nothing has left
    for name in it.exits():
        it.set(name, Const(False))
    it.vars[f"%continue{depth}"] = Const(False)
    held: list[set[Place]] = []

    def one_iteration() -> None:
        body(running.item(elements) if running else Const(None))
        values = list(collecting()) if collecting is not None else []
        held.extend(identities(it, value, own=True) for value in values)
        for k, value in enumerate(values):
            it.vars[f"%collected{k}"] = it.atom(value)

    dead = it.read_path(one_iteration)
    collected = [] if dead else _collected(it)
    exits = (it.flag(f"%break{depth}"), it.flag("%returned"), it.catching.is_raised())
    stop = Const(False) if dead else it.either(*exits)
    for name in assumed:
        if isinstance(name, str) and isinstance(scope.vars.get(name), Closure | Native):
            scope.vars[name] = taken_apart(it, scope.vars[name])
    end: Names = {**scope.vars, **slots_of(it.heap)}
    with it.catching.quiet():
        end, unfollowed = _up_to_date(it, end, assumed)
    objects: dict[Name, Objects] = {
        name: objects_in(it, end.get(name)) for name in assumed if not is_whole(name)
    }
    attempt = Attempt(
        it.builder,
        begun,
        it.heap,
        params,
        end,
        stop,
        collected,
        objects,
        held,
        dead,
        it.frame.unbound,
        unfollowed,
    )
    it.frame.unbound = unbound | it.frame.unbound
    it.builder, scope.vars, it.heap = outer, before, heap
    return attempt


def _up_to_date(it: Interpreter, end: Names, assumed: Iterable[Name]) -> tuple[Names, set[str]]:
    """What carried values are at the end of an iteration, and the names of those that cannot be followed."""
    found, unfollowed = dict(end), set[str]()
    for name in assumed:
        value = end.get(name)
        if value is not None:
            current = up_to_date(it, value)
            inner = value.value if isinstance(value, Maybe) else value
            if current is None and isinstance(name, str) and isinstance(inner, Var):
                unfollowed.add(name)
            found[name] = value if current is None else current
    return found, unfollowed


def _collected(it: Interpreter) -> list[Atom]:
    """What an iteration adds to the lists that a loop collects; nothing if it always leaves."""
    found: list[Atom] = []
    while (value := it.vars.pop(f"%collected{len(found)}", None)) is not None:
        inner = value.value if isinstance(value, Maybe) else value
        assert isinstance(inner, Var | Const)
        found.append(inner)
    return found


def _enter(it: Interpreter, entry: Names, assumed: dict[Name, Carried]) -> dict[Name, Value]:
    """Bind every carried name to a parameter of the loop's body."""
    params: dict[Name, Value] = {}
    for name, carried in assumed.items():
        if carried.kind is None:
            if entry[name] is None and isinstance(name, str):
                it.vars.pop(name, None)
            continue
        params[name] = _param(name, carried)
        bind_slot(it, name, params[name])
        _note_entries(it, entry[name], params[name])
    return params


def _note_entries(it: Interpreter, entry: Value | None, param: Value) -> None:
    match entry, param:
        case Maybe(value=inner), Maybe(value=inner_param):
            _note_entries(it, inner, inner_param)
        case Var(), Var():
            it.reading.entries[param] = entry
        case Items(values=values), Items(values=params) if len(values) == len(params):
            for value, inside in zip(values, params, strict=True):
                _note_entries(it, value, inside)
        case _:
            return


def _widen(
    entry: Names, assumed: dict[Name, Carried], attempt: Attempt
) -> tuple[dict[Name, Carried], bool]:
    """What is to be assumed, and whether the attempt that was made assumed it."""
    if attempt.dead:
        return assumed, True
    changed = False
    result: dict[Name, Carried] = {}
    for name, carried in assumed.items():
        end = attempt.end.get(name)
        new = _widened(entry[name], carried, end)
        if new.kind is not None and _first_bound_inside(name, entry, carried, attempt):
            attempt.params[name] = _param(name, new)
            result[name] = new
            continue
        if name == "%return" and new.kind is not None:
            new.maybe = True
        result[name] = new
        changed = changed or (new.kind, new.maybe) != (carried.kind, carried.maybe)
    return result, not changed


def _first_bound_inside(name: Name, entry: Names, carried: Carried, attempt: Attempt) -> bool:
    """Whether every iteration binds a name before it reads it: then nothing was assumed of it."""
    bound = entry[name] is None and carried.kind is None and name not in attempt.unbound
    return isinstance(name, str) and bound and not isinstance(attempt.end.get(name), Maybe)


def _param(name: Name, carried: Carried) -> Value:
    """The parameter of a loop's body for a carried value."""
    assert carried.kind is not None
    hint = hint_of(name)
    if is_whole(name):
        return Var(carried.kind, hint)
    value = fresh(carried.kind, hint)
    if not carried.maybe:
        return value
    leaf = next(flatten(value), None)
    return Maybe(value, leaf if isinstance(leaf, Var) else Var(BOOL, hint))


def _widened(entry: Value | None, carried: Carried, end: Value | None) -> Carried:
    if end is None:
        return carried
    maybe = carried.maybe or isinstance(end, Maybe)
    value = end.value if isinstance(end, Maybe) else end
    kind = kind_of_value(value)
    if carried.kind is not None and _is_made_again(value, carried.kind):
        return Carried(carried.kind, maybe)
    if carried.kind is not None:
        return Carried(join(carried.kind, kind), maybe)
    if entry is None:
        return Carried(kind, maybe=True)
    inner = entry.value if isinstance(entry, Maybe) else entry
    if same(inner, value):
        return carried
    return Carried(join(kind_of_value(inner), kind), maybe)


def _is_made_again(value: Value, kind: Kind) -> bool:
    """Whether a function is the one of a kind, made by the same `def` in another turn.

    What it captured it finds under the names of the function around it, as they are when it is called.
    """
    known = kind.value if isinstance(kind, Static) else None
    if not isinstance(value, Closure) or not isinstance(known, Closure):
        return False
    of_its_own = [value.defaults, value.keyword_defaults]
    if value.attributes is not None:
        of_its_own += [value.attributes.values, value.attributes.place]
    return value.node is known.node and value.scope is known.scope and not any(of_its_own)


def _emit_loop(
    it: Interpreter,
    entry: Names,
    assumed: dict[Name, Carried],
    attempt: Attempt,
    lost: Heap,
    elements: Sequence[Var],
    running: Running | None,
    test: Callable[[], Atom] | None,
    every: Atom | None,
) -> list[Var]:
    params: list[Var] = []
    initials: list[Atom] = []
    ends: list[Atom] = []
    outs: list[Var] = []
    after: dict[Name, Value] = {}
    for name, carried in assumed.items():
        if carried.kind is None:
            continue
        param = attempt.params[name]
        out = _out_like(name, carried, params_only=param)
        initials += _carried_atoms(it, it.builder, it.heap, name, entry[name], carried)
        params += _leaves(param)
        end = param if attempt.dead else attempt.end.get(name)
        ends += _carried_atoms(it, attempt.builder, attempt.heap, name, end, carried)
        outs += _leaves(out)
        after[name] = out
    collected = [Var(Seq(kind_of_atom(atom))) for atom in attempt.collected]
    stop = attempt.stop != Const(False)
    body_outs = [*([attempt.stop] if stop else []), *ends, *attempt.collected]
    all_outs = [*outs, *collected]
    body = attempt.builder.block([*elements, *params], body_outs)
    if running is not None:
        it.builder.for_(running.iterables, initials, body, all_outs, stop=stop, every=every)
    else:
        assert test is not None
        block = _test_block(it, assumed, lost, test)
        it.builder.while_(initials, block, body, all_outs, stop=stop, every=every)
    for name, value in after.items():
        bind_slot(it, name, value)
    return collected


def _test_block(
    it: Interpreter, assumed: dict[Name, Carried], lost: Heap, test: Callable[[], Atom]
) -> Any:
    outer, before, heap = it.builder, dict(it.vars), it.heap
    it.builder, it.heap = outer.child(), {**heap, **lost}
    params = _enter(
        it, {name: None if c.maybe else Const(0) for name, c in assumed.items()}, assumed
    )
    condition = test()
    block = it.builder.block(
        [leaf for value in params.values() for leaf in _leaves(value)], [condition]
    )
    it.builder, it.frame.scope.vars, it.heap = outer, before, heap
    return block


def _leaves(value: Value) -> list[Var]:
    atoms = [atom for atom in flatten(value) if isinstance(atom, Var)]
    if isinstance(value, Maybe) and not any(atom is value.witness for atom in atoms):
        atoms.append(value.witness)
    return atoms


def _out_like(name: Name, carried: Carried, params_only: Value) -> Value:
    assert carried.kind is not None
    hint = hint_of(name)
    if is_whole(name):
        return Var(carried.kind, hint)
    value = fresh(carried.kind, hint)
    if isinstance(params_only, Maybe):
        leaf = next(flatten(value), None)
        value = Maybe(value, leaf if isinstance(leaf, Var) else Var(BOOL, hint))
    return value


def _carried_atoms(
    it: Interpreter,
    builder: Builder,
    heap: Heap,
    name: Name,
    value: Value | None,
    carried: Carried,
) -> list[Atom]:
    """The atoms that hold a carried value on one edge of the loop."""
    assert carried.kind is not None
    outer, around = it.builder, it.heap
    it.builder, it.heap = builder, heap
    if is_whole(name):
        assert value is not None
        atoms = [it.atom(value)]
    else:
        atoms = coerce(it, None if value is None else now(it, value), carried.kind)
    it.builder, it.heap = outer, around
    if carried.maybe and not atoms:
        from ..ir.graph import UNDEFINED

        known = value is not None and not isinstance(value, Maybe)
        witness = value.witness if isinstance(value, Maybe) else Const(True)
        atoms = [witness if known or isinstance(value, Maybe) else UNDEFINED]
    return atoms


def run_while(it: Interpreter, node: ast.While, *, again: bool = False) -> None:
    from .statements import run_body

    if generators.is_stepping(it, node) and not again:
        generators.run_loop_in_steps(it, node)
        return
    depth = it.frame.loops + 1
    marked = checkpointed_test(it, node.test)
    every, tested = (None, node.test) if marked is None else (Const(None), marked)
    known = it.known_truth(evaluate(it, tested)) if isinstance(tested, ast.Constant) else None
    if known is False:
        run_body(it, node.orelse)
        return
    if is_by_turns(it) and marked is None and _tested(it, node) is not None:
        _run_in_turns(it, node)
        return
    names = assigned_names([node.test, *node.body])
    if _simple_test(tested) and not it.catching.explicit:

        def test() -> Atom:
            return condition(it, tested)

        run_loop(it, node, names, None, lambda _: run_body(it, node.body), test=test, every=every)
    else:
        # the test binds names or may leave: it becomes the first statement of an endless loop
        def body(_: Value) -> None:
            def leave() -> None:
                it.vars[f"%test{depth}"] = Const(True)
                it.vars[f"%break{depth}"] = Const(True)

            it.branch(condition(it, tested), lambda: run_body(it, node.body), leave)

        it.vars[f"%test{depth}"] = Const(False)
        names = [*names, f"%test{depth}"]
        run_loop(it, node, names, None, body, test=lambda: Const(True), every=every)
        _by_test(it, depth)
    if known is True and it.vars.get(f"%break{depth}") == Const(False):
        if it.flag("%returned") == Const(False):
            raise Diverges
        it.set("%returned", Const(True))  # `while True` without `break` ends only by `return`
    _finish(it, depth, node.orelse)


def _tested(it: Interpreter, node: ast.While) -> bool | None:
    """What the test of a loop says before its first turn, if that is known."""
    mark = it.mark()
    said = it.known_truth(condition(it, node.test))
    it.return_to(mark)
    return said


def _run_in_turns(it: Interpreter, node: ast.While) -> None:
    """A `while` whose turns the counts of the call decide, written out."""
    from .statements import run_body

    it.frame.loops += 1
    depth = it.frame.loops
    it.vars[f"%break{depth}"] = Const(False)

    def turns() -> None:
        while True:
            goes_on = it.known_truth(condition(it, node.test))
            if goes_on is None:
                raise it.unsupported(
                    "only the run knows how many turns this loop has", "Use `for` and `break`."
                )
            if not goes_on:
                return
            take_turn(it)
            it.vars[f"%continue{depth}"] = Const(False)
            run_body(it, node.body)
            it.vars[f"%continue{depth}"] = Const(False)
            left = it.left()
            if left != Const(False):
                it.run_rest(left, turns)
                return

    turns()
    it.frame.loops -= 1
    _finish(it, depth, node.orelse)


def _by_test(it: Interpreter, depth: int) -> None:
    """Leaving by the test is not a `break`: the loop's `else` runs."""
    by_test = it.vars.pop(f"%test{depth}")
    it.branch(by_test, lambda: it.vars.update({f"%break{depth}": Const(False)}), lambda: None)


def _simple_test(node: ast.expr) -> bool:
    """Whether a `while` test is one expression that binds nothing and calls nothing unknown."""
    return not any(
        isinstance(n, ast.NamedExpr | ast.Lambda | ast.ListComp | ast.GeneratorExp)
        for n in ast.walk(node)
    )


def collect(it: Interpreter, running: Running, make: Callable[[Value], Value]) -> Value:
    """A list with one value per item."""
    made: list[Value] = []

    def body(item: Value) -> None:
        made[:] = [make(item)]

    turns = None if running.guards else by_turns(it, running)
    if turns is not None:
        return list_of(*map(make, turns))
    if running.guards:
        from .comprehensions import collect_guarded

        return collect_guarded(it, running, make)
    node = it.frame.closure.node
    marker = LoopKey(node)
    lists = run_loop(it, marker, [], running, body, collecting=lambda: made)
    return lists[0] if lists else list_of()  # no iteration ever comes to its end


class LoopKey(ast.AST):
    """Stands for a loop that has no statement of its own."""

    def __init__(self, node: ast.AST):
        super().__init__()
        self.node = node


def loop_over(
    it: Interpreter, running: Running, names: Sequence[str], body: Callable[[Value], None]
) -> None:
    """A loop that the interpreter itself writes; `names` are the slots it carries."""
    marker = LoopKey(it.frame.closure.node)
    run_loop(it, marker, names, running, guarded(it, running, body))
    it.vars.pop(f"%break{it.frame.loops + 1}", None)
