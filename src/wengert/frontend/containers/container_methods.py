"""Methods that change a list, a dictionary or a set which is known when the program is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.graph import Const, Var
from ...ir.types import Kind, Map, map_of
from .. import heap
from ..domain.values import Args, Items, Kwargs, Value, from_key, kind_of_value, tuple_of
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from .run_time_containers import METHODS, dict_of_object, extended_by_a_generator
from .writes import assigns_attributes, follows, is_attributes, list_holding


def method_of_known(
    it: Interpreter, items: Items, name: str, args: Args, kwargs: Kwargs
) -> Value | None:
    """A method that changes a container whose items are known; None if it is no such method."""
    table = _LIST_METHODS if items.form == "list" else _DICT_METHODS
    if items.form not in ("list", "dict") or name not in table:
        return None
    items_now = heap.now(it, items)
    assigns = name == "update" and isinstance(items_now, Items) and is_attributes(items_now)
    if isinstance(items_now, Items) and (assigns or follows(it, items_now)):
        if name in _KEYED:
            args = [*(it.key_of(arg) for arg in args[:1]), *args[1:]]
        done = table[name](it, items_now, args, kwargs)
        if done is not None:
            return done
    return it.method_of_run_time(it.as_run_time(items_now, _with(name, args)), name, args, kwargs)


def _with(name: str, args: Args) -> Kind | None:
    """The kind of a dictionary of what a method brings into one, if that is known."""
    match name, [kind_of_value(arg) for arg in args]:
        case "setdefault", [key, item]:
            return map_of(key, item)
        case "update", [Map() as kind]:
            return kind
        case _:
            return None


_KEYED = frozenset(("get", "insert", "move_to_end", "pop", "setdefault"))
"""Methods whose first argument is an index or a key."""


def _put_list(it: Interpreter, items: Items, values: Sequence[Value]) -> Value:
    heap.put(it, items, list_holding(items, values))
    return Const(None)


def _append(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value:
    return _put_list(it, items, [*items.values, *args])


def _append_left(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value:
    return _put_list(it, items, [*args, *items.values])


def extend(it: Interpreter, items: Items, new: Value) -> Value | None:
    """`items.extend(new)` of a known list."""
    new = it.as_asked(new)
    each = lambda item: method_of_known(it, items, "append", [item], {})
    if extended_by_a_generator(it, new, each):
        return Const(None)
    if not follows(it, items):
        it.method_of_run_time(it.as_run_time(items), "extend", [new], {})
        return Const(None)
    added = it.known_items(new)
    if added is None:
        it.method_of_run_time(heap.materialise(it, items), "extend", [new], {})
        return Const(None)
    return _put_list(it, items, [*items.values, *added])


def _pop(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value | None:
    where = args[0] if args else Const(-1)
    if not isinstance(where, Const) or not isinstance(where.value, int):
        return None
    values = list(items.values)
    if not values:
        raise_now(it, IndexError, "pop from empty list")
    if not -len(values) <= where.value < len(values):
        raise_now(it, IndexError, "pop index out of range")
    value = values.pop(where.value)
    _put_list(it, items, values)
    return heap.now(it, value)


def _insert(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value | None:
    where, value = args
    if not isinstance(where, Const) or not hasattr(where.value, "__index__"):
        return None
    values = list(items.values)
    values.insert(where.value, value)
    return _put_list(it, items, values)


def _reverse(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value:
    return _put_list(it, items, items.values[::-1])


def _clear(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value:
    heap.put(it, items, items.holding((), ()))
    return Const(None)


def _set_default(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value | None:
    key, *default = args
    if not isinstance(key, Const):
        return None
    if key.value not in items.keys:
        it.setitem(items, key, default[0] if default else Const(None))
        return heap.now(it, default[0] if default else Const(None))
    return heap.now(it, items[key.value])


def _update(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value | None:
    new: dict[str, Value] = {}
    for source in args:
        opened = _known_dict(it, source)
        if opened is None:
            return None
        new.update(opened)
    new.update(kwargs)
    if assigns_attributes(it, items, new):
        return Const(None)
    entries = {**dict(zip(items.keys, items.values, strict=True)), **new}
    heap.put(it, items, items.holding(tuple(entries.values()), tuple(entries)))
    return Const(None)


def _known_dict(it: Interpreter, source: Value) -> dict[Any, Value] | None:

    source = dict_of_object(it, heap.now(it, source))
    if isinstance(source, Items) and source.form == "dict":
        return dict(zip(source.keys, source.values, strict=True))
    pairs = it.known_items(source) if not isinstance(source, Var) else None
    if pairs is None:
        return None
    known: dict[Any, Value] = {}
    for pair in pairs:
        if not (isinstance(pair, Items) and isinstance(pair.values[0], Const)):
            return None
        known[pair.values[0].value] = pair.values[1]
    return known


def _pop_key(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value | None:
    key, *default = args
    if not isinstance(key, Const):
        return None
    if key.value not in items.keys and default:
        return default[0]
    value = heap.now(it, items[key.value]) if key.value in items.keys else Const(None)
    it.delitem(items, key)
    return value


def _pop_item(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value | None:
    if not items.keys:
        raise_now(it, KeyError, "popitem(): dictionary is empty")
    last = kwargs.get("last", args[0] if args else Const(True))
    if not isinstance(last, Const):
        return None
    k = -1 if last.value else 0
    key, value = items.keys[k], heap.now(it, items.values[k])
    it.delitem(items, Const(key))
    return tuple_of(from_key(key), value)


def _move_to_end(it: Interpreter, items: Items, args: Args, kwargs: Kwargs) -> Value | None:
    key, last = args[0], kwargs.get("last", args[1] if len(args) > 1 else Const(True))
    if not isinstance(key, Const) or not isinstance(last, Const):
        return None
    if key.value not in items.keys:
        raise_now(it, KeyError, key.value)
    entries = dict(zip(items.keys, items.values, strict=True))
    moved = {key.value: entries.pop(key.value)}
    entries = {**entries, **moved} if last.value else {**moved, **entries}
    heap.put(it, items, items.holding(tuple(entries.values()), tuple(entries)))
    return Const(None)


Method = Callable[["Interpreter", Items, Args, Kwargs], "Value | None"]
_LIST_METHODS: dict[str, Method] = {
    "append": _append,
    "appendleft": _append_left,
    "extend": lambda it, items, args, kwargs: extend(it, items, args[0]),
    "pop": _pop,
    "popleft": lambda it, items, args, kwargs: _pop(it, items, [Const(0)], {}),
    "insert": _insert,
    "reverse": _reverse,
    "clear": _clear,
    "sort": lambda it, items, args, kwargs: None if len(items.values) > 1 else Const(None),
    "remove": lambda it, items, args, kwargs: None,
    "extendleft": lambda it, items, args, kwargs: None,
    "rotate": lambda it, items, args, kwargs: None,
}
_DICT_METHODS: dict[str, Method] = {
    "setdefault": _set_default,
    "update": _update,
    "pop": _pop_key,
    "popitem": _pop_item,
    "move_to_end": _move_to_end,
    "clear": _clear,
}


_CHANGING = frozenset((*_LIST_METHODS, *_DICT_METHODS, *METHODS))
"""Methods that change the object they are called on."""


def is_changing(it: Interpreter, name: str) -> bool:
    """Whether a method of this name changes the container that it is called on."""
    return name in _CHANGING
