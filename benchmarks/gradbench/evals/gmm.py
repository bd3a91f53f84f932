"""The log posterior of a Gaussian mixture with a Wishart prior on its precision matrices.

The precision of component k is Qᵀ Q, with Q lower triangular: exp(q) on its diagonal, and l below it,
column by column.
"""

import math

import numpy as np

import wengert as wg

from .evaluation import Evaluation


def logsumexp(x):
    greatest = np.max(x)
    return greatest + np.log(np.sum(np.exp(x - greatest)))


def lower_triangle(diagonal, below):
    """The triangular matrix with this diagonal, and the rest column by column."""
    d = len(diagonal)
    matrix = np.zeros((d, d))
    first = 0
    for column in range(d):
        end = first + d - column - 1
        matrix[column, column] = diagonal[column]
        matrix[column + 1 :, column] = below[first:end]
        first = end
    return matrix


def log_gamma_of_dimension(x, d):
    """The logarithm of the multivariate Γ function."""
    return 0.25 * d * (d - 1) * math.log(math.pi) + sum(math.lgamma(x - 0.5 * j) for j in range(d))


def prior_constant(d, k, m, gamma):
    n = d + m + 1
    of_one = n * d * (math.log(gamma) - 0.5 * math.log(2)) - log_gamma_of_dimension(0.5 * n, d)
    return k * of_one


def objective(alpha, mu, q, l, x, m, gamma, constant):
    n, d = x.shape
    scales = np.exp(q)
    sums = np.sum(q, axis=1)
    likelihood = np.empty((len(alpha), n))
    for k in range(len(alpha)):
        root = lower_triangle(scales[k], l[k])
        distances = np.sum(((x - mu[k]) @ root.T) ** 2, axis=1)
        likelihood[k] = alpha[k] + sums[k] - 0.5 * distances
    greatest = np.max(likelihood, axis=0)
    of_points = greatest + np.log(np.sum(np.exp(likelihood - greatest), axis=0))
    prior = m * np.sum(sums) - 0.5 * gamma**2 * (np.sum(scales**2) + np.sum(l**2))
    return (
        np.sum(of_points)
        - n * (0.5 * d * math.log(2 * math.pi) + logsumexp(alpha))
        + prior
        + constant
    )


def read(given):
    d, k, m, gamma = given["d"], given["k"], given["m"], given["gamma"]
    independent = (np.array(given[name], dtype=float) for name in ("alpha", "mu", "q", "l", "x"))
    return *independent, m, gamma, prior_constant(d, k, m, gamma)


def tell(gradients):
    return dict(zip(("alpha", "mu", "q", "l"), (g.tolist() for g in gradients), strict=True))


FUNCTIONS = {
    "objective": Evaluation(wg.jit(objective), read),
    "jacobian": Evaluation(wg.jit(wg.grad(objective, (0, 1, 2, 3))), read, tell),
}
