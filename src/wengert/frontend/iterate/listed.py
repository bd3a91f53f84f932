"""Lists and tuples of what is iterated over."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.graph import Atom, Const, Var
from ...ir.types import Array, Kind
from ...ops import structure as st
from ...ops.program import containers as co
from ..classes.class_lookup import is_walked_over
from ..domain.arguments import is_star
from ..domain.values import Items, LazyIterable, Native, Value, list_of, tuple_of
from ..heap import iterator_state, now
from ..machine.interpreter import Interpreter


def known_items(it: Interpreter, value: Value) -> list[Value] | None:
    """The items of a value that is iterated over, where they are known one by one."""
    if isinstance(value, Var):
        opened = it.open_up(value)
        if isinstance(opened, Items):
            return known_items(it, opened)
        return sizes_of_axes(it, value)
    if isinstance(value, Items) and value.form == "iterator":
        listed = as_list(it, value)
        items = known_items(it, listed)
        if items is None:
            iterator_state.give_back(it, value, listed)
        return items
    if isinstance(value, (Items, LazyIterable)) or (
        isinstance(value, Const) and isinstance(value.value, (str, range))
    ):
        items = it.iteration(value)
        return items if isinstance(items, list) else None
    return None


def sizes_of_axes(it: Interpreter, value: Var) -> list[Value] | None:
    """What the shape holds of an array that has a known number of axes; None of all else."""
    made = it.builder.visible_definition(value)
    if made is None or made.op.name != "shape" or not isinstance(made.args[0], Var):
        return None
    kind = made.args[0].kind
    rank = kind.rank if isinstance(kind, Array) else None
    return None if rank is None else [it.emit(st.getitem, value, Const(k)) for k in range(rank)]


def settled(it: Interpreter, value: Value) -> Value:
    """What can be walked over more than once: an iterator's items, or the value itself."""
    value = now(it, value)
    if is_walked_over(value):
        value = it.iterated(value)
    one_pass = isinstance(value, Items) and value.form == "iterator"
    return as_list(it, value) if one_pass else value


def as_tuple(it: Interpreter, value: Value) -> Value:
    """`tuple(value)`."""
    listed = as_list(it, value)
    if isinstance(listed, Items):
        return tuple_of(*listed.values)
    return it.emit(st.as_tuple, it.atom(listed))


def joined(it: Interpreter, values: Sequence[Value]) -> Atom:
    """The list of these values, with the items of those that stand for `*items`."""
    parts: list[Atom] = []
    known: list[Value] = []
    for value in values:
        if not (isinstance(value, Items) and is_star(value)):
            known.append(value)
            continue
        if known:
            parts.append(it.atom(list_of(*known)))
            known = []
        parts.append(it.atom(as_list(it, value.values[0])))
    if known:
        parts.append(it.atom(list_of(*known)))
    whole = parts[0]
    for part in parts[1:]:
        whole = it.emit(co.join_lists, whole, part)
    return whole


def _has_rows(kind: Kind) -> bool:
    """Whether the items of an array are arrays, which change where it does."""
    return isinstance(kind, Array) and kind.rank not in (None, 0, 1)


def as_list(it: Interpreter, value: Value) -> Value:
    """`list(value)`."""
    value = now(it, value)
    if isinstance(value, Items) and value.form == "iterator":
        return as_list(it, iterator_state.taken_over(it, value))
    if isinstance(value, LazyIterable) and value.form == "generator":
        assert isinstance(value.function, Native)
        return value.function.call(it, (), {})
    items = it.iteration(value)
    if isinstance(items, list):
        return list_of(*items)
    if len(items.iterables) == 1 and isinstance(value, Var) and not _has_rows(value.kind):
        # what an unknown value is walked over as may be the very list
        source = items.iterables[0]
        return it.emit(st.as_list, value) if source in (value, *it.reading.walked) else source

    return it.collect(items, lambda item: item)
