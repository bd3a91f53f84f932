"""What a value of the IR is while it is lowered: a number, an array in memory, one yet to be computed …"""

from __future__ import annotations

from typing import Any

from ....ir.graph import Span
from ....ir.records import field, mutable_record, record, value_record
from ..form.loopform import Apply, Code, Constant, Expr, Slot


class Unlowered(Exception):
    """Something that has no native form: what, and where in the user's program."""

    def __init__(self, reason: str, span: Span | None = None):
        super().__init__(reason)
        self.reason = reason
        self.span = span
        self.eqn: Any = None
        """The equation that it is in."""


UNBOUND, AN_INTEGER, PYTHON, SINGLE, NUMPY = range(-1, 4)
"""Whose number a number is: nobody's, in the place of one that has not been assigned; an integer of Python's
that is kept as a float; a number of Python's; a `float32` that is kept as a float of 64 bits; another scalar of
NumPy's. The greater decides whose the result of arithmetic is."""

OF_DOUBLES = frozenset((UNBOUND, AN_INTEGER, PYTHON, NUMPY))
"""What a float may be where no float of 32 bits is kept as one of 64."""


@value_record
class DynamicOwner:
    """Whose number a number is, where that depends on the run: a variable, and what it may hold."""

    expr: Expr
    among: frozenset[int] = OF_DOUBLES


Origin = int | DynamicOwner


@value_record
class Scalar:
    """A number. `bits` bounds the magnitude of an integer: |value| < 2 ** bits."""

    expr: Expr
    origin: Origin = PYTHON
    bits: int = 64

    @property
    def code(self) -> Code:
        return self.expr.code


@mutable_record
class Root:
    """A piece of memory.

    Attributes:
        of_caller: whether the caller sees what is in it, at the latest when the function ends.
        stands_in: whether it may be a copy of such memory, in the place of an array that may be another.
        changed: whether the program itself writes to it.
        lent: whether it has, in this run, what an argument of the caller's has, and Python that argument itself;
            None if nobody has kept account of it.
        lasts: whether it stays, and stays as it is, as long as anybody reads it.
        bound: whether there is an array at all, where that depends on the run.
    """

    pointer: Slot
    name: str = ""
    of_caller: bool = False
    stands_in: bool = False
    changed: bool = False
    lasts: bool = False
    bound: Expr | None = None
    lent: Expr | None = None


@record
class View:
    """An array in memory. Element (i, j, …) is at `offset + i * strides[0] + j * strides[1] + …`."""

    root: Root
    code: Code
    dims: tuple[Expr, ...]
    strides: tuple[Expr, ...]
    offset: Expr
    whole: bool = False
    """Whether it is all of its memory, in C order."""

    @property
    def pointer(self) -> Slot:
        return self.root.pointer


@mutable_record
class Lazy:
    """An array, or the result of a reduction, that a pending loop nest is going to compute."""

    code: Code
    dims: tuple[Expr, ...]
    group: Any
    names: list[Any] = field(default_factory=list[Any])
    """The values of the IR that it is."""
    result: View | Scalar | None = None
    element: Expr | None = None
    """The element at the indices of the loop that is being written."""
    is_demanded: bool = False
    """Whether what is being lowered needs it, by whatever name."""
    place: Any = None
    """Where it is written to instead of to memory of its own."""


@record
class Broadcast:
    """One number everywhere in an array: nothing is computed until it meets other arrays."""

    element: Scalar
    code: Code
    dims: tuple[Expr, ...]


@record
class Tuple:
    """A container whose items are known one by one."""

    items: tuple[Any, ...]
    form: str = "tuple"
    keys: tuple[Any, ...] = ()
    type: Any = None


@record
class Range:
    start: Scalar
    count: Expr
    step: Scalar


@record
class Bounds:
    """A slice."""

    start: Scalar | None
    stop: Scalar | None
    step: Scalar | None


EVERYTHING = Bounds(None, None, None)


@record
class StaticValue:
    """A value that is known while the program is compiled: None, a string, a dtype, a function."""

    value: Any


Array = View | Lazy | Broadcast
Value = Any


def integer(value: int) -> Constant:
    return Constant(value, "i64")


def number(value: float | int | bool) -> Scalar:
    """A number that is known, as Python's."""
    if isinstance(value, bool):
        return Scalar(Constant(value, "b1"))
    if isinstance(value, int):
        return Scalar(integer(value), bits=value.bit_length())
    return Scalar(Constant(float(value), "f64"))


ZERO, ONE = integer(0), integer(1)


def times(a: Expr, b: Expr) -> Expr:
    """A product of sizes."""
    if isinstance(a, Constant) and isinstance(b, Constant):
        return integer(int(a.value) * int(b.value))
    if ZERO in (a, b):
        return ZERO
    if ONE in (a, b):
        return b if a == ONE else a
    return Apply("mul", (a, b), "i64")


def plus(a: Expr, b: Expr) -> Expr:
    """A sum of sizes."""
    if isinstance(a, Constant) and isinstance(b, Constant):
        return integer(int(a.value) + int(b.value))
    if ZERO in (a, b):
        return b if a == ZERO else a
    return Apply("add", (a, b), "i64")


def minus(a: Expr, b: Expr) -> Expr:
    """A difference of sizes."""
    if isinstance(a, Constant) and isinstance(b, Constant):
        return integer(int(a.value) - int(b.value))
    if a == b:
        return ZERO
    return a if b == ZERO else Apply("sub", (a, b), "i64")


def product(sizes: tuple[Expr, ...]) -> Expr:
    total: Expr = ONE
    for size in sizes:
        total = times(total, size)
    return total


def c_strides(dims: tuple[Expr, ...]) -> tuple[Expr, ...]:
    """The strides of an array in C order."""
    return tuple(product(dims[k + 1 :]) for k in range(len(dims)))


def must_have_type(number: Scalar) -> None:
    """Refuse a number that may have 32 or 64 bits."""
    if isinstance(number.origin, DynamicOwner) and SINGLE in number.origin.among:
        raise Unlowered("a number whose type depends on the run")


def described(value: Value) -> str:
    """A value in the words of a message."""
    match value:
        case Scalar():
            return "a number"
        case View() | Lazy() | Broadcast():
            return "an array"
        case Tuple():
            return f"a {value.form}"
        case StaticValue(value=None):
            return "None"
        case StaticValue(value=known):
            return f"a {type(known).__name__}"
        case _:
            return "a list"
