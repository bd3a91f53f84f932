"""Writes in place. The IR has no memory: a write takes the old version of a value and gives the new one.

The user's own writes have an effect: they are executed in order, on the very object. Derivative code
writes by their pure counterparts, which `passes.versions` has executed in place where nobody needs
the old version, on a copy elsewhere. For what calls an op on run-time values both are pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.builder import Builder, kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.op import Infer, Op
from ...ir.steps import Field as Field, Viewed as Viewed
from ...ir.types import (
    ARRAY,
    BOOL,
    INT,
    SLICE,
    UNKNOWN,
    Array,
    Kind,
    Map,
    Other,
    Seq,
    Struct,
    join,
    map_of,
)
from ..array_kinds import length_of, like_first
from ..cotangent_kinds import gradient_kind
from ..helpers import helper
from ..registry import declare, late_helper
from ..structure import Args, Params, add_at, getattr_, getitem, item_kind, joined, map_of_dicts

# --- kinds --------------------------------------------------------------------------------


def changed(kind: Kind, path: Sequence[Atom], change: Callable[[Kind], Kind]) -> Kind:
    """The kind of a value of some kind once the part that a path leads to has changed its kind."""
    if not path:
        return change(kind)
    step, *rest = path
    match kind:
        case Array():
            return kind
        case Seq(item=item):
            return Seq(_item_changed(item, step, rest, change))
        case Map(key=key, item=item):
            return map_of(join(key, kind_of_atom(step)), joined(item, changed(item, rest, change)))
        case Struct():
            return _struct_changed(kind, step, rest, change)
        case _:
            return UNKNOWN


def _item_changed(
    item: Kind, step: Atom, rest: Sequence[Atom], change: Callable[[Kind], Kind]
) -> Kind:
    if kind_of_atom(step) == SLICE:
        return join(item, item_kind(change(UNKNOWN)))
    return joined(item, changed(item, rest, change))


def _struct_changed(
    kind: Struct, step: Atom, rest: Sequence[Atom], change: Callable[[Kind], Kind]
) -> Kind:
    key = step.value if isinstance(step, Const) else None
    key = key.name if isinstance(key, Field) else key
    if isinstance(key, (int, str)) and key in kind.keys:
        items = [
            changed(item, rest, change) if k == key else item
            for k, item in zip(kind.keys, kind.items, strict=True)
        ]
        return Struct(kind.form, kind.keys, tuple(items), kind.type)
    if kind.form == "dict" and not rest:
        return map_of_dicts(kind, map_of(kind_of_atom(step), change(UNKNOWN)))
    if kind.form == "list":
        return Seq(_item_changed(item_kind(kind), step, rest, change))
    if kind.form == "object" and isinstance(key, str) and not rest:  # it gets one more attribute
        items = (*kind.items, change(UNKNOWN))
        return Struct(kind.form, (*kind.keys, key), items, kind.type)
    return UNKNOWN


def _infer_store(args: Args, params: Params) -> Kind:
    x, *path, value = args
    return changed(kind_of_atom(x), path, lambda _: kind_of_atom(value))


def _infer_append(args: Args, params: Params) -> Kind:
    x, *path, value = args
    return changed(kind_of_atom(x), path, lambda kind: _one_more(kind, value))


def _infer_insert(args: Args, params: Params) -> Kind:
    x, *path, key, value = args
    one = item_kind(kind_of_atom(value)) if kind_of_atom(key) == SLICE else value
    return changed(kind_of_atom(x), path, lambda kind: _one_more(kind, one))


def _infer_drop(args: Args, params: Params) -> Kind:
    x, *path, _ = args
    return changed(kind_of_atom(x), path, _one_less)


def _one_more(kind: Kind, item: Atom | Kind) -> Kind:
    """A list that takes in another item."""
    item = item if isinstance(item, Kind) else kind_of_atom(item)
    if not _is_list(kind):
        return UNKNOWN
    empty = isinstance(kind, Struct) and not kind.items
    return Seq(item if empty else join(item_kind(kind), item))


def _one_less(kind: Kind) -> Kind:
    if isinstance(kind, Map):
        return kind
    return Seq(item_kind(kind)) if _is_list(kind) else UNKNOWN


def _is_list(kind: Kind) -> bool:
    return isinstance(kind, Seq) or (isinstance(kind, Struct) and kind.form == "list")


def _infer_overwrite(args: Args, params: Params) -> Kind:
    x, *path, value = args
    return changed(kind_of_atom(x), path, lambda kind: _refilled(kind, kind_of_atom(value)))


def _refilled(kind: Kind, value: Kind) -> Kind:
    """What holds what another value held."""
    if isinstance(kind, Array):
        return kind
    if isinstance(kind, Map):
        return map_of_dicts(value)
    return Seq(item_kind(value)) if _is_list(kind) else UNKNOWN


# --- on run-time values -------------------------------------------------------------------

_snapshot, _reached, _overwrite = map(late_helper, ("snapshot", "reached", "overwrite"))


def _store(x: Any, *path_and_value: Any) -> Any:
    *path, last, value = path_and_value
    x = _snapshot(x)
    owner = _followed(x, path)
    if isinstance(last, Field):
        setattr(owner, last.name, value)
    elif isinstance(last, Viewed):
        _overwrite(_reached(last.of(owner), owner), value)
    else:
        owner[last] = value
    return x


def _followed(x: Any, path: Sequence[Any]) -> Any:
    for step in path:
        x = _reached(step.of(x) if isinstance(step, (Field, Viewed)) else x[step], x)
    return x


def _at(name: str, count: int) -> Callable[..., Any]:
    """A write to a copy of what a path leads to; `count` operands come after the path."""
    write = late_helper(name)

    def changed(x: Any, *args: Any) -> Any:
        x = _snapshot(x)
        path = args[: len(args) - count]
        write(_followed(x, path), *args[len(path) :])
        return x

    return changed


def _pure(name: str) -> Callable[..., Any]:
    write = late_helper(name)
    return lambda x, *args: write(_snapshot(x), *args)


# --- the user's own writes ----------------------------------------------------------------


def _written(
    name: str, signature: str, infer: Infer, write: Callable[..., Any], helper: str = ""
) -> Op:
    op = declare(name, signature, infer=infer, fresh=False, effect=True, implementation=write)
    op.spellings = {"rt": helper} if helper else {}
    return op


def _counterpart(name: str, signature: str, infer: Infer, write: Callable[..., Any]) -> Op:
    return declare(name, signature, infer=infer, fresh=False, implementation=write, rt=name)


store = _written("store", "x, *path_and_value", _infer_store, _store)
"""`x[p0][p1]… = value`: a step is an index, a key, a `Field` or a `Viewed`."""
append = _written("append_item", "x, *path_and_value", _infer_append, _at("appended", 1))
"""`x[p0]….append(value)`"""
insert = _written(
    "insert_item", "x, *path_key_and_value", _infer_insert, _at("inserted", 2), "insert"
)
"""`x[p0]….insert(key, value)` of a list, `x[p0]…[key] = value` of a dictionary."""
drop = _written("drop", "x, *path_and_key", _infer_drop, _at("dropped", 1))
"""`del x[p0]…[key]`"""
overwrite = _written(
    "overwrite", "x, *path_and_value", _infer_overwrite, _at("overwrite", 1), "overwrite"
)
"""`x[...] = value` of an array, `x[:] = value` of a list; all entries of a dictionary, at a path too."""

# --- their pure counterparts --------------------------------------------------------------

stored = _counterpart("stored", "x, *path_and_value", _infer_store, _pure("stored"))
appended = _counterpart("appended", "x, *path_and_value", _infer_append, _pure("appended"))
inserted = _counterpart("inserted", "x, *path_key_and_value", _infer_insert, _pure("inserted"))
dropped = _counterpart("dropped", "x, *path_and_key", _infer_drop, _pure("dropped"))

for _op in (store, stored, overwrite):
    _op.shaped_like = 0

TAKING = frozenset((store, stored, append, appended, insert, inserted))
"""Writes that put a value, the last operand, into what they write to."""
OWN_OF = {stored: store, appended: append, inserted: insert, dropped: drop}
"""The pure writes with the program's own that do the same."""
OWN = frozenset((store, append, insert, drop, overwrite))
PURE = frozenset((stored, appended, inserted, dropped))

