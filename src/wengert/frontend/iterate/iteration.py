"""What is iterated over: known items, or how to walk over them when the program runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import EnumMeta
from types import MappingProxyType
from typing import Any, NoReturn

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Var
from ...ir.records import replace
from ...ir.types import UNKNOWN, Array, Map, Number, Other, Seq
from ...ops import elementwise as el, structure as st
from ...ops.program import identity as ident
from ..classes import instances
from ..classes.class_lookup import defines
from ..data import tables
from ..domain.running import UNROLL, Named, Running
from ..domain.values import (
    Closure,
    Items,
    LazyIterable,
    Maybe,
    Native,
    Value,
    from_key,
    list_of,
    object_class,
    tuple_of,
)
from ..heap import iterator_state, now, place_of, walking
from ..machine.failing import fail_now
from ..machine.interpreter import Interpreter
from ..machine.turns import taken
from .listed import as_list, sizes_of_axes

_FIXED = (str, range, tuple, list, frozenset, MappingProxyType)
"""Constants of these classes are walked over as they were when they were read."""


def iteration(it: Interpreter, value: Value) -> list[Value] | Running:
    """The known items of a value, or how to iterate over it at run time."""
    value = now(it, value)
    match value:
        case Items(form="dict", keys=keys):
            return list(map(from_key, keys))
        case Items(form="namedtuple", values=values) if not _says_itself(value):
            return list(values)
        case Items(form="tuple" | "list", values=values):
            return list(values)
        case Items(form="iterator"):
            return iteration(it, iterator_state.taken_over(it, value))
        case Items():
            return iteration(it, it.iterated(value))
        case LazyIterable():
            return _ITERATIONS[value.form](it, value)
        case Const(value=constant):
            if tables.is_table(value):
                return iteration(it, tables.iterated(it, value))
            return _iterate_constant(it, constant)
        case Var():
            sizes = sizes_of_axes(it, value)
            return iterate_var(it, value) if sizes is None else sizes
        case Closure() | Native() | Maybe():
            instances.must_have(it, value, instances.ITERATED, "'{}' object is not iterable")
            raise it.unsupported(
                "this value cannot be iterated over here",
                "Iterate over a list, a tuple, an array or a range.",
            )


def _says_itself(items: Items) -> bool:
    """Whether the class of a namedtuple says how it is walked over."""
    return defines(items, "__iter__")


def _iterate_constant(it: Interpreter, constant: Any) -> list[Value] | Running:
    if isinstance(constant, bytes):
        return _iterate_constant(it, list(constant))
    if isinstance(constant, _FIXED) and len(constant) <= UNROLL:  # pyright: ignore[reportUnknownArgumentType]
        return [Const(item) for item in constant]
    if isinstance(constant, (str, range, tuple, list)):
        var = it.emit(st.as_list, Const(constant))
        return iterate_var(it, var)
    if isinstance(constant, EnumMeta):
        return [Const(member) for member in constant]  # pyright: ignore[reportUnknownVariableType]
    if object_class(Const(constant)) is not None:
        return iteration(it, it.iterated(Const(constant)))
    if not hasattr(constant, "__iter__") and not hasattr(constant, "__getitem__"):
        fail_now(it, iter, Const(constant))
    raise it.unsupported(f"a {type(constant).__name__} cannot be iterated over here", "Use a list.")


def iterate_var(it: Interpreter, value: Atom) -> Running:
    kind = kind_of_atom(value)
    if isinstance(kind, Number) or (isinstance(kind, Array) and kind.rank == 0):
        fail_now(it, iter, value)
    if isinstance(kind, Other):
        instances.must_have(it, value, instances.ITERATED, "'{}' object is not iterable")
    if it.walked_by_index is not None:
        if kind == UNKNOWN:
            value = it.emit(st.unpackable, value, Const(0), Const(0))  # a set has no indices
        count = it.emit(st.length, value)
        if isinstance(kind, Seq):
            it.walked_by_index.append((value, count))
        indices = it.emit(st.range_, count)
        whole, start = whole_list(it, value)
        return Running((indices,), lambda elements: _item_now(it, whole, elements[0], start))
    if isinstance(kind, Map):
        value = _keys_of(it, value)
    if kind != UNKNOWN:
        return Running((value,), lambda elements: it.open_up(elements[0]))
    listed = it.emit(st.as_list, value)
    assert isinstance(listed, Var)
    it.reading.walked.add(listed)
    if it.walked_by_turn is not None:
        return _by_turn(it, value, listed, it.walked_by_turn)
    return Running((listed,), lambda elements: it.open_up(elements[0]))


def _by_turn(it: Interpreter, value: Atom, listed: Var, walked: list[tuple[Atom, Atom]]) -> Running:
    """Items that are asked for when their turn comes, if that is what the value does."""
    count, indexed = it.emit(st.length, listed), it.emit(ident.indexed, value)
    walked.append((value, count))

    def item(elements: Sequence[Var]) -> Value:
        index, at_start = elements
        return it.choose(
            indexed, lambda: _item_now(it, value, index, 0), lambda: it.open_up(at_start)
        )

    return Running((it.emit(st.range_, count), listed), item)


def whole_list(it: Interpreter, value: Atom) -> tuple[Atom, int]:
    """The list that `items[start:]` was taken from, whose items are the same objects, and `start`."""
    eqn = it.builder.visible_definition(value) if isinstance(value, Var) else None
    if eqn is None or eqn.op is not st.getitem:
        return value, 0
    kind = kind_of_atom(eqn.args[0])
    if not isinstance(kind, Seq) or isinstance(kind.item, Number):
        return value, 0  # a slice has numbers of its own
    match eqn.args[1]:
        case Const(value=slice(start=None | int() as start, step=None | 1)) if (start or 0) >= 0:
            return eqn.args[0], start or 0
        case _:
            return value, 0


def _item_now(it: Interpreter, value: Atom, index: Atom, start: int) -> Value:
    if start:
        index = it.emit(el.add, index, Const(start))
    return it.open_up(it.emit(st.getitem, it.atom(value), index))


def _zip(it: Interpreter, value: LazyIterable) -> list[Value] | Running:
    return _together(it, value, tuple_of)


def _together(
    it: Interpreter, value: LazyIterable, make: Callable[..., Value]
) -> list[Value] | Running:
    parts = [iteration(it, part) for part in value.parts]
    known = [part for part in parts if isinstance(part, list)]
    if len(known) == len(parts):
        return [make(*items) for items in zip(*known, strict=False)]
    return _side_by_side(it, parts, make)


def _side_by_side(
    it: Interpreter, parts: Sequence[list[Value] | Running], make: Callable[..., Value]
) -> Running:
    running = [at_run_time(it, part) for part in parts]
    counts = [len(part.iterables) for part in running]

    def item(elements: Sequence[Var]) -> Value:
        values, start = [], 0
        for part, count in zip(running, counts, strict=True):
            values.append(part.item(elements[start : start + count]))
            start += count
        return make(*values)

    if any(part.guards for part in running):
        raise it.unsupported(
            "`filter` inside `zip` or `enumerate` is not covered", "Filter into a list first."
        )
    every = next((part.every for part in running if part.every is not None), None)
    named = None if every is not None else _named(it, parts, make)
    iterables = tuple(i for part in running for i in part.iterables)
    return Running(iterables, item, every=every, named=named)


def _named(
    it: Interpreter, parts: Sequence[list[Value] | Running], make: Callable[..., Value]
) -> Named | None:
    """How names are walked over beside arrays, if that is what the parts are."""
    known = [part for part in parts if isinstance(part, list)]
    running = [part for part in parts if isinstance(part, Running)]
    named = [part.named for part in running if part.named is not None]
    arrays = [each for part in running if part.named is None for each in part.iterables]
    if not all(isinstance(kind_of_atom(each), Array) for each in arrays):
        return None
    if not named and not any(can_be_written_out(it, part) for part in known):
        return None

    def item_of(part: list[Value] | Running, k: int) -> Value:
        if isinstance(part, list):
            return part[k]
        return taken(it, part, k) if part.named is None else part.named.item(k)

    turns = min([*map(len, known), *(each.turns for each in named)])
    arrays += [each for other in named for each in other.arrays]
    return Named(turns, tuple(arrays), lambda k: make(*(item_of(part, k) for part in parts)))


def can_be_written_out(it: Interpreter, names: Sequence[Value]) -> bool:
    """Whether known items are not too many to be written out because something is looked up by them: text."""
    return 0 < len(names) * it.turns_around <= 8 * UNROLL and all(map(_holds_text, names))


def _holds_text(value: Value) -> bool:
    if isinstance(value, Items) and value.form == "tuple":
        return any(map(_holds_text, value.values))
    return isinstance(value, Const) and isinstance(value.value, str)


def at_run_time(it: Interpreter, part: list[Value] | Running) -> Running:
    if isinstance(part, Running):
        return part
    if part and all(isinstance(v, Const) and v.value == k for k, v in enumerate(part)):
        return iterate_var(it, it.emit(st.range_, Const(len(part))))
    return iterate_var(it, it.atom(list_of(*part)))


def _enumerate(it: Interpreter, value: LazyIterable) -> list[Value] | Running:
    part = iteration(it, value.parts[0])
    start = value.parts[1]
    if isinstance(part, list):
        if isinstance(start, Const):
            return [tuple_of(Const(start.value + k), item) for k, item in enumerate(part)]
        part = at_run_time(it, part)
    count = it.emit(st.length, part.iterables[0])
    if start == Const(0):
        indices = it.emit(st.range_, count)
    else:
        first = it.atom(start)
        indices = it.emit(st.range_, first, it.emit(el.add, first, count))
    numbers = Running((indices,), lambda e: e[0], named=_numbers(part, start))
    return _side_by_side(it, [numbers, part], tuple_of)


def _numbers(part: Running, start: Value) -> Named | None:
    """The numbers of the turns beside something, if that is written out."""
    if part.named is None or not isinstance(start, Const):
        return None
    return Named(part.named.turns, (), lambda k: Const(start.value + k))


def _map(it: Interpreter, value: LazyIterable) -> list[Value] | Running:
    function = value.function
    assert function is not None
    return _together(it, value, lambda *items: it.call(function, list(items), {}))


def _filter(it: Interpreter, value: LazyIterable) -> list[Value] | Running:
    def keep(item: Value) -> Value:
        if value.function is None or value.function == Const(None):
            return item
        return it.call(value.function, [item], {})

    part = iteration(it, value.parts[0])
    if isinstance(part, list):
        mark = it.mark()
        known = [it.known_truth(keep(item)) for item in part] if part else []
        if all(k is not None for k in known):
            return [item for item, k in zip(part, known, strict=True) if k]
        it.return_to(mark)
        part = at_run_time(it, part)
    return replace(part, guards=(*part.guards, keep))


def _reversed(it: Interpreter, value: LazyIterable) -> list[Value] | Running:
    walking.refuse_longer(it, value)
    part = iteration(it, value.parts[0])
    if isinstance(part, list):
        return part[::-1]
    alike = len(part.iterables) == 1 or isinstance(value.parts[0], Var)
    if not alike or part.guards:
        listed = as_list(it, value.parts[0])
        return _reversed(it, replace(value, parts=(listed, value.parts[1])))
    backwards = [it.emit(st.getitem, i, Const(slice(None, None, -1))) for i in part.iterables]
    return Running(tuple(backwards), part.item, every=part.every)


def _dict_items(it: Interpreter, value: LazyIterable) -> list[Value] | Running:
    mapping = value.parts[0]
    what = value.form
    if isinstance(mapping, Items):
        if what == "keys":
            return list(map(from_key, mapping.keys))
        if what == "values":
            return list(mapping.values)
        pairs = zip(mapping.keys, mapping.values, strict=True)
        return [tuple_of(from_key(key), item) for key, item in pairs]
    keys = _keys_of(it, it.atom(mapping))

    def item(elements: Sequence[Var]) -> Value:
        if what == "keys":
            return elements[0]
        entry = it.emit(st.getitem, it.atom(mapping), elements[0])  # as it is when its turn comes
        return entry if what == "values" else tuple_of(elements[0], entry)

    return Running((keys,), item)


def _keys_of(it: Interpreter, mapping: Atom) -> Atom:
    """The keys of a dictionary, which are no part of what changes."""
    keys = it.emit(st.as_list, mapping)
    if isinstance(keys, Var):
        it.reading.linked.add(keys)
        place_of(it, keys)
    if isinstance(keys, Var) and isinstance(mapping, Var):
        it.reading.keys_of[keys] = mapping
    return keys


def _call(it: Interpreter, value: LazyIterable) -> list[Value] | Running:
    assert isinstance(value.function, Native)
    return iteration(it, value.function.call(it, value.parts, {}))


def _drained(it: Interpreter, value: LazyIterable) -> NoReturn:
    raise iterator_state.asked_by_another(it)


def _generator(it: Interpreter, value: LazyIterable) -> list[Value] | Running:
    return iteration(it, as_list(it, value))


def _checkpoint(it: Interpreter, value: LazyIterable) -> list[Value] | Running:
    inner, every = value.parts
    part = iteration(it, inner)
    if isinstance(part, list):
        return part  # so few items are not worth it
    return replace(part, every=it.atom(every))


_ITERATIONS: dict[str, Callable[..., list[Value] | Running]] = {
    "zip": _zip,
    "enumerate": _enumerate,
    "map": _map,
    "filter": _filter,
    "reversed": _reversed,
    "items": _dict_items,
    "keys": _dict_items,
    "values": _dict_items,
    "generator": _generator,
    "call": _call,
    "drained": _drained,
    "checkpoint": _checkpoint,
}
