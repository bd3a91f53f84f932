"""Attributes and methods of values."""

from __future__ import annotations

import functools
import inspect
import types
from enum import Enum
from typing import Any

import numpy as np

from ...ir.builder import kind_of_atom
from ...ir.graph import Const, Var
from ...ir.types import DTYPE, INT, PICTURE, SLICE, STR, UNKNOWN, Array, Kind, Number, Struct
from ...ops import registry as ops, structure as st
from ...ops.array_kinds import dtype_of
from ...ops.arrays.shape import kind_if_number
from ...ops.program import identity as ident
from ...runtime.containers import own_dictionary
from ..boundary.templates import Template
from ..classes import bound_methods, class_lookup, instances
from ..data import known_text, tables
from ..domain.number_classes import has_exact_dtype, must_be_real
from ..domain.values import (
    PLAIN,
    Args,
    Closure,
    Items,
    Kwargs,
    LazyIterable,
    Maybe,
    Native,
    Value,
    as_known,
    kind_of_value,
)
from ..heap import cells, now
from ..machine import guards
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from . import class_attributes, function_parts, namedtuples, objects, super_lookup
from .methods import MUTATING, method_of_container, method_of_run_time

_OF_SLICES = ("start", "stop", "step")


def read_attribute(it: Interpreter, value: Value, name: str) -> Value:
    """`value.name`."""
    match value:
        case Const(value=types.ModuleType() as module):
            return _of_module(it, module, name)
        case Const(value=Enum() as member):
            return _of_object(it, member, name)  # of a class of its own, if it is a number as well
        case Const(value=constant) if not isinstance(constant, (bool, int, float, complex)):
            if tables.is_table(value):
                return tables.attribute(it, value, name)
            return _of_constant(it, constant, name)
        case Items(form="iterator"):
            said = instances.attribute(it, value, name)
            return it.attribute_of_iterator(value, name) if said is None else said
        case Items():
            return _of_items(it, value, name)
        case Var() | Const():
            return _of_run_time(it, value, name)
        case Closure():
            return function_parts.of_closure(it, value, name)
        case Native(value=inner) if inner is not None and hasattr(inner, name):
            return Const(getattr(inner, name))
        case Native(name="partial") if name in ("func", "args", "keywords"):
            return bound_methods.part_of_partial(value, name)
        case Native() if bound_methods.receiver_of(value) is not None:
            return _of_method(it, value, *bound_methods.receiver_of(value), name)  # type: ignore[misc]
        case Native() | LazyIterable():
            said = instances.attribute(it, value, name)
            if said is not None:
                return said
        case Maybe():
            pass
    raise it.unsupported(
        f"the attribute `{name}` of this value cannot be read here",
        "Read it outside and pass it in.",
    )


def _of_method(
    it: Interpreter, method: Value, receiver: Value, function: Value, name: str
) -> Value:
    """An attribute of a bound method: what it does not have its function has."""
    match name:
        case "__self__":
            return now(it, receiver)
        case "__func__":
            return function
        case "__call__":
            return method
        case "__class__":
            return Const(types.MethodType)
        case _:
            return read_attribute(it, function, name)


def _of_module(it: Interpreter, module: types.ModuleType, name: str) -> Value:
    cell = cells.known_external(it, module, name)
    if cell is not None and (value := cells.contents(it, cell)) is not None:
        return it.checked(value, f"{module.__name__}.{name}")
    if cell is not None or not hasattr(module, name):
        raise_now(it, AttributeError, f"module '{module.__name__}' has no attribute '{name}'")
    return it.lift(module, name, getattr(module, name))


def _of_constant(it: Interpreter, constant: Any, name: str) -> Value:
    if known_text.is_fixed(constant) and hasattr(constant, name):
        return known_text.attribute(constant, name)
    return _of_object(it, constant, name)


def _of_object(it: Interpreter, constant: Any, name: str) -> Value:
    if isinstance(constant, type):
        if name == "__dict__":
            return class_attributes.show_class(it, constant)
        class_lookup.static_lookup(constant, name)
        held = class_attributes.held_by_class(it, constant, name)
        if held is not None:
            return held
    known = _of_signature(constant, name)
    if known is not None:
        return known
    function_parts.refuse_memory(it, constant, name)
    computed = class_lookup.static_lookup(type(constant), name)
    if isinstance(computed, property) and isinstance(computed.fget, types.FunctionType):
        return it.call(Const(computed.fget), [Const(constant)], {})
    if not guards.has(it.reading.guards, constant, name):
        refuse_bound_anew(it, constant, name)
        kind = type(constant).__name__
        message = f"'{kind}' object has no attribute '{name}'"
        raise_now(it, AttributeError, message, name=name)
    found = getattr(constant, name)
    if isinstance(found, (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)):
        if type(constant).__dictoffset__ and not isinstance(constant, type):
            # what it keeps by that name hides the method of its class
            own = own_dictionary(constant)
            guards.rely_on(it.reading.guards, own, name, own.get(name, guards.MISSING))
        return as_known(found)  # a new object at every access: what matters is whose it is
    return it.lift(constant, name, found)


def refuse_bound_anew(it: Interpreter, constant: Any, name: str) -> None:
    """Refuse to read an attribute that was not there before the program ran, and that the program may have bound."""
    if cells.known_external(it, constant, name) is not None:
        raise it.unsupported(
            f"`{name}` of what was there before has no value yet, and the program binds it",
            f"Bind `{name}` before the function is called.",
        )


