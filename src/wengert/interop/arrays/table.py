"""What NumPy's functions are over the standard, by their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

FUNCTIONS: dict[str, Callable[..., Any]] = {}
"""NumPy's functions over the standard, by their names; the first argument is the namespace."""
MODULES = ("elementwise", "creation", "shapes", "reductions", "selection", "linear_algebra")


def like_numpys(function: Callable[..., Any]) -> Callable[..., Any]:
    """A decorator: the function does what NumPy's of this name does; `linalg_norm` what `np.linalg.norm` does."""
    FUNCTIONS[function.__name__.rstrip("_")] = function
    return function


UFUNCS: dict[str, Callable[[Any], Any]] = {}
"""Universal functions, each made for a namespace."""
