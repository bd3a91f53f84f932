"""The heap: what the objects that the program changes hold now.

The IR has no memory: a write takes the old version of a value and gives the new one. A name keeps
referring to an object by the value it was bound to; `now` finds what that object has become. Objects
that never change are not on the heap.

An object is either *known* (its items are values of the front end, and changing it emits nothing) or a
run-time value, which is changed by an equation. Views, rows and items of run-time values are not on
the heap either: they are read again, and written through what they are part of.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..ir.builder import kind_of_atom
from ..ir.graph import Atom, Block, Const, Eqn, Var
from ..ir.types import UNKNOWN, Array, Kind, Number, Other, Seq, Static, Struct, Unknown, join
from ..ops import identity as ident
from ..ops import memory as me
from ..ops import structure as st
from .values import (
    Choice,
    Items,
    Iteration,
    Lost,
    Maybe,
    ObjectKey,
    Part,
    Place,
    Value,
    flatten,
    is_mutable,
    kind_of_value,
)

if TYPE_CHECKING:
    from .interpreter import Interpreter

Content = Value | Part | Lost
Heap = dict[Place, Content]


class ByIndex(Exception):
    """The items of what a loop walks over change: the program is read again, walking by index."""


class SharedItems(Exception):
    """What two containers (or two places of one) hold changes: it is read again, with checks."""


class NeedsWhole(Exception):
    """The program changes a container that it is given: it is read again with the object itself."""


# --- what things are now ------------------------------------------------------------------


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
        case Iteration(form=form, parts=parts, function=function):
            return Iteration(form, tuple(now(it, part) for part in parts), function)
        case _:
            return value


def _witness(before: Value, value: Value, witness: Var) -> Var:
    leaf = next(flatten(value), None)
    return leaf if isinstance(leaf, Var) and next(flatten(before), None) is witness else witness


def _items_now(it: Interpreter, items: Items) -> Value:
    if items.place is not None and items.place.choice is not None:
        return _merged_now(it, items, items.place.choice)
    if items.place is not None and items.place in it.heap:
        content = it.heap[items.place]
        return _read(it, items.place, content, items)
    if items.home is not None:
        return _opened_now(it, items, items.home)
    return _with_items_now(it, items)


def _merged_now(it: Interpreter, items: Items, choice: Choice) -> Value:
    first, second = now(it, choice.first), now(it, choice.second)
    if first is choice.seen[0] and second is choice.seen[1]:
        return items
    return it.choose(choice.condition, lambda: first, lambda: second)


def _read(it: Interpreter, place: Place, content: Content, like: Value) -> Value:
    match content:
        case Lost(reason=reason):
            raise it.unsupported(
                f"it is not known what this object holds: {reason}",
                "Change a copy, or return the new value and bind it to a name.",
            )
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


def _taken(it: Interpreter, var: Value, like: Value) -> Value:
    """A run-time value, taken apart if it stands for what was known before."""
    from .expressions import open_up

    if not isinstance(like, Items):
        return var
    opened = open_up(it, var)
    if isinstance(opened, Items):
        opened.place = opened.place or like.place
    return opened


def part_of(it: Interpreter, part: Part) -> Value:
    """An object inside a run-time object."""
    return _step(it, _one_value(it, now(it, part.place.origin)), part.step)


def _one_value(it: Interpreter, current: Value) -> Atom:
    """What `now` has found, as one run-time value."""
    return current if isinstance(current, Var | Const) else it.atom(current)


def _step(it: Interpreter, owner: Atom, step: Atom) -> Atom:
    if isinstance(step, Const) and isinstance(step.value, me.Field):
        return it.builder.emit_with(st.getattr_, (owner,), {"name": Const(step.value.name)})
    return it.emit(st.getitem, owner, step)


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


def _var_now(it: Interpreter, var: Var) -> Value:
    place = it.reading.places.get(var)
    content = None if place is None else it.heap.get(place)
    if place is not None and content is not None:
        return var if content is var else _read(it, place, content, var)
    if isinstance(var.kind, Number | Other | Static):
        return var
    _refuse_stale(it, var)
    chosen = it.reading.choices.get(var)
    if place is not None:
        return var if chosen is None else _choice_now(it, var, chosen)
    whose = it.reading.stands_for.get(var)
    if whose is not None:
        return var if not any(_what_happened(it, whose, var.born)) else _var_now(it, whose)
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
    return _seen_again(it, var, eqn, _one_value(it, current))


def _seen_again(it: Interpreter, var: Var, eqn: Eqn, base: Atom) -> Value:
    """A view or a part of something that has changed, taken again.

    What a container refers to stays what it is when the container refers to something else.
    """

    def again() -> Atom:
        args = (base, *eqn.args[1:])
        return it.builder.emit_with(
            eqn.op, args, eqn.params, eqn.namespace, var.name, kind_of_atom(var)
        )

    replaced, changed = _what_happened(it, var)
    unknown = kind_of_atom(var) == UNKNOWN
    if not changed and not (unknown and eqn.args[0].kind == UNKNOWN):  # type: ignore[union-attr]
        return var
    if not unknown and not replaced:
        return again()
    if not unknown:
        raise it.unsupported(
            "a part of a container is used after the container got other items, and items changed",
            "Take the item out again where it is used.",
        )
    copied = eqn.op is st.getitem and _is_slice(eqn.args[1])  # if it is a list
    changeable = it.emit(me.can_change if changed and not copied else ident.is_view, var)
    outer = it.builder
    it.builder = outer.child()
    then = it.builder.block((), [again()])
    it.builder = outer
    out = Var(UNKNOWN, var.name)
    outer.if_(changeable, then, Block((), (), (var,)), [out])
    it.reading.stands_for[out] = var
    return out


def _what_happened(it: Interpreter, var: Var, after: int = -1) -> tuple[bool, bool]:
    """Whether containers that lead to a part have got other items, and whether the part itself changed.

    `after` says since when; if it is left out, since the part was taken.
    """
    root, views = _views_to(it, var)
    depth = _depth_of(root, views)
    start = max(after, root.born)
    since = [
        d
        for place in identities(it, root)
        for born, d in it.reading.writes.get(place, ())
        if born > start
    ]
    return any(d <= depth for d in since), any(d > depth for d in since)


def _depth(kind: Kind, steps: Sequence[Atom]) -> int:
    """How many containers a path goes through before it comes to an array.

    A slice of something unknown is a view, if it is one of an array, or else a copy: no step.
    """
    count = 0
    for step in steps:
        only_arrays_have_it = isinstance(step, Const) and isinstance(step.value, me.Viewed)
        if isinstance(kind, Array) or only_arrays_have_it:
            return count
        count += not (kind == UNKNOWN and _is_slice(step))
        kind = _kind_at(kind, step)
    return count


def _is_slice(step: Atom) -> bool:
    return str(kind_of_atom(step)) == "slice"


def _kind_at(kind: Kind, step: Atom) -> Kind:
    match kind:
        case Seq(item=item):
            return kind if str(kind_of_atom(step)) == "slice" else item
        case Struct(keys=keys, items=items) if isinstance(step, Const):
            key = step.value.name if isinstance(step.value, me.Field) else step.value
            return items[keys.index(key)] if key in keys else UNKNOWN
        case Struct(form="list"):
            return st.item_kind(kind)
        case _:
            return UNKNOWN


def _choice_now(it: Interpreter, var: Var, chosen: tuple[Atom, Atom | None, Atom | None]) -> Value:
    condition, *objects = chosen
    current = [var if each is None else now(it, each) for each in objects]
    if all(each is None or each is c for each, c in zip(objects, current, strict=True)):
        return var
    first, second = (_one_value(it, each) for each in current)
    out = Var(var.kind, var.name)
    it.builder.if_(condition, Block((), (), (first,)), Block((), (), (second,)), [out])
    first_object = None if objects[0] is None else first
    second_object = None if objects[1] is None else second
    it.reading.choices[out] = (condition, first_object, second_object)
    return out


# --- views and parts ----------------------------------------------------------------------

_SAME_OBJECT = (st.bound, st.unpackable)


def view_of(it: Interpreter, var: Var) -> Eqn | None:
    """The equation that makes a value a part or a view of its first operand, if it is one."""
    eqn = it.builder.visible_definition(var)
    if eqn is None or not eqn.args or not isinstance(eqn.args[0], Var):
        return None
    if eqn.op is st.getitem:
        return eqn if _is_view(eqn.args[0].kind, eqn.args[1]) else None
    if eqn.op is st.getattr_ or eqn.op in _SAME_OBJECT:
        return eqn
    if eqn.op is st.as_list:
        return eqn if var in it.reading.walked else None
    if eqn.op.name == "asarray" and (eqn.args[0].kind != var.kind or var.kind == UNKNOWN):
        return None
    if eqn.op.fresh or eqn.op.control or eqn.op.effect or eqn.namespace == "call":
        return None
    unknown = isinstance(var.kind, Unknown) and eqn.namespace in _OF_ARRAYS
    return eqn if unknown or isinstance(var.kind, Array) else None


_OF_ARRAYS = ("np", "method", "attr")
"""The namespaces of what only arrays have, or what makes arrays."""


def _is_view(kind: Kind, index: Atom) -> bool:
    """Whether reading by this index gives a part of the value itself, not a copy."""
    at = kind_of_atom(index)
    if isinstance(kind, Array):
        return not any(map(_gathers, at.items if isinstance(at, Struct) else (at,)))
    return str(at) != "slice" or kind == UNKNOWN


def _gathers(index: Kind) -> bool:
    """Whether reading an array by an index of this kind copies what it reads."""
    return isinstance(index, Array | Seq) or (isinstance(index, Struct) and index.form == "list")


def place_of(it: Interpreter, value: Items | Var) -> Place:
    """The identity of an object."""
    if isinstance(value, Items):
        if value.place is None:
            value.place = Place(value)
        return value.place
    places = it.reading.places
    place = places.get(value)
    if place is None:
        place = places[value] = it.reading.globals_at.get(_global(it, value)) or Place(value)
        it.reading.globals_at.setdefault(_global(it, value), place)
    return place


def _global(it: Interpreter, var: Var) -> Any:
    """What tells a global's object from others; a value of the program is told by itself."""
    found = it.reading.read_from.get(var)
    if found is None:
        return var
    holder, key = found
    return id(holder[key] if isinstance(holder, dict) else getattr(holder, key))


