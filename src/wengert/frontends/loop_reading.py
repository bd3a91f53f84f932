"""Reading the body of a loop until what is assumed of the values it carries holds at its end."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..ir.builder import kind_of_atom
from ..ir.graph import Atom, Const, Var, births
from ..ir.types import (
    UNKNOWN,
    Array,
    Number,
    Seq,
)
from ..ops import identity as ident
from ..ops import structure as st
from . import captures, iterators
from .carried import Attempt, Carried, assume, enter, first_bound_inside, is_same, param_of, widened
from .cells import is_cell
from .heap import (
    ByIndex,
    Heap,
    content_in,
    depth_of_items,
    forget,
    hold_same,
    identities,
    may_be,
    objects_of,
    place_of,
    share,
    stored,
    walk_by_index,
)
from .iteration import Running
from .loop_aliases import Ends, Objects, hold_on, link, objects_in, ties_inside
from .loop_emission import emit_loop
from .loop_heap import (
    Name,
    Names,
    follow,
    is_whole,
    slots_of,
    up_to_date,
    value_of,
)
from .values import (
    Closure,
    Maybe,
    Native,
    Place,
    Value,
    is_iterator,
    is_mutable,
)
from .walking import items_written

if TYPE_CHECKING:
    from .interpreter import Interpreter


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
    with it.frame.in_loop() as depth:
        it.vars[f"%break{depth}"] = Const(False)
        flags = [f"%break{depth}", "%returned", "%return", "%yielded"]
        entry: dict[Name, Value | None] = {
            name: up_to_date(it, it.vars.get(name)) or it.vars.get(name)
            for name in (*names, *flags)
            if not is_cell(it.vars.get(name))
        }
        key = (id(node), tuple(id(frame.closure.node) for frame in it.frames))
        learned = it.reading.loop_kinds.get(key, {})
        assumed = {name: assume(value, learned.get(name)) for name, value in entry.items()}
        elements = (
            [Var(st.item_kind(kind_of_atom(i))) for i in running.iterables] if running else []
        )
        # an item that is an array or a list belongs to what is iterated over
        it.reading.inputs += [e for e in elements if isinstance(e.kind, Array | Seq)]
        key_by_index = id(node) if isinstance(node, ast.For) else None
        it.reading.elements.update(
            (e, key_by_index) for e in elements if not isinstance(e.kind, Number)
        )
        parts = _link_elements(it, elements, running)
        start, lost, ends, forgotten = next(births), dict[Any, Any](), Ends(), list[str]()
        for _ in range(12):
            forget(it, start)
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
        _refuse_changed_items(it, node, attempt, running, lost)
        if not isinstance(node, LoopKey):
            it.reading.loop_kinds[key] = {k: v for k, v in assumed.items() if isinstance(k, str)}
    with it.catching.quiet():
        lists = emit_loop(it, entry, assumed, attempt, lost, elements, running, test, every)
    it.heap.update(lost)
    for name in forgotten:
        it.vars[name] = _of_an_iteration(it)
    after = {name: value for name in assumed if (value := value_of(it, name)) is not None}
    link(it, entry, ends, _followed(after), start)
    hold_on(it, attempt.params, _followed(after), start)
    for out, held in zip(lists, attempt.held, strict=True):
        for place in held:
            if place.born <= start:
                for source, below in parts.get(place, {place: 0}).items():
                    hold_same(it, source, below, place_of(it, out), 1)
    for out, inside in zip(lists, attempt.held_inside, strict=True):
        for depth, other, below in inside:
            share(it, place_of(it, out), 1 + depth, other, below)
    return lists


def _refuse_changed_items(
    it: Interpreter,
    node: ast.AST,
    attempt: Attempt,
    running: Running | None,
    lost: Mapping[Any, Any],
) -> None:
    """Numbers that change while a loop walks over them are read when their turn comes.

    What is `lost` in an iteration may have changed in it, under the name of another object.

    Raises:
        ByIndex: they change, and the program is read again.
    """
    for each in running.iterables if running and not attempt.dead else ():
        iterable = _as_walked(it, each)
        item = st.item_kind(kind_of_atom(iterable))
        known = not isinstance(item, Number) and item != UNKNOWN
        if (
            known
            and iterable not in it.reading.walked
            and not items_written(it, iterable, iterable)
        ):
            continue
        for place in identities(it, iterable):
            before, after = (content_in(heap, place) for heap in (attempt.before, attempt.heap))
            if before is after and place not in lost:
                continue
            has_indices = isinstance(kind_of_atom(iterable), Array | Seq)
            if item == UNKNOWN and (iterable in it.reading.walked or not has_indices):
                _have_turns_taken(it, node, iterable)
                continue
            walk_by_index(it, id(node) if isinstance(node, ast.For) else None)


def _as_walked(it: Interpreter, iterable: Atom) -> Atom:
    """What is walked over, of what is walked over backwards."""
    eqn = it.builder.visible_definition(iterable) if isinstance(iterable, Var) else None
    if eqn is None or eqn.op is not st.getitem or not _is_backwards(eqn.args[1]):
        return iterable
    items = eqn.args[0]
    return items if items in it.reading.walked or isinstance(kind_of_atom(items), Seq) else iterable


def _is_backwards(index: Atom) -> bool:
    return isinstance(index, Const) and index.value == slice(None, None, -1)


def _have_turns_taken(it: Interpreter, node: ast.AST, listed: Atom) -> None:
    """What is walked over may be an array or list that has got other items since.

    Raises:
        ByIndex: the program is read again, asking for each item when its turn comes.
    """
    if not isinstance(node, ast.For):
        it.emit(ident.objects_only, listed)
    elif id(node) not in it.reading.by_turn:
        it.reading.by_turn.add(id(node))
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
    return is_iterator(end) and not is_same(end, it.vars.get(name))


def _of_an_iteration(it: Interpreter) -> Value:
    return iterators.lost_iterator(it, "every iteration of a loop binds its name to another one")


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
    params = enter(it, entry, assumed)
    link(it, entry, ends, _followed(params), start)
    begun = dict(it.heap)
    # an iteration starts only where nothing has left
    for name in it.exits():
        it.set(name, Const(False))
    it.vars[f"%continue{depth}"] = Const(False)
    held: list[set[Place]] = []
    held_inside: list[list[tuple[int, Place, int]]] = []

    def one_iteration() -> None:
        body(running.item(elements) if running else Const(None))
        values = list(collecting()) if collecting is not None else []
        held.extend(_collected_objects(it, value) for value in values)
        held_inside.extend(ties_inside(it, value, start) for value in values)
        for k, value in enumerate(values):
            it.vars[f"%collected{k}"] = stored(it, value)

    dead = it.read_path(one_iteration)
    collected = [] if dead else _collected(it)
    exits = (it.flag(f"%break{depth}"), it.flag("%returned"), it.catching.is_raised())
    stop = Const(False) if dead else it.either(*exits)
    for name in assumed:
        if isinstance(name, str) and isinstance(scope.vars.get(name), Closure | Native):
            scope.vars[name] = captures.taken_apart(it, scope.vars[name])
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
        held_inside,
        dead,
        it.frame.unbound,
        unfollowed,
    )
    it.frame.unbound = unbound | it.frame.unbound
    it.builder, scope.vars, it.heap = outer, before, heap
    return attempt


def _collected_objects(it: Interpreter, value: Value) -> set[Place]:
    """The objects that a collected value may be, also where a branch inside the iteration chose it."""
    found = objects_of(it, value)
    if isinstance(value, Var) and isinstance(value.kind, Array):
        found = found.union(*(may_be(it, place) for place in found))
    return found


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
        new = widened(entry[name], carried, end)
        if new.kind is not None and first_bound_inside(name, entry, carried, attempt):
            attempt.params[name] = param_of(name, new)
            result[name] = new
            continue
        if name == "%return" and new.kind is not None:
            new.maybe = True
        result[name] = new
        changed = changed or (new.kind, new.maybe) != (carried.kind, carried.maybe)
    return result, not changed


class LoopKey(ast.AST):
    """Stands for a loop that has no statement of its own."""

    def __init__(self, node: ast.AST):
        super().__init__()
        self.node = node
