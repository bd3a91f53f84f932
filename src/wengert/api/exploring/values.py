"""What a run computes at each line: the values of what is bound there, in the first and the last turn of a loop."""

from __future__ import annotations

import cmath
import math
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import FrameType
from typing import Any

import numpy as np

from ...ir.records import field, mutable_record, record
from .statements import Statement

MOST_STEPS = 1_000_000
"""After this many values a run goes on unseen."""
LONGEST_LIST = 1000

Trace = Callable[[FrameType, str, Any], Any]


@record
class Program:
    """A text whose run is followed: its name, and its statements by line."""

    name: str
    statements: Mapping[int, Statement]


@mutable_record
class Seen:
    """The values of one name at one line, in the first and the last turn: numbers, or texts about others."""

    first: str | float
    last: str | float
    turns: int
    wrong: str = ""


@record
class Arising:
    """Where a run first met a value that is not finite: "NaN" or "inf"."""

    what: str
    place: tuple[str, int]
    name: str
    turn: int


@mutable_record
class Run:
    """What was seen of a run.

    Attributes:
        lines: by the name of the program and the line, what was bound there.
        arising: where NaN, and where infinity, came up first.
        steps: how many values were bound.
    """

    lines: dict[tuple[str, int], dict[str, Seen]] = field(
        default_factory=dict[tuple[str, int], dict[str, Seen]]
    )
    arising: dict[str, Arising] = field(default_factory=dict[str, Arising])
    steps: int = 0

    def see(self, place: tuple[str, int], name: str, value: Any) -> None:
        """A name was bound."""
        self.steps += 1
        if self.steps > MOST_STEPS:
            return
        is_plain = type(value) is float and math.isfinite(value)
        text, wrong = (value, "") if is_plain else shown(value)
        here = self.lines.setdefault(place, {})
        seen = here.get(name)
        if seen is None:
            seen = here[name] = Seen(text, text, 0)
        seen.last = text
        seen.turns += 1
        seen.wrong = seen.wrong or wrong
        if wrong and wrong not in self.arising:
            self.arising[wrong] = Arising(wrong, place, name, seen.turns)


def followed(call: Callable[[], Any], program: Callable[[str], Program | None]) -> Run:
    """Run something and see what it binds.

    Args:
        call: what is run.
        program: the text of a file, by the name that code objects have for it; None where it is not followed.
    """
    run = Run()
    before = sys.gettrace()
    sys.settrace(_tracer(run, program))
    try:
        with np.errstate(all="ignore"):
            call()
    finally:
        sys.settrace(before)
    return run


def _tracer(run: Run, program: Callable[[str], Program | None]) -> Trace:
    def enter(frame: FrameType, event: str, argument: Any) -> Any:
        file = frame.f_code.co_filename
        text = program(file) if run.steps < MOST_STEPS else None
        return None if text is None else _in_frame(run, text)

    return enter


def _in_frame(run: Run, text: Program) -> Trace:
    current: Statement | None = None
    raised = False

    def follow(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal current, raised
        if event == "exception":
            raised = True
            return follow
        now = text.statements.get(frame.f_lineno)
        if current is not None and not raised and (now is not current or event == "return"):
            at_body = not current.body or (now is not None and now.line == current.body)
            if current.names and at_body:
                _see_all(run, text, current, frame.f_locals)
            if event == "return" and current.returns:
                run.see((text.name, current.line), "return", argument)
        raised, current = False, now
        return follow if run.steps < MOST_STEPS else None

    return follow


def _see_all(run: Run, text: Program, statement: Statement, variables: Mapping[str, Any]) -> None:
    for name, parts in statement.names:
        with suppress(LookupError, TypeError):
            run.see((text.name, statement.line), name, _value(variables, parts))


def _value(variables: Mapping[str, Any], parts: tuple[str, ...]) -> Any:
    """The value of a name or of an attribute, as far as no code of the program is run to get it."""
    value = variables[parts[0]]
    for part in parts[1:]:
        value = object.__getattribute__(value, "__dict__")[part] if _plain(value) else {}[part]
    return value


def _plain(value: Any) -> bool:
    return not isinstance(value, type) and hasattr(type(value), "__dict__")


# --- values as text -----------------------------------------------------------------------


def shown(value: Any) -> tuple[str, str]:
    """A value in a few words, and "NaN" or "inf" where it has such."""
    if isinstance(value, (bool, int, str, type(None), np.bool_, np.integer)):
        return _short(repr(value.item() if isinstance(value, np.generic) else value)), ""
    if isinstance(value, (float, complex, np.floating, np.complexfloating)):
        number = complex(value)
        wrong = "NaN" if cmath.isnan(number) else "inf" if cmath.isinf(number) else ""
        return f"{value:.6g}", wrong
    if isinstance(value, np.ndarray):
        return _of_array(value)
    if isinstance(value, (list, tuple)):
        return _of_sequence(value)
    return type(value).__name__, ""


def _of_array(array: np.ndarray[Any, Any]) -> tuple[str, str]:
    if array.dtype.kind not in "fciub" or not array.size:
        return f"{array.dtype}{list(array.shape)}", ""
    wrong = ""
    if array.dtype.kind in "fc" and not np.all(np.isfinite(array)):
        wrong = "NaN" if np.any(np.isnan(array)) else "inf"
    if array.size <= 4:
        return f"{_short(np.array2string(array, precision=5, separator=', '))}", wrong
    head = f"{array.dtype}{list(array.shape)}"
    if array.dtype.kind == "c":
        return head, wrong
    low, high = np.min(array), np.max(array)
    return f"{head} {low:.5g} … {high:.5g}", wrong


def _of_sequence(values: list[Any] | tuple[Any, ...]) -> tuple[str, str]:
    few = [shown(each) for each in values[:LONGEST_LIST]]
    wrong = next((w for _, w in few if w == "NaN"), "") or next((w for _, w in few if w), "")
    brackets = "[]" if isinstance(values, list) else "()"
    if len(values) <= 4:
        return _short(brackets[0] + ", ".join(text for text, _ in few) + brackets[1]), wrong
    return f"{type(values).__name__} of {len(values)}: {_short(few[0][0])} …", wrong


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 60 else f"{text[:59]}…"
