"""Which ops give a view of an array or a copy, as it lies in memory: where only the run tells, it is asked.

What is written to is then one of two objects: `w = a.T.reshape(-1)` changes `a` through `w` if the elements of
`a` lie in the right order, and else only `w`.
"""

from __future__ import annotations

from ...ir.builder import kind_of_atom
from ...ir.graph import IF, Atom, Block, Const, Eqn, Var
from ...ir.op import Op
from ...ir.types import UNKNOWN, Array
from ...ops import structure as st
from ...ops.array_kinds import dtype_of, rank_of
from ...ops.arrays.creation import empty_like
from ...ops.program import identity as ident, memory as me
from ..machine.interpreter import Interpreter
from .places import place_of
from .views import SPLITTING, ways_to

_IN_ORDER = frozenset(("reshape", "ravel", "asarray", "ascontiguousarray", "asfortranarray"))
"""Ops that give a view of an array whose elements lie in the order that is asked for, or else a copy."""

_CREATION = frozenset(
    ("zeros", "zeros_array", "ones", "empty", "full", "eye", "arange", "linspace", "copy", "take")
)
"""Ops whose results lie in the order of C, unless an option says otherwise."""


def may_be_copy(it: Interpreter, eqn: Eqn) -> bool:
    """Whether only the run tells what an op gave that takes a view of its operand: a view, or a copy."""
    x, name = eqn.args[0], eqn.op.name
    out = eqn.outs[0]
    if out in it.reading.walks_over or out in it.reading.surely_views or name in SPLITTING:
        return False
    if eqn.op is st.getitem:
        return by_any_index(eqn) and not _kind_is_unknown(x)
    if name == "conj":
        return not dtype_of(x)  # of complex numbers it is a copy
    if name == "diag" and rank_of(x) is None:
        return True  # of a row it makes a matrix
    if name not in _IN_ORDER:
        return eqn.namespace == "np" and _kind_is_unknown(x)  # of a list it is a copy
    if name == "asarray" and not eqn.params:
        return False
    row_in_any_order = name == "reshape" and rank_of(x) == 1
    as_it_lies = name != "asfortranarray" and _order(eqn) in ("C", "K", "A", None)
    return not (row_in_any_order or (as_it_lies and _lies_in_order(it, x)))


def by_any_index(eqn: Eqn) -> bool:
    """Whether only the run tells what something is indexed with: by a list or an array is a copy."""
    return eqn.op is st.getitem and _kind_is_unknown(eqn.args[1])


def _kind_is_unknown(x: Atom) -> bool:
    return isinstance(x, Var) and x.kind == UNKNOWN


def _order(eqn: Eqn) -> str | None:
    atom = eqn.params.get("order", Const("C"))
    return atom.value if isinstance(atom, Const) else "known to the run"


def _lies_in_order(it: Interpreter, x: Atom) -> bool:
    """Whether it is known that an array is contiguous in the order of C."""
    eqn = it.builder.visible_definition(x) if isinstance(x, Var) else None
    if eqn is None:
        return isinstance(x, Const)
    if eqn.op in me.WRITES:
        return _lies_in_order(it, eqn.args[0])
    if _order(eqn) not in ("C", None):
        return False
    name = eqn.op.name
    if name in ("ravel", "ascontiguousarray") or (eqn.op.fresh and rank_of(x) == 1):
        return True
    if name == "reshape":
        return _lies_in_order(it, eqn.args[0])
    if eqn.op.elementwise and eqn.op.fresh:
        return all(rank_of(each) == 0 or _lies_in_order(it, each) for each in eqn.args)
    return name in _CREATION and not (name == "copy" and eqn.namespace == "np")


def is_view(it: Interpreter, eqn: Eqn) -> Var:
    """The answer to the question whether a result shares memory with its operand, asked where it is made.

    Later on either may have been replaced by a copy, as when a part of the program runs again.
    """
    return _asked(it, eqn, ident.shares_with)


def is_part(it: Interpreter, eqn: Eqn) -> Var:
    """The answer to the question whether what an index gave changes with what was indexed, asked in time."""
    return _asked(it, eqn, ident.is_part)


def _asked(it: Interpreter, eqn: Eqn, question: Op) -> Var:
    out = eqn.outs[0]
    key = out, question
    if key not in it.reading.asked:
        answer = it.reading.asked[key] = Var(question.infer((), {}))
        asking = Eqn((answer,), question, (out, eqn.args[0]), {}, (), "py", eqn.span)
        it.builder.insert_after(out, asking)
    return it.reading.asked[key]


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
