"""What stands for functions of a library under their own names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def same_names(library: Any, own: Mapping[str, Any]) -> list[tuple[Any, Callable[..., Any]]]:
    """Functions and classes of a library, and what is called the same in a module of polyfills.

    Args:
        library: a module, or a class of which these are methods; what this version of it lacks is left out.
        own: the names of the module of polyfills, of which those count that are defined there.
    """
    return [
        (getattr(library, name), each)
        for name, each in own.items()
        if getattr(each, "__module__", None) == own["__name__"] and hasattr(library, name)
    ]
