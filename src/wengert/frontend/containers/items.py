"""Items by index or key, and run-time containers that are taken apart where they are read."""

from __future__ import annotations

import operator
from types import FunctionType, NoneType

import numpy as np

from ...ir.builder import kind_of_atom
from ...ir.graph import UNDEFINED, Atom, Const, Var
from ...ir.types import BOOL, SLICE, STR, Kind, Number, Static, Struct, leaves
from ...ops import structure as st
from ...ops.arrays.creation import asarray
from ..classes import instances
from ..classes.class_lookup import defines, own_method, static_lookup
from ..data import tables
from ..domain.values import (
    Closure,
    FunctionTemplate,
    Items,
    LazyIterable,
    Maybe,
    Native,
    Value,
    as_known,
    kind_of_value,
    list_of,
    tuple_of,
)
from ..heap import now
from ..machine.failing import fail_now, raise_now
from ..machine.interpreter import Interpreter
from . import choosing


def subscript(it: Interpreter, value: Value, index: Value) -> Value:
    """`value[index]`."""
    if tables.is_table(value):
        return tables.item(it, value, index)
    if isinstance(value, Const) and isinstance(index, Const):
        try:
            return as_known(value.value[index.value])
        except (KeyError, IndexError):
            pass  # it must fail when the program runs
        except TypeError as error:
            if type(value.value) in (str, bytes, tuple, range):
                raise_now(it, TypeError, str(error))
    if isinstance(value, Items) and not _says_itself(value):
        item = _item_of(it, value, it.key_of(index))
        if item is not None:
            return item
        if choosing.holds_functions(value):
            return choosing.item_of(it, value, index)
    if isinstance(value, (LazyIterable, Closure, Native)):
        _must_have_items(it, value)
        value = it.atom(value)
    if isinstance(value, Const) and type(value.value).__module__.startswith("numpy"):
        from ..polyfills.numpy.grids import BY_CLASS

        made = BY_CLASS.get(type(value.value))
        first = index.values[0] if isinstance(index, Items) and index.values else index
        if made is not None and kind_of_value(first) != STR:  # text says how to put together
            return it.call(Const(made), [index], {})
    own = it.call_method_of_class(value, "__getitem__", [index])
    if own is not None:
        return own
    if isinstance(value, Const) and isinstance(value.value, type):
        return _item_of_class(it, value.value, index)
    if not isinstance(value, Var):
        _must_have_items(it, value)
    if isinstance(value, Const) and not isinstance(value.value, _INDEXABLE):
        raise it.unsupported(
            f"indexing a {type(value.value).__name__} object",
            "Use a function: `np.concatenate`, say.",
        )
    at = index_atom(it, index)
    if _has_no_items(value) and _names_an_item(at):
        fail_now(it, operator.getitem, value, at)
    it.refuse_unknown(("__getitem__",), [value])
    result = it.emit(st.getitem, it.atom(value), at)
    if _has_no_items(value) and isinstance(result, Var):
        # a number of Python's raises here; one of NumPy's is an array without axes as far as its items go
        result = it.emit(st.getitem, it.emit(asarray, it.atom(value)), at)
    return open_up(it, result)


def _must_have_items(it: Interpreter, value: Value) -> None:
    instances.must_have(it, value, ("__getitem__",), "'{}' object is not subscriptable")


def _item_of_class(it: Interpreter, cls: type, index: Value) -> Value:
    """`cls[index]`, which its metaclass may say, or `__class_getitem__`."""
    by_metaclass = own_method(type(cls), "__getitem__")
    if by_metaclass is not None:
        return it.call(Const(by_metaclass), [Const(cls), index], {})
    found = static_lookup(cls, "__class_getitem__")
    function = getattr(found, "__func__", found)
    if isinstance(function, FunctionType) and function.__module__ != "typing":
        return it.call(Const(function), [Const(cls), index], {})
    raise it.unsupported(
        f"indexing the class {cls.__name__}", "Write its arguments out, or leave them out."
    )


def _says_itself(items: Items) -> bool:
    """Whether the class of a namedtuple says how its items are read."""
    return items.form == "namedtuple" and defines(items, "__getitem__")


def _has_no_items(value: Value) -> bool:
    return isinstance(kind_of_value(value), Number)


def _names_an_item(index: Atom) -> bool:
    """Whether an index is none that a number without axes has: `x[()]`, `x[...]`, `x[None]`."""
    kind = kind_of_atom(index)
    return (isinstance(kind, Number) and kind != BOOL) or kind in (SLICE, STR)


_INDEXABLE = (tuple, list, dict, str, bytes, range, np.ndarray, bool, int, float, complex, NoneType)


