"""The table of elementwise ops, and what its rows are said in."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from ....ir.records import record
from ..form.loopform import Code, Constant, Expr
from .emitter import Emitter

Rule = Literal[
    "arithmetic", "inexact", "floating", "comparison", "truth", "integral", "selection", "choice"
]  # fmt: skip
"""How the type of the result follows from that of the operands:

- arithmetic: the common type, truth values counting as integers
- selection: the common type
- inexact: the common floating-point type
- floating: the same, and of integers there is none
- integral: as inexact for arrays; an integer for Python's numbers
- comparison: truth values, of operands converted to a common type
- truth: truth values, of operands each of which is taken for true or false
- choice: the common type of all operands but the first, which is a truth value
"""


Expand = Callable[[Emitter, Sequence[Expr], Code], Expr]


@record
class Elementwise:
    """One row: how an op is computed on one element.

    `code` is the type that the operands have been converted to.
    """

    rule: Rule
    expand: Expand


ROWS: dict[str, Elementwise] = {}


def row(rule: Rule, *names: str) -> Callable[[Expand], Expand]:
    """Enter a function into the table under the names of ops."""

    def enter(expand: Expand) -> Expand:
        for name in names:
            ROWS[name] = Elementwise(rule, expand)
        return expand

    return enter


def real(value: float, code: Code) -> Constant:
    """A floating-point constant of one of the two types."""
    return Constant(value, code)


def choose(e: Emitter, condition: Expr, then: Expr, other: Expr) -> Expr:
    return e.apply("select", condition, then, other, code=then.code)
