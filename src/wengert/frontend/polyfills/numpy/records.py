"""Arrays of records that a program makes, written in Python: the front end reads these instead of NumPy's."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np


class Record:
    """One record of an array: what is written to it is written to the array."""

    def __init__(self, owner: Any, index: Any):
        self.__owner__ = owner
        self.__index__ = index

    def __getitem__(self, field: Any) -> Any:
        if isinstance(field, str):
            return self.__owner__.__fields__[field][self.__index__]
        return self[list(self.__owner__.__fields__)[field]]

    def __setitem__(self, field: Any, value: Any) -> None:
        if isinstance(field, str):
            self.__owner__.__fields__[field][self.__index__] = value
        else:
            self[list(self.__owner__.__fields__)[field]] = value

    def __len__(self) -> int:
        return len(self.__owner__.__fields__)

    def __iter__(self) -> Iterator[Any]:
        for field in self.__owner__.__fields__:
            yield self[field]

    def copy(self) -> Any:
        rows = {name: np.copy(array) for name, array in self.__owner__.__fields__.items()}
        return self.__owner__.with_fields(rows)[self.__index__]

    def tolist(self) -> Any:
        return tuple(self)

    item = tolist


class NamedRecord(Record):
    """One record of a `recarray`."""

    def __init__(self, owner: Any, index: Any):
        object.__setattr__(self, "__owner__", owner)
        object.__setattr__(self, "__index__", index)

    def __getattr__(self, name: str) -> Any:
        return self[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


class Records:
    """An array of records, as an array for each field."""

    __stands_for__ = np.ndarray
    __record__ = Record

    def __init__(self, fields: Any, axes: int, dtype: Any):
        self.__fields__ = fields
        self.__axes__ = axes
        self.dtype = dtype

    def with_fields(self, fields: Any) -> Any:
        """Records of the same kind with other numbers."""
        return Records(fields, self.__axes__, self.dtype)

    @property
    def shape(self) -> Any:
        return np.shape(_first(self.__fields__))[: self.ndim]

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def ndim(self) -> int:
        return np.ndim(_first(self.__fields__)) - self.__axes__

    def __len__(self) -> int:
        return len(_first(self.__fields__))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return self.__fields__[key]
        if isinstance(key, list) and isinstance(key[0], str):
            return other_use_of_records()
        if _is_place(key, self.ndim):
            return self.__record__(self, key)
        rows = {name: array[key] for name, array in self.__fields__.items()}
        return self.with_fields(rows)

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            self.__fields__[key][...] = value
        elif isinstance(value, (Records, Record)):
            for name, array in self.__fields__.items():
                array[key] = value[name]
        elif isinstance(value, tuple):
            for array, each in zip(self.__fields__.values(), value, strict=True):
                array[key] = each
        elif isinstance(value, list):
            for k, array in enumerate(self.__fields__.values()):
                array[key] = [row[k] for row in value]
        else:
            for array in self.__fields__.values():
                array[key] = value

    def __iter__(self) -> Iterator[Any]:
        for k in range(len(self)):
            yield self.__record__(self, k)

    def copy(self) -> Any:
        rows = {name: np.copy(array) for name, array in self.__fields__.items()}
        return self.with_fields(rows)

    def sort(self, *, order: str) -> None:
        places = np.argsort(self.__fields__[order], kind="stable")
        for array in self.__fields__.values():
            array[...] = array[places]

    def view(self, cls: Any) -> Any:
        if cls is np.recarray:
            return NamedRecords(self.__fields__, self.__axes__, self.dtype)
        return other_use_of_records()

    __hash__ = None  # type: ignore[assignment]

    def _refused(self, *args: Any) -> Any:
        return other_use_of_records()

    __eq__ = __add__ = __mul__ = __getattr__ = _refused


class NamedRecords(Records):
    """`np.recarray`: fields are attributes, too."""

    __stands_for__ = np.recarray
    __record__ = NamedRecord

    def __init__(self, fields: Any, axes: int, dtype: Any):
        object.__setattr__(self, "__fields__", fields)
        object.__setattr__(self, "__axes__", axes)
        object.__setattr__(self, "dtype", dtype)

    def with_fields(self, fields: Any) -> Any:
        return NamedRecords(fields, self.__axes__, self.dtype)

    def __getattr__(self, name: str) -> Any:
        return self.__fields__[name]

    def __setattr__(self, name: str, value: Any) -> None:
        self[name] = value


def other_use_of_records() -> Any:
    """Refused wherever it is called."""


def _is_place(key: Any, ndim: int) -> bool:
    """Whether an index names one record."""
    indices = key if isinstance(key, tuple) else (key,)
    return len(indices) == ndim and all([isinstance(k, (int, np.integer)) for k in indices])  # noqa: C419


def _first(fields: Any) -> Any:
    return fields[list(fields)[0]]  # noqa: RUF015


def filled(make: Any, shape: Any, fields: Any, dtype: Any) -> Any:
    """`np.zeros` and its kin of a dtype that has fields: of each its name, class and axes."""
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    made = {name: make((*shape, *axes), dtype=cls) for name, cls, axes in fields}
    return Records(made, len(fields[0][2]), dtype)


def listed(rows: Any, fields: Any, dtype: Any) -> Any:
    """`np.array` of a list of tuples, one for each record."""
    columns = [[row[k] for row in rows] for k in range(len(fields))]
    return of_columns(columns, fields, dtype)


def of_columns(columns: Any, fields: Any, dtype: Any) -> Any:
    """Records from the values of each field."""
    made = {fields[k][0]: np.array(columns[k], dtype=fields[k][1]) for k in range(len(fields))}
    return Records(made, len(fields[0][2]), dtype)


def named(records: Any) -> Any:
    """The same records in a `recarray`."""
    return records.view(np.recarray)
