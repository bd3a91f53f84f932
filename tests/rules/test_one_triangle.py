"""Functions that read one triangle of a matrix: the derivative has entries where the function reads.

Every one is compared with central differences in each entry by itself, which is what a symmetric direction hides.
"""

import numpy as np
import pytest
from scipy import linalg, stats

import wengert as wg

MEAN, X = np.array([0.5, -1.0]), np.array([0.2, 0.3])
POINTS = np.array([[0.2, 0.3], [1.0, -0.5], [0.0, 0.1]])
C = np.array([[2.0, 0.4], [0.4, 1.0]])
WEIGHTS = np.array([1.0, -2.0])


def differences(f, C, step=1e-6):
    """The gradient by central differences, entry by entry."""
    out = np.zeros_like(C)
    for place in np.ndindex(C.shape):
        change = np.zeros_like(C)
        change[place] = step
        out[place] = (f(C + change) - f(C - change)) / (2 * step)
    return out


def test_A8_multivariate_normal_by_the_covariance():
    def density(C):
        return stats.multivariate_normal.logpdf(X, MEAN, C)

    expected = [[-0.1724362, 0.0], [-0.44139887, 0.54914934]]
    np.testing.assert_allclose(wg.grad(density)(C), expected, atol=1e-7)
    wg.testing.check_gradient(density, C)


DENSITIES = {
    "normal": lambda C: stats.multivariate_normal.logpdf(X, MEAN, C),
    "normal, density": lambda C: stats.multivariate_normal.pdf(X, MEAN, C),
    "normal, points": lambda C: np.sum(stats.multivariate_normal.logpdf(POINTS, MEAN, C)),
    "normal, allow_singular": lambda C: stats.multivariate_normal.logpdf(
        X, MEAN, C, allow_singular=True
    ),
    "normal, frozen": lambda C: stats.multivariate_normal(MEAN, C).logpdf(X),
    "student": lambda C: stats.multivariate_t.logpdf(X, MEAN, C, 3.0),
    "student, density": lambda C: stats.multivariate_t.pdf(X, MEAN, C, 3.0),
    "student, frozen": lambda C: stats.multivariate_t(MEAN, C, 3.0).logpdf(X),
    "student, points": lambda C: np.sum(stats.multivariate_t.pdf(POINTS, MEAN, C, 3.0)),
    "cholesky": lambda C: np.sum(np.linalg.cholesky(C) ** 3),
    "eigvalsh": lambda C: np.sum(np.linalg.eigvalsh(C) ** 3),
    "eigvalsh, upper": lambda C: np.sum(np.linalg.eigvalsh(C, UPLO="U") ** 3),
    "eigh of two": lambda C: linalg.eigh(C, np.diag([1.0, 3.0]), eigvals_only=True) @ WEIGHTS,
    "eigh of two, the second": lambda C: linalg.eigh(np.ones((2, 2)), C)[0] @ WEIGHTS,
    "eigh of two, upper": lambda C: linalg.eigh(C, C @ C, lower=False)[0] @ WEIGHTS,
}


@pytest.mark.parametrize("name", DENSITIES)
def test_each_entry_of_a_matrix_of_which_one_triangle_is_read(name):
    f = DENSITIES[name]
    expected = differences(f, C)
    np.testing.assert_allclose(wg.grad(f)(C), expected, atol=1e-7)
    np.testing.assert_allclose(wg.jacobian(f, mode="forward")(C), expected, atol=1e-7)
    wg.testing.check_gradient(f, C)


@pytest.mark.parametrize("name", ["normal", "student", "normal, points"])
def test_second_derivatives_by_the_covariance(name):
    f = DENSITIES[name]
    hessian = wg.hessian(f)(C)
    for place in np.ndindex(C.shape):
        column = differences(lambda C, place=place: wg.grad(f)(C)[place], C)
        np.testing.assert_allclose(hessian[place], column, atol=1e-6)
