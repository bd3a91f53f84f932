"""wengert, native."""

import inspect

import numpy  # noqa: F401, ICN001  a user has imported it

import wengert as wg

IDENTITY = wg.jit(lambda x: x, strict=True)


class Call:
    """A call; `nothing` is how long the way into native code and out of it takes, for a number."""

    def __init__(self, run, arguments):
        self.run = run
        self.arguments = arguments
        self.nothing = lambda: IDENTITY(0.7)

    def __call__(self):
        return self.run(*self.arguments)


def call(problem, threads):
    form = wg.value_and_grad(problem.function, problem.argnums)
    parallel = threads > 1 and "parallel" in inspect.signature(wg.jit).parameters
    options = {"parallel": True} if parallel and problem.row == "elementwise" else {}
    compiled = wg.jit(form, strict=True, **options)
    return Call(compiled, problem.arguments)
