"""Functions of pandas and NumPy on columns, in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ....ops.program.refusals import uncovered
from .columns import Column, beside, is_column
from .indexes import WAY_OUT, Numbered


def series(data: Any, index: Any) -> Any:
    """`pandas.Series(data, index)`."""
    if is_column(data):
        if index is not None:
            raise uncovered("`Series` of a column and another index", WAY_OUT)
        return data.copy()
    values = np.asarray(data)
    if index is None:
        return Column(values, Numbered())
    if len(values) != len(index):
        raise ValueError(
            f"Length of values ({len(values)}) does not match length of index ({len(index)})"
        )
    return Column(values, index)


def by_rows(table: Any, func: Any) -> Any:
    """`table.apply(func, axis=1)` of a function that gives numbers."""
    return Column(np.array([func(row) for _, row in table.iterrows()]), table.index)


def one_by_one(function: Any, *given: Any) -> Any:
    """A function of NumPy's that takes numbers, of columns and what stands beside them."""
    (column, *_) = [each for each in given if is_column(each)]
    values = [beside(column, each) for each in given]
    return Column(function(*values), column.index)


def std(column: Any, ddof: Any = 0) -> Any:
    """`np.std` of a column."""
    return column.std(ddof)


def var(column: Any, ddof: Any = 0) -> Any:
    """`np.var` of a column."""
    return column.var(ddof)


TOGETHER: dict[str, Callable[..., Any]] = {
    "std": std,
    "var": var,
    "amin": Column.min,
    "amax": Column.max,
    "around": Column.round,
    **{
        name: getattr(Column, name)
        for name in [
            "sum",
            "prod",
            "mean",
            "min",
            "max",
            "clip",
            "cumsum",
            "round",
            "any",
            "all",
            "argmax",
            "argmin",
        ]
    },
}
"""What NumPy's functions of a column are, which ask its methods."""

REFUSED = (
    "argsort", "choose", "compress", "cumprod", "diagonal", "partition", "put", "repeat", "resize",
    "squeeze", "swapaxes", "take", "transpose",
)  # fmt: skip
"""Functions of NumPy's that ask methods of pandas which do otherwise than those of arrays."""
