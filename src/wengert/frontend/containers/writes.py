"""Writing to objects: items and attributes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Var
from ...ir.types import NONE, SLICE, STR, UNKNOWN, Array, Kind, Number, Other, Seq, Struct, map_of
from ...ops import structure as st
from ...ops.arrays import creation
from ...ops.program import memory as me
from .. import heap
from ..data import tables
from ..domain.properties import behind_property, is_property
from ..domain.values import (
    Closure,
    Items,
    LazyIterable,
    Maybe,
    Native,
    Value,
    kind_of_value,
    list_of,
)
from ..domain.whereabouts import Untracked
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter


def set_item(
    it: Interpreter, target: Value, index: Value, value: Value, *, back: bool = False
) -> None:
    """`target[index] = value`; `back` says that an object among the values is the one that is there."""
    target = heap.now(it, target)
    tables.refuse_change(it, target)
    if it.call_method_of_class(target, "__setitem__", [index, value]) is not None:
        return
    if kind_of_value(index) == SLICE and not isinstance(kind_of_value(target), Array):
        value = it.settled(value)
    if isinstance(target, Items) and kind_of_value(index) == STR and isinstance(index, Const):
        if assigns_attributes(it, target, {index.value: value}):
            return
    if isinstance(target, Items) and follows(it, target):
        content = _with_item(it, target, index, value)
        if content is not None:
            heap.put(it, target, content)
            return
    like = map_of(kind_of_value(index), kind_of_value(value))
    store(it, as_run_time(it, target, like), _index(it, index), value, back=back)


def follows(it: Interpreter, items: Items) -> bool:
    """Whether an object's items are changed by the front end alone."""
    if items.place is not None and items.place.shared:
        raise it.unsupported(
            "this changes an object that may be one of several",
            "Change it where it is certain which object it is, or change a copy.",
        )
    return items.home is None


def _with_item(it: Interpreter, items: Items, index: Value, value: Value) -> Items | None:
    """The contents with one item replaced; None if it is known only at run time which."""
    if items.form in ("tuple", "namedtuple"):
        name = "tuple" if items.form == "tuple" else items.type.__name__
        raise_now(it, TypeError, f"'{name}' object does not support item assignment")
    index = it.key_of(index)
    if not isinstance(index, Const):
        return None
    key = index.value
    if items.form == "dict":
        entries = dict(zip(items.keys, items.values, strict=True))
        entries[key] = value
        return items.holding(tuple(entries.values()), tuple(entries))
    if items.form != "list":
        return None
    values = list(items.values)
    if isinstance(key, slice):
        return _with_slice(it, items, key, value)
    if not isinstance(key, int):
        return None
    if not -len(values) <= key < len(values):
        raise_now(it, IndexError, "list assignment index out of range")
    values[key] = value
    return items.holding(values)


def _with_slice(it: Interpreter, items: Items, part: slice, value: Value) -> Items | None:

    new = it.known_items(value)
    if new is None:
        return None
    values = list(items.values)
    values[part] = new
    return list_holding(items, values)


def list_holding(items: Items, values: Sequence[Value]) -> Items:
    return items.holding(values, range(len(values)))


def as_run_time(it: Interpreter, target: Value, like: Kind | None = None) -> Var:
    """The run-time object that a write goes to; `like`: of what kind a known dictionary is with what it gets."""
    match target:
        case Items(home=Var() as home):
            return home
        case Items():
            return heap.materialise(it, target, like if target.form == "dict" else None)
        case Var():
            return target
        case Maybe() | LazyIterable() | Closure() | Native() | Const():
            raise it.unsupported(
                "this object is changed, but it is not one whose changes can be followed",
                "Create the object inside the function, or pass it as an argument.",
            )


def store(it: Interpreter, var: Var, step: Atom, value: Value, *, back: bool = False) -> None:

    _refuse_immutable(it, var)
    if not (isinstance(step, Const) and isinstance(step.value, me.Field)):
        it.refuse_unknown(("__setitem__",), [var])
    step = _from_the_start(var.kind, step)
    if isinstance(var.kind, Array):
        heap.store(it, var, step, it.atom(_as_element(it, value)))
        return
    if kind_of_atom(step) == SLICE and (
        var.kind != UNKNOWN or kind_of_value(heap.now(it, value)) == UNKNOWN
    ):
        heap.store_items(it, var, step, _items_as_list(it, var, value))
        return
    value = heap.note_sharing(it, heap.now(it, value), var)
    if not back and _may_copy(it, var, step, value):
        atom = heap.note_copy(it, value, var, step)
        heap.note_copied(it, value, it.builder.span)
        heap.store(it, var, step, atom)
        return
    heap.store(it, var, step, it.atom(value))
    store_inside(it, value, var, step)


def _items_as_list(it: Interpreter, owner: Var, value: Value) -> Atom:
    """What several items of a list are replaced by: a list of its own that holds them.

    If the owner may be an array, what it is given is left as it is.
    """
    value = heap.now(it, value)
    if isinstance(value, Var):
        has_rows = value.kind == UNKNOWN or (isinstance(value.kind, Array) and value.kind.rank != 1)
        return it.emit(st.as_list, value) if has_rows and owner.kind != UNKNOWN else value
    new = it.known_items(value)
    if new is None:
        return it.atom(value)
    made = list_of(*new)
    return heap.materialise(it, made) if heap.holds_objects(made) else it.atom(made)


