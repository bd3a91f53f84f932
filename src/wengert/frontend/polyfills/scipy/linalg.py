"""SciPy's linear algebra in terms of NumPy's, which has rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg  # pyright: ignore[reportMissingTypeStubs]

from ....ops.arrays.creation import gather as array_of
from ....ops.arrays.factorisations import svdvals
from ....ops.arrays.shape import matrix_transpose
from ....ops.program.refusals import FORMULA, uncovered
from ..same_names import same_names


def det(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """`scipy.linalg.det`."""
    return np.linalg.det(a)


def inv(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """`scipy.linalg.inv`."""
    return np.linalg.inv(a)


def norm(
    a: Any, ord: Any = None, axis: Any = None, keepdims: Any = False, check_finite: Any = True
) -> Any:
    """`scipy.linalg.norm`."""
    return np.linalg.norm(a, ord, axis, keepdims)


def solve(
    a: Any, b: Any, lower: Any = False, overwrite_a: Any = False, overwrite_b: Any = False,
    check_finite: Any = True, assume_a: Any = None, transposed: Any = False,
) -> Any:  # fmt: skip
    """`scipy.linalg.solve`: of a matrix said to be symmetric, Hermitian or positive it reads one triangle."""
    if assume_a in ("sym", "symmetric"):
        a = _from_triangle(a, lower, matrix_transpose)
    elif assume_a in ("her", "hermitian", "pos", "positive definite"):
        a = _from_triangle(a, lower, lambda x: np.conj(matrix_transpose(x)))
    elif assume_a not in (None, "gen", "general"):
        raise uncovered(f"solve with assume_a={assume_a!r}", "Leave the option out.")
    return np.linalg.solve(matrix_transpose(a) if transposed else a, b)


def _from_triangle(a: Any, lower: Any, across: Any) -> Any:
    """The matrix of which one triangle is given, the other being its image across the diagonal."""
    half, strict = (np.tril(a), np.tril(a, -1)) if lower else (np.triu(a), np.triu(a, 1))
    return half + across(strict)


def _triangle(a: Any, lower: Any, unit_diagonal: Any) -> Any:
    if unit_diagonal:
        strict = np.tril(a, -1) if lower else np.triu(a, 1)
        return strict + np.eye(np.shape(a)[-1])
    return np.tril(a) if lower else np.triu(a)


def solve_triangular(
    a: Any, b: Any, trans: Any = 0, lower: Any = False, unit_diagonal: Any = False
) -> Any:
    """`scipy.linalg.solve_triangular`."""
    triangle = _triangle(a, lower, unit_diagonal)
    if trans in (1, "T"):
        triangle = matrix_transpose(triangle)
    elif trans in (2, "C"):
        triangle = np.conj(matrix_transpose(triangle))
    return np.linalg.solve(triangle, b)


def cholesky(a: Any, lower: Any = False, overwrite_a: Any = False, check_finite: Any = True) -> Any:
    """`scipy.linalg.cholesky`."""
    if lower:
        return np.linalg.cholesky(a)
    return np.linalg.cholesky(a, upper=True)


def cho_factor(a: Any, lower: Any = False) -> Any:
    """`scipy.linalg.cho_factor`, with zeros in the other triangle."""
    return cholesky(a, lower), lower


def cho_solve(c_and_lower: Any, b: Any) -> Any:
    """`scipy.linalg.cho_solve`."""
    factor, lower = c_and_lower
    L = np.tril(factor) if lower else np.conj(matrix_transpose(np.triu(factor)))
    return np.linalg.solve(np.conj(matrix_transpose(L)), np.linalg.solve(L, b))


def eigh(
    a: Any, b: Any = None, *, lower: Any = True, eigvals_only: Any = False, check_finite: Any = True
) -> Any:
    """`scipy.linalg.eigh`: A v = λ v, or A v = λ B v."""
    if b is None:
        if eigvals_only:
            return eigvalsh(a, lower=lower)
        values, vectors = np.linalg.eigh(a, UPLO="L" if lower else "U")
        return values, vectors
    across = lambda x: np.conj(matrix_transpose(x))
    factor = np.linalg.cholesky(_from_triangle(b, lower, across))
    half = np.linalg.solve(factor, _from_triangle(a, lower, across))
    values, vectors = np.linalg.eigh(np.linalg.solve(factor, across(half)))
    if eigvals_only:
        return values
    return values, np.linalg.solve(across(factor), vectors)


def eigvalsh(a: Any, *, lower: Any = True) -> Any:
    """`scipy.linalg.eigvalsh` of one matrix."""
    return np.linalg.eigvalsh(a, UPLO="L" if lower else "U")


def block_diag(*arrs: Any) -> Any:
    """`scipy.linalg.block_diag`."""
    blocks = [np.atleast_2d(a) for a in arrs]
    widths = [np.shape(block)[1] for block in blocks]
    rows = []
    for k in range(len(blocks)):
        left, right = sum(widths[:k]), sum(widths[k + 1 :])
        rows = [*rows, np.pad(blocks[k], ((0, 0), (left, right)))]
    return np.concatenate(rows, axis=0)


def toeplitz(c: Any, r: Any = None) -> Any:
    """`scipy.linalg.toeplitz`."""
    c = np.ravel(c)
    r = np.conj(c) if r is None else np.ravel(r)
    values = np.concatenate((c[::-1], r[1:]))
    rows, columns = np.arange(np.shape(c)[0]), np.arange(np.shape(r)[0])
    start = np.shape(c)[0] - 1
    return values[start - np.expand_dims(rows, 1) + np.expand_dims(columns, 0)]


def circulant(c: Any) -> Any:
    """`scipy.linalg.circulant` of one vector."""
    places = np.arange(np.shape(c)[0])
    return array_of(c)[(np.expand_dims(places, 1) - places) % np.shape(c)[0]]


def solve_banded(l_and_u: Any, ab: Any, b: Any, *, check_finite: Any = True) -> Any:
    """`scipy.linalg.solve_banded`, by way of the whole matrix."""
    below, above = l_and_u
    size = np.shape(ab)[1]
    rows, columns = np.expand_dims(np.arange(size), 1), np.arange(size)
    diagonal = above + rows - columns
    inside = (diagonal >= 0) & (diagonal <= below + above)
    entries = array_of(ab)[np.clip(diagonal, 0, below + above), columns]
    return np.linalg.solve(np.where(inside, entries, 0.0), b)


# --- decompositions -------------------------------------------------------------------------


def svd(a: Any, full_matrices: Any = True, compute_uv: Any = True) -> Any:
    """`scipy.linalg.svd`."""
    if not compute_uv:
        return svdvals(a)
    left, values, right = np.linalg.svd(a, full_matrices)
    return left, values, right


def singular_values(a: Any) -> Any:
    """`scipy.linalg.svdvals`."""
    return svdvals(a)


def qr(a: Any, *, mode: Any = "full") -> Any:
    """`scipy.linalg.qr` without pivoting."""
    if mode == "r":
        return (np.linalg.qr(a, "r"),)
    square = np.shape(a)[0] <= np.shape(a)[1]
    orthogonal, triangle = np.linalg.qr(
        a, "reduced" if mode == "economic" or square else "complete"
    )
    return orthogonal, triangle


def eig(a: Any) -> Any:
    """`scipy.linalg.eig` of one matrix, with its right eigenvectors."""
    values, vectors = np.linalg.eig(a)
    return values + 0j, vectors


def eigvals(a: Any) -> Any:
    """`scipy.linalg.eigvals` of one matrix."""
    return np.linalg.eigvals(a) + 0j


def pinv(a: Any) -> Any:
    """`scipy.linalg.pinv`."""
    return np.linalg.pinv(a)


def lstsq(a: Any, b: Any, cond: Any = None) -> Any:
    """`scipy.linalg.lstsq` of a matrix of full rank."""
    solution, squares, rank, values = np.linalg.lstsq(a, b, rcond=cond)
    return solution, squares[0] if np.ndim(b) == 1 and np.size(squares) else squares, rank, values


def lu(a: Any) -> Any:
    """`scipy.linalg.lu`."""
    factors, pivots = _eliminated(array_of(a))
    rows, columns = np.shape(a)
    least = min(rows, columns)
    left = np.tril(factors[:, :least], -1) + np.eye(rows, least)
    return np.eye(rows)[:, _exchanged(rows, pivots)], left, np.triu(factors[:least])


def lu_factor(a: Any) -> Any:
    """`scipy.linalg.lu_factor`."""
    factors, pivots = _eliminated(array_of(a))
    return factors, np.array(pivots)


def lu_solve(lu_and_piv: Any, b: Any) -> Any:
    """`scipy.linalg.lu_solve`."""
    factors, pivots = lu_and_piv
    size = np.shape(factors)[0]
    left = np.tril(factors, -1) + np.eye(size)
    exchanged = array_of(b)[_exchanged(size, pivots)]
    return np.linalg.solve(np.triu(factors), np.linalg.solve(left, exchanged))


def _eliminated(a: Any) -> Any:
    """Gauss's elimination with partial pivoting: both factors in one matrix, and the row of each pivot."""
    pivots = []
    for k in range(min(np.shape(a))):
        pivot = k + np.argmax(np.abs(a[k:, k]))
        pivots.append(pivot)
        exchange = np.arange(np.shape(a)[0])
        exchange[k], exchange[pivot] = pivot, k
        a = a[exchange]
        factors = a[k + 1 :, k] / a[k, k]
        rest = a[k + 1 :, k + 1 :] - np.outer(factors, a[k, k + 1 :])
        below = np.concatenate((a[k + 1 :, :k], np.expand_dims(factors, 1), rest), axis=1)
        a = np.concatenate((a[: k + 1], below))
    return a, pivots


