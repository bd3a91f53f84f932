"""wengert, native."""

import inspect

import numpy as np

import wengert as wg

PACKAGE, LABEL = "wengert", "wg.jit"


def of_array(x):
    return 0.0, np.empty_like(x)


def of_three(a, b, c):
    return 0.0, (np.empty_like(a), np.empty_like(b), np.empty_like(c))


def of_layers(w1, b1, w2, b2, x, labels):
    return 0.0, (np.empty_like(w1), np.empty_like(b1), np.empty_like(w2), np.empty_like(b2))


NOTHING = {
    "logsumexp": of_array,
    "logistic": of_three,
    "mlp": of_layers,
    "mlp_batch": of_layers,
    "black_scholes": of_three,
    "softplus_of_gelu": of_array,
}
"""What takes and gives the same types as the gradient of a problem, and computes nothing."""


class Call:
    """A call; `nothing` is how long the way into native code and out of it takes."""

    def __init__(self, run, nothing, arguments):
        self.run = run
        self.arguments = arguments
        self.nothing = lambda: nothing(*arguments)

    def __call__(self):
        return self.run(*self.arguments)


def call(problem, threads):
    form = wg.value_and_grad(problem.function, problem.argnums)
    parallel = threads > 1 and "parallel" in inspect.signature(wg.jit).parameters
    options = {"parallel": True} if parallel and problem.row == "elementwise" else {}
    compiled = wg.jit(form, strict=True, **options)
    nothing = NOTHING.get(problem.function.__name__) or NUMBERS[len(problem.arguments)]
    nothing = wg.jit(nothing, strict=True)
    return Call(compiled, nothing, problem.arguments)


NUMBERS = {
    1: lambda a: (0.0, 1.0),
    2: lambda a, b: (0.0, 1.0),
    3: lambda a, b, c: (0.0, (1.0, 1.0)),
    7: lambda a, b, c, d, e, f, g: (0.0, (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)),
}
