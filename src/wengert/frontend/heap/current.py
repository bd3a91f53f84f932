"""What things are now: a name keeps the value that it was bound to, and the heap knows what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Block, Const, Eqn, Var
from ...ir.records import replace
from ...ir.types import UNKNOWN, Array, Map, Number, Other, Seq, Static, Struct, join
from ...ops import structure as st
from ...ops.program import identity as ident, memory as me
from ..domain.values import Items, LazyIterable, Maybe, ObjectId, Value, flatten
from ..domain.whereabouts import Part, Untracked, Write
from ..machine.interpreter import Interpreter
from .aliases import may_be_part, refuse_stale, share_what_left, stands_for
from .layouts import by_any_index, is_part, is_view, may_be_copy
from .places import Content, identities, known_place, may_hold_twice, note_left, place_of
from .views import (
    SPLITTING,
    depth_of_path,
    is_slice,
    lead_to_one,
    meet,
    steps_of,
    view_of,
    views_to,
    ways_to,
)


def now(it: Interpreter, value: Value) -> Value:
    """What a value refers to, as it is at this point of the program."""
    if not it.heap:
        return value
    match value:
        case Items():
            return _items_now(it, value)
        case Var():
            return _var_now(it, value)
        case Maybe(value=inner, witness=witness):
            current = now(it, inner)
            return value if current is inner else Maybe(current, _witness(inner, current, witness))
        case LazyIterable(parts=parts):
            return replace(value, parts=tuple(now(it, part) for part in parts))
        case _:
            return value


def _witness(before: Value, value: Value, witness: Var) -> Var:
    leaf = next(flatten(value), None)
    return leaf if isinstance(leaf, Var) and next(flatten(before), None) is witness else witness


def _items_now(it: Interpreter, items: Items) -> Value:
    if items.place is not None and items.place in it.heap:
        content = it.heap[items.place]
        return read(it, items.place, content, items)
    if items.home is not None:
        return _opened_now(it, items, items.home)
    return _with_items_now(it, items)


def _opened_now(it: Interpreter, items: Items, home: Var) -> Value:
    current = _var_now(it, home)
    if current is home or not isinstance(current, Var):
        return _with_items_now(it, items)
    return _taken(it, current, items)


def _with_items_now(it: Interpreter, items: Items) -> Items:
    values = [now(it, value) for value in items.values]
    if all(a is b for a, b in zip(values, items.values, strict=True)):
        return items
    if items.form in ("function", "derivative", "tuple", "namedtuple", "star"):
        return items.holding(values)
    place_of(it, items)
    return items.holding(values)


def read(it: Interpreter, place: ObjectId, content: Content, like: Value) -> Value:
    match content:
        case Untracked() if isinstance(like, Var) and like.kind == UNKNOWN and it.asking:
            it.emit(ident.unchanging, like, Const(0))
            return like
        case Untracked(reason=reason, way_out=way_out):
            raise it.unsupported(f"it is not known what this object holds: {reason}", way_out)
        case Part():
            return _taken(it, part_of(it, content), like)
        case Items():
            if place in it.looking:  # it refers to itself: whoever reads the inner one asks again
                return content
            it.looking.add(place)
            try:
                return _with_items_now(it, content)
            finally:
                it.looking.remove(place)
        case Var():
            return _taken(it, content, like)
        case _:
            return content


def starts(it: Interpreter) -> dict[ObjectId, Content]:
    """What objects held that functions of solvers have changed since."""
    return {
        place: content.start
        for place, content in it.heap.items()
        if isinstance(content, Untracked)
        and content.start is not None
        and all(_is_visible(it, atom) for atom in flatten(content.start))
    }


def _is_visible(it: Interpreter, atom: Atom) -> bool:
    known = isinstance(atom, Const) or it.builder.visible_definition(atom) is not None
    return known or atom in it.reading.inputs


def _taken(it: Interpreter, var: Value, like: Value) -> Value:
    """A run-time value, taken apart if it stands for what was known before."""
    if not isinstance(like, Items):
        return var
    opened = it.open_up(var)
    if isinstance(opened, Items):
        opened.place = opened.place or like.place
    return opened


def part_of(it: Interpreter, part: Part) -> Value:
    """An object inside a run-time object."""
    return me.part_at(it.builder, one_value(it, now(it, part.place.origin)), part.steps)


def one_value(it: Interpreter, current: Value) -> Atom:
    """What `now` has found, as one run-time value."""
    return current if isinstance(current, (Var, Const)) else it.atom(current)


def _var_now(it: Interpreter, var: Var) -> Value:
    place = known_place(it, var)
    content = None if place is None else it.heap.get(place)
    if place is not None and content is not None:
        return var if content is var else read(it, place, content, var)
    if isinstance(var.kind, (Number, Other, Static)):
        return var
    refuse_stale(it, var)
    whose, chosen = it.reading.stands_for.get(var), it.reading.choices.get(var)
    if whose is not None:
        changed = any(what_happened(it, whose, var.born)) or _is_lost(it, whose)
        return _var_now(it, whose) if changed else var
    if place is not None:
        return var if chosen is None else _choice_now(it, var, chosen)
    if chosen is not None:
        return _choice_now(it, var, chosen)
    eqn = view_of(it, var)
    if eqn is None:
        return var
    base = eqn.args[0]
    assert isinstance(base, Var)
    current = _var_now(it, base)
    if current is base:
        return var
    if has_left(it, var):
        return _var_now(it, var)
    return _seen_again(it, var, eqn, one_value(it, current))


def _seen_again(it: Interpreter, var: Var, eqn: Eqn, base: Atom) -> Value:
    """A view or a part of something that has changed, taken again.

    What a container refers to stays what it is when the container refers to something else.
    """

    def again() -> Atom:
        args = (base, *eqn.args[1:])
        # a list that has changed may have other items than it had
        kind = None if isinstance(var.kind, (Seq, Map, Struct)) else var.kind
        part = it.builder.emit_with(eqn.op, args, eqn.params, eqn.namespace, var.name, kind)
        for alike in (it.reading.surely_views, it.reading.walks_over):
            if var in alike and isinstance(part, Var):
                alike.add(part)
        return part

    if _may_have_changed_where_it_stays(it, var):
        it.emit(ident.gone, var, base)
    replaced, changed = what_happened(it, var)
    whole = kind_of_atom(eqn.args[0])
    unknown = UNKNOWN in (whole, kind_of_atom(var)) and eqn.op.name not in SPLITTING
    part_of_array = isinstance(whole, Array)  # which refers to no objects that could be others now
    if not changed and whole != UNKNOWN and not (replaced and part_of_array):
        return var
    if not unknown and (part_of_array or not replaced):
        return _chosen(it, var, is_view(it, eqn), again) if may_be_copy(it, eqn) else again()
    if not unknown:
        raise it.unsupported(
            "a part of a container is used after the container got other items, and items changed",
            "Take the item out again where it is used.",
        )
    if may_be_copy(it, eqn):
        return _chosen(it, var, is_view(it, eqn), again)
    copied = eqn.op is st.getitem and is_slice(eqn.args[1])  # if it is a list
    if changed and not copied and not replaced:
        changeable = is_part(it, eqn) if by_any_index(eqn) else it.emit(ident.changes, var)
    else:
        by_view = by_any_index(eqn)
        changeable = is_view(it, eqn) if by_view else it.emit(ident.is_view_of, var, base)
        if changed and not copied:
            it.emit(ident.in_place, var, base)
        elif copied and _items_changed(it, var):
            it.emit(ident.no_shared_items, var)
    return _chosen(it, var, changeable, again)


def _chosen(it: Interpreter, var: Var, condition: Atom, again: Callable[[], Atom]) -> Var:
    """A part of something as it is now if it changes with it, and otherwise as it was."""
    outer, out = it.builder, Var(var.kind, var.name, var.shape_of)
    with it.catching.quiet():  # what could be taken once can be taken again
        with it.within(outer.child()):
            then = it.builder.block((), [again()])
        outer.if_(condition, then, Block((), (), (var,)), [out])
    it.reading.stands_for[out] = var
    _note_what_left(it, out, var)
    return out


def _note_what_left(it: Interpreter, out: Var, var: Var) -> None:
    """What stands for a part may be, or be in, an object that has left its container since the part was taken."""
    root, path, depth, taken = _way_to(it, var)
    for write in _writes_to(it, root, path, taken):
        left = it.reading.left.get(write.born)
        if left is not None and _replaces(depth, write):
            may_be_part(it, place_of(it, out), left, depth - write.depth)


def _is_lost(it: Interpreter, var: Var) -> bool:
    """Whether what holds a value may have changed in a way that is not followed."""
    root, _ = ways_to(it, var)
    return any(isinstance(it.heap.get(place), Untracked) for place in identities(it, root))


def what_happened(it: Interpreter, var: Var, after: int = -1) -> tuple[bool, bool]:
    """Whether containers that lead to a part have got other items, and whether the part itself changed.

    `after` says since when; if it is left out, since the part was taken.
    """
    root, path, depth, taken = _way_to(it, var)
    after = max(after, taken)
    since = _writes_to(it, root, path, after)
    inside = [*since, *_writes_to(it, root, path, after, it.reading.changed_inside)]
    replaced = [write for write in since if _replaces(depth, write)]
    changed = any(w.depth > depth for w in inside) or _has_changed_elsewhere(it, root, replaced)
    return bool(replaced), changed


def _items_changed(it: Interpreter, var: Var) -> bool:
    """Whether what a container held has changed since a slice of it was taken, not only what it holds."""
    root, path, depth, taken = _way_to(it, var)
    among = it.reading.writes, it.reading.changed_inside
    inside = (write for each in among for write in _writes_to(it, root, path, taken, each))
    return any(write.depth > depth + 1 for write in inside)


def _has_changed_elsewhere(it: Interpreter, root: Var, replaced: Sequence[Write]) -> bool:
    """Whether something has changed that what was replaced may be: in another place of its container, or outside."""
    owners = identities(it, root, own=True)
    for first in replaced[:1]:
        left = (place for place, owner in it.reading.left_from.items() if owner in owners)
        outside = (write for place in left for write in it.reading.writes.get(place, ()))
        if any(write.born > first.born for write in outside):
            return True
        inside = _writes_to(it, root, list(first.path), first.born)
        return any(write.depth > first.depth for write in inside)
    return False


def has_left(it: Interpreter, var: Var) -> bool:
    """Whether a part is an object of its own by now: its container refers to something else since then."""
    root, path, depth, taken = _way_to(it, var)
    since = _writes_to(it, root, path, taken) if len(identities(it, root)) == 1 else []
    number = next((k for k, write in enumerate(since) if _replaces(depth, write)), None)
    if number is None or any(write.depth > depth for write in since[:number]):
        return False
    first, made = since[number], it.builder.definition(var)
    if not lead_to_one(first.path, path) or first.builder is not it.builder or made is None:
        return False
    if made.op is st.getitem and kind_of_atom(made.args[0]) == UNKNOWN:
        return False  # an array does not refer to its rows
    left = it.reading.left.setdefault(first.born, ObjectId(var))
    it.reading.places[var] = left
    if isinstance(it.heap.get(left), Part):
        return True  # it is in another place of the container
    note_left(it, left, place_of(it, root))
    share_what_left(it, left, place_of(it, root), depth)
    owner = it.reading.left_in_doubt.get(left)
    if owner is not None and _changed_inside_since(it, owner, first):
        it.emit(ident.gone, var, one_value(it, now(it, owner.origin)))
    return True


def _may_have_changed_where_it_stays(it: Interpreter, var: Var) -> bool:
    """Whether a part that was replaced in its container may be in another place of it, and have changed there."""
    root, path, depth, taken = _way_to(it, var)
    replaced = [write for write in _writes_to(it, root, path, taken) if _replaces(depth, write)]
    return any(
        may_hold_twice(it, owner) and _changed_inside_since(it, owner, replaced[0])
        for owner in identities(it, root, own=True)
        if replaced
    )


def _changed_inside_since(it: Interpreter, owner: ObjectId, write: Write) -> bool:
    """Whether what a container holds has changed since a write to it, and not only which objects it holds."""
    later = it.reading.writes.get(owner, ())
    return any(each.born > write.born and each.depth > write.depth for each in later)


def _replaces(depth: int, write: Write) -> bool:
    return write.depth <= depth and not write.keeps


def _way_to(it: Interpreter, var: Var) -> tuple[Var, list[Atom], int, int]:
    """The object that a value is part of, the steps to it, through how many containers they go, and since when."""
    taken = views_to(it, var)[0].born
    root, views = ways_to(it, var)
    path = [step for eqn in views for step in steps_of(eqn)]
    return root, path, depth_of_path(root.kind, path), taken


def _writes_to(
    it: Interpreter,
    root: Var,
    path: list[Atom],
    after: int,
    among: Mapping[Any, list[Write]] | None = None,
) -> list[Write]:
    """The writes to what a path leads to, or through, since its object was what it was then."""
    return [
        write
        for place in identities(it, root)
        for write in (it.reading.writes if among is None else among).get(place, ())
        if write.born > after and meet(write.path, path)
    ]


def _choice_now(it: Interpreter, var: Var, chosen: tuple[Atom, Atom | None, Atom | None]) -> Value:
    condition, *objects = chosen
    current = [var if each is None else now(it, each) for each in objects]
    if all(each is None or each is c for each, c in zip(objects, current, strict=True)):
        return var
    first, second = (one_value(it, each) for each in current)
    out = Var(join(kind_of_atom(first), kind_of_atom(second)), var.name)
    it.builder.if_(condition, Block((), (), (first,)), Block((), (), (second,)), [out])
    first_object = None if objects[0] is None else first
    second_object = None if objects[1] is None else second
    it.reading.choices[out] = (condition, first_object, second_object)
    if None in objects:  # it may be what the value itself may be
        stands_for(it, place_of(it, out), identities(it, var, own=True))
    return out


def opened(it: Interpreter, value: Value) -> Value:
    """A value as it is now, taken apart where its structure is known."""
    if isinstance(value, Var) and isinstance(value.kind, Struct):
        value = it.open_up(value)
    return now(it, value)
