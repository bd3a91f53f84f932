"""What SciPy stores of a sparse matrix that a program makes: `data`, `indices`, `indptr`, read and changed."""

import numpy as np
import pytest
from differences import agree
from error_texts import refusal, says
from scipy import sparse
from standing_alone import alone

import wengert as wg


def dense(x):
    return np.array([[x, 0.0, 1.0], [0.0, 2 * x, 0.0], [3.0, 0.0, x]])


def product(matrix, v):
    found = np.zeros(matrix.shape[0])
    for i in range(matrix.shape[0]):
        for k in range(matrix.indptr[i], matrix.indptr[i + 1]):
            found[i] += matrix.data[k] * v[matrix.indices[k]]
    return found


def product_by_hand(x):
    matrix = sparse.csr_matrix(dense(x))
    return product(matrix, np.array([1.0, x, 2.0])).sum() + matrix.nnz * x + matrix.data.mean()


def columns_by_hand(x):
    matrix = sparse.csc_matrix(dense(x))
    total = 0.0
    for j in range(3):
        for k in range(matrix.indptr[j], matrix.indptr[j + 1]):
            total += matrix.data[k] * (matrix.indices[k] + 1) * (j + 2) * x
    return total


def filled_item_by_item(x):
    table = sparse.lil_matrix((3, 3))
    for i in range(3):
        table[i, i] = x * (i + 1)
    table[0, 2] = x * x
    matrix = table.tocsr()
    matrix.data *= 2
    return matrix.data.sum() + matrix.nnz * x + (matrix @ np.ones(3))[0] * matrix[0, 2]


def entries_that_stand_at_one_place(x):
    triples = sparse.coo_matrix(([x, 2 * x, 3.0, x], ([0, 1, 2, 0], [1, 2, 0, 1])), shape=(3, 3))
    rows = triples.tocsr()
    places = zip(triples.data, triples.row, triples.col, strict=True)
    total = sum(entry * (i + 1) * (j + 1) for entry, i, j in places)
    counted = triples.nnz * x + rows.nnz * x * x
    return total + counted + rows.data[0] * rows.indices[1] + product(rows, np.ones(3))[0]


def arrays_of_the_program(x):
    data = np.array([x, 2 * x, 3.0])
    matrix = sparse.csr_matrix((data, np.array([0, 2, 1]), np.array([0, 2, 2, 3])), shape=(3, 3))
    matrix.data[1] = x * x
    before = data.sum()
    matrix.data = matrix.data * 2
    return matrix.toarray().sum() * matrix.indptr[1] + (matrix @ np.ones(3))[0] + before


def gauss_seidel(x):
    matrix = sparse.diags([[4.0 + x] * 4, [-1.0] * 3, [-x] * 3], [0, 1, -1], format="csr")
    u = np.zeros(4)
    for _ in range(3):
        for i in range(4):
            rest, pivot = 1.0, 0.0
            for k in range(matrix.indptr[i], matrix.indptr[i + 1]):
                if matrix.indices[k] == i:
                    pivot = matrix.data[k]
                else:
                    rest -= matrix.data[k] * u[matrix.indices[k]]
            u[i] = rest / pivot
    return u @ u


def functions_of_the_entries(x):
    matrix = sparse.csr_matrix(([x, 2 * x, 3.0], ([0, 1, 2], [1, 2, 0])), shape=(3, 3))
    matrix.data = np.sin(matrix.data)
    other = matrix.copy()
    other.data **= 2
    return matrix.sum() * other.sum() + (2 * matrix).data.sum() + matrix.nnz


def sums_lose_what_cancels(x):
    other = sparse.csr_matrix(([-x, 1.0], ([0, 2], [0, 1])), shape=(3, 3))
    total = sparse.csr_matrix(dense(x)) + other
    return total.nnz * x + (total.data * total.indices).sum()


PROGRAMS = [
    product_by_hand,
    columns_by_hand,
    filled_item_by_item,
    entries_that_stand_at_one_place,
    arrays_of_the_program,
    gauss_seidel,
    functions_of_the_entries,
    sums_lose_what_cancels,
]


@pytest.mark.parametrize("f", PROGRAMS)
def test_it_is_what_scipy_stores(f):
    agree(f, 0.7)


def test_the_source_stands_alone():
    expected = wg.grad(filled_item_by_item)(0.7)
    assert alone(wg.grad(filled_item_by_item))(0.7) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    "stored",
    [
        lambda matrix: matrix.T.data,
        lambda matrix: (matrix @ matrix).indices,
        lambda matrix: matrix.tolil().data[0],
        lambda matrix: (matrix @ matrix).nnz,
    ],
)
def test_what_is_not_followed_is_refused(stored):
    def f(x):
        return np.sum(stored(sparse.csr_matrix(dense(x)))) * x

    error = refusal("WG101", NotImplementedError, lambda: wg.gradient(f, 0.7))
    says(error, "what SciPy stores of this sparse matrix", "`csr`", "`.copy()`")
