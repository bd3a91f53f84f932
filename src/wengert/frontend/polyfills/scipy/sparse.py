"""`scipy.sparse`, in Python: the front end reads these functions instead. See `sparse_matrices`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse  # pyright: ignore[reportMissingTypeStubs]
from scipy.sparse import linalg  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.sparse import sparse_solve
from ....ops.program.refusals import uncovered
from ....ops.structure import stop_gradient
from ..manifest import as_it_is, matrix_product
from ..same_names import same_names
from . import sparse_places as places
from .sparse_matrices import Matrix, Table, as_matrix, from_dense, is_of_scipy
from .sparse_storage import ALL, NONZERO, SUMS, UNKNOWN, after_conversion

# --- making matrices ---------------------------------------------------------------------------


def _of_format(by_item: bool, format: str) -> Callable[..., Any]:
    """A class of matrices of SciPy's, or of arrays, which are multiplied item by item."""

    def made(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
        return _made(arg1, shape, dtype, copy, by_item, format)

    return made


csr_matrix, csc_matrix, coo_matrix = (_of_format(False, each) for each in ("csr", "csc", "coo"))
csr_array, csc_array, coo_array = (_of_format(True, each) for each in ("csr", "csc", "coo"))


def _made(arg: Any, shape: Any, dtype: Any, copy: Any, by_item: Any, format: Any) -> Any:
    if not isinstance(arg, tuple):
        given = as_matrix(arg, by_item)
        made = given.copy() if copy else given.asformat(format)
        stores = _stored_of(arg, given, format)
        made = Matrix(made.entries, made.rows, made.cols, made.shape, by_item, format)
        made.stores = stores
        made.shared = given.shared = not copy and isinstance(arg, Matrix)
    elif len(arg) == 3:
        rows, cols, shape = as_it_is(places.in_rows, arg[1], arg[2], shape, format == "csc")
        made = Matrix(_entries(arg[0], copy), rows, cols, shape, by_item, format)
        made.stores = ALL
    elif isinstance(arg[1], (int, np.integer)):
        nowhere = np.zeros(0, int)
        made = Matrix(np.zeros(0), nowhere, nowhere, arg, by_item, format)
    else:
        rows, cols, shape = as_it_is(places.as_places, arg[1][0], arg[1][1], shape)
        made = Matrix(_entries(arg[0], copy or format != "coo"), rows, cols, shape, by_item, format)
        made.stores = ALL if format == "coo" else SUMS
    return made if dtype is None else made.astype(dtype)


def _stored_of(arg: Any, given: Matrix, format: Any) -> Any:
    """What is stored of a matrix that is made of another one, sparse or dense."""
    if isinstance(arg, Table):
        return NONZERO
    if not isinstance(arg, Matrix):
        return UNKNOWN if is_of_scipy(arg) else NONZERO
    if given.format == format:
        return given.stores
    return after_conversion(given.stores, given.format, format)


def _entries(data: Any, copy: Any) -> Any:
    """The entries, which are the array given unless SciPy copies it."""
    entries = array_of(data)
    return entries.copy() if copy else entries


def lil_matrix(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    """`scipy.sparse.lil_matrix`, `scipy.sparse.dok_matrix`."""
    return _filled(arg1, False)


def lil_array(arg1: Any, shape: Any = None, dtype: Any = None, copy: Any = False) -> Any:
    """`scipy.sparse.lil_array`, `scipy.sparse.dok_array`."""
    return _filled(arg1, True)


def _filled(arg: Any, by_item: Any) -> Any:
    return (
        Table(arg, by_item)
        if isinstance(arg, tuple)
        else Table(np.shape(arg), by_item, as_matrix(arg))
    )


def diags(
    diagonals: Any, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    """`scipy.sparse.diags`."""
    return _of_diagonals(diagonals, offsets, shape, False, format)


def diags_array(
    diagonals: Any, *, offsets: Any = 0, shape: Any = None, format: Any = None, dtype: Any = None
) -> Any:
    """`scipy.sparse.diags_array`."""
    return _of_diagonals(diagonals, offsets, shape, True, format)


def _of_diagonals(diagonals: Any, offsets: Any, shape: Any, by_item: Any, format: Any) -> Any:
    if np.ndim(offsets) == 0:
        only = diagonals if np.ndim(diagonals[0]) == 0 else diagonals[0]
        return _of_diagonals([only], [offsets], shape, by_item, format)
    if shape is None:
        size = len(np.atleast_1d(diagonals[0])) + abs(offsets[0])
        shape = (size, size)
    parts = [_diagonal(d, k, shape) for d, k in zip(diagonals, offsets, strict=True)]
    entries = np.concatenate([part[0] for part in parts])
    rows = np.concatenate([part[1] for part in parts])
    cols = np.concatenate([part[2] for part in parts])
    made = Matrix(entries, rows, cols, shape, by_item, format or "dia")
    made.stores = ALL if made.format == "dia" else NONZERO
    return made


def _diagonal(values: Any, k: Any, shape: Any) -> Any:
    rows, cols = as_it_is(places.places_on_diagonal, shape, k, ())
    x = array_of(values)
    return (np.broadcast_to(x, (len(rows),)) if np.size(x) == 1 else x), rows, cols


def spdiags(data: Any, diags: Any, m: Any = None, n: Any = None, format: Any = None) -> Any:
    """`scipy.sparse.spdiags`: diagonals that start at the column they stand in."""
    shape = m if n is None else (m, n)
    rows_of_data = np.atleast_2d(data)
    parts = []
    for k, offset in enumerate(np.atleast_1d(diags)):
        rows, cols = as_it_is(places.places_on_diagonal, shape, offset, ())
        parts.append((rows_of_data[k][cols], rows, cols))
    entries = np.concatenate([part[0] for part in parts])
    rows = np.concatenate([part[1] for part in parts])
    cols = np.concatenate([part[2] for part in parts])
    return Matrix(entries, rows, cols, shape)


def eye(m: Any, n: Any = None, k: Any = 0, dtype: Any = float, format: Any = None) -> Any:
    """`scipy.sparse.eye`."""
    return _identity((m, m if n is None else n), k, dtype, False, format)


def eye_array(m: Any, n: Any = None, *, k: Any = 0, dtype: Any = float, format: Any = None) -> Any:
    """`scipy.sparse.eye_array`."""
    return _identity((m, m if n is None else n), k, dtype, True, format)


def identity(n: Any, dtype: Any = "d", format: Any = None) -> Any:
    """`scipy.sparse.identity`."""
    return _identity((n, n), 0, dtype, False, format)


def _identity(shape: Any, k: Any, dtype: Any, by_item: Any, format: Any) -> Any:
    rows, cols = as_it_is(places.places_on_diagonal, shape, k, ())
    made = Matrix(np.ones(len(rows), dtype), rows, cols, shape, by_item, format or "dia")
    made.stores = ALL
    return made


# --- matrices of matrices -----------------------------------------------------------------------


def kron(A: Any, B: Any, format: Any = None) -> Any:
    """`scipy.sparse.kron`."""
    a, b = as_matrix(A), as_matrix(B)
    rows, cols = as_it_is(places.of_kron, a.rows, a.cols, b.rows, b.cols, b.shape)
    shape = (a.shape[0] * b.shape[0], a.shape[1] * b.shape[1])
    return Matrix(np.ravel(np.outer(a.entries, b.entries)), rows, cols, shape, a.by_item)


def kronsum(A: Any, B: Any, format: Any = None) -> Any:
    """`scipy.sparse.kronsum`."""
    a, b = as_matrix(A), as_matrix(B)
    return kron(identity(b.shape[0]), a) + kron(b, identity(a.shape[0]))


def vstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.vstack`."""
    return _joined([as_matrix(block) for block in blocks], True)


def hstack(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.hstack`."""
    return _joined([as_matrix(block) for block in blocks], False)


def _joined(blocks: Any, down: Any) -> Any:
    rows, cols, shape = as_it_is(places.beside, [(b.rows, b.cols, b.shape) for b in blocks], down)
    entries = np.concatenate([block.entries for block in blocks])
    return Matrix(entries, rows, cols, shape, blocks[0].by_item)


def block_diag(mats: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.block_diag`."""
    blocks = [as_matrix(mat) for mat in mats]
    width = sum([block.shape[1] for block in blocks])
    before = 0
    rows = []
    for block in blocks:
        wide = Matrix(
            block.entries, block.rows, block.cols + before, (block.shape[0], width), block.by_item
        )
        rows.append(wide)
        before += block.shape[1]
    return _joined(rows, True)


def bmat(blocks: Any, format: Any = None, dtype: Any = None) -> Any:
    """`scipy.sparse.bmat`, `scipy.sparse.block_array`: None is a block of zeros."""
    heights = [next(as_matrix(b).shape[0] for b in row if b is not None) for row in blocks]
    columns = range(len(blocks[0]))
    widths = [
        next(as_matrix(row[j]).shape[1] for row in blocks if row[j] is not None) for j in columns
    ]
    nowhere = np.zeros(0, int)
    rows = []
    for row, height in zip(blocks, heights, strict=True):
        filled = [
            Matrix(np.zeros(0), nowhere, nowhere, (height, width))
            if block is None
            else as_matrix(block)
            for block, width in zip(row, widths, strict=True)
        ]
        rows.append(_joined(filled, False))
    return _joined(rows, True)


def tril(A: Any, k: Any = 0, format: Any = None) -> Any:
    """`scipy.sparse.tril`."""
    return _side(as_matrix(A), k, True)


def triu(A: Any, k: Any = 0, format: Any = None) -> Any:
    """`scipy.sparse.triu`."""
    return _side(as_matrix(A), k, False)


def _side(a: Any, k: Any, lower: Any) -> Any:
    there = as_it_is(places.within, a.rows, a.cols, k, lower)
    return Matrix(a.entries[there], a.rows[there], a.cols[there], a.shape, a.by_item)


def issparse(x: Any) -> Any:
    """`scipy.sparse.issparse`."""
    return isinstance(x, (Matrix, Table, sparse.spmatrix, sparse.sparray))


# --- operators on SciPy's own matrices, which come from outside -----------------------------------


def product(matrix: Any, x: Any) -> Any:
    """`matrix @ x`, `matrix.dot(x)`."""
    return as_matrix(matrix) @ x if isinstance(x, (Matrix, Table)) else matrix_product(matrix, x)


def product_from_left(matrix: Any, x: Any) -> Any:
    """`x @ matrix`."""
    return x @ as_matrix(matrix) if isinstance(x, (Matrix, Table)) else matrix_product(x, matrix)


def times(matrix: Any, x: Any) -> Any:
    """`matrix * x`, which is a product of matrices unless x is a number."""
    if isinstance(x, (Matrix, Table)) or np.ndim(x) == 0:
        return as_matrix(matrix) * x
    return matrix_product(matrix, x)


def times_by_item(matrix: Any, x: Any) -> Any:
    """`matrix * x` of SciPy's sparse arrays, and `matrix.multiply(x)`."""
    return as_matrix(matrix).multiply(x)


def over(matrix: Any, x: Any) -> Any:
    """`matrix / x`."""
    return as_matrix(matrix) / x


def plus(matrix: Any, x: Any) -> Any:
    """`matrix + x`."""
    return as_matrix(matrix) + x


def minus(matrix: Any, x: Any) -> Any:
    """`matrix - x`."""
    return as_matrix(matrix) - x


def less(matrix: Any, x: Any) -> Any:
    """`x - matrix`."""
    return x - as_matrix(matrix)


# --- systems ------------------------------------------------------------------------------------


class Factors:
    """What `scipy.sparse.linalg.splu` gives."""

    def __init__(self, matrix: Matrix):
        self.matrix = matrix

    def solve(self, rhs: Any, trans: Any = "N") -> Any:
        """The solution of a system with the matrix, or with its transpose."""
        if trans == "N":
            return spsolve(self.matrix, rhs)
        turned = self.matrix.transpose()
        return spsolve(turned.conj() if trans == "H" else turned, rhs)


def spsolve(A: Any, b: Any, permc_spec: Any = None, use_umfpack: Any = True) -> Any:
    """`scipy.sparse.linalg.spsolve`."""
    a = as_matrix(A)
    rhs = b.toarray() if isinstance(b, Matrix) else array_of(b)
    return sparse_solve(a.entries, rhs, rows=a.rows, cols=a.cols)


def splu(A: Any) -> Any:
    """`scipy.sparse.linalg.splu`."""
    return Factors(as_matrix(A))


def factorized(A: Any) -> Any:
    """`scipy.sparse.linalg.factorized`."""
    matrix = as_matrix(A)
    return lambda b: spsolve(matrix, b)


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """`scipy.sparse.linalg.norm`."""
    return np.linalg.norm(as_matrix(x).toarray(), ord, axis)


def inv(A: Any) -> Any:
    """`scipy.sparse.linalg.inv`."""
    return from_dense(spsolve(A, np.eye(A.shape[0])))


def _iterative(solver: Any) -> Any:
    """What stands for a solver that comes near a solution: its result, with the derivative of the solution."""

    def solve(A: Any, b: Any, x0: Any = None, **options: Any) -> Any:
        if hasattr(A, "matvec"):
            raise uncovered("a system with a linear operator", "Solve with `wg.implicit`.")
        a = as_matrix(A)
        given = stop_gradient(a.entries), a.rows, a.cols, a.shape
        start = None if x0 is None else stop_gradient(x0)
        found, info = as_it_is(places.found_by, solver, given, stop_gradient(b), start, options)
        exact = spsolve(a, b)
        return found + (exact - stop_gradient(exact)), info

    return solve


_ITERATIVE = [
    "cg",
    "cgs",
    "bicg",
    "bicgstab",
    "gmres",
    "lgmres",
    "minres",
    "qmr",
    "gcrotmk",
    "tfqmr",
]

EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(sparse, globals()),
    *same_names(linalg, globals()),
    *((getattr(sparse, name), lil_matrix) for name in ("lil_matrix", "dok_matrix")),
    *((getattr(sparse, name), lil_array) for name in ("lil_array", "dok_array")),
    (sparse.block_array, bmat),
    (sparse.csr_matrix.__matmul__, product),
    (sparse.csr_matrix.__rmatmul__, product_from_left),
    (sparse.csr_matrix.dot, product),
    (sparse.csr_matrix.__mul__, times),
    (sparse.csr_matrix.__rmul__, times),
    (sparse.csr_array.__mul__, times_by_item),
    (sparse.csr_array.__rmul__, times_by_item),
    (sparse.csr_array.multiply, times_by_item),
    (sparse.csr_matrix.__truediv__, over),
    (sparse.csr_matrix.__add__, plus),
    (sparse.csr_matrix.__radd__, plus),
    (sparse.csr_matrix.__sub__, minus),
    (sparse.csr_matrix.__rsub__, less),
    *((getattr(linalg, name), _iterative(getattr(linalg, name))) for name in _ITERATIVE),
]
