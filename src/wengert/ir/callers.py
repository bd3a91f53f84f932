"""Where in the user's source a call into wengert was made."""

from __future__ import annotations

import inspect
from functools import cache
from itertools import islice
from types import CodeType, FrameType, TracebackType

from .graph import Span

_WENGERT = __file__.rpartition("ir")[0]
_known: dict[tuple[CodeType, int], Span | None] = {}


@cache
def _installed(*names: str) -> tuple[str, ...]:
    """Where the standard library is, and other packages."""
    import sysconfig  # which takes long, and is needed where something is refused

    paths = sysconfig.get_paths()
    return tuple(paths[name] for name in names or ("stdlib", "purelib", "platlib"))


def calling_span() -> Span | None:
    """The expression of the user's that is being evaluated; None where there is no source.

    Python's own modules (`contextlib`, `functools`) are passed over where a user called them.
    """
    frame = innermost = _caller()
    while frame is not None and _is_standard(frame.f_code.co_filename):
        frame = frame.f_back
    frame = innermost if frame is None else frame
    return None if frame is None else _span_of(frame)


def failing_span(traceback: TracebackType | None) -> Span | None:
    """The user's expression that an exception came out of."""
    found = None
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if not code.co_filename.startswith((_WENGERT, *_installed())):
            found = span_at(code, traceback.tb_lasti)
        traceback = traceback.tb_next
    return found


def _is_standard(file: str) -> bool:
    return file.startswith(_installed("stdlib")) and "site-packages" not in file


def calling_library() -> tuple[str, Span | None] | None:
    """The installed function that is being run, and the user's call that led to it; None if there is none."""
    frame = innermost = _caller()
    while frame is not None and frame.f_code.co_filename.startswith((*_installed(), _WENGERT)):
        frame = frame.f_back
    if frame is innermost or frame is None or innermost is None:
        return None
    module = innermost.f_globals.get("__name__", "")
    return module.partition(".")[0], _span_of(frame)


def _caller() -> FrameType | None:
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_WENGERT):
        frame = frame.f_back
    return frame


def _span_of(frame: FrameType) -> Span | None:
    key = frame.f_code, frame.f_lasti
    if key not in _known:
        if len(_known) > 10_000:
            _known.clear()
        _known[key] = span_at(*key)
    return _known[key]


def span_at(code: CodeType, instruction: int) -> Span | None:
    """The expression that an instruction is of."""
    positions = next(islice(code.co_positions(), instruction // 2, None), None)
    if positions is None:
        return None
    line, end_line, column, end_column = positions
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return Span(code.co_filename, line, column, end_line, end_column, code.co_name)
