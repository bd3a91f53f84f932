"""CasADi: expressions of numbers (SX) or matrices (MX), evaluated through its buffers, as its users do for speed."""

import math
from functools import partial

import casadi as ca
import numpy as np

NEWTON_STEPS = 24


def sincos(x):
    return ca.sin(ca.cos(x))


def small(x):
    return ca.sin(x * x)


def loop(x, n):
    r = 1
    for _ in range(n):
        r *= ca.sin(x)
    return r


def newton(a):
    x = a
    for _ in range(NEWTON_STEPS):
        x = 0.5 * (x + a / x)
    return x


def logsumexp(x):
    return ca.logsumexp(x)


def logistic(weights, bias, x):
    return ca.sum1(1 / (1 + ca.exp(-(weights @ x + bias))))


def mlp(w1, b1, w2, b2, x, label):
    z = w2 @ ca.fmax(w1 @ x + b1, 0) + b2
    return ca.logsumexp(z) - z[label]


def logistic_map(r, x, n):
    state, rate = ca.SX.sym("x"), ca.SX.sym("r")
    step = ca.Function("step", [state, rate], [rate * state * (1 - state)])
    return step.mapaccum(n)(x, ca.repmat(r, 1, n))[-1]


def lorenz(x, y, z, sigma, rho, beta, n):
    h = 0.00001
    state, given = ca.SX.sym("state", 3), ca.SX.sym("given", 3)

    def slopes(s):
        return ca.vertcat(
            given[0] * (s[1] - s[0]), s[0] * (given[1] - s[2]) - s[1], s[0] * s[1] - given[2] * s[2]
        )

    k1 = slopes(state)
    k2 = slopes(state + h / 2 * k1)
    k3 = slopes(state + h / 2 * k2)
    k4 = slopes(state + h * k3)
    step = ca.Function("step", [state, given], [state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)])
    steps = step.mapaccum(n)(ca.vertcat(x, y, z), ca.repmat(ca.vertcat(sigma, rho, beta), 1, n))
    return ca.sum1(steps[:, -1])


NUMBERS, MATRICES = (sincos, small, loop, newton), (logsumexp, logistic, mlp, logistic_map, lorenz)


def call(problem, _threads):
    name = problem.function.__name__
    function = globals().get(name)
    if function not in (*NUMBERS, *MATRICES):
        return None
    kind = ca.SX if function in NUMBERS else ca.MX
    wanted = problem.argnums if isinstance(problem.argnums, tuple) else (problem.argnums,)
    terms, given = [], []
    for k, value in enumerate(problem.arguments):
        constant = isinstance(value, int)
        terms.append(value if constant else kind.sym(f"a{k}", *matrix_shape(value)))
        if not constant:
            given.append(np.asarray(value, dtype=float))
    value = function(*terms)
    gradients = [ca.gradient(value, terms[k]) for k in wanted]
    symbols = [term for term in terms if not isinstance(term, int)]
    buffer, run = ca.Function(name, symbols, [value, *gradients]).buffer()
    given = [each.ravel(order="F") for each in given]
    shapes = [(), *(np.shape(problem.arguments[k]) for k in wanted)]
    flat = [np.zeros(math.prod(shape)) for shape in shapes]
    for k, each in enumerate(given):
        buffer.set_arg(k, memoryview(each))
    for k, each in enumerate(flat):
        buffer.set_res(k, memoryview(each))
    results = [each.reshape(shape, order="F") for each, shape in zip(flat, shapes, strict=True)]
    made = partial(run)
    made.results, made.needed = results, (buffer, given)
    return made


def matrix_shape(value):
    return (*np.shape(value), 1, 1)[:2]
