"""Differentials that users write: where they are not linear in the d's, none of their derivatives is right."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Any

from ...ir.builder import Builder
from ...ir.graph import IF, ZERO, Atom, Const, Eqn, Var
from ...ops.program import cotangents as ct
from ...rules.places import refuse
from ...rules.registry import Rule
from ..analysis.rule_calls import (
    chosen_rule,
    differential_of,
    one,
    options,
    partials,
    row_described,
    row_namespace,
)
from ..analysis.uses import reads

_SUMS = frozenset(("add", "sub"))
_ZEROS = frozenset(("zeros", "zeros_like"))
_FORMS = frozenset(("scalar", "linear", "bilinear", "differential"))


def checked_differential(
    read: Any, eqn: Eqn, rule: Rule, ds: Sequence[Atom], builder: Builder, dot: Atom, start: int = 0
) -> Atom:
    """What the differential of a rule of the user's own gave, checked."""
    if dot == ZERO:
        return dot
    must_be_linear(read, rule, ds, builder.eqns[start:], dot)
    returned, whose = Const(f"{row_described(rule)} gave a tangent"), Const("the result")
    return builder.emit(ct.given_by_row, dot, like=eqn.outs[0], returned=returned, whose=whose)


def must_be_linear(
    read: Any, rule: Rule, ds: Collection[Atom], eqns: Iterable[Eqn], result: Atom
) -> None:
    """What a row computes from the d's of its operands is linear in them, as far as its operations tell.

    Args:
        read: how rows are read.
        rule: whose row it is.
        ds: the d's.
        eqns: what the row computes.
        result: what it gives.

    Raises:
        RuleError: it is not.
    """
    depends: set[Atom] = {d for d in ds if isinstance(d, Var)}
    zeros: set[Atom] = {ZERO, Const(0), Const(0.0)}
    for eqn in eqns:
        if eqn.op.name in _ZEROS:
            zeros.update(eqn.outs)
        if depends.isdisjoint(reads(eqn)):
            continue
        if eqn.op.name in _SUMS and not depends.issuperset(set(eqn.args) - zeros):
            raise _refused(rule, f"{eqn.op.name} of a d and of what is none")
        if eqn.op is IF and eqn.args[0] in depends:
            raise _refused(rule, "it branches on a d")
        if not _is_linear(read, eqn, depends):
            name = eqn.op.name.removeprefix("ieee_")  # as the row has it
            raise _refused(rule, f"{name} of a d")
        depends.update(eqn.outs)
    if result not in depends | zeros:
        raise _refused(rule, "a result that no d is in")


def _is_linear(read: Any, eqn: Eqn, depends: Collection[Atom]) -> bool:
    """Whether an operation on what depends on d's is linear in it: then its derivative does not read it."""
    rule = None if eqn.op.control else chosen_rule(eqn, _FORMS, depends.__contains__)
    if rule is None or rule.form == "linear":
        return True
    if rule.form == "bilinear":
        return sum(arg in depends for arg in eqn.args) == 1
    builder = Builder()
    if rule.form == "scalar":
        found = [partial for _, partial in partials(builder, read, eqn, rule, depends.__contains__)]
    else:
        (row,) = rule.rows
        assert row is not None
        dots = [differential_of(arg) if arg in depends else ZERO for arg in eqn.args]
        operands = (*dots, *eqn.args, eqn.outs[0])
        found = [one(read(builder, row, operands, options(eqn, row), row_namespace(eqn)), builder)]
    of_ds = {*depends, *eqn.outs}
    return of_ds.isdisjoint(found) and all(of_ds.isdisjoint(reads(each)) for each in builder.eqns)


def _refused(rule: Rule, what: str) -> Exception:
    hint = (
        "Every term of a differential has one d as a factor: d(x * y) = dx * y + x * dy.\n"
        "For partials use `wg.scalar_rule`."
    )
    name = rule.op.name
    return refuse(f"the differential of {name} is not linear: {what}", hint, rule.place)