def path_to(it: Interpreter, var: Var) -> tuple[Var, tuple[Atom, ...]]:
    """The run-time object that a value is part of, as it is now, and the steps that lead to it."""
    whose = it.reading.stands_for.get(var)
    if whose is not None:
        replaced, _ = _what_happened(it, whose)
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
        current = var if content is None else _read(it, place, content, var)
        assert isinstance(current, Var), "a run-time object has become a known one"
        return current, ()
    eqn = view_of(it, var)
    if eqn is None:
        _refuse_unfollowed(it, var)
        return var, ()
    base = eqn.args[0]
    assert isinstance(base, Var)
    root, steps = path_to(it, base)
    return root, (*steps, *_steps_to_write(it, eqn))


def _path_of_part(it: Interpreter, part: Part) -> tuple[Var, tuple[Atom, ...]]:
    origin = part.place.origin
    owner = now(it, origin)
    root, steps = path_to(it, owner if isinstance(owner, Var) else materialise(it, owner))  # type: ignore[arg-type]
    return root, (*steps, part.step)


def _steps(eqn: Eqn) -> tuple[Atom, ...]:
    """The way from a value to a view of it, as parts of a path."""
    if eqn.op is st.getitem:
        return (eqn.args[1],)
    if eqn.op is st.getattr_:
        return (Const(me.Field(eqn.param("name"))),)
    if eqn.op in _SAME_OBJECT or eqn.op is st.as_list or eqn.op.name == "asarray":
        return ()
    options = {name: atom.value for name, atom in eqn.params.items() if isinstance(atom, Const)}
    return (Const(me.Viewed(eqn.op, eqn.namespace, tuple(options.items()))),)


