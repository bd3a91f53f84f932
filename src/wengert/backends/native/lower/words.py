"""How the operands and the result of a call of Python lie in words."""

from __future__ import annotations

from typing import Any

from ....ir.graph import Function, Span
from ....ir.records import record, value_record
from ..form.loopform import Code


@value_record
class NumberWords:
    """A number: in a word, or in a float if it is one; and whose it is, in the word `owner`."""

    code: Code
    at: int
    owner: int


@value_record
class ComplexWords:
    """A complex number: in two floats, and whose it is."""

    at: int
    owner: int


@value_record
class ArrayWords:
    """An array, its sizes in words from `at` on.

    An operand is found at the address `pointer`; if it is not contiguous, strides in elements follow. Of a result,
    the word before the sizes is its address.
    """

    dtype: str
    rank: int
    at: int
    pointer: int = -1
    contiguous: bool = False


@value_record
class ContainerWords:
    """A container, or a slice, of known length."""

    form: str
    items: tuple[Any, ...]
    keys: tuple[Any, ...] = ()
    type: Any = None


@value_record
class KnownWords:
    """What takes no words."""

    value: Any


Words = NumberWords | ComplexWords | ArrayWords | ContainerWords | KnownWords


@record
class CallOut:
    """A call of Python.

    Attributes:
        function: the equation as a function of its operands.
        operands: how these lie in words.
        result: how the result does.
        status: the word between them: 0 if there is a result.
        integers: how many words there are.
        first_float: the first float of the result.
        floats: how many floats there are.
        addresses: how many arrays are given.
        in_order: whether arrays that are given must be in C order.
        reason: why the op has no native form; None if it has one, which is slower on large arrays.
        span: where it is in the user's program.
    """

    name: str
    function: Function
    operands: tuple[Words, ...]
    result: Words
    status: int
    integers: int
    first_float: int
    floats: int
    addresses: int
    in_order: bool
    reason: str | None
    span: Span | None
