"""Attributes and methods of values."""

from __future__ import annotations

import functools
import inspect
import operator
import types
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import numpy as np

from ...ir.builder import kind_of_atom
from ...ir.graph import Const, Var
from ...ir.types import (
    DTYPE,
    INT,
    PICTURE,
    SLICE,
    STR,
    UNKNOWN,
    Array,
    Kind,
    Number,
    Other,
    Seq,
    Static,
    Struct,
)
from ...ops import registry as ops, structure as st
from ...ops.array_kinds import dtype_of
from ...ops.arrays.shape import kind_if_number
from ...ops.program import containers as co, identity as ident
from ...runtime.containers import own_dictionary
from ..boundary.signature import Template
from ..classes import bound_methods, class_lookup, instances
from ..data import known_text, tables
from ..domain.arguments import may_be_method
from ..domain.number_classes import has_exact_dtype
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
from ..functions.wrong_calls import refuse_wrong_call
from ..heap import cells, now
from ..machine import guards
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..machine.protocol import operation
from ..polyfills import manifest
from . import class_attributes, dispatching, function_parts, namedtuples, objects
from .identities import holds_by_identity

MUTATING = {
    "append", "extend", "insert", "pop", "popitem", "move_to_end", "remove", "clear", "update", "setdefault", "sort",
    "reverse", "add", "discard", "fill", "put", "itemset", "resize", "partition", "setflags",
}  # fmt: skip


_AS_FUNCTIONS: dict[str, Callable[..., Any]] = {"put": np.put, "choose": np.choose}
"""Methods of arrays that are read as the functions of the same name are."""

_OF_SLICES = ("start", "stop", "step")
_QUESTIONS = {"is_integer", "bit_length", "bit_count", "__format__"}
"""Methods of a number whose answer has no derivative."""


@operation("getattr")
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
        case Native(value=dispatching.Dispatcher() as inner):
            return inner.attribute(it, name)
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
        kind = type(constant).__name__
        message = f"'{kind}' object has no attribute '{name}'"
        raise_now(it, AttributeError, message, name=name)
    found = getattr(constant, name)
    if isinstance(found, (types.MethodType, types.BuiltinMethodType, types.MethodWrapperType)):
        if type(constant).__dictoffset__ and not isinstance(constant, type):
            own = own_dictionary(
                constant
            )  # what it keeps by that name hides the method of its class
            guards.rely_on(it.reading.guards, own, name, own.get(name, guards.MISSING))
        return as_known(found)  # a new object at every access: what matters is whose it is
    return it.lift(constant, name, found)


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
            return objects.read_super(it, items, name)
        case Items(form="function", type=Template() as template):
            return function_parts.of_argument(it, items, template, name)
        case Items():
            said = instances.attribute(it, items, name)
            if said is not None:
                return said
            return Native(name, functools.partial(_method_of_container, items, name))


_CONTAINERS = {"list": list, "tuple": tuple, "dict": dict}


def _of_namedtuple(it: Interpreter, items: Items, name: str) -> Value:
    if name in ("count", "index") and class_lookup.own_method(items.type, name) is None:
        return Native(name, functools.partial(_method_of_container, items, name))
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
        return Native(name, functools.partial(_method_of_run_time, value, name))
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


# --- methods ------------------------------------------------------------------------------


@operation("call_method")
def call_method(it: Interpreter, receiver: Value, name: str, args: Args, kwargs: Kwargs) -> Value:
    """`receiver.name(*args, **kwargs)`."""
    if isinstance(receiver, Var) and not isinstance(kind_of_value(receiver), Struct):
        return _method_of_run_time(receiver, name, it, args, kwargs)
    return it.call(read_attribute(it, receiver, name), args, kwargs)


