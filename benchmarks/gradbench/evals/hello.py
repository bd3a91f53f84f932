"""The square of a number."""

import wengert as wg

from .evaluation import Evaluation


def square(x):
    return x * x


def read(number):
    return (float(number),)


FUNCTIONS = {
    "square": Evaluation(wg.jit(square), read),
    "double": Evaluation(wg.jit(wg.grad(square)), read),
}
