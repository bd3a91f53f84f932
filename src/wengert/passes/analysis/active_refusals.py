"""Where no derivative flows: a value that should have one is refused in options, keys, captures and integers."""

from __future__ import annotations

from ...errors import LostWrite, NoRule
from ...ir.builder import kind_of_atom
from ...ir.graph import Atom, Block, Const, Eqn, Var, walk
from ...ir.types import UNKNOWN, Array
from ...ops import structure as st
from ...ops.program import containers as co, memory as me
from ...ops.program.refusals import of_captured
from ...rules.registry import rule_for
from .active_operands import ZERO_OPS, has_row_by_operand, holds_integers, is_inexact

_DATA = frozenset(
    ("constant_values", "end_values", "left", "right", "nan", "posinf", "neginf", "d", "weights")
)
"""Options that hold numbers to compute with, also where their kind is not known."""

_THRESHOLDS = frozenset(("rcond", "rtol"))
"""Options that say what counts as zero: results do not move with them."""

STAND_INS = frozenset(("like", "vector", "result", "matrix", "x", "rule", "owned"))
"""Options of helper ops that hold a value only for its shape, or whose rules know of it."""


def refuse_active_options(block: Block, varied: set[Var]) -> None:
    """An option has no derivative: a value that should have one must not arrive in it.

    Raises:
        NoRule: naming the option.
    """
    own: set[Atom] = set()
    for eqn in walk(block):
        if eqn.op is st.pack or (keys_of(eqn) and eqn.args[0] in own):
            own.update(eqn.outs)
        if eqn.op.control or eqn.op in ZERO_OPS:
            continue
        _refuse_fortran(eqn, varied)
        _refuse_active_captured(eqn, varied)
        _refuse_operands_without_rows(eqn, varied)
        _refuse_active_keys(eqn, varied, own)
        for name, atom in eqn.params.items():
            known = name in _THRESHOLDS or (name in STAND_INS and eqn.op.spellings)
            data = is_inexact(kind_of_atom(atom)) or name in _DATA or eqn.namespace == "call"
            if atom in varied and not known and data:
                raise NoRule(
                    f"no derivative flows through the argument `{name}` of {eqn.op.name}",
                    "Compute what depends on it yourself, give the function a rule (`wg.rrule`), or keep\n"
                    "the argument out of the derivative with `wg.stop_gradient`.",
                    eqn.span,
                )


def keys_of(eqn: Eqn) -> tuple[Atom, ...]:
    """Where an equation puts what it stores."""
    if eqn.op is co.dict_of:
        return eqn.args[:1]
    return eqn.args[1:-1] if eqn.op in me.OWN or eqn.op in me.PURE else ()


def _refuse_active_keys(eqn: Eqn, varied: set[Var], own: set[Atom]) -> None:
    """What is in a set, or under which key, has no derivative; what earlier runs have left there, neither."""
    of_a_set = eqn.op in (me.insert, me.inserted) and eqn.args[-1] == Const(None)
    refused = (UNKNOWN,) if of_a_set else ()
    kinds = [kind_of_atom(atom) for atom in keys_of(eqn) if atom in varied]
    if any(is_inexact(kind) or kind in refused for kind in kinds):
        error = number_as_key(eqn)
        error.also_elsewhere = eqn.op is not co.dict_of and eqn.args[0] not in own
        error.on_a_path = not any(map(is_inexact, kinds))  # it may be a whole number
        raise error


def number_as_key(eqn: Eqn) -> NoRule:
    """The error for a set or a key of numbers that have a derivative."""
    return NoRule(
        "a number that has a derivative is put into a set, or is the key of an entry",
        "Keep such numbers in a list; or use `wg.stop_gradient(x)` as the key.",
        eqn.span,
    )


def _refuse_fortran(eqn: Eqn, varied: set[Var]) -> None:
    """BLAS and LAPACK may write to what they are given, also where nobody takes a result."""
    is_fortran = type(eqn.op.implementation).__name__ == "fortran"
    if eqn.namespace == "call" and is_fortran and any(atom in varied for atom in eqn.args):
        raise NoRule(
            f"{eqn.op.name} is compiled code that may write to what it is given, and has no derivative rule",
            "Use the functions of `numpy` and `scipy.linalg` that call it.",
            eqn.span,
        )


def _refuse_active_captured(eqn: Eqn, varied: set[Var]) -> None:
    """The rule of a function says nothing about what the function has captured."""
    if eqn.op is not st.ruled:
        return
    captured = zip(eqn.args[1:], eqn.param("names"), strict=True)
    name = next((name for atom, name in captured if atom in varied), None)
    if name is not None:
        raise NoRule(*of_captured(eqn.param("function"), name), eqn.span)


def _refuse_operands_without_rows(eqn: Eqn, varied: set[Var]) -> None:
    rule = rule_for(eqn.op)
    if rule is None or not has_row_by_operand(rule):
        return
    beyond = next((atom for atom in eqn.args[len(rule.rows) :] if atom in varied), None)
    if beyond is not None:
        raise NoRule(
            f"the rule of {eqn.op.name} ({rule.file}:{rule.line}) has no row for its operand "
            f"{eqn.args.index(beyond)}",
            "Give one row for each operand, `None` for one without derivative.",
            eqn.span,
        )


def refuse_cut_off(block: Block, active: set[Var]) -> None:
    """An array of integers cuts off what it is given: a float with a derivative must not go there.

    Raises:
        LostWrite: at the write.
    """
    for eqn in walk(block):
        if eqn.op not in me.TAKING or not active.issuperset((eqn.args[-1], eqn.outs[0])):  # type: ignore[arg-type]
            continue
        kind = me.holder(eqn)
        if (
            isinstance(kind, Array)
            and holds_integers(kind)
            and is_inexact(kind_of_atom(eqn.args[-1]))
        ):
            raise LostWrite(
                f"an array of {kind.dtype} is given a value that has a derivative: it would keep the "
                "integer part only",
                "Create the array with `dtype=float`.",
                eqn.span,
            )
