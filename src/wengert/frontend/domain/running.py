"""Iterations that run when the program runs."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...ir.graph import Atom, Var
from ...ir.records import value_record
from .values import Value

if TYPE_CHECKING:
    from ..machine.interpreter import Interpreter

UNROLL = 8
"""A loop over this many known items or fewer is written out."""


@value_record
class Running:
    """An iteration that runs at run time, over several iterables side by side."""

    iterables: tuple[Atom, ...]
    item: Callable[[Sequence[Var]], Value]
    """The value of one item, from one element of each iterable."""
    guards: tuple[Callable[[Value], Value], ...] = ()
    """Conditions (from `filter`) that an item must pass."""
    every: Atom | None = None
    """Of a checkpointed loop: after how many iterations what it carries is kept; see `ir.graph`."""
    named: Named | None = None
    """How it is written out, where names are walked over beside arrays."""


@value_record
class Named:
    """Names side by side with arrays: what they name is known if the loop over them is written out."""

    turns: int
    arrays: tuple[Atom, ...]
    """What has to have as many items, or more."""
    item: Callable[[int], Value]
    """The item of a turn, looked at then."""


@value_record
class Consumer:
    """What becomes of the items."""

    take: Callable[[Interpreter, Value], None]
    left: Callable[[Interpreter], Atom]
    """Whether it wants no more of them."""
    may_leave: bool = True
    """Whether that may be before there are no more."""


class LoopKey(ast.AST):
    """Stands for a loop that has no statement of its own."""

    def __init__(self, node: ast.AST):
        super().__init__()
        self.node = node
