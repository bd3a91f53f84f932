"""Iterators: what is walked over once, by whoever asks for the next item.

An iterator is an object on the heap: what it walks over, and how far it has come. A generator is walked over
at once, or not at all.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from functools import lru_cache

from ...ir.graph import Atom, Const, Var
from ...ir.types import UNKNOWN, Array, Number
from ...ops import elementwise as el, structure as st
from .. import heap
from ..classes import instances
from ..classes.class_lookup import defines
from ..domain.running import Consumer, Running
from ..domain.values import (
    Items,
    LazyIterable,
    Maybe,
    Native,
    Scope,
    Value,
    is_generator,
    is_iterator,
    is_object,
    kind_of_value,
    list_of,
    object_class,
    tuple_of,
)
from ..heap import iterator_state, sharing, walking
from ..heap.iterator_state import current, indexed, iterator_of, put_on, stop_iteration, taken_over
from ..machine.failing import fail_now
from ..machine.interpreter import Interpreter
from ..machine.session import Step
from ..polyfills.stdlib import iterators as iterator_polyfills
from . import generators


def make_iterator(it: Interpreter, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """`iter(items)`, `iter(function, sentinel)`."""
    if len(args) > 1:
        return it.call(Const(iterator_polyfills.until), args, {})
    value = heap.now(it, args[0])
    kind = kind_of_value(value)
    if isinstance(kind, Number) or (isinstance(kind, Array) and kind.rank == 0):
        fail_now(it, iter, value)
    instances.must_have(it, value, instances.ITERATED, "'{}' object is not iterable")
    if isinstance(value, Var) and (kind == UNKNOWN or (isinstance(kind, Array) and not kind.rank)):
        it.emit(st.opaque, Const(iter), value, names=Const(()))  # which raises where it has no axes
    if isinstance(value, Const) and object_class(value) is None:
        _must_be_iterable(it, value)
    elif isinstance(value, Native):
        instances.refuse_unknown_class(it, value)
    if is_object(value):
        value = it.iterated(value)
    return value if is_iterator(value) else iterator_of(it, value)


def _must_be_iterable(it: Interpreter, value: Const) -> None:
    try:
        iter(value.value)
    except TypeError:
        fail_now(it, iter, value)


# --- whole ------------------------------------------------------------------------------------


def walk(it: Interpreter, value: Value, consumer: Consumer, node: ast.AST) -> Value:
    """Hand every item to a consumer, which may want no more at some time; gives what a generator returns."""
    value = it.as_asked(value)
    if isinstance(value, Items) and value.form == "iterator":
        if consumer.may_leave and is_kept(it, value):
            raise iterator_state.asked_one_by_one(it, "what `yield from` walks over")
        value = taken_over(it, value)
    if is_generator(value):
        return iterator_state.drive(it, value, consumer)
    lists = walking.known_lists(it, value)
    items = it.iteration(value)

    def body(item: Value) -> None:
        consumer.take(it, item)
        iterator_state.leave_if(it, consumer.left(it))

    if not isinstance(items, Running) and it.should_unroll(items):
        it.unroll(items, body, value, lists)
    else:
        running = it.at_run_time(items)
        it.run_loop(node, [], running, it.guarded(running, body))
    return Const(None)


# --- one by one -------------------------------------------------------------------------------


def advance(it: Interpreter, iterator: Items, take: Callable[[Value], None], end: Step) -> None:
    """Do something with the next item of an iterator, or something else where it has come to its end."""
    source, position = current(it, iterator)
    if is_generator(source):
        raise iterator_state.asked_one_by_one(it, "a generator")
    if isinstance(source, LazyIterable) and source.form not in ("items", "keys", "values"):
        raise iterator_state.asked_one_by_one(it, f"`{_name_of(source)}`")
    listed = indexed(it, source)
    if listed is not source:
        _make_list(it, iterator)
    it.branch(_has_next(it, listed, position), lambda: take(_next(it, iterator)), end)


def _name_of(source: LazyIterable) -> str:
    return source.function.name if isinstance(source.function, Native) else source.form


def _make_list(it: Interpreter, iterator: Items) -> None:
    source, position = current(it, iterator)
    put_on(it, iterator, indexed(it, source), position)


def _has_next(it: Interpreter, listed: Value, position: Atom) -> Atom:
    if not isinstance(listed, Items):
        return it.emit(st.lt, position, it.emit(st.length, it.atom(listed)))
    if isinstance(position, Const):
        return Const(position.value < len(listed.values))
    return it.emit(st.lt, position, Const(len(listed.values)))


def _next(it: Interpreter, iterator: Items) -> Value:

    source, position = current(it, iterator)
    _move_on(it, iterator)
    if isinstance(source, Items) and isinstance(position, Const):
        return heap.now(it, source.values[position.value])
    return it.getitem(source, position)


def _move_on(it: Interpreter, iterator: Items) -> None:
    source, position = current(it, iterator)
    known = isinstance(position, Const)
    after = Const(position.value + 1) if known else it.emit(el.add, position, Const(1))
    put_on(it, iterator, source, after)


def next_item(it: Interpreter, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """`next(iterator)`, `next(iterator, default)`."""
    value, *default = args
    value = heap.now(it, value)
    if value in it.reading.walks_over:
        raise it.unsupported(
            "`next` of `x.flat`, which goes on where it has come to",
            "Ask an iterator: `items = iter(x.flat)`.",
        )
    instances.must_have(it, value, ("__next__",), "'{}' object is not an iterator")
    if isinstance(value, Items) and value.form == "iterator":
        return _asked(it, value, default)
    if default and defines(value, "__next__"):
        return it.call(Const(iterator_polyfills.next_or), [value, *default], {})
    own = it.call_method_of_class(value, "__next__", [])
    if own is None:
        raise it.unsupported(
            "`next` needs an iterator that the program has made",
            "Make it in the function, with `iter(...)`; or take the item of a list by its index.",
        )
    return own


def attribute(it: Interpreter, iterator: Items, name: str) -> Value:
    """A method of an iterator."""
    methods = {"close": close, "__next__": _next_method}
    method = methods.get(name)
    if method is None:
        raise it.unsupported(
            f"the attribute `{name}` of an iterator", "Loop over it, or ask it with `next`."
        )
    return Native(name, lambda it, args, kwargs: method(it, iterator, args, kwargs))


def _next_method(
    it: Interpreter, iterator: Items, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    return _asked(it, iterator, ())


def close(
    it: Interpreter, iterator: Items, args: Sequence[Value], kwargs: Mapping[str, Value]
) -> Value:
    """`generator.close()`, of one that nobody has asked for an item, or that has come to its end."""
    current(it, iterator)  # which refuses it where something walks over it
    put_on(it, iterator, list_of(), Const(0))
    return Const(None)


def _asked(it: Interpreter, iterator: Items, default: Sequence[Value]) -> Value:
    source, _ = current(it, iterator)
    if is_generator(source) and not is_kept(it, iterator):
        return generators.first(it, taken_over(it, iterator), default)
    slot = "%next"

    def take(item: Value) -> None:
        it.vars[slot] = item

    def end() -> None:
        it.vars[slot] = stop_iteration(it, default)

    advance(it, iterator, take, end)
    return it.vars.pop(slot)


def step(it: Interpreter, args: Sequence[Value], kwargs: Mapping[str, Value]) -> Value:
    """Whether an iterator has another item, and that item, for the equivalents of Python's functions."""
    (iterator,) = args
    assert isinstance(iterator, Items)
    slots = ("%there", "%next")

    def take(item: Value) -> None:
        it.vars.update(zip(slots, (Const(True), item), strict=True))

    def end() -> None:
        it.vars[slots[0]] = Const(False)

    advance(it, iterator, take, end)
    there, item = (it.vars.pop(slot, Const(None)) for slot in slots)
    return tuple_of(there, item.value if isinstance(item, Maybe) else item)


