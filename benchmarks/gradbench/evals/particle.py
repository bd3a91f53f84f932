"""A particle between two charges, of which one is placed so that the particle meets the origin.

The force is minus the gradient of a potential (the inner derivative); where the path crosses the axis
is minimised over the place of a charge by gradient descent (the outer derivative).
"""

import math

import wengert as wg

from .descent import argmin
from .evaluation import Evaluation
from .modes import forward, reverse

STEP = 0.1


def distance(x, y):
    return math.sqrt(x * x + y * y)


def potential(position, w):
    x, y = position
    return 1 / distance(x - 10, y - (10 - w)) + 1 / distance(x - 10, y)


def crossing(w, gradient):
    """The square of where the particle's path crosses the axis, by Euler's method."""
    x, y, u, v = 0.0, 8.0, 0.75, 0.0
    while y + STEP * v > 0:
        du, dv = gradient(lambda position: potential(position, w))([x, y])
        x, y, u, v = x + STEP * u, y + STEP * v, u - STEP * du, v - STEP * dv
    at_axis = x - y / v * u
    return at_axis * at_axis


def solved(outer, inner):
    """The program in which the outer derivative is taken by one mode and the inner one by another."""

    def solve(w):
        f = lambda ws: crossing(ws[0], inner)
        return argmin(f, outer(f), [w])[0]

    return wg.jit(solve)


def read(given):
    return (float(given["w"]),)


FUNCTIONS = {
    "ff": Evaluation(solved(forward, forward), read),
    "fr": Evaluation(solved(forward, reverse), read),
    "rf": Evaluation(solved(reverse, forward), read),
    "rr": Evaluation(solved(reverse, reverse), read),
}
