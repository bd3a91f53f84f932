"""Exceptions that only a recorded run raises: no handler of its program is to go on with them.

Code in C that is given a box may say that it takes numbers alone, where the number itself would have gone through.
"""

from __future__ import annotations

import builtins
import sys
from typing import Any, TypeGuard

from ...errors import LostDerivative
from ...ir.callers import failing_span
from .boxes import Recorded, noting


class Names(dict[str, Any]):
    """What names mean where a program says nothing else of them.

    A handler asks for the class that it handles by its name, while Python has the exception at hand.
    """

    def __missing__(self, name: str) -> Any:
        error = sys.exception()
        if error is not None and name in CAUGHT:
            _note(error)
        return vars(builtins)[name]


CAUGHT = frozenset(("BaseException", "Exception", "TypeError", "AttributeError", "ValueError"))
"""By which names a handler may catch what only a recorded run raises."""


def _note(error: BaseException) -> None:
    if is_of_c(error):
        noting(met_in_c(error))
    elif isinstance(error, LostDerivative):
        noting(error)


def is_of_c(error: BaseException) -> TypeGuard[TypeError]:
    """Whether compiled code says that it does not know what a box is: it names the class; others do not."""
    said = str(error) if isinstance(error, TypeError) else ""
    return Recorded.__name__ in said or said.startswith((
        "No matching signature found", "can't unbox array from PyObject", "bad argument type for built-in operation",
        "object supporting the buffer API required",
    ))  # fmt: skip


def met_in_c(error: TypeError) -> LostDerivative:
    """Code that is written in C was given a number with a derivative."""
    said = str(error).replace(Recorded.__name__, "number with a derivative")
    return LostDerivative(
        f"code that is written in C takes plain numbers: {said}",
        "Write it in Python or NumPy, or give the function that calls it a rule: `wg.rrule`.",
        failing_span(error.__traceback__),
    )
