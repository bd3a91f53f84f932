"""The programs whose IR and derivatives are kept, word for word, in tests/golden."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import wengert as wg

GOLDEN: dict[str, tuple[Any, tuple[Any, ...]]] = {}
"""Name -> the function, and arguments to specialise it for; no arguments: it is kept general."""


def keep(*example, name=None):
    def register(function):
        GOLDEN[name or function.__name__] = function, example
        return function

    return register


@keep(name="poly_general")
@keep(2.0)
def poly(x):
    return 3 * x * x + 2 * x + 1


@keep(-1.5)
def absolute(x):
    if x < 0:
        return -x
    return x


@keep(2.0, 5)
def mypow(x, n):
    r = 1
    while n > 0:
        n -= 1
        r *= x
    return r


@keep(2.0, 5)
def recursive_pow(x, n):
    if n == 0:
        return 1.0
    return x * recursive_pow(x, n - 1)


@keep(3.7, 0.2, 10)
def logistic(r, x, n):
    for _ in range(n):
        x = r * x * (1 - x)
    return x


@keep(1.0, 0.0, 30)
def swing(angle, speed, steps):
    for _ in range(steps):
        speed = speed - 0.1 * math.sin(angle)
        angle = angle + 0.1 * speed
    return angle


@keep(0.5, 2.0)
def piecewise(x, k):
    if x < 0:
        y = -k * x
    elif x < 1:
        y = k * x * x
    else:
        y = k * (2 * x - 1)
    return y * y


@keep([0.5, -1.5, 2.0], 1.0)
def first_above(xs, limit):
    for x in xs:
        if x > limit:
            return x * x
    return 0.0


@keep(1.0, 1e-9)
def newton_root(a, tolerance):
    x = 1.0
    while abs(x * x - a) > tolerance:
        x = (x + a / x) / 2
    return x


@keep(np.array([1.0, 2.0, 3.0]))
def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


@keep(np.zeros(3), 1)
def cross_entropy(scores, label):
    weights = np.exp(scores - np.max(scores))
    softmax = weights / np.sum(weights)
    return -np.log(softmax[label])


@keep(np.ones((10, 4)), np.ones(10), np.ones(4))
def logistic_regression(W, b, x):
    return np.sum(1 / (1 + np.exp(-(W @ x + b))))


@keep(np.eye(3), np.ones(3))
def inverse_loss(A, b):
    x = np.linalg.inv(A) @ b
    return x @ x


@keep({"w": np.ones(3), "b": 0.0}, np.ones((5, 3)), np.ones(5))
def least_squares(parameters, inputs, targets):
    errors = inputs @ parameters["w"] + parameters["b"] - targets
    return np.mean(errors**2)


def make_decay(rate):
    def decay(t):
        return np.exp(-rate * t)

    return decay


GOLDEN["closure"] = make_decay(0.5), (2.0,)


@keep(2.0)
def nested(x):
    slope = wg.grad(lambda t: t**3)(x)
    return slope * x


@keep([1.0, 2.0], 0.5)
def comprehension(weights, x):
    return sum(w * x**k for k, w in enumerate(weights))