def _steps_to_write(it: Interpreter, eqn: Eqn) -> tuple[Atom, ...]:
    taken = eqn.op is st.getitem or eqn.op is st.getattr_ or eqn.op in _SAME_OBJECT
    if not (taken or eqn.op is st.as_list or eqn.op.name == "asarray"):
        options = (*eqn.args[1:], *eqn.params.values())
        if not all(isinstance(atom, Const) for atom in options):
            raise it.unsupported(
                "a view whose shape is known only when the program runs is written to",
                "Write to the array itself, by index.",
            )
    return _steps(eqn)


def _refuse_unfollowed(it: Interpreter, var: Var) -> None:
    """Refuse to change what may be an object that something else refers to."""
    from .sharing import roots

    if var in it.reading.elements:
        it.reading.by_index.add(it.reading.elements[var])
        raise ByIndex
    link_holders(it, var)
    found = roots(it, var)
    for place in it.reading.aliases.get(it.reading.places.get(var), ()):  # type: ignore[call-overload]
        if isinstance(place.origin, Var):
            found.add(place.origin)
    keep(it, {it.reading.copies[root] for root in found if root in it.reading.copies})


# --- changing things ----------------------------------------------------------------------


def put(it: Interpreter, items: Items, content: Items) -> Items:
    """Say what a known object holds from now on."""
    place = place_of(it, items)
    refuse_given(it, place)
    keep(it, it.reading.copied.get(place, ()))
    content.place = place
    it.heap[place] = content
    if place.twin is not None:
        twin = place.twin.origin
        assert isinstance(twin, Items)
        it.heap[place.twin] = Items(twin.form, content.keys, content.values, twin.type, place.twin)
    _lose_aliases(it, place, 1)
    return content


