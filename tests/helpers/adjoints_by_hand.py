"""Gradients of programs of the corpus as a careful person writes them by hand, and how operations are counted.

Each gives what `wg.gradient` gives. They follow the program line by line with the chain rule, use what the function
computes where that saves work, and compute nothing twice; but formulas stay as the program has them (a person who
knows that 3x² + 2x + 1 is meant writes 6x + 2), and what raises in the program raises in them.
"""

import copy
import math

import numpy as np
import programs
from programs.models import FEATURES, LABELS

from wengert.compile import engine
from wengert.ir.builder import kind_of_atom
from wengert.ir.graph import CALL, walk
from wengert.ir.types import is_differentiable
from wengert.passes.blocks.tidy import tidy

PRODUCTS = frozenset(("matmul", "outer", "dot", "inner", "solve", "inv", "einsum"))
BOOKKEEPING = frozenset(("copy", "to_float", "conj"))


def operations(function):
    """What a function in the IR computes, with those it calls: arithmetic, functions, reductions, products.

    Reading, storing, shapes and what an index or a condition is computed by do not count.
    """
    seen = {}
    pending = [function]
    while pending:
        current = pending.pop()
        if id(current) not in seen:
            seen[id(current)] = current
            calls = [eqn for eqn in walk(current.body) if eqn.op is CALL]
            pending += [eqn.param("callee").function for eqn in calls]
    return sum(is_operation(eqn) for each in seen.values() for eqn in walk(each.body))


def is_operation(eqn):
    computes = eqn.op.elementwise or eqn.op.reduction or eqn.op.name in PRODUCTS
    if not computes or eqn.op.name in BOOKKEEPING:
        return False
    return is_differentiable(kind_of_atom(eqn.outs[0]))


def operations_by_hand(function, args):
    """The same of a function that somebody wrote, read by the front end."""
    return operations(tidy(engine.read(engine.call_of(function, copy.deepcopy(args), {})).function))


def polynomial(x):
    t = 3 * x
    return t + t + 2


def product_and_sine(a, b):
    return b, a + math.cos(b)


def gaussian(x, mu, sigma):
    z = (x - mu) / sigma
    h = -0.5 * z
    s = sigma * math.sqrt(2 * math.pi)
    y = math.exp(h * z) / s
    z_bar = y * h + y * z * -0.5
    x_bar = z_bar / sigma
    return x_bar, -x_bar, -(y / s * math.sqrt(2 * math.pi)) - z_bar * (z / sigma)


def softplus(x):
    e = math.exp(x)
    math.log1p(e)  # may raise
    return e / (1 + e)


def used_many_times(x):
    y = x * x
    z = y + x
    q = 1 / z
    z_bar = y - y * q * q + x
    y_bar = z + q + z_bar
    return z + 1 + z_bar + 2 * x * y_bar


def special_functions(x):
    y = 2 * x
    c = 2 / math.sqrt(math.pi)
    return c * math.exp(-x * x) + math.erfc(y) - c * math.exp(-y * y) * x * 2


def logistic_map(r, x, n):
    xs = []
    for _ in range(n):
        xs.append(x)
        x = r * x * (1 - x)
    r_bar, x_bar = 0.0, 1.0
    for x in reversed(xs):
        t = x_bar * (1 - x)
        r_bar = r_bar + t * x
        x_bar = t * r - x_bar * (r * x)
    return r_bar, x_bar


def black_scholes(spot, strike, rate, volatility, time):
    root = math.sqrt(time)
    spread = volatility * root
    ratio = spot / strike
    drift = rate + volatility**2 / 2
    d1 = (math.log(ratio) + drift * time) / spread
    d2 = d1 - spread
    half = math.sqrt(2)
    u1, u2 = d1 / half, d2 / half
    c1, c2 = 0.5 * (1 + math.erf(u1)), 0.5 * (1 + math.erf(u2))
    discount = math.exp(-rate * time)
    worth = strike * discount
    slope = 0.5 * 2 / math.sqrt(math.pi) / half
    d2_bar = -worth * slope * math.exp(-u2 * u2)
    d1_bar = spot * slope * math.exp(-u1 * u1) + d2_bar
    top_bar = d1_bar / spread
    spread_bar = -d1_bar * d1 / spread - d2_bar
    ratio_bar = top_bar / ratio
    drift_bar = top_bar * time
    exponent_bar = -c2 * worth
    spot_bar = c1 + ratio_bar / strike
    strike_bar = -c2 * discount - ratio_bar * ratio / strike
    rate_bar = drift_bar - exponent_bar * time
    volatility_bar = drift_bar / 2 * (2 * volatility) + spread_bar * root
    time_bar = top_bar * drift - exponent_bar * rate + spread_bar * volatility * 0.5 / root
    return spot_bar, strike_bar, rate_bar, volatility_bar, time_bar


def vectorised_rosenbrock(x):
    miss = x[1:] - x[:-1] ** 2.0
    t = 100.0 * (2.0 * miss)
    x_bar = np.zeros_like(x)
    x_bar[1:] += t
    x_bar[:-1] += -(t * (2.0 * x[:-1])) - 2.0 * (1 - x[:-1])
    return x_bar


def logistic_regression(weights, bias):
    e = np.exp(-(FEATURES @ weights + bias))
    q = 1 + e
    p = 1 / q
    p_bar = -LABELS / len(LABELS) / p + (1 - LABELS) / len(LABELS) / (1 - p)
    z_bar = p_bar * (p / q) * e
    return FEATURES.T @ z_bar + 0.1 * (2 * weights), np.sum(z_bar)


def quadratic_form(a, x):
    a_bar = np.outer(x, x)
    a_bar[0] += x
    return a_bar, a @ x + a.T @ x + 2 * x + a[0]


def solved(a, b):
    x = np.linalg.solve(a, b)
    y = np.linalg.solve(a.T, 2 * x + b)
    return -np.outer(y, x), y + x


BY_HAND = {
    "scalars": (
        polynomial, product_and_sine, gaussian, softplus, used_many_times, special_functions,
    ),
    "loops": (logistic_map,),
    "models": (black_scholes, vectorised_rosenbrock, logistic_regression),
    "algebra": (quadratic_form, solved),
}  # fmt: skip
NAMED = {
    f"{theme}.{adjoint.__name__}": adjoint for theme, each in BY_HAND.items() for adjoint in each
}
PAIRS = [(p, NAMED[p.name]) for p in programs.PROGRAMS if p.name in NAMED]
