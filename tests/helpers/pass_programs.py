"""Small programs, with arguments, whose derivatives the passes are tested on."""
# the programs are written as users write them
# pyright: basic

from __future__ import annotations

import math
from typing import Any

import numpy as np


def poly(x):
    return 3 * x * x + 2 * x + 1


def branches(x, y):
    if x > 0:
        z = math.sin(x) * y
    else:
        z = x * y * y
    return z * z


def counted(x, n):
    r = 1.0
    for i in range(n):
        r = r * x + math.sin(x * i)
    return r


def nested(x, n):
    s = x
    for i in range(n):
        t = s
        for j in range(i):
            t = t * math.sin(x) + 0.1 * j
        s = s + t * 0.5
    return s


def swapped(x, y, n):
    a, b = x, y
    for _ in range(n):
        a, b = b, a * b
    return a * 2 + math.sin(b)


def newton(x):
    y = x
    while abs(y * y - x) > 1e-9:
        y = 0.5 * (y + x / y)
    return y


def broken(x, n):
    s = 0.0
    for i in range(n):
        s = s + x * math.sin(s + i)
        if s > 2.0:
            break
    return s * s


def forever(x):
    i = 0
    s = x
    while True:
        s = s * 1.5 * math.cos(x)
        i = i + 1
        if i >= 4 or s > 100.0:
            break
    return s


def doubled(x, n):
    i = 0
    while i < n:
        x = 2 * x
        i = i + 1
    return x


def indexed(w, n):
    s = 0.0
    for i in range(n):
        s = s + w[i] * w[i] * math.sin(w[0])
    return s


def quadratic(x, A, n):
    s = 0.0
    for i in range(n):
        for j in range(n):
            s = s + A[i, j] * x[i] * x[j]
    return s


def rows(A, n):
    s = 0.0
    for i in range(n):
        for j in range(n):
            s = s + A[i][j] * A[j][i]
    return s


def piecewise(x, w, n):
    s = x
    for i in range(n):
        if s > 1.0:
            s = s * 0.5 + w[i]
        else:
            s = s + w[i] * x
    return s


def items(xs, y):
    s = 0.0
    for x in xs:
        s = s + x * x * y
    return s


def pairs(xs, ys):
    s = 0.0
    for x, y in zip(xs, ys):
        s = s + x * y * y
    return s


def powers(xs):
    s = 0.0
    for i, x in enumerate(xs):
        s = s + x**i
    return s


def early(xs):
    for x in xs:
        if x > 2.0:
            return x * x
    return xs[0]


def comprehension(xs):
    ys = [math.sin(x) * x for x in xs]
    s = 0.0
    for y in ys:
        s = s + y * y
    return s


def lists_of_lists(xs, n):
    ys = [[x * xs[j] for j in range(n)] for x in xs]
    s = 0.0
    for i in range(n):
        for j in range(n):
            s = s + ys[i][j] * ys[j][i] * (i + 1)
    return s


def containers(x, y):
    d = {"a": x * y, "b": [x, y * y]}
    return d["a"] * d["b"][1] + d["b"][0]


def picked(x):
    return x[0] * x[1] + x[-1] * math.sin(x[0])


def broadcast(x, w):
    z = (x * w) + 2 * x
    return z[0, 1] * z[1, 2]


def logsumexp(x):
    m = np.max(x)
    return m + np.log(np.sum(np.exp(x - m)))


def weighted(x, w):
    return np.sum(x * w)


def network(x, W, b, v):
    h = np.tanh(x @ W + b)
    return np.sum((h @ v) ** 2)


def means(x):
    return np.mean(x) * np.sum(x) + np.sum(np.sin(x)) * 3.0


def along_axes(x):
    return np.sum(np.sum(x * x, axis=0) * np.mean(x, axis=1))


def inverse(A):
    return np.sum(np.linalg.inv(A + 2 * np.eye(3)) * A)


def solved(A, b):
    return np.sum(np.linalg.solve(A + 2 * np.eye(3), b) ** 2)


def slices(x):
    return np.sum(x[1:] * x[:-1]) + np.sum(x[::2])


def named_twice(x):
    return np.sum(x[[0, 0, 2]] ** 2)


def scaled(x, a):
    z = a * 2.0
    s = 0.0
    for _ in range(12):
        x = x * z + a
        s = s + np.sum(x)
    return s


def recurrent(x, W, n):
    h = x * 0.1
    for _ in range(n):
        h = np.tanh(W @ h + x)
    return np.sum(h)


def unused(x, y):
    return math.sin(y)


def power(x, n):
    if n == 0:
        return 1.0
    return x * power(x, n - 1)


def even(x, n):
    return 1.0 + x if n == 0 else odd(x * 1.1, n - 1) * x


def odd(x, n):
    return x if n == 0 else even(x * x, n - 1) + 1.0


def guarded(x, y):
    try:
        z = math.log(x) * y
    except ValueError:
        z = x * x * y
    return z * z


def until_it_fails(x, n):
    total = 1.0
    for k in range(n):
        try:
            total = total * math.sqrt(x - k) + x
        except ValueError:
            total = total + x * k
            break
        finally:
            total = total * x
    return total


W = np.array([0.3, 0.8, 1.2, -0.4])
V = np.array([0.3, -0.2, 0.7])
A = np.arange(9.0).reshape(3, 3) / 7 + np.diag([0.3, 0.2, 0.1])

CASES: list[tuple[Any, ...]] = [
    (poly, 1.5), (branches, 1.3, 0.7), (branches, -1.3, 0.7), (counted, 0.7, 5), (counted, 0.7, 0),
    (nested, 0.6, 4), (swapped, 0.9, 1.2, 5), (swapped, 0.9, 1.2, 0), (newton, 3.0),
    (broken, 0.9, 20), (broken, 0.1, 3), (forever, 0.5), (doubled, 1.5, 4), (doubled, 1.5, 0),
    (indexed, W, 4), (quadratic, V, A, 3), (rows, A, 3), (piecewise, 0.4, W, 4),
    (items, W, 1.2), (items, [1.0, 2.0, 0.3], 1.2), (pairs, W, V),
    (pairs, [1.0, 0.2], [0.3, 0.4, 0.5]),
    (powers, W), (early, [1.0, 2.5, 3.0]), (early, [1.0, 0.5]), (comprehension, W),
    (comprehension, [1.0, 2.0, 0.5]), (lists_of_lists, [0.3, 0.2, 0.9], 3), (containers, 0.3, 0.7),
    (picked, W), (broadcast, A, V), (broadcast, A[:, :1], W), (logsumexp, W), (weighted, W, W * 2),
    (weighted, A[:, :1], W), (network, A, A.T.copy(), V, V[:, None]), (means, W), (along_axes, A),
    (inverse, A), (solved, A, V), (slices, W), (named_twice, W), (scaled, W, 0.3),
    (recurrent, V, A, 3), (unused, 0.2, 0.3), (power, 1.3, 4), (even, 0.6, 5),
    (guarded, 1.3, 0.7), (guarded, -1.3, 0.7), (until_it_fails, 2.5, 5), (until_it_fails, 2.5, 2),
]  # fmt: skip
