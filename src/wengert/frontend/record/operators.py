"""Operators of boxes: a short way for floats and arrays of them, and what a program is told of a number."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from opcode import opmap
from typing import Any

import numpy as np

from ...errors import NoRule
from ...ir.callers import calling_span
from ...ir.op import Op
from ...numbers.number import PerturbedNumber, value_of
from ...numbers.pushforward import evaluated
from ...numbers.squares import FOLLOWED
from ...ops import elementwise as el, structure as st
from ...ops.arrays import linear_algebra as la
from .boxes import Recorded, as_class_says, asked, at_level_below, gathered_items, noted, recorded
from .searches import compare
from .steps import Weighted
from .tape import FLOATS, Number, noting


def _change(op: Op) -> Any:
    return lambda self, other: self._changed(op, other)


for _name, _op in {
    "mul": el.mul, "truediv": el.div, "floordiv": el.floordiv, "mod": el.mod, "pow": el.pow_, "matmul": la.matmul,
}.items():  # fmt: skip
    setattr(Recorded, f"__i{_name}__", _change(_op))


def _of_floats(name: str, op: Op, weights: Callable[[Any, Any], Any]) -> Any:
    """An operator that takes a short way where both operands are floats, the second an integer, or arrays of floats.

    Args:
        name: of the method.
        op: what it computes.
        weights: gives the partial derivatives in the box and in the other operand; None where there are none.
    """
    by_numbers = getattr(PerturbedNumber, name)
    is_reflected = name.startswith("__r")
    function = getattr(operator, name.replace("__r", "__"))

    def slow(self: Recorded, other: Any) -> Any:
        if self.memory is None or self.root_of is not None or not _fits(self, other):
            return by_numbers(self, other)
        pair = (other, self) if is_reflected else (self, other)
        is_plain = type(self.below) is np.ndarray and type(value_of(other)) is type(
            at_level_below(other, self.tape)
        )
        return recorded(self.tape, op, pair, {}, function if is_plain else op, pair, {})

    def forward(self: Recorded, other: Any) -> Any:
        value, tape = self.below, self.tape
        if (
            type(value) not in FLOATS
            or self.root_of is not None
            or self.number is None
            or not tape.is_open
            or tape.is_listed
        ):
            return slow(self, other)
        second = -1
        if type(other) is Recorded:
            if other.tape is not tape or other.root_of is not None or other.number is None:
                return slow(self, other)
            second, other = other.number.slot, other.below
        is_number = type(other) in FLOATS or (type(other) is int and second < 0)
        by = weights(value, other) if is_number else None
        if by is None:
            return slow(self, other if second < 0 else Recorded(other, tape, Number(other, second)))
        found = function(other, value) if is_reflected else function(value, other)
        number = Number(found, tape.slot())
        tape.entries.append(Weighted(number.slot, self.number.slot, by[0], second, by[1]))
        return Recorded(found, tape, number)

    return forward


def _fits(x: Recorded, other: Any) -> bool:
    """Whether an array and another operand are of one run, or the other one is plain."""
    if type(other) is Recorded:
        return other.tape is x.tape and other.root_of is None
    is_number = type(other) in FLOATS or type(other) is int
    return is_number or (type(other) is np.ndarray and other.dtype.kind in "fiub")


def _of_quotient(x: Any, y: Any) -> Any:
    x, y = float(x), float(y)  # which do not warn
    return None if y == 0.0 else (1.0 / y, -(x / y) / y)


def _of_quotient_reflected(y: Any, x: Any) -> Any:
    weights = _of_quotient(x, y)
    return weights and (weights[1], weights[0])


def _of_power(x: Any, y: Any) -> Any:
    x = float(x)
    try:
        if type(y) is int:
            return (y * x ** (y - 1), 0.0) if y > 0 or (y < 0 and x != 0.0) else None
        return (y * x ** (y - 1.0), x**y * math.log(x)) if 0.0 < x < math.inf else None
    except OverflowError:
        return None


def _of_power_reflected(y: Any, x: Any) -> Any:
    weights = _of_power(x, y) if type(y) is not int else None
    return weights and (weights[1], weights[0])


for _name, _op, _weights, _reflected in (
    ("add", el.add, lambda x, y: (1.0, 1.0), lambda y, x: (1.0, 1.0)),
    ("sub", el.sub, lambda x, y: (1.0, -1.0), lambda y, x: (-1.0, 1.0)),
    ("mul", el.mul, lambda x, y: (y, x), lambda y, x: (x, y)),
    ("truediv", el.div, _of_quotient, _of_quotient_reflected),
    ("pow", el.pow_, _of_power, _of_power_reflected),
):
    setattr(Recorded, f"__{_name}__", _of_floats(f"__{_name}__", _op, _weights))
    setattr(Recorded, f"__r{_name}__", _of_floats(f"__r{_name}__", _op, _reflected))


def _of_one_float(name: str, function: Callable[[Any], Any], weight: Callable[[Any], Any]) -> Any:
    """An operator of one operand that takes a short way where that is a float with such a partial derivative."""
    slow = getattr(Recorded, name)

    def forward(self: Recorded) -> Any:
        value, tape, own = self.below, self.tape, self.number
        is_short = type(value) in FLOATS and self.root_of is None and tape.is_open
        by = weight(value) if is_short and not tape.is_listed else None
        if by is None or own is None:
            return slow(self)
        number = Number(function(value), tape.slot())
        tape.entries.append(Weighted(number.slot, own.slot, by, -1, 0.0))
        return Recorded(number.value, tape, number)

    return forward


Recorded.__neg__ = _of_one_float("__neg__", operator.neg, lambda x: -1.0)
Recorded.__abs__ = _of_one_float(
    "__abs__", operator.abs, lambda x: math.copysign(1.0, x) if abs(x) > 0.0 else None
)


def of_float(op: Op, row: Any, function: Callable[[float], Any], x: Recorded) -> Any:
    """A function of a number that is a float, with its partial derivative; None where that is not all of it.

    Args:
        op: what the function computes.
        row: gives the partial derivative, of the number and the result.
        function: computes the result.
        x: the number.
    """
    value, tape = x.below, x.tape
    if type(value) not in FLOATS or x.number is None or not tape.is_open or tape.listed:
        return None
    result = function(value)
    if op in FOLLOWED and (x.root_of is not None or not 0.0 < abs(result) < math.inf):
        return None  # its square may have more derivatives than it has
    try:
        partial = evaluated(row, (value, result), {})
    except (ArithmeticError, ValueError):
        partial = None  # it may not be needed
        if type(result) is np.float64:
            partial = evaluated(
                row, (np.float64(value), result), {}
            )  # which raises nothing at a pole
    if not isinstance(partial, float) or type(result) not in FLOATS:
        return noted(tape, op, (x,), {}, result)
    number = Number(result, tape.slot())
    tape.entries.append(Weighted(number.slot, x.number.slot, partial, -1, 0.0))
    return Recorded(result, tape, number)


def _asking(name: str, op: Op | None) -> Any:
    """What a program is told of a number, noted where its run is to be written out."""
    tell = getattr(Recorded, name)
    orders = name in _ORDERS

    def told(self: Recorded, *others: Any) -> Any:
        answer = tell(self, *others)
        if orders and (self.number is not None or self.memory is not None):
            frame = sys._getframe(2)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            compare(frame, self, others[0])
        if self.tape.listed is not None and answer is not NotImplemented:
            asked(op, (self, *others), {}, answer)
        return answer

    return told


_ORDERS = ("__lt__", "__le__", "__gt__", "__ge__")

for _name, _question in {
    "__lt__": st.lt, "__le__": st.le, "__gt__": st.gt, "__ge__": st.ge, "__eq__": st.eq, "__ne__": st.ne,
    "__bool__": st.truth, "__index__": None, "__hash__": None,
}.items():  # fmt: skip
    setattr(Recorded, _name, _asking(_name, _question))


_NUMPY_ASKS = ("__array_ufunc__", "__array_priority__")
"""What classes say of themselves to which NumPy leaves its operators."""


def _numpy_takes(self: Recorded, other: Any, name: str) -> bool:
    """Whether an operator that takes no operand of this class is NumPy's, which makes an array of the operand."""
    value = value_of(self)
    if isinstance(other, (list, tuple)):
        repeats = isinstance(value, np.generic) and name in ("__mul__", "__rmul__")
        return isinstance(value, (np.generic, np.ndarray)) and not repeats
    cls = type(other)
    if not isinstance(value, (np.generic, np.ndarray)) or cls.__module__ == "builtins":
        return False
    return not any(hasattr(cls, asked) for asked in _NUMPY_ASKS)


