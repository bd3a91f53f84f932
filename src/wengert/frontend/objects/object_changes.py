"""Assigning and deleting attributes of objects of the user's own classes."""

from __future__ import annotations

import dataclasses
import types

from ...ir.graph import Const
from ...runtime.containers import CONTENTS
from ..classes import instances
from ..classes.class_lookup import (
    MISSING,
    form_of_contents,
    is_data_descriptor,
    no_accessor,
    no_attribute,
    own_entries,
    own_method,
    seen_as,
    static_lookup,
)
from ..domain.values import Items, Value, as_known
from ..heap import now
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter


def assign(it: Interpreter, items: Items, name: str, value: Value) -> None:
    """`items.name = value`."""
    own = own_method(items.type, "__setattr__")
    if own is not None:
        it.call(Const(own), [items, Const(name), value], {})
        return
    _refuse_frozen(it, items.type, name, "assign to")
    assign_plainly(it, items, name, value)


def assign_plainly(it: Interpreter, items: Items, name: str, value: Value) -> None:
    """What `object.__setattr__` does."""
    cls = items.type
    found = static_lookup(cls, name)
    if isinstance(found, property):
        if found.fset is None:
            no_accessor(it, cls, name, "setter")
        it.call(as_known(found.fset), [items, value], {})
        return
    if found is not MISSING and is_data_descriptor(found):
        setter = own_method(type(found), "__set__")
        if setter is None:
            raise_now(it, AttributeError, f"the attribute '{name}' cannot be assigned")
        it.call(Const(setter), [Const(found), items, value], {})
        return
    if "__dict__" in items.keys and name not in items.keys:
        it.setitem(now(it, items[CONTENTS]), Const(name), value)
        return
    own = name == "__dict__" and value_is_itself(items, value) and form_of_contents(cls) == "dict"
    if name in ("__class__", "__dict__") and not own:
        raise it.unsupported(f"assigning to `{name}` of an object", "Create a new object instead.")
    seen = seen_as(it, cls)
    if seen is not cls and instances.is_fixed(seen, name):
        no_attribute(it, cls, name)
    if items.form == "namedtuple":
        if not cls.__dictoffset__ or name in items.keys:
            raise_now(it, AttributeError, "can't set attribute")
        raise it.unsupported(
            f"a {cls.__name__}, which is a named tuple, is given an attribute that is no field",
            "Make it a field, or use a class of its own.",
        )
    if not cls.__dictoffset__ and not isinstance(found, types.MemberDescriptorType):
        no_attribute(it, cls, name)
    it.write_attribute(items, name, Const(dict) if own else value)


def value_is_itself(items: Items, value: Value) -> bool:
    return isinstance(value, Items) and value.place is not None and value.place is items.place


def is_assigned_plainly(items: Items, name: str) -> bool:
    """Whether `items.name = value` does no more than that."""
    cls, found = items.type, static_lookup(items.type, name)
    special = found is not MISSING and (isinstance(found, property) or is_data_descriptor(found))
    slot = isinstance(found, types.MemberDescriptorType)
    own = own_method(cls, "__setattr__") is not None
    return items.form != "namedtuple" and not own and not _is_frozen(cls) and (slot or not special)


def _is_frozen(cls: type) -> bool:
    return getattr(getattr(cls, "__dataclass_params__", None), "frozen", False)


def _refuse_frozen(it: Interpreter, cls: type, name: str, what: str) -> None:
    if _is_frozen(cls):
        raise_now(it, dataclasses.FrozenInstanceError, f"cannot {what} field '{name}'")


def delete(it: Interpreter, items: Items, name: str) -> None:
    """`del items.name`."""
    own = own_method(items.type, "__delattr__")
    if own is not None:
        it.call(Const(own), [items, Const(name)], {})
        return
    _refuse_frozen(it, items.type, name, "delete")
    delete_plainly(it, items, name)


def delete_plainly(it: Interpreter, items: Items, name: str) -> None:
    """What `object.__delattr__` does."""
    found = static_lookup(items.type, name)
    if isinstance(found, property):
        if found.fdel is None:
            no_accessor(it, items.type, name, "deleter")
        it.call(as_known(found.fdel), [items], {})
        return
    if found is not MISSING and is_data_descriptor(found):
        deleter = own_method(type(found), "__delete__")
        if deleter is None:
            raise_now(it, AttributeError, f"the attribute '{name}' cannot be deleted")
        it.call(Const(deleter), [Const(found), items], {})
        return
    if "__dict__" in items.keys and name in own_entries(it, items).keys:
        it.delitem(own_entries(it, items), Const(name))
        return
    if name not in items.keys:
        no_attribute(it, items.type, name)
    if items.form == "namedtuple":
        raise_now(it, AttributeError, "can't delete attribute")
    it.remove_attribute(items, name)
