"""Built-in and standard functions about objects: their attributes, their classes, copies of them."""

from __future__ import annotations

import collections
import copy
import dataclasses
import functools
import operator
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..ir.graph import UNDEFINED, Const, Var
from ..ir.types import BOOL, UNKNOWN, Array, Number, Other, Static
from ..ops import memory as me
from ..ops import structure as st
from . import cells, construct, objects, stand_ins, writes
from .attributes import call_method, copied, read_attribute
from .calls import call, opaque
from .counts import known
from .failing import raise_now
from .heap import can_be_one, may_be_one, now, place_of
from .items import open_up
from .number_classes import has_attribute, is_instance
from .objects import by_name, class_of, known_name
from .reading import Diverges
from .values import (
    Closure,
    Items,
    Maybe,
    Native,
    Place,
    Value,
    as_known,
    is_mutable,
    is_object,
    kind_of_value,
    tuple_of,
)

if TYPE_CHECKING:
    from .interpreter import Interpreter

Args = Sequence[Value]
Kwargs = Mapping[str, Value]
Handler = Callable[["Interpreter", Args, Kwargs], Value]


def _current(it: Interpreter, value: Value) -> Value:
    """A value as it is now, taken apart where its structure is known."""
    value = now(it, value)
    return open_up(it, value) if isinstance(value, Var) else value


# --- attributes ---------------------------------------------------------------------------


