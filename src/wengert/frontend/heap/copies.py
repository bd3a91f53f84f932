"""Writes to what may be a view of an array or a copy, as the run tells: it is one of two objects, as in Python.

`w = a.T.reshape(-1)` changes `a` through `w` if the elements of `a` lie in the right order, and else only `w`.
"""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.graph import IF, Block, Const, Eqn, Var
from ...ir.types import Array
from ...ops import structure as st
from ...ops.arrays.creation import empty_like
from ...ops.program import identity as ident, memory as me
from ..machine.interpreter import Interpreter
from .layouts import is_view, may_be_copy
from .places import place_of
from .views import ways_to


def tell_apart(it: Interpreter, var: Var) -> None:
    """Have what a value is taken from, where it may be a copy, be a choice: of a view, or of a copy."""
    for eqn in ways_to(it, var)[1]:
        out = eqn.outs[0]
        # an item of a list is the object itself
        of_list = eqn.op is st.getitem and not isinstance(kind_of_atom(eqn.args[0]), Array)
        if out not in it.reading.places and not of_list and may_be_copy(it, eqn):
            _tell_apart(it, eqn, out)


def warn_of_write(it: Interpreter, written: Var) -> None:
    """Have the run warn where it comes to a write into a copy that has been told apart."""
    span = it.builder.span
    if it.reading.places.get(written) in it.reading.told_apart and span is not None:
        it.emit(ident.copy_written, Const(span.file), Const(span.line))


def _tell_apart(it: Interpreter, eqn: Eqn, out: Var) -> None:
    condition = is_view(it, eqn)
    view, own = (Var(out.kind, out.name, out.shape_of) for _ in range(2))
    view.born = own.born = out.born
    for made in (
        Eqn((own,), IF, (condition,), {}, _nothing_or_copy(eqn, out), "py", eqn.span),
        Eqn((view,), eqn.op, eqn.args, eqn.params, (), eqn.namespace, eqn.span),
    ):
        it.builder.insert_after(condition, made)
    it.reading.choices[out] = condition, view, own
    it.reading.surely_views.add(view)
    it.reading.told_apart.add(place_of(it, own))
    place_of(it, out)


def _nothing_or_copy(eqn: Eqn, out: Var) -> tuple[Block, Block]:
    """What stands for the copy: an array that nobody reads where it is a view, for which there is none."""
    nothing, copy = (Var(out.kind, out.name, out.shape_of) for _ in range(2))
    made = Eqn((nothing,), empty_like, (out,), {}, (), "np", eqn.span)
    copied = Eqn((copy,), me.duplicate, (out,), {}, (), "py", eqn.span)
    return Block((), (made,), (nothing,)), Block((), (copied,), (copy,))
