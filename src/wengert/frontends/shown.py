"""Libraries that show what a program computes: what they give is no part of it.

Their functions are called as they are, with the values of the run. Numbers that are read from what they give have
lost their derivative, as those which are read from text (`passes.read_back`).
"""

from __future__ import annotations

from typing import Any

_DRAWING = frozenset(("matplotlib", "mpl_toolkits", "seaborn", "plotly"))


def draws(function: Any) -> bool:
    """Whether a function or a class is one of a library that draws."""
    return _package(function) in _DRAWING


def is_picture(value: Any) -> bool:
    """Whether an object is one that a library which draws has made."""
    return _package(type(value)) in _DRAWING


def is_data(value: Any) -> bool:
    """Whether an object is a table of data, or something else of a class of pandas."""
    return not isinstance(value, type) and _package(type(value)) == "pandas"


def _package(made: Any) -> str:
    return str(getattr(made, "__module__", None)).partition(".")[0]
