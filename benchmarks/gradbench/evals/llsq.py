"""A step, fitted by a polynomial: half the sum of squared residuals."""

import numpy as np
from numpy.polynomial.polynomial import polyval

import wengert as wg

from .evaluation import Evaluation


def primal(x, n):
    t = np.linspace(-1, 1, n)
    residuals = np.sign(t) - polyval(t, x)
    return np.sum(residuals**2) / 2


def read(given):
    return np.array(given["x"]), given["n"]


FUNCTIONS = {
    "primal": Evaluation(wg.jit(primal), read),
    "gradient": Evaluation(wg.jit(wg.grad(primal)), read),
}
