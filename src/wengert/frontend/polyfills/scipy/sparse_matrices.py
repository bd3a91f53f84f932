"""SciPy's sparse matrices, in Python: the front end reads these instead.

A matrix is the vector of its entries, and where they stand; entries that stand at one place are added.
Only the entries carry derivatives. All formats are one here but those that a program fills item by item.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.sparse import sparse_product
from ....ops.program.refusals import uncovered
from ..manifest import as_it_is
from . import sparse_places as places
from .sparse_storage import NONZERO, UNKNOWN, Stored, after_conversion, after_scaling, not_followed


class Matrix(Stored):
    """A matrix of `scipy.sparse`; `by_item` of its arrays, whose `*` is no product of matrices.

    `format` is SciPy's, or "" where it is not followed. What may be another name of a matrix, or share its entries,
    is `shared`: it is not written to, and neither is the other.
    """

    def __init__(
        self,
        entries: Any,
        rows: Any,
        cols: Any,
        shape: Any,
        by_item: Any = False,
        format: Any = "",  # as SciPy has it
    ):
        self.entries = entries
        self.rows = rows
        self.cols = cols
        self.shape = shape
        self.by_item = by_item
        self.format = format
        self.shared = False
        self.stores = UNKNOWN

    __array_priority__ = 10.1  # as SciPy's matrices have it
    ndim = 2

    @property
    def dtype(self) -> Any:
        return self.entries.dtype

    @property
    def T(self) -> Any:  # noqa: N802  # as SciPy has it
        return self.transpose()

    def transpose(self) -> Any:
        """The same entries, rows and columns exchanged."""
        turned = Matrix(self.entries, self.cols, self.rows, self.shape[::-1], self.by_item)
        self.shared = turned.shared = True
        return turned

    def with_entries(self, entries: Any) -> Any:
        """Other entries at the same places."""
        made = Matrix(entries, self.rows, self.cols, self.shape, self.by_item, self.format)
        made.stores = after_scaling(self.stores)
        return made

    # --- products -------------------------------------------------------------------------

    def dot(self, other: Any) -> Any:
        """The product with a vector, a matrix or a number."""
        if isinstance(other, Matrix):
            return _product_of_sparse(self, other)
        if is_of_scipy(other):
            return _product_of_sparse(self, as_matrix(other))
        x = array_of(other)
        if np.ndim(x) == 0:
            return self.with_entries(self.entries * x)
        return sparse_product(self.entries, x, rows=self.rows, cols=self.cols, size=self.shape[0])

    __matmul__ = dot

    def __rmatmul__(self, other: Any) -> Any:
        return np.transpose(self.transpose().dot(np.transpose(other)))

    def __mul__(self, other: Any) -> Any:
        return self.multiply(other) if self.by_item else self.dot(other)

    def __rmul__(self, other: Any) -> Any:
        if np.ndim(other) == 0:
            return self.with_entries(other * self.entries)
        return self.multiply(other) if self.by_item else self.__rmatmul__(other)

    def __truediv__(self, other: Any) -> Any:
        return self.multiply(1.0 / array_of(other))

    def multiply(self, other: Any) -> Any:
        """The product item by item with a number, or with what broadcasts to this shape."""
        x = array_of(other.toarray() if isinstance(other, Matrix) else other)
        if np.ndim(x) == 0:
            return self.with_entries(self.entries * x)
        factors = np.broadcast_to(x, self.shape)
        return self.with_entries(self.entries * factors[self.rows, self.cols])

    def __pow__(self, n: Any) -> Any:
        if self.by_item:
            return self.power(n)
        product = self
        for _ in range(n - 1):
            product = product.dot(self)
        return product

    def __abs__(self) -> Any:
        return from_dense(np.abs(self.toarray()), self.by_item)

    def power(self, n: Any) -> Any:
        """The power item by item."""
        return from_dense(self.toarray() ** n, self.by_item)

    # --- sums -----------------------------------------------------------------------------

    def __neg__(self) -> Any:
        return self.with_entries(-self.entries)

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, Matrix) and not is_of_scipy(other):
            return self if np.ndim(other) == 0 and other == 0 else self.toarray() + other
        b = as_matrix(other)
        entries = np.concatenate((self.entries, b.entries))
        rows, cols = as_it_is(places.joined, self.rows, b.rows, self.cols, b.cols)
        made = Matrix(entries, rows, cols, self.shape, self.by_item, _format_of_sum(self, b))
        if made.format in ("csr", "csc") and UNKNOWN not in (self.stores, b.stores):
            made.stores = NONZERO
        return made

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return self + -(as_matrix(other) if is_of_scipy(other) else other)

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def sum(self, axis: Any = None) -> Any:
        """The sum of all entries, or along an axis: of a matrix a matrix with one row or column."""
        if axis is None:
            return np.sum(self.entries)
        matrix = self if axis in (1, -1) else self.transpose()
        sums = matrix.dot(np.ones(matrix.shape[1]))
        if self.by_item:
            return sums
        return np.reshape(sums, (-1, 1) if axis in (1, -1) else (1, -1))

    def mean(self) -> Any:
        """The mean of all items, zeros included."""
        return np.sum(self.entries) / (self.shape[0] * self.shape[1])

    def trace(self) -> Any:
        """The sum of the diagonal."""
        return np.sum(self.diagonal())

    # --- items ----------------------------------------------------------------------------

    def toarray(self) -> Any:
        """The dense matrix."""
        dense = np.zeros(self.shape, self.entries.dtype)
        np.add.at(dense, (self.rows, self.cols), self.entries)
        return dense

    todense = toarray

    def diagonal(self, k: Any = 0) -> Any:
        """The k-th diagonal."""
        there, along, length = as_it_is(places.on_diagonal, self.rows, self.cols, self.shape, k)
        found = np.zeros(length, self.entries.dtype)
        np.add.at(found, along, self.entries[there])
        return found

    def __getitem__(self, key: Any) -> Any:
        row, col = key if isinstance(key, tuple) else (key, slice(None))
        if _is_number(row) and _is_number(col):
            there = as_it_is(places.found_at, self.rows, self.cols, self.shape, row, col)
            return np.sum(self.entries[there])
        part = as_it_is(places.part_of, self.rows, self.cols, self.shape, row, col)
        there, rows, cols, shape = part
        return Matrix(self.entries[there], rows, cols, shape, self.by_item)

    def __setitem__(self, key: Any, value: Any) -> None:
        row, col = key if isinstance(key, tuple) else (key, slice(None))
        rows, cols = as_it_is(places.places_of, self.shape, row, col)
        self._put(rows, cols, value)

    def setdiag(self, values: Any, k: Any = 0) -> None:
        """Set the k-th diagonal."""
        rows, cols = as_it_is(places.places_on_diagonal, self.shape, k, np.shape(values))
        self._put(rows, cols, values)

    def _put(self, rows: Any, cols: Any, value: Any) -> None:
        """Set the items at some places."""
        if self.shared:
            raise uncovered(
                "a write to a sparse matrix that may share its entries with another one",
                "Write to `.copy()` of it.",
            )
        values = value.toarray() if isinstance(value, Matrix) else array_of(value)
        new = np.ravel(np.broadcast_to(values, np.shape(rows)))
        left = as_it_is(places.left_beside, self.rows, self.cols, rows, cols)
        self.entries = np.concatenate((self.entries[left], new))
        self.rows, self.cols = as_it_is(
            places.joined, self.rows[left], np.ravel(rows), self.cols[left], np.ravel(cols)
        )
        self.stores = UNKNOWN

    # --- formats --------------------------------------------------------------------------

    def copy(self) -> Any:
        """A matrix of its own."""
        made = self.with_entries(self.entries.copy())
        made.stores = self.stores
        return made

    def tocsr(self) -> Any:
        return self.asformat("csr")

    def tocsc(self) -> Any:
        return self.asformat("csc")

    def tocoo(self) -> Any:
        return self.asformat("coo")

    def todia(self) -> Any:
        return self.asformat("dia")

    def tolil(self) -> Any:
        return Table(self.shape, self.by_item, self)

    todok = tolil

    def asformat(self, format: Any) -> Any:  # as SciPy has it
        """The matrix itself where it has that format, else another one."""
        if self.format == format:
            return self
        made = self.copy()
        made.format = format
        made.stores = after_conversion(self.stores, self.format, format)
        if self.format == "":  # it may have that format
            self.shared = made.shared = True
        return made

    def astype(self, dtype: Any) -> Any:
        return self.with_entries(self.entries.astype(dtype))

    def conj(self) -> Any:
        return self.with_entries(np.conj(self.entries))

    conjugate = conj

    def eliminate_zeros(self) -> None:
        """Nothing: zeros are kept where they have a derivative; of `sum_duplicates`, what stands at one place is
        added when it is used; of `sort_indices`, entries have no order.
        """

    sum_duplicates = sort_indices = eliminate_zeros

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"`{name}` of a sparse matrix is not covered in a function that is differentiated"
        )


class Table:
    """A matrix that a program fills item by item: `lil_matrix`, `dok_matrix`."""

    def __init__(self, shape: Any, by_item: Any = False, given: Any = None):
        self.shape = shape
        self.by_item = by_item
        self.items: dict[tuple[int, int], Any] = {}
        if given is not None:
            for k in range(len(given.rows)):
                place = as_it_is(places.place_at, given.rows, given.cols, k)
                self.items[place] = self.items.get(place, 0.0) + given.entries[k]

    def __getitem__(self, key: Any) -> Any:
        row, col = key if isinstance(key, tuple) else (key, slice(None))
        if _is_number(row) and _is_number(col):
            return self.items.get(as_it_is(places.place_of, self.shape, row, col), 0.0)
        return self.tocsr()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        row, col = key if isinstance(key, tuple) else (key, slice(None))
        if _is_number(row) and _is_number(col):
            self.items[as_it_is(places.place_of, self.shape, row, col)] = value
        else:
            rows, cols = as_it_is(places.places_of, self.shape, row, col)
            self._put(rows, cols, value)

    def __delitem__(self, key: Any) -> None:
        row, col = key
        del self.items[as_it_is(places.place_of, self.shape, row, col)]

    def setdiag(self, values: Any, k: Any = 0) -> None:
        """Set the k-th diagonal."""
        rows, cols = as_it_is(places.places_on_diagonal, self.shape, k, np.shape(values))
        self._put(rows, cols, values)

    def _put(self, rows: Any, cols: Any, value: Any) -> None:
        values = np.ravel(np.broadcast_to(array_of(value), np.shape(rows)))
        for k in range(len(values)):
            self.items[as_it_is(places.place_at, np.ravel(rows), np.ravel(cols), k)] = values[k]

    def tocsr(self) -> Any:
        """The matrix as it is now."""
        rows, cols = as_it_is(places.places_in, list(self.items))
        values = np.array(list(self.items.values())) * 1.0
        made = Matrix(values, rows, cols, self.shape, self.by_item, "csr")
        made.stores = NONZERO
        return made

    def tolil(self) -> Any:
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "data" or name == "rows":  # noqa: PLR1714  # lists of the rows to SciPy
            return not_followed()
        return getattr(self.tocsr(), name)

    def __matmul__(self, other: Any) -> Any:
        return self.tocsr() @ other

    def __mul__(self, other: Any) -> Any:
        return self.tocsr() * other

    def __rmul__(self, other: Any) -> Any:
        return other * self.tocsr()

    def __add__(self, other: Any) -> Any:
        return self.tocsr() + other

    def __sub__(self, other: Any) -> Any:
        return self.tocsr() - other


def as_matrix(x: Any, by_item: Any = False) -> Matrix:
    """A matrix that may be one of SciPy's, or a dense one."""
    if isinstance(x, Matrix):
        return x
    if isinstance(x, Table):
        return x.tocsr()
    if is_of_scipy(x):
        entries, rows, cols, shape, by_item = as_it_is(places.parts_of, x)
        return Matrix(entries, rows, cols, shape, by_item)
    return from_dense(x, by_item)


def from_dense(x: Any, by_item: Any = False) -> Matrix:
    """A matrix with all items of a dense one: also a zero may have a derivative."""
    dense = array_of(x)
    rows, cols = as_it_is(places.all_places, np.shape(dense))
    return Matrix(dense.ravel() * 1.0, rows, cols, np.shape(dense), by_item)


def _product_of_sparse(a: Matrix, b: Matrix) -> Matrix:
    left, right, rows, cols = as_it_is(places.meeting, a.rows, a.cols, b.rows, b.cols)
    entries = a.entries[left] * b.entries[right]
    return Matrix(entries, rows, cols, (a.shape[0], b.shape[1]), a.by_item)


def _format_of_sum(a: Matrix, b: Matrix) -> Any:
    if a.format in ("dia", "coo"):
        return "dia" if a.format == b.format == "dia" else "csr"
    return a.format


def is_of_scipy(x: Any) -> bool:
    """Whether this is one of SciPy's own matrices, or one that is filled item by item."""
    return isinstance(x, Table) or (not isinstance(x, Matrix) and hasattr(x, "tocsr"))


def _is_number(x: Any) -> bool:
    """Whether this is an index of one row or column."""
    return isinstance(x, (int, np.integer))
