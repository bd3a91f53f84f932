"""`pandas.Series` of values of the program, in Python: columns of a table with which it computes.

Sums and their kin leave out what is not a number, as those of pandas do; two columns fit together where their
indexes are equal.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ....ops.program.refusals import uncovered
from .indexes import WAY_OUT, Labels, Numbered, is_numbered, is_several, places_among, places_of

Method = Callable[..., Any]


def _each(op: Method) -> Method:
    return lambda self: Column(op(self.values), self.index)


def _beside(op: Method) -> Method:
    return lambda self, other: Column(op(self.values, beside(self, other)), self.index)


def _reflected(op: Method) -> Method:
    return lambda self, other: Column(op(beside(self, other), self.values), self.index)


def _in_place(op: Method) -> Method:
    def method(self: Any, other: Any) -> Any:
        self.values = op(self.values, beside(self, other))
        return self

    return method


class Column:
    """`pandas.Series`: an array of values, and the index of the table that it belongs to."""

    __stands_for__ = "pandas", "Series"
    __array_priority__ = 1000
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, values: Any, index: Any) -> None:
        self.values = values
        self.index = index

    # --- what it holds ------------------------------------------------------------------------

    @property
    def shape(self) -> Any:
        return self.values.shape

    @property
    def size(self) -> Any:
        return len(self.values)

    @property
    def ndim(self) -> Any:
        return 1

    @property
    def dtype(self) -> Any:
        return self.values.dtype

    @property
    def iloc(self) -> Any:
        return Places(self)

    @property
    def loc(self) -> Any:
        return Labels(self)

    def __len__(self) -> Any:
        return len(self.values)

    def __iter__(self) -> Any:
        return iter(self.values.tolist())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values

    def __contains__(self, key: Any) -> Any:
        if isinstance(self.index, Numbered):
            return 0 <= key < len(self.values)
        return bool(self.index.isin([key]).any())

    def __getitem__(self, key: Any) -> Any:
        if is_column(key):
            raise uncovered("a column that values of the program choose from", WAY_OUT)
        if isinstance(key, slice):
            return Places(self)[key]
        if is_several(key):
            if isinstance(self.index, Numbered):
                raise uncovered("a part of a column that the program makes", WAY_OUT)
            places = places_among(self.index, key)
            return Column(self.values[places], self.index[places])
        return self.values[places_of(self.index, key)]

    def to_numpy(self) -> Any:
        return self.values.copy()

    def tolist(self) -> Any:
        return self.values.tolist()

    to_list = tolist

    def copy(self) -> Any:
        return Column(self.values.copy(), self.index)

    # --- one by one ---------------------------------------------------------------------------

    __neg__, __pos__, __abs__ = _each(operator.neg), _each(operator.pos), _each(operator.abs)
    __invert__ = _each(operator.invert)
    __add__, __radd__ = _beside(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _beside(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _beside(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _beside(operator.truediv), _reflected(operator.truediv)
    __pow__, __rpow__ = _beside(operator.pow), _reflected(operator.pow)
    __floordiv__, __mod__ = _beside(operator.floordiv), _beside(operator.mod)
    __eq__, __ne__ = _beside(operator.eq), _beside(operator.ne)  # type: ignore[assignment]
    __and__, __or__ = _beside(operator.and_), _beside(operator.or_)
    __lt__, __le__ = _beside(operator.lt), _beside(operator.le)
    __gt__, __ge__ = _beside(operator.gt), _beside(operator.ge)
    __iadd__, __isub__ = _in_place(operator.add), _in_place(operator.sub)
    __imul__, __itruediv__ = _in_place(operator.mul), _in_place(operator.truediv)
    __ipow__ = _in_place(operator.pow)
    abs, pow, add, sub, mul, div = __abs__, __pow__, __add__, __sub__, __mul__, __truediv__

    def __bool__(self) -> bool:
        raise ValueError(
            "The truth value of a Series is ambiguous. Use a.empty, a.bool(), a.item(), a.any() or a.all()."
        )

    def __matmul__(self, other: Any) -> Any:
        return self.values @ beside(self, other)

    def __rmatmul__(self, other: Any) -> Any:
        return beside(self, other) @ self.values

    dot = __matmul__

    def apply(self, func: Any) -> Any:
        return Column(np.array([func(value) for value in self.values]), self.index)

    map = apply

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        return Column(np.clip(self.values, lower, upper), self.index)

    def shift(self, periods: Any = 1) -> Any:
        if periods < 0:
            raise uncovered("`shift` of a column to earlier rows", WAY_OUT)
        before = np.full(periods, np.nan)
        return Column(np.concatenate((before, self.values))[: len(self.values)], self.index)

    def diff(self, periods: Any = 1) -> Any:
        return self - self.shift(periods)

    def fillna(self, value: Any) -> Any:
        return Column(np.where(np.isnan(self.values), value, self.values), self.index)

    def where(self, cond: Any, other: Any = np.nan) -> Any:
        kept = beside(self, cond(self) if callable(cond) else cond)
        instead = beside(self, other(self) if callable(other) else other)
        return Column(np.where(kept, self.values, instead), self.index)

    def mask(self, cond: Any, other: Any = np.nan) -> Any:
        return self.where(
            np.logical_not(beside(self, cond(self) if callable(cond) else cond)), other
        )

    def isnull(self) -> Any:
        return Column(np.isnan(self.values), self.index)

    def notnull(self) -> Any:
        return Column(np.logical_not(np.isnan(self.values)), self.index)

    isna, notna = isnull, notnull

    def between(self, left: Any, right: Any) -> Any:
        return (self >= left) & (self <= right)

    def astype(self, dtype: Any) -> Any:
        return Column(self.values.astype(dtype), self.index)

    # --- all together -------------------------------------------------------------------------

    def count(self) -> Any:
        return np.sum(np.where(np.isnan(self.values), 0, 1))

    def sum(self) -> Any:
        return np.sum(np.where(np.isnan(self.values), 0.0, self.values))

    def mean(self) -> Any:
        return self.sum() / self.count()

    def var(self, ddof: Any = 1) -> Any:
        missing, count = np.isnan(self.values), self.count()
        present = np.where(missing, 0.0, self.values)
        off = np.where(missing, 0.0, present - np.sum(present) / count)
        return np.sum(off * off) / (count - ddof)

    def std(self, ddof: Any = 1) -> Any:
        return np.sqrt(self.var(ddof))

    def prod(self) -> Any:
        return np.prod(np.where(np.isnan(self.values), 1.0, self.values))

    def cumsum(self) -> Any:
        missing = np.isnan(self.values)
        sums = np.cumsum(np.where(missing, 0.0, self.values))
        return Column(np.where(missing, np.nan, sums), self.index)

    def round(self, decimals: Any = 0) -> Any:
        return Column(np.round(self.values, decimals), self.index)

    def any(self) -> Any:
        return np.any(np.where(np.isnan(self.values), False, self.values))

    def all(self) -> Any:
        return np.all(np.where(np.isnan(self.values), True, self.values))

    def argmax(self) -> Any:
        return np.argmax(np.where(np.isnan(self.values), -np.inf, self.values))

    def argmin(self) -> Any:
        return np.argmin(np.where(np.isnan(self.values), np.inf, self.values))

    def median(self) -> Any:
        return np.nanmedian(self.values)

    def min(self) -> Any:
        return np.nanmin(self.values)

    def max(self) -> Any:
        return np.nanmax(self.values)


class Places:
    """`column.iloc`."""

    def __init__(self, column: Any) -> None:
        self.column = column

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice) or np.ndim(key) > 0:
            return Column(self.column.values[key], self.column.index[key])
        return self.column.values[key]


def beside(column: Column, other: Any) -> Any:
    """What stands beside the values of a column in an operation."""
    if not is_column(other):
        return (
            float(other) if isinstance(other, float) else other
        )  # as pandas takes NumPy's numbers
    if isinstance(column.index, Numbered) or isinstance(other.index, Numbered):
        numbered = is_numbered(column.index) and is_numbered(other.index)
        if not numbered or len(column.values) != len(other.values):
            raise uncovered("an operation on columns whose indexes are not equal", WAY_OUT)
        return other.values
    if not column.index.equals(other.index):
        raise uncovered("an operation on columns whose indexes are not equal", WAY_OUT)
    return other.values


def is_column(value: Any) -> bool:
    """Whether a value is a column of values of the program; the front end says so."""
    return isinstance(value, Column)
