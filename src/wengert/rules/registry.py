"""The table of rules.

A rule is written once and read by everybody: forward mode, reverse mode, dual numbers, the tests,
the documentation. A row is an ordinary Python function of run-time values; the passes read its
source and inline it. In a row, the operands come first, then Ω (the op's result); options arrive by
keyword, by the names of the op's signature.
"""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, Literal

from ..errors import RuleError
from ..ir.op import Op
from ..ir.records import field, record, replace
from ..ops import registry as ops
from .places import Place

Row = Callable[..., Any]
Form = Literal["scalar", "linear", "bilinear", "zero", "differential", "rrule", "frule", "opt_out"]


@record
class Rule:
    """What is known of an op's derivative.

    `rows` by form: *scalar* one partial per operand (a single row may return them all as a tuple),
    `None` where the op has no derivative in that operand; *linear* one transpose per operand, `None`
    where it is not linear in it; *bilinear* (left, right); *differential*, *rrule*, *frule* one row.
    """

    op: Op
    form: Form
    rows: tuple[Row | None, ...] = ()
    place: Place = Place("", 0)
    also: dict[str, Rule] = field(default_factory=dict["str", "Rule"])
    """Rules of another form for the same op: an `frule` beside an `rrule`."""

    @property
    def file(self) -> str:
        return self.place.file

    @property
    def line(self) -> int:
        return self.place.line

    @property
    def built_in(self) -> bool:
        """Whether it stands in a table of wengert's own."""
        return self.file.startswith(_OWN_TABLES)


_OWN_TABLES = __file__.removesuffix("registry.py")
_OWN_MODULES = _OWN_TABLES.removesuffix("rules" + os.sep)


class _State:
    def __init__(self) -> None:
        self.generation = 0


_LATER = {
    "arrays.linear_algebra": ("arrays.linear_algebra", "arrays.einsum", "arrays.spectra"),
    "arrays.type_queries": ("arrays.type_queries",),
    "program.containers": ("containers",),
    "program.loops": ("loops",),
    **{
        f"arrays.{name}": (f"arrays.{name}",)
        for name in ("shape", "selection", "signals", "statistics", "factorisations", "sparse")
    },
}
"""Tables that are loaded when a rule is asked for and the module of their ops has been loaded."""

ops.when_imported(
    "scipy.special",
    lambda: [
        import_module(f"{__package__}.special.{table}")
        for table in ("functions", "waves", "probability")
    ],
)

_rules: dict[Op, Rule] = {}
_state = _State()


def rule_for(op: Op) -> Rule | None:
    """The rule in force for an op; None where there is none, or where `opt_out` says to use none."""
    rule = entry_for(op)
    return None if rule is None or rule.form == "opt_out" else rule


@cache
def options_of(row: Row) -> tuple[frozenset[str], bool]:
    """The options that a rule's row asks for, and whether it takes any."""
    parameters = inspect.signature(row).parameters.values()
    names = frozenset(p.name for p in parameters if p.kind is p.KEYWORD_ONLY)
    return names, any(p.kind is p.VAR_KEYWORD for p in parameters)


def entry_for(op: Op) -> Rule | None:
    """What was last registered for an op, an `opt_out` included."""
    if op not in _rules and _LATER:
        _load(name for name in tuple(_LATER) if f"{ops.__package__}.{name}" in sys.modules)
    return _rules.get(op)


def _load(subjects: Iterable[str]) -> None:
    for subject in list(subjects):
        for table in _LATER.get(subject, ()):
            import_module(f"{__package__}.{table}")
        _LATER.pop(subject, None)


def opted_out(op: Op) -> bool:
    """Whether a function's own code is to be read, not its op used: there is no rule, or none wanted."""
    rule = entry_for(op)
    return rule.form == "opt_out" if rule is not None else not op.spellings


def rules() -> dict[Op, Rule]:
    """Every rule in force, by op."""
    _load(_LATER)
    ops.load_imported()
    return {op: rule for op, rule in _rules.items() if rule.form != "opt_out"}


def store(rule: Rule) -> None:
    """Put a rule in force, in place of the one before; what was derived is out of date.

    An `frule` stands beside a rule of another form; a later `rrule` keeps it.

    Raises:
        RuleError: two of wengert's own tables have a rule for the op.
    """
    before = _rules.get(rule.op) if rule.built_in else entry_for(rule.op)
    if before is not None and before.built_in and rule.built_in:
        message = f"{rule.file}:{rule.line}: {rule.op.name} already has a rule"
        raise RuleError(message, f"The other one is at {before.file}:{before.line}.")
    _rules[rule.op] = _beside(before, rule)
    if not rule.op.spellings:
        (ops.ruled.discard if rule.form == "opt_out" else ops.ruled.add)(rule.op)
    if not rule.file.startswith(_OWN_MODULES):  # one of wengert's that is loaded late is no news
        _state.generation += 1


def _beside(before: Rule | None, rule: Rule) -> Rule:
    if before is None or before.form == "opt_out":
        return rule
    if rule.form == "frule" and before.form != "frule":
        return replace(before, also={**before.also, "frule": rule})
    if rule.form == "rrule":
        frule = before if before.form == "frule" else before.also.get("frule")
        return rule if frule is None else replace(rule, also={"frule": frule})
    return rule


def state() -> _State:
    """What holds the `generation`, for who asks for it often."""
    return _state


def generation() -> int:
    """A number that grows with every registration: what was derived before it is out of date."""
    return _state.generation
