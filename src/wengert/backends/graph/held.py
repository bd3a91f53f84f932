"""What users hold of a graph, as far as its own parts need to know it: `term.Term` has all the rest."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from ...ir.graph import Atom
from ...ops.arrays.joining import stack

if TYPE_CHECKING:
    from .graph import Graph

Origin = tuple[Any, ...]
"""How a term was written: ("variable", name), ("op", op, operands, options), ("call", function, operands,
options, path) of one that is written out in ops, ("derive", term, variable) or ("gradient", term, variables, k);
empty for one that the graph made itself."""


class Held:
    """A node of a graph, and how it was written."""

    __slots__ = ("atom", "derived", "graph", "origin")
    graph: Graph
    atom: Atom
    origin: Origin
    derived: bool


def terms_in(args: Iterable[Any]) -> Any:
    """The terms among operands and among the items of lists."""
    for arg in args:
        if isinstance(arg, Held):
            yield arg
        elif isinstance(arg, (list, tuple)):
            yield from terms_in(arg)
        elif isinstance(arg, np.ndarray) and arg.dtype == object:
            yield from terms_in(arg.ravel().tolist())
        elif isinstance(arg, slice):
            yield from terms_in((arg.start, arg.stop, arg.step))


def gathered(x: Any) -> Any:
    """An array of terms as a term that is an array."""
    if x.dtype != object or not any(isinstance(item, Held) for item in x.flat):
        return x
    return stack(x.ravel().tolist()).reshape(x.shape) if x.ndim else x.item()
