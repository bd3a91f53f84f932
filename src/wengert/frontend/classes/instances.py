"""What a value has by its class, as `object.__getattribute__` looks it up: along `type(value).__mro__`.

What the class has of its metaclass (`__name__`, `mro`, `__call__`) is no attribute of its instances, so a class
is never asked with `hasattr`.
"""

from __future__ import annotations

import ast
import types
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ...ir.graph import Atom, Const, Var
from ...ir.types import STR, Array, Seq
from ...ops import structure as st
from ..domain import number_classes
from ..domain.values import Items, LazyIterable, Native, Value, as_known, kind_of_value
from ..machine.failing import fail_now, raise_now
from ..machine.guards import MISSING
from ..machine.interpreter import Interpreter
from ..polyfills.stdlib import collections as container_polyfills
from .class_lookup import class_of

_READ_ONLY = (
    int, float, complex, np.generic, str, bytes, tuple, list, dict, set, frozenset, range, slice, type(None),
)  # fmt: skip
"""Classes in C none of whose descriptors can be assigned to, but for `__class__`."""


ITERATED = ("__iter__", "__getitem__")
"""By one of them a value can be walked over."""


def given(cls: type, name: str) -> Any:
    """What a class keeps for its instances under a name, or `MISSING`."""
    for base in cls.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return MISSING


def gives(cls: type, name: str) -> bool:
    """Whether instances of a class have an attribute that they do not keep themselves."""
    return given(cls, name) is not MISSING


def classes_of(it: Interpreter, value: Value) -> tuple[type, ...]:
    """The classes that a value may be of; none where only the run knows."""
    numbers = number_classes.classes_of(it, value)
    if numbers:
        return numbers
    kind = kind_of_value(value)
    if isinstance(value, Var) and isinstance(kind, Seq):
        return list, tuple
    if isinstance(value, Var) and kind == STR:
        return str, np.str_
    known = class_of(value)
    if known is None or (isinstance(kind, Array) and it.reading.narrow):
        return ()  # arrays may be of a class derived from NumPy's
    return (container_polyfills.class_to_see(known),)


def plain_classes_of(it: Interpreter, value: Value) -> tuple[type, ...]:
    """The same, where attributes are looked up as usual; none where a method of the class says what there is."""
    classes = classes_of(it, value)
    return () if any(map(_answers_itself, classes)) else classes


def _answers_itself(cls: type) -> bool:
    own = isinstance(given(cls, "__getattribute__"), types.FunctionType)
    return own or gives(cls, "__getattr__")  # records of NumPy's have their fields by it


def lacks(it: Interpreter, value: Value, *names: str) -> bool:
    """Whether a value certainly has none of some attributes by its class."""
    classes = classes_of(it, value)
    return bool(classes) and not any(gives(cls, name) for cls in classes for name in names)


def name_of_class(it: Interpreter, value: Value) -> str:
    """What Python's own errors call the class of a value that is known."""
    return _shown(classes_of(it, value)[0])


def must_have(
    it: Interpreter, value: Value, names: tuple[str, ...], message: str, call: Any = None
) -> None:
    """Emit the TypeError that Python raises where a value certainly has no method of some names.

    Of a value of the run, whose class may be one of several, what Python calls is called.
    """
    if not lacks(it, value, *names):
        return
    if isinstance(value, Var) and call is not None:
        fail_now(it, call, value)
    raise_now(it, TypeError, message.format(name_of_class(it, value)))


def type_of(it: Interpreter, value: Value) -> Value:
    """`type(value)`."""
    known = class_of(value) if not isinstance(value, Var) else None
    if known is not None:
        return Const(container_polyfills.class_to_see(known))
    refuse_unknown_class(it, value)
    return _asked_at_run_time(it, Const(type), it.atom(value))


def refuse_unknown_class(it: Interpreter, value: Value) -> None:
    """Refuse a question about what the run has as a value of another class: a list, for an iterator."""
    if isinstance(value, (LazyIterable, Native)) or (
        isinstance(value, Items) and value.form in ("iterator", "super")
    ):
        raise it.unsupported(
            "which class this value is of is not known where the program is read",
            "Ask about a function, an object, an array, a number or a container; or say it by a flag of your own.",
        )


def attribute(it: Interpreter, value: Value, name: str) -> Value | None:
    """`value.name`, of a value without attributes of its own; None of a method, or of what is computed.

    Where no class that it may be of has such an attribute, what Python raises is emitted.
    """
    if name == "__class__":
        return type_of(it, value)
    classes = plain_classes_of(it, value)
    if isinstance(value, Var) and isinstance(value.kind, Array) and not classes:
        known = gives(np.ndarray, name)
        return None if known else _asked_at_run_time(it, Const(getattr), value, Const(name))
    if not classes:
        return None
    found = [given(cls, name) for cls in classes]
    if all(each is MISSING for each in found):
        _raise_missing(it, value, getattr, classes, name)
    text_of_numpy = kind_of_value(value) == STR and MISSING in found
    if text_of_numpy:
        return _asked_at_run_time(it, Const(getattr), it.atom(value), Const(name))
    if any(each is MISSING or hasattr(type(each), "__get__") for each in found):
        return None
    first, *others = found
    if all(other is first for other in others):
        return as_known(first)
    return _asked_at_run_time(it, Const(getattr), it.atom(value), Const(name))


def _asked_at_run_time(it: Interpreter, *atoms: Atom) -> Value:
    asked = it.emit(st.opaque, *atoms, names=Const(()))
    it.reading.inert.add(asked)
    return asked


def _raise_missing(
    it: Interpreter, value: Value, call: Any, classes: Sequence[type], name: str
) -> NoReturn:
    """Emit Python's error. Its words name the class, which the run finds where anybody may look at them."""
    cls = next(iter(classes))
    unseen = it.catching.may_see((AttributeError,)) and not _names_exceptions(it)
    if isinstance(value, Var) and len(classes) > 1 and not unseen:
        fail_now(it, call, value, Const(name))
    raise_now(it, AttributeError, f"'{_shown(cls)}' object has no attribute '{name}'", name=name)


def _names_exceptions(it: Interpreter) -> bool:
    """Whether a handler of what is being read may look at the exception that it handles."""
    nodes = (node for frame in it.frames for node in ast.walk(frame.closure.node))
    return any(isinstance(node, ast.ExceptHandler) and node.name for node in nodes)


def _shown(cls: type) -> str:
    """A class as Python's own errors name it: classes in C may have their module in the name."""
    return f"numpy.{cls.__name__}" if issubclass(cls, (np.ndarray, np.generic)) else cls.__name__


def refuse_assignment(it: Interpreter, value: Value, name: str) -> None:
    """Emit what Python raises where an attribute of a value can neither be assigned nor deleted."""
    classes = classes_of(it, value)
    if not classes or not all(is_fixed(cls, name) for cls in classes):
        return
    cls = next(iter(classes))
    if not gives(cls, name):
        _raise_missing(it, value, delattr, classes, name)
    raise_now(it, AttributeError, f"'{_shown(cls)}' object attribute '{name}' is read-only")


def is_fixed(cls: type, name: str) -> bool:
    """Whether assigning to an attribute of an instance raises an AttributeError, whatever is assigned."""
    found = given(cls, name)
    if found is not MISSING and hasattr(type(found), "__set__"):
        return (
            issubclass(cls, _READ_ONLY) and name != "__class__" and not isinstance(found, property)
        )
    if (
        cls.__setattr__ is not object.__setattr__
    ):  # which may keep it elsewhere, as `threading.local` does
        return False
    return not cls.__dictoffset__ and not isinstance(found, types.MemberDescriptorType)
