"""Five functions and their hand-written adjoints: what `table.py` measures.

Each adjoint is what a careful person would write for the same answer in Python and NumPy:
`math` for numbers, and nothing computed twice.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Workload:
    """A function, the arguments to differentiate at, and its derivative written by hand.

    `adjoint` takes every shortcut that a mathematician sees; `others` holds further hand-written
    forms by name, such as one that follows the function line by line.
    """

    name: str
    function: Callable[..., Any]
    adjoint: Callable[..., Any]
    arguments: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0
    others: dict[str, Callable[..., Any]] = field(default_factory=dict[str, Callable[..., Any]])


def sincos(x):
    return math.sin(math.cos(x))


def sincos_adjoint(x):
    return -math.cos(math.cos(x)) * math.sin(x)


def loop(x, n):
    r = 1.0
    while n > 0:
        r *= math.sin(x)
        n -= 1
    return r


def loop_adjoint(x, n):
    r = 1.0
    rs = []
    while n > 0:
        rs.append(r)
        r *= math.sin(x)
        n -= 1
    r_bar, x_bar = 1.0, 0.0
    for r in reversed(rs):
        x_bar += r_bar * r * math.cos(x)
        r_bar *= math.sin(x)
    return x_bar


def logsumexp(x):
    m = x.max()
    return m + np.log(np.exp(x - m).sum())


def logsumexp_adjoint(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def logsumexp_adjoint_through_max(x):
    m = x.max()
    e = np.exp(x - m)
    x_bar = e / e.sum()
    m_bar = 1.0 - x_bar.sum()
    x_bar[x.argmax()] += m_bar
    return x_bar


def logistic(weights, bias, x):
    return (1 / (1 + np.exp(-(weights @ x + bias)))).sum()


def logistic_adjoint(weights, bias, x):
    s = 1 / (1 + np.exp(-(weights @ x + bias)))
    z_bar = s * (1 - s)
    return np.outer(z_bar, x), z_bar, weights.T @ z_bar


def mlp(w1, b1, w2, b2, x, label):
    hidden = np.maximum(w1 @ x + b1, 0)
    z = w2 @ hidden + b2
    m = z.max()
    return m + np.log(np.exp(z - m).sum()) - z[label]


def mlp_adjoint(w1, b1, w2, b2, x, label):
    hidden = np.maximum(w1 @ x + b1, 0)
    z = w2 @ hidden + b2
    e = np.exp(z - z.max())
    z_bar = e / e.sum()
    z_bar[label] -= 1
    a_bar = (w2.T @ z_bar) * (hidden > 0)
    return np.outer(a_bar, x), a_bar, np.outer(z_bar, hidden), z_bar


def mlp_adjoint_through_max(w1, b1, w2, b2, x, label):
    hidden = np.maximum(w1 @ x + b1, 0)
    z = w2 @ hidden + b2
    m = z.max()
    e = np.exp(z - m)
    z_bar = e / e.sum()
    m_bar = 1.0 - z_bar.sum()
    z_bar[z.argmax()] += m_bar
    z_bar[label] -= 1
    a_bar = (w2.T @ z_bar) * (hidden > 0)
    return np.outer(a_bar, x), a_bar, np.outer(z_bar, hidden), z_bar


def workloads() -> list[Workload]:
    """The five workloads, with the same random arrays every time."""
    rng = np.random.default_rng(0)
    image = rng.random(784)
    weights = rng.normal(size=(10, 784)) / 28
    layers = (
        rng.normal(size=(32, 784)) / 28,
        rng.normal(size=32) / 10,
        rng.normal(size=(10, 32)) / 6,
        rng.normal(size=10) / 10,
    )
    through_max = "by hand, through max"
    return [
        Workload("SinCos", sincos, sincos_adjoint, (0.7,)),
        Workload("Loop", loop, loop_adjoint, (2.0, 500)),
        Workload(
            "LogSumExp",
            logsumexp,
            logsumexp_adjoint,
            (rng.normal(size=100),),
            others={through_max: logsumexp_adjoint_through_max},
        ),
        Workload(
            "Logistic regression",
            logistic,
            logistic_adjoint,
            (weights, rng.normal(size=10), image),
            argnums=(0, 1, 2),
        ),
        Workload(
            "MLP 784-32-10",
            mlp,
            mlp_adjoint,
            (*layers, image, 3),
            argnums=(0, 1, 2, 3),
            others={through_max: mlp_adjoint_through_max},
        ),
    ]
