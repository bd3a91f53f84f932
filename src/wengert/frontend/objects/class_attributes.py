"""Attributes of classes: all objects of a class share them, and a program may bind them anew."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.builder import Builder
from ...ir.graph import UNDEFINED, Const
from ...ops import structure as st
from ...ops.program import memory as me
from ..classes import class_lookup
from ..domain.values import Items, Maybe, ObjectId, Value, is_mutable
from ..domain.whereabouts import Untracked
from ..heap import globals_state, now, put
from ..machine.guards import rely_on_class
from ..machine.interpreter import Interpreter


def value_of_class(it: Interpreter, cls: type, name: str) -> Value:
    """`cls.name`, of an attribute that is no descriptor."""
    held = held_by_class(it, cls, name)
    if held is not None:
        return held
    return it.lift(cls, name, getattr(cls, name))


def held_by_class(it: Interpreter, cls: type, name: str) -> Value | None:
    """What the program has assigned to an attribute of a class, or of one that it inherits from."""
    found = _first_held(it, cls.__mro__, name)
    return None if found is None else _settled(it, cls, name, *found)


def class_has(it: Interpreter, cls: type, name: str) -> Value | None:
    """Whether a class has an attribute that the program assigns to; None if it has assigned none."""

    def among(classes: Sequence[type]) -> Value | None:
        found = _first_held(it, classes, name)
        if found is None:
            return None
        held, others = found
        if not isinstance(held, Maybe):
            return Const(True)
        inherited = among(others) or Const(any(name in vars(each) for each in others))
        return it.emit(st.either, it.emit(st.is_not, held.witness, UNDEFINED), it.atom(inherited))

    return among(cls.__mro__)


def _first_held(
    it: Interpreter, classes: Sequence[type], name: str
) -> tuple[Value, Sequence[type]] | None:
    """What the program has assigned to an attribute of the first of some classes that has it, and the others."""
    for k, base in enumerate(classes if it.reading.class_attributes else ()):
        place = it.reading.class_attributes.get((base, name))
        content = it.heap.get(place) if place is not None else None
        if isinstance(content, Untracked):
            raise it.unsupported(
                f"the attribute `{name}` of {base.__name__} is read after {content.reason}",
                "Keep the value on an object, or read the attribute before.",
            )
        if isinstance(content, Items) and name in content.keys:
            return now(it, content[name]), classes[k + 1 :]
        if name in vars(base):
            return None
    return None


def _settled(it: Interpreter, cls: type, name: str, held: Value, others: Sequence[type]) -> Value:
    """What is held for an attribute; where some paths have assigned it only, others inherit it."""
    if not isinstance(held, Maybe):
        return held
    return it.choose(
        it.emit(st.is_not, held.witness, UNDEFINED),
        lambda: it.checked(held, f"{cls.__name__}.{name}"),
        lambda: _inherited(it, cls, name, others),
    )


def _inherited(it: Interpreter, cls: type, name: str, classes: Sequence[type]) -> Value:
    found = _first_held(it, classes, name)
    if found is not None:
        return _settled(it, cls, name, *found)
    owner = next((base for base in classes if name in vars(base)), None)
    if owner is None:
        return class_lookup.no_attribute(it, cls, name)
    return value_of_class(it, owner, name)


def show_class(it: Interpreter, cls: type) -> Value:
    """`cls.__dict__`: as the class is when it is read."""
    if any(changed is cls for changed, _ in it.reading.class_attributes):
        raise _shown_and_changed(it, cls)
    it.reading.classes_shown.add(cls)
    return Const(rely_on_class(it.reading.guards, cls))


def _shown_and_changed(it: Interpreter, cls: type) -> Exception:
    return it.unsupported(
        f"the `__dict__` of {cls.__name__}, whose attributes the program assigns",
        f"Read the attribute by its name: `getattr({cls.__name__}, name)`.",
    )


def assign_to_class(it: Interpreter, cls: type, name: str, value: Value) -> None:
    """`cls.name = value`: every object of the class sees it, and so does whoever runs the program."""
    if cls in it.reading.classes_shown:
        raise _shown_and_changed(it, cls)
    plain = class_lookup.own_method(type(cls), "__setattr__") is None and not is_mutable(value)
    if not plain or it.reading.root is not globals_state.root_of(it.builder):
        raise it.unsupported(
            f"assigning to the attribute `{name}` of the class {cls.__name__}, which all its objects share",
            "Keep the value on an object; or assign a number, in a function that does not recurse.",
        )
    place = _attribute_of_class(it, cls, name)
    origin = place.origin
    assert isinstance(origin, Items)
    if place not in it.reading.kept_to_itself:
        it.emit(me.store, Const(cls), Const(me.Field(name)), it.atom(value))
    put(it, origin, origin.holding([value], [name]))


def _attribute_of_class(it: Interpreter, cls: type, name: str) -> ObjectId:
    """The identity of an attribute of a class."""
    place = it.reading.class_attributes.get((cls, name))
    if place is not None:
        return place
    before: dict[str, Value] = {}
    if name in vars(cls):  # what it inherits, the class it inherits from may get anew
        with it.within(Builder(it.builder.span)):
            before[name] = it.lift(cls, name, getattr(cls, name))
            it.reading.early += it.builder.eqns
    origin = Items("class", tuple(before), tuple(before.values()), cls)
    place = origin.place = ObjectId(origin)
    place.born = -1
    it.reading.class_attributes[cls, name] = place
    return place
