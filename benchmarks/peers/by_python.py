"""wengert's Python form, beside native code that calls Python."""

from functools import partial

from problems import CALLS_OUT, FAMILIES

import wengert as wg


def call(problem, _threads):
    if problem.row not in (CALLS_OUT, FAMILIES):
        return None
    return partial(wg.value_and_grad(problem.function, problem.argnums), *problem.arguments)
