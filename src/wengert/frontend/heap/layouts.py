"""Which ops give a view of an array or a copy, as it lies in memory: where only the run tells, it is asked."""

from __future__ import annotations

from ...ir.graph import Atom, Const, Eqn, Var
from ...ir.op import Op
from ...ir.types import UNKNOWN
from ...ops import structure as st
from ...ops.array_kinds import dtype_of, rank_of
from ...ops.program import identity as ident, memory as me
from ..machine.interpreter import Interpreter
from .views import SPLITTING

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
