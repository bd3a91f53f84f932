"""Writes: to known objects, to run-time objects, and to what is part of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var, births
from ...ir.types import UNKNOWN, Array, Seq, Struct
from ...ops import structure as st
from ...ops.program import identity as ident, memory as me
from ..domain.values import Items, ObjectId
from ..domain.whereabouts import Part, Write
from ..machine.interpreter import Interpreter
from .aliases import (
    deeper_than,
    holds_mutable,
    may_be,
    may_be_one,
    may_be_part,
    sharing,
    stands_for,
)
from .globals_state import note_change, note_change_of
from .homes import is_there, spot_of, that_may_stay
from .layouts import tell_apart, warn_of_write
from .overlaps import may_overlap
from .packing import refuse_callers_object
from .paths import may_lead_to_one, moved, path_to
from .places import content_in, identities, in_whole, keep, place_of, refuse_given
from .releasing import release
from .sharings import check_sharing, depth_of, lose_aliases, may_be_held, note_items, settle_before
from .views import (
    depth_inside,
    depth_of_path,
    is_split,
    makes_array_of_number,
    may_be_number,
    meet,
    ways_to,
)

Change = Callable[[Var, tuple[Atom, ...]], Atom]


def put(it: Interpreter, items: Items, content: Items) -> Items:
    """Say what a known object holds from now on."""
    place = place_of(it, items)
    refuse_callers_object(it, place)
    keep(it, it.reading.copied.get(place, ()))
    content.place = place
    it.heap[place] = content
    if place.twin is not None:
        twin = place.twin.origin
        assert isinstance(twin, Items)
        it.heap[place.twin] = Items(twin.form, content.keys, content.values, twin.type, place.twin)
        lose_aliases(it, place.twin, 1)
    lose_aliases(it, place, 1)
    return content


def update(
    it: Interpreter,
    var: Var,
    write: Change,
    step: Atom | None = None,
    *,
    keeps: bool = False,
    deeper: int = 0,
) -> None:
    """Write to a run-time object, or to what it is part of.

    `step` leads to the item that is replaced, where it is one; `keeps` says that none is. `deeper` says through how
    many containers in it there may be changes as well.
    """
    tell_apart(it, var)
    again = lambda each: update(it, each, write, step, keeps=keeps, deeper=deeper)
    if _on_each_of_two(it, var, again):
        return
    root, steps = path_to(it, var)
    _refuse_hidden_view(it, root)
    _refuse_records(it, root)
    if steps and is_split(steps[-1]):
        raise it.unsupported(
            "the list that NumPy split an array into gets other items",
            "Make a list of your own: `[part for part in np.split(a, 2)]`.",
        )
    check_views(it, var)
    note_change(it, root)
    for held in it.reading.put_into.get(root, ()):
        may_be_part(it, place_of(it, root), held.part.place, len(held.part.steps))
        # what is nearest may be an object of an iteration that has passed
        may_be_part(it, place_of(it, root), held.whole, len(held.steps))
    path = steps if step is None else (*steps, step)
    depth = depth_of_path(root.kind, steps) + 1 + deeper
    if depth > 1:  # what it holds may be a part of a copy
        keep(it, it.reading.holding_copies.get(place_of(it, root), ()))
    settle_before(it, place_of(it, root), path, depth)
    # an array refers to nothing: what was a view of the elements that are written stays one
    replaces = step is not None and not isinstance(var.kind, Array)
    left = release(it, place_of(it, root), path) if replaces else None
    place, new = _with_new_version(it, root, write(root, steps))
    it.reading.writes.setdefault(place, []).append(Write(new.born, depth, path, keeps, it.builder))
    _note_of_parts(it, place, it.reading.writes[place][-1], inside=step is None)
    if left is not None:
        it.reading.left[new.born] = left
    for each in (place, it.reading.left_from.get(place)):
        if each is not None:
            check_sharing(it, each)
    for held in it.reading.holding_unknown.get(place, ()):
        if depth > depth_of(held):
            for each in may_be_held(it, held):
                may_be_part(it, each, place, depth_of(held))
    lose_aliases(it, place, depth)


def _with_new_version(it: Interpreter, root: Var, new: Atom) -> tuple[ObjectId, Var]:
    """A run-time object, and what it is from now on."""
    place = place_of(it, root)
    if it.reading.places.get(new, place) is not place:  # type: ignore[arg-type]
        # what a call has given is one object or another: on each path it has a name of its own
        new = it.builder.emit_with(st.bound, [new], {"name": Const(root.name or "it")})
    assert isinstance(new, Var)
    new.name = new.name or root.name
    it.reading.places[new] = place
    it.heap[place] = new
    return place, new


def _on_each_of_two(it: Interpreter, var: Var, change: Callable[[Var], None]) -> bool:
    """Change what is one of two objects, or a part of one: whichever it is. Gives whether it is."""
    whole, views = ways_to(it, var)
    chosen = it.reading.choices.get(whole)
    if chosen is None or it.reading.places.get(whole) in it.heap:
        return False
    condition, first, second = chosen
    if isinstance(first, Var) and isinstance(second, Var):

        def change_one(each: Var) -> None:
            warn_of_write(it, each)
            change(_viewed(it, each, views))

        it.branch(condition, lambda: change_one(first), lambda: change_one(second))
        return True
    stands_for(it, place_of(it, whole), identities(it, first or second, own=True))
    return False


def _note_of_parts(it: Interpreter, owner: ObjectId, write: Write, *, inside: bool) -> None:
    """A write to an object is one to the parts of it that it goes through; `inside` says to which it goes."""
    for place, content in list(it.heap.items()):
        whole, steps = in_whole(it, content) if isinstance(content, Part) else (None, ())
        count = len(steps)
        if whole is not owner or count > len(write.path) - (not inside):
            continue
        if meet(write.path[:count], steps):
            refuse_given(it, place)
            note_change_of(it, place)
            own = Write(
                write.born, write.depth - count, write.path[count:], write.keeps, it.builder
            )
            it.reading.writes.setdefault(place, []).append(own)
            lose_aliases(it, place, own.depth)


def _refuse_hidden_view(it: Interpreter, root: Var) -> None:
    """Refuse to write to what shares memory with an array in a way that is not followed.

    Raises:
        UnsupportedSyntax: naming the function that made it.
    """
    made = it.builder.visible_definition(root)
    if made is None:
        return
    name = getattr(made.op.implementation, "__name__", "")
    if made.op.name == "einsum_1" or (made.namespace == "call" and name == "as_strided"):
        raise it.unsupported(
            "this may write to another array, through the view of it that a function made",
            "Write to the array itself, by an index.",
        )


def _refuse_records(it: Interpreter, root: Var) -> None:
    if isinstance(root.kind, Array) and root.kind.dtype.startswith("void"):
        raise it.unsupported(
            "an array of records cannot be differentiated, and this changes one",
            "Use one array for each field, or a dictionary of arrays.",
        )


def store(it: Interpreter, var: Var, step: Atom, value: Atom) -> None:
    """`var[step] = value`, or of an attribute."""
    if is_there(it, var, step, value):
        return
    if isinstance(var.kind, Array) and may_overlap(it, var, step, value):
        part = it.emit(st.getitem, var, step)
        value = it.emit(st.getitem, value, it.emit(me.copied_places, value, part))
    may_stay = that_may_stay(it, var, step, value)
    write = lambda root, steps: it.emit(me.store, root, *steps, step, value)
    update(it, var, write, step)
    if may_stay is not None and isinstance(value, Var):
        may_be_one(it, may_stay, place_of(it, value))


def changes_inside(it: Interpreter, var: Var, step: Atom, item: Atom) -> None:
    """An item of unknown kind gets another value: if it is an array, it is changed itself instead.

    That matters if something else refers to it.
    """
    if _on_each_of_two(it, var, lambda each: changes_inside(it, each, step, item)):
        return
    root, steps = path_to(it, var)
    place, depth = place_of(it, root), depth_of_path(root.kind, steps) + 2
    write = Write(next(births), depth, (*steps, step), True, it.builder)
    it.reading.changed_inside.setdefault(place, []).append(write)
    check_sharing(it, place)
    others = [*deeper_than(it, place, depth), *_held_along(it, place, (*steps, step))]
    if any(_may_be_item(it, other, step) for other in others):
        it.emit(ident.rebound, item, var)


def _held_along(it: Interpreter, owner: ObjectId, path: tuple[Atom, ...]) -> list[ObjectId]:
    """The values that may be objects, were put where a path leads in an object, and have a name."""
    from .sharing import is_named

    return [
        place_of(it, held.value)
        for held in it.reading.holding_unknown.get(owner, ())
        if len(held.steps) >= len(path) and may_lead_to_one(path, held.steps)
        if is_named(it, held.value, may_be_held(it, held))
    ]


def loses_lists(it: Interpreter, var: Var) -> bool:
    """Whether a change of a value would lose lists or known objects, for which no check can vouch."""
    root, steps = path_to(it, var)
    lost = deeper_than(it, place_of(it, root), depth_of_path(root.kind, steps) + 1)
    contents = [content_in(it.heap, each) for each in lost]
    return any(isinstance(getattr(each, "kind", each), (Items, Seq, Struct)) for each in contents)


def _may_be_item(it: Interpreter, other: ObjectId, step: Atom) -> bool:
    """Whether an object may be an item: what the item is reached by is none."""
    keys = identities(it, step, own=True)
    return keys.isdisjoint({other, *may_be(it, other)})


def whole(it: Interpreter, var: Var, value: Atom, *, keeps: bool = False) -> None:
    """Replace everything that an array or a list holds; `keeps` says that what was there stays there."""

    def write(root: Var, steps: tuple[Atom, ...]) -> Atom:
        if not steps:
            return it.emit(me.overwrite, root, value)
        everything = Const(... if isinstance(var.kind, Array) else slice(None))
        last = () if isinstance(steps[-1], Const) and isinstance(steps[-1].value, slice) else None
        where = steps if last is not None else (*steps, everything)
        if not keeps:
            release(it, place_of(it, root), where)
        return it.emit(me.store, root, *where, value)

    update(it, var, write, keeps=keeps)
    if isinstance(value, Var) and not isinstance(var.kind, Array):
        hold_items(it, var, value)


def refill(it: Interpreter, var: Var, value: Atom) -> None:
    """Replace everything that a dictionary or a set holds: it stays the object that it is."""
    moved(it, var)
    update(it, var, lambda root, steps: it.emit(me.overwrite, root, *steps, value))
    if isinstance(value, Var):
        hold_items(it, var, value)


def hold_items(it: Interpreter, var: Var, source: Var) -> None:
    """Note that a run-time container now holds what another one holds."""
    if spot_of(it, source).path or len(sharing(it, place_of(it, source))) > 1:
        note_items(it, source, var)


def store_items(it: Interpreter, var: Var, part: Atom, items: Atom) -> None:
    """`var[part] = items` of lists: what they hold is held from then on, not the list `items`."""
    assert isinstance(items, Var)
    store(it, var, part, items)
    if not holds_mutable(items.kind):
        return
    note_items(it, items, var)


def changed(
    it: Interpreter, var: Var, own: Any, pure: Any, *args: Atom, keeps: bool = False
) -> None:
    """Apply a write that has a pure counterpart: to a whole object, or to a part of one."""

    def write(root: Var, steps: tuple[Atom, ...]) -> Atom:
        if not steps:
            return it.emit(own, root, *args)
        inner = me.part_at(it.builder, root, steps)
        return it.emit(me.store, root, *steps, it.emit(pure, inner, *args))

    update(it, var, write, keeps=keeps)


def replaced(it: Interpreter, var: Var, new: Var) -> None:
    """A call has changed an object, or a part of one, and may have moved its items; `new` is what it is now."""
    if not isinstance(var.kind, Array):
        moved(it, var)

    def write(root: Var, steps: tuple[Atom, ...]) -> Atom:
        if not steps:
            return new
        last = (Const(...),) if isinstance(var.kind, Array) else ()
        return it.emit(me.store, root, *steps, *last, new)

    update(it, var, write, deeper=depth_inside(var.kind))


def _viewed(it: Interpreter, base: Var, views: Sequence[Eqn]) -> Var:
    """What equations lead to, from another object."""
    for eqn in views:
        part = it.builder.emit_with(
            eqn.op, (it.atom(base), *eqn.args[1:]), eqn.params, eqn.namespace
        )
        assert isinstance(part, Var)
        base = part
    return base


def check_views(it: Interpreter, var: Var) -> None:
    """Have it checked that what is changed is a view: a slice of a list is a copy, and of a number there are none."""
    _, views = ways_to(it, var)
    for eqn in views:
        kind = kind_of_atom(eqn.args[0])
        sliced = eqn.op is st.getitem and str(kind_of_atom(eqn.args[1])) == "slice"
        if kind == UNKNOWN and sliced:
            it.emit(ident.of_array, eqn.outs[0])
        elif may_be_number(it, eqn.args[0]) and makes_array_of_number(eqn):
            it.emit(ident.no_view_of_number, eqn.args[0])
