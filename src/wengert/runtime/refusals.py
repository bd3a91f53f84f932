"""Errors of wengert's own that generated code raises."""

from __future__ import annotations

from typing import Any


def coded(error: Any, code: str) -> Any:
    """An error with the code under which it is explained: source that stands alone has no classes of ours."""
    vars(error)["code"] = code
    return error


def unclear(message: str) -> Any:
    """An error to be raised where it depends on what only the run knows; `message` ends with the way out."""
    return coded(ValueError(message), "WG101")


def uncovered(what: str, way_out: str) -> Any:
    """An error to be raised: what a function does not do where it is differentiated, and the way out."""
    message = f"{what} is not covered in a function that is differentiated\n{way_out}"
    return coded(NotImplementedError(message), "WG101")


def refused(code: str, message: str, way_out: str, place: tuple[Any, ...] | None) -> Any:
    """An error to be raised where a path is taken that cannot be differentiated; `place` is what the user wrote."""
    error = coded(_CLASSES[code](f"{message}\n{way_out}"), code)
    vars(error)["place"] = place
    return error


_CLASSES: dict[str, Any] = {
    "WG101": NotImplementedError,
    "WG102": TypeError,
    "WG103": TypeError,
    "WG104": ValueError,
}
"""What the classes of wengert's own errors are built on, by code."""


def refuse(code: str, message: str, way_out: str, place: tuple[Any, ...] | None) -> Any:
    """Raise such an error, in the place of a value."""
    raise refused(code, message, way_out, place)


WRITES_TO_A_COPY = "this writes to a copy of a part of an array: the array itself does not change"


def copy_written(file: str, line: int) -> None:
    """Warn of a write to a copy, once for each place in the user's code."""
    import sys
    import warnings

    category = getattr(sys.modules.get("wengert.errors"), "WengertWarning", UserWarning)
    warnings.warn_explicit(WRITES_TO_A_COPY, category, file, line, registry=_warned)


_warned: dict[Any, Any] = {}


def unless_refusal(exception: Any) -> None:
    """Raise what was caught again, where it is no exception of the program's."""
    if str(vars(exception).get("code", "")).startswith("WG"):
        raise exception


def unless_refused() -> None:
    """In a handler: goes on, unless what was caught is no exception of the program, or hides what it changed."""
    import sys

    error = sys.exc_info()[1]
    if error is None:
        return
    if str(vars(error).get("code", "")).startswith("WG"):
        raise error
    if "_wengert_changes" in vars(error):
        raise unclear(vars(error)["_wengert_changes"]) from error


class DerivativeWarning(UserWarning):
    """A derivative is computed, but may not be what is wanted: the message says where and why.

    `warnings.filterwarnings("error", category=wg.errors.DerivativeWarning)` makes an exception of it.
    """
