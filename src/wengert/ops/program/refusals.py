"""What stands for a library's function says of what it does not do."""

from __future__ import annotations

from ...errors import LostWrite, NoRule, NoSource, UnsupportedSyntax, WengertError
from ...ir.graph import Const, Span
from ...ir.types import NONE, UNKNOWN
from ..helpers import helper

FORMULA = "Write its formula, or put it into a function of your own with a rule (`@wg.rrule`)."
"""The way out where no other function does it."""

uncovered = helper("uncovered", "what, way_out", UNKNOWN)
"""An error to be raised: what is not done where it is differentiated, and the way out."""

refused = helper("refused", "code, message, way_out, place", UNKNOWN)
"""An error to be raised on a path that cannot be differentiated."""
refuse = helper("refuse", "code, message, way_out, place", UNKNOWN, effect=True)
"""Stands for a value that cannot be had on such a path: raises the error."""
unless_refusal = helper("unless_refusal", "exception", NONE, effect=True)
"""Raises what was caught again, where it says that the program is refused."""

REFUSALS = (UnsupportedSyntax, NoSource, NoRule, LostWrite)
"""What says that a program cannot be differentiated; a run that avoids the place can be."""


def of_captured(function: str, name: str) -> tuple[str, str]:
    """Says that a function with a rule has captured what is differentiated, and the way out."""
    message = f"the rule of {function} says nothing about `{name}`, which it has captured and which is differentiated"
    hint = (
        f"Pass `{name}` as an argument that the rule covers, leave the function itself out of what is\n"
        "differentiated (`argnums`), or read its code instead of the rule with `wg.opt_out`."
    )
    return message, hint


def operands_of(refusal: WengertError, span: Span | None) -> tuple[Const, ...]:
    """What `refused` is told of an error that was found at a place; of several, that which stands there."""
    finding = next((each for each in refusal.findings if each.span == span), refusal.findings[0])
    at = finding.span or span
    place = at and (at.file, at.line, at.column, at.end_line, at.end_column, at.function)
    return tuple(map(Const, (refusal.code, finding.message, finding.hint, place)))


def of_matrix(cls: type) -> tuple[str, str]:
    """Says that a matrix of derivatives has no form for an object that is built on a container, and the way out."""
    message = (
        f"a matrix of derivatives has no form for an object of class {cls.__name__} here: it has attributes beside "
        "its items, says how these are read, is inside of another container or the result"
    )
    return (
        message,
        "Differentiate a function of plain containers, and to plain containers, or use `wg.pullback`.",
    )
