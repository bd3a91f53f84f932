"""Writes of one part of an array to another part of it, which NumPy does not always copy before."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Const, Var
from ...ir.types import NONE, SLICE, Array, Kind, Number, Other, Struct, Unknown
from ...ops import structure as st
from ...ops.array_kinds import rank_of
from ..machine.interpreter import Interpreter
from .homes import spot_of
from .views import view_of


def may_overlap(it: Interpreter, var: Var, step: Atom, value: Atom) -> bool:
    """Whether `var[step] = value` may read entries that it has just written.

    NumPy makes a copy first of what has several axes, and of what lies in the other direction; what
    both are slices of with the same step it copies in the order that leaves none written too early.
    """
    if not isinstance(value, Var) or view_of(it, value) is None or not _is_basic(step):
        return False
    if not isinstance(value.kind, (Array, Unknown)) or rank_of(value) not in (None, 1):
        return False
    here, there = (spot_of(it, each, watched=True) for each in (var, value))
    if here.place is not there.place:
        return False
    ways = [_way(it, path) for path in ((*here.path, step), there.path)]
    return None in ways or ways[0] != ways[1]


def _is_basic(step: Atom) -> bool:
    """Whether an index makes no copy: of slices, `...`, `None` and numbers."""
    if isinstance(step, Const):
        parts = step.value if isinstance(step.value, tuple) else (step.value,)
        return all(
            isinstance(part, slice) or part is ... or part is None or type(part) is int
            for part in parts
        )
    return _is_basic_kind(step.kind)


def _is_basic_kind(kind: Kind) -> bool:
    if isinstance(kind, Struct) and kind.form == "tuple":
        return all(map(_is_basic_kind, kind.items))
    return isinstance(kind, (Number, Unknown)) or kind in (SLICE, NONE, Other("ellipsis"))


class _Unknown(Exception):
    """Only the run knows with which step a slice is taken."""


def _way(it: Interpreter, path: Sequence[Atom]) -> list[object] | None:
    """How a path leads through memory: which number is taken, and what a slice leaves out, is no matter."""
    try:
        steps = [_stepping(it, step) for step in path]
    except _Unknown:
        return None
    return [step for step in steps if step != 1]


def _stepping(it: Interpreter, step: Atom) -> object:
    eqn = it.builder.visible_definition(step) if isinstance(step, Var) else None
    if eqn is not None and eqn.op is st.pack:
        return _together([_stepping(it, part) for part in eqn.args])
    if eqn is not None and eqn.op is st.slice_:
        if not isinstance(eqn.args[2], Const):
            raise _Unknown
        return abs(eqn.args[2].value or 1)
    if isinstance(kind_of_atom(step), Number):
        return "number"
    if not isinstance(step, Const):
        raise _Unknown
    part = step.value
    if isinstance(part, tuple):
        return _together([_stepping(it, Const(each)) for each in part])
    return abs(part.step or 1) if isinstance(part, slice) else 1 if part is ... else part


def _together(steps: list[object]) -> object:
    """The steps along several axes; those along the last ones may be left out."""
    while steps and steps[-1] == 1:
        steps.pop()
    return steps[0] if len(steps) == 1 else tuple(steps)
