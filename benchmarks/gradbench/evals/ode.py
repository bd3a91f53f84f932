"""y₀' = x₀, yᵢ' = xᵢ yᵢ₋₁ from y = 0 to t = 2, by Runge and Kutta's method."""

import numpy as np

import wengert as wg

from .evaluation import Evaluation


def slope(x, y):
    result = np.empty_like(y)
    result[0] = x[0]
    result[1:] = x[1:] * y[:-1]
    return result


def primal(x, steps):
    h = 2 / steps
    y = np.zeros_like(x)
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x, y + h / 2 * k1)
        k3 = slope(x, y + h / 2 * k2)
        k4 = slope(x, y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def last(x, steps):
    return primal(x, steps)[-1]


def read(given):
    return np.array(given["x"]), given["s"]


FUNCTIONS = {
    "primal": Evaluation(wg.jit(primal), read),
    "gradient": Evaluation(wg.jit(wg.grad(last)), read),
}
