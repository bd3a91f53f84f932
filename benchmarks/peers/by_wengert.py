"""wengert, native."""

import inspect

import numpy  # noqa: F401, ICN001  a user has imported it

import wengert as wg

PACKAGE, LABEL = "wengert", "wg.jit"


def call(problem, threads):
    form = wg.value_and_grad(problem.function, problem.argnums)
    parallel = threads > 1 and "parallel" in inspect.signature(wg.jit).parameters
    options = {"parallel": True} if parallel and problem.row == "elementwise" else {}
    compiled = wg.jit(form, strict=True, **options)
    arguments = problem.arguments
    return lambda: compiled(*arguments)


def primal(problem):
    compiled = wg.jit(problem.function, strict=True)
    return lambda: compiled(*problem.arguments)
