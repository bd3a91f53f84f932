"""Where rules are written: what is wrong with one is shown there."""

from __future__ import annotations

import inspect
import linecache
import re
from itertools import islice
from types import CodeType

from ..errors import RuleError
from ..ir.graph import Span


class Place:
    """A line of a source file.

    Where it is an instruction of a running function, the line is looked up when somebody asks: at the
    end of a long table that takes as long as the table.
    """

    __slots__ = ("_line", "file")

    def __init__(self, file: str, line: int | tuple[CodeType, int]):
        self.file = file
        self._line = line

    @property
    def line(self) -> int:
        if isinstance(self._line, int):
            return self._line
        code, instruction = self._line
        position = next(islice(code.co_positions(), instruction // 2, None))
        return position[0] or code.co_firstlineno

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


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


def at_its_rule(error: RuleError) -> RuleError:
    """The same error, shown at the rule whose file and line the message of generated code names."""
    ((message, hint, span),) = error.findings
    named = re.search(r" \((?P<file>[^()\n]+):(?P<line>[0-9]+)\)", message)
    if span is not None or named is None:
        return error
    place = Place(named["file"], int(named["line"]))
    return refuse(message.replace(named[0], ""), hint, place).with_traceback(error.__traceback__)
