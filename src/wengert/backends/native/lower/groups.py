"""Groups of elementwise results and reductions over one shape, which become one loop nest."""

from __future__ import annotations

import math
from collections.abc import Callable

from ....ir.records import field, mutable_record, record
from ..form.loopform import FLOATS, Code, Expr
from ..values.rows import Elementwise
from ..values.values import Array, Lazy, Root, Scalar, View

Dims = tuple[Expr, ...]


@record
class Mapped:
    """An elementwise operation of a group."""

    out: Lazy
    row: Elementwise
    operands: tuple[Scalar | Array, ...]
    code: Code
    """The type that the operands are converted to; "b1" conditions of a choice aside."""

    def is_condition(self, k: int) -> bool:
        """Whether an operand, by number, is what a choice is made by."""
        return self.row.rule == "choice" and k == 0


@record
class Reduced:
    """A reduction of a group, along all axes or some."""

    out: Lazy
    row: Reduction
    operand: Scalar | Array
    axes: tuple[int, ...]


@record
class Reduction:
    """How a reduction adds one more element."""

    step: str
    start: Callable[[Code], float | int | bool]


REDUCTIONS: dict[str, Reduction] = {
    "sum": Reduction("add_any", lambda code: 0.0 if code in ("f64", "f32") else 0),
    "prod": Reduction("mul_any", lambda code: 1.0 if code in ("f64", "f32") else 1),
    "max": Reduction("maximum", lambda code: -math.inf if code in FLOATS else -(2**63)),
    "min": Reduction("minimum", lambda code: math.inf if code in FLOATS else 2**63 - 1),
    "any": Reduction("or", lambda code: False),
    "all": Reduction("and", lambda code: True),
}


@record
class Place:
    """Memory that an elementwise result is written to, or added to, instead of to memory of its own."""

    part: View
    adds: bool


@mutable_record
class Group:
    """A loop nest that is still being put together."""

    dims: Dims
    entries: list[Mapped | Reduced] = field(default_factory=list[Mapped | Reduced])


def can_be_placed(delayed: Lazy, root: Root) -> bool:
    """Whether a pending elementwise result can be written to a piece of memory that its nest does not read."""
    if delayed.result is not None:
        return False
    entries = delayed.group.entries
    elementwise = any(isinstance(entry, Mapped) and entry.out is delayed for entry in entries)
    return elementwise and not reads(delayed.group, root)


def reads(group: Group, root: Root) -> bool:
    """Whether a loop nest reads a piece of memory."""
    return any(
        isinstance(x, View) and x.root.pointer is root.pointer
        for entry in group.entries
        for x in _memory_read(entry)
    )


def _memory_read(entry: Mapped | Reduced) -> list[Scalar | Array | None]:
    operands = entry.operands if isinstance(entry, Mapped) else (entry.operand,)
    return [x.result if isinstance(x, Lazy) else x for x in operands]
