"""Objects that NumPy is given: the arrays that their classes make of them, or a refusal."""

from __future__ import annotations

from ...ir.graph import Const
from ...ir.types import Array
from ..domain.values import Items, Value, is_object, kind_of_value, list_of, object_class
from ..heap import now
from ..heap.current import opened
from ..machine.interpreter import Interpreter
from .class_lookup import MISSING, own_method, static_lookup

_OWN_FUNCTIONS = ("__array_ufunc__", "__array_function__", "__array_wrap__")


def as_numpy_sees(it: Interpreter, value: Value) -> Value:
    """What NumPy makes of an object whose class says it, or of a list of such; any other value itself."""
    if not isinstance(value, Items):
        return value
    if value.form in ("list", "tuple"):
        arrays = [as_numpy_sees(it, now(it, item)) for item in value.values]
        said = any(isinstance(item, Items) and is_object(item) for item in value.values)
        return list_of(*arrays) if said else value
    method = own_method(value.type, "__array__") if is_object(value) else None
    return value if method is None else it.call(Const(method), [value], {})


def refuse_own_functions(it: Interpreter, value: Value) -> None:
    """Refuse a function of NumPy on an object whose class says what NumPy's functions do."""
    if not is_object(value):
        return
    cls = object_class(value)
    assert cls is not None
    for name in _OWN_FUNCTIONS:
        if own_method(cls, name) is not None:
            raise it.unsupported(
                f"{cls.__name__} has a `{name}` of its own, which NumPy's functions go through",
                "Call the function on the array that the object holds.",
            )


def operands_of_numpy(
    it: Interpreter, method: str, left: Value, right: Value
) -> tuple[Value, Value]:
    """What an operator sees of its operands, one of which is an array.

    An object on the left is asked before NumPy is; one on the right where its class says so.

    Source: NumPy's NEP 13, "Behavior in combination with Python's binary operations".
    """
    left, right = opened(it, left), opened(it, right)
    if (
        _has_array(right)
        and isinstance(kind_of_value(left), Array)
        and not _comes_before_numpy(right)
    ):
        refuse_own_functions(it, right)
        return left, as_numpy_sees(it, right)
    if _has_array(left) and own_method(left.type, method) is None:  # type: ignore[union-attr]
        refuse_own_functions(it, left)
        return as_numpy_sees(it, left), right
    return left, right


def _has_array(value: Value) -> bool:
    return is_object(value) and own_method(value.type, "__array__") is not None  # type: ignore[union-attr]


def _comes_before_numpy(value: Value) -> bool:
    cls = object_class(value)
    assert cls is not None
    of_ufuncs = static_lookup(cls, "__array_ufunc__")
    if of_ufuncs is not MISSING:
        return of_ufuncs is None
    priority = static_lookup(cls, "__array_priority__")
    return priority is not MISSING and priority > 0
