"""Objects of the user's own classes: how Python finds, binds, assigns and deletes their attributes."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.graph import IF, UNDEFINED, Const, Var
from ..ir.records import record
from ..ir.types import Array, Number, Static, Struct
from ..ops import structure as st
from ..runtime.containers import CONTENTS
from . import class_attributes, construct, stand_ins, writes
from .calls import call, opaque
from .counts import known
from .failing import raise_now
from .heap import now, place_of
from .items import open_up
from .operations import as_key
from .signature import namedtuple_fields
from .values import (
    OBJECTS,
    Closure,
    Items,
    Iteration,
    Maybe,
    Native,
    Place,
    Value,
    as_known,
    is_object,
    kind_of_value,
    tuple_of,
)

if TYPE_CHECKING:
    from .interpreter import Interpreter

Args = Sequence[Value]
Kwargs = Mapping[str, Value]

MISSING = object()
PYTHON_TYPES: dict[str, type] = {"bool": bool, "int": int, "float": float, "complex": complex}


# --- classes ------------------------------------------------------------------------------


_ITERATORS: dict[str, type] = {
    "zip": zip,
    "map": map,
    "filter": filter,
    "enumerate": enumerate,
    "reversed": reversed,
    "generator": types.GeneratorType,
}


def class_of(value: Value) -> type | None:
    """The class of a value, where it is known when the program is read."""
    if isinstance(value, Closure):
        return types.FunctionType
    if isinstance(value, Native):
        return types.MethodType if receiver_of(value) is not None else None
    if isinstance(value, Items) and value.form == "iterator":
        value = value["source"]
    if isinstance(value, Iteration):
        return _ITERATORS.get(value.form)
    kind = kind_of_value(value)
    match kind:
        case Number(type=t):
            return PYTHON_TYPES[t]
        case Array():
            return np.ndarray
        case Struct(form=form, type=type_):
            plain = {"tuple": tuple, "list": list, "dict": dict}
            return plain.get(form, type_ if isinstance(type_, type) else None)
        case Static() if isinstance(value, Const):
            return type(value.value)
        case _:
            if isinstance(value, Const):
                return type(value.value)
            return {"str": str, "slice": slice, "range": range}.get(str(kind))


def hash_token(items: Items) -> Any:
    """What tells a known object from others that are keys of a dictionary; None if only the run can."""
    cls = items.type
    if not isinstance(cls, type) or items.home is not None:
        return None
    if cls.__hash__ is object.__hash__ and cls.__eq__ is object.__eq__:
        return identity_token(items)
    parameters = getattr(cls, "__dataclass_params__", None)
    if (
        parameters is None
        or not (parameters.eq and parameters.frozen)
        or own_method(cls, "__hash__")
    ):
        return None
    names = [f.name for f in dataclasses.fields(cls) if f.compare and f.hash is not False]
    values = [as_key(items[name]) for name in names]
    if not all(isinstance(value, Const) for value in values):
        return None
    return cls, tuple(value.value for value in values if isinstance(value, Const))


def identity_token(items: Items) -> Any:
    """What tells a known object from all others; None if only the run can."""
    if items.form not in ("object", "dataclass") or items.home is not None:
        return None
    if items.place is None:
        items.place = Place(items)
    return None if items.place.choice is not None else items.place


def search(classes: Sequence[type], name: str) -> Any:
    """What the first of some classes that has an attribute keeps under its name, or MISSING."""
    for cls in classes:
        if not is_container(cls):
            found = in_python(vars(cls).get(name, MISSING))
        elif any(hasattr(each, "_fields") for each in classes):  # of a namedtuple
            found = vars(cls).get(name, MISSING)
        else:
            found = _of_container(cls, name)
        if found is not MISSING:
            return found
    return MISSING


def is_container(cls: type) -> bool:
    """Whether a class is one of Python's containers that others are built on."""
    if cls is object or cls.__module__ not in ("builtins", "collections"):
        return False
    return cls in stand_ins.BASES


def _of_container(cls: type, name: str) -> Any:
    """A method of one of Python's containers, as the front end reads it."""
    for base in stand_ins.BASES[cls].__mro__[:-1]:
        if isinstance(vars(base).get(name), types.FunctionType):
            return vars(base)[name]
    return MISSING if hasattr(object, name) else vars(cls).get(name, MISSING)


