"""What NumPy's functions are over the standard, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""NumPy's functions over the standard, by their names; the first argument is the namespace."""
MODULES = ("elementwise", "creation", "shapes", "reductions", "selection", "linear_algebra")


def like_numpys(own: Mapping[str, Any]) -> None:
    """Enter the functions of a module, private ones apart: each does what NumPy's of its name does.

    `linalg_norm` does what `np.linalg.norm` does.
    """
    for each in [each for each in own.values() if isinstance(each, FunctionType)]:
        if each.__module__ == own["__name__"] and not each.__name__.startswith(("_", "<")):
            FUNCTIONS[each.__name__.rstrip("_")] = each


UFUNCS: dict[str, Callable[[Any], Any]] = {}
"""Universal functions, each made for a namespace."""
