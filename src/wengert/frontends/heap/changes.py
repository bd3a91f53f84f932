"""Writes: to known objects, to run-time objects, and to what is part of one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.types import UNKNOWN, Array
from ...ops import identity as ident
from ...ops import memory as me
from ...ops import structure as st
from ..values import Items, Lost, Part, Place
from .aliases import link_holders, lose_aliases, may_be_one, may_be_part
from .current import now, part_at, read, what_happened
from .packing import keep, materialise, refuse_given
from .places import identities, in_whole, place_of
from .sharings import check_sharing
from .views import depth_of_path, steps_to_write, view_of, views_to

if TYPE_CHECKING:
    from ..interpreter import Interpreter

Write = Callable[[Var, tuple[Atom, ...]], Atom]


class ByIndex(Exception):
    """The items of what a loop walks over change: the program is read again, walking by index."""


def put(it: Interpreter, items: Items, content: Items) -> Items:
    """Say what a known object holds from now on."""
    place = place_of(it, items)
    refuse_given(it, place)
    _refuse_callers(it, place)
    keep(it, it.reading.copied.get(place, ()))
    content.place = place
    it.heap[place] = content
    if place.twin is not None:
        twin = place.twin.origin
        assert isinstance(twin, Items)
        it.heap[place.twin] = Items(twin.form, content.keys, content.values, twin.type, place.twin)
    lose_aliases(it, place, 1)
    return content


def _refuse_callers(it: Interpreter, place: Place) -> None:
    """Refuse to change what is known of an object that may be one of the caller's, who would not see it.

    Raises:
        NeedsWhole: the caller's object is to be given as one.
    """
    for other, below in it.reading.aliases.get(place, {}).items():
        if below > 0:
            continue
        refuse_given(it, other)
        home = other.origin if isinstance(other.origin, Var) else other.origin.home
        if home is not None and home in it.reading.inputs:
            raise it.unsupported(
                "this changes an object that may be one of several",
                "Change it where it is certain which object it is, or change a copy.",
            )


def update(it: Interpreter, var: Var, write: Write) -> None:
    """Write to a run-time object, or to what it is part of."""
    from ..outside import note_change

    whole, views = views_to(it, var)
    chosen = it.reading.choices.get(whole)
    if chosen is not None and it.reading.places.get(whole) not in it.heap:
        condition, first, second = chosen
        if isinstance(first, Var) and isinstance(second, Var):
            it.branch(
                condition,
                lambda: update(it, _viewed(it, first, views), write),
                lambda: update(it, _viewed(it, second, views), write),
            )
            return
        for outer in identities(it, first or second, own=True):
            may_be_one(it, place_of(it, whole), outer)
    root, steps = path_to(it, var)
    _refuse_hidden_view(it, root)
    _check_slices(it, var)
    note_change(it, root)
    for owner, deep in it.reading.put_into.get(root, ()):
        may_be_part(it, place_of(it, root), owner, deep)
    new = write(root, steps)
    assert isinstance(new, Var)
    new.name = new.name or root.name
    place = place_of(it, root)
    it.reading.places[new] = place
    it.heap[place] = new
    depth = depth_of_path(root.kind, steps) + 1
    it.reading.writes.setdefault(place, []).append((new.born, depth))
    check_sharing(it, place)
    for child, deep in it.reading.holding_unknown.get(place, ()):
        if depth > deep:
            may_be_part(it, place_of(it, child), place, deep)
    lose_aliases(it, place, depth)


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


def store(it: Interpreter, var: Var, step: Atom, value: Atom) -> None:
    """`var[step] = value`, or of an attribute."""

    def write(root: Var, steps: tuple[Atom, ...]) -> Atom:
        _let_go(it, root, (*steps, step))
        return it.emit(me.store, root, *steps, step, value)

    update(it, var, write)


def _let_go(it: Interpreter, root: Var, path: tuple[Atom, ...]) -> None:
    """What is kept at a path inside a run-time object is no part of it once another takes its place."""
    place = place_of(it, root)
    for child, part in list(it.heap.items()):
        whole, steps = in_whole(it, part) if isinstance(part, Part) else (None, ())
        if whole is not place or len(steps) < len(path):
            continue
        there = [_is_same_step(*pair) for pair in zip(path, steps, strict=False)]
        if all(there):
            inside: Atom = root
            for step in steps:
                inside = part_at(it, inside, step)
            if isinstance(inside, Var):
                it.reading.places[inside] = child
            it.heap[child] = inside
        elif False not in there:
            it.heap[child] = Lost("the container that holds it may have got another item there")


def _is_same_step(a: Atom, b: Atom) -> bool | None:
    """Whether two steps lead to one item; None where only the run knows."""
    if a is b or not (isinstance(a, Const) and isinstance(b, Const)):
        return True if a is b else None
    x, y = a.value, b.value
    if isinstance(x, slice) or isinstance(y, slice):
        return None
    if type(x) is int and type(y) is int and (x < 0) != (y < 0):
        return None  # it depends on how long the list is
    return bool(x == y)


def whole(it: Interpreter, var: Var, value: Atom) -> None:
    """Replace everything that an array or a list holds."""

    def write(root: Var, steps: tuple[Atom, ...]) -> Atom:
        if not steps:
            return it.emit(me.overwrite, root, value)
        everything = Const(... if isinstance(var.kind, Array) else slice(None))
        last = () if isinstance(steps[-1], Const) and isinstance(steps[-1].value, slice) else None
        where = steps if last is not None else (*steps, everything)
        _let_go(it, root, where)
        return it.emit(me.store, root, *where, value)

    update(it, var, write)


def changed(it: Interpreter, var: Var, own: Any, pure: Any, *args: Atom) -> None:
    """Apply a write that has a pure counterpart: to a whole object, or to a part of one."""

    def write(root: Var, steps: tuple[Atom, ...]) -> Atom:
        if not steps:
            return it.emit(own, root, *args)
        inner: Atom = root
        for step in steps:
            inner = part_at(it, inner, step)
        return it.emit(me.store, root, *steps, it.emit(pure, inner, *args))

    update(it, var, write)


def replaced(it: Interpreter, var: Var, new: Var) -> None:
    """A call has changed an object, or a part of one; `new` is what it is now."""

    def write(root: Var, steps: tuple[Atom, ...]) -> Atom:
        if not steps:
            return new
        last = (Const(...),) if isinstance(var.kind, Array) else ()
        return it.emit(me.store, root, *steps, *last, new)

    update(it, var, write)


def moved(it: Interpreter, var: Var) -> None:
    """The items of an object are no longer where they were."""
    place = it.reading.places.get(var) or place_of(it, path_to(it, var)[0])
    for other, content in list(it.heap.items()):
        if isinstance(content, Part) and content.place is place:
            it.heap[other] = Lost("it was moved inside the container that holds it")


def path_to(it: Interpreter, var: Var) -> tuple[Var, tuple[Atom, ...]]:
    """The run-time object that a value is part of, as it is now, and the steps that lead to it."""
    whose = it.reading.stands_for.get(var)
    if whose is not None:
        replaced, _ = what_happened(it, whose)
        if replaced:
            raise it.unsupported(
                "a part of a container is changed after the container got other items",
                "Take the item out again where it is changed.",
            )
        return path_to(it, whose)
    place = it.reading.places.get(var)
    if place is not None:
        content = it.heap.get(place)
        if isinstance(content, Part):
            return _path_of_part(it, content)
        if content is None:
            _refuse_unfollowed(it, var)
        current = var if content is None else read(it, place, content, var)
        assert isinstance(current, Var), "a run-time object has become a known one"
        return current, ()
    eqn = view_of(it, var)
    if eqn is None:
        _refuse_unfollowed(it, var)
        return var, ()
    base = eqn.args[0]
    assert isinstance(base, Var)
    root, steps = path_to(it, base)
    return root, (*steps, *steps_to_write(it, eqn))


def _path_of_part(it: Interpreter, part: Part) -> tuple[Var, tuple[Atom, ...]]:
    origin = part.place.origin
    owner = now(it, origin)
    root, steps = path_to(it, owner if isinstance(owner, Var) else materialise(it, owner))  # type: ignore[arg-type]
    return root, (*steps, *part.steps)


def _refuse_unfollowed(it: Interpreter, var: Var) -> None:
    """Refuse to change what may be an object that something else refers to."""
    from ..sharing import roots

    if var in it.reading.elements:
        it.reading.by_index.add(it.reading.elements[var])
        raise ByIndex
    link_holders(it, var)
    found = roots(it, var)
    keys = set[Any]()
    for place in it.reading.aliases.get(it.reading.places.get(var), ()):  # type: ignore[call-overload]
        keys |= it.reading.packed_at.get(place, set())
        if isinstance(place.origin, Var):
            found.add(place.origin)
    keep(it, keys | {it.reading.copies[root] for root in found if root in it.reading.copies})


def is_of_copy(it: Interpreter, var: Var) -> bool:
    """Whether a value was read from a copy of a known container, made to be read at run time."""
    from ..sharing import roots

    return not roots(it, views_to(it, var)[0]).isdisjoint(it.reading.copies)


def _viewed(it: Interpreter, base: Var, views: Sequence[Eqn]) -> Var:
    """What equations lead to, from another object."""
    for eqn in views:
        part = it.builder.emit_with(
            eqn.op, (it.atom(base), *eqn.args[1:]), eqn.params, eqn.namespace
        )
        assert isinstance(part, Var)
        base = part
    return base


def _check_slices(it: Interpreter, var: Var) -> None:
    """Have it checked that what slices were taken of is an array: a slice of a list is a copy."""
    _, views = views_to(it, var)
    for eqn in views:
        unknown = eqn.op is st.getitem and kind_of_atom(eqn.args[0]) == UNKNOWN
        if unknown and str(kind_of_atom(eqn.args[1])) == "slice":
            it.emit(ident.of_array, eqn.outs[0])