def may_be_one(it: Interpreter, a: Place, b: Place) -> None:
    """Two names for objects may turn out to be names for one: changing one loses the other."""
    if a is b:
        return
    for mine, below in _sharing(it, a).items():
        for other, below_other in _sharing(it, b).items():
            _lose_with(it, mine, below, other)
            _lose_with(it, other, below_other, mine)


def may_be_part(it: Interpreter, part: Place, whole: Place, depth: int) -> None:
    """An object may be one that another holds, as deep as through so many containers."""
    if depth == 0:
        may_be_one(it, part, whole)
    elif part is not whole:
        _lose_with(it, whole, depth, part)
        _lose_with(it, part, 0, whole)


def depth_in_whole(it: Interpreter, value: Value) -> int:
    """Through how many containers a value was reached."""
    if not isinstance(value, Var):
        return 0
    return _depth_of(*_views_to(it, value))


def _depth_of(root: Var, views: Sequence[Eqn]) -> int:
    return _depth(root.kind, [step for eqn in views for step in _steps(eqn)])


def hold_same(it: Interpreter, a: Place, below_a: int, b: Place, below_b: int) -> None:
    """What changes in one object, deeper than through so many containers, changes in the other too."""
    if a is b or b in it.reading.holding.get(a, {}):
        return
    for mine, below in (_sharing(it, a) | {a: below_a}).items():
        for other, below_other in (_sharing(it, b) | {b: below_b}).items():
            _lose_with(it, mine, below, other)
            _lose_with(it, other, below_other, mine)
    it.reading.holding.setdefault(a, {})[b] = below_b
    it.reading.holding.setdefault(b, {})[a] = below_a


def _sharing(it: Interpreter, place: Place) -> dict[Place, int]:
    """The objects that hold some of what an object holds, itself included, and how deep."""
    if isinstance(place.origin, Var):
        link_holders(it, place.origin)
    found = {place: 0}
    pending = [place]
    while pending:
        for other, below in it.reading.holding.get(pending.pop(), {}).items():
            if other not in found:
                found[other] = below
                pending.append(other)
    return found