def index_atom(it: Interpreter, index: Value) -> Atom:
    """An index as an atom; an index of constants only is a constant."""
    if isinstance(index, Items) and index.form == "tuple":
        if all(isinstance(v, Const) for v in index.values):
            return Const(tuple(v.value for v in index.values if isinstance(v, Const)))
    return it.atom(index)


def opened(it: Interpreter, value: Value) -> Value:
    """A value as it is now, taken apart where its structure is known."""
    value = now(it, value)
    return open_up(it, value) if isinstance(value, Var) else value


def open_up(it: Interpreter, value: Value) -> Value:
    """A run-time container whose structure is known, taken apart at its use."""
    kind = kind_of_value(value)
    if isinstance(value, Var) and isinstance(kind, Static):
        return as_known(kind.value)
    if not (isinstance(value, Var) and isinstance(kind, Struct)):
        return value
    if kind.form in ("function", "derivative"):
        return _opened_function(it, value, kind)
    items: list[Value] = []
    for key, item_kind in zip(kind.keys, kind.items, strict=True):
        if kind.form in ("dataclass", "namedtuple", "object"):
            item = it.builder.emit_with(st.getattr_, (value,), {"name": Const(key)}, kind=item_kind)
        else:
            item = it.builder.emit_with(st.getitem, (value, Const(key)), {}, kind=item_kind)
        items.append(open_up(it, item))
    return Items(kind.form, kind.keys, tuple(items), kind.type, home=value)


def coerce(it: Interpreter, value: Value | None, kind: Kind) -> list[Atom]:
    """The leaves of a value seen as a value of another, wider kind."""
    if value is None:
        return [UNDEFINED for _ in leaves(kind)]
    value = now(it, value)
    if isinstance(value, Maybe):
        value = value.value
    if isinstance(kind, Static):
        return []
    if isinstance(kind, Struct) and isinstance(value, Var):
        value = open_up(it, value)
    if isinstance(kind, Struct):
        if not isinstance(value, Items) or set(value.keys) != set(kind.keys):
            raise it.unsupported(
                "an object has other attributes or items on one path than on another",
                "Give it the same attributes on every path, before the loop starts.",
            )
        pairs = zip(kind.keys, kind.items, strict=True)
        return [atom for key, item in pairs for atom in coerce(it, value[key], item)]
    return [it.atom(value)]


def _opened_function(it: Interpreter, value: Var, kind: Struct) -> Value:
    """A function that an object holds: which one is known, what it captured is read when it runs."""
    if kind.form == "derivative":
        inner = it.builder.emit_with(
            st.getattr_, (value,), {"name": Const("function")}, kind=kind.items[0]
        )
        return Items("derivative", kind.keys, (open_up(it, inner),), kind.type, home=value)
    if not kind.keys:
        return as_known(kind.type.function)
    if isinstance(kind.type, FunctionTemplate):
        raise it.unsupported(
            f"{kind.type.name} is passed on with objects that it changes, and which one it is only the run knows",
            "Pass those objects as arguments, or call it by its own name.",
        )
    cells = it.builder.emit_with(st.getattr_, (value,), {"name": Const("__closure__")})
    captured: list[Value] = []
    for name, item_kind in zip(kind.keys, kind.items, strict=True):
        index = Const(kind.type.co_freevars.index(name))
        cell = it.builder.emit(st.getitem, cells, index)
        params = {"name": Const("cell_contents")}
        item = it.builder.emit_with(st.getattr_, (cell,), params, name=name, kind=item_kind)
        captured.append(open_up(it, item))
    return Items("function", kind.keys, tuple(captured), kind.type, home=value)


def _item_of(it: Interpreter, items: Items, index: Value) -> Value | None:
    if items.form == "dict":
        if isinstance(index, Const) and index.value in items.keys:
            return items[index.value]
        if isinstance(index, Const):
            raise_now(it, KeyError, index.value)
        if not items.keys and items.type in (None, dict):
            fail_now(it, operator.getitem, Items("dict", (), ()), index)
        return None
    if isinstance(index, Const) and items.form in ("tuple", "list", "namedtuple"):
        if isinstance(index.value, slice):
            make = list_of if items.form == "list" else tuple_of
            return make(*items.values[index.value])
        try:
            return items.values[operator.index(index.value)]
        except IndexError:
            raise_now(it, IndexError, f"{items.form} index out of range")
        except TypeError:
            if items.form != "namedtuple":
                return None
            cls = type(index.value).__name__
            raise_now(it, TypeError, f"tuple indices must be integers or slices, not {cls}")
    return None
