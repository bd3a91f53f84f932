"""Whether a program whose run was refused may be run again: then it has changed and drawn nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ...ir.builder import kind_of_atom
from ...ir.graph import Const, Eqn, Function, Var, walk, with_called
from ...ir.types import Array, Seq
from ...ops import structure as st
from ...ops.program import containers as co, cotangents as ct, memory as me
from ...ops.program.drawing import makes_generator
from ...ops.program.refusals import refused
from ...rules.registry import rule_for
from ..analysis.write_sets import targets, written


def is_repeatable(function: Function) -> bool:
    """Whether nobody can tell whether a function was run once or twice.

    What functions do that only the run knows is for that run to note (`derived.note_run_inside`).
    """
    body = function.body
    eqns = list(_with_callees(function))
    globals_ = [eqn.outs[0] for eqn in eqns if eqn.op is st.global_]
    clobbered = written(body).clobbered.intersection((*body.params, *globals_))
    if any(not isinstance(var.kind, Array) for var in clobbered):
        return False
    if clobbered and not all(_writes_to_list(eqn) for eqn in eqns if targets(eqn)):
        return False
    made = {out: eqn for eqn in eqns for out in eqn.outs}
    return all(_leaves_no_trace(eqn) or _draws(eqn, made) for eqn in eqns)


def _writes_to_list(eqn: Eqn) -> bool:
    """Whether an equation changes a list itself: the arrays that it holds stay as they are."""
    is_list = isinstance(kind_of_atom(eqn.args[0]), Seq)
    return eqn.op in me.OWN and is_list and not me.path_of(eqn)


def calls_unknown(function: Function) -> bool:
    """Whether a function differentiates calls of functions that only the run knows."""
    return any(eqn.op in _UNKNOWN for eqn in _with_callees(function))


def refuses_paths(function: Function) -> bool:
    """Whether some paths of a function were not read, and are refused by the runs that take them."""
    return any(eqn.op is refused for eqn in _with_callees(function))


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
    if eqn.op is st.opaque and eqn.outs[0].kind == ct.OF_UNKNOWN:
        return True  # it goes back over what has been run
    if eqn.op is st.opaque:
        function = eqn.args[0].value if isinstance(eqn.args[0], Const) else None
        return function in _ASKING or _is_exception(function)
    if eqn.op in (st.apply, st.applied):
        return False
    known = bool(eqn.op.spellings) or eqn.op in co.SETS or rule_for(eqn.op) is not None
    return known or eqn.namespace != "call" or _is_class_of_scipy(eqn.op.implementation)


def _is_exception(function: object) -> bool:
    """Whether something is one of Python's own exceptions, which is made but not yet raised."""
    return (
        isinstance(function, type)
        and issubclass(function, BaseException)
        and function.__module__ == "builtins"
    )


def _is_class_of_scipy(function: object) -> bool:
    """Whether something is a class of SciPy's, whose objects are made of values and keep to themselves."""
    return isinstance(function, type) and function.__module__.startswith("scipy.")


def _draws(eqn: Eqn, made: Mapping[Var, Eqn]) -> bool:
    """Whether an equation makes a generator of random numbers, or draws from one that the program makes."""
    if makes_generator(eqn):
        return True
    if eqn.op not in (st.apply, st.applied) or not isinstance(eqn.args[0], Var):
        return False
    method = made.get(eqn.args[0])
    if method is None or method.op is not st.getattr_ or not isinstance(method.args[0], Var):
        return False
    owner = made.get(method.args[0])
    return owner is not None and makes_generator(owner)


_UNKNOWN = (st.pullback_of, ct.pushforward_of)
"""Each says when it runs whether it leaves a trace: `derived.note_run_inside`."""
_ASKING = (isinstance, type, id, callable, len, str, repr, format, int, float, bool)
"""What tells of its operands only."""
