"""The kinds that arithmetic gives: NumPy's promotion, as far as it is known before a program runs.

Python's literals are weak: they do not change an array's dtype. A number computed at run time may
be a NumPy scalar, which does, so that only what holds for both is said.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..ir.builder import kind_of_atom
from ..ir.graph import Atom, Const
from ..ir.op import Infer
from ..ir.types import BOOL, FLOAT, INT, STR, UNKNOWN, Array, Kind, Number, NumberType, Seq, join
from .structure import number_of_dtype

Args = Sequence[Atom]
Params = Mapping[str, Atom]
OfNumber = Callable[[NumberType], NumberType]
OfDtype = Callable[[str], str]

_EXAMPLES: dict[NumberType, bool | int | float | complex] = {
    "bool": True,
    "int": 1,
    "float": 1.0,
    "complex": 1j,
}


def always(kind: Kind) -> Infer:
    """The result is of this kind, whatever the operands."""
    return lambda args, params: kind


def elementwise(of_number: OfNumber, of_dtype: OfDtype) -> Infer:
    """The result of an elementwise function, from what it does to the promoted operand type."""

    def infer(args: Args, params: Params) -> Kind:
        return broadcast(args, of_number, of_dtype)

    return infer


def broadcast(args: Args, of_number: OfNumber, of_dtype: OfDtype) -> Kind:
    """The kind of an elementwise result: the promoted dtype over the broadcast shape."""
    kinds = [kind_of_atom(arg) for arg in args]
    numbers = [kind for kind in kinds if isinstance(kind, Number)]
    arrays = [kind for kind in kinds if isinstance(kind, Array)]
    if len(numbers) + len(arrays) < len(kinds):
        return UNKNOWN
    if not arrays:
        joined = _joined(numbers)
        return Number(of_number(joined)) if joined is not None else UNKNOWN
    dtype = promoted(args)
    dtype = of_dtype(dtype) if dtype else ""
    return shaped(dtype, rank_of(arrays))


def shaped(dtype: str, rank: int | None) -> Kind:
    """An array; without dimensions, the scalar that NumPy's functions return for it."""
    return number_of_dtype(dtype) if rank == 0 else Array(dtype, rank)


def rank_of(arrays: Sequence[Array]) -> int | None:
    """The rank of arrays broadcast together."""
    ranks = [array.rank for array in arrays]
    return None if None in ranks else max(rank for rank in ranks if rank is not None)


def promoted(args: Args) -> str:
    """The dtype that operands are converted to; "" if that depends on the run."""
    kinds = [kind_of_atom(arg) for arg in args]
    dtypes = [kind.dtype for kind in kinds if isinstance(kind, Array)]
    if "" in dtypes:
        return ""
    dtype = result_dtype(*dtypes)
    for arg, kind in zip(args, kinds, strict=True):
        if isinstance(kind, Number):
            dtype = _with_number(dtype, kind.type, weak=isinstance(arg, Const))
    return dtype


@cache
def result_dtype(*dtypes: str) -> str:
    """NumPy's common dtype; "" if there is none, which the run raises."""
    try:
        return np.result_type(*(np.dtype(dtype) for dtype in dtypes)).name
    except TypeError:
        return ""


@cache
def _with_number(dtype: str, number: NumberType, *, weak: bool) -> str:
    if not dtype:
        return ""
    try:
        as_python = np.result_type(np.dtype(dtype), _EXAMPLES[number]).name
    except TypeError:
        return ""
    if weak or number == "bool":
        return as_python
    strong = {"int": "int64", "float": "float64", "complex": "complex128"}[number]
    return as_python if np.result_type(np.dtype(dtype), np.dtype(strong)).name == as_python else ""


def _joined(numbers: Sequence[Number]) -> NumberType | None:
    if not numbers:
        return None
    kind: Kind = numbers[0]
    for number in numbers[1:]:
        kind = join(kind, number)
    assert isinstance(kind, Number)
    return kind.type


# --- what functions do to types -----------------------------------------------------------


def counted(number: NumberType) -> NumberType:
    """Python's arithmetic on truth values is arithmetic on integers."""
    return "int" if number == "bool" else number


def inexact(number: NumberType) -> NumberType:
    """Functions of analysis give floats of integers."""
    return "complex" if number == "complex" else "float"


def real(number: NumberType) -> NumberType:
    """Parts and moduli of complex numbers are floats; real numbers stay what they are."""
    return "float" if number == "complex" else counted(number)


def same(dtype: str) -> str:
    """The dtype of the operands."""
    return dtype


def dtype_by(function: Callable[..., Any], operands: int = 1) -> OfDtype:
    """The dtype that a NumPy function gives, found by calling it on nothing."""

    @cache
    def of_dtype(dtype: str) -> str:
        if not dtype:
            return ""
        try:
            return function(*[np.empty(0, dtype)] * operands).dtype.name
        except TypeError:
            return ""

    return of_dtype


inexact_dtype = dtype_by(np.sin)
real_dtype = dtype_by(np.abs)

arithmetic = elementwise(counted, same)
analytic = elementwise(inexact, inexact_dtype)
modulus = elementwise(real, real_dtype)
angular = elementwise(lambda number: "float", dtype_by(np.angle))
quotient = elementwise(inexact, dtype_by(np.divide, 2))
squared = elementwise(counted, dtype_by(np.square))
conjugate = elementwise(counted, dtype_by(np.conjugate))
predicate = elementwise(lambda number: "bool", lambda dtype: "bool")
integral = elementwise(lambda number: "int", same)
selection = elementwise(lambda number: number, same)


def addition(args: Args, params: Params) -> Kind:
    """`+`, which also joins strings and lists."""
    a, b = map(kind_of_atom, args)
    if a == b == STR:
        return STR
    if isinstance(a, Seq) and isinstance(b, Seq):
        return join(a, b)
    return arithmetic(args, params)


def multiplication(args: Args, params: Params) -> Kind:
    """`*`, which also repeats strings and lists."""
    kinds = tuple(map(kind_of_atom, args))
    for items, times in (kinds, kinds[::-1]):
        if isinstance(times, Number) and (isinstance(items, Seq) or items == STR):
            return items
    return arithmetic(args, params)


_powers = elementwise(counted, dtype_by(np.power, 2))


def power(args: Args, params: Params) -> Kind:
    """`**`: an integer to a negative power is a float."""
    x, y = args
    if kind_of_atom(x) in (BOOL, INT) and kind_of_atom(y) in (BOOL, INT):
        return INT if isinstance(y, Const) and y.value >= 0 else FLOAT
    return _powers(args, params)
