"""Built-in and standard functions about objects: their attributes, their classes, copies of them."""

from __future__ import annotations

import collections
import dataclasses
import functools
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...ir.graph import UNDEFINED, Block, Const, Var, walk
from ...ir.types import BOOL, COMPLEX, Array, Number
from ...ops import structure as st
from ...ops.arrays import shape as sh
from ...runtime.containers import CONTENTS
from ..classes import class_lookup, instances
from ..classes.bound_methods import bound
from ..classes.class_lookup import class_of
from ..containers import writes
from ..containers.items import opened
from ..data import columns
from ..domain.number_classes import is_exact, is_instance
from ..domain.values import (
    HEAP_TYPE,
    Args,
    Closure,
    Handler,
    Items,
    Kwargs,
    Maybe,
    Native,
    Value,
    is_object,
    kind_of_value,
    tuple_of,
)
from ..heap import now
from ..machine.failing import raise_now
from ..machine.guards import has
from ..machine.interpreter import Interpreter
from ..machine.session import NeverReturns
from ..objects import class_attributes, construct, function_parts, object_changes, objects
from ..objects.objects import by_name, known_name
from ..polyfills import manifest
from ..polyfills.pandas import columns as column_polyfills
from ..polyfills.stdlib import (
    collections as container_polyfills,
    container_bases,
    inspect as inspect_polyfills,
)

# --- attributes ---------------------------------------------------------------------------