def _of_signature(constant: Any, name: str) -> Value | None:
    """What stays as it is of a signature: its parameters, and their names, kinds and plain defaults."""
    if not isinstance(constant, (inspect.Signature, inspect.Parameter)):
        return None
    found = getattr(constant, name, None)
    if isinstance(found, types.MappingProxyType):
        return Items("dict", tuple(found), tuple(map(Const, found.values())))  # type: ignore[misc]
    return Const(found) if isinstance(found, (*PLAIN, Enum)) and found is not None else None


def _of_items(it: Interpreter, value: Items, name: str) -> Value:
    items = now(it, value)
    if not isinstance(items, Items):
        return read_attribute(it, items, name)
    match items:
        case Items(form="object", type=types.MethodType):
            return _of_method(it, items, items["__self__"], items["__func__"], name)
        case Items(form="namedtuple"):
            return _of_namedtuple(it, items, name)
        case Items(form="dataclass" | "object"):
            return it.attribute_of_object(items, name)
        case Items(form="super"):
            return super_lookup.read_super(it, items, name)
        case Items(form="function", type=Template() as template):
            return function_parts.of_argument(it, items, template, name)
        case Items():
            said = instances.attribute(it, items, name)
            if said is not None:
                return said
            return Native(name, functools.partial(method_of_container, items, name))


def _of_namedtuple(it: Interpreter, items: Items, name: str) -> Value:
    if name in ("count", "index") and class_lookup.own_method(items.type, name) is None:
        return Native(name, functools.partial(method_of_container, items, name))
    found = None
    if class_lookup.own_method(items.type, name) is None:
        found = namedtuples.method_of_namedtuple(items, name)
    return it.attribute_of_object(items, name) if found is None else found


def _of_run_time(it: Interpreter, value: Var | Const, name: str) -> Value:
    kind = kind_of_atom(value)
    objects.refuse_set_by_python(it, name)
    if kind == PICTURE:
        return it.builder.emit_with(st.getattr_, (value,), {"name": Const(name)}, kind=PICTURE)
    if kind == STR:
        if isinstance(value, Const):
            return _of_constant(it, value.value, name)
    if isinstance(kind, Struct):
        opened = it.open_up(value)
        if isinstance(opened, Items):
            return _of_items(it, opened, name)
    if kind == SLICE and name in _OF_SLICES:
        made = it.builder.visible_definition(value)  # type: ignore[arg-type]
        if made is not None and made.op is st.slice_:
            return made.args[_OF_SLICES.index(name)]
    if kind == DTYPE and hasattr(np.dtype, name) and not callable(getattr(np.dtype, name)):
        return _of_dtype(it, value, name)
    op = ops.find_attribute(name)
    if op is not None and (isinstance(kind, (Array, Number)) or kind == UNKNOWN):
        must_be_real(it, value)
        of_number = None if it.builder.derived else kind_if_number(op, "attr", (value,), {})
        found = it.builder.emit_with(op, (value,), {}, "attr", kind=of_number)
        if name == "flat":
            it.reading.walks_over.add(found)
        if isinstance(kind, Number) and isinstance(found, Const):
            asked = it.builder.equation(op, (value,), {}, "attr")
            it.builder.emit(ident.evaluated, asked)  # a number of Python's raises
        return it.open_up(found)
    if isinstance(kind, Array) and name in ("base", "ctypes", "data"):
        raise it.unsupported(
            f"`{name}` of an array, whose memory a derivative may keep elsewhere",
            "Ask it outside and pass the answer in.",
        )
    said = instances.attribute(it, value, name)
    if said is not None:
        return said
    if ops.find_method(name) is not None or name in (*MUTATING, "get") or kind != UNKNOWN:
        return Native(name, functools.partial(method_of_run_time, value, name))
    if name == "__dict__":
        raise it.unsupported(
            "the `__dict__` of an object whose class is known only when the program runs",
            "Name the attribute, or use `getattr` and `setattr`.",
        )
    return it.builder.emit_with(st.getattr_, (value,), {"name": Const(name)})


_OF_DTYPES: dict[str, Kind] = {
    "kind": STR, "char": STR, "name": STR, "itemsize": INT, "num": INT, "alignment": INT, "type": UNKNOWN
}  # fmt: skip
"""What a dtype is asked for that follows from its name."""


def _of_dtype(it: Interpreter, dtype: Var | Const, name: str) -> Value:
    made = it.builder.visible_definition(dtype) if isinstance(dtype, Var) else None
    if name in _OF_DTYPES and made is not None and made.op.name == "dtype":
        known_as = dtype_of(made.args[0])
        if known_as and has_exact_dtype(it, made.args[0]):
            return Const(getattr(np.dtype(known_as), name))
    kind = _OF_DTYPES.get(name, UNKNOWN)
    found = it.builder.emit_with(st.getattr_, (dtype,), {"name": Const(name)}, kind=kind)
    it.reading.inert.add(found)
    return found


def call_method(it: Interpreter, receiver: Value, name: str, args: Args, kwargs: Kwargs) -> Value:
    """`receiver.name(*args, **kwargs)`."""
    if isinstance(receiver, Var) and not isinstance(kind_of_value(receiver), Struct):
        return method_of_run_time(receiver, name, it, args, kwargs)
    return it.call(read_attribute(it, receiver, name), args, kwargs)
