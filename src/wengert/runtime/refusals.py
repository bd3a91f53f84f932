"""Errors of wengert's own that generated code raises."""

from __future__ import annotations

from typing import Any


def coded(error: Any, code: str) -> Any:
    """An error with the code under which it is explained: source that stands alone has no classes of ours."""
    vars(error)["code"] = code
    return error


def uncovered(what: str, way_out: str) -> Any:
    """An error to be raised: what a function does not do where it is differentiated, and the way out."""
    message = f"{what} is not covered in a function that is differentiated\n{way_out}"
    return coded(NotImplementedError(message), "WG101")


def unless_refused() -> None:
    """In a handler: goes on, unless what was caught is no exception of the program, or hides what it changed."""
    import sys

    error = sys.exc_info()[1]
    if error is None:
        return
    if str(vars(error).get("code", "")).startswith("WG"):
        raise error
    if "_wengert_changes" in vars(error):
        raise coded(ValueError(vars(error)["_wengert_changes"]), "WG101") from error
