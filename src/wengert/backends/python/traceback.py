"""Exceptions raised in generated code, shown at the user's lines.

A frame of generated code is replaced by one that stands at the text the user wrote: a tiny code
object with the user's file, function, line and columns is compiled and run to obtain it. Nothing
of this costs anything until something is raised.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from types import CodeType, FrameType, TracebackType
from typing import Any, TypeVar

from ...ir.graph import Span
from .printed import Printed, published

_E = TypeVar("_E", bound=BaseException)
_RUNTIME = "wengert.runtime"
_PACKAGE = __file__.rpartition("backends")[0]
_PROBE = "wengert is looking for a frame"


def shown_at_user_lines(error: _E) -> _E:
    """The same exception, raised inside a published function, its traceback without generated code."""
    entries = list(_entries(error.__traceback__))
    replaced: list[TracebackType] = []
    in_generated = False
    for entry in entries:
        source = _printed_of(entry.tb_frame)
        if source is not None:
            in_generated = True
            span = _span_at(entry, source)
            shown = None if span is None else _entry_at(span, entry.tb_frame)
            replaced += [shown] if shown is not None else []
        elif not (in_generated and _is_helper(entry.tb_frame)):
            replaced.append(entry)
            in_generated = False
    if in_generated and not any(entry not in entries for entry in replaced):
        return error
    return error.with_traceback(_chained(replaced))


def without_generated(entry: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of published functions."""
    kept = [e for e in _entries(entry) if not e.tb_frame.f_code.co_filename.startswith("<wengert ")]
    return _chained(kept)


def last_user_span(entry: TracebackType | None) -> Span | None:
    """The innermost place in a traceback that is neither wengert's nor generated code."""
    for inner in reversed(list(_entries(entry))):
        code = inner.tb_frame.f_code
        if not code.co_filename.startswith(("<wengert ", _PACKAGE)):
            line, columns = _position(inner)
            start, end = columns or (0, 0)
            return Span(code.co_filename, line, start, line, end, code.co_qualname)
    return None


def _entries(entry: TracebackType | None) -> Iterator[TracebackType]:
    while entry is not None:
        yield entry
        entry = entry.tb_next


def _chained(entries: list[TracebackType]) -> TracebackType | None:
    result: TracebackType | None = None
    for entry in reversed(entries):
        result = TracebackType(result, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return result


def _printed_of(frame: FrameType) -> Printed | None:
    file = frame.f_code.co_filename
    return published.get(file) if file.startswith("<wengert ") else None


def _is_helper(frame: FrameType) -> bool:
    return str(frame.f_globals.get("__name__", "")).startswith(_RUNTIME)


# --- from a place in generated code to one of the user's --------------------------------------


def _span_at(entry: TracebackType, printed: Printed) -> Span | None:
    """What the user wrote for the expression in which an entry of a traceback stands."""
    line, columns = _position(entry)
    text = printed.text.split("\n")[line - 1] if line else ""
    if columns is not None:
        start, end = (len(text.encode()[:c].decode(errors="ignore")) for c in columns)
        around = [m for m in printed.marks.get(line, ()) if m.start <= start and end <= m.end]
        if around:
            return min(around, key=lambda mark: mark.end - mark.start).span
    spans = printed.lines.get(line, ())
    return spans[-1] if spans else None


def _position(entry: TracebackType) -> tuple[int, tuple[int, int] | None]:
    positions = list(entry.tb_frame.f_code.co_positions())
    index = entry.tb_lasti // 2
    if 0 <= index < len(positions):
        line, end_line, start, end = positions[index]
        if line is not None and line == end_line and start is not None and end is not None:
            return line, (start, end)
    return entry.tb_lineno, None


def _entry_at(span: Span, frame: FrameType) -> TracebackType | None:
    """An entry of a traceback that stands at a span, with the variables of `frame`."""
    namespace = {"__name__": span.function or "<wengert>", "__file__": span.file}
    try:
        exec(_code_at(span), namespace, _Variables(frame.f_locals))
    except LookupError as probe:
        entries = [
            e for e in _entries(probe.__traceback__) if e.tb_frame.f_code.co_filename == span.file
        ]
        return entries[0] if entries else None
    return None


class _Variables(dict[str, Any]):
    """Local variables to look at; reading the probe fails."""

    def __missing__(self, key: str) -> Any:
        raise LookupError(_PROBE)


@cache
def _code_at(span: Span) -> CodeType:
    """Code that reads a name that is not there, at the given place."""
    place = {
        "lineno": span.line,
        "end_lineno": span.end_line,
        "col_offset": span.column,
        "end_col_offset": span.end_column,
    }
    probe = ast.Expr(ast.Name("0", ast.Load(), **place), **place)
    code = compile(ast.Module([probe], []), span.file, "exec", dont_inherit=True)
    name = span.function or "<module>"
    return code.replace(co_name=name.rpartition(".")[2], co_qualname=name)