def _exchanged(size: Any, pivots: Any) -> Any:
    """The order of the rows after exchanging each with that of its pivot."""
    order = np.arange(size)
    for k, pivot in enumerate(pivots):
        order[k], order[pivot] = order[pivot], order[k]
    return order


def hessenberg(a: Any, calc_q: Any = False) -> Any:
    """`scipy.linalg.hessenberg` of a real matrix: Householder's reflections, as LAPACK chooses them."""
    h = array_of(a) * 1.0
    if np.iscomplexobj(h):
        raise uncovered("the Hessenberg form of a complex matrix", FORMULA)
    n = np.shape(h)[0]
    q = np.eye(n)
    for k in range(n - 2):
        column = h[k + 1 :, k]
        if np.all(column[1:] == 0):
            continue
        beta = -np.copysign(np.sqrt(np.sum(column * column)), column[0])
        v = np.concatenate((np.ones(1), column[1:] / (column[0] - beta)))
        v = np.pad(v, (k + 1, 0)) * np.sqrt((beta - column[0]) / beta)
        h = h - np.outer(v, v @ h)
        h = h - np.outer(h @ v, v)
        q = q - np.outer(q @ v, v)
    form = np.triu(h, -1)
    return (form, q) if calc_q else form


def orthogonal_procrustes(A: Any, B: Any) -> Any:
    """`scipy.linalg.orthogonal_procrustes`."""
    left, values, right = np.linalg.svd(np.transpose(np.transpose(array_of(B)) @ A))
    return left @ right, np.sum(values)


