"""Sparse matrices of SciPy that a program makes of what has a derivative: products, parts and systems."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from error_texts import refusal, says
from scipy import sparse
from scipy.sparse import linalg

import wengert as wg

N = 5
X = np.array([0.4, 0.9, 1.3, 0.7, 1.1])
B = np.cos(np.arange(N))
LAPLACIAN = sparse.diags([np.ones(N - 1), np.full(N, -2.0), np.ones(N - 1)], [-1, 0, 1]).tocsr()
DENSE = LAPLACIAN.toarray()
ARRAY = sparse.csr_array(LAPLACIAN)
RECTANGLE = sparse.csc_matrix(np.arange(2.0 * N).reshape(2, N) % 3)

PROGRAMS: dict[str, Callable[..., Any]] = {}


def program(function: Callable[..., Any]) -> Callable[..., Any]:
    PROGRAMS[function.__name__] = function
    return function


@program
def diffusion_in_layers(x):
    """An implicit step of the heat equation whose conductivity is what is looked for."""
    between = 2.0 * x[:-1] * x[1:] / (x[:-1] + x[1:])
    main = np.zeros(len(x))
    main[:-1] += between
    main[1:] += between
    stiffness = sparse.diags([-between, main + 0.1, -between], [-1, 0, 1], format="csc")
    u = B.copy()
    for _ in range(3):
        u = linalg.spsolve(sparse.eye(len(x)) + 0.5 * stiffness, u)
    return u


@program
def assembled_from_elements(x):
    rows, cols, values = [], [], []
    for e in range(len(x) - 1):
        local = x[e] * np.array([[1.0, -1.0], [-1.0, 1.0]]) + x[e] ** 2 * np.eye(2) / 6
        for a in range(2):
            for b in range(2):
                rows.append(e + a)
                cols.append(e + b)
                values.append(local[a, b])
    matrix = sparse.coo_matrix((values, (rows, cols)), shape=(len(x), len(x))).tocsr()
    free = np.arange(1, len(x))
    return linalg.spsolve(matrix[free][:, free], B[free])


@program
def filled_item_by_item(x):
    matrix = sparse.lil_matrix((len(x), len(x)))
    for i in range(len(x)):
        matrix[i, i] = 2.0 + x[i]
        if i > 0:
            matrix[i, i - 1] = -x[i]
            matrix[i - 1, i] += -0.5 * x[i]
    matrix[-1, :] = 0.0
    matrix[-1, -1] = x[0]
    return linalg.spsolve(matrix.tocsc(), B)


@program
def scaled_matrices_from_outside(x):
    matrix = (
        LAPLACIAN * x[0]
        + x[1] * LAPLACIAN.T
        - LAPLACIAN / (1.0 + x[2])
        + x[3] * RECTANGLE.T @ RECTANGLE
    )
    return matrix @ x + B @ matrix - (-matrix).dot(B)


@program
def by_columns(x):
    matrix = sparse.csc_matrix((x, np.array([0, 2, 1, 4, 3]), np.arange(6)), shape=(5, 5))
    return matrix @ (matrix.T @ B) + matrix.transpose() @ np.sin(x)


@program
def by_rows(x):
    matrix = sparse.csr_matrix((x[:4], [0, 2, 1, 1], [0, 1, 3, 4]))
    return matrix @ x[:3]


@program
def dense_that_becomes_sparse(x):
    return (sparse.csr_matrix(np.outer(x, B)) @ sparse.csc_matrix(DENSE * x)).toarray() @ B


@program
def item_by_item(x):
    a = sparse.csr_array(sparse.diags(x)) + 2.0 * ARRAY
    b = a.multiply(np.outer(B, x)) + a * np.arange(N)
    return b @ x + b.sum(axis=0) + a.diagonal() * a.trace() + b.sum() * np.ones(N)


@program
def blocks(x):
    k = sparse.diags(x) + LAPLACIAN
    b = sparse.csr_matrix(x[None, :] ** 2)
    whole = sparse.bmat([[k, b.T], [b, None]], format="csc")
    return linalg.splu(whole).solve(np.append(B, x[0]))


@program
def products_of_kronecker(x):
    small = sparse.csr_matrix(np.array([[x[0], 1.0], [0.5, x[1]]]))
    grid = sparse.kron(sparse.identity(2), small) + sparse.kron(small, sparse.eye(2))
    return linalg.spsolve(grid.tocsc(), x[:4]) + sparse.kronsum(small, small) @ x[1:]


@program
def stacks(x):
    a, b = sparse.diags(x), sparse.diags([x[1:]], [1], shape=(N, N))
    return (
        sparse.vstack([a, b]) @ x
        + sparse.block_diag((a, b)) @ np.append(x, B)
        + sparse.hstack([a, b]) @ np.append(B, x).repeat(1) @ np.ones(N)
    )


@program
def sides(x):
    full = sparse.csr_matrix(np.outer(x, B) + 3.0 * np.eye(N))
    return linalg.spsolve(sparse.tril(full, format="csr"), x) + sparse.triu(full, 1) @ x


@program
def near_solutions(x):
    matrix = sparse.diags(2.0 + x) - 0.5 * LAPLACIAN
    found, info = linalg.cg(matrix, x * B, rtol=1e-13)
    other, _ = linalg.gmres(matrix.tocsr(), B, rtol=1e-13, atol=0.0)
    return found + other * (1 + info)


@program
def transposed_systems(x):
    matrix = sparse.spdiags([x, 0.3 * x, B], [0, 1, -1], N, N).tocsc()
    return linalg.splu(matrix).solve(x, "T") + linalg.factorized(matrix)(B)


@program
def several_right_hand_sides(x):
    matrix = (sparse.diags(1.0 + x) - LAPLACIAN).tocsc()
    return (linalg.spsolve(matrix, np.outer(B, x)) ** 2).sum(axis=1)


@program
def parts(x):
    matrix = sparse.diags([x, x[1:] * 2], [0, 1]).tocsr()
    middle = matrix[1:-1, 1:-1]
    return middle @ x[:3] * matrix[1, 2] + matrix[np.array([0, 2, 4])] @ x - matrix[2].sum()


@program
def newton_with_its_matrix(x):
    u = np.zeros(len(x))
    for _ in range(50):
        residual = LAPLACIAN @ u - x * np.exp(u) * 0.1 + B * 0.05
        step = linalg.spsolve((LAPLACIAN - sparse.diags(0.1 * x * np.exp(u))).tocsc(), residual)
        u = u - step
        if np.max(np.abs(step)) < 1e-12:
            break
    return u


@program
def complex_entries(x):
    matrix = sparse.diags(1j * x + 2.0) + (0.3 + 0.1j) * LAPLACIAN
    waves = linalg.spsolve(matrix.tocsc(), B + 0.5j * x)
    return np.abs(waves) ** 2 + np.real(matrix @ waves)


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(name):
    f = PROGRAMS[name]
    y, _ = wg.pullback(f, X)
    np.testing.assert_allclose(y, f(X.copy()), rtol=1e-10)
    weights = 1.0 + np.arange(np.size(y)).reshape(np.shape(y)) / 3
    weighed = lambda x: np.sum(weights * f(x))
    wg.testing.check_gradient(weighed, X, rtol=2e-5)
    slope = wg.grad(weighed)(X)
    _, push = wg.pushforward(weighed, X)
    np.testing.assert_allclose(push(B), slope @ B, rtol=1e-9)


@pytest.mark.parametrize(
    "name", ["diffusion_in_layers", "filled_item_by_item", "item_by_item", "complex_entries"]
)
def test_second_derivatives(name):
    slopes = wg.grad(lambda x: np.sum(PROGRAMS[name](x) ** 2))
    wg.testing.check_gradient(lambda x: np.sum(B * slopes(x)), X, rtol=2e-5)


def test_questions():
    def f(x):
        matrix = sparse.diags(x)
        known = sparse.issparse(matrix) and not sparse.issparse(x) and sparse.issparse(LAPLACIAN)
        return matrix.sum() * matrix.shape[0] * known * matrix.nnz

    np.testing.assert_allclose(wg.grad(f)(X), np.full(N, 25.0))


def test_what_is_not_covered_is_refused_at_its_line():
    with pytest.raises(
        AttributeError, match="`getnnz` of a sparse matrix is not covered"
    ) as caught:
        wg.grad(lambda x: sparse.diags(x).getnnz() * x[0])(X)
    assert caught.traceback[-1].path == Path(__file__)


def test_a_singular_matrix_warns_as_scipy_does():
    with pytest.warns(linalg.MatrixRankWarning):
        wg.grad(lambda x: linalg.spsolve(sparse.diags(x).tocsc(), B).sum())(0.0 * X)


# --- what shares memory with what -------------------------------------------------------------


def entries_changed_afterwards(x):
    values = x * 1.0
    places = (np.arange(N), np.arange(N))
    copied, shared = sparse.csr_matrix((values, places)), sparse.coo_matrix((values, places))
    also_copied = shared.tocsr()
    values[0] = 9.0 * x[1]
    return copied @ x + 2.0 * (shared @ x) + 3.0 * (also_copied @ x)


def dense_changed_afterwards(x):
    dense = np.outer(x, x)
    matrix = sparse.csr_matrix(dense)
    dense[0, 0] = 7.0 * x[2]
    return matrix @ x


def one_matrix_under_two_names(x):
    matrix = sparse.csr_matrix(np.outer(x, x))
    same = matrix.tocsr()
    same[0, 0] = 5.0 * x[1]
    table = sparse.lil_matrix((N, N))
    again = table.tolil()
    again[1, 1] = x[0]
    return matrix @ x + table.tocsr() @ x


def boundary_conditions(x):
    matrix = sparse.coo_matrix((x * 1.0, (np.arange(N), np.arange(N)))).tocsr()
    before = matrix.copy()
    matrix[0, :] = 0.0
    matrix[0, 0] = x[2]
    return matrix @ x + before @ B


def powers_and_sizes(x):
    matrix = sparse.csr_matrix(np.outer(x, B))
    return (matrix**3) @ x + (sparse.csr_array(matrix) ** 2) @ x + abs(matrix) @ x


def sum_that_is_written_to(x):
    matrix = (sparse.diags(x) + sparse.eye(N)).tocsr()
    matrix[0, :] = 0.0
    matrix[0, 0] = x[1]
    return matrix @ x


@pytest.mark.filterwarnings("ignore:Changing the sparsity structure")
@pytest.mark.parametrize(
    "f",
    [
        sum_that_is_written_to,
        entries_changed_afterwards,
        dense_changed_afterwards,
        one_matrix_under_two_names,
        boundary_conditions,
        powers_and_sizes,
    ],
)
def test_memory_is_shared_where_scipy_shares_it(f):
    np.testing.assert_allclose(wg.pullback(f, X)[0], f(X.copy()), rtol=1e-12)
    wg.testing.check_gradient(lambda x: np.sum(np.cos(np.arange(N)) * f(x)), X, rtol=2e-5)


@pytest.mark.parametrize(
    "other", [lambda matrix: matrix.T, lambda matrix: (matrix @ matrix).tocsr()]
)
def test_what_may_be_shared_is_not_written_to(other):
    def f(x):
        part = other(sparse.csr_matrix(np.outer(x, x)))
        part[0, 0] = x[1]
        return part.sum()

    error = refusal("WG101", NotImplementedError, lambda: wg.grad(f)(X))
    says(
        error, "a write to a sparse matrix that may share its entries", "Write to `.copy()` of it."
    )
