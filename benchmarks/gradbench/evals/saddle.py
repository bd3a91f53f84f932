"""min over x of max over y of |x₁|² + |y₁|² − …: a minimum whose objective is itself a maximum."""

import wengert as wg

from .descent import argmax, argmin
from .evaluation import Evaluation
from .modes import forward, reverse


def height(x, y):
    return (x[0] ** 2 + x[1] ** 2) - (y[0] ** 2 + y[1] ** 2)


def solved(outer, inner):
    """The program in which the minimum is found by one mode and the maximum in it by another."""

    def highest(x, start, mode):
        f = lambda y: height(x, y)
        return argmax(f, mode(f), start)

    def solve(start):
        ridge = lambda x: height(x, highest(x, start, inner))
        x = argmin(ridge, outer(ridge), start)
        return [*x, *highest(x, start, outer)]

    return wg.jit(solve)


def read(given):
    return ([float(each) for each in given["start"]],)


FUNCTIONS = {
    "ff": Evaluation(solved(forward, forward), read),
    "fr": Evaluation(solved(forward, reverse), read),
    "rf": Evaluation(solved(reverse, forward), read),
    "rr": Evaluation(solved(reverse, reverse), read),
}
