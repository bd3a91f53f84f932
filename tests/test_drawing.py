"""Random orders and choices of what has derivatives: the draws are those of NumPy and Python."""

import math
import random

import numpy as np
import pytest

import wengert as wg

# ruff: noqa: NPY002  (programs as users write them, with NumPy's old generator too)


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


def shuffled_in_place(x):
    """The entries themselves change places, by three generators."""
    np.random.seed(1)
    a, b, c = x.copy(), 2 * x, list(x)
    np.random.shuffle(a)
    np.random.RandomState(3).shuffle(b)
    random.Random(5).shuffle(c)
    places = np.arange(len(x))
    return a @ places + b @ places**2 + sum(v**2 * k for k, v in enumerate(c))


def bootstrap(x):
    """Resampled means, and a few entries that are drawn without putting back."""
    rng = np.random.default_rng(7)
    means = [np.mean(rng.choice(x, len(x))) for _ in range(5)]
    random.seed(2)
    few = random.sample(list(x), 2)
    return np.std(means) + few[0] * few[1] + rng.permutation(x)[0] ** 2 + random.choice(list(x))


@pytest.mark.parametrize("f", [lambda x: shuffled_batches(x, 0.3), shuffled_in_place, bootstrap])
def test_what_is_drawn_keeps_its_derivative(f):
    x = np.array([0.5, 1.2, 0.7, 2.1])
    assert wg.pullback(f, x)[0] == pytest.approx(f(x), rel=1e-14)
    wg.testing.check_gradient(f, x)
    slopes = wg.grad(f)
    wg.testing.check_gradient(lambda x: np.sum(slopes(x) ** 2), x, rtol=1e-4)


RANDOM = random.Random(4)


def draws_of_every_generator(x):
    python, numpy, old = random.Random(12), np.random.default_rng(3), np.random.RandomState(3)
    random.seed(3)
    np.random.seed(3)
    RANDOM.seed(5)
    total = python.gauss(0, 1) + random.uniform(-1, 2) + RANDOM.random()
    total += numpy.normal() * numpy.uniform(-1, 2) + old.randn() * np.random.rand()
    return x * total + numpy.exponential(2.0) * x**2 + numpy.normal(size=2)[1] * x


def particles_resampled(x):
    rng = random.Random(12)
    particles = [[0.0, 0.0, 1 / 8] for _ in range(8)]
    for _ in range(4):
        for p in particles:
            p[0] += x + 0.1 * rng.gauss(0, 1)
            p[1] += math.sin(p[0])
        for name in ("left", "right"):
            for p in particles:
                p[2] *= math.exp(-((p[1] - len(name) * x) ** 2))
        total = sum(p[2] for p in particles)
        if total < 0.5:
            chosen = [int(8 * rng.random()) for _ in particles]
            particles = [[*particles[k][:2], 1 / 8] for k in chosen]
    return sum(p[1] * p[2] for p in particles)


@pytest.mark.parametrize("f", [draws_of_every_generator, particles_resampled])
def test_a_number_that_is_drawn_is_known_to_be_one(f):
    wg.testing.check_gradient(f, 0.4)
    assert str(wg.code_ir(f, 0.4)).splitlines()[0].endswith("-> float:")


@pytest.mark.parametrize("f", [shuffled_in_place, bootstrap])
def test_saved_source_draws_the_same(f):
    x = np.array([0.5, 1.2, 0.7, 2.1])
    namespace = {}
    exec(wg.grad(f).specialize(x).source, namespace)
    np.testing.assert_allclose(namespace[f"grad_{f.__name__}"](x), wg.grad(f)(x))