# --- when items are made ----------------------------------------------------------------------


def is_lazy(it: Interpreter, value: Value) -> bool:
    """Whether something is walked over item by item as it is asked: others may ask, or it has no end."""
    value = heap.now(it, value)
    if not isinstance(value, Items) or value.form != "iterator":
        return False
    source, _ = current(it, value)
    return is_generator(source) or is_kept(it, value)


# --- who else may ask -------------------------------------------------------------------------


def is_kept(it: Interpreter, iterator: Items) -> bool:
    """Whether something refers to an iterator, so that it may be asked again."""
    for frame in it.frames:
        scope: Scope | None = frame.scope
        once = _read_once(frame.closure.node)
        for name, value in frame.scope.vars.items():
            if name not in once and _holds(value, iterator):
                return True
        while (scope := scope.outer) is not None:
            if any(_holds(value, iterator) for value in scope.vars.values()):
                return True
    held = (content for place, content in it.heap.items() if place is not iterator.place)
    return any(_holds(content, iterator) for content in held if isinstance(content, Items))


def must_be_walked_once(it: Interpreter, value: Var, name: str) -> None:
    """Refuse the name of an `x.flat` that may be walked over twice, of which the second walk goes on."""
    function = it.frame.closure.node
    first = it.reading.walked_by.setdefault(value, (name, function))
    if name in _read_again(function) or first != (name, function) or name not in it.vars:
        raise _goes_on(it, f"`{name}`")


