"""Libraries that show what a program computes, whose results are no part of it, and libraries that hold data.

The functions of the first are called as they are, with the values of the run. Numbers that are read from what they
give have lost their derivative, as those which are read from text (`passes.read_back`).
"""

from __future__ import annotations

from typing import Any

_HOLDING_DATA = frozenset(("pandas", "polars", "xarray"))
_DRAWING = frozenset(("matplotlib", "mpl_toolkits", "seaborn", "plotly"))


def draws(function: Any) -> bool:
    """Whether a function or a class is one of a library that draws."""
    return _package(function) in _DRAWING


def is_picture(value: Any) -> bool:
    """Whether an object is one that a library which draws has made."""
    return _package(type(value)) in _DRAWING


def is_data(value: Any) -> bool:
    """Whether an object is a table of data, or something else of a class of a library of such tables."""
    return not isinstance(value, type) and _package(type(value)) in _HOLDING_DATA


def makes_tables(function: Any) -> bool:
    """Whether a function or a class is one of a library of tables."""
    return _package(function) in _HOLDING_DATA


def _package(made: Any) -> str:
    return str(getattr(made, "__module__", None)).partition(".")[0]