def as_objects(x: Recorded) -> Any:
    """The numbers of an array as an array of objects, on which NumPy calls their own operators."""
    objects = np.empty(np.shape(value_of(x)), object)
    objects[...] = x.tolist()
    return objects


def _saying(name: str) -> Any:
    """An operator that does with an operand which takes no numbers what that of the value does, or raises."""
    compute = getattr(Recorded, name)
    is_reflected = name.startswith("__r") and name != "__rshift__"
    function = getattr(operator, name.replace("__r", "__") if is_reflected else name)

    def say(self: Recorded, other: Any, *modulus: Any) -> Any:
        if modulus:  # of integers: a constant, or Python's own error
            return pow(value_of(self), value_of(other), *map(value_of, modulus))
        result = compute(self, other)
        if result is not NotImplemented:
            return result
        if _numpy_takes(self, other, name):
            made = as_class_says(other)
            if made is not other:
                return function(made, self) if is_reflected else function(self, made)
            objects = as_objects(self)
            pair = (other, objects) if is_reflected else (objects, other)
            return gathered_items(function(*pair))
        if type(other).__module__ == "builtins" and name not in _COMPARISONS:
            pair = (other, value_of(self)) if is_reflected else (value_of(self), other)
            return function(*pair)
        return result

    return say


_COMPARISONS = (*_ORDERS, "__eq__", "__ne__")

