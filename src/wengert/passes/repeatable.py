"""Whether a program whose run was refused may be run again: then it has changed and drawn nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..ir.graph import Const, Eqn, Function, Var, walk, with_called
from ..ops import memory as me
from ..ops import structure as st
from ..ops.drawing import makes_generator
from ..rules.registry import rule_for
from .written import written


def is_repeatable(function: Function) -> bool:
    """Whether nobody can tell whether a function was run once or twice."""
    body = function.body
    eqns = list(_with_callees(function))
    globals_ = [eqn.outs[0] for eqn in eqns if eqn.op is st.global_]
    if not written(body).clobbered.isdisjoint((*body.params, *globals_)):
        return False
    made = {out: eqn for eqn in eqns for out in eqn.outs}
    return all(_leaves_no_trace(eqn) or _draws(eqn, made) for eqn in eqns)


def binds_outside(function: Function) -> bool:
    """Whether a function binds globals, or attributes of classes, that were there before it ran."""
    return any(_binds_outside(eqn) for eqn in _with_callees(function))


def _binds_outside(eqn: Eqn) -> bool:
    if eqn.op is me.store:
        return isinstance(eqn.args[0], Const) and isinstance(eqn.args[0].value, type)
    return eqn.args[:1] == (Const(setattr),)


def _with_callees(function: Function) -> Iterator[Eqn]:
    """The equations of a function, and of those that it calls."""
    for each in with_called(function):
        yield from walk(each.body)


def _leaves_no_trace(eqn: Eqn) -> bool:
    """Whether an equation calls nothing that may print, draw a number, or remember that it was called."""
    if eqn.op is st.opaque:
        function = eqn.args[0].value if isinstance(eqn.args[0], Const) else None
        return function in _ASKING
    if eqn.op in (st.apply, st.applied, st.pullback_of):
        return False
    return eqn.namespace != "call" or bool(eqn.op.spellings) or rule_for(eqn.op) is not None


def _draws(eqn: Eqn, made: Mapping[Var, Eqn]) -> bool:
    """Whether an equation makes a generator of random numbers, or draws from one that the program makes."""
    if makes_generator(eqn):
        return True
    method = made.get(eqn.args[0]) if eqn.op is st.apply and isinstance(eqn.args[0], Var) else None
    if method is None or method.op is not st.getattr_ or not isinstance(method.args[0], Var):
        return False
    owner = made.get(method.args[0])
    return owner is not None and makes_generator(owner)


_ASKING = (isinstance, type, id, callable, len, str, repr, format, int, float, bool)
"""What tells of its operands only."""
