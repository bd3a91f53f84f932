"""What nothing reads, and yet may raise, is computed all the same.

In: a function as it was read, before any equation of it is left out. Out: the same function, in which such
results are *evaluated*: an effect, which stays in every derivative.
"""

from __future__ import annotations

from ..ir.builder import kind_of_atom
from ..ir.graph import Block, Const, Eqn, Function, Var, walk
from ..ir.records import replace
from ..ir.types import NONE, Array, Number, Seq, Struct
from ..ops import structure as st
from ..ops.identity import evaluated
from ..ops.raising import may_raise
from .tidy import Needed

_ERRORS = (ArithmeticError, LookupError, ValueError, TypeError)
_BY_THE_SECOND = frozenset(("div", "floordiv", "mod", "pow"))
"""Arithmetic that no number makes fail if the second operand is a positive one."""
_CONVERSIONS = frozenset(("to_int", "to_float"))
_OF_SHAPES = frozenset(
    ("reshape", "dot", "matmul", "inv", "solve", "max", "min", "argmax", "argmin")
)


def with_unread_evaluated(function: Function) -> Function:
    """The function, in which what it computes for nothing is evaluated where that may raise."""
    needed = Needed(function.body)
    unread: set[Eqn] = set()
    for eqn in reversed(list(walk(function.body))):
        if eqn not in needed.eqns and _is_checked(eqn):
            unread.add(eqn)
            needed.keep(eqn)
    if not unread:
        return function
    return replace(function, body=_with_evaluations(function.body, unread))


def _is_checked(eqn: Eqn) -> bool:
    """Whether Python checks the operands of an equation, and raises where they do not fit."""
    if eqn.blocks or len(eqn.outs) != 1 or eqn.span is None:
        return False
    kinds = [kind_of_atom(atom) for atom in eqn.operands()]
    known = isinstance(kinds[0], Array | Seq | Struct | Number) if kinds else False
    return known and _has_check(eqn) and may_raise(eqn, _ERRORS)


def _has_check(eqn: Eqn) -> bool:
    second = eqn.args[-1] if eqn.args else None
    positive = (
        isinstance(second, Const) and isinstance(second.value, int | float) and second.value > 0
    )
    if eqn.op.name in _BY_THE_SECOND and positive:
        return False
    arrays = sum(isinstance(kind_of_atom(atom), Array) for atom in eqn.args)
    if eqn.op is st.getitem or eqn.op.name in _CONVERSIONS | _OF_SHAPES:
        return True
    return eqn.op.elementwise and arrays != 1


def _with_evaluations(block: Block, unread: set[Eqn]) -> Block:
    eqns: list[Eqn] = []
    for eqn in block.eqns:
        inner = tuple(_with_evaluations(each, unread) for each in eqn.blocks)
        eqns.append(replace(eqn, blocks=inner) if inner else eqn)
        if eqn in unread:
            eqns.append(Eqn((Var(NONE),), evaluated, eqn.outs, span=eqn.span))
    return replace(block, eqns=tuple(eqns))