def _getattr(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, name, *default = args
    if isinstance(value, Const) and isinstance(value.value, types.ModuleType):
        name = known(it, name)
        if isinstance(name, Var):  # a function, most likely: differentiated when it is called
            return it.emit(st.opaque, Const(getattr), *map(it.atom, args), names=Const(()))
    return by_name(it, name, lambda attribute: _get(it, value, attribute, default))


def _get(it: Interpreter, value: Value, name: str, default: Sequence[Value]) -> Value:
    value = _current(it, value)
    if not default:
        return read_attribute(it, value, name)
    present = _has(it, value, name)
    if isinstance(present, Const):
        return read_attribute(it, value, name) if present.value else default[0]
    return it.choose(present, lambda: read_attribute(it, value, name), lambda: default[0])


def _hasattr(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, name = args
    return by_name(it, name, lambda attribute: _has(it, _current(it, value), attribute))


def _has(it: Interpreter, value: Value, name: str) -> Value:
    """Whether a value has an attribute."""
    match value:
        case Items() if is_object(value):
            return _object_has(it, value, name)
        case Const(value=constant):
            return Const(hasattr(constant, name))
        case Closure():
            given = cells.attribute_of_function(it, value, name) is not None
            return Const(given or hasattr(value.function or types.FunctionType, name))
        case _:
            pass
    kind = kind_of_value(value)
    if isinstance(kind, Array):
        return Const(hasattr(np.ndarray, name))
    if isinstance(kind, Number):
        said = has_attribute(it, it.atom(value), kind, name)
        if said is not None:
            return Const(said)
    if isinstance(value, Items):
        known = class_of(value)
        return Const(known is not None and hasattr(known, name))
    return opaque(it, hasattr, [value, Const(name)], {}, BOOL)


def _object_has(it: Interpreter, items: Items, name: str) -> Value:
    if name in items.keys:
        held = items[name]
        if not isinstance(held, Maybe):
            return Const(True)
        kept = it.emit(st.is_not, held.witness, UNDEFINED)
        if not objects.class_gives(items.type, name):
            return kept
        return it.choose(kept, lambda: Const(True), lambda: _class_gives(it, items, name))
    return _class_gives(it, items, name)


def _class_gives(it: Interpreter, items: Items, name: str) -> Value:
    """Whether an object has an attribute that it does not keep."""
    cls = items.type
    if name == "__class__" or (name == "__dict__" and cls.__dictoffset__):
        return Const(True)
    found = objects.static_lookup(cls, name)
    if found is objects.MISSING and objects.own_method(cls, "__getattr__") is None:
        return Const(False)
    if isinstance(found, types.MemberDescriptorType | types.GetSetDescriptorType):
        return Const(False)
    if found is not objects.MISSING and not _is_computed(found):
        return Const(True)
    return Const(_can_read(it, items, name))


def _is_computed(found: Any) -> bool:
    """Whether a class's attribute is what a function gives, which may raise AttributeError."""
    return isinstance(found, property) or objects.own_method(type(found), "__get__") is not None


def _can_read(it: Interpreter, items: Items, name: str) -> bool:
    """Whether reading an attribute gives a value; what the reading would emit is taken back."""
    with it.aside():
        frames = len(it.frames)
        try:
            (objects.given_by_class if name in items.keys else objects.read)(it, items, name)
        except Diverges:
            del it.frames[frames:]
            return False
        return True


def _setattr(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    target, name, value = args

    def assign(attribute: str) -> Value:
        writes.set_attribute(it, target, attribute, value)
        return Const(None)

    return by_name(it, name, assign)


def _delattr(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    target, name = args
    writes.delete_attribute(it, target, known_name(it, name))
    return Const(None)


def _plainly(act: Callable[..., Value | None]) -> Handler:
    """A method of `object` that is called with the object it works on."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        target, name, *value = args
        items = objects.current(it, target)
        done = act(it, items, known_name(it, name), *value)
        return Const(None) if done is None else done

    return handler


def _new(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    cls = args[0]
    if not isinstance(cls, Const):
        raise it.unsupported(
            "`object.__new__` needs a class that is known when the program is read",
            "Name the class.",
        )
    return construct.blank(it, cls.value)


def _vars(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not args:
        raise it.unsupported(
            "`vars()` without an object cannot be read before it runs", "Name the variables."
        )
    return read_attribute(it, _current(it, args[0]), "__dict__")


def _attrgetter(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    paths = [known_name(it, name).split(".") for name in args]

    def run(it: Interpreter, values: Args, named: Kwargs) -> Value:
        got: list[Value] = []
        for path in paths:
            value = values[0]
            for name in path:
                value = read_attribute(it, _current(it, value), name)
            got.append(value)
        return got[0] if len(got) == 1 else tuple_of(*got)

    return Native("attrgetter", run)


def _methodcaller(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    name, *before = args
    run = functools.partial(_call_method, known_name(it, name), before, dict(kwargs))
    return Native("methodcaller", run)


def _call_method(
    name: str, before: Args, kwargs: Kwargs, it: Interpreter, values: Args, named: Kwargs
) -> Value:
    return call_method(it, now(it, values[0]), name, before, kwargs)


# --- classes ------------------------------------------------------------------------------


def _isinstance(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, classes = args
    value = _current(it, value)
    known = class_of(value)
    known = stand_ins.CLASSES.get(known, known) if known is not None else None
    wanted = _classes(classes)
    if known is None or wanted is None:
        return opaque(it, isinstance, [value, classes], kwargs)
    kind = kind_of_value(value)
    if isinstance(value, Var) and isinstance(kind, Number):
        said = is_instance(it, value, kind, wanted)
        return opaque(it, isinstance, args, kwargs, BOOL) if said is None else Const(said)
    return Const(any(_is_subclass(value, known, c) for c in wanted))


def _issubclass(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    cls, classes = args
    wanted = _classes(classes)
    if isinstance(cls, Const) and isinstance(cls.value, type) and wanted is not None:
        return Const(issubclass(cls.value, tuple(wanted)))
    return opaque(it, issubclass, args, kwargs)


def _is_subclass(value: Value, known: type, wanted: type) -> bool:
    members = getattr(wanted, "__protocol_attrs__", None)
    if members is None and getattr(wanted, "_is_protocol", False):
        members = wanted.__annotations__
    if members and is_object(value) and not issubclass(wanted, known):
        return all(name in value.keys or hasattr(known, name) for name in members)  # type: ignore[union-attr]
    return issubclass(known, wanted)


def _classes(value: Value) -> list[type] | None:
    match value:
        case Const(value=type() as cls):
            return [cls]
        case Const(value=types.UnionType() as union):
            return list(union.__args__)
        case Items(values=values):
            found = [_classes(v) for v in values]
            return None if None in found else [c for cs in found if cs for c in cs]
        case _:
            return None


def _type(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) != 1:
        raise it.unsupported(
            "`type` with three arguments makes a class, which cannot be read before it runs",
            "Write a `class` statement outside.",
        )
    value = _current(it, args[0])
    known = class_of(value) if not isinstance(value, Var) else None
    return Const(known) if known is not None else opaque(it, type, args, kwargs)


def _super(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 2 and isinstance(args[0], Const):
        return objects.super_of(it, args[0].value, args[1])
    if args:
        raise it.unsupported("`super` with these arguments", "Write `super()`.")
    node = it.frame.closure.node
    parameters = [*node.args.posonlyargs, *node.args.args]
    cls = _enclosing_class(it)
    receiver = it.vars.get(parameters[0].arg) if parameters else None
    if cls is None or receiver is None:
        raise_now(it, RuntimeError, "super(): no arguments")
        raise AssertionError("unreachable")
    return objects.super_of(it, cls, now(it, receiver))


def _enclosing_class(it: Interpreter) -> type | None:
    """The class whose body the running function stands in."""
    scope = it.frame.scope
    while scope is not None:
        found = scope.vars.get("__class__")
        if isinstance(found, Const):
            return found.value
        scope = scope.outer
    return None


def _callable(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value = _current(it, args[0])
    match value:
        case Closure() | Native():
            return Const(True)
        case Const(value=constant):
            return Const(callable(constant))
        case Items(form="function" | "derivative"):
            return Const(True)
        case Items():
            known = class_of(value)
            found = objects.MISSING if known is None else objects.static_lookup(known, "__call__")
            return Const(found is not objects.MISSING)
        case _:
            return opaque(it, callable, args, kwargs)


# --- copies -------------------------------------------------------------------------------


def _copy(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value = _current(it, args[0])
    if not isinstance(value, Items):
        return copied(it, value)
    own = _own_copy(it, value, "__copy__")
    if own is not None:
        return own
    return _again(value, value.values) if is_mutable(value) else value


def _again(items: Items, values: Sequence[Value]) -> Items:
    """Another object with these contents."""
    return Items(items.form, items.keys, tuple(values), items.type)


def _own_copy(it: Interpreter, items: Items, name: str, *args: Value) -> Value | None:
    if not is_object(items):
        return None
    own = objects.own_method(items.type, name)
    if own is not None:
        return call(it, Const(own), [items, *args], {})
    for other in ("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__"):
        if objects.own_method(items.type, other) is not None:
            raise it.unsupported(
                f"a copy of an object whose class has `{other}`",
                f"Give its class a `{name}` method.",
            )
    return None


def _deepcopy(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    return _deep(it, args[0], {})


def own_copy(it: Interpreter, value: Value) -> Value:
    """A deep copy whose arrays lie in memory as the originals: what gives a view of those gives one of these."""
    return _deep(it, value, {}, lying=True)


def _deep(
    it: Interpreter,
    value: Value,
    done: dict[int | Place | Var, Value | None],
    *,
    lying: bool = False,
) -> Value:
    value = _current(it, value)
    if not isinstance(value, Items):
        if not isinstance(value, Var) or isinstance(value.kind, Number | Other | Static):
            return value
        return _duplicate(it, value, done, lying=lying)
    if value.form in ("function", "derivative"):
        return value
    key = value.place if value.place is not None else id(value)
    if key in done:
        made = done[key]
        if made is None:
            raise it.unsupported(
                "`copy.deepcopy` of an object that refers to itself",
                "Copy the parts one by one and connect them again.",
            )
        return made
    done[key] = None
    own = _own_copy(it, value, "__deepcopy__", Items("dict", (), ()))
    if own is None:
        own = _again(value, [_deep(it, item, done, lying=lying) for item in value.values])
    done[key] = own
    return own


def _duplicate(
    it: Interpreter, var: Var, done: dict[int | Place | Var, Value | None], *, lying: bool
) -> Value:
    """The copy of a run-time object: one for each object, and of what may be one object maybe one."""
    if var in done:
        return done[var]  # type: ignore[return-value]
    made = it.builder.emit_with(me.duplicate, [var], {"lying": Const(True)} if lying else {})
    for other, twin in done.items():
        if isinstance(other, Var) and isinstance(twin, Var) and isinstance(made, Var):
            if can_be_one(it, var, other):
                may_be_one(it, place_of(it, made), place_of(it, twin))
    done[var] = made
    return made


# --- dataclasses --------------------------------------------------------------------------


def _replace(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    items = _dataclass(it, args[0], "replace")
    given = dict(kwargs)
    for f in items.type.__dataclass_fields__.values():
        kind = f._field_type.name  # noqa: SLF001
        if kind == "_FIELD_CLASSVAR" or (f.init and f.name in given):
            continue
        if not f.init:
            if f.name in given:
                message = f"field {f.name} is declared with init=False, it cannot be specified with replace()"
                raise_now(it, ValueError, message)
        elif kind != "_FIELD_INITVAR":
            given[f.name] = objects.read(it, items, f.name)
        elif f.default is dataclasses.MISSING:
            raise_now(it, ValueError, f"InitVar {f.name!r} must be specified with replace()")
    return construct.construct(it, items.type, [], given)


def _replace_any(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`copy.replace`."""
    items = _current(it, args[0])
    if isinstance(items, Items) and items.form == "namedtuple":
        return objects.replaced(it, items, kwargs)
    own = objects.own_method(items.type, "__replace__") if is_object(items) else None  # type: ignore[union-attr]
    if own is not None:
        return call(it, Const(own), [items], kwargs)
    return _replace(it, args, kwargs)


def _dataclass(it: Interpreter, value: Value, what: str) -> Items:
    value = _current(it, value)
    if isinstance(value, Items) and value.form == "dataclass":
        return value
    if isinstance(value, Var) and value.kind == UNKNOWN:
        raise it.unsupported(
            f"`dataclasses.{what}` of an object that is known only when the program runs",
            "Create the object inside the function, or pass it as an argument.",
        )
    raise_now(it, TypeError, f"{what}() should be called on dataclass instances")
    raise AssertionError("unreachable")


def _asdict(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    factory = kwargs.get("dict_factory", args[1] if len(args) > 1 else None)

    def make(names: Sequence[str], values: Sequence[Value]) -> Value:
        if factory is None:
            return Items("dict", tuple(names), tuple(values))
        pairs = [tuple_of(Const(name), value) for name, value in zip(names, values, strict=True)]
        return call(it, factory, [Items("list", tuple(range(len(pairs))), tuple(pairs))], {})

    return _in_plain_containers(it, _dataclass(it, args[0], "asdict"), make)


def _astuple(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    factory = kwargs.get("tuple_factory", args[1] if len(args) > 1 else None)

    def make(names: Sequence[str], values: Sequence[Value]) -> Value:
        if factory is None:
            return tuple_of(*values)
        listed = Items("list", tuple(range(len(values))), tuple(values))
        return call(it, factory, [listed], {})

    return _in_plain_containers(it, _dataclass(it, args[0], "astuple"), make)


def _in_plain_containers(
    it: Interpreter, value: Value, make: Callable[[Sequence[str], Sequence[Value]], Value]
) -> Value:
    """A copy in which every dataclass is what `make` makes of its fields."""
    value = _current(it, value)
    match value:
        case Items(form="dataclass"):
            names = [f.name for f in dataclasses.fields(value.type)]
            fields = [objects.read(it, value, name) for name in names]
            return make(names, [_in_plain_containers(it, f, make) for f in fields])
        case Items(form="list" | "tuple" | "dict" | "namedtuple", values=values):
            return _again(value, [_in_plain_containers(it, v, make) for v in values])
        case _:
            return _deep(it, value, {})


def _fields(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value = _current(it, args[0])
    cls = value.value if isinstance(value, Const) else class_of(value)
    return as_known(dataclasses.fields(cls))  # type: ignore[arg-type]


def _is_dataclass(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value = _current(it, args[0])
    known = value.value if isinstance(value, Const) else class_of(value)
    if known is None:
        return opaque(it, dataclasses.is_dataclass, args, kwargs)
    return Const(dataclasses.is_dataclass(known))


# --- classes that the package attrs has made ------------------------------------------------


def _attrs_of(cls: type) -> Sequence[Any]:
    return getattr(cls, "__attrs_attrs__", ())


def _evolve(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    items = objects.current(it, args[0])
    given = dict(kwargs)
    for each in _attrs_of(items.type):
        name = getattr(each, "alias", None) or each.name.lstrip("_")
        if each.init and name not in given:
            given[name] = objects.read(it, items, each.name)
    return construct.construct(it, items.type, [], given)


def _attrs_as(make: Callable[[Sequence[str], Sequence[Value]], Value]) -> Handler:
    """`attrs.asdict` and `attrs.astuple`."""

    def handler(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
        if len(args) > 1 or kwargs:
            raise it.unsupported(
                "options of `attrs.asdict` and `attrs.astuple` are not covered",
                "Write the attributes out.",
            )

        def plain(value: Value) -> Value:
            value = _current(it, value)
            names = [each.name for each in _attrs_of(getattr(value, "type", None) or object)]
            if isinstance(value, Items) and names:
                return make(names, [plain(objects.read(it, value, name)) for name in names])
            if isinstance(value, Items) and value.form in ("list", "tuple", "dict"):
                return _again(value, [plain(item) for item in value.values])
            return value

        return plain(args[0])

    return handler


def _attrs_fields(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    (cls,) = args
    assert isinstance(cls, Const)
    return tuple_of(*map(Const, _attrs_of(cls.value)))


ATTRS: dict[str, Handler] = {
    "evolve": _evolve,
    "asdict": _attrs_as(lambda names, values: Items("dict", tuple(names), tuple(values))),
    "astuple": _attrs_as(lambda names, values: tuple_of(*values)),
    "fields": _attrs_fields,
}
"""The functions of attrs that look into objects, by name."""


def is_of_attrs(function: Any) -> bool:
    """Whether a function is one of these; `__module__` of `evolve` is whatever class it was last put into."""
    name = function.__name__
    homes = [sys.modules.get(module) for module in ("attr", "attrs")]
    return name in ATTRS and any(getattr(home, name, None) is function for home in homes)


def _tuple_new(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`tuple.__new__(cls, items)` of a namedtuple."""
    from .iteration import known_items

    cls, *items = args
    values = known_items(it, items[0]) if items else []
    if not isinstance(cls, Const) or not hasattr(cls.value, "_fields") or values is None:
        raise it.unsupported("`tuple.__new__` of these items", "Call the class itself.")
    return construct.new_namedtuple(it, cls.value, values, {})


@functools.cache
def _namedtuple_class(*args: Any, **kwargs: Any) -> type:
    return collections.namedtuple(*args, **kwargs)  # type: ignore[misc]  # noqa: PYI024


def _make_namedtuple(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`collections.namedtuple` of known names: the class itself, one for the same names."""
    try:
        known_args = [it.constant(arg) for arg in args]
        named = {name: it.constant(value) for name, value in kwargs.items()}
    except LookupError:
        raise it.unsupported(
            "the fields of a namedtuple are known only when the program runs",
            "Write their names out.",
        ) from None
    return Const(_namedtuple_class(*known_args, **named))


def _type_call(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    cls, *rest = args
    assert isinstance(cls, Const)
    return construct.construct_plainly(it, cls.value, rest, kwargs)


HANDLERS: list[tuple[Any, Handler]] = [
    (getattr, _getattr),
    (hasattr, _hasattr),
    (setattr, _setattr),
    (delattr, _delattr),
    (object.__setattr__, _plainly(objects.assign_plainly)),
    (object.__delattr__, _plainly(objects.delete_plainly)),
    (object.__getattribute__, _plainly(objects.read_plainly)),
    (object.__new__, _new),
    (tuple.__new__, _tuple_new),
    (collections.namedtuple, _make_namedtuple),  # noqa: PYI024  # what programs call
    (type.__call__, _type_call),
    (vars, _vars),
    (operator.attrgetter, _attrgetter),
    (operator.methodcaller, _methodcaller),
    (isinstance, _isinstance),
    (issubclass, _issubclass),
    (type, _type),
    (super, _super),
    (callable, _callable),
    (copy.copy, _copy),
    (copy.deepcopy, _deepcopy),
    (dataclasses.replace, _replace),
    (dataclasses.asdict, _asdict),
    (dataclasses.astuple, _astuple),
    (dataclasses.fields, _fields),
    (dataclasses.is_dataclass, _is_dataclass),
    *([(copy.replace, _replace_any)] if hasattr(copy, "replace") else []),  # type: ignore[attr-defined]
]
