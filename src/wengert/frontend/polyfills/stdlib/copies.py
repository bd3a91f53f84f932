"""Copies that only the run can tell apart, written in Python: the front end reads this."""

from __future__ import annotations

import copy
from typing import Any


def copied_beside(value: Any, *done: tuple[Any, Any]) -> Any:
    """A deep copy; of an object that has been copied, what was made of it: pairs of both."""
    for other, twin in done:
        if value is other:
            return twin
    return copy.deepcopy(value)
