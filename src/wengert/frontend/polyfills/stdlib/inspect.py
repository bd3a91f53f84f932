"""Questions whose answer the program computes, written in Python: the front end reads this instead."""

from __future__ import annotations

from typing import Any


def has_attribute(value: Any, name: str) -> bool:
    """`hasattr`, where a method may say that there is no such attribute."""
    try:
        getattr(value, name)
    except AttributeError:
        return False
    return True


def attribute_or(value: Any, name: str, default: Any) -> Any:
    """`getattr` with a default, where a method may say that there is no such attribute."""
    try:
        return getattr(value, name)
    except AttributeError:
        return default
