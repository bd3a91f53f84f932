"""Objects of the user's own classes: how Python finds, binds, assigns and deletes their attributes."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

from ...ir.graph import IF, UNDEFINED, Const, Var
from ...ops import structure as st
from ...runtime.containers import CONTENTS
from ..classes import instances
from ..classes.bound_methods import bound
from ..classes.class_lookup import (
    MISSING,
    STORAGE,
    is_read_first,
    no_accessor,
    no_attribute,
    of_container,
    own_entries,
    own_method,
    seen_as,
    static_lookup,
)
from ..domain.values import (
    OBJECTS,
    Args,
    Closure,
    Items,
    Kwargs,
    Maybe,
    Native,
    ObjectId,
    Value,
    as_known,
    tuple_of,
)
from ..heap import now, place_of
from ..machine.interpreter import Interpreter
from ..polyfills.stdlib import collections as container_polyfills
from . import class_attributes
from .object_changes import delete_plainly

# --- reading ------------------------------------------------------------------------------


def read(it: Interpreter, items: Items, name: str) -> Value:
    """`items.name`, of an object whose attributes are known."""
    cls = items.type
    if own_method(cls, "__getattribute__") is not None:
        raise it.unsupported(
            f"{cls.__name__} has a `__getattribute__` of its own, which every read of an attribute "
            "goes through",
            "Use `__getattr__` or properties.",
        )
    return read_plainly(it, items, name)


def read_plainly(it: Interpreter, items: Items, name: str) -> Value:
    """What `object.__getattribute__` does."""
    cls = items.type
    if name == "__class__":
        return Const(container_polyfills.class_to_see(cls))
    if name == "__dict__" and seen_as(it, cls).__dictoffset__:
        return items if name in items.keys else attributes(it, items)
    if "__dict__" in items.keys:
        return _of_itself(it, items, name)
    if name in items.keys and not is_read_first(static_lookup(cls, name)):
        return _kept(it, items, name)
    return given_by_class(it, items, name)


def _of_itself(it: Interpreter, items: Items, name: str) -> Value:
    """An attribute of a dictionary whose attributes are its items."""
    entries = own_entries(it, items)
    if name == CONTENTS:
        return entries
    if name in entries.keys and not is_read_first(static_lookup(items.type, name)):
        return now(it, entries[name])
    return given_by_class(it, items, name)


def _kept(it: Interpreter, items: Items, name: str) -> Value:
    """What an object keeps; where only the run knows whether it does, its class may give it instead."""
    held = now(it, items[name])
    if not isinstance(held, Maybe) or not class_gives(items.type, name):
        return it.checked(held, f"{items.type.__name__}.{name}")
    return it.choose(
        it.emit(st.is_not, held.witness, UNDEFINED),
        lambda: _checked(it, items, name),
        lambda: given_by_class(it, items, name),
    )


def class_gives(cls: type, name: str) -> bool:
    """Whether an object that keeps nothing under a name has such an attribute, or makes it."""
    found = static_lookup(cls, name)
    given = found is not MISSING and not isinstance(found, STORAGE)
    return given or own_method(cls, "__getattr__") is not None


def given_by_class(it: Interpreter, items: Items, name: str) -> Value:
    """What the class of an object gives for an attribute that the object does not keep."""
    cls = items.type
    held = class_attributes.held_by_class(it, cls, name)
    if held is not None:
        is_method = isinstance(held, Closure) or (
            isinstance(held, Const) and isinstance(held.value, types.FunctionType)
        )
        return bound(items, held, name) if is_method else held
    seen = seen_as(it, cls)
    found = static_lookup(cls, name)
    if seen is not cls and found is not MISSING and not hasattr(type(found), "__get__"):
        found = instances.given(seen, name)  # what is said of a class is said of that
        cls = seen
    if found is not MISSING and not isinstance(found, STORAGE):
        return from_class(it, items, cls, name, found)
    fallback = own_method(cls, "__getattr__")
    if fallback is not None:
        return it.call(Const(fallback), [items, Const(name)], {})
    if issubclass(cls, BaseException) and name == "__cause__":
        return Const(None)
    if issubclass(cls, BaseException):
        refuse_set_by_python(it, name)
    return no_attribute(it, cls, name)


def refuse_set_by_python(it: Interpreter, name: str) -> None:
    """Refuse to read what Python sets where it raises an exception: a derivative may raise it elsewhere."""
    if name in ("__context__", "__suppress_context__", "__traceback__"):
        raise it.unsupported(
            f"the `{name}` of an exception, which Python sets where it is raised",
            "Say where it comes from, `raise … from error`, and read its `__cause__`.",
        )


def _checked(it: Interpreter, items: Items, name: str) -> Value:
    return it.checked(now(it, items[name]), f"{items.type.__name__}.{name}")


def from_class(it: Interpreter, receiver: Value, cls: type, name: str, found: Any) -> Value:
    """An attribute that the class gives, as its descriptor makes it."""
    match found:
        case types.FunctionType() | functools._lru_cache_wrapper():  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            return bound(receiver, Const(found), name)
        case property():
            if found.fget is None:
                return no_accessor(it, cls, name, "getter")
            return it.call(as_known(found.fget), [receiver], {})
        case functools.cached_property():
            return _cached(it, receiver, found, name)
        case staticmethod():
            return as_known(found.__func__)
        case classmethod():
            return bound(Const(cls), as_known(found.__func__), name)
        case types.WrapperDescriptorType() | types.MethodDescriptorType():
            return builtin_method(it, receiver, cls, name, found)
        case types.BuiltinFunctionType() if name == "__new__":
            return Const(found)
        case _:
            return _by_descriptor(it, receiver, cls, name, found)


def _by_descriptor(it: Interpreter, receiver: Value, cls: type, name: str, found: Any) -> Value:
    getter = None if isinstance(found, type) else own_method(type(found), "__get__")
    if getter is not None:
        return it.call(Const(getter), [Const(found), receiver, Const(cls)], {})
    return class_attributes.value_of_class(it, cls, name)


def _cached(
    it: Interpreter, receiver: Value, found: functools.cached_property[Any], name: str
) -> Value:
    """Computed at the first read, kept on the object from then on."""
    value = it.call(as_known(found.func), [receiver], {})
    it.write_attribute(current(it, receiver), found.attrname or name, value)
    return now(it, value)


def attributes(it: Interpreter, items: Items) -> Value:
    """`vars(items)`: a dictionary that changes with the object, and the object with it."""
    if CONTENTS in items.keys:
        raise it.unsupported(
            f"the `__dict__` of an object whose class, {items.type.__name__}, is built on a container",
            "Read and assign the attributes by their names.",
        )
    _refuse_uncertain(it, items)
    place = place_of(it, items)
    if place.twin is None:
        mirror = Items("dict", items.keys, items.values)
        place.twin = mirror.place = ObjectId(mirror)
        place.twin.twin = place
        mirror.place.shared = items.home is not None
    twin = Items("dict", items.keys, items.values, place=place.twin)
    it.heap[place.twin] = twin
    return twin


def _refuse_uncertain(it: Interpreter, items: Items) -> None:
    name = next(
        (k for k, v in zip(items.keys, items.values, strict=True) if isinstance(v, Maybe)), None
    )
    if name is not None:
        raise it.unsupported(
            f"the `__dict__` of an object that has the attribute `{name}` on some paths only",
            "Assign the attribute on every path, or ask for it by its name: `hasattr`, `getattr`.",
        )


# --- what is built into every object ------------------------------------------------------


def builtin_method(it: Interpreter, receiver: Value, cls: type, name: str, found: Any) -> Value:
    """A method that no class of the user defines."""
    if issubclass(cls, BaseException):
        return it.method_of_exception(receiver, name, found)
    if found is type.__call__ and isinstance(receiver, Const):
        return Native(
            name, lambda it, args, kwargs: it.construct_plainly(receiver.value, args, kwargs)
        )
    written = of_container(tuple, name) if getattr(found, "__objclass__", None) is tuple else None
    if isinstance(receiver, Items) and isinstance(written, types.FunctionType):
        plain = Items(
            "object", (CONTENTS,), (tuple_of(*receiver.values),), container_polyfills.Tuple
        )
        return bound(plain, Const(written), name)
    if getattr(found, "__objclass__", None) is not object:
        raise it.unsupported(
            f"the method `{name}` of {cls.__name__} is built into Python",
            "Write what it does in terms of attributes.",
        )
    return Native(name, functools.partial(_call_built_in, receiver, found, name))


def _call_built_in(
    receiver: Value, found: Any, name: str, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    made = _OF_OBJECT.get(name)
    if made is None:
        return it.opaque(found, [receiver, *args], kwargs)
    return made(it, receiver, *args)


def _nothing(it: Interpreter, receiver: Value, *args: Value) -> Value:
    return Const(None)


def _set_plainly(it: Interpreter, receiver: Value, name: Value, value: Value) -> Value:
    it.assign_plainly(current(it, receiver), known_name(it, name), value)
    return Const(None)


def _delete_plainly(it: Interpreter, receiver: Value, name: Value) -> Value:
    delete_plainly(it, current(it, receiver), known_name(it, name))
    return Const(None)


def _get_plainly(it: Interpreter, receiver: Value, name: Value) -> Value:
    return read_plainly(it, current(it, receiver), known_name(it, name))


_OF_OBJECT = {
    "__init__": _nothing,
    "__init_subclass__": _nothing,
    "__setattr__": _set_plainly,
    "__delattr__": _delete_plainly,
    "__getattribute__": _get_plainly,
}


def current(it: Interpreter, value: Value) -> Items:
    """An object as it is now, whose attributes have to be known."""
    found = now(it, value)
    if isinstance(found, Var):
        found = it.open_up(found)
    if not isinstance(found, Items) or found.form not in OBJECTS:
        raise it.unsupported(
            "the attributes of this object are known only when the program runs",
            "Create the object inside the function, or pass it as an argument.",
        )
    return found


def known_name(it: Interpreter, name: Value) -> str:
    """The name of an attribute, which has to be known when the program is read."""
    if isinstance(name, Const) and isinstance(name.value, str):
        return name.value
    raise it.unsupported(
        "which attribute this is, is known only when the program runs",
        "Write the attribute out, or keep the values in a dictionary.",
    )


def by_name(it: Interpreter, name: Value, act: Callable[[str], Value]) -> Value:
    """Do something with an attribute whose name is known, or one of two that an `if` chose from."""
    eqn = it.builder.visible_definition(name) if isinstance(name, Var) else None
    if eqn is None or eqn.op is not IF:
        return act(known_name(it, name))
    k = eqn.outs.index(name)  # type: ignore[arg-type]
    first, second = (known_name(it, block.outs[k]) for block in eqn.blocks)
    return it.choose(eqn.args[0], lambda: act(first), lambda: act(second))


# --- where paths of control meet ----------------------------------------------------------


def attributes_of_both(
    it: Interpreter, a: Items, b: Items
) -> dict[Any, tuple[Value | None, Value | None]] | None:
    """What two versions of a container hold, item by item; None if they have other items.

    An attribute that only one version of an object has stands in the other for what its class
    gives instead, or for nothing.
    """
    if (a.form, a.type) != (b.form, b.type):
        return None
    if a.keys == b.keys:
        return dict(zip(a.keys, zip(a.values, b.values, strict=True), strict=True))
    if a.form == "cell":
        return {"contents": tuple(each.values[0] if each.values else None for each in (a, b))}  # type: ignore[dict-item]
    if a.form not in ("object", "dataclass", "class") or not isinstance(a.type, type):
        return None
    return {
        name: (_held(it, a, name), _held(it, b, name)) for name in dict.fromkeys((*a.keys, *b.keys))
    }


def _held(it: Interpreter, items: Items, name: str) -> Value | None:
    if name in items.keys or items.form == "class":
        return items[name] if name in items.keys else None
    return default_of(it, items.type, name)


def default_of(it: Interpreter, cls: type, name: str) -> Value | None:
    """What an object without an attribute of its own has by its class; None if that is no value."""
    found = static_lookup(cls, name)
    if found is MISSING or isinstance(found, STORAGE) or hasattr(type(found), "__get__"):
        return None
    return class_attributes.value_of_class(it, cls, name)