def _lose_with(it: Interpreter, changed: Place, below: int, other: Place) -> None:
    """When an object changes deeper than through so many containers, another one is lost."""
    if changed is not other:
        others = it.reading.aliases.setdefault(changed, {})
        others[other] = min(below, others.get(other, below))


def _lose_aliases(it: Interpreter, place: Place, depth: int) -> None:
    for other, below in it.reading.aliases.get(place, {}).items():
        if depth > below:
            it.heap[other] = Lost("it may be an object that was changed under another name")


_HOLDING = frozenset(
    ("join_lists", "compress", "flatten_lists", "as_list", "merge_dicts", "dict_of", "getitem")
)
"""Ops that make new containers of the same objects."""


def link_holders(it: Interpreter, var: Var) -> None:
    """Note which other containers the items of a run-time container came from."""
    if var in it.reading.linked:
        return
    it.reading.linked.add(var)
    eqn = it.builder.visible_definition(var)
    if eqn is None or eqn.op.name not in _HOLDING or not holds_mutable(var.kind):
        return
    if view_of(it, var) is not None:
        return
    for arg in eqn.args:
        if isinstance(arg, Var) and is_mutable(arg):
            for place in identities(it, arg, own=True):
                # part of something of unknown kind may be a view of it, whose numbers are shared
                below = 0 if var.kind == UNKNOWN else 1
                hold_same(it, place, depth_of_items(arg.kind), place_of(it, var), below)


def depth_of_items(kind: Kind) -> int:
    """How deep a write has to go to change an item of a container, not only which items it has."""
    return 1 if isinstance(kind, Seq | Struct) else 0


def _refuse_stale(it: Interpreter, var: Var) -> None:
    """Refuse to read a container some of whose items have changed elsewhere since it was made."""
    link_holders(it, var)
    place = it.reading.places.get(var)
    if place is None or place not in it.reading.holding:
        return
    for other, below in _sharing(it, place).items():
        writes = it.reading.writes.get(other, ()) if other is not place else ()
        lost = isinstance(it.heap.get(other), Lost)
        if lost or any(born > var.born and depth > below for born, depth in writes):
            raise it.unsupported(
                "it is not known what this container holds: objects in it were changed through another "
                "container",
                "Change them before the container is made, or through it.",
            )


def holds_mutable(kind: Kind) -> bool:
    """Whether what a container holds may be objects that change."""
    match kind:
        case Seq(item=item):
            return not isinstance(item, Number | Other | Static)
        case Struct(items=items):
            return any(not isinstance(item, Number | Other | Static) for item in items)
        case Unknown():
            return True
        case _:
            return False


Write = Callable[[Var, tuple[Atom, ...]], Atom]


def refuse_given(it: Interpreter, place: Place) -> None:
    """What is given in parts cannot be changed as one object.

    Raises:
        NeedsWhole: it is to be given as one object.
    """
    name = it.reading.given.get(id(place.origin))
    if name is not None:
        it.reading.whole.add(name)
        raise NeedsWhole


def update(it: Interpreter, var: Var, write: Write) -> None:
    """Write to a run-time object, or to what it is part of."""
    from .outside import note_change

    whole, views = _views_to(it, var)
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
    _check_slices(it, var)
    note_change(it, root)
    new = write(root, steps)
    assert isinstance(new, Var)
    new.name = new.name or root.name
    place = place_of(it, root)
    it.reading.places[new] = place
    it.heap[place] = new
    depth = _depth(root.kind, steps) + 1
    it.reading.writes.setdefault(place, []).append((new.born, depth))
    _check_sharing(it, place)
    _lose_aliases(it, place, depth)


def _check_slices(it: Interpreter, var: Var) -> None:
    """Have it checked that what slices were taken of is an array: a slice of a list is a copy."""
    _, views = _views_to(it, var)
    for eqn in views:
        unknown = eqn.op is st.getitem and kind_of_atom(eqn.args[0]) == UNKNOWN
        if unknown and str(kind_of_atom(eqn.args[1])) == "slice":
            it.emit(ident.of_array, eqn.outs[0])


