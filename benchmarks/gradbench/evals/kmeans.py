"""The cost of clusters, and the step of Newton's method towards better ones."""

import numpy as np

import wengert as wg

from .evaluation import Evaluation


def cost(points, centroids):
    total = 0.0
    for point in points:
        nearest = np.argmin(np.sum((point - centroids) ** 2, axis=1))
        total += np.sum((point - centroids[nearest]) ** 2)
    return total


def direction(points, centroids):
    """The gradient over the Hessian, which is diagonal: its product with ones is its diagonal."""
    gradient_at = wg.grad(lambda c: cost(points, c))
    gradient, push = wg.pushforward(gradient_at, centroids)
    return gradient / push(np.ones_like(centroids))


def read(given):
    return np.array(given["points"], dtype=float), np.array(given["centroids"], dtype=float)


FUNCTIONS = {
    "cost": Evaluation(wg.jit(cost), read),
    "dir": Evaluation(wg.jit(direction), read),
}
