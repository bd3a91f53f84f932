"""What IPython knows of code that was typed into cells; without IPython there are no cells."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import TracebackType
from typing import Any

_PACKAGE = __file__.rpartition("notebooks")[0]


def shell() -> Any:
    """IPython's shell that this process runs, or None."""
    running = getattr(sys.modules.get("IPython"), "get_ipython", None)
    return running and running()


def cell(file: str) -> str | None:
    """What IPython calls a file that is a cell: "Cell In[2]"."""
    named = getattr(getattr(shell(), "compile", None), "format_code_name", None)
    label = named and named(file)
    return " ".join(label) if label else None


def place(file: str, line: int) -> str:
    """A line of a file or cell."""
    where = cell(file)
    return f"{file}:{line}" if where is None else f"{where}, line {line}"


def history() -> Iterator[tuple[int, str]]:
    """The cells that were run, as they were typed, with their numbers; the last first."""
    typed: list[str] = getattr(getattr(shell(), "history_manager", None), "input_hist_raw", [])
    yield from reversed(list(enumerate(typed)))


def registered(number: int, text: str) -> str:
    """The name of a file for what was typed into a cell, under which tracebacks find its lines."""
    return shell().compile.cache(text, number)


def traceback_of(error: BaseException, entries: TracebackType | None) -> list[str]:
    """The lines that IPython shows for an error with a traceback of these frames."""
    return shell().InteractiveTB.structured_traceback(type(error), error, entries)


def users_alone(entry: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of wengert's own code and of what it generated."""
    users: list[TracebackType] = []
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith((_PACKAGE, "<wengert ")):
            users.append(entry)
        entry = entry.tb_next
    result: TracebackType | None = None
    for each in reversed(users):
        result = TracebackType(result, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return result
