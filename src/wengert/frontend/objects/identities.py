"""Which object is which, and what follows where objects are equal to themselves only.

Known objects are told apart when the program is read. What the run makes of one, where it needs a container of
them, is a copy: to compare that, or to have its hash, would tell one object from itself.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ...ir.graph import Const
from ...ops import structure as st
from ..classes import class_lookup
from ..domain.values import (
    OBJECTS,
    PLAIN,
    Closure,
    Items,
    LazyIterable,
    Native,
    Value,
    is_mutable,
    is_object,
)
from ..heap import may_be, now, place_of
from ..heap.current import opened
from ..machine.interpreter import Interpreter

# --- `is` -----------------------------------------------------------------------------------


def identical(it: Interpreter, left: Value, right: Value) -> Value | None:
    """`left is right` where one of them is an object; None where neither is."""
    left, right = opened(it, left), opened(it, right)
    objects_ = [v for v in (left, right) if isinstance(v, Items) and is_mutable(v)]
    if not objects_:
        return _same_tuples(it, left, right)
    if len(objects_) == 2:
        return _same_objects(it, *objects_)
    (known,) = objects_
    other = right if known is left else left
    if isinstance(other, (Const, Native, LazyIterable, Closure)):
        return Const(False)
    return _run_time_identity(it, known, other)


def _same_tuples(it: Interpreter, left: Value, right: Value) -> Value | None:
    """`is` of two tuples, which are known by their items only: the run would compare copies of them."""
    sizes = []
    for value in (left, right):
        if isinstance(value, Items) and value.form == "tuple" and value.home is None:
            sizes.append(len(value.values))
        elif isinstance(value, Const) and isinstance(value.value, tuple):
            sizes.append(len(value.value))
        else:
            return None
    if left is right or sizes[0] != sizes[1]:
        return Const(left is right)
    raise _unsure(it)


def _same_objects(it: Interpreter, a: Items, b: Items) -> Value:
    if a is b or (a.place is not None and a.place is b.place):
        return Const(True)
    if (a.form, a.type) != (b.form, b.type):
        return Const(False)
    if a.home is not None or b.home is not None:
        return _run_time_identity(it, a, b)
    if place_of(it, b) in may_be(it, place_of(it, a)):
        raise _unsure(it)
    for one, other in ((a, b), (b, a)):
        # what was read back out of a container of the run may be what was put there
        if place_of(it, one) in it.reading.copied and place_of(it, other) not in it.heap:
            raise _unsure(it)
    return Const(False)


def _run_time_identity(it: Interpreter, a: Value, b: Value) -> Value:
    """Whether two objects are one that the run may have to tell; known objects are not there then."""
    known = [v for v in (a, b) if isinstance(v, Items) and v.home is None]
    if not known:
        return it.emit(st.is_, it.atom(a), it.atom(b))
    for value in known:
        place = place_of(it, value)
        if place in it.reading.aliases or place in it.reading.copied:
            raise _unsure(it)
    return Const(False)


def _unsure(it: Interpreter) -> Exception:
    return it.unsupported(
        "it is not known whether these are one object",
        "Compare a number or a name that the objects keep.",
    )


# --- `==` -----------------------------------------------------------------------------------


def holds_by_identity(it: Interpreter, value: Value) -> bool:
    """Whether something is, or holds, a known object that is equal to itself only."""
    pending, seen = [value], set[int]()
    while pending:
        held = now(it, pending.pop())
        if not isinstance(held, Items) or held.home is not None or id(held) in seen:
            continue
        seen.add(id(held))
        if held.form in OBJECTS and class_lookup.is_told_by_identity(held):
            return True
        if held.form in ("list", "tuple", "dict", *OBJECTS):
            pending += held.values
    return False


def equal_by_items(it: Interpreter, left: Value, right: Value) -> Value | None:
    """`left == right` of containers that hold such objects; None of all others."""
    left, right = now(it, left), now(it, right)
    if not isinstance(left, Items) or not isinstance(right, Items) or left.form != right.form:
        return None
    if left.form not in ("list", "tuple", "dict"):
        return None
    if not (holds_by_identity(it, left) or holds_by_identity(it, right)):
        return None
    if left.form == "dict":
        if set(left.keys) != set(right.keys):
            return Const(False)
        return _all_equal(it, left.values, [right[key] for key in left.keys])
    if len(left.values) != len(right.values):
        return Const(False)
    return _all_equal(it, left.values, right.values)


def _all_equal(it: Interpreter, left: Sequence[Value], right: Sequence[Value]) -> Value:
    if not left:
        return Const(True)
    alike = is_or_equals(it, left[0], right[0])
    known = it.known_truth(alike)
    if known is not None:
        return _all_equal(it, left[1:], right[1:]) if known else Const(False)
    return it.choose(
        it.truth(alike), lambda: _all_equal(it, left[1:], right[1:]), lambda: Const(False)
    )


def is_or_equals(it: Interpreter, a: Value, b: Value) -> Value:
    """What Python's containers ask of an item: whether it is the other, or equal to it."""
    same = identical(it, a, b)
    if same is not None and it.known_truth(same):
        return Const(True)
    return it.compare(ast.Eq(), a, b)


def _holds_object(value: Value) -> bool:
    """Whether something is, or is a tuple that holds, an object of a class."""
    if isinstance(value, Items) and value.form == "tuple":
        return any(map(_holds_object, value.values))
    return is_object(value)


def is_among(it: Interpreter, item: Value, container: Value) -> Value | None:
    """Whether an object is in a container whose items are known."""
    if not isinstance(container, Items) or container.form not in ("list", "tuple"):
        return None
    if isinstance(item, Const) and type(item.value) in PLAIN:
        known = [each.value for each in container.values if isinstance(each, Const)]
        if len(known) == len(container.values) and all(type(each) in PLAIN for each in known):
            return Const(item.value in known)
    items = [opened(it, each) for each in container.values]
    if not any(_holds_object(now(it, each)) for each in (item, *items)):
        return None

    def search(k: int) -> Value:
        if k == len(items):
            return Const(False)
        alike = is_or_equals(it, item, items[k])
        known = it.known_truth(alike)
        if known is not None:
            return Const(True) if known else search(k + 1)
        return it.choose(it.truth(alike), lambda: Const(True), lambda: search(k + 1))

    return search(0)


# --- hashes ---------------------------------------------------------------------------------


def refuse_identity(it: Interpreter, value: Value) -> None:
    """Refuse `id(value)`, or the hash of what is told from others by that, of a known object.

    Raises:
        UnsupportedSyntax: it is one.
    """
    value = now(it, value)
    if isinstance(value, Items) and is_mutable(value) and value.home is None:
        raise it.unsupported(
            "the identity of an object that the program has made is needed as a number",
            "Compare with `is`, or give the objects numbers or names of their own.",
        )


def refuse_in_sets(it: Interpreter, items: Value) -> None:
    """Refuse a set of the run that is to hold known objects: it would hold copies.

    Raises:
        UnsupportedSyntax: one of the items is such an object.
    """
    if holds_by_identity(it, items):
        raise it.unsupported(
            "objects that are told apart by their identity are put into a set, or their hash is asked for",
            "Keep them in a list, or keep numbers or names of theirs in the set.",
        )
