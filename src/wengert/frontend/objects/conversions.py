"""Functions of Python and NumPy on objects of the user's own classes: the methods that say what they do."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Hashable
from typing import Any

from ...ir.graph import Const, Var
from ...ir.op import Op
from ...ir.types import UNKNOWN, Seq, Struct
from ...ops import structure as st
from ...runtime.containers import CONTENTS
from ..classes import class_lookup
from ..classes.class_lookup import defines, is_walked_over
from ..domain.values import (
    OBJECTS,
    Args,
    Items,
    Kwargs,
    LazyIterable,
    Value,
    is_iterator,
    is_object,
    kind_of_value,
    object_class,
)
from ..heap import now
from ..heap.current import opened
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..polyfills import manifest
from ..polyfills.stdlib import collections as container_polyfills, iterators as iterator_polyfills
from .operators import (
    UNARY,
    call_method_of_class,
    call_operator_method,
    is_sequence,
    refuse_unknown,
    says_of_operators,
)


def as_operator(it: Interpreter, known: Any, op: Op, space: str, args: Args) -> Value | None:
    """A function of `operator` or of NumPy on containers and objects: what the operator does.

    None where the operands are numbers and arrays.
    """
    from ..domain.operators import BINARY

    if getattr(known, "__module__", None) != "_operator":
        if space == "np":
            _refuse_objects(it, known, args)
        return None
    if any(isinstance(arg, Items) and arg.form == "star" for arg in args):
        many = manifest.of_one if op.name in UNARY else manifest.of_two
        return it.call(Const(many), [Const(known), *args], {})
    if not any(isinstance(opened(it, arg), Items) or _may_be_list(arg) for arg in args):
        return None
    for operator_, (each, _) in BINARY.items():
        if each is op:
            left, right = args
            return it.binary(operator_(), left, right, ast.Pass())
    return call_operator_method(it, op, args)


def in_numpy(it: Interpreter, value: Value) -> Value:
    """What NumPy sees of a value: of an object of a class that is built on a list or a tuple, its items."""
    checkpointed = isinstance(value, LazyIterable) and value.form == "checkpoint"
    if (isinstance(value, LazyIterable) and not checkpointed) or is_iterator(value):
        raise it.unsupported(
            "NumPy is given an iterator, which it takes for one object, not for its items",
            "Give it a list: `list(items)`; `np.fromiter` takes an iterator.",
        )
    if not is_object(value) or class_lookup.form_of_contents(value.type) not in ("list", "tuple"):  # type: ignore[union-attr]
        return value
    if class_lookup.static_lookup(value.type, "__iter__") is not container_polyfills.List.__iter__:  # type: ignore[union-attr]
        return it.as_list(value)
    return now(it, opened(it, value)[CONTENTS])  # type: ignore[index]


def _may_be_list(value: Value) -> bool:
    return isinstance(value, Var) and (value.kind == UNKNOWN or isinstance(value.kind, Seq))


def _refuse_objects(it: Interpreter, known: Any, args: Args) -> None:
    """Refuse a function of NumPy on objects whose class says what operators do: it calls them, one by one."""
    if any(_holds_operators(it, arg) for arg in args):
        raise it.unsupported(
            f"`{known.__name__}` of NumPy is called on objects of a class that has operators of its own",
            "Write the operators, or call it on the objects' numbers.",
        )


def _holds_operators(it: Interpreter, value: Value, depth: int = 2) -> bool:
    if isinstance(value, Var) and isinstance(value.kind, Seq):
        item = value.kind.item
        return isinstance(item, Struct) and item.form in OBJECTS and _calculates(item.type)
    value = opened(it, value)
    if _has_a_class(value):
        return _calculates(object_class(value))
    inside = value.values if isinstance(value, Items) and depth else ()
    return any(_holds_operators(it, each, depth - 1) for each in inside)


def _calculates(cls: Any) -> bool:
    """Whether a class says what `+` or `*` does, and not how NumPy makes an array of its objects."""
    names = ("__add__", "__radd__", "__mul__", "__rmul__", "__sub__", "__truediv__")
    if not isinstance(cls, type) or hasattr(cls, "__array__"):
        return False
    if container_polyfills.class_to_see(cls) is not cls or container_polyfills.is_deque(cls):
        return False
    return says_of_operators(cls, names)


CONVERSIONS: dict[Any, tuple[str, ...]] = {
    float: ("__float__", "__index__"),
    int: ("__int__", "__index__", "__trunc__"),
    complex: ("__complex__", "__float__", "__index__"),
    abs: ("__abs__",),
    len: ("__len__",),
    round: ("__round__",),
    reversed: ("__reversed__",),
    divmod: ("__divmod__",),
    math.floor: ("__floor__", "__float__"),
    math.ceil: ("__ceil__", "__float__"),
    math.trunc: ("__trunc__",),
}
"""Built-in functions, and the methods of their first argument that they stand for."""


def _asked_by(function: Any) -> tuple[str, ...]:
    """The methods that a function stands for; an object that can be called need have no hash."""
    return CONVERSIONS.get(function, ()) if isinstance(function, Hashable) else ()


def call_on_object(
    it: Interpreter, known: Callable[..., Any], args: Args, kwargs: Kwargs
) -> Value | None:
    """A call of a function that knows numbers, on an object that says how to be one.

    None if no argument is an object.
    """
    if not any(map(_has_a_class, args)):
        refuse_unknown(it, _asked_by(known), args[:1])
        return _with_items(it, known, args, kwargs)
    first, *rest = args
    for name in _asked_by(known):
        if defines(first, name):
            result = call_method_of_class(it, first, name, rest, kwargs)
            if result is not None:
                made_float = name == "__float__" and known is not float
                return it.call(Const(known), [result, *rest], kwargs) if made_float else result
    if known is reversed and defines(first, "__getitem__"):
        return it.call(Const(iterator_polyfills.by_index_from_the_end), [first], {})
    if getattr(known, "__module__", None) not in ("math", "cmath"):
        return None
    if _walks_over(known) and is_walked_over(first):
        return it.call(Const(known), [it.as_list(first), *rest], kwargs)
    return _with_floats(it, known, args, kwargs)


def _with_items(
    it: Interpreter, known: Callable[..., Any], args: Args, kwargs: Kwargs
) -> Value | None:
    """`math.prod` of what only the run knows, which may be an object that says how it is walked over."""
    if not args or kind_of_value(args[0]) != UNKNOWN or not _walks_over(known):
        return None
    listed = it.emit(st.as_list, it.atom(args[0]))
    return it.call(Const(known), [listed, *args[1:]], kwargs)


def _walks_over(known: Callable[..., Any]) -> bool:
    return any(known is each for each in (math.prod, math.fsum))


def _has_a_class(value: Value) -> bool:
    return is_object(value) and not is_sequence(value)


def _with_floats(it: Interpreter, known: Callable[..., Any], args: Args, kwargs: Kwargs) -> Value:
    """`math.sin` of an object is that of its `float`."""
    converted: list[Value] = []
    for arg in args:
        number = call_on_object(it, float, [arg], {}) if _has_a_class(arg) else arg
        if number is None:
            name = class_lookup.class_of(arg).__name__  # type: ignore[union-attr]
            raise_now(it, TypeError, f"must be real number, not {name}")
        converted.append(number)
    return it.call(Const(known), converted, kwargs)
