"""Linear algebra."""

import numpy as np

from .registry import add

A = np.array([[2.0, 0.3, -0.1], [0.4, 1.5, 0.2], [0.1, -0.3, 1.8]])
B = np.array([[0.2, -0.4], [1.1, 0.9], [0.5, -0.3]])
S = A @ A.T + np.eye(3)
V = np.array([0.5, -1.2, 2.0])
W = np.array([1.5, 0.3, -0.7])


def quadratic_form(a, x):
    return x @ a @ x + np.dot(x, x) + np.inner(a[0], x)


add(quadratic_form, (A, V), autograd=True)


def matrix_products(a, b):
    c = a @ b
    return np.sum(np.matmul(b.T, c) ** 2) + np.sum(np.dot(a, c)) + np.sum(a.dot(b) * c)


add(matrix_products, (A, B))


def outer_products(x, y):
    return np.sum(np.outer(x, y) ** 2) + np.vdot(x, y) + np.inner(x, y) * np.trace(np.outer(x, y))


add(outer_products, (V, W))


def sums_by_letters(a, b, x):
    return (
        np.einsum("ij,jk->", a, b)
        + np.einsum("i,ij,j", x, a, x)
        + np.sum(np.einsum("ij,ik->jk", b, b) ** 2)
        + np.einsum("ii", a)
    )


add(sums_by_letters, (A, B, V))


def tensor_products(a, b):
    return np.sum(np.tensordot(a, b, axes=1) ** 2) + np.sum(
        np.tensordot(a, a, axes=([0, 1], [0, 1]))
    )


add(tensor_products, (A, B))


def batched_product(t, u):
    return np.sum(np.matmul(t, u) ** 2)


add(batched_product, (np.arange(12.0).reshape(2, 2, 3) / 5, np.arange(6.0).reshape(3, 2) / 3))


def solved(a, b):
    x = np.linalg.solve(a, b)
    return np.sum(x * x) + np.sum(b * x)


add(solved, (A, V), (A, B), autograd=True)


def inverted(a):
    inverse = np.linalg.inv(a)
    return np.trace(inverse) + np.sum(inverse @ inverse * a)


add(inverted, (A,), autograd=True)


def determinants(a):
    sign, logdet = np.linalg.slogdet(a)
    return np.linalg.det(a) + sign * logdet


add(determinants, (A,))


def norms(x, a):
    return np.linalg.norm(x) + np.linalg.norm(a) ** 3 + np.linalg.norm(x - 1, ord=2) * np.sum(a)


add(norms, (V, A))


def norms_by_axis(a):
    return np.sum(np.linalg.norm(a, axis=1) * np.arange(1.0, 4.0)) + np.sum(
        np.linalg.norm(a, axis=0) ** 2
    )


add(norms_by_axis, (A,))


def cholesky_factor(s):
    lower = np.linalg.cholesky(s)
    return np.sum(np.log(np.diag(lower))) + np.sum(lower**2 * np.arange(9.0).reshape(3, 3))


def symmetric_cholesky(a):
    return cholesky_factor(a @ a.T + np.eye(3))


add(symmetric_cholesky, (A,), rel=1e-10)


def gaussian_process(log_scale, log_noise, y):
    x = np.array([0.0, 0.7, 1.5, 2.1])
    distance = (x[:, None] - x[None, :]) ** 2
    kernel = np.exp(-0.5 * distance / np.exp(log_scale) ** 2)
    covariance = kernel + np.exp(log_noise) * np.eye(len(x))
    _, logdet = np.linalg.slogdet(covariance)
    return -0.5 * (y @ np.linalg.solve(covariance, y) + logdet + len(x) * np.log(2 * np.pi))


add(gaussian_process, (0.2, -1.0, np.array([0.1, 0.8, 0.4, -0.5])), rel=1e-10, autograd=True)


def gaussian_process_by_cholesky(scale, y):
    x = np.array([0.0, 0.7, 1.5])
    covariance = np.exp(-((x[:, None] - x) ** 2) / scale) + 0.1 * np.eye(3)
    lower = np.linalg.cholesky(covariance)
    z = np.linalg.solve(lower, y)
    return -0.5 * np.dot(z, z) - np.sum(np.log(np.diag(lower)))


add(gaussian_process_by_cholesky, (0.9, np.array([0.1, 0.8, 0.4])), rel=1e-10)


def ridge_regression(features, target, strength):
    gram = features.T @ features + strength * np.eye(features.shape[1])
    weights = np.linalg.solve(gram, features.T @ target)
    miss = features @ weights - target
    return np.mean(miss**2)


add(ridge_regression, (B, V, 0.1))


def power_iteration(a, n):
    v = np.ones(3)
    for _ in range(n):
        v = a @ v
        v = v / np.linalg.norm(v)
    return v @ a @ v


add(power_iteration, (A, 5), wrt=(0,))


def kalman_filter(measurements, process, noise):
    state = np.array([0.0, 1.0])
    covariance = np.eye(2)
    step = np.array([[1.0, 0.1], [0.0, 1.0]])
    seen = np.array([[1.0, 0.0]])
    likelihood = 0.0
    for z in measurements:
        state = step @ state
        covariance = step @ covariance @ step.T + process * np.eye(2)
        miss = z - (seen @ state)[0]
        spread = (seen @ covariance @ seen.T)[0, 0] + noise
        gain = (covariance @ seen.T)[:, 0] / spread
        state = state + gain * miss
        covariance = covariance - np.outer(gain, seen[0] @ covariance)
        likelihood = likelihood - 0.5 * (miss * miss / spread + np.log(spread))
    return likelihood


add(kalman_filter, (np.array([0.1, 0.3, 0.25]), 0.05, 0.2), ([0.1, 0.3, 0.25], 0.05, 0.2))


def rotation_matrix(angle, x):
    c, s = np.cos(angle), np.sin(angle)
    r = np.array([[c, -s], [s, c]])
    return np.sum((r @ x) ** 3)


add(rotation_matrix, (0.7, np.array([1.0, 2.0])))
