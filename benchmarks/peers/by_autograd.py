"""HIPS autograd: the same functions, reading its NumPy."""

from functools import partial
from types import FunctionType

import autograd
import autograd.numpy as arrays
from autograd.scipy import special
from problems import FAMILIES

FEWER_STEPS = 1000


def call(problem, _threads):
    if problem.row == FAMILIES:
        return None
    if problem.steps:
        problem = problem.shorter(FEWER_STEPS)
    function = problem.function
    names = {"np": arrays, "math": arrays, "erf": special.erf}
    read = FunctionType(function.__code__, function.__globals__ | names)
    derivative = autograd.value_and_grad(read, problem.argnums)
    return partial(derivative, *problem.arguments)
