"""What can be seen of a wrong rule when it is registered; errors point at the row itself."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from functools import cache
from typing import Any

from ..ir.op import Op
from ..ir.records import value_record
from ..ops import registry as ops
from .places import Place, place_of, refuse
from .registry import Rule


@value_record
class Operands:
    """What an op or a row takes: from `required` to `len(names)` operands, or any number, and options."""

    names: tuple[str, ...]
    required: int
    variadic: bool
    options: tuple[str, ...]
    any_option: bool

    def __str__(self) -> str:
        names = [*self.names, *(["..."] if self.variadic else [])]
        return f"({', '.join(names)})"


def target(op: Any, place: Place) -> Op:
    """The op of a function that a rule is for.

    Raises:
        RuleError: it is not callable, or a bound method, which is another object at every access.
    """
    if not callable(op):
        message = f"{op!r} is not callable, so it cannot have a rule"
        raise refuse(message, "Give the rule to an op or to a function.", place)
    if isinstance(op, (types.MethodType, types.MethodWrapperType)) or _is_bound(op):
        message = f"{op.__qualname__} is a bound method: a new object whenever it is looked up"
        raise refuse(
            message,
            "Give the rule to the function in the class, whose first operand is `self`.",
            place,
        )
    found = ops.find(op)
    return found[0] if found is not None else ops.foreign(op)


def _is_bound(function: Any) -> bool:
    """Whether a function written in C is a method of a value, not a function of a module."""
    owner = getattr(function, "__self__", None)
    builtin = isinstance(function, types.BuiltinMethodType)
    return builtin and owner is not None and not isinstance(owner, types.ModuleType)


def operands(op: Op) -> Operands:
    """What an op takes, by its signature."""
    function = op.implementation
    if not op.spellings and function is not None and ops.stated_signature(function) is None:
        taken = _of_function(function)
        return taken if taken is not None else Operands((), 0, True, (), any_option=True)
    return _of_text(op.signature)


@cache
def _of_text(text: str) -> Operands:
    """`"x, base=None, *, axis"`, or `"*xs, option"` with any number of operands."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    starred = [k for k, part in enumerate(parts) if part.startswith("*")]
    cut = starred[0] if starred else len(parts)
    names = tuple(part.split("=")[0] for part in parts[:cut])
    required = sum("=" not in part for part in parts[:cut])
    rest = parts[cut][1:] if starred else ""
    options = [part.split("=")[0] for part in parts[cut + 1 :]]
    # `x, *shape` names an option that takes further positional arguments
    variadic = bool(rest) and not names
    options += [rest] if rest else []
    return Operands(names, required, variadic, tuple(options), any_option=False)


