"""Errors of wengert's own that generated code raises."""

from __future__ import annotations

from typing import Any


def coded(error: Any, code: str) -> Any:
    """An error with the code under which it is explained: source that stands alone has no classes of ours."""
    vars(error)["code"] = code
    return error
