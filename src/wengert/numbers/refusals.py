"""What a number with derivatives says when it is asked for a plain float."""

from __future__ import annotations

import linecache
import re
from typing import Any

from ..errors import LostDerivative
from ..ir.callers import calling_span
from ..ir.graph import Span


def lost(number: Any, wanted: str) -> LostDerivative:
    """The error for a conversion that drops the derivative, with the user's line and what to write."""
    span = calling_span()
    hint = (
        "Write a function of NumPy (`np.sin(x)`), a method (`x.sin()`) or an op (`wg.ops.sin(x)`)."
    )
    called = re.search(rb"\bc?math\.(\w+)\(", _text(span)) if span is not None else None
    if called is not None:
        name = called[1].decode()
        in_numpy = re.sub(r"^a(sin|cos|tan)", r"arc\1", name)
        hint = f"Write `np.{in_numpy}(x)`, `x.{name}()` or `wg.ops.{name}(x)` in its place."
    return LostDerivative(
        f"{wanted} has no derivative, so that of {number!r} would be lost",
        f"{hint}\nWhere the value alone is wanted, `x.value` is it.",
        span,
    )


def _text(span: Span) -> bytes:
    line = linecache.getline(span.file, span.line).encode()
    return line[span.column : span.end_column if span.end_line == span.line else None]