def _views_to(it: Interpreter, var: Var) -> tuple[Var, list[Eqn]]:
    """The object that a value is part of, and the equations that lead from it to the value."""
    views: list[Eqn] = []
    while var not in it.reading.places and (eqn := view_of(it, var)) is not None:
        views.insert(0, eqn)
        base = eqn.args[0]
        assert isinstance(base, Var)
        var = base
    return var, views


def is_of_copy(it: Interpreter, var: Var) -> bool:
    """Whether a value was read from a copy of a known container, made to be read at run time."""
    from .sharing import roots

    return not roots(it, _views_to(it, var)[0]).isdisjoint(it.reading.copies)


def _viewed(it: Interpreter, base: Var, views: Sequence[Eqn]) -> Var:
    """What equations lead to, from another object."""
    for eqn in views:
        part = it.builder.emit_with(
            eqn.op, (it.atom(base), *eqn.args[1:]), eqn.params, eqn.namespace
        )
        assert isinstance(part, Var)
        base = part
    return base


def note_sharing(it: Interpreter, value: Value, owner: Var) -> Value:
    """A part of something is put into a container: two ways lead to it from now on.

    That matters only if it changes. Where it does, the program checks when it runs.
    """
    if not isinstance(value, Var) or isinstance(value.kind, Number | Other):
        return value
    source = _whole_of(it, value)
    if source is None:
        return value
    goal = _whole_of(it, owner) or (place_of(it, owner), 0)
    key = it.builder.span
    for (place, depth), deeper in ((source, 0), (goal, 1)):
        it.reading.sharings.setdefault(place, {})[key] = depth + deeper
        _check_sharing(it, place)
    if key not in it.reading.checked:
        return value
    if source[0] is goal[0] and goal[1] + 1 == source[1]:
        it.reading.doubtful[owner] = None
        return value
    if value.kind != UNKNOWN:
        raise it.unsupported(
            "an object that is changed elsewhere is put into a second container",
            "Put a copy into the container, so that every object is in one place.",
        )
    it.emit(ident.unshared, value)
    return value


def _whole_of(it: Interpreter, var: Var) -> tuple[Place, int] | None:
    """The object that a value is part of, and through how many containers; None of what is whole."""
    root, steps = var, list[Atom]()
    while root not in it.reading.places and (eqn := view_of(it, root)) is not None:
        steps[:0] = _steps_to_write(it, eqn)
        root = eqn.args[0]
        assert isinstance(root, Var)
    return (place_of(it, root), _depth(root.kind, steps)) if steps else None


def _check_sharing(it: Interpreter, place: Place) -> None:
    """Have the program read again with checks if what is shared changes."""
    deepest = max((depth for _, depth in it.reading.writes.get(place, ())), default=0)
    for key, depth in it.reading.sharings.get(place, {}).items():
        if deepest > depth and key not in it.reading.checked:
            it.reading.checked.add(key)
            raise SharedItems


def settle_doubts(it: Interpreter) -> None:
    """Check that no object stands twice in a container whose items were moved about."""
    while it.reading.doubtful:
        owner, _ = it.reading.doubtful.popitem()
        it.emit(ident.distinct, it.atom(owner))


def store(it: Interpreter, var: Var, step: Atom, value: Atom) -> None:
    """`var[step] = value`, or of an attribute."""
    update(it, var, lambda root, steps: it.emit(me.store, root, *steps, step, value))


def whole(it: Interpreter, var: Var, value: Atom) -> None:
    """Replace everything that an array or a list holds."""

    def write(root: Var, steps: tuple[Atom, ...]) -> Atom:
        if not steps:
            return it.emit(me.overwrite, root, value)
        everything = Const(... if isinstance(var.kind, Array) else slice(None))
        last = () if isinstance(steps[-1], Const) and isinstance(steps[-1].value, slice) else None
        where = steps if last is not None else (*steps, everything)
        return it.emit(me.store, root, *where, value)

    update(it, var, write)


