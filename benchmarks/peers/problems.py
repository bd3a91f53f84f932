"""What `native.py` measures: functions as one writes them in Python and NumPy, and where to differentiate them.

Every tool's module (`by_jax.py`, …) looks up a problem by its name, and says itself how it computes that.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import workloads

FIVE, LOOPS, ELEMENTWISE, SMALL = "Zygote's five", "loops", "elementwise", "small calls"
CALLS_OUT = "what Python computes"
FAMILIES = "families"


@dataclass(frozen=True, slots=True)
class Problem:
    """A function, and the arguments to differentiate it at.

    Attributes:
        name, row: what it is called, and the group of the table that it stands in.
        function, arguments, argnums: the gradient of what, where, with respect to what.
        limit: how many times the time of hand-written C it may take at most.
        steps: what is in `arguments` that a slow tool may have fewer of; None where nothing is.
    """

    name: str
    row: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    argnums: int | tuple[int, ...] = 0
    limit: float = 1.6
    steps: int | None = None

    def shorter(self, divisor: float) -> "Problem":
        """The same with fewer steps, which stand last in the arguments."""
        assert self.steps is not None
        steps = max(1, int(self.steps / divisor))
        arguments = (*self.arguments[:-1], steps)
        return Problem(self.name, self.row, self.function, arguments, self.argnums, steps=steps)


def small(x):
    return math.sin(x * x)


def identity(x):
    return x


def mlp_batch(w1, b1, w2, b2, images, labels):
    hidden = np.maximum(images @ w1.T + b1, 0)
    z = hidden @ w2.T + b2
    m = z.max(axis=1)
    normaliser = m + np.log(np.exp(z - m[:, None]).sum(axis=1))
    return normaliser.sum() - (z * labels).sum()


def newton(a):
    x = a
    while abs(x * x - a) > 1e-12 * a:
        x = 0.5 * (x + a / x)
    return x


def logistic_map(r, x, n):
    for _ in range(n):
        x = r * x * (1 - x)
    return x


def slopes(x, y, z, sigma, rho, beta):
    return sigma * (y - x), x * (rho - z) - y, x * y - beta * z


def lorenz(x, y, z, sigma, rho, beta, n):
    h = 0.00001
    for _ in range(n):
        a1, b1, c1 = slopes(x, y, z, sigma, rho, beta)
        a2, b2, c2 = slopes(x + h / 2 * a1, y + h / 2 * b1, z + h / 2 * c1, sigma, rho, beta)
        a3, b3, c3 = slopes(x + h / 2 * a2, y + h / 2 * b2, z + h / 2 * c2, sigma, rho, beta)
        a4, b4, c4 = slopes(x + h * a3, y + h * b3, z + h * c3, sigma, rho, beta)
        x = x + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
        y = y + h / 6 * (b1 + 2 * b2 + 2 * b3 + b4)
        z = z + h / 6 * (c1 + 2 * c2 + 2 * c3 + c4)
    return x + y + z


KALMAN = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([1.0, 0.0]), 0.01 * np.eye(2)
"""How a body moves, what is seen of it, and the noise on its way."""


def kalman_filter(f, h, q, seen):
    x, p = np.zeros(2), np.eye(2)
    total = 0.0
    for z in seen:
        x, p = f @ x, f @ p @ f.T + q
        variance = h @ p @ h + 0.1
        gain = p @ h / variance
        rest = z - h @ x
        x, p = x + gain * rest, p - np.outer(gain, h @ p)
        total += 0.5 * (np.log(variance) + rest * rest / variance)
    return total


def spectra(signal, weights, n):
    """The power in some frequencies, of a signal that is damped more and more."""
    total = 0.0
    for k in range(n):
        power = np.abs(np.fft.rfft(signal * np.exp(-0.01 * k))) ** 2
        total += np.log(1.0 + (weights * power).sum())
    return total


def pseudo_inverses(a, n):
    for k in range(n):
        a = np.linalg.pinv(a).T * 0.5 + np.cos(a + k)
    return (a * a).sum()


@cache
def light_problems(quick: bool = False) -> dict[str, Problem]:
    """The problems that need NumPy alone, by name; `quick` makes the large ones small."""
    rng = np.random.default_rng(1)
    five = {each.name: each for each in workloads.workloads()}
    many, batch, steps = (100, 4, 100) if quick else (10**4, 128, 10**6)
    weights = five["MLP 784-32-10"].arguments[:4]
    images, labels = rng.random((batch, 784)), np.eye(10)[rng.integers(0, 10, batch)]
    start = (1.0, 1.0, 1.0, 10.0, 28.0, 8 / 3)
    found = [
        *(
            Problem(name, FIVE, each.function, each.arguments, each.argnums)
            for name, each in five.items()
        ),
        Problem("LogSumExp 10⁴", FIVE, workloads.logsumexp, (rng.normal(size=many),)),
        Problem("MLP, batch of 128", FIVE, mlp_batch, (*weights, images, labels), (0, 1, 2, 3)),
        Problem("logistic map", LOOPS, logistic_map, (3.2, 0.4, steps), (0, 1), 1.2, steps),
        Problem("Lorenz, RK4", LOOPS, lorenz, (*start, steps), (0, 1, 2, 3, 4, 5), 1.2, steps),
        Problem("Newton", LOOPS, newton, (1e12,), 0, 1.2),
        Problem("Kalman filter", CALLS_OUT, kalman_filter, (*KALMAN, rng.normal(size=many // 100))),
        Problem("spectra", CALLS_OUT, spectra, (rng.normal(size=128), rng.random(65), many // 500)),
        Problem("pseudo-inverses", CALLS_OUT, pseudo_inverses, (rng.normal(size=(4, 3)), 10)),
        Problem("sin(x²)", SMALL, small, (0.7,)),
        Problem("x", SMALL, identity, (0.7,)),
    ]
    return {each.name: each for each in found}


@cache
def problems(quick: bool = False) -> dict[str, Problem]:
    """All problems by name, with the same random arrays every time."""
    from elementwise import problems_of
    from families import families

    heavy = [*problems_of(100 if quick else 10**6), *families(quick)]
    return light_problems(quick) | {each.name: each for each in heavy}
