"""wengert, native."""

import inspect
from functools import partial

import numpy  # noqa: F401, ICN001  a user has imported it
from problems import CALLS_OUT, FAMILIES

import wengert as wg

IDENTITY = wg.jit(lambda x: x, strict=True)


def call(problem, threads):
    """A call; its `nothing` is how long the way into native code and out of it takes, for a number."""
    form = wg.value_and_grad(problem.function, problem.argnums)
    parallel = threads > 1 and "parallel" in inspect.signature(wg.jit).parameters
    options = {"parallel": True} if parallel and problem.row == "elementwise" else {}
    compiled = wg.jit(form, strict=problem.row not in (CALLS_OUT, FAMILIES), **options)
    made = partial(compiled, *problem.arguments)
    made.nothing = partial(IDENTITY, 0.7)
    return made
