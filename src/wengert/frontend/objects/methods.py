"""Methods of what only the run knows, and of containers whose items are known."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any

import numpy as np

from ...ir.builder import kind_of_atom
from ...ir.graph import Const, Var
from ...ir.types import PICTURE, SLICE, STR, UNKNOWN, Array, Number, Other, Seq, Static
from ...ops import registry as ops, structure as st
from ...ops.program import containers as co, identity as ident
from ..data import known_text
from ..domain.arguments import may_be_method
from ..domain.values import Args, Items, Kwargs, LazyIterable, Value, kind_of_value
from ..functions.wrong_calls import refuse_wrong_call
from ..heap import now
from ..machine.interpreter import Interpreter
from ..polyfills import manifest
from . import objects
from .identities import holds_by_identity

MUTATING = {
    "append", "extend", "insert", "pop", "popitem", "move_to_end", "remove", "clear", "update", "setdefault", "sort",
    "reverse", "add", "discard", "fill", "put", "itemset", "resize", "partition", "setflags",
}  # fmt: skip


_AS_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "put": np.put,
    "choose": np.choose,
    "__array__": np.asarray,
}
"""Methods of arrays that are read as functions of NumPy are."""


_QUESTIONS = {"is_integer", "bit_length", "bit_count", "__format__"}
"""Methods of a number whose answer has no derivative."""


_CONTAINERS = {"list": list, "tuple": tuple, "dict": dict}


def method_of_run_time(
    value: Var | Const, name: str, it: Interpreter, args: Args, kwargs: Kwargs
) -> Value:
    from ..machine.drawing import drawn_by

    current = now(it, value)  # a bound method may be called once its object has changed
    if not isinstance(current, (Var, Const)):
        return it.call_method(current, name, args, kwargs)
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
        objects.refuse_set_by_python(it, name)
        method = it.builder.emit_with(st.getattr_, (value,), {"name": Const(name)}, kind=PICTURE)
        return it.draw(method, args, kwargs)
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


def method_of_container(
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
        return method_of_run_time(current, name, it, args, kwargs)
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
    if isinstance(key, Const) or not items.keys:
        if isinstance(key, Const) and key.value in items.keys:
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
