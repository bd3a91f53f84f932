"""What can be seen of a wrong rule when it is registered; errors point at the row itself."""

from __future__ import annotations

import inspect
import linecache
import re
import types
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

from ..errors import RuleError
from ..ir.graph import Span
from ..ir.op import Op
from ..ops import registry as ops


class Place(NamedTuple):
    """A line of a source file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Operands(NamedTuple):
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
    """The op that a rule is for.

    Raises:
        RuleError: it is not callable, or a bound method, which is another object at every access.
    """
    if isinstance(op, Op):
        return op
    if not callable(op):
        message = f"{op!r} is not callable, so it cannot have a rule"
        raise refuse(message, "Give the rule to an op or to a function.", place)
    if isinstance(op, types.MethodType):
        message = f"{op.__qualname__} is a bound method: a new object whenever it is looked up"
        raise refuse(
            message,
            "Give the rule to the function in the class, whose first operand is `self`.",
            place,
        )
    found = ops.find(op)
    return found[0] if found is not None else ops.foreign(op)


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
    if type(function) is types.FunctionType and not function.__dict__:
        return _of_code(function.__code__, len(function.__defaults__ or ()))
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


def _of_code(code: types.CodeType, defaults: int) -> Operands:
    # `inspect.signature` says the same, but for the hundreds of rows it would take a fifth of the
    # time of `import wengert`
    count = code.co_argcount
    return Operands(
        code.co_varnames[:count],
        count - defaults,
        bool(code.co_flags & inspect.CO_VARARGS),
        code.co_varnames[count : count + code.co_kwonlyargcount],
        bool(code.co_flags & inspect.CO_VARKEYWORDS),
    )


def check_count(
    op: Op, what: str, rows: Sequence[object], place: Place, *, or_one: bool = False
) -> None:
    """There is a row for each operand, or (`or_one`) one row for all of them."""
    takes = operands(op)
    if not rows:
        raise refuse(f"the rule for {op.name} has no {what}", f"{op.name} takes {takes}.", place)
    if takes.variadic or (or_one and len(rows) == 1):
        return
    if not takes.required <= len(rows) <= len(takes.names):
        place = next((place_of(row, place) for row in rows if callable(row)), place)
        count = f"{len(rows)} {what}{'s' if len(rows) != 1 else ''}"
        wanted = len(takes.names)
        message = f"the rule for {op.name} has {count} for {wanted} operand{'s' * (wanted != 1)}"
        raise refuse(
            message, f"{op.name} takes {takes}: one {what} for each, `None` for zero.", place
        )


def check_row(op: Op, row: Any, *, before: int, after: int, place: Place, times: int = 1) -> None:
    """A row can be called with `before` values, the operands `times` times, and `after` values."""
    if not callable(row):
        message = f"the rule for {op.name} has a row that is not a function: {row!r}"
        raise refuse(message, "A row is a function of the operands: `lambda x, Ω: ...`.", place)
    given = _of_function(row)
    if given is not None:
        place = place_of(row, place)
        _check_positional(op, given, before, after, times, place)
        _check_options(op, given, place)


def _check_positional(
    op: Op, given: Operands, before: int, after: int, times: int, place: Place
) -> None:
    takes = operands(op)
    if given.variadic or (takes.variadic and times):
        return
    most = len(given.names)
    counts = range(takes.required, len(takes.names) + 1)
    possible = {before + times * count + after for count in counts} if times else {before + after}
    if not any(given.required <= count <= most for count in possible):
        expected = " or ".join(map(str, sorted(possible)))
        message = (
            f"a row of the rule for {op.name} takes {most} positional argument{'s' * (most != 1)}, "
            f"not {expected}"
        )
        raise refuse(message, _expected_call(takes, before, after, times), place)


def _check_options(op: Op, given: Operands, place: Place) -> None:
    takes = operands(op)
    known = (*takes.options, *takes.names)
    unknown = [name for name in given.options if name not in known]
    if unknown and not takes.any_option:
        message = (
            f"a row of the rule for {op.name} takes the option `{unknown[0]}`, "
            "which the op does not have"
        )
        options = ", ".join(sorted(takes.options)) or "none"
        raise refuse(message, f"The options of {op.name}: {options}.", place)


def _expected_call(takes: Operands, before: int, after: int, times: int) -> str:
    names = list(takes.names)
    match before, times, after:
        case 0, 1, 1:
            call = [*names, "Ω"]
        case 1, 1, 0:
            call = ["Ω_bar", *names]
        case 0, 2, 1:
            call = [*(f"d_{name}" for name in names), *names, "Ω"]
        case 2, 0, 0:
            call = ["primals", "tangents"]
        case _:
            call = names
    return f"It is called with ({', '.join(call)})."


def place_of(row: object, otherwise: Place) -> Place:
    """Where a row is written."""
    written = inspect.unwrap(row) if hasattr(row, "__wrapped__") and callable(row) else row
    code = getattr(written, "__code__", None)
    return otherwise if code is None else Place(code.co_filename, code.co_firstlineno)


def refuse(message: str, hint: str, place: Place) -> RuleError:
    """The error for a rule written at a place."""
    text = linecache.getline(place.file, place.line).rstrip("\n")
    start = len(text) - len(text.lstrip())
    span = Span(place.file, place.line, start, place.line, len(text.encode()))
    return RuleError(message, hint, span)


_PLACE = re.compile(r" \((?P<file>[^()\n]+):(?P<line>[0-9]+)\)")


def at_its_rule(error: RuleError) -> RuleError:
    """The same error, shown at the rule whose file and line the message of generated code names."""
    ((message, hint, span),) = error.findings
    named = _PLACE.search(message)
    if span is not None or named is None:
        return error
    place = Place(named["file"], int(named["line"]))
    return refuse(message.replace(named[0], ""), hint, place).with_traceback(error.__traceback__)