# --- functions of matrices ------------------------------------------------------------------

_PADE = (
    64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
    129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0,
    40840800.0, 960960.0, 16380.0, 182.0, 1.0,
)  # fmt: skip


def expm(A: Any) -> Any:
    """`scipy.linalg.expm`: scaling and squaring (Higham 2005)."""
    scaled = array_of(A) + 0.0
    size = np.max(np.sum(np.abs(scaled), axis=-2))
    halvings = int(np.ceil(np.log2(size / 5.371920351148152))) if size > 5.371920351148152 else 0
    scaled = scaled / 2.0**halvings
    one, A2 = np.eye(np.shape(scaled)[-1]), scaled @ scaled
    A4 = A2 @ A2
    A6 = A2 @ A4
    b = _PADE
    high = A6 @ (b[13] * A6 + b[11] * A4 + b[9] * A2)
    odd = scaled @ (high + b[7] * A6 + b[5] * A4 + b[3] * A2 + b[1] * one)
    even = (
        A6 @ (b[12] * A6 + b[10] * A4 + b[8] * A2) + b[6] * A6 + b[4] * A4 + b[2] * A2 + b[0] * one
    )
    power = np.linalg.solve(even - odd, even + odd)
    for _ in range(halvings):
        power = power @ power
    return power


# --- matrix equations -----------------------------------------------------------------------


