"""log ∑ exp xᵢ, with the greatest x taken out."""

import numpy as np

import wengert as wg

from .evaluation import Evaluation


def primal(x):
    greatest = np.max(x)
    return greatest + np.log(np.sum(np.exp(x - greatest)))


def read(given):
    return (np.array(given["x"]),)


FUNCTIONS = {
    "primal": Evaluation(wg.jit(primal), read),
    "gradient": Evaluation(wg.jit(wg.grad(primal)), read),
}