def must_be_no_walk(it: Interpreter, value: Value) -> None:
    """Refuse an `x.flat` that an object or a container holds, where it may be walked over twice."""
    if isinstance(value, Var) and value in it.reading.walks_over:
        raise _goes_on(it, "this")


def _goes_on(it: Interpreter, what: str) -> Exception:
    return it.unsupported(
        f"{what} is an `x.flat`, which goes on where it has come to when it is walked over again",
        "Walk over `x.ravel()`; or write `x.flat` in each place.",
    )


@lru_cache(maxsize=1024)
def _read_once(function: ast.AST) -> frozenset[str]:
    """The names that a function reads in one place, which is in no loop: for what is read there."""
    uses, repeated = _reads(function, ())
    return frozenset(name for name, count in uses.items() if count == 1 and name not in repeated)


@lru_cache(maxsize=1024)
def _read_again(function: ast.AST) -> frozenset[str]:
    """The names that a function may read twice or more, but for items of theirs, `name[k]`."""
    of_items = [n.value for n in ast.walk(function) if isinstance(n, ast.Subscript)]
    uses, repeated = _reads(function, of_items)
    return frozenset(name for name, count in uses.items() if count > 1 or name in repeated)


def _reads(function: ast.AST, but: Container[ast.AST]) -> tuple[Counter[str], set[str]]:
    """How often a function reads each name, and the names that it has in loops."""
    names = (n for n in ast.walk(function) if isinstance(n, ast.Name) and n not in but)
    uses = Counter(n.id for n in names if isinstance(n.ctx, ast.Load))
    repeated = {
        n.id
        for loop in ast.walk(function)
        if isinstance(loop, (ast.For, ast.While, ast.FunctionDef, ast.Lambda, ast.comprehension))
        and loop is not function
        for part in ast.iter_child_nodes(loop)
        if part is not getattr(loop, "iter", None)
        for n in ast.walk(part)
        if isinstance(n, ast.Name) and n not in but
    }
    return uses, repeated


def _holds(value: Value, iterator: Items) -> bool:
    """Whether something refers to an iterator; a function may by a name around it, or by what it was made with."""
    return any(_is(each, iterator) for each in sharing.reached_from(value))


def _is(value: Value, iterator: Items) -> bool:
    if not isinstance(value, Items):
        return False
    return value is iterator or (value.place is not None and value.place is iterator.place)