_AFTER_PATH = {
    **dict.fromkeys((store, stored, insert, inserted, overwrite), 2),
    **dict.fromkeys((append, appended, drop, dropped), 1),
}
"""How many operands come after the path to what a write changes."""


def path_of(eqn: Eqn) -> Sequence[Atom]:
    """The steps that lead from the first operand of a write to what it changes."""
    if eqn.op is add_at:
        return eqn.args[1:-2]
    count = _AFTER_PATH.get(eqn.op, 0)
    return eqn.args[1:-count] if count else ()


def holder(eqn: Eqn) -> Kind:
    """The kind of what a write changes: of the array, list or object where its path ends."""
    kind, path = kind_of_atom(eqn.args[0]), path_of(eqn)
    for step in path:
        kind = kind_after(kind, step)
    # only arrays have views, and a part that is written to is an array again
    return ARRAY if kind == UNKNOWN and any(map(is_view, path)) else kind


def part_at(builder: Builder, x: Atom, path: Sequence[Atom]) -> Atom:
    """The part of a value that a path leads to."""
    for step in path:
        match step:
            case Const(value=Field(name=name)):
                x = builder.emit_with(getattr_, (x,), {"name": Const(name)})
            case Const(value=Viewed() as view):
                params: dict[str, Atom] = {name: Const(value) for name, value in view.options}
                x = builder.emit_with(view.op, (x,), params, view.namespace)
            case _:
                x = builder.emit(getitem, x, step)
    return x


