"""Where the entries of sparse matrices stand: whole numbers, which carry no derivatives.

These functions run as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....runtime.refusals import uncovered

Shape = tuple[int, int]


def parts_of(x: Any) -> tuple[Any, ...]:
    """Entries, rows, columns, shape, and whether it is an array, of one of SciPy's matrices."""
    coo = x.tocoo()
    entries = coo.data if coo.data.dtype.kind in "fc" else coo.data.astype(float)
    return entries, coo.row, coo.col, x.shape, "array" in type(x).__name__


def joined(rows: Any, more_rows: Any, cols: Any, more_cols: Any) -> tuple[Any, Any]:
    """The places of two matrices."""
    return np.concatenate((rows, more_rows)), np.concatenate((cols, more_cols))


def all_places(shape: Shape) -> tuple[Any, Any]:
    """All places of a dense matrix."""
    rows, cols = np.indices(shape)
    return rows.ravel(), cols.ravel()


def place_of(shape: Shape, row: int, col: int) -> tuple[int, int]:
    """The place that two numbers lead to, which may count from the end."""
    return range(shape[0])[row], range(shape[1])[col]


def place_at(rows: Any, cols: Any, k: int) -> tuple[int, int]:
    """The k-th of some places."""
    return int(rows[k]), int(cols[k])


def places_in(items: list[tuple[int, int]]) -> tuple[Any, Any]:
    """The rows and columns of some places."""
    pairs = np.array(items, int).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1]


def places_of(shape: Shape, row: Any, col: Any) -> tuple[Any, Any]:
    """The places that indices lead to, in the shape of what is written there."""
    rows, cols = np.arange(shape[0])[row], np.arange(shape[1])[col]
    if (isinstance(row, slice) or isinstance(col, slice)) and np.ndim(rows) == 1 == np.ndim(cols):
        rows, cols = rows[:, None], cols[None, :]
    rows, cols = np.broadcast_arrays(rows, cols)
    return rows, cols


def on_diagonal(rows: Any, cols: Any, shape: Shape, k: int) -> tuple[Any, Any, int]:
    """The numbers of the entries on the k-th diagonal, where they are on it, and its length."""
    there = np.flatnonzero(cols - rows == k)
    return there, rows[there] + min(k, 0), _length_of_diagonal(shape, k)


def places_on_diagonal(shape: Shape, k: int, given: tuple[int, ...]) -> tuple[Any, Any]:
    """The places of the k-th diagonal, or of as many as there are values."""
    length = _length_of_diagonal(shape, k)
    along = np.arange(min(length, given[0]) if given else length)
    return along - min(k, 0), along + max(k, 0)


def _length_of_diagonal(shape: Shape, k: int) -> int:
    return max(0, min(shape[0] + min(k, 0), shape[1] - max(k, 0)))


def found_at(rows: Any, cols: Any, shape: Shape, row: int, col: int) -> Any:
    """The numbers of the entries at one place."""
    row, col = place_of(shape, row, col)
    return np.flatnonzero((rows == row) & (cols == col))


def left_beside(rows: Any, cols: Any, hit_rows: Any, hit_cols: Any) -> Any:
    """The numbers of the entries that are at none of some places."""
    width = 1 + max(np.max(cols, initial=0), np.max(hit_cols, initial=0))
    return np.flatnonzero(~np.isin(rows * width + cols, hit_rows * width + hit_cols))


def part_of(rows: Any, cols: Any, shape: Shape, row: Any, col: Any) -> tuple[Any, ...]:
    """The numbers of the entries of a part, their rows and columns there, and its shape."""
    new_rows, height = _new_places(shape[0], row)
    new_cols, width = _new_places(shape[1], col)
    there = np.flatnonzero((new_rows[rows] >= 0) & (new_cols[cols] >= 0))
    return there, new_rows[rows[there]], new_cols[cols[there]], (height, width)


def _new_places(size: int, key: Any) -> tuple[Any, int]:
    """Where each row of a matrix is in a part of it, −1 where it is not; and how many the part has."""
    chosen = np.atleast_1d(np.arange(size)[np.asarray(key) if isinstance(key, list) else key])
    if len(np.unique(chosen)) < len(chosen):
        raise uncovered(
            "a part of a sparse matrix that has one of its rows twice",
            "Take parts, and `vstack` them.",
        )
    places = np.full(size, -1)
    places[chosen] = np.arange(len(chosen))
    return places, len(chosen)


