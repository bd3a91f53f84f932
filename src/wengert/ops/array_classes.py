"""Classes of arrays: those that compute as NumPy's own arrays do, and the others."""

from __future__ import annotations

from typing import Any

import numpy as np


def has_own_arithmetic(cls: type[np.ndarray[Any, Any]]) -> bool:
    """Whether arrays of a class do not compute as NumPy's own arrays do: matrices, masked arrays."""
    names = ("__mul__", "__pow__", "__array_ufunc__", "__getitem__")
    return any(getattr(cls, name) is not getattr(np.ndarray, name) for name in names)


def of_own_arithmetic(cls: type) -> tuple[str, str]:
    """Why such arrays are refused, and the way out."""
    return (
        f"arrays of class {cls.__module__}.{cls.__qualname__} compute in ways of their own",
        "Use plain NumPy arrays: `np.asarray(x)`.",
    )