def _method_of_run_time(
    value: Var | Const, name: str, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    from ..machine.drawing import drawn_by

    current = now(it, value)  # a bound method may be called once its object has changed
    if not isinstance(current, (Var, Const)):
        return call_method(it, current, name, args, kwargs)
    value = current
    drawn = drawn_by(it, value, name, args, kwargs)
    if drawn is not None:
        return it.call(Const(drawn), [value, *args], kwargs)
    if value in it.reading.generators:
        return _method_of_generator(value, name, it, args, kwargs)
    kind = kind_of_atom(value)
    if name in _AS_FUNCTIONS and isinstance(kind, Array):
        return it.call(Const(_AS_FUNCTIONS[name]), [value, *args], kwargs)
    if name == "compress" and isinstance(kind, Array) and args:
        return it.call(Const(np.compress), [args[0], value, *args[1:]], kwargs)
    if kind == PICTURE:
        return it.draw(_of_run_time(it, value, name), args, kwargs)
    if value in it.reading.inert and name != "astype":  # which may make numbers of text
        return _inert_method(value, name, it, args, kwargs)
    if isinstance(value, Var) and not isinstance(kind, (Number, Other)) and it.is_changing(name):
        return it.method_of_run_time(value, name, args, kwargs)
    of_text = kind == STR or (name == "partition" and [*map(kind_of_value, args)] == [STR])
    if name in MUTATING and not of_text:
        raise _mutation(it, name)
    if name == "copy" and not isinstance(kind, (Array, Number)) and not (args or kwargs):
        return (
            _copy_of_array(it, value)
            if it.reading.general and kind == UNKNOWN
            else copied(it, value)
        )
    op = ops.find_method(name)
    if op is not None and kind == UNKNOWN and not may_be_method(op, [value, *args], kwargs):
        op = None
    if op is not None and (isinstance(kind, (Array, Number)) or kind == UNKNOWN):
        it.refuse_unknown((name,), [value])
        return it.emit_op(op, "method", [value, *args], kwargs)
    return _method_without_rule(value, name, it, args, kwargs)


def _method_of_generator(
    value: Var | Const, name: str, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    """What a generator draws of which the class is known."""
    from ..machine.drawing import drawing, draws_only

    if not draws_only(args, kwargs):
        raise it.unsupported(
            f"`{name}` of a generator is given what may have a derivative",
            "Call it with constants, and scale what it gives.",
        )
    draw = functools.partial(_inert_method, value, name, it)
    return drawing(it, value, name, args, kwargs, draw)


def _method_without_rule(
    value: Var | Const, name: str, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    """A method of a container, of text, or of what only the run knows."""
    from ..machine.drawing import drawing

    kind = kind_of_atom(value)
    if name in ("items", "keys", "values") and not args:
        it.refuse_unknown((name,), [value])
        return LazyIterable(name, (value,))
    if kind == SLICE and name == "indices":
        return it.call(Const(manifest.slice_indices), [value, *args], kwargs)
    if name == "get" and args:
        return _get(it, value, args)
    if name in _OPERATORS and isinstance(kind, (Number, Array, Seq)):
        return it.call(Const(_OPERATORS[name]), [value, *args], kwargs)
    if name in _IN_PLACE and isinstance(kind, Array) and len(args) == 1:
        return it.call(Const(_IN_PLACE[name]), [value, *args], {"out": value})
    if isinstance(kind, Number) and name not in _QUESTIONS:
        raise it.unsupported(
            f"the method `{name}` of a number is not covered",
            "Compute it with operators or `math`.",
        )
    if isinstance(kind, (Number, Other)) or name in ("index", "count"):
        it.refuse_unknown((name,), [value])
        return _inert_method(value, name, it, args, kwargs)
    if name == "view" and (isinstance(kind, Array) or kind == UNKNOWN) and not (args or kwargs):
        return it.emit(st.getitem, value, Const(...))
    if isinstance(kind, Array):
        raise it.unsupported(
            f"the method `{name}` of an array", "Use a function of NumPy that has a rule."
        )
    method = it.builder.emit_with(st.getattr_, (value,), {"name": Const(name)})
    return drawing(it, value, name, args, kwargs, functools.partial(it.call, method))


def _copy_of_array(it: Interpreter, value: Var | Const) -> Value:
    """A copy of what is an array, most likely; where it is another container, the program says so."""
    made = it.emit(ops.named("copy"), value, namespace="method")
    it.emit(ident.copy_of_array, made)
    return made


def copied(it: Interpreter, value: Value) -> Value:
    """A shallow copy of what is known only when the program runs."""
    if not isinstance(value, Var) or isinstance(value.kind, (Number, Other, Static)):
        return value
    if isinstance(value.kind, Array):
        return it.emit(ops.named("copy"), value, namespace="np")
    if isinstance(value.kind, Seq):
        return it.emit(st.as_list, value)
    return it.emit(co.shallow_copy, value)


def _inert_method(
    value: Var | Const, name: str, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    args = known_text.operands(it, name, args)
    atoms = [it.atom(a) for a in (*args, *kwargs.values())]
    method = it.builder.emit_with(
        st.getattr_, (value,), {"name": Const(name)}, kind=Other("method")
    )
    given = known_text.kind_of_method(kind_of_atom(value), name)
    options = {"names": Const(tuple(kwargs))}
    result = it.builder.emit_with(st.opaque, (method, *atoms), options, kind=given)
    it.reading.inert.add(result)
    return result


_OPERATORS: Mapping[str, Callable[..., Any]] = {
    "__len__": len,
    **{
        name: getattr(operator, name)
        for name in (
            "__abs__", "__add__", "__and__", "__contains__", "__eq__", "__floordiv__", "__ge__",
            "__getitem__", "__gt__", "__le__", "__lt__", "__matmul__", "__mod__", "__mul__", "__ne__",
            "__neg__", "__or__", "__pos__", "__pow__", "__sub__", "__truediv__", "__xor__",
            "__delitem__", "__setitem__",
        )
    },
}  # fmt: skip
"""Methods of numbers, arrays and containers that an operator or a function of Python calls."""

_IN_PLACE: Mapping[str, Callable[..., Any]] = {
    "__iadd__": np.add,
    "__isub__": np.subtract,
    "__imul__": np.multiply,
    "__imatmul__": np.matmul,
    "__itruediv__": np.true_divide,
    "__ifloordiv__": np.floor_divide,
    "__imod__": np.remainder,
    "__ipow__": np.power,
    "__iand__": np.bitwise_and,
    "__ior__": np.bitwise_or,
    "__ixor__": np.bitwise_xor,
}
"""Methods of arrays that augmented assignment calls."""


def _mutation(it: Interpreter, name: str) -> Exception:
    from ..syntax.fence import CHANGES_IN_PLACE

    return it.unsupported(
        f"`.{name}()` {CHANGES_IN_PLACE}",
        "Build a new value instead: `[*items, x]` for `append`, `{**d, key: x}` for an entry,\n"
        "`sorted(items)` for `sort`; or move the change out of the differentiated function.",
    )


def _get(it: Interpreter, value: Var | Const, args: Args) -> Value:

    it.refuse_unknown(("get",), [value])
    key = it.atom(args[0])
    default = args[1] if len(args) > 1 else Const(None)
    present = it.emit(st.in_, key, value)
    return it.choose(present, lambda: it.emit(st.getitem, value, key), lambda: default)


def _method_of_container(
    items: Items, name: str, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    """A method of a tuple, list or dictionary whose items are known."""
    cls = _CONTAINERS.get(items.form)
    if cls is not None and items.type in (None, cls):  # what others take they say themselves
        refuse_wrong_call(it, getattr(cls, name, None), [items, *args], kwargs)
    done = it.method_of_known(items, name, args, kwargs)
    if done is not None:
        return done
    if name in MUTATING:
        raise _mutation(it, name)
    current = now(it, items)
    if isinstance(current, Var):
        return _method_of_run_time(current, name, it, args, kwargs)
    assert isinstance(current, Items)
    items = current
    if name in _OPERATORS:
        return it.call(Const(_OPERATORS[name]), [items, *args], kwargs)
    method = _CONTAINER_METHODS.get(name)
    if method is None:
        raise it.unsupported(
            f"the method `{name}` of a {items.form} is not covered",
            "Write out what it does, with indices and comprehensions.",
        )
    return method(it, items, args)


def _items_get(it: Interpreter, items: Items, args: Args) -> Value:
    key, *default = args
    key = it.key_of(key)
    if isinstance(key, Const):
        if key.value in items.keys:
            return items[key.value]
        return default[0] if default else Const(None)
    return _get(it, it.atom(items), args)


def _where(name: str, it: Interpreter, items: Items, args: Args) -> Value:
    """`items.index(item)`, `items.count(item)`."""
    if args and all(_is_named(each) for each in (*items.values, *args)):
        known = [each.value for each in items.values if isinstance(each, Const)]
        wanted = [each.value for each in args if isinstance(each, Const)]
        if name == "count" or wanted[0] in known:
            return Const(getattr(known, name)(*wanted))
    if any(holds_by_identity(it, each) for each in (items, *args)):
        search = {"index": manifest.index_in, "count": manifest.count_in}[name]
        return it.call(Const(search), [items, *args], {})
    packed = it.atom(items)
    method = it.builder.emit_with(
        st.getattr_, (packed,), {"name": Const(name)}, kind=Other("method")
    )
    return it.emit(st.opaque, method, *(it.atom(a) for a in args), names=Const(()))


def _is_named(value: Value) -> bool:
    """Whether a value is one of an enumeration's, or text: known, and equal to itself only."""
    return isinstance(value, Const) and isinstance(value.value, (Enum, str))


_CONTAINER_METHODS: dict[str, Callable[[Any, Items, Args], Value]] = {
    "items": lambda it, items, args: LazyIterable("items", (items,)),
    "keys": lambda it, items, args: LazyIterable("keys", (items,)),
    "values": lambda it, items, args: LazyIterable("values", (items,)),
    "get": _items_get,
    "copy": lambda it, items, args: Items(items.form, items.keys, items.values, items.type),
    "index": functools.partial(_where, "index"),
    "count": functools.partial(_where, "count"),
}