def changed(it: Interpreter, var: Var, own: Any, pure: Any, *args: Atom) -> None:
    """Apply a write that has a pure counterpart: to a whole object, or to a part of one."""

    def write(root: Var, steps: tuple[Atom, ...]) -> Atom:
        if not steps:
            return it.emit(own, root, *args)
        inner: Atom = root
        for step in steps:
            inner = _step(it, inner, step)
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


def adopt(it: Interpreter, child: Value, owner: Place, step: Atom) -> None:
    """An object is from now on kept inside a run-time object."""
    if not is_mutable(child) or (isinstance(child, Var) and child.kind == UNKNOWN):
        return
    assert isinstance(child, Items | Var)
    if isinstance(child, Var):
        if it.reading.places.get(child) is None and view_of(it, child) is not None:
            return
    place = place_of(it, child)
    known = it.heap.get(place)
    if isinstance(known, Part):
        it.heap[place] = Lost("two containers hold it")
        return
    it.heap[place] = Part(owner, step)
    for other in list(it.reading.aliases.get(place, ())):
        may_be_part(it, other, owner, 1)
    content = known if isinstance(known, Items) else child
    if isinstance(content, Items):
        _adopt_items(it, content, place)


def _adopt_items(it: Interpreter, items: Items, owner: Place) -> None:
    """What a known object holds is kept where the object is kept."""
    field = items.form in ("object", "dataclass")
    for key, value in zip(items.keys, items.values, strict=True):
        adopt(it, value, owner, Const(me.Field(key)) if field else Const(key))


# --- from known to run-time objects -------------------------------------------------------


def materialise(it: Interpreter, items: Items, item: Kind | None = None) -> Var:
    """A known object becomes a run-time object; what it holds is from then on part of it."""
    _refuse_object_keys(it, items)
    place = place_of(it, items)
    if place.choice is not None:
        first, second = (materialise(it, x) for x in (place.choice.first, place.choice.second))
        return it.choose(place.choice.condition, lambda: first, lambda: second)  # type: ignore[return-value]
    refuse_given(it, place)
    content = it.heap.get(place, items)
    if isinstance(content, Var):
        return content
    if isinstance(content, Items):
        items = content
    values = [now(it, value) for value in items.values]
    atoms = [it.atom(value) for value in values]
    params = {"form": Const(items.form), "keys": Const(items.keys), "type": Const(items.type)}
    var = it.builder.emit_with(st.pack, atoms, params, kind=_run_time_kind(items, item))
    assert isinstance(var, Var)
    it.reading.places[var] = place
    it.heap[place] = var
    if place.twin is not None:
        it.heap[place.twin] = Lost("only the object or its `__dict__` can be known at run time")
    _adopt_items(it, items.holding(values), place)
    return var


def _refuse_object_keys(it: Interpreter, items: Items) -> None:
    if items.form == "dict" and any(isinstance(key, ObjectKey) for key in items.keys):
        raise it.unsupported(
            "a dictionary whose keys are objects is needed as a value at run time",
            "Keep the values on the objects, or in a list beside them.",
        )


def packed(it: Interpreter, items: Items, name: str = "") -> Atom:
    """A known container as a run-time value: a copy, unless it or the copy changes.

    Raises:
        NeedsWhole: it does, and the program is read again.
    """
    _refuse_object_keys(it, items)
    key = it.builder.span
    if is_mutable(items):
        if items.home is not None:
            return items.home
        if items.place in it.packing:
            raise it.unsupported(
                "an object that refers to itself is needed as a value at run time",
                "Pass on what is needed of it: its numbers and arrays.",
            )
        if key in it.reading.kept:
            return materialise(it, items)
    if items.place is not None:
        it.packing.add(items.place)
        try:
            return _packed(it, items, name, key)
        finally:
            it.packing.remove(items.place)
    return _packed(it, items, name, key)


def _packed(it: Interpreter, items: Items, name: str, key: Any) -> Atom:
    atoms = [it.atom(value) for value in items.values]
    params = {"form": Const(items.form), "keys": Const(items.keys), "type": Const(items.type)}
    var = it.builder.emit_with(st.pack, atoms, params, name=name)
    if holds_objects(items) or is_mutable(items):
        it.reading.copies[var] = key
    for value in items.values:
        note_copied(it, value, key)
    return var