for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    for _prefix in ("", "r"):
        setattr(Recorded, f"__{_prefix}{_name}__", _saying(f"__{_prefix}{_name}__"))
for _name in _COMPARISONS:
    setattr(Recorded, _name, _saying(_name))


def _refusing_memos(compare: Any, asks: Callable[..., bool]) -> Any:
    """What a look-up asks, as `==` does: an entry from before the run has no derivative by what finds it.

    Args:
        compare: the method of boxes.
        asks: whether what it is given asks if a number is one of Python's or NumPy's floats.
    """

    def compared(self: Recorded, *args: Any, **options: Any) -> Any:
        answer = compare(self, *args, **options)
        is_met = self.tape.meets_entries_by_floats and self.number is not None and asks(*args)
        if is_met and answer is not NotImplemented and answer:
            caller = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
            if caller.f_code.co_code[caller.f_lasti] != _COMPARE_OP:
                raise noting(NoRule(*_BY_FLOATS, calling_span()))
        return answer

    return compared


_COMPARE_OP = opmap["COMPARE_OP"]
_BY_FLOATS = (
    (
        "a number that has a derivative finds an entry that was there before the run, by a float: what is found has "
        "no derivative"
    ),
    (
        "Keep what is remembered in the function itself; or look up `wg.stop_gradient(x)`, where it is to have none."
    ),
)
Recorded.__eq__ = _refusing_memos(Recorded.__eq__, lambda other: type(other) in FLOATS)
Recorded.__array_ufunc__ = _refusing_memos(  # by which NumPy's floats compare
    Recorded.__array_ufunc__, lambda ufunc, *_: ufunc is np.equal
)