def _getattr(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, name, *default = args
    if isinstance(value, Const) and isinstance(value.value, types.ModuleType):
        if isinstance(name, Var):  # a function, most likely: differentiated when it is called
            return it.emit(st.opaque, Const(getattr), *map(it.atom, args), names=Const(()))
    return by_name(it, name, lambda attribute: _get(it, value, attribute, default))


def _get(it: Interpreter, value: Value, name: str, default: Sequence[Value]) -> Value:
    value = opened(it, value)
    if not default:
        return it.getattr(value, name)
    present = _has(it, value, name)
    if isinstance(present, Const):
        return it.getattr(value, name) if present.value else default[0]
    if is_object(value) and _is_computed(class_lookup.static_lookup(value.type, name)):  # type: ignore[union-attr]
        read = inspect_polyfills.attribute_or
        return it.call(Const(read), [value, Const(name), default[0]], {})
    return it.choose(present, lambda: it.getattr(value, name), lambda: default[0])


def _hasattr(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, name = args
    return by_name(it, name, lambda attribute: _has(it, opened(it, value), attribute))


def _has(it: Interpreter, value: Value, name: str) -> Value:
    """Whether a value has an attribute."""
    match value:
        case Items() if is_object(value) and value.type is not types.MethodType:
            return _object_has(it, value, name)
        case Items(form="super"):
            return Const(objects.found_by_super(value, name) is not class_lookup.MISSING)
        case Const(value=constant):
            return _known_has(it, constant, name)
        case _:
            said = function_parts.has(it, value, name)
    if said is not None:
        return Const(said)
    answers = {instances.gives(cls, name) for cls in instances.plain_classes_of(it, value)}
    if len(answers) == 1:
        return Const(answers.pop())
    instances.refuse_unknown_class(it, value)
    return it.opaque(hasattr, [value, Const(name)], {}, BOOL)


def _known_has(it: Interpreter, known: Any, name: str) -> Value:
    given = class_attributes.class_has(it, known, name) if isinstance(known, type) else None
    return Const(has(it.reading.guards, known, name)) if given is None else given


def _object_has(it: Interpreter, items: Items, name: str) -> Value:
    if "__dict__" in items.keys and name in class_lookup.own_entries(it, items).keys:
        return Const(True)
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
    given = class_attributes.class_has(it, cls, name)
    if given is not None:
        return given
    seen = container_polyfills.class_to_see(cls)
    if seen is not cls:
        return Const(instances.gives(seen, name))
    found = class_lookup.static_lookup(cls, name)
    if found is class_lookup.MISSING and class_lookup.own_method(cls, "__getattr__") is None:
        return Const(False)
    if isinstance(found, types.GetSetDescriptorType):
        return Const(True)
    if isinstance(
        found, types.MemberDescriptorType
    ):  # a slot that is empty; those in C have a value
        return Const(not found.__objclass__.__flags__ & HEAP_TYPE)
    if found is not class_lookup.MISSING and not _is_computed(found):
        has(it.reading.guards, cls, name)
        return Const(True)
    return _can_read(it, items, name)


def _is_computed(found: Any) -> bool:
    """Whether a class's attribute is what a function gives, which may raise AttributeError."""
    return (
        isinstance(found, property) or class_lookup.own_method(type(found), "__get__") is not None
    )


def _can_read(it: Interpreter, items: Items, name: str) -> Value:
    """Whether reading an attribute gives a value; what the reading would emit is taken back.

    Where what computes it may raise an AttributeError, or another exception, the run tries.
    """
    asked_before, it.only_asks = it.only_asks, True
    ends = False
    with it.aside() as builder:
        frames = len(it.frames)
        try:
            (objects.given_by_class if name in items.keys else objects.read)(it, items, name)
        except NeverReturns:
            del it.frames[frames:]
            ends = True
        finally:
            it.only_asks = asked_before
        raised = _raised_in(builder.block((), []))
    missing = [cls is None or issubclass(cls, AttributeError) for cls in raised]
    if ends and len(raised) == 1 and raised[0] is not None and missing[0]:
        return Const(False)
    if not ends and not any(missing):
        return Const(True)
    return it.call(Const(inspect_polyfills.has_attribute), [items, Const(name)], {})


def _raised_in(block: Block) -> list[type | None]:
    """The classes of what a block raises itself; None of one that only the run knows."""
    eqns = walk(block)
    made = {out: eqn for eqn in eqns for out in eqn.outs}
    raised = [made.get(eqn.args[0]) for eqn in eqns if eqn.op is st.raise_]  # type: ignore[arg-type]
    called = [eqn.args[0] if eqn is not None and eqn.op is st.opaque else None for eqn in raised]
    known = [each.value if isinstance(each, Const) else None for each in called]
    return [each if isinstance(each, type) else None for each in known]


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
        items = it.known_object(target)
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
    return construct.blank(it, cls.value, args[1:])


def _vars(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if not args:
        raise it.unsupported(
            "`vars()` without an object cannot be read before it runs", "Name the variables."
        )
    value = opened(it, args[0])
    if _has(it, value, "__dict__") == Const(False):
        raise_now(it, TypeError, "vars() argument must have __dict__ attribute")
    return it.getattr(value, "__dict__")


def _attrgetter(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    paths = [known_name(it, name).split(".") for name in args]

    def run(it: Interpreter, values: Args, named: Kwargs) -> Value:
        got: list[Value] = []
        for path in paths:
            value = values[0]
            for name in path:
                value = it.getattr(opened(it, value), name)
            got.append(value)
        return got[0] if len(got) == 1 else tuple_of(*got)

    return Native("attrgetter", run)


def _bound_method(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    function, receiver = args
    return bound(receiver, function, "method")


def _methodcaller(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    name, *before = args
    run = functools.partial(_call_method, known_name(it, name), before, dict(kwargs))
    return Native("methodcaller", run)


def _call_method(
    name: str, before: Args, kwargs: Kwargs, it: Interpreter, values: Args, named: Kwargs
) -> Value:
    return it.call_method(now(it, values[0]), name, before, kwargs)


# --- classes ------------------------------------------------------------------------------


def _isinstance(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, classes = args
    value = opened(it, value)
    known = class_of(value)
    known = container_polyfills.class_to_see(known) if known is not None else None
    wanted = _classes(classes)
    if isinstance(kind_of_value(classes), Number):
        message = "isinstance() arg 2 must be a type, a tuple of types, or a union"
        raise_now(it, TypeError, message)
    if known is None or wanted is None:
        return it.opaque(isinstance, [value, classes], kwargs)
    kind = kind_of_value(value)
    if isinstance(kind, Array) and it.reading.narrow:
        return it.opaque(isinstance, args, kwargs, BOOL)
    if isinstance(value, Var) and isinstance(kind, Number):
        said = is_instance(it, value, kind, wanted)
        return it.opaque(isinstance, args, kwargs, BOOL) if said is None else Const(said)
    return Const(any(_is_subclass(value, known, c) for c in wanted))


def _is_complex_object(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`np.iscomplexobj`."""
    (value,) = map(it.atom, (*args, *kwargs.values()))
    if isinstance(value, Var) and value.kind == COMPLEX and is_exact(it, value):
        return Const(True)
    return it.emit(sh.iscomplexobj, value)


def _is_known_as(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value, cls = args
    known = class_of(opened(it, value))
    assert isinstance(cls, Const)
    return Const(
        known is not None and issubclass(container_polyfills.class_to_see(known), cls.value)
    )


def _issubclass(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    cls, classes = args
    wanted = _classes(classes)
    if isinstance(cls, Const) and isinstance(cls.value, type) and wanted is not None:
        return Const(issubclass(cls.value, tuple(wanted)))
    return it.opaque(issubclass, args, kwargs)


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


def _make_class(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    raise it.unsupported(
        "a class that a differentiated function makes is not read",
        "Define the class outside of the function.",
    )


def _type(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    if len(args) == 3:
        return _make_class(it, args, kwargs)
    return instances.type_of(it, opened(it, args[0]))


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
    value = opened(it, args[0])
    match value:
        case Closure() | Native():
            return Const(True)
        case Const(value=constant):
            return Const(callable(constant))
        case Items(form="function" | "derivative"):
            return Const(True)
        case Items():
            known = class_of(value)
            found = (
                class_lookup.MISSING
                if known is None
                else class_lookup.static_lookup(known, "__call__")
            )
            return Const(found is not class_lookup.MISSING)
        case _:
            return it.opaque(callable, args, kwargs)


def _tuple_new(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    """`tuple.__new__(cls, items)` of a namedtuple."""
    cls, *items = args
    if isinstance(cls, Const) and class_lookup.form_of_contents(cls.value) == "tuple":
        return construct.blank(it, cls.value, items)
    values = it.known_items(items[0]) if items else []
    if not isinstance(cls, Const) or not hasattr(cls.value, "_fields") or values is None:
        raise it.unsupported("`tuple.__new__` of these items", "Call the class itself.")
    return it.new_namedtuple(cls.value, values, {})


def _type_call(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    cls, *rest = args
    assert isinstance(cls, Const)
    return it.construct_plainly(cls.value, rest, kwargs)


def _contents_of(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    value = opened(it, args[0])
    return now(it, value[CONTENTS]) if is_object(value) and CONTENTS in value.keys else value  # type: ignore[union-attr, index]


HANDLERS: list[tuple[Any, Handler]] = [
    (container_bases.contents_of, _contents_of),
    (getattr, _getattr),
    (hasattr, _hasattr),
    (setattr, _setattr),
    (delattr, _delattr),
    (object.__setattr__, _plainly(object_changes.assign_plainly)),
    (object.__delattr__, _plainly(object_changes.delete_plainly)),
    (object.__getattribute__, _plainly(objects.read_plainly)),
    (object.__new__, _new),
    (dict.__new__, _new),
    (list.__new__, _new),
    (tuple.__new__, _tuple_new),
    (type.__call__, _type_call),
    (vars, _vars),
    (operator.attrgetter, _attrgetter),
    (operator.methodcaller, _methodcaller),
    (types.MethodType, _bound_method),
    (isinstance, _isinstance),
    (np.iscomplexobj, _is_complex_object),
    (manifest.is_known_as, _is_known_as),
    (column_polyfills.is_column, lambda it, args, kwargs: Const(columns.is_column(args[0]))),
    (issubclass, _issubclass),
    (type, _type),
    (collections.namedtuple, _make_class),  # noqa: PYI024
    (NamedTuple, _make_class),
    (dataclasses.make_dataclass, _make_class),
    (super, _super),
    (callable, _callable),
]
