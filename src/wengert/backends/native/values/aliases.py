"""Which values share memory, with each other and with what the caller has."""

from __future__ import annotations

from ..form.loopform import Constant, Expr
from .values import Lazy, Root, Tuple, Unlowered, Value, View


def memory_of(value: Value) -> set[int]:
    """The pieces of memory that a value lies in."""
    match value:
        case View(root=root):
            return {id(root)}
        case Lazy(result=result):
            return memory_of(result)
        case Tuple(items=items):
            return {root for item in items for root in memory_of(item)}
        case _:
            return set()


def note_copy(root: Root, of: Root) -> None:
    """Note that one piece of memory has what another had, and stands in its place from now on."""
    root.stands_in |= of.of_caller or of.stands_in
    must_reach_the_caller(root)


def is_lent(root: Root, *, apart: bool) -> Expr:
    """Whether an array is, in this run, an argument of the caller's, or has what is in one; true if in doubt."""
    if root.of_caller or (root.lent is None and not apart):
        return Constant(True, "b1")
    return root.lent or Constant(False, "b1")


def must_reach_the_caller(root: Root) -> None:
    """Refuse writes that the caller may have to see, and would not."""
    if root.stands_in and root.changed:
        raise Unlowered("a write to an array that may be the caller's, or another in its place")
