"""Indexes of tables and columns: where labels stand, in Python, as pandas says."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops.program.refusals import uncovered


class Labels:
    """`column.loc`."""

    def __init__(self, column: Any) -> None:
        self.column = column

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) and key != slice(None):
            raise uncovered("a slice of a column by labels", WAY_OUT)
        return self.column[key]


def places_of(index: Any, key: Any) -> Any:
    """Where what a label, several of them, or a mask choose stands."""
    if not is_several(key):
        if not is_numbered(index):
            return index.get_loc(key)
        if key < 0:
            raise KeyError(key)
        return key
    return np.asarray(key) if isinstance(index, Numbered) else places_among(index, key)


def is_several(key: Any) -> bool:
    """Whether a key is a mask or a list of labels."""
    return np.ndim(key) > 0


def places_among(index: Any, labels: Any) -> Any:
    """Where labels stand in an index, or a mask; what it is asked of data is known when a program is read."""
    chosen = np.asarray(labels)
    return chosen if chosen.dtype == bool else index.get_indexer_for(chosen)


class Numbered:
    """The index of a column that the program makes: numbers from 0 on, as many as there are values."""

    def __getitem__(self, key: Any) -> Any:
        raise uncovered("a part of a column that the program makes", WAY_OUT)


def is_range(index: Any) -> bool:
    """Whether the rows of a table are numbered from 0 on."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and index.step == 1


def is_numbered(index: Any) -> bool:
    """Whether the rows of a table, or the values of a column that the program makes, are numbered from 0 on."""
    return isinstance(index, Numbered) or is_range(index)


WAY_OUT = "Take the columns as arrays: `table['x'].to_numpy()`."
