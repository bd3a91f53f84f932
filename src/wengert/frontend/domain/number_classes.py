"""The classes of numbers: a kind says `float`, the value may be a scalar of NumPy's.

What all classes of a kind answer alike is answered when the program is read, the rest when it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.types import BOOL, FLOAT, Array, Number, NumberType, Seq
from ...ops import elementwise as el, structure as st
from ...ops.arrays import reduction as red
from ...ops.program import checks
from .values import Value, kind_of_value

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter

_CLASSES: dict[str, tuple[type, ...]] = {
    "bool": (bool, np.bool_),
    "int": (int, np.int64, np.uint8),
    "float": (float, np.float64),
    "complex": (complex, np.complex128),
}
_NARROW: dict[str, tuple[type, ...]] = {"float": (np.float32,), "complex": (np.complex64,)}
"""Those that are no classes derived from Python's own."""


DEEPEST = 6
"""How many containers inside one another are looked into: an object may hold itself."""
_DEPTH = 40
"""How far it is followed what a number is made of."""


def is_narrow(value: Any, depth: int = 0) -> bool:
    """Whether a value is, or holds, of NumPy's what is of another class than its kind says.

    A scalar that is no float and no complex number to Python, or an array of a class derived from NumPy's.
    """
    if not isinstance(value, (list, tuple)):
        return _is_narrow_class(type(value))
    classes = set(map(type, value))
    if any(map(_is_narrow_class, classes)):
        return True
    nested = depth < DEEPEST and any(issubclass(cls, (list, tuple)) for cls in classes)
    return nested and any(is_narrow(item, depth + 1) for item in value)


def _is_narrow_class(cls: type) -> bool:
    if issubclass(cls, np.ndarray):
        return cls is not np.ndarray
    return issubclass(cls, np.inexact) and not issubclass(cls, (float, complex))


def is_instance(it: Interpreter, number: Atom, kind: Number, wanted: Sequence[type]) -> bool | None:
    """Whether a number is of one of some classes; None: that is not said by its kind."""
    must_be_real(it, number)
    return _agreed([issubclass(cls, tuple(wanted)) for cls in _classes(it, number, kind)])


def classes_of(it: Interpreter, value: Value) -> tuple[type, ...]:
    """The classes that a number may be of, Python's own first; none of anything else."""
    kind = kind_of_value(value)
    if not isinstance(value, Var) or not isinstance(kind, Number):
        return ()
    must_be_real(it, value)
    return tuple(sorted(_classes(it, value, kind), key=lambda cls: cls.__module__ != "builtins"))


def is_exact(it: Interpreter, number: Atom) -> bool:
    """Whether a number is certainly of the type that its kind says.

    Where a branch, a loop or a list has mixed whole numbers and floats, the kind of both is `float`.
    """
    return _Origins(it).is_exact(number, _DEPTH)


def has_exact_dtype(it: Interpreter, array: Atom) -> bool:
    """Whether an array certainly has the dtype that its kind says: it is made of no numbers in doubt."""
    return _Origins(it).has_exact_dtype(array, _DEPTH)


def must_be_real(it: Interpreter, value: Value) -> None:
    """Refuse the runs in which a float is complex, where the program asks for what differs.

    To Python a float to the power of a fraction is a complex number where the float is negative.
    """
    if kind_of_value(value) == FLOAT and _Origins(it).may_be_complex(it.atom(value), _DEPTH):
        it.emit(checks.real_power, it.atom(value), namespace="rt")


def _agreed(answers: Sequence[bool]) -> bool | None:
    return answers[0] if len(set(answers)) == 1 else None


def _classes(it: Interpreter, number: Atom, kind: Number) -> tuple[type, ...]:
    if isinstance(number, Const):
        return (type(number.value),)
    eqn = it.builder.visible_definition(number)
    if kind.type == "int" and eqn is not None and eqn.namespace == "np" and eqn.op.elementwise:
        return (
            *_CLASSES["int"],
            np.float64,
            np.float32,
        )  # `np.floor` gives whole numbers as floats
    origins = _Origins(it)
    narrow = () if origins.is_wide(number, _DEPTH) else _NARROW.get(kind.type, ())
    others = () if origins.is_exact(number, _DEPTH) else _below(kind.type)
    return (*_CLASSES[kind.type], *narrow, *others)


def _below(number: NumberType) -> tuple[type, ...]:
    """The classes of the numbers that a kind covers as well, where they were mixed."""
    order = list(_CLASSES)
    return tuple(cls for each in order[: order.index(number)] for cls in _CLASSES[each])


