"""Operators and built-in functions on objects of the user's own classes: the methods they stand for."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterable, Sequence
from typing import Any

from ...ir.graph import Const, Var
from ...ir.op import Op
from ...ir.types import UNKNOWN, Array, Number, Unknown
from ...ops import structure as st
from ...ops.program import identity as ident
from ..classes import class_lookup, instances
from ..classes.class_lookup import defines, is_walked_over, is_written
from ..data import known_sets
from ..domain.values import (
    Args,
    Items,
    Kwargs,
    Value,
    is_object,
    kind_of_value,
    object_class,
    tuple_of,
)
from ..heap import now
from ..heap.current import opened
from ..machine.failing import raise_now
from ..machine.interpreter import Interpreter
from ..polyfills.stdlib import iterators as iterator_polyfills
from . import objects
from .identities import identical, is_among

METHODS: dict[str, str] = {
    "add": "__add__", "sub": "__sub__", "mul": "__mul__", "div": "__truediv__",
    "floordiv": "__floordiv__", "mod": "__mod__", "pow": "__pow__", "matmul": "__matmul__",
    "bitand": "__and__", "bitor": "__or__", "bitxor": "__xor__",
    "lshift": "__lshift__", "rshift": "__rshift__",
    "eq": "__eq__", "ne": "__ne__", "lt": "__lt__", "le": "__le__", "gt": "__gt__", "ge": "__ge__",
    "neg": "__neg__", "pos": "__pos__", "invert": "__invert__", "abs": "__abs__",
}  # fmt: skip
UNARY = frozenset(("neg", "pos", "invert", "abs"))
_REFLECTED_COMPARISONS = {
    "__eq__": "__eq__", "__ne__": "__ne__", "__lt__": "__gt__", "__gt__": "__lt__",
    "__le__": "__ge__", "__ge__": "__le__",
}  # fmt: skip
_SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "div": "/", "floordiv": "//", "mod": "%", "pow": "** or pow()",
    "matmul": "@", "bitand": "&", "bitor": "|", "bitxor": "^", "lshift": "<<", "rshift": ">>",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "neg": "-", "pos": "+", "invert": "~", "abs": "abs()",
}  # fmt: skip


# --- methods ------------------------------------------------------------------------------


def call_method_of_class(
    it: Interpreter, receiver: Value, name: str, args: Args, kwargs: Kwargs | None = None
) -> Value | None:
    """Call a method that the receiver's class defines in Python; None if it defines none.

    None as well where the method answers `NotImplemented`.
    """
    receiver = opened(it, receiver)
    cls = object_class(receiver)
    if cls is None:
        return None
    found = class_lookup.static_lookup(cls, name)
    if class_lookup.is_generated(found):
        return _made_by_dataclass(it, receiver, name, args)
    if not is_written(found):
        return None
    method = objects.from_class(it, receiver, cls, name, found)
    result = it.call(method, args, kwargs or {})
    return None if isinstance(result, Const) and result.value is NotImplemented else result


_ORDER = ("__lt__", "__le__", "__gt__", "__ge__")


def _made_by_dataclass(it: Interpreter, receiver: Value, name: str, args: Args) -> Value | None:
    """The comparisons that `@dataclass` adds: those of the tuples of fields."""
    if name != "__eq__" and name not in _ORDER:
        return None
    other = opened(it, args[0])
    if class_lookup.class_of(other) is not class_lookup.class_of(receiver):
        return None
    import dataclasses

    compared = [f.name for f in dataclasses.fields(receiver.type) if f.compare]  # type: ignore[union-attr]
    fields = [
        tuple_of(*(it.attribute_of_object(each, field) for field in compared))  # type: ignore[arg-type]
        for each in (receiver, other)
    ]
    return it.compare(_COMPARISONS[name], *fields)


_COMPARISONS: dict[str, ast.cmpop] = {
    "__eq__": ast.Eq(), "__lt__": ast.Lt(), "__le__": ast.LtE(), "__gt__": ast.Gt(), "__ge__": ast.GtE(),
}  # fmt: skip


# --- operators ----------------------------------------------------------------------------


def call_operator_method(it: Interpreter, op: Op, values: Sequence[Value]) -> Value | None:
    """The result of an operator one of whose operands is an object; None if none is."""
    if op.name in ("in", "not_in"):
        found = contains(it, *values)
        return found if found is None or op.name == "in" else _negated(it, found)
    name = METHODS.get(op.name)
    if name is None:
        return None
    values = [opened(it, value) for value in values]
    if any(isinstance(kind_of_value(value), Array) for value in values):
        values = [it.in_numpy(value) for value in values]
    if not any(object_class(value) is not None for value in values):
        return None
    result = _by_methods(it, name, values)
    if result is not None:
        return result
    if name in ("__eq__", "__ne__"):
        return _equality(it, name, *values)
    if any(map(is_object, values)) and not any(map(is_sequence, values)):
        _wrong_operands(it, op, values)
    return None


def refuse_unknown_objects(it: Interpreter, op: Op, values: Sequence[Value]) -> None:
    """Have the run refuse operands of a class of the program's own that says what an operator does.

    Raises:
        UnsupportedSyntax: the class of an operand that is known is NumPy's, and says so in Python: a polynomial.
    """
    name = METHODS.get(op.name)
    if name is not None:
        for value in values if any(isinstance(v, Var) for v in values) else ():
            if isinstance(value, Const) and _says_in_numpy(type(value.value), name):
                raise it.unsupported(
                    f"`{name}` of a {type(value.value).__name__} is code that is not read",
                    "Compute with its coefficients, `p.coef`, or call it: `p(x)`.",
                )
        reflected = _REFLECTED_COMPARISONS.get(name) or name.replace("__", "__r", 1)
        names = (name,) if len(values) == 1 else (name, reflected)
        refuse_unknown(it, names, values, may_be_any=op.name in _WITHOUT_DERIVATIVE)


def _says_in_numpy(cls: type, name: str) -> bool:
    method = getattr(cls, name, None)
    return cls.__module__.partition(".")[0] == "numpy" and isinstance(method, types.FunctionType)


_WITHOUT_DERIVATIVE = frozenset(("bitand", "bitor", "bitxor", "lshift", "rshift", "invert"))
"""Operators that lose what has a derivative, but those of a class may not."""


def refuse_unknown(
    it: Interpreter, names: tuple[str, ...], values: Sequence[Value], *, may_be_any: bool = False
) -> None:
    """Have the run refuse values of a class of the program's own that has one of these methods.

    Where nothing is known of the arguments, `may_be_any` asks of classes that the program does not name, too.
    """
    unknown = [v for v in values if isinstance(v, Var) and v.kind == UNKNOWN]
    if not unknown:
        return
    it.reading.asked_of_unknown.update(names)
    may_be_any = may_be_any and it.reading.general
    if may_be_any or any(says_of_operators(cls, names) for cls in it.reading.made_of):
        for value in unknown:
            refuse_chosen(it, names, value)
            it.emit(ident.built_in_operator, value, Const(names))


def refuse_chosen(it: Interpreter, names: tuple[str, ...], value: Var) -> None:
    """Refuse, before anything is run, an object of a class with one of these methods that a branch has chosen.

    Raises:
        UnsupportedSyntax: it is one, on one path at least.
    """
    choice = it.builder.visible_definition(value)
    if choice is None or not choice.blocks or value not in choice.outs:
        return
    at = choice.outs.index(value)
    chosen = [block.outs[at] for block in choice.blocks if at < len(block.outs)]
    made = [eqn for block in choice.blocks for eqn in block.eqns if eqn.op is st.pack]
    classes = [eqn.param("type") for eqn in made if eqn.outs[0] in chosen]
    for cls in classes:
        if isinstance(cls, type) and says_of_operators(cls, names):
            raise it.unsupported(
                f"branches choose between objects of different classes, of which {cls.__name__} says itself what "
                "is done here",
                "Do it in each branch.",
            )


def says_of_operators(cls: type, names: Iterable[str]) -> bool:
    """Whether a class says in Python what operators do to its objects."""
    return any(_is_written_here(class_lookup.static_lookup(cls, name)) for name in names)


def _is_written_here(found: Any) -> bool:
    return isinstance(found, types.FunctionType)


def is_sequence(value: Value) -> bool:
    return isinstance(value, Items) and value.form == "namedtuple"


def _by_methods(it: Interpreter, name: str, values: Sequence[Value]) -> Value | None:
    if len(values) == 1:
        return call_method_of_class(it, values[0], name, [])
    left, right = values
    reflected = _REFLECTED_COMPARISONS.get(name) or name.replace("__", "__r", 1)
    attempts = [(left, name, right), (right, reflected, left)]
    if _comes_first(left, right, reflected):
        attempts.reverse()
    _refuse_numpy_beside_object(it, left, right, reflected)
    for receiver, method, other in attempts:
        result = call_method_of_class(it, receiver, method, [other])
        if result is not None:
            return result
    return None


def _refuse_numpy_beside_object(it: Interpreter, left: Value, right: Value, reflected: str) -> None:
    """Refuse an array beside an object, or a number of NumPy's beside one with items, of which NumPy makes an array.

    Raises:
        UnsupportedSyntax: it is an array; whether a number is one of NumPy's is for the run to say.
    """
    cls, kind = object_class(right), kind_of_value(left)
    if cls is None or not isinstance(kind, (Number, Array, Unknown)):
        return
    if any(hasattr(cls, n) for n in ("__array_ufunc__", "__array_priority__")):
        return  # NumPy leaves the operator to classes that say so
    has_items = all(hasattr(cls, name) for name in ("__len__", "__getitem__"))
    if isinstance(kind, Array) and hasattr(cls, reflected) and (has_items or kind.rank != 0):
        raise it.unsupported(
            f"an array meets an object of {cls.__name__}, of which NumPy makes an array",
            "Put the object first, or give its class an `__array_ufunc__ = None`: it then has the operator.",
        )
    if has_items:
        it.emit(ident.python_number, it.atom(left), Const(cls.__name__))


def _comes_first(left: Value, right: Value, reflected: str) -> bool:
    """Whether the right operand is asked first: its class refines that of the left one."""
    a, b = object_class(left), object_class(right)
    if a is None or b is None or a is b or not issubclass(b, a):
        return False
    own = class_lookup.static_lookup(b, reflected)
    return own is not class_lookup.MISSING and own is not class_lookup.static_lookup(a, reflected)


def _equality(it: Interpreter, name: str, left: Value, right: Value) -> Value | None:
    """What objects answer that do not say themselves when they are equal."""
    if name == "__ne__":
        equal = _by_methods(it, "__eq__", [left, right])
        if equal is not None:
            return _negated(it, equal)
    same = identical(it, left, right)
    return same if same is None or name == "__eq__" else _negated(it, same)


def _negated(it: Interpreter, value: Value) -> Value:

    known = it.known_truth(value)
    return Const(not known) if known is not None else it.emit(st.not_, it.truth(value))


def _wrong_operands(it: Interpreter, op: Op, values: Sequence[Value]) -> None:
    classes = [class_lookup.class_of(value) for value in values]
    if None in classes:
        return
    names = [f"'{cls.__name__}'" for cls in classes if cls is not None]
    symbol = _SYMBOLS[op.name]
    if op.name == "abs":
        raise_now(it, TypeError, f"bad operand type for abs(): {names[0]}")
    if op.name in UNARY:
        raise_now(it, TypeError, f"bad operand type for unary {symbol}: {names[0]}")
    if op.name in ("lt", "le", "gt", "ge"):
        message = f"'{symbol}' not supported between instances of {names[0]} and {names[1]}"
        raise_now(it, TypeError, message)
    message = f"unsupported operand type(s) for {symbol}: {names[0]} and {names[1]}"
    raise_now(it, TypeError, message)


# --- built-in functions -------------------------------------------------------------------


def contains(it: Interpreter, item: Value, container: Value) -> Value | None:
    """`item in container`, where objects are asked; None if none are."""
    container = opened(it, container)
    if defines(container, "__contains__"):
        said = call_method_of_class(it, container, "__contains__", [item])
        assert said is not None
        known = it.known_truth(said)
        return Const(known) if known is not None else it.truth(said)
    if object_class(container) is not None and is_walked_over(container):
        container = iterated(it, container)
    names = ("__contains__", *instances.ITERATED)
    instances.must_have(it, container, names, "argument of type '{}' is not iterable")
    said = known_sets.has(it, item, container)
    return is_among(it, item, container) if said is None else said


def as_asked(it: Interpreter, value: Value) -> Value:
    """What is walked over; an object of the user's classes is what its class says."""
    value = now(it, value)
    if isinstance(value, Items) and value.form in ("object", "dataclass"):
        return now(it, iterated(it, value))
    return value


def iterated(it: Interpreter, value: Value) -> Value:
    """`iter(value)` of an object: what its class says is to be iterated over."""
    if not defines(value, "__iter__") and defines(value, "__getitem__"):
        return it.call(Const(iterator_polyfills.by_index), [value], {})
    said = call_method_of_class(it, value, "__iter__", [])
    name = getattr(class_lookup.class_of(value), "__name__", "such an")
    if said is None:
        instances.must_have(it, value, instances.ITERATED, "'{}' object is not iterable")
        raise it.unsupported(
            f"iterating over a {name} object",
            "Iterate over a list or tuple that it holds, or give its class an `__iter__` method.",
        )
    if defines(said, "__next__"):
        return it.call(Const(iterator_polyfills.by_next), [said], {})
    return said
