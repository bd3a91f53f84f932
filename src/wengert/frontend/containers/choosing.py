"""One of several known values: which one, the program says when it runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from ...ir.graph import Const, Var
from ...ir.types import Array, Seq
from ...ops import structure as st
from ...ops.program import containers as co, identity as ident
from ..classes.class_lookup import defines
from ..domain.running import UNROLL
from ..domain.values import Items, Value, is_mutable, is_plain, list_of, tuple_of
from ..heap import holds_objects, now
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..polyfills import manifest


def known_objects(
    it: Interpreter, source: Value, counts: Callable[[Value], bool] | None = None
) -> list[Value] | None:
    """The items of something, if they are known and some of them are objects; None otherwise."""
    source = now(it, source)
    if not isinstance(source, Items) or source.form not in ("list", "tuple", "dict"):
        return None
    items = it.iteration(source)
    if not isinstance(items, list) or not 0 < len(items) <= UNROLL:
        return None
    return items if any(map(counts or is_known_object, items)) else None


def is_object(value: Value) -> bool:
    """Whether a value is, or holds, something that can change: an array as well."""
    return is_known_object(value) or (
        isinstance(value, Var) and isinstance(value.kind, (Array, Seq))
    )


def is_known_object(value: Value) -> bool:
    """Whether a value is taken apart, and is, or holds, something that can change."""
    return isinstance(value, Items) and (is_mutable(value) or holds_objects(value))


def extremum(it: Interpreter, which: str, items: Sequence[Value], key: Value | None) -> Value:
    """`min(items, key=key)` or `max`: the first of several that are equal."""
    better = ast.Lt() if which == "min" else ast.Gt()
    first, *rest = items
    best, best_key = first, _key_of(it, key, first)
    for item in rest:
        item_key = _key_of(it, key, item)
        is_better = it.truth(it.compare(better, item_key, best_key))
        chosen = it.choose(
            is_better,
            lambda item=item, item_key=item_key: tuple_of(item, item_key),
            lambda best=best, best_key=best_key: tuple_of(best, best_key),
        )
        assert isinstance(chosen, Items)
        best, best_key = chosen.values
    return now(it, best)


def _key_of(it: Interpreter, key: Value | None, item: Value) -> Value:
    return item if key is None or key == Const(None) else it.call(key, [item], {})


def in_order(it: Interpreter, items: Sequence[Value], key: Value | None, reverse: Value) -> Items:
    """`sorted(items, key=key, reverse=reverse)`."""
    keys: Value = list_of(*(_key_of(it, key, item) for item in items))
    if all(defines(each, "__lt__") for each in keys.values):
        keys = it.call(Const(manifest.ranks), [keys], {})
    order = it.emit(co.sorted_order, it.atom(keys), reverse=it.atom(reverse))
    return list_of(*(_pick(it, items, it.getitem(order, Const(k))) for k in range(len(items))))


def _pick(it: Interpreter, items: Sequence[Value], index: Value) -> Value:
    """`items[index]`, of an index that is in range."""
    *others, picked = items
    at = it.atom(index)
    for k, item in enumerate(others):
        here = it.emit(st.eq, at, Const(k))
        picked = it.choose(here, lambda item=item: item, lambda picked=picked: picked)
    return picked


def holds_functions(items: Items) -> bool:
    """Whether a known container holds something that has no existence when the program runs."""
    return items.form in ("list", "tuple", "dict") and not all(map(is_plain, items.values))


def item_of(it: Interpreter, items: Items, index: Value) -> Value:
    """`items[index]` of a container of functions, by an index that the program computes."""
    count = len(items.values)
    at = it.atom(index)

    def among(k: int) -> Value:
        if k == count:
            return _missing(it, items)
        here: Value = it.emit(st.eq, at, Const(items.keys[k]))
        if items.form != "dict":
            here = it.emit(st.either, it.atom(here), it.emit(st.eq, at, Const(k - count)))
        return it.choose(here, lambda: items.values[k], lambda: among(k + 1))

    return among(0)


def _missing(it: Interpreter, items: Items) -> Value:
    if items.form == "dict":
        raise_now(it, KeyError, "no such key")
    raise_now(it, IndexError, f"{items.form} index out of range")


def among_keys(it: Interpreter, key: Value, items: Items) -> Value:
    """`key in items` of a dictionary whose keys are known."""
    if not items.keys:  # what cannot be a key raises
        it.emit(ident.evaluated, it.emit(st.in_, it.atom(key), it.atom(Items("dict", (), ()))))
        return Const(False)
    return it.emit(st.in_, it.atom(key), it.atom(tuple_of(*map(Const, items.keys))))
