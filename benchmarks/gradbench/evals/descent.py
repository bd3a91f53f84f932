"""Gradient descent that chooses its own step, as `particle` and `saddle` prescribe it."""

import math


def length(x):
    return math.sqrt(sum(each * each for each in x))


def distance(x, y):
    return length([a - b for a, b in zip(x, y, strict=True)])


def argmin(f, gradient, start):
    x = start
    value, slope = f(x), gradient(x)
    rate = 1e-5
    successes = 0
    while length(slope) > 1e-5:
        if successes == 10:
            rate *= 2
            successes = 0
            continue
        candidate = [a - rate * b for a, b in zip(x, slope, strict=True)]
        if distance(x, candidate) <= 1e-5:
            break
        found = f(candidate)
        if found < value:
            x, value, slope = candidate, found, gradient(candidate)
            successes += 1
        else:
            rate /= 2
            successes = 0
    return x


def argmax(f, gradient, start):
    return argmin(lambda x: -f(x), lambda x: [-each for each in gradient(x)], start)
