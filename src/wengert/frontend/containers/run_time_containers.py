"""Methods that change a list, a dictionary or a set that only the run knows."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.graph import Atom, Const, Var
from ...ir.types import UNKNOWN, Array, Kind, Map, Number, Seq, Struct, Unknown
from ...ops import structure as st
from ...ops.program import containers as co, identity as ident, memory as me
from ...ops.registry import foreign
from .. import heap
from ..classes.class_lookup import defines
from ..domain.running import Consumer
from ..domain.values import (
    Args,
    Items,
    Kwargs,
    Maybe,
    Value,
    is_mutable,
    kind_of_value,
    list_of,
    tuple_of,
)
from ..heap import iterator_state
from ..machine.interpreter import Interpreter
from ..polyfills import manifest
from ..polyfills.numpy import by_entries
from .writes import is_list, replace_list, store_inside


def method_of_run_time(it: Interpreter, var: Var, name: str, args: Args, kwargs: Kwargs) -> Value:
    """A method that changes a container which is known only when the program runs."""
    if not _is_a_containers(var.kind, name, args, kwargs):
        own = it.builder.emit_with(st.getattr_, (var,), {"name": Const(name)})
        return it.call(own, args, kwargs)
    if var.kind == UNKNOWN:
        it.emit(ident.built_in, var, Const(name))
    method = METHODS.get(name)
    if method is None:
        raise it.unsupported(
            f"the method `{name}` changes this object in a way that cannot be differentiated",
            "Write out what it does, with indices and assignments.",
        )
    return method(it, var, args, kwargs)


def _append(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    value = heap.note_sharing(it, heap.now(it, args[0]), var)
    current = heap.now(it, value)
    adopted = isinstance(current, Items) or is_mutable(current)
    position = it.emit(st.length, it.atom(var)) if adopted else Const(None)
    heap.changed(it, var, me.append, me.appended, heap.stored(it, value), keeps=True)
    if adopted:
        store_inside(it, value, var, position)
    return Const(None)


def extended_by_a_generator(
    it: Interpreter, new: Value, append: Callable[[Value], Value | None]
) -> bool:
    """Append what a generator gives, item by item: those before an exception are there after it."""
    if not isinstance(new, Items) or not iterator_state.is_over_generator(it, new):
        return False

    def take(it: Interpreter, item: Value) -> None:
        append(item)

    rest = iterator_state.taken_over(it, new)
    iterator_state.producer_of(rest).refuse_endless(it)
    iterator_state.drive(it, rest, Consumer(take, lambda it: Const(False), may_leave=False))
    return True


def extend_at_run_time(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:

    def append(value: Value) -> Value:
        current = it.atom(heap.now(it, var))
        assert isinstance(current, Var)
        return _append(it, current, [value], {})

    items = it.as_asked(args[0])
    if extended_by_a_generator(it, items, append):
        return Const(None)
    if isinstance(items, Items) and items.form in ("list", "tuple"):
        for value in items.values:
            append(value)
        return Const(None)
    new = it.atom(it.as_list(items))
    heap.whole(it, var, it.emit(co.join_lists, it.atom(var), new), keeps=True)
    return Const(None)


def _pop(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:

    if not args and is_set(it, var):
        raise it.unsupported(
            "which item `pop` takes out of a set is decided by chance",
            "Say which: `item = min(items)` and `items.remove(item)`.",
        )
    key = it.atom(args[0]) if args else Const(-1)
    if len(args) > 1:
        present = it.emit(st.in_, key, it.atom(var))
        return it.choose(present, lambda: _pop(it, var, args[:1], {}), lambda: args[1])
    value = it.emit(st.getitem, it.atom(var), key)
    if isinstance(value, Var) and not isinstance(value.kind, Number):
        heap.taken_out(it, value, var, key)
    heap.moved(it, var)
    heap.changed(it, var, me.drop, me.dropped, key)
    return it.open_up(value)


def _popitem(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    keys = it.emit(st.as_list, it.atom(var))
    assert isinstance(keys, Var)
    it.reading.linked.add(keys)  # a key is no part of what changes
    last = kwargs.get("last", args[0] if args else Const(True))
    key = _call_python(it, manifest.outer_key, keys, last)
    return tuple_of(key, _pop(it, var, [key], {}))


def _extend_left(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    return _call_python(it, manifest.extend_left, var, *args)


def _rotate(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    listed = it.emit(st.as_list, it.atom(var))
    heap.refill(it, var, it.atom(_call_python(it, manifest.rotated, listed, *args)))
    return Const(None)


def _call_python(it: Interpreter, function: Callable[..., Any], *args: Value) -> Value:

    return it.call(Const(function), args, {})


def _insert(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    where, value = args
    value = heap.note_sharing(it, heap.now(it, value), var)
    step = it.atom(where)
    heap.changed(it, var, me.insert, me.inserted, step, it.atom(value))
    store_inside(it, value, var, step)
    heap.moved(it, var)
    return Const(None)


def _clear(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    if is_list(var):
        replace_list(it, var, it.atom(list_of()))
    else:
        heap.refill(it, var, it.atom(Items("dict", (), ())))
    return Const(None)


def _reverse(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    replace_list(it, var, it.emit(st.getitem, it.atom(var), Const(slice(None, None, -1))))
    return Const(None)


def _sort(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:

    as_array = lambda: it.call_known(np.sort, [var, *args], kwargs)
    as_list = lambda: it.call_known(sorted, [var], kwargs)
    if isinstance(var.kind, Array) or (
        var.kind == UNKNOWN and (args or not {*kwargs} <= _OF_LISTS)
    ):
        heap.whole(it, var, it.atom(as_array()))
    elif var.kind == UNKNOWN and not kwargs:
        replace_list(it, var, it.atom(it.choose(it.emit(ident.is_view, var), as_array, as_list)))
    else:
        replace_list(it, var, it.atom(as_list()))
    return Const(None)


_OF_LISTS = frozenset(("key", "reverse"))
"""What lists take to be sorted by, and arrays do not."""


def _remove(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:

    if is_set(it, var):
        present = it.emit(st.in_, it.atom(args[0]), it.atom(var))
        it.branch(present, lambda: None, lambda: _raise_key_error(it, args[0]))
        return _discard(it, var, args, kwargs)
    where = it.call_method(var, "index", args, {})
    it.delitem(var, where)
    return Const(None)


def _raise_key_error(it: Interpreter, key: Value) -> None:

    it.raise_exception(it.make_exception(KeyError, [key], {}))


def _add(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    """Of a set, which only ever says what is in it."""
    heap.changed(it, var, me.insert, me.inserted, it.atom(args[0]), Const(None))
    return Const(None)


def _discard(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:

    left_out = it.call_foreign(set, [it.atom(list_of(args[0]))], {})
    replace_set(it, var, it.atom(it.binary(ast.Sub(), heap.now(it, var), left_out, ast.Pass())))
    return Const(None)


def replace_set(it: Interpreter, var: Var, new: Atom) -> None:
    heap.changed(it, var, me.insert, me.inserted, Const(None), new)


def is_set(it: Interpreter, var: Var) -> bool:
    """Whether an object is known to have been made as a set."""
    place = it.reading.places.get(var)
    origin = var if place is None else place.origin
    eqn = it.builder.visible_definition(origin) if isinstance(origin, Var) else None
    return eqn is not None and eqn.op is foreign(set)


def _set_default(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    key, *default = args
    at = it.atom(key)
    present = it.emit(st.in_, at, it.atom(var))
    value = default[0] if default else Const(None)
    it.branch(present, lambda: None, lambda: it.setitem(var, key, value))

    return it.getitem(heap.now(it, var), at)


def _update(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    sources = [_as_dict(it, var, source) for source in args]
    if kwargs:
        sources.append(Items("dict", tuple(kwargs), tuple(kwargs.values())))
    if sources and not is_set(it, var) and all(map(_is_known_dict, sources)):
        _store_entries(it, var, sources)  # type: ignore[arg-type]
        return Const(None)
    merged = it.atom(var)
    for source in sources:
        merged = it.emit(co.merge_dicts, merged, it.atom(source))
    if is_set(it, var):
        replace_set(it, var, merged)
    else:
        heap.refill(it, var, merged)
    return Const(None)


def _is_known_dict(source: Value) -> bool:
    """Whether it is known which entries a dictionary has."""
    known = isinstance(source, Items) and source.form == "dict" and source.type in (None, dict)
    return known and not any(isinstance(value, Maybe) for value in source.values)  # type: ignore[union-attr]


def _store_entries(it: Interpreter, var: Var, sources: Sequence[Items]) -> None:
    entries = {
        key: value for each in sources for key, value in zip(each.keys, each.values, strict=True)
    }
    for key, value in entries.items():
        it.setitem(heap.now(it, var), Const(key), value)


def _as_dict(it: Interpreter, var: Var, source: Value) -> Value:
    """What a dictionary is updated with, which may be pairs of a key and a value; a set takes anything."""
    source = dict_of_object(it, heap.now(it, source))
    if isinstance(source, Var) or (isinstance(source, Items) and source.form == "dict"):
        return source
    listed = it.as_list(source)
    if is_set(it, var) or not _may_be_pairs(listed):
        return listed
    is_dict = it.call(Const(hasattr), [var, Const("keys")], {})
    return it.choose(is_dict, lambda: it.dict_from(listed), lambda: listed)


def dict_of_object(it: Interpreter, source: Value) -> Value:
    """What a dictionary is updated with: of an object that has keys, a dictionary of its items."""
    return it.dict_from(source) if defines(source, "keys") else source


def _may_be_pairs(listed: Value) -> bool:
    if isinstance(listed, Items):
        return all(map(_is_pair, listed.values))
    kind = kind_of_value(listed)
    return isinstance(kind, Seq) and (kind.item == UNKNOWN or isinstance(kind.item, Struct))


def _is_pair(value: Value) -> bool:
    return isinstance(value, Items) and value.form == "tuple" and len(value.values) == 2


def _fill(it: Interpreter, var: Var, args: Args, kwargs: Kwargs) -> Value:
    value = args[0]
    if not isinstance(kind_of_value(value), Number):
        value = it.call(Const(by_entries.without_axes), [value], {})
    heap.store(it, var, Const(...), it.atom(value))
    return Const(None)


_ARGUMENTS = {
    "append": (1,), "extend": (1,), "pop": (0, 1, 2), "popleft": (0,), "appendleft": (1,),
    "insert": (2,), "clear": (0,), "reverse": (0,), "sort": (0, 1), "remove": (1,),
    "setdefault": (1, 2), "update": (0, 1), "fill": (1,), "popitem": (0,), "extendleft": (1,),
    "rotate": (0, 1),
}  # fmt: skip
"""How many arguments the methods of containers take by position."""


def _is_a_containers(kind: Kind, name: str, args: Args, kwargs: Kwargs) -> bool:
    """Whether a call may be one of a method of Python's own containers, as far as a kind leaves that open."""
    if isinstance(kind, Map) and not (hasattr(dict, name) and (args or name != "pop")):
        return False
    if not isinstance(kind, (Map, Unknown)):
        return True
    return len(args) in _ARGUMENTS.get(name, (len(args),)) and (
        not kwargs or name in ("update", "sort")
    )


RunTimeMethod = Callable[["Interpreter", Var, Args, Kwargs], Value]


METHODS: dict[str, RunTimeMethod] = {
    "append": _append,
    "extend": extend_at_run_time,
    "pop": _pop,
    "popleft": lambda it, var, args, kwargs: _pop(it, var, [Const(0)], {}),
    "appendleft": lambda it, var, args, kwargs: _insert(it, var, [Const(0), *args], {}),
    "popitem": _popitem,
    "extendleft": _extend_left,
    "rotate": _rotate,
    "insert": _insert,
    "clear": _clear,
    "reverse": _reverse,
    "sort": _sort,
    "remove": _remove,
    "add": _add,
    "discard": _discard,
    "setdefault": _set_default,
    "update": _update,
    "fill": _fill,
}
