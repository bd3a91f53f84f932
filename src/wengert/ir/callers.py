"""Where in the user's source a call into wengert was made."""

from __future__ import annotations

import inspect
from itertools import islice
from types import CodeType, FrameType

from .graph import Span

_WENGERT = __file__.rpartition("ir")[0]
_known: dict[tuple[CodeType, int], Span | None] = {}


def calling_span() -> Span | None:
    """The expression of the user's that is being evaluated; None where there is no source."""
    frame: FrameType | None = inspect.currentframe()
    while frame is not None and frame.f_code.co_filename.startswith(_WENGERT):
        frame = frame.f_back
    if frame is None:
        return None
    key = frame.f_code, frame.f_lasti
    if key not in _known:
        if len(_known) > 10_000:
            _known.clear()
        _known[key] = _span(*key)
    return _known[key]


def _span(code: CodeType, instruction: int) -> Span | None:
    positions = next(islice(code.co_positions(), instruction // 2, None), None)
    if positions is None:
        return None
    line, end_line, column, end_column = positions
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return Span(code.co_filename, line, column, end_line, end_column, code.co_name)
