"""`pandas.DataFrame` of values of the program, in Python: columns by name, some of a table, others of the program."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ....ops.program.refusals import uncovered
from .columns import Column, is_column
from .indexes import WAY_OUT, Numbered, is_numbered, places_of


def _beside(op: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: self.beside_(other, op)


def _reflected(op: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: self.beside_(other, lambda x, y: op(y, x))


def _together(name: str) -> Callable[..., Any]:
    return lambda self, axis=0, numeric_only=False: self.together_(name, axis, numeric_only)


class Frame:
    """A copy of a `pandas.DataFrame`, or none, and columns of values of the program by their names."""

    __stands_for__ = "pandas", "DataFrame"
    __array_priority__ = 1000

    def __init__(self, table: Any, given: Any = None, index: Any = None) -> None:
        self._table = table
        self._given = {} if given is None else given
        self.index = table.index if index is None else index

    # --- what it holds ------------------------------------------------------------------------

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self._given[key] if key in self._given else self._table[key]
        if len(self._given) == 0:
            return self._table[key]
        if isinstance(key, list):
            return Frame(None, {name: self.column_(name) for name in key}, self.index)
        raise uncovered(
            "a part of a table of which some columns hold values of the program", WAY_OUT
        )

    def __setitem__(self, key: str, value: Any) -> None:
        self._given[key] = self._as_column(value)

    def __getattr__(self, name: str) -> Any:
        if name in self._given:
            return self._given[name]
        if self._table is not None and name in list(self._table.columns):
            return self._table[name]
        return getattr(self._only_data(), name)

    def __len__(self) -> Any:
        return _length(self.index, self._given)

    def __iter__(self) -> Any:
        return iter(self.names_())

    def __contains__(self, key: Any) -> Any:
        return key in self.names_()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self.values

    @property
    def values(self) -> Any:
        if len(self._given) == 0:
            return self._table.values
        return np.stack([self.column_(name).values for name in self.names_()], axis=1)

    @property
    def columns(self) -> Any:
        return self._table.columns if len(self._given) == 0 else _index_of(self.names_())

    @property
    def shape(self) -> Any:
        return len(self), len(self.names_())

    @property
    def loc(self) -> Any:
        return self._table.loc if len(self._given) == 0 else Places(self, by_name=True)

    @property
    def iloc(self) -> Any:
        return self._table.iloc if len(self._given) == 0 else Places(self, by_name=False)

    def to_numpy(self) -> Any:
        return self.values.copy()

    def copy(self) -> Any:
        return Frame(self._table, {**self._given}, self.index)

    def assign(self, **columns: Any) -> Any:
        made = self.copy()
        for name, value in columns.items():
            made[name] = value(made) if callable(value) else value
        return made

    def items(self) -> Any:
        return [(name, self[name]) for name in self.names_()]

    def iterrows(self) -> Any:
        if len(self._given) == 0:
            return self._table.iterrows()
        names, rows = _index_of(self.names_()), self.values
        labels = range(len(rows)) if is_numbered(self.index) else self.index
        return [(label, Column(row, names)) for label, row in zip(labels, rows, strict=True)]

    # --- one by one ---------------------------------------------------------------------------

    def apply(self, func: Any, axis: Any = 0) -> Any:
        if axis in (1, "columns"):
            return Column(np.array([func(row) for _, row in self.iterrows()]), self.index)
        made = {name: func(self.column_(name)) for name in self.names_()}
        if all(is_column(each) for each in made.values()):
            return Frame(None, made, self.index)
        return Column(np.array(list(made.values())), _index_of(list(made)))

    def __neg__(self) -> Any:
        return self._each(operator.neg)

    def __abs__(self) -> Any:
        return self._each(abs)

    __add__, __radd__ = _beside(operator.add), _reflected(operator.add)
    __sub__, __rsub__ = _beside(operator.sub), _reflected(operator.sub)
    __mul__, __rmul__ = _beside(operator.mul), _reflected(operator.mul)
    __truediv__, __rtruediv__ = _beside(operator.truediv), _reflected(operator.truediv)
    __pow__ = _beside(operator.pow)
    __lt__, __gt__ = _beside(operator.lt), _beside(operator.gt)
    __le__, __ge__ = _beside(operator.le), _beside(operator.ge)
    abs = __abs__

    def fillna(self, value: Any) -> Any:
        return self._each(lambda column: column.fillna(value))

    def clip(self, lower: Any = None, upper: Any = None) -> Any:
        return self._each(lambda column: column.clip(lower, upper))

    def isnull(self) -> Any:
        return self._each(lambda column: column.isnull())

    isna = isnull

    def where(self, cond: Any, other: Any = np.nan) -> Any:
        return self.beside_(cond, lambda x, y: x.where(y, other))

    def mask(self, cond: Any, other: Any = np.nan) -> Any:
        return self.beside_(cond, lambda x, y: x.mask(y, other))

    # --- all together -------------------------------------------------------------------------

    sum, prod, mean = _together("sum"), _together("prod"), _together("mean")
    median, std, var = _together("median"), _together("std"), _together("var")
    min, max = _together("min"), _together("max")

    # --- its parts ----------------------------------------------------------------------------

    def names_(self) -> Any:
        of_table = [] if self._table is None else list(self._table.columns)
        return of_table + [name for name in self._given if name not in of_table]

    def column_(self, name: Any) -> Any:
        """A column that is computed with."""
        if name in self._given:
            return self._given[name]
        return Column(np.asarray(self._table[name]), self.index)

    def _only_data(self) -> Any:
        if len(self._given) > 0 or self._table is None:
            raise uncovered(
                "this of a table of which some columns hold values of the program", WAY_OUT
            )
        return self._table

    def _as_column(self, value: Any) -> Any:
        column = Column(np.zeros(len(self)), self.index)
        if callable(value):
            value = value(self)
        return column + value

    def _each(self, func: Any) -> Any:
        made = {name: func(self.column_(name)) for name in self.names_()}
        return Frame(None, made, self.index)

    def beside_(self, other: Any, func: Any) -> Any:
        """An operation with what stands beside each column: a number, a column of a table alike, of an array."""
        names = self.names_()
        if is_column(other):
            raise uncovered(
                "an operation on a table and a column that is not one of arrays", WAY_OUT
            )
        if isinstance(other, Frame):
            if other.names_() != names:
                raise uncovered("an operation on tables whose columns are not the same", WAY_OUT)
            made = {name: func(self.column_(name), other.column_(name)) for name in names}
        elif np.ndim(other) > 0:
            columns = np.transpose(np.broadcast_to(other, (len(self), len(names))))
            made = {name: func(self.column_(name), columns[k]) for k, name in enumerate(names)}
        else:
            made = {name: func(self.column_(name), other) for name in names}
        return Frame(None, made, self.index)

    def together_(self, name: str, axis: Any, numeric_only: Any) -> Any:
        if len(self._given) == 0:
            return getattr(self._table, name)(axis=axis, numeric_only=numeric_only)
        names = self.names_()
        if numeric_only:
            names = [n for n in names if n in self._given or self._table[n].dtype.kind in "iufb"]
        if axis in (1, "columns"):
            rows = np.stack([self.column_(each).values for each in names], axis=1)
            options = {"ddof": 1} if name in ("std", "var") else {}
            return Column(ALONG_ROWS[name](rows, axis=1, **options), self.index)
        found = [getattr(self.column_(each), name)() for each in names]
        return Column(np.array(found), _index_of(names))


ALONG_ROWS: dict[str, Callable[..., Any]] = {
    "sum": np.nansum, "prod": np.nanprod, "mean": np.nanmean, "median": np.nanmedian, "std": np.nanstd,
    "var": np.nanvar, "min": np.nanmin, "max": np.nanmax,
}  # fmt: skip


class Places:
    """`table.loc` and `table.iloc`: a row by its label or its place, a column by its name or its place."""

    def __init__(self, frame: Any, by_name: Any) -> None:
        self.frame = frame
        self.by_name = by_name

    def __getitem__(self, key: Any) -> Any:
        frame = self.frame
        if not isinstance(key, tuple):
            names = _index_of(frame.names_())
            return Column(frame.values[self._row(key)], names)
        row, name = key
        column = frame.column_(name if self.by_name else frame.names_()[name])
        if row == slice(None):
            return column.copy()
        if isinstance(row, slice):
            if self.by_name and (row.start, row.stop, row.step) != (None, None, None):
                raise uncovered("a slice of a table by labels", WAY_OUT)
            return column.iloc[row]
        return column.values[self._row(row)]

    def __setitem__(self, key: Any, value: Any) -> None:
        row, name = key
        frame = self.frame
        name = name if self.by_name else frame.names_()[name]
        values = frame.column_(name).values.copy()
        values[row.values if is_column(row) else self._row(row)] = value
        frame[name] = values

    def _row(self, key: Any) -> Any:
        return places_of(self.frame.index, key) if self.by_name else key


def _index_of(names: Any) -> Any:
    import pandas as pd  # type: ignore[import-untyped]

    return pd.Index(names)  # type: ignore[attr-defined]


def _length(index: Any, given: Any) -> Any:
    if isinstance(index, Numbered):
        (first, *_) = given.values()
        return len(first)
    return len(index)


def frame(data: Any, index: Any = None, columns: Any = None) -> Any:
    """`pandas.DataFrame(data, index, columns)`."""
    if isinstance(data, dict):
        names = list(data) if columns is None else list(columns)
        parts = {name: data[name] for name in names}
    elif isinstance(data, (list, tuple)) and len(data) > 0 and isinstance(data[0], dict):
        names = list(data[0]) if columns is None else list(columns)
        if any(set(row) != set(data[0]) for row in data):
            raise uncovered("a table of rows that have not the same names", WAY_OUT)
        parts = {name: [row[name] for row in data] for name in names}
    elif columns is not None:
        values = np.asarray(data)
        parts = {name: values[:, k] for k, name in enumerate(list(columns))}
    else:
        raise uncovered("a table without names of columns", "Give them: `columns=[…]`.")
    return _of_parts(parts, index)


def _of_parts(parts: Any, index: Any) -> Any:
    if index is None:
        with_index = [
            part.index
            for part in parts.values()
            if hasattr(part, "index") and not isinstance(part, list)
        ]
        index = with_index[0] if len(with_index) > 0 else Numbered()
    if any(
        isinstance(part, list) and len(part) > 0 and isinstance(part[0], str)
        for part in parts.values()
    ):
        raise uncovered("a table of text beside values of the program", WAY_OUT)
    lengths = [len(part) for part in parts.values() if np.ndim(part) > 0]
    if any(length != lengths[0] for length in lengths):
        raise ValueError("All arrays must be of the same length")
    count = lengths[0] if isinstance(index, Numbered) else len(index)
    whole = Column(np.zeros(count), index)
    made = {
        name: Column(np.asarray(part) * 1.0, index)
        if isinstance(part, (list, np.ndarray))
        else whole + part
        for name, part in parts.items()
    }
    return Frame(None, made, index)


def product(table: Any, other: Any) -> Any:
    """`table @ other`, of an array: of a whole table a column."""
    values = np.asarray(table)
    if np.ndim(values) == 1:
        return values @ other
    return Column(values @ other, table.index)
