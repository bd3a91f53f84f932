"""The typed loop form: numbers, pointers to elements, loops, branches and exits; no Python object.

Everything is explicit: a variable has one of six types, an array is a pointer with an index computed
from its strides, and what the Python form would do otherwise (raise, compute with big integers,
broadcast in an unusual way) is an *exit*: the native function gives up, having changed nothing that its
caller can see, and the Python form runs instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from ....ir.graph import Span
from ....ir.records import record, value_record

Code = Literal["b1", "i64", "f64", "f32", "ptr"]
"""A truth value, an integer, a float of 64 or 32 bits, a pointer to elements."""

NUMPY_NAMES: dict[Code, str] = {"b1": "bool", "i64": "int64", "f64": "float64", "f32": "float32"}
CODES: dict[str, Code] = {name: code for code, name in NUMPY_NAMES.items()}
SIZES: dict[Code, int] = {"b1": 1, "i64": 8, "f64": 8, "f32": 4}
FLOATS: tuple[Code, ...] = ("f64", "f32")

# --- expressions ----------------------------------------------------------------------------


@value_record
class Slot:
    """A variable."""

    name: str
    code: Code


@value_record
class Constant:
    """A number that is known."""

    value: float | int | bool
    code: Code

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Constant):
            return False
        return self.code == other.code and repr(self.value) == repr(other.value)  # 0.0 is not -0.0

    def __hash__(self) -> int:
        return hash((repr(self.value), self.code))


def floating(value: float, code: Code) -> Constant:
    """A float that is known, rounded as one of its type is."""
    with np.errstate(over="ignore"):
        return Constant(float(np.float32(value)) if code == "f32" else float(value), code)


@value_record
class Apply:
    """A primitive operation on numbers; `llvm` and `ccode` say what each is."""

    op: str
    args: tuple[Expr, ...]
    code: Code


@value_record
class Load:
    """An element of an array."""

    pointer: Slot
    index: Expr
    code: Code


Expr = Slot | Constant | Apply | Load

# --- statements -------------------------------------------------------------------------------


@record
class Assign:
    slot: Slot
    value: Expr


@record
class Store:
    """`pointer[index] = value`"""

    pointer: Slot
    index: Expr
    value: Expr


@record
class Allocate:
    """Memory for `count` elements, which lives until it is released or the function returns.

    `in_frame` says that it is part of the procedure's frame, and never released; `in_arena`, that it lies
    on top of what the call of the whole program keeps in its arena, until that is reset.
    """

    pointer: Slot
    count: Expr
    code: Code
    in_frame: bool = False
    in_arena: bool = False


@record
class Enlarge:
    """Move what an array holds to memory for `count` elements."""

    pointer: Slot
    count: Expr
    code: Code


@record
class Release:
    pointer: Slot


@record
class Mark:
    """Note how far the arena is filled."""

    place: Slot


@record
class Reset:
    """Give up what has been put into the arena since a mark."""

    place: Slot


@record
class Copy:
    """Copy `count` elements between arrays that do not overlap."""

    target: Slot
    target_index: Expr
    source: Slot
    source_index: Expr
    count: Expr
    code: Code


@record
class For:
    """`for index in range(count)`, upwards.

    `independent` says that no iteration reads elements that another writes.
    """

    index: Slot
    count: Expr
    body: tuple[Statement, ...]
    independent: bool = False


@record
class While:
    """Run `test`, and `body` as long as `condition` holds after it."""

    test: tuple[Statement, ...]
    condition: Expr
    body: tuple[Statement, ...]


@record
class If:
    """A choice; `rarely` says that the first block seldom runs, so that it is worth a jump."""

    condition: Expr
    then: tuple[Statement, ...]
    other: tuple[Statement, ...] = ()
    rarely: bool = False


@record
class BreakIf:
    """Leave the innermost loop."""

    condition: Expr


@record
class ExitIf:
    """Give up: the Python form does what is to be done here."""

    condition: Expr
    reason: str
    span: Span | None = None


@record
class Invoke:
    """Call another function of the same program; gives up where that gives up."""

    function: str
    args: tuple[Expr, ...]
    results: tuple[Slot, ...]


@record
class External:
    """Call a routine of LAPACK, which takes everything by address: `args` are the elements it is given.

    One with a `number` is a call out to Python, by its number in the program.
    """

    name: str
    args: tuple[Load, ...]
    number: int | None = None


@record
class Spread:
    """Call another function of the program on parts of `range(count)`, side by side.

    It is given the number of the part, where the part starts and where it stops, and `args`. What the
    parts give is put together by `steps`, one for each result: an operation, or `last`. Gives up where
    one of the calls does.
    """

    function: str
    parts: Expr
    count: Expr
    args: tuple[Expr, ...]
    results: tuple[Slot, ...]
    steps: tuple[str, ...]


@record
class Multiply:
    """`target = left @ right` by BLAS, of matrices of rows × inner and inner × columns elements.

    The elements of a row of a matrix follow each other, and rows are `lead` elements apart; of a
    transposed one it is columns.
    """

    target: Slot
    left: Slot
    left_index: Expr
    left_lead: Expr
    left_transposed: bool
    right: Slot
    right_index: Expr
    right_lead: Expr
    right_transposed: bool
    rows: Expr
    inner: Expr
    columns: Expr
    code: Code


Statement = (
    Assign
    | Store
    | Allocate
    | Enlarge
    | Release
    | Mark
    | Reset
    | Copy
    | For
    | While
    | If
    | BreakIf
    | ExitIf
    | Invoke
    | External
    | Spread
    | Multiply
)


@record
class Procedure:
    """A function of the loop form: its `results` are variables that hold them when the body ends.

    One that is to be `inlined` stands in the place of its calls.
    """

    name: str
    params: tuple[Slot, ...]
    results: tuple[Slot, ...]
    body: tuple[Statement, ...]
    inlined: bool = False


def blocks_of(statement: Statement) -> tuple[tuple[Statement, ...], ...]:
    """The statements inside a statement."""
    match statement:
        case For(body=body):
            return (body,)
        case While(test=test, body=body):
            return (test, body)
        case If(then=then, other=other):
            return (then, other)
        case _:
            return ()


def each(statements: tuple[Statement, ...]) -> Iterator[Statement]:
    """Every statement, those inside others included."""
    for statement in statements:
        yield statement
        for block in blocks_of(statement):
            yield from each(block)


def assigned_in(statements: tuple[Statement, ...]) -> Iterator[Slot]:
    """The variables of numbers that statements give values to."""
    for statement in each(statements):
        match statement:
            case Assign(slot=slot):
                yield slot
            case For(index=index):
                yield index
            case Invoke(results=results) | Spread(results=results):
                yield from results
            case _:
                pass


def slots_in(value: Expr) -> Iterator[Slot]:
    """The variables that an expression reads."""
    match value:
        case Slot():
            yield value
        case Apply(args=args):
            for arg in args:
                yield from slots_in(arg)
        case Load(pointer=pointer, index=index):
            yield pointer
            yield from slots_in(index)
        case Constant():
            return


def expressions_of(statement: Statement) -> Iterator[Expr]:
    """The expressions of a statement itself, not of those inside it."""
    for name in type(statement).__match_args__:
        value = getattr(statement, name)
        if isinstance(value, (Slot, Constant, Apply, Load)):
            yield value
        elif isinstance(statement, (Invoke, Spread, External)) and name == "args":
            yield from value


def variables_of(procedure: Procedure) -> Iterator[Slot]:
    """The variables of a procedure, each once."""
    seen: dict[str, Slot] = {slot.name: slot for slot in (*procedure.params, *procedure.results)}
    for statement in each(procedure.body):
        match statement:
            case Assign(slot=slot):
                found: tuple[Slot, ...] = (slot,)
            case For(index=index):
                found = (index,)
            case Allocate(pointer=pointer) | Enlarge(pointer=pointer):
                found = (pointer,)
            case Mark(place=place):
                found = (place,)
            case Invoke(results=results) | Spread(results=results):
                found = results
            case _:
                found = ()
        seen.update((slot.name, slot) for slot in found)
    yield from seen.values()
