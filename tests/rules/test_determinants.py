"""Derivatives of determinants, which are polynomials: of singular matrices as of any other.

The oracle is Laplace's: a second derivative is a minor without two rows and two columns, with a sign.
"""

import itertools

import numpy as np
import pytest

import wengert as wg

RNG = np.random.default_rng(3)
B = RNG.normal(size=(4, 4))
MATRICES = {
    "regular": B,
    "rank 3": B[:, :3] @ B[:3],
    "rank 2": B[:, :2] @ B[:2],
    "rank 1": B[:, :1] @ B[:1],
    "zero": np.zeros((4, 4)),
    "a zero on the diagonal": np.diag([1.0, 2.0, 0.0, 3.0]),
    "two": np.diag([1.0, 0.0, 0.0, 3.0]),
    "2 × 2": np.array([[1.0, 2.0], [2.0, 4.0]]),
    "2 × 2, zero": np.zeros((2, 2)),
    "1 × 1": np.array([[2.0]]),
    "almost": np.diag([1.0, 1e-12, 2.0]),
    **{
        f"{distance:g} from rank 3": B[:, :3] @ B[:3] + distance * B
        for distance in (1e-2, 1e-5, 1e-9)
    },
    "whose determinant underflows": 1e-100 * B,
}


def minors(X):
    """The Hessian of the determinant of X."""
    n = len(X)
    found = np.zeros((n, n, n, n))
    for i, j, k, m in itertools.product(range(n), repeat=4):
        if i != k and j != m:
            rest = np.delete(np.delete(X, [i, k], 0), [j, m], 1)
            sign = (-1) ** (i + j + k - (k > i) + m - (m > j))
            found[i, j, k, m] = sign * (np.linalg.det(rest) if rest.size else 1.0)
    return found


def reverse_over_reverse(f):
    return wg.jacobian(wg.grad(f), mode="reverse")


@pytest.mark.parametrize("name", MATRICES)
def test_the_gradient_is_made_of_minors_however_near_a_singular_matrix(name):
    X = MATRICES[name]
    size = np.max(np.abs(X)) ** (len(X) - 1)
    found = wg.grad(np.linalg.det)(X)
    for i, j in itertools.product(range(len(X)), repeat=2):
        rest = np.delete(np.delete(X, i, 0), j, 1)
        minor = (-1) ** (i + j) * (np.linalg.det(rest) if rest.size else 1.0)
        assert abs(found[i, j] - minor) <= 1e-13 * size


@pytest.mark.parametrize("mode", [wg.hessian, reverse_over_reverse])
@pytest.mark.parametrize("name", MATRICES)
def test_E4_the_hessian_of_a_determinant_at_a_singular_matrix(mode, name):
    X = MATRICES[name]
    np.testing.assert_allclose(mode(np.linalg.det)(X), minors(X), atol=1e-12)


def test_native_code_asks_python_where_a_matrix_is_singular():
    compiled = wg.jit(wg.hessian(np.linalg.det))
    for X in MATRICES.values():
        np.testing.assert_allclose(compiled(X), minors(X), atol=1e-12)


@pytest.mark.parametrize("name", MATRICES)
def test_third_derivatives(name):
    X = MATRICES[name]
    direction = np.random.default_rng(1).normal(size=X.shape)
    third = wg.jacobian(wg.hessian(np.linalg.det))(X)
    found = np.einsum("abcdef,ef->abcd", third, direction)
    differences = (minors(X + direction) - minors(X - direction)) / 2  # exact up to degree 2
    np.testing.assert_allclose(found, differences, atol=1e-11)


def along(f, direction):
    return lambda X: wg.pushforward(f, X)[1](direction)


def test_fourth_derivatives_and_what_comes_after():
    A, C = np.diag([0.0, 0.0, 1.0, 0.0]), np.diag([0.0, 0.0, 0.0, 1.0])
    fourth = along(along(wg.hessian(np.linalg.det), A), C)(np.zeros((4, 4)))
    assert fourth[0, 0, 1, 1] == pytest.approx(1.0)
    assert np.abs(fourth).sum() == pytest.approx(4.0)
    third = wg.hessian(np.linalg.det)
    beyond = along(along(third, A[1:, 1:]), C[1:, 1:])(np.zeros((3, 3)))
    np.testing.assert_allclose(beyond, 0.0, atol=1e-12)


def test_of_complex_matrices():
    X = B[:3, :3] + 1j * B[1:, 1:]
    X[:, 2] = 2 * X[:, 0]

    def f(X):
        return np.real(np.linalg.det(X)) + 2 * np.imag(np.linalg.det(X))

    weights = B[1:, :3] - 1j * B[:3, 1:]

    def of_gradient(X):
        return np.sum(np.real(np.conj(weights) * wg.grad(f)(X)))

    step = 1e-5
    expected = np.zeros((3, 3), complex)
    for at in np.ndindex(3, 3):
        for unit in (1.0, 1j):
            change = np.zeros((3, 3), complex)
            change[at] = step * unit
            ends = of_gradient(X + change) - of_gradient(X - change)
            expected[at] += unit * ends / (2 * step)
    np.testing.assert_allclose(wg.grad(of_gradient)(X), expected, atol=1e-6)


def test_of_stacks_of_matrices():
    stack = np.stack([B[:3, :3], np.diag([1.0, 0.0, 0.0]), np.ones((3, 3))])
    found = wg.hessian(lambda X: np.sum(np.linalg.det(X)))(stack)
    for k, X in enumerate(stack):
        np.testing.assert_allclose(found[k, :, :, k], minors(X), atol=1e-12)


def test_adjugates_by_the_derivative():
    def adjugate(X):
        return wg.grad(np.linalg.det)(X).T

    X = MATRICES["rank 3"]
    np.testing.assert_allclose(adjugate(X) @ X, np.zeros((4, 4)), atol=1e-12)
    changes = wg.jacobian(adjugate)(X)
    np.testing.assert_allclose(np.einsum("jiab->ijab", changes), minors(X), atol=1e-12)