def form_of_contents(cls: type) -> str | None:
    """As what objects keep their items whose class is built on one of Python's containers; None of others."""
    if issubclass(cls, tuple) and hasattr(cls, "_fields"):
        return None
    for base in cls.__mro__:
        stand_in = stand_ins.BASES[base] if is_container(base) else base
        form = stand_ins.FORMS.get(stand_in)
        if form is not None:
            return form
    return None


def contents_as_they_are(it: Interpreter, value: Value, name: str) -> Value | None:
    """What a value holds that is built on a dictionary, if its class has no method of this name of its own."""
    if not is_object(value) or CONTENTS not in value.keys:  # type: ignore[union-attr]
        return None
    found = static_lookup(value.type, name)  # type: ignore[union-attr]
    inside = now(it, value[CONTENTS])  # type: ignore[index]
    plain = any(found in vars(stand_in).values() for stand_in in stand_ins.BASES.values())
    return inside if plain and form_of_contents(value.type) == "dict" else None  # type: ignore[union-attr]


def in_python(found: Any) -> Any:
    """A method of one of Python's containers, `dict.__getitem__` say, as the front end reads it."""
    if not isinstance(found, types.WrapperDescriptorType | types.MethodDescriptorType):
        return found
    written = (
        _of_container(found.__objclass__, found.__name__)
        if is_container(found.__objclass__)
        else MISSING
    )
    return written if isinstance(written, types.FunctionType) else found


def static_lookup(cls: type, name: str) -> Any:
    """What a class keeps under a name, before any descriptor is asked; MISSING if nothing."""
    return search(cls.__mro__, name)


def own_method(cls: type, name: str) -> Any:
    """A method that is written in Python; None if the class has none, or one made by `dataclass`."""
    found = static_lookup(cls, name)
    if isinstance(found, staticmethod):
        found = found.__func__
    if not isinstance(found, types.FunctionType | functools.partialmethod):
        return None
    return None if is_generated(found) else found


def is_generated(function: Any) -> bool:
    """Whether `dataclass` or `namedtuple` has made a method, whose source is nowhere."""
    code = getattr(function, "__code__", None)
    if code is None:
        return False
    made = code.co_filename.startswith("<string") or code.co_filename == dataclasses.__file__
    return made and getattr(function, "__qualname__", "") != "<lambda>"


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
        return Const(cls)
    if name == "__dict__" and cls.__dictoffset__:
        return items if name in items.keys else attributes(it, items)
    if "__dict__" in items.keys:
        return _of_itself(it, items, name)
    if name in items.keys and not is_data_descriptor(static_lookup(cls, name)):
        return _kept(it, items, name)
    return given_by_class(it, items, name)


def _of_itself(it: Interpreter, items: Items, name: str) -> Value:
    """An attribute of a dictionary whose attributes are its items."""
    entries = own_entries(it, items)
    if name == CONTENTS:
        return entries
    if name in entries.keys and not is_data_descriptor(static_lookup(items.type, name)):
        return now(it, entries[name])
    return given_by_class(it, items, name)


def own_entries(it: Interpreter, items: Items) -> Items:
    """The items of a dictionary that is its own `__dict__`."""
    entries = now(it, items[CONTENTS])
    if isinstance(entries, Items):
        return entries
    raise it.unsupported(
        "the items of a dictionary that is its own `__dict__` are known only when the program runs",
        "Read them as items: `d[name]`.",
    )


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
    given = found is not MISSING and not isinstance(found, _STORAGE)
    return given or own_method(cls, "__getattr__") is not None


def given_by_class(it: Interpreter, items: Items, name: str) -> Value:
    """What the class of an object gives for an attribute that the object does not keep."""
    cls = items.type
    held = class_attributes.held_by_class(it, cls, name)
    if held is not None:
        is_method = isinstance(held, Closure) or (
            isinstance(held, Const) and _is_function(held.value)
        )
        return bound(items, held, name) if is_method else held
    found = static_lookup(cls, name)
    if found is not MISSING and not isinstance(found, _STORAGE):
        return from_class(it, items, cls, name, found)
    fallback = own_method(cls, "__getattr__")
    if fallback is not None:
        return call(it, Const(fallback), [items, Const(name)], {})
    if issubclass(cls, BaseException) and name in _OF_EXCEPTIONS:
        return Const(None)
    return no_attribute(it, cls, name)


