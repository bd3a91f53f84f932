"""Random orders and choices of what has derivatives: the seed is fixed, the draws are those of NumPy and Python."""

import random

import numpy as np

from .registry import add


def shuffled_batches(x, rate):
    """Stochastic gradient descent over batches in an order that is drawn anew each time."""
    rng = np.random.default_rng(3)
    order = np.arange(len(x))
    w = 0.1
    for _ in range(3):
        rng.shuffle(order)
        for batch in (order[:2], order[2:]):
            w = w - rate * np.mean((w - x[batch]) * (1 + w * w))
    return w


add(shuffled_batches, (np.array([0.5, 1.2, 0.7, 2.1]), 0.3))


def shuffled_in_place(x):
    """The entries themselves change places, by three generators."""
    np.random.seed(1)
    a, b, c = x.copy(), 2 * x, list(x)
    np.random.shuffle(a)
    np.random.RandomState(3).shuffle(b)
    random.Random(5).shuffle(c)
    places = np.arange(len(x))
    return a @ places + b @ places**2 + sum(v**2 * k for k, v in enumerate(c))


add(shuffled_in_place, (np.array([0.5, 1.2, 0.7, 2.1]),))


def bootstrap(x):
    """Resampled means, and a few entries that are drawn without putting back."""
    rng = np.random.default_rng(7)
    means = [np.mean(rng.choice(x, len(x))) for _ in range(5)]
    random.seed(2)
    few = random.sample(list(x), 2)
    return np.std(means) + few[0] * few[1] + rng.permutation(x)[0] ** 2 + random.choice(list(x))


add(bootstrap, (np.array([0.5, 1.2, 0.7, 2.1]),))