def _of_function(function: Callable[..., Any]) -> Operands | None:
    """What a function takes; None where Python cannot say."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    return Operands(
        tuple(p.name for p in positional),
        sum(p.default is p.empty for p in positional),
        any(p.kind is p.VAR_POSITIONAL for p in parameters),
        tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY),
        any(p.kind is p.VAR_KEYWORD for p in parameters),
    )


@value_record
class Called:
    """How the rows of a form are called: `before` values, the operands `times` times, `after` values."""

    before: int
    times: int
    after: int


_CALLED = {
    "scalar": Called(0, 1, 1),
    "linear": Called(1, 1, 0),
    "bilinear": Called(1, 1, 0),
    "differential": Called(0, 2, 1),
    "rrule": Called(0, 1, 0),
    "frule": Called(2, 0, 0),
}
_PER_OPERAND = {"scalar": "partial", "linear": "transpose", "bilinear": "transpose"}
_MAY_LACK_ROWS = ("scalar", "linear")


def check(rule: Rule, place: Place) -> None:
    """The rows of a rule, registered at a place, are as many as its form says, and fit the op.

    Raises:
        RuleError: they are not, or do not.
    """
    if rule.form in _PER_OPERAND:
        _check_count(rule, place)
    for row in rule.rows:
        if row is not None or rule.form not in _MAY_LACK_ROWS:
            _check_row(rule.op, row, _CALLED[rule.form], place)


def _check_count(rule: Rule, place: Place) -> None:
    """There is a row for each operand, or one row that gives all partials."""
    takes, what = operands(rule.op), _PER_OPERAND[rule.form]
    name, count, or_one = rule.op.name, len(rule.rows), rule.form == "scalar"
    if not rule.rows:
        raise refuse(f"the rule for {name} has no {what}", f"{name} takes {takes}.", place)
    if (takes.variadic and not rule.op.spellings) or (or_one and count == 1):
        return
    place = next((place_of(row, place) for row in rule.rows if callable(row)), place)
    if takes.variadic and or_one:
        message = f"the rule for {name} has {count} {what}s for any number of operands"
        hint = f"{name} takes {takes}: give one row, which returns a tuple of all {what}s."
        raise refuse(message, hint, place)
    wanted = len(takes.names)
    if not takes.variadic and not takes.required <= count <= wanted:
        has = f"{count} {what}{'s' * (count != 1)} for {wanted} operand{'s' * (wanted != 1)}"
        hint = f"{name} takes {takes}: one {what} for each, `None` for zero."
        raise refuse(f"the rule for {name} has {has}", hint, place)
    if rule.form == "linear" and not any(rule.rows):
        raise refuse(f"the rule for {name} has no {what}", f"{name} takes {takes}.", place)


def _check_row(op: Op, row: Any, called: Called, place: Place) -> None:
    if not callable(row):
        message = f"the rule for {op.name} has a row that is not a function: {row!r}"
        raise refuse(message, "A row is a function of the operands: `lambda x, Ω: ...`.", place)
    given = _of_function(row)
    if given is not None:
        place = place_of(row, place)
        _check_positional(op, given, called, place)
        _check_options(op, given, place)


def _check_positional(op: Op, given: Operands, called: Called, place: Place) -> None:
    takes = operands(op)
    beside = called.before + called.after
    if given.variadic or (takes.variadic and called.times):
        return
    most = len(given.names)
    counts = range(takes.required, len(takes.names) + 1)
    possible = {beside + called.times * count for count in counts} if called.times else {beside}
    if not any(given.required <= count <= most for count in possible):
        expected = " or ".join(map(str, sorted(possible)))
        message = (
            f"a row of the rule for {op.name} takes {most} positional argument{'s' * (most != 1)}, "
            f"not {expected}"
        )
        raise refuse(message, _expected_call(takes, called), place)


_GIVEN_BY_PASSES = ("used",)
"""Options of rows that are no options of their ops: which vectors a program reads (`passes/edges/vectors`)."""


def _check_options(op: Op, given: Operands, place: Place) -> None:
    takes = operands(op)
    known = (*takes.options, *takes.names, *_GIVEN_BY_PASSES)
    unknown = [name for name in given.options if name not in known]
    if unknown and not takes.any_option:
        message = (
            f"a row of the rule for {op.name} takes the option `{unknown[0]}`, "
            "which the op does not have"
        )
        options = ", ".join(sorted(takes.options)) or "none"
        raise refuse(message, f"The options of {op.name}: {options}.", place)


def operands_needed(rule: Rule) -> int:
    """How many operands the rows of a rule are written for at least."""
    called = _CALLED.get(rule.form, Called(0, 0, 0))
    taken = [_of_function(row) for row in rule.rows if row is not None and called.times]
    beside = called.before + called.after
    return max(((each.required - beside) // called.times for each in taken if each), default=0)


def _expected_call(takes: Operands, called: Called) -> str:
    names = list(takes.names)
    match called:
        case Called(0, 1, 1):
            call = [*names, "Ω"]
        case Called(1, 1, 0):
            call = ["Ω_bar", *names]
        case Called(0, 2, 1):
            call = [*(f"d_{name}" for name in names), *names, "Ω"]
        case Called(2, 0, 0):
            call = ["primals", "tangents"]
        case _:
            call = names
    return f"It is called with ({', '.join(call)})."