def _may_copy(it: Interpreter, owner: Var, step: Atom, value: Value) -> bool:
    """Whether only the run tells a container, which refers to what is put into it, from an array.

    Values of unknown kind are followed by their own names, whatever holds them.
    """
    if owner.kind != UNKNOWN or (isinstance(step, Const) and isinstance(step.value, me.Field)):
        return False
    unknown = isinstance(value, Var) and value.kind == UNKNOWN
    return not unknown and not heap.is_known_container(it, owner)


def _from_the_start(kind: Kind, step: Atom) -> Atom:
    """An index counted from the end of a list of known length, from its start."""
    if not (isinstance(kind, Struct) and kind.form == "list" and isinstance(step, Const)):
        return step
    negative = type(step.value) is int and -len(kind.keys) <= step.value < 0
    return Const(step.value + len(kind.keys)) if negative else step


def _as_element(it: Interpreter, value: Value) -> Value:
    """What NumPy makes of a list that is assigned to a part of an array."""
    from ..classes.objects_in_numpy import as_numpy_sees

    if isinstance(value, Items) and value.form in ("list", "tuple"):
        return it.emit(creation.array, it.atom(value), namespace="np")
    if isinstance(value, LazyIterable):
        return _as_element(it, it.as_list(value))
    return as_numpy_sees(it, value)


def _refuse_immutable(it: Interpreter, var: Var) -> None:
    kind = var.kind
    if isinstance(kind, Number) or kind in (STR, NONE):
        name = "NoneType" if kind == NONE else str(kind)
        raise_now(it, TypeError, f"'{name}' object does not support item assignment")


def store_inside(it: Interpreter, value: Value, owner: Var, step: Atom) -> None:
    root, steps = heap.path_to(it, owner)
    heap.store_inside(it, value, heap.place_of(it, root), *steps, step, noted=True)


def _index(it: Interpreter, index: Value) -> Atom:

    return it.index_atom(index)


def delete_item(it: Interpreter, target: Value, index: Value) -> None:
    """`del target[index]`."""
    target = heap.now(it, target)
    if it.call_method_of_class(target, "__delitem__", [index]) is not None:
        return
    if isinstance(target, Items) and follows(it, target):
        content = _without_item(it, target, index)
        if content is not None:
            heap.put(it, target, content)
            return
    var = as_run_time(it, target)
    step = _index(it, index)
    if kind_of_atom(step) == Other("slice"):
        replace_list(it, var, it.emit(me.dropped, it.atom(var), step))
        return
    heap.moved(it, var)
    heap.changed(it, var, me.drop, me.dropped, step)


def _without_item(it: Interpreter, items: Items, index: Value) -> Items | None:
    index = it.key_of(index)
    if not isinstance(index, Const):
        return None
    key = index.value
    if items.form == "dict":
        if key not in items.keys:
            raise_now(it, KeyError, key)
        entries = dict(zip(items.keys, items.values, strict=True))
        del entries[key]
        return items.holding(tuple(entries.values()), tuple(entries))
    if items.form != "list":
        return None
    values = list(items.values)
    try:
        del values[key]
    except IndexError:
        raise_now(it, IndexError, "list assignment index out of range")
    return list_holding(items, values)


def change_item(it: Interpreter, target: Value, index: Value, old: Value, new: Value) -> None:
    """`target[index] = new`, where `new` is what an operator makes of an item of unknown kind."""
    current = heap.now(it, target)
    if isinstance(current, Var):
        heap.changes_inside(it, current, it.atom(index), it.atom(old))
    set_item(it, target, index, new, back=True)


def is_list(var: Var) -> bool:
    return isinstance(var.kind, Seq) or (isinstance(var.kind, Struct) and var.kind.form == "list")


def replace_list(it: Interpreter, var: Var, new: Atom) -> None:
    heap.moved(it, var)
    heap.whole(it, var, new)


def is_attributes(entries: Items) -> bool:
    """Whether a dictionary is the `__dict__` of an object that only the run knows."""
    place = entries.place
    return place is not None and place.twin is not None and place.shared


def assigns_attributes(it: Interpreter, entries: Items, new: Mapping[str, Value]) -> bool:
    """Give a dictionary new entries by assigning to the attributes of the object whose `__dict__` it is.

    Says whether it is that of an object that only the run knows; of others the front end follows both.
    """
    if not is_attributes(entries):
        return False
    place = entries.place
    assert place is not None
    assert place.twin is not None
    owner = place.twin.origin
    assert isinstance(owner, Items)
    for name, value in new.items():
        if is_property(owner.type, name):
            raise it.unsupported(*behind_property(owner.type, name))
        it.write_attribute(it.known_object(owner), name, value)
    it.heap[place] = Untracked("it is the `__dict__` of an object that has changed")
    return True