def meeting(a_rows: Any, a_cols: Any, b_rows: Any, b_cols: Any) -> tuple[Any, ...]:
    """The pairs of entries that meet in a product, and where their products stand."""
    order = np.argsort(b_rows, kind="stable")
    sorted_rows = b_rows[order]
    first = np.searchsorted(sorted_rows, a_cols, "left")
    counts = np.searchsorted(sorted_rows, a_cols, "right") - first
    left = np.repeat(np.arange(len(a_rows)), counts)
    starts = np.repeat(first - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
    right = order[starts + np.arange(len(left))]
    return left, right, a_rows[left], b_cols[right]


def in_order(rows: Any, cols: Any, by_columns: bool) -> tuple[Any, Any, Any]:
    """To which place of a row-wise order each entry belongs, or of a column-wise one, and these places."""
    first, second = (cols, rows) if by_columns else (rows, cols)
    pairs = np.stack((first, second), axis=1).reshape(-1, 2)
    places, group = np.unique(pairs, axis=0, return_inverse=True)
    first, second = places[:, 0], places[:, 1]
    return (group.ravel(), second, first) if by_columns else (group.ravel(), first, second)


def starts(along: Any, size: int) -> Any:
    """Where each row, or column, starts among entries that are in order."""
    return np.concatenate(([0], np.cumsum(np.bincount(along, minlength=size))))


def in_rows(indices: Any, indptr: Any, shape: Shape | None, by_columns: bool) -> tuple[Any, ...]:
    """Rows, columns and shape of what `csr_matrix` is given, or `csc_matrix`, if `by_columns`."""
    other = np.asarray(indices)
    own = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    if shape is None:
        own_length, length = len(indptr) - 1, int(np.max(other, initial=-1)) + 1
        shape = (length, own_length) if by_columns else (own_length, length)
    return (other, own, shape) if by_columns else (own, other, shape)


def as_places(rows: Any, cols: Any, shape: Shape | None) -> tuple[Any, ...]:
    """Rows, columns and shape of what `coo_matrix` is given."""
    rows, cols = np.asarray(rows).astype(int), np.asarray(cols).astype(int)
    if shape is None:
        shape = int(np.max(rows, initial=-1)) + 1, int(np.max(cols, initial=-1)) + 1
    return rows, cols, shape


def beside(parts: list[tuple[Any, Any, Shape]], down: bool) -> tuple[Any, ...]:
    """Rows, columns and shape of matrices below each other, or one after the other."""
    along = 0 if down else 1
    starts = np.cumsum([0, *(shape[along] for *_, shape in parts)])
    rows = np.concatenate(
        [r + (s if down else 0) for (r, _, _), s in zip(parts, starts, strict=False)]
    )
    cols = np.concatenate(
        [c + (0 if down else s) for (_, c, _), s in zip(parts, starts, strict=False)]
    )
    across = parts[0][2][1 - along]
    return rows, cols, (int(starts[-1]), across) if down else (across, int(starts[-1]))


def of_kron(a_rows: Any, a_cols: Any, b_rows: Any, b_cols: Any, shape: Shape) -> tuple[Any, Any]:
    """Rows and columns of a Kronecker product, whose second factor has that shape."""
    rows = (a_rows[:, None] * shape[0] + b_rows).ravel()
    cols = (a_cols[:, None] * shape[1] + b_cols).ravel()
    return rows, cols


def within(rows: Any, cols: Any, k: int, lower: bool) -> Any:
    """The numbers of the entries on one side of the k-th diagonal, or on it."""
    return np.flatnonzero(cols - rows <= k if lower else cols - rows >= k)


def found_by(solver: Any, given: tuple[Any, ...], b: Any, start: Any, options: Any) -> Any:
    """What a solver finds for a matrix with some entries, rows, columns and shape."""
    from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]

    entries, rows, cols, shape = given
    matrix = sparse.csr_matrix((entries, (rows, cols)), shape=shape)
    return solver(matrix, b, start, **options)
