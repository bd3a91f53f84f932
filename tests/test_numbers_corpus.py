"""The programs of the corpus, run on numbers and on terms, against the engine that reads their source.

`math`'s functions take floats alone, so the programs' own modules are given ops in their place. A program
that numbers or terms cannot go through has to say so; none may give another derivative.
"""

import contextlib
import copy
import math
import sys
import types
from collections import Counter

import numpy as np
import programs
import pytest
from programs import pending

import wengert as wg
from wengert import numbers
from wengert.backends.graph import Term
from wengert.ops import registry

KNOWN = {
    # the program catches the exception with which NumPy refuses to write a Dual to an array of floats
    "control.partial_mutation_before_failure",
    # the engine's zero tangent meets an infinite partial (√0); a number's stays zero
    "objects.controlled_tank",
}
SLOW = {"simulations.lotka_volterra"}
ASSERTS_FLOATS = {"branches.assertion_holds"}
REFUSALS = (
    wg.WengertError, TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError,
)  # fmt: skip
"""What says no: wengert, Python where an operation is missing, NumPy where an array keeps floats only, and
programs that ask for a float."""


class OpsForMath:
    """The module `math`, its functions on whatever they are given."""

    def __getattr__(self, name):
        return on_anything(getattr(math, name))


def on_anything(value):
    found = registry.find(value) if callable(value) else None
    return value if found is None else found[0]


@pytest.fixture
def ops_for_math(monkeypatch):
    for module in [m for name, m in sys.modules.items() if name.startswith("programs.")]:
        for name, value in list(vars(module).items()):
            if value is math:
                monkeypatch.setattr(module, name, OpsForMath())
            elif isinstance(value, types.BuiltinFunctionType) and value.__module__ == "math":
                monkeypatch.setattr(module, name, on_anything(value))


def ones(x):
    """A direction: one for every float, None for what has no tangent."""
    if isinstance(x, np.ndarray):
        return np.ones_like(x) if x.dtype.kind in "fc" else None
    if isinstance(x, (list, tuple)):
        return type(x)(map(ones, x)) if type(x) in (list, tuple) else None
    if isinstance(x, dict):
        return {key: ones(value) for key, value in x.items()}
    return 1.0 if isinstance(x, (float, complex)) else None


def moved(x, direction, t):
    if direction is None:
        return x
    if isinstance(x, (list, tuple)):
        return type(x)(moved(a, d, t) for a, d in zip(x, direction, strict=True))
    if isinstance(x, dict):
        return {key: moved(value, direction[key], t) for key, value in x.items()}
    return x + t * direction


def assert_same(found, expected):
    if isinstance(expected, (list, tuple)):
        for a, b in zip(found, expected, strict=True):
            assert_same(a, b)
    elif isinstance(expected, dict):
        for key in expected:
            assert_same(found[key], expected[key])
    elif expected is not None:
        found, expected = (np.asarray(value, dtype=complex) for value in (found, expected))
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


def by_dual(program, args, direction):
    return numbers.pushforward(program.function, copy.deepcopy(args), direction)[1]


def by_tower(program, args, direction):
    def along(t):
        args_there = [moved(x, d, t) for x, d in zip(copy.deepcopy(args), direction, strict=True)]
        return program.function(*args_there)

    return wg.taylor(along, 0.0, 1)[1]


def by_graph(program, args, direction):
    term = wg.trace(program.function, *copy.deepcopy(args))
    if not isinstance(term, Term) or np.shape(term.eval()) != ():
        raise TypeError("not one number")
    if any(isinstance(value, int) for value in term.graph.values.values()):
        raise TypeError("integers have a derivative in a graph, and no direction here")
    variables = term.graph.variables(*term.graph.leaves)
    forward = sum(np.sum(term.derive(variable).eval()) for variable in variables)
    if not any(np.iscomplexobj(value) for value in (forward, *term.graph.values.values())):
        assert_same(sum(np.sum(each.eval()) for each in term.gradient()), forward)
        term.backprop()
        backward = [term.graph.gradients.get(variable.atom, 0.0) for variable in variables]
        assert_same(sum(map(np.sum, backward)), forward)
    return forward


def directed_programs():
    for program in programs.PROGRAMS:
        direction = [ones(x) for x in program.points[0]]
        unsuited = pending.GRADIENT | KNOWN | SLOW | ASSERTS_FLOATS
        if program.name not in unsuited and any(d is not None for d in direction):
            yield program, program.points[0], direction


@pytest.fixture(scope="module")
def expected():
    found = {}
    for program, args, direction in directed_programs():
        with contextlib.suppress(Exception):
            _, push = wg.pushforward(program.function, *copy.deepcopy(args))
            found[program.name] = push(*direction)
    return found


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("reader", "at_least"), [(by_dual, 460), (by_tower, 380), (by_graph, 195)])
def test_numbers_agree_with_the_engine(expected, ops_for_math, reader, at_least):
    outcomes = Counter()
    for program, args, direction in directed_programs():
        if program.name not in expected:
            continue
        try:
            found = reader(program, args, direction)
        except REFUSALS:
            outcomes["refused"] += 1
            continue
        except Exception as error:
            raise AssertionError(program.name) from error
        try:
            assert_same(found, expected[program.name])
        except Exception as error:
            raise AssertionError(program.name) from error
        outcomes["agree"] += 1
    assert outcomes["agree"] >= at_least, outcomes
