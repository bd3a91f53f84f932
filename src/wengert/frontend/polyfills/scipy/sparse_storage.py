"""What SciPy stores of a sparse matrix, `data`, `indices` and `indptr`, in Python: the front end reads this instead."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops.program.refusals import uncovered
from ..manifest import as_it_is
from . import sparse_places as places

ALL, SUMS, NONZERO, UNKNOWN = "all", "sums", "nonzero", ""
"""All entries as they stand; the sums of those at one place, in order; of these the others than zero; not followed."""


class Stored:
    """The entries of a matrix, as far as it is followed which of them SciPy stores.

    Zeros are entries to us, since they may have a derivative; they are left out when a program looks at what is
    stored, where SciPy has left them out before.
    """

    entries: Any
    rows: Any
    cols: Any
    shape: Any
    format: Any
    shared: Any
    stores: Any

    def settle(self) -> None:
        """Have the entries be those that SciPy stores, in its order."""
        if self.stores == ALL:
            return
        if self.stores == UNKNOWN or self.shared:
            not_followed()
        by_columns = self.format == "csc"
        group, rows, cols = as_it_is(places.in_order, self.rows, self.cols, by_columns)
        entries = np.zeros(len(rows), self.entries.dtype)
        np.add.at(entries, group, self.entries)
        there = np.nonzero(entries)[0] if self.stores == NONZERO else slice(None)
        self.entries, self.rows, self.cols = entries[there], rows[there], cols[there]
        self.stores = ALL

    @property
    def nnz(self) -> Any:
        """How many entries SciPy stores."""
        self.settle()
        return len(self.rows)

    @property
    def data(self) -> Any:
        """The entries, which may be written to."""
        self._of_format("csr", "csc", "coo")
        self.shared = True
        return self.entries

    @data.setter
    def data(self, entries: Any) -> None:
        self._of_format("csr", "csc", "coo")
        self.entries = entries

    @property
    def row(self) -> Any:
        self._of_format("coo", "coo", "coo")
        return self.rows

    @property
    def col(self) -> Any:
        self._of_format("coo", "coo", "coo")
        return self.cols

    @property
    def indices(self) -> Any:
        self._of_format("csr", "csc", "csc")
        return self.cols if self.format == "csr" else self.rows

    @property
    def indptr(self) -> Any:
        self._of_format("csr", "csc", "csc")
        by_columns = self.format == "csc"
        along, size = (self.cols, self.shape[1]) if by_columns else (self.rows, self.shape[0])
        return as_it_is(places.starts, along, size)

    def _of_format(self, first: str, second: str, third: str) -> None:
        if self.format != first:
            if self.format != second:
                if self.format != third:
                    not_followed()
        self.settle()


def after_scaling(stores: str) -> str:
    """What is stored of a matrix whose entries are those of another one times a number."""
    return UNKNOWN if stores == NONZERO else stores


def after_conversion(stores: str, format: str, other: str) -> str:  # as SciPy has it
    """What is stored of a matrix in another format."""
    if format == "coo" and stores == ALL:
        return SUMS
    return (
        stores
        if format in ("csr", "csc") and other in ("csr", "csc") and stores == SUMS
        else UNKNOWN
    )


def not_followed() -> Any:
    """Refused wherever it is called."""
    raise uncovered(
        "what SciPy stores of this sparse matrix",
        "Ask a matrix for it that is made in `csr`, `csc` or `coo` format of entries and places; use `.copy()`.",
    )