def _is_function(value: Any) -> bool:
    return isinstance(value, types.FunctionType)


_OF_EXCEPTIONS = ("__cause__", "__context__", "__traceback__")
"""What every exception has, and is None until Python or the program says otherwise."""


def _checked(it: Interpreter, items: Items, name: str) -> Value:
    return it.checked(now(it, items[name]), f"{items.type.__name__}.{name}")


_STORAGE = (types.MemberDescriptorType, types.GetSetDescriptorType)
"""What stands in a class for a value that the object itself keeps: a slot."""


def is_data_descriptor(found: Any) -> bool:
    """Whether a class's attribute comes before what the object keeps under the same name."""
    if isinstance(found, property):
        return True
    if found is MISSING or isinstance(found, (*_STORAGE, type)):
        return False
    return any(own_method(type(found), name) is not None for name in ("__set__", "__delete__"))


def no_attribute(it: Interpreter, cls: type, name: str) -> Value:
    raise_now(it, AttributeError, f"'{cls.__name__}' object has no attribute '{name}'")
    raise AssertionError("unreachable")


def from_class(it: Interpreter, receiver: Value, cls: type, name: str, found: Any) -> Value:
    """An attribute that the class gives, as its descriptor makes it."""
    match found:
        case types.FunctionType() | functools._lru_cache_wrapper():  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            it.reading.guards[id(cls), name] = cls, name, Static(getattr(cls, name, None))
            return bound(receiver, Const(found), name)
        case property():
            if found.fget is None:
                return _no_accessor(it, cls, name, "getter")
            return call(it, as_known(found.fget), [receiver], {})
        case functools.cached_property():
            return _cached(it, receiver, found, name)
        case staticmethod():
            return as_known(found.__func__)
        case classmethod():
            return bound(Const(cls), as_known(found.__func__), name)
        case functools.partialmethod():
            return _partial_method(receiver, found, name)
        case functools.singledispatchmethod():
            return Native(name, functools.partial(_dispatched, receiver, found))
        case types.WrapperDescriptorType() | types.MethodDescriptorType():
            return builtin_method(it, receiver, cls, name, found)
        case types.BuiltinFunctionType() if name == "__new__":
            return Const(found)
        case _:
            return _by_descriptor(it, receiver, cls, name, found)


def _by_descriptor(it: Interpreter, receiver: Value, cls: type, name: str, found: Any) -> Value:
    getter = None if isinstance(found, type) else own_method(type(found), "__get__")
    if getter is not None:
        return call(it, Const(getter), [Const(found), receiver, Const(cls)], {})
    return class_attributes.value_of_class(it, cls, name)


def bound(receiver: Value, function: Value, name: str) -> Native:
    """A method of an object."""
    return Native(name, functools.partial(_call_bound, receiver, function))


