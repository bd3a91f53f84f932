"""Built-in and standard functions about objects: their attributes."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable, Sequence
from typing import Any

from ...ir.graph import UNDEFINED, Block, Const, Var, walk
from ...ir.types import BOOL
from ...ops import structure as st
from ..classes import class_lookup, instances
from ..classes.bound_methods import bound
from ..containers import attribute_writes
from ..containers.items import opened
from ..domain.values import (
    HEAP_TYPE,
    Args,
    Handler,
    Items,
    Kwargs,
    Maybe,
    Native,
    Value,
    is_object,
    tuple_of,
)
from ..heap import now
from ..machine.failing import raise_now
from ..machine.guards import has
from ..machine.interpreter import Interpreter
from ..machine.session import NeverReturns
from ..objects import (
    class_attributes,
    construct,
    function_parts,
    object_changes,
    objects,
    super_lookup,
)
from ..objects.attributes import refuse_bound_anew
from ..objects.objects import by_name, known_name
from ..polyfills.stdlib import collections as container_polyfills, inspect as inspect_polyfills


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
            return Const(super_lookup.found_by_super(value, name) is not class_lookup.MISSING)
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
    if given is not None:
        return given
    present = has(it.reading.guards, known, name)
    if not present:
        refuse_bound_anew(it, known, name)
    return Const(present)


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
        attribute_writes.set_attribute(it, target, attribute, value)
        return Const(None)

    return by_name(it, name, assign)


def _delattr(it: Interpreter, args: Args, kwargs: Kwargs) -> Value:
    target, name = args
    attribute_writes.delete_attribute(it, target, known_name(it, name))
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


HANDLERS: list[tuple[Any, Handler]] = [
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
    (vars, _vars),
    (operator.attrgetter, _attrgetter),
    (operator.methodcaller, _methodcaller),
    (types.MethodType, _bound_method),
]
