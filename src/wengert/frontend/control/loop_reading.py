"""Reading the body of a loop until what is assumed of the values it carries holds at its end."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Var, births
from ...ir.types import Array, Number, Seq
from ...ops import structure as st
from ..domain.running import LoopKey, Running
from ..domain.values import Closure, Maybe, Native, ObjectId, Value, is_iterator, is_mutable
from ..domain.whereabouts import Untracked
from ..heap import (
    Heap,
    captures,
    depth_of_items,
    forget,
    hold_same,
    identities,
    iterator_state,
    may_be,
    objects_of,
    place_of,
    share,
    stored,
)
from ..heap.cells import is_cell
from ..heap.loop_aliases import (
    Ends,
    Objects,
    brought_along,
    copies_in,
    hold_on,
    link,
    note_brought,
    note_copies,
    objects_in,
    ties_inside,
)
from ..machine.interpreter import Interpreter
from .carried import assume, enter, first_bound_inside, is_same, param_of, widened
from .changed_items import refuse_changed_items, refuse_other_keys
from .loop_emission import emit_loop
from .loop_heap import (
    Attempt,
    Carried,
    Name,
    Names,
    Taken,
    follow,
    is_whole,
    slots_of,
    up_to_date,
    value_of,
)

Collect = Callable[[], Sequence[Value]]

_ATTEMPTS = 12
"""How often a body is read before its loop is refused."""


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
    certain: bool = False,
) -> list[Var]:
    """Emit a `for` (over `running`) or a `while` (on `test`); gives the collected lists.

    A checkpointed `while` has `every`; a `for` has it of what it walks over. It is `certain` to have a turn, or not.
    """

    def read() -> list[Var]:
        loop = _LoopReader(it, node, running, body, collecting, certain=certain)
        lists = loop.read(names, test, running.every if running else every)
        it.catching.after_blocks()
        return lists

    return it.catching.whole(read)


class _LoopReader:
    """Reads one loop."""

    _start: int
    """What was born before is from outside the loop, or what is walked over."""

    def __init__(
        self,
        it: Interpreter,
        node: ast.AST,
        running: Running | None,
        body: Callable[[Value], None],
        collecting: Collect | None,
        *,
        certain: bool,
    ):
        self._certain = certain
        self._it = it
        self._node = node
        self._running = running
        self._body = body
        self._collecting = collecting
        self._lost: Heap = {}
        self._ends = Ends()
        iterables = running.iterables if running else ()
        self._elements = [Var(st.item_kind(kind_of_atom(each))) for each in iterables]

    def read(
        self, names: Sequence[str], test: Callable[[], Atom] | None, every: Atom | None
    ) -> list[Var]:
        """Emit the loop; gives the collected lists."""
        it = self._it
        with it.frame.in_loop() as depth:
            entry = self._entry(names, depth)
            parts = self._link_elements()
            self._start = next(births)
            assumed, attempt, forgotten = self._settle(entry)
            refuse_changed_items(it, self._node, attempt, self._running, self._lost, self._start)
            refuse_other_keys(it, self._node, self._running, self._elements, self._start)
            if not isinstance(self._node, LoopKey):
                kinds = {
                    name: carried for name, carried in assumed.items() if isinstance(name, str)
                }
                it.reading.loop_kinds[self._key()] = kinds
        with it.catching.quiet():
            lists = emit_loop(
                it,
                entry,
                assumed,
                attempt,
                self._lost,
                self._elements,
                self._running,
                test,
                every,
            )
        it.heap.update(self._lost)
        for name in forgotten:
            it.vars[name] = _of_an_iteration(it)
        self._follow_after(entry, assumed, attempt)
        self._follow_lists(lists, attempt, parts)
        return lists

    def _entry(self, names: Sequence[str], depth: int) -> dict[Name, Value | None]:
        """What the names that the loop binds, and its flags, are before it."""
        it = self._it
        it.vars[f"%break{depth}"] = Const(False)
        flags = [f"%break{depth}", "%returned", "%return"]
        return {
            name: up_to_date(it, it.vars.get(name)) or it.vars.get(name)
            for name in (*names, *flags)
            if not is_cell(it.vars.get(name))
        }

    def _key(self) -> Any:
        """Under what is kept what a loop was found to carry."""
        return (id(self._node), tuple(id(frame.closure.node) for frame in self._it.frames))

    def _link_elements(self) -> dict[ObjectId, dict[ObjectId, int]]:
        """Note that the items are parts of what is walked over; gives which, and how deep."""
        reading, elements = self._it.reading, self._elements
        # an item that is an array or a list belongs to what is iterated over
        reading.inputs += [each for each in elements if isinstance(each.kind, (Array, Seq))]
        by_index = id(self._node) if isinstance(self._node, ast.For) else None
        held = (each for each in elements if not isinstance(each.kind, Number))
        reading.elements.update((each, by_index) for each in held)
        return _link_elements(self._it, elements, self._running)

    def _settle(
        self, entry: dict[Name, Value | None]
    ) -> tuple[dict[Name, Carried], Attempt, list[str]]:
        """Read the body until what is assumed at its beginning holds at its end.

        Gives what is assumed, the last attempt, and the names that cannot be followed.
        """
        it = self._it
        learned = it.reading.loop_kinds.get(self._key(), {})
        assumed = {name: assume(value, learned.get(name)) for name, value in entry.items()}
        forgotten: list[str] = []
        for _ in range(_ATTEMPTS):
            forget(it, self._start)
            attempt = self._attempt(entry, assumed)
            rebound = _forget(it, assumed, attempt)
            forgotten += rebound
            if rebound:
                continue
            assumed, held = _widen(entry, assumed, attempt)
            followed = attempt.dead or follow(
                it, entry, assumed, attempt, self._lost, self._ends, self._start
            )
            if held and followed:
                return assumed, attempt, forgotten
        raise it.unsupported(
            "the kinds of the values that this loop carries from turn to turn never settle",
            "Start them as what they become: 0.0 instead of None or an empty list, say.",
        )

    def _attempt(self, entry: Names, assumed: dict[Name, Carried]) -> Attempt:
        """Read the body once, apart; the interpreter stands where it stood before."""
        it = self._it
        outer, scope, before, heap = it.builder, it.frame.scope, dict(it.vars), it.heap
        unbound = it.frame.unbound
        it.builder, it.heap, it.frame.unbound = outer.child(), {**heap, **self._lost}, set()
        params = enter(it, entry, assumed)
        link(it, entry, self._ends, _followed(params), self._start)
        begun = dict(it.heap)
        taken = Taken()
        dead, stop = self._read_body(taken)
        if dead:
            taken = Taken()  # it may have been refused as its values were put into the lists
        collected = [] if dead else _collected(it)
        for name in assumed:
            if isinstance(name, str) and isinstance(scope.vars.get(name), (Closure, Native)):
                scope.vars[name] = captures.taken_apart(it, scope.vars[name])
        with it.catching.quiet():
            end = {**scope.vars, **slots_of(it.heap)}
            # where an iteration never ends, what was refused in it may be gone
            end, unfollowed = _up_to_date(it, end, () if dead else assumed)
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
            taken,
            dead,
            it.frame.unbound,
            unfollowed,
        )
        it.frame.unbound = unbound | it.frame.unbound
        it.builder, scope.vars, it.heap = outer, before, heap
        return attempt

    def _read_body(self, taken: Taken) -> tuple[bool, Atom]:
        """Read an iteration; gives whether it never comes to its end, and whether it is the last one."""
        it, running = self._it, self._running
        depth = it.frame.loops
        # an iteration starts only where nothing has left
        for name in it.exits():
            it.set(name, Const(False))
        it.vars[f"%continue{depth}"] = Const(False)

        def one_iteration() -> None:
            self._body(running.item(self._elements) if running else Const(None))
            values = list(self._collecting()) if self._collecting is not None else []
            taken.held.extend(_collected_objects(it, value) for value in values)
            taken.held_inside.extend(ties_inside(it, value, self._start) for value in values)
            taken.copied.extend(copies_in(it, value) for value in values)
            taken.brought.extend({*brought_along(it, value, self._start)} for value in values)
            for k, value in enumerate(values):
                it.vars[f"%collected{k}"] = stored(it, value)

        if it.read_path(one_iteration, certain=self._certain):
            return True, Const(False)
        exits = (it.flag(f"%break{depth}"), it.flag("%returned"), it.catching.is_raised())
        return False, it.either(*exits)

    def _follow_after(
        self, entry: Names, assumed: Mapping[Name, Carried], attempt: Attempt
    ) -> None:
        """Note which objects the carried values may be after the loop."""
        it = self._it
        after = {name: value for name in assumed if (value := value_of(it, name)) is not None}
        link(it, entry, self._ends, _followed(after), self._start)
        hold_on(it, attempt.params, _followed(after), self._start)

    def _follow_lists(
        self, lists: Sequence[Var], attempt: Attempt, parts: dict[ObjectId, dict[ObjectId, int]]
    ) -> None:
        """Note which objects are in the collected lists."""
        it = self._it
        taken = attempt.taken
        for out, copied, depths in zip(lists, taken.copied, taken.brought, strict=True):
            note_copies(it, out, copied)
            note_brought(it, out, depths)
        for out, held in zip(lists, taken.held, strict=True):
            for place in held:
                if place.born <= self._start:
                    for source, below in parts.get(place, {place: 0}).items():
                        hold_same(it, source, below, place_of(it, out), 1)
        for out, inside in zip(lists, taken.held_inside, strict=True):
            for depth, other, below in inside:
                share(it, place_of(it, out), 1 + depth, other, below)


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
    return iterator_state.lost_iterator(
        it, Untracked("every iteration of a loop binds its name to another one")
    )


def _link_elements(
    it: Interpreter, elements: Sequence[Var], running: Running | None
) -> dict[ObjectId, dict[ObjectId, int]]:
    """Note that the items of a loop are parts of what it walks over; gives which, and how deep."""
    parts: dict[ObjectId, dict[ObjectId, int]] = {}
    for element, iterable in zip(elements, running.iterables if running else (), strict=True):
        if is_mutable(element):
            place, below = place_of(it, element), depth_of_items(kind_of_atom(iterable))
            parts[place] = dict.fromkeys(identities(it, iterable, own=True), below)
            for source in parts[place]:
                hold_same(it, source, below, place, 0)
    return parts


def _collected_objects(it: Interpreter, value: Value) -> set[ObjectId]:
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
        assert isinstance(inner, (Var, Const))
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