def _call_bound(
    receiver: Value, function: Value, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    return call(it, function, [receiver, *args], kwargs)


def receiver_of(method: Value) -> tuple[Value, Value] | None:
    """The object and the function of a bound method."""
    if isinstance(method, Native) and isinstance(method.call, functools.partial):
        if method.call.func is _call_bound:
            receiver, function = method.call.args
            return receiver, function
    return None


def _partial_method(receiver: Value, found: functools.partialmethod[Any], name: str) -> Value:
    return Native(name, functools.partial(_call_partial_method, receiver, found))


def _call_partial_method(
    receiver: Value,
    found: functools.partialmethod[Any],
    it: Interpreter,
    args: Args,
    kwargs: Kwargs,
) -> Value:
    before = [as_known(arg) for arg in found.args]
    named = {key: as_known(value) for key, value in found.keywords.items()}
    return call(it, as_known(found.func), [receiver, *before, *args], {**named, **kwargs})


def _dispatched(
    receiver: Value,
    found: functools.singledispatchmethod[Any],
    it: Interpreter,
    args: Args,
    kwargs: Kwargs,
) -> Value:
    known = class_of(args[0]) if args else None
    if known is None:
        raise it.unsupported(
            "which method `singledispatchmethod` chooses is known only when the program runs",
            "Choose with `if isinstance(...)`.",
        )
    return call(it, Const(found.dispatcher.dispatch(known)), [receiver, *args], kwargs)


def _cached(
    it: Interpreter, receiver: Value, found: functools.cached_property[Any], name: str
) -> Value:
    """Computed at the first read, kept on the object from then on."""
    value = call(it, as_known(found.func), [receiver], {})
    writes.write_attribute(it, current(it, receiver), found.attrname or name, value)
    return now(it, value)


def _no_accessor(it: Interpreter, cls: type, name: str, what: str) -> Value:
    raise_now(it, AttributeError, f"property '{name}' of {cls.__name__!r} object has no {what}")
    raise AssertionError("unreachable")


def attributes(it: Interpreter, items: Items) -> Value:
    """`vars(items)`: a dictionary that changes with the object, and the object with it."""
    if CONTENTS in items.keys:
        raise it.unsupported(
            f"the `__dict__` of an object whose class, {items.type.__name__}, is built on a container",
            "Read and assign the attributes by their names.",
        )
    place = place_of(it, items)
    if place.twin is None:
        mirror = Items("dict", items.keys, items.values)
        place.twin = mirror.place = Place(mirror)
        place.twin.twin = place
        mirror.place.shared = items.home is not None
    twin = Items("dict", items.keys, items.values, place=place.twin)
    it.heap[place.twin] = twin
    return twin


# --- what is built into every object ------------------------------------------------------


def builtin_method(it: Interpreter, receiver: Value, cls: type, name: str, found: Any) -> Value:
    """A method that no class of the user defines."""
    if issubclass(cls, BaseException):
        from . import exceptions

        return exceptions.builtin_method(it, receiver, name, found)
    if found is type.__call__ and isinstance(receiver, Const):
        return Native(
            name,
            lambda it, args, kwargs: construct.construct_plainly(it, receiver.value, args, kwargs),
        )
    written = _of_container(tuple, name) if getattr(found, "__objclass__", None) is tuple else None
    if isinstance(receiver, Items) and isinstance(written, types.FunctionType):
        plain = Items("object", (CONTENTS,), (tuple_of(*receiver.values),), stand_ins.Tuple)
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
        return opaque(it, found, [receiver, *args], kwargs)
    return made(it, receiver, *args)


def _nothing(it: Interpreter, receiver: Value, *args: Value) -> Value:
    return Const(None)


def _set_plainly(it: Interpreter, receiver: Value, name: Value, value: Value) -> Value:
    assign_plainly(it, current(it, receiver), known_name(it, name), value)
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
        found = open_up(it, found)
    if not isinstance(found, Items) or found.form not in OBJECTS:
        raise it.unsupported(
            "the attributes of this object are known only when the program runs",
            "Create the object inside the function, or pass it as an argument.",
        )
    return found


def known_name(it: Interpreter, name: Value) -> str:
    """The name of an attribute, which has to be known when the program is read."""
    name = known(it, name)
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


# --- assigning and deleting ---------------------------------------------------------------


def assign(it: Interpreter, items: Items, name: str, value: Value) -> None:
    """`items.name = value`."""
    own = own_method(items.type, "__setattr__")
    if own is not None:
        call(it, Const(own), [items, Const(name), value], {})
        return
    _refuse_frozen(it, items.type, name, "assign to")
    assign_plainly(it, items, name, value)


def assign_plainly(it: Interpreter, items: Items, name: str, value: Value) -> None:
    """What `object.__setattr__` does."""
    cls = items.type
    found = static_lookup(cls, name)
    if isinstance(found, property):
        if found.fset is None:
            _no_accessor(it, cls, name, "setter")
        call(it, as_known(found.fset), [items, value], {})
        return
    if found is not MISSING and is_data_descriptor(found):
        setter = own_method(type(found), "__set__")
        if setter is None:
            raise_now(it, AttributeError, f"the attribute '{name}' cannot be assigned")
        call(it, Const(setter), [Const(found), items, value], {})
        return
    if "__dict__" in items.keys and name not in items.keys:
        writes.set_item(it, now(it, items[CONTENTS]), Const(name), value)
        return
    own = name == "__dict__" and value_is_itself(items, value) and form_of_contents(cls) == "dict"
    if name in ("__class__", "__dict__") and not own:
        raise it.unsupported(f"assigning to `{name}` of an object", "Create a new object instead.")
    if items.form == "namedtuple" and not (cls.__dictoffset__ and name not in items.keys):
        raise_now(it, AttributeError, "can't set attribute")
    if not cls.__dictoffset__ and not isinstance(found, types.MemberDescriptorType):
        no_attribute(it, cls, name)
    writes.write_attribute(it, items, name, Const(dict) if own else value)


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
        call(it, Const(own), [items, Const(name)], {})
        return
    _refuse_frozen(it, items.type, name, "delete")
    delete_plainly(it, items, name)


def delete_plainly(it: Interpreter, items: Items, name: str) -> None:
    """What `object.__delattr__` does."""
    found = static_lookup(items.type, name)
    if isinstance(found, property):
        if found.fdel is None:
            _no_accessor(it, items.type, name, "deleter")
        call(it, as_known(found.fdel), [items], {})
        return
    if found is not MISSING and is_data_descriptor(found):
        deleter = own_method(type(found), "__delete__")
        if deleter is None:
            raise_now(it, AttributeError, f"the attribute '{name}' cannot be deleted")
        call(it, Const(deleter), [Const(found), items], {})
        return
    if "__dict__" in items.keys and name in own_entries(it, items).keys:
        writes.delete_item(it, own_entries(it, items), Const(name))
        return
    if name not in items.keys:
        no_attribute(it, items.type, name)
    writes.remove_attribute(it, items, name)


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
    if found is MISSING or isinstance(found, _STORAGE) or hasattr(type(found), "__get__"):
        return None
    return class_attributes.value_of_class(it, cls, name)


# --- super --------------------------------------------------------------------------------


@record
class Super:
    """Where `super()` looks: in the classes after one of them."""

    after: type
    cls: type


def super_of(it: Interpreter, after: type, receiver: Value) -> Items:
    """`super(after, receiver)`."""
    if isinstance(receiver, Const) and isinstance(receiver.value, type):
        cls = receiver.value if issubclass(receiver.value, after) else type(receiver.value)
    else:
        cls = class_of(receiver)
    if cls is None or not issubclass(cls, after):
        raise it.unsupported(
            "the class of the object that `super` is asked for is known only when the program runs",
            "Name the base class: `Base.method(self, x)`.",
        )
    return Items("super", ("object",), (receiver,), Super(after, cls))


def read_super(it: Interpreter, items: Items, name: str) -> Value:
    """`super().name`."""
    where: Super = items.type
    receiver = items["object"]
    classes = where.cls.__mro__[where.cls.__mro__.index(where.after) + 1 :]
    found = search(classes, name)
    if name == "__class__" or found is MISSING:
        raise_now(it, AttributeError, f"'super' object has no attribute '{name}'")
    of_class = isinstance(receiver, Const) and receiver.value is where.cls
    if of_class and isinstance(found, types.FunctionType):
        return Const(found)
    if name == "__new__" and isinstance(found, staticmethod):
        return as_known(found.__func__)
    return from_class(it, receiver, where.cls, name, found)


# --- namedtuples --------------------------------------------------------------------------


def replaced(it: Interpreter, items: Items, changes: Kwargs) -> Value:
    """`items._replace(**changes)`."""
    unknown = [name for name in changes if name not in items.keys]
    if unknown:
        raise_now(it, ValueError, f"Got unexpected field names: {unknown!r}")
    return items.holding([changes.get(key, items[key]) for key in items.keys])


def method_of_namedtuple(items: Items, name: str) -> Value | None:
    """A method that every namedtuple has."""
    if name in ("_replace", "_asdict"):
        return Native(name, functools.partial(_call_of_namedtuple, items, name))
    if name == "_fields":
        return as_known(namedtuple_fields(items.type))
    return None


def _call_of_namedtuple(
    items: Items, name: str, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    if name == "_replace":
        return replaced(it, items, kwargs)
    return Items("dict", items.keys, items.values)