def is_view(step: Atom) -> bool:
    """Whether a step leads to what an op makes of an array."""
    return isinstance(step, Const) and isinstance(step.value, Viewed)


def is_step(atom: Atom) -> bool:
    """Whether an operand of a write says how a path goes on, and is no value of the program."""
    return isinstance(atom, Const) and isinstance(atom.value, (Field, Viewed))


def kind_after(kind: Kind, step: Atom) -> Kind:
    """The kind of what one step leads to."""
    if is_view(step):
        return Array(kind.dtype) if isinstance(kind, Array) else ARRAY
    if isinstance(step, Const) and isinstance(step.value, Field):
        known = isinstance(kind, Struct) and step.value.name in kind.keys
        return kind.items[kind.keys.index(step.value.name)] if known else UNKNOWN  # type: ignore[union-attr]
    return getitem.infer((Var(kind), step), {})


# --- what derivatives need beside ---------------------------------------------------------


def _like_last(args: Args, params: Params) -> Kind:
    return gradient_kind(kind_of_atom(args[-1]))


def _summed(args: Args, params: Params) -> Kind:
    kind = kind_of_atom(args[0])
    return Array(kind.dtype, length_of(args[1])) if isinstance(kind, Array) else UNKNOWN


def _same_index(args: Args, params: Params) -> Kind:
    return INT if kind_of_atom(args[1]) == INT else UNKNOWN


snapshot = helper("snapshot", "x, *, unbound=False, parted=False", like_first)
"""The same value, in memory that nobody else writes to; `parted`: no two items of it are one object."""
duplicate = declare(
    "duplicate", "x, *, unbound=False, lying=False", infer=like_first, rt="snapshot"
)
"""The same value, in memory of its own, which may be written to; `lying`: an array has its strides."""
COPIES = frozenset((snapshot, duplicate))
for _op in COPIES:
    _op.shaped_like = 0
given_at = helper("given_at", "x_bar, *path_and_value", _like_last)
zeros_at = helper("zeros_at", "x, *path", UNKNOWN)
position = helper("position", "x, key", _same_index)
span_of = helper("span_of", "x, *path_and_value", UNKNOWN)
last_written = helper("last_written", "x, index", UNKNOWN)
copied_places = helper("copied_places", "value, target", Array("int64", 1))
"""Which entries of a value NumPy copies where it copies one part of an array to another, one by one."""
as_left = helper("as_left", "value_bar, x, index", like_first, fresh=False)
summed_to = helper("summed_to", "x_bar, shape", _summed, fresh=False)
spread_over = helper("spread_over", "value, x", UNKNOWN)
spread_from = helper("spread_from", "x_bar, value", _like_last, fresh=False)
accepts = helper("accepts", "x, *path_and_value", Other("None"), effect=True)
can_change = helper("can_change", "x", BOOL)

WRITES = OWN | PURE | {add_at}
"""Ops that change their first operand, in place or as a new value."""
DIFFERENTIABLE = OWN | PURE | COPIES | {given_at, as_left, spread_over, spread_from, summed_to}
"""Ops whose derivatives the passes write out: no row of the rule table could say them."""
