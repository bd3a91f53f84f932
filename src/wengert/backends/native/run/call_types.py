"""What the types of plain arguments are, found in less time than their kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_NUMBERS = frozenset((float, int, bool, complex, np.float64))


def types_of(values: Sequence[Any]) -> tuple[Any, ...] | None:
    """What a native form depends on, where all arguments are numbers and arrays; None where they are not."""
    found: list[Any] = []
    for value in values:
        cls: Any = value.__class__
        if cls is np.ndarray:
            found.append((value.dtype, value.shape, value.strides))
        elif cls in _NUMBERS:
            found.append(cls)
        else:
            return None
    return tuple(found)