class _Origins:
    """What numbers and arrays are made of; each is asked about once."""

    def __init__(self, it: Interpreter):
        self._it = it
        self._said: dict[tuple[str, Atom], bool] = {}

    def _once(self, question: str, atom: Atom, find: Callable[[], bool]) -> bool:
        key = question, atom
        if key not in self._said:
            self._said[key] = find()
        return self._said[key]

    def _definition(self, atom: Atom) -> Eqn | None:
        return self._it.builder.visible_definition(atom) if isinstance(atom, Var) else None

    def is_exact(self, atom: Atom, depth: int) -> bool:
        kind = kind_of_atom(atom)
        if isinstance(atom, Const) or isinstance(kind, Array) or kind == BOOL:
            return True
        if not isinstance(kind, Number) or not depth:
            return False
        eqn = self._definition(atom)
        if eqn is None:
            return atom in self._it.reading.inputs
        if eqn.op in red.FOLDS:
            return False
        if eqn.op.reduction or eqn.op is st.getitem:
            return isinstance(kind_of_atom(eqn.args[0]), Array)
        if eqn.namespace == "math" or eqn.op is st.global_:
            return True
        follows = lambda: self._follows_exactly(eqn, kind, depth)
        return eqn.op.elementwise and self._once("exact", atom, follows)

    def _follows_exactly(self, eqn: Eqn, kind: Number, depth: int) -> bool:
        """Whether the type of a result would be the same, were operands in doubt of the narrowest type."""
        operands = [kind_of_atom(arg) for arg in eqn.args]
        if eqn.op in (el.maximum, el.minimum) and eqn.namespace != "np" and len({*operands}) > 1:
            return False  # it is one of them
        at_least = [arg if self.is_exact(arg, depth - 1) else Var(BOOL) for arg in eqn.args]
        return eqn.op.infer(at_least, eqn.params) == kind

    def has_exact_dtype(self, atom: Atom, depth: int) -> bool:
        if isinstance(atom, Const) or not depth:
            return isinstance(atom, Const)
        if isinstance(kind_of_atom(atom), Number):
            return self.is_exact(atom, depth)
        eqn = self._definition(atom)
        if eqn is None:
            is_list = isinstance(kind_of_atom(atom), Seq)  # a part of it may be of another dtype
            return not is_list and atom in self._it.reading.inputs
        operands = [arg for arg in eqn.args if isinstance(arg, Var)]
        made_of = lambda: all(self.has_exact_dtype(arg, depth - 1) for arg in operands)
        return not (eqn.op.effect or eqn.blocks) and self._once("dtype", atom, made_of)

    def may_be_complex(self, atom: Atom, depth: int) -> bool:
        """Whether a number is, or is made of, a float to the power of a fraction."""
        eqn = self._definition(atom)
        if eqn is None or not depth or not eqn.op.elementwise or eqn.namespace in ("np", "math"):
            return False
        if eqn.op is el.pow_ and isinstance(eqn.args[1], Const):
            exponent = eqn.args[1].value
            if type(exponent) is float and not exponent.is_integer():
                return not self._is_no_less_than_zero(eqn.args[0], depth)
        follows = lambda: any(self.may_be_complex(each, depth - 1) for each in eqn.args)
        return self._once("complex", atom, follows)

    def _is_no_less_than_zero(self, atom: Atom, depth: int) -> bool:
        """Whether a number is certainly not negative: a square, a length, a sum of such."""
        if isinstance(atom, Const):
            return type(atom.value) in (int, float) and atom.value >= 0
        eqn = self._definition(atom)
        if eqn is None or not depth:
            return False
        if eqn.op in (el.abs_, el.exp, el.sqrt, el.square, el.hypot, el.cosh):
            return True
        if eqn.op is el.pow_ and isinstance(eqn.args[1], Const):
            return type(eqn.args[1].value) is int and eqn.args[1].value % 2 == 0
        if eqn.op is el.mul and eqn.args[0] == eqn.args[1]:
            return True
        combined = lambda: all(self._is_no_less_than_zero(each, depth - 1) for each in eqn.args)
        return eqn.op in (el.add, el.mul, el.div) and self._once("positive", atom, combined)

    def is_wide(self, atom: Atom, depth: int) -> bool:
        """Whether a number, or every item of an array, is certainly no narrow one."""
        kind = kind_of_atom(atom)
        if isinstance(atom, Const):
            return True
        if isinstance(kind, Array):
            return kind.dtype in ("float64", "complex128", "int64", "bool")
        if not isinstance(kind, Number) or not depth:
            return False
        if kind.type in ("int", "bool"):
            return True
        eqn = self._definition(atom)
        if eqn is None:
            return atom in self._it.reading.inputs and not self._it.reading.narrow
        of_math = eqn.namespace == "math" and eqn.op.elementwise
        return of_math or self._once("wide", atom, lambda: self._keeps_width(eqn, depth))

    def _keeps_width(self, eqn: Eqn, depth: int) -> bool:
        if (
            eqn.blocks
            or "dtype" in eqn.params
            or not (eqn.op.elementwise or eqn.op.reduction or eqn.op is st.getitem)
        ):
            return False
        operands = eqn.args[:1] if eqn.op is st.getitem else eqn.operands()
        return all(self.is_wide(each, depth - 1) for each in operands if isinstance(each, Var))