def alternatives(items: Items) -> list[Items]:
    """The objects that a known object may be: itself, or those that it stands for."""
    choice = items.place.choice if items.place is not None else None
    if choice is None:
        return [items]
    return [*alternatives(choice.first), *alternatives(choice.second)]


def holds_objects(items: Items) -> bool:
    """Whether something in a known container can change."""
    return any(
        is_mutable(value) or (isinstance(value, Items) and holds_objects(value))
        for value in items.values
    )


def note_copied(it: Interpreter, value: Value, key: Any) -> None:
    """Remember that there is a copy of a known object, and of all that it holds."""
    if not isinstance(value, Items) or value.home is not None:
        return
    if is_mutable(value):
        it.reading.copied.setdefault(place_of(it, value), set()).add(key)
    for each in alternatives(value):
        if each is not value:
            note_copied(it, each, key)
    for item in value.values:
        note_copied(it, item, key)


def keep(it: Interpreter, keys: Iterable[Any]) -> None:
    """Have the objects themselves at these places in the source, no copies.

    Raises:
        NeedsWhole: there were copies so far.
    """
    copied = set(keys)
    if copied - it.reading.kept:
        it.reading.kept |= copied
        raise NeedsWhole
    if copied:
        raise it.unsupported(
            "this changes an object while something else may refer to a copy of it",
            "Change it before it is put into a container, or change a copy (`copy.copy(x)`).",
        )


def _run_time_kind(items: Items, item: Kind | None) -> Kind:
    kinds = [kind_of_value(value) for value in items.values]
    if items.form == "list":
        for kind in kinds:
            item = kind if item is None else join(item, kind)
        return Seq(UNKNOWN if item is None else item)
    if items.form == "dict":
        return UNKNOWN
    return Struct(items.form, items.keys, tuple(kinds), items.type)


# --- where paths of control meet ----------------------------------------------------------


def dropped(heap: Heap, start: int) -> Heap:
    """The heap without the objects that were made after some point of the reading."""
    return {place: content for place, content in heap.items() if place.born <= start}


def content_in(heap: Heap, place: Place) -> Content:
    """What an object holds, according to one heap."""
    return heap.get(place, place.origin)


def identities(it: Interpreter, value: Value | None, *, own: bool = False) -> set[Place]:
    """The objects that a value is, or is part of: those that have changed, or (`own`) all."""
    match value:
        case Maybe(value=inner):
            return identities(it, inner, own=own)
        case Items(values=values) if value.form in ("tuple", "namedtuple", "function"):
            return set[Place]().union(*(identities(it, v, own=own) for v in values))
        case Items(home=Var() as home) if is_mutable(value):
            return identities(it, home, own=own)
        case Items() if is_mutable(value) and (own or value.place is not None):
            return {place_of(it, each) for each in alternatives(value)}
        case Var(kind=kind) if not isinstance(kind, Number | Other):
            return _identities_of_var(it, value, own=own)
        case _:
            return set()


def _identities_of_var(it: Interpreter, var: Var, *, own: bool) -> set[Place]:
    place = it.reading.places.get(var)
    chosen = it.reading.choices.get(var)
    whose = it.reading.stands_for.get(var)
    found = set() if place is None else {place}
    if whose is not None:
        found |= identities(it, whose, own=own)
    for each in () if chosen is None else chosen[1:]:
        found |= identities(it, each, own=own)
    if found or chosen is not None:
        return found
    eqn = view_of(it, var)
    if eqn is not None:
        return identities(it, eqn.args[0], own=own)  # type: ignore[arg-type]
    return {place_of(it, var)} if own and is_mutable(var) else set()


def with_aliases(it: Interpreter, places: set[Place], start: int) -> set[Place]:
    """Objects, and those that objects made after some point may turn out to be."""
    found: set[Place] = set()
    pending = list(places)
    while pending:
        place = pending.pop()
        if place not in found:
            found.add(place)
            pending += it.reading.aliases.get(place, ()) if place.born > start else ()
    return found