def solve_toeplitz(c_or_cr: Any, b: Any, check_finite: Any = True) -> Any:
    """`scipy.linalg.solve_toeplitz`, by way of the whole matrix."""
    c, r = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr, np.conj(array_of(c_or_cr)))
    return np.linalg.solve(toeplitz(c, r), b)


def hankel(c: Any, r: Any = None) -> Any:
    """`scipy.linalg.hankel`."""
    c = np.ravel(array_of(c))
    r = np.zeros_like(c) if r is None else np.ravel(array_of(r))
    whole = np.concatenate((c, r[1:]))
    return whole[np.expand_dims(np.arange(np.size(c)), 1) + np.arange(np.size(r))]


def solve_sylvester(a: Any, b: Any, q: Any) -> Any:
    """`scipy.linalg.solve_sylvester`: A X + X B = Q, as one system."""
    rows, columns = np.shape(q)
    system = np.kron(a, np.eye(columns)) + np.kron(np.eye(rows), np.transpose(b))
    return np.reshape(np.linalg.solve(system, np.ravel(q)), (rows, columns))


def solve_continuous_lyapunov(a: Any, q: Any) -> Any:
    """`scipy.linalg.solve_continuous_lyapunov`: A X + X Aᴴ = Q."""
    return solve_sylvester(a, np.conj(np.transpose(a)), q)


def solve_discrete_lyapunov(a: Any, q: Any) -> Any:
    """`scipy.linalg.solve_discrete_lyapunov`: A X Aᴴ - X + Q = 0, as one system."""
    size = np.shape(a)[0]
    system = np.eye(size * size) - np.kron(a, np.conj(a))
    return np.reshape(np.linalg.solve(system, np.ravel(q)), (size, size))


def pinvh(a: Any, atol: Any = None, rtol: Any = None, lower: Any = True) -> Any:
    """`scipy.linalg.pinvh`, of one triangle."""
    return np.linalg.pinv(_from_triangle(a, lower, lambda x: np.conj(matrix_transpose(x))))


def polar(a: Any, side: Any = "right") -> Any:
    """`scipy.linalg.polar` of a regular square matrix, by Newton's iteration (Higham, 1986)."""
    a = array_of(a)
    if np.shape(a)[0] != np.shape(a)[1]:
        raise uncovered("the polar decomposition of a matrix that is not square", FORMULA)
    if np.linalg.det(a) == 0:
        raise uncovered("the polar decomposition of a singular matrix", FORMULA)
    unitary = a
    for _ in range(20):
        unitary = (unitary + np.conj(matrix_transpose(np.linalg.inv(unitary)))) / 2
    back = np.conj(matrix_transpose(unitary))
    rest = back @ a if side == "right" else a @ back
    return unitary, (rest + np.conj(matrix_transpose(rest))) / 2


def eigh_tridiagonal(d: Any, e: Any, eigvals_only: Any = False) -> Any:
    """`scipy.linalg.eigh_tridiagonal` for all eigenvalues."""
    matrix = np.diag(d) + np.diag(e, 1) + np.diag(e, -1)
    return np.linalg.eigvalsh(matrix) if eigvals_only else eigh(matrix)


def eigvalsh_tridiagonal(d: Any, e: Any) -> Any:
    """`scipy.linalg.eigvalsh_tridiagonal` for all eigenvalues."""
    return eigh_tridiagonal(d, e, True)


def cosm(A: Any) -> Any:
    """`scipy.linalg.cosm`."""
    both = expm(1j * array_of(A)), expm(-1j * array_of(A))
    total = (both[0] + both[1]) / 2
    return total if np.iscomplexobj(A) else np.real(total)


def sinm(A: Any) -> Any:
    """`scipy.linalg.sinm`."""
    both = expm(1j * array_of(A)), expm(-1j * array_of(A))
    difference = (both[0] - both[1]) / 2j
    return difference if np.iscomplexobj(A) else np.real(difference)


def coshm(A: Any) -> Any:
    """`scipy.linalg.coshm`."""
    return (expm(A) + expm(-array_of(A))) / 2


def sinhm(A: Any) -> Any:
    """`scipy.linalg.sinhm`."""
    return (expm(A) - expm(-array_of(A))) / 2


EQUIVALENTS: list[tuple[Any, Callable[..., Any]]] = [
    *same_names(linalg, globals()),
    (linalg.svdvals, singular_values),
]
