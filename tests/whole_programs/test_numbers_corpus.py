"""All modes and all readers of the table of rules, on the programs of the corpus, to second order.

Source forward, source reverse, duals, towers and graphs say the same in a random direction: so they agree on
gradients, Jacobians, Hessians and their products. `math`'s functions take floats alone, so for numbers and
terms the programs' own modules are given ops in their place. A program that numbers or terms cannot go
through has to say so; none may give another derivative. How many agree may only grow.

The first derivatives of one half of the corpus are asked for, the second ones of a third (`turns.py`).
"""

import copy
import math
import sys
import types
from collections import Counter
from typing import Any, NamedTuple

import numpy as np
import programs
import pytest
import trees
from programs import pending
from turns import EVERY_PROGRAM, turn_of

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


def random_direction(x, rng):
    """A tangent of every float, None for what has none."""
    if isinstance(x, np.ndarray):
        real, imaginary = rng.normal(size=(2, *x.shape))
        found = real + 1j * imaginary if x.dtype.kind == "c" else real
        return found.astype(x.dtype) if x.dtype.kind in "fc" else None
    if isinstance(x, (list, tuple)):
        return as_in(x, [random_direction(each, rng) for each in x])
    if isinstance(x, dict):
        return {key: random_direction(value, rng) for key, value in x.items()}
    if isinstance(x, complex):
        return complex(*rng.normal(size=2))
    return float(rng.normal()) if isinstance(x, float) else None


def as_in(x, items):
    """A list, tuple or named tuple of other items."""
    return type(x)(*items) if hasattr(x, "_fields") else type(x)(items)


def moved(x, direction, t):
    if direction is None:
        return x
    if isinstance(x, (list, tuple)):
        return as_in(x, [moved(a, d, t) for a, d in zip(x, direction, strict=True)])
    if isinstance(x, dict):
        return {key: moved(value, direction[key], t) for key, value in x.items()}
    return x + t * direction


def leaves(direction):
    """The parts of a direction, in the order in which a graph has variables."""
    if isinstance(direction, dict):
        direction = list(direction.values())
    if isinstance(direction, (list, tuple)):
        return [leaf for each in direction for leaf in leaves(each)]
    return [direction]


def along(program, args, direction):
    """The program on a line through a point."""

    def at(t):
        there = [moved(x, d, t) for x, d in zip(copy.deepcopy(args), direction, strict=True)]
        return program.function(*there)

    return at


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


# --- first order: the derivative in the direction -------------------------------------------------


def by_source_reverse(program, args, direction):
    slopes = wg.gradient(program.function, *copy.deepcopy(args))
    return slope_along(slopes, direction)


def slope_along(slopes, direction):
    """The inner product of a gradient and a direction; what has no direction has no part in it."""
    if direction is None:
        return 0.0
    if isinstance(direction, (list, tuple)):
        return sum(slope_along(a, d) for a, d in zip(slopes, direction, strict=True))
    if isinstance(direction, dict):
        return sum(slope_along(slopes[key], d) for key, d in direction.items())
    return trees.inner(slopes, direction)


def by_dual(program, args, direction):
    return numbers.pushforward(program.function, copy.deepcopy(args), direction)[1]


def by_tower(program, args, direction):
    return wg.taylor(along(program, args, direction), 0.0, 1)[1]


def by_graph(program, args, direction):
    term, variables, parts = traced(program, args, direction)
    pairs = list(zip(variables, parts, strict=True))
    backward = sum(np.sum(v * term.gradient(x)[0].eval()) for x, v in pairs)
    term.backprop()
    found = [term.graph.gradients.get(x.atom, 0.0) for x in variables]
    assert_same(sum(np.sum(v * x_bar) for x_bar, v in zip(found, parts, strict=True)), backward)
    if all(np.ndim(v) == 0 for v in parts):
        assert_same(sum(v * term.derive(x).eval() for x, v in pairs), backward)
    return backward


def traced(program, args, direction):
    """The term that a program computes, its variables, and what the direction is for each."""
    term = wg.trace(program.function, *copy.deepcopy(args))
    if not isinstance(term, Term) or np.shape(term.eval()) != ():
        raise TypeError("not one number")
    values = list(term.graph.values.values())
    if any(np.iscomplexobj(value) for value in (term.eval(), *values)):
        raise TypeError("of a complex variable the gradient is no directional derivative")
    if any(np.asarray(value).dtype.kind != "f" for value in values):
        raise TypeError("integers have a derivative in a graph, and no direction here")
    parts = [part for part in leaves(direction) if part is not None]
    return term, term.graph.variables(*term.graph.leaves), parts


# --- second order: vᵀ H v ----------------------------------------------------------------------------


def by_hessian(program, args, direction):
    k, v = moving(args, direction)
    return quadratic(wg.hessian(program.function, k)(*copy.deepcopy(args)), v)


def by_reverse_over_reverse(program, args, direction):
    k, v = moving(args, direction)
    gradient = wg.grad(program.function, k)
    return quadratic(wg.jacobian(gradient, k, mode="reverse")(*copy.deepcopy(args)), v)


def by_dual_of_dual(program, args, direction):
    line = along(program, args, direction)
    return numbers.derivative(lambda t: numbers.derivative(lambda s: line(s + t), 0.0), 0.0)


def by_second_coefficient(program, args, direction):
    return 2 * wg.taylor(along(program, args, direction), 0.0, 2)[2]


def by_graph_twice(program, args, direction):
    term, variables, parts = traced(program, args, direction)
    pairs = list(zip(variables, parts, strict=True))
    slope = sum((v * x_bar).sum() if np.ndim(v) else v * x_bar
                for x_bar, v in zip(term.gradient(*variables), parts, strict=True))  # fmt: skip
    if not isinstance(slope, Term):
        return slope
    return sum(np.sum(v * slope.gradient(x)[0].eval()) for x, v in pairs)


def moving(args, direction):
    """Which argument moves, and its direction as an array."""
    (k,) = [k for k, d in enumerate(direction) if d is not None]
    if not isinstance(args[k], (float, np.ndarray)):
        raise TypeError("a container, whose Hessian has parts")
    return k, np.asarray(direction[k])


def quadratic(matrix, v):
    return np.sum(v * np.tensordot(matrix, v, v.ndim))


# --- the corpus ------------------------------------------------------------------------------------


class Case(NamedTuple):
    program: programs.Program
    args: tuple[Any, ...]
    direction: list[Any]
    expected: Any


def first_order(turn):
    rng = np.random.default_rng(0)
    for program in programs.PROGRAMS:
        if turn_of(program.name, PARTS) != turn:
            continue
        args = program.points[0]
        direction = [random_direction(x, rng) for x in args]
        unsuited = pending.GRADIENT | KNOWN | SLOW | ASSERTS_FLOATS
        if program.name not in unsuited and any(part is not None for part in leaves(direction)):
            _, push = wg.pushforward(program.function, *copy.deepcopy(args))
            yield Case(program, args, direction, push(*direction))


def second_order(cases):
    """By forward over reverse, in the first argument that moves."""
    for program, args, direction, slope in cases:
        if not program.smooth or not isinstance(slope, float) or program.name in pending.HVP:
            continue
        k = next(k for k, d in enumerate(direction) if any(p is not None for p in leaves(d)))
        v = direction[k]
        only = [d if j == k else None for j, d in enumerate(direction)]
        product = wg.hvp(program.function, k)(*copy.deepcopy(args), v)
        yield Case(program, args, only, slope_along(product, v))


@pytest.fixture
def cases(order, turn):
    """Found before the programs are given ops in the place of `math`."""
    first = first_order(turn)
    return list(first if order == 1 else second_order(first))


PARTS = 12
READERS = {
    1: (by_source_reverse, by_dual, by_tower, by_graph),
    2: (
        by_hessian,
        by_reverse_over_reverse,
        by_dual_of_dual,
        by_second_coefficient,
        by_graph_twice,
    ),
}
AT_LEAST: dict[tuple[int, int], tuple[int, ...]] = {
    (1, 0): (42, 40, 34, 21),
    (1, 2): (51, 47, 40, 19),
    (1, 4): (48, 43, 38, 18),
    (1, 6): (67, 50, 44, 25),
    (1, 8): (57, 49, 44, 20),
    (1, 10): (53, 49, 38, 22),
    (2, 1): (36, 36, 44, 39, 11),
    (2, 4): (34, 33, 45, 40, 7),
    (2, 7): (31, 31, 38, 30, 10),
    (2, 10): (35, 35, 44, 36, 10),
}
"""How many programs of a part agree, by reader; those that only `WENGERT_EVERY_PROGRAM=1` asks for are not counted."""
EVERYTHING = [(order, turn) for order in READERS for turn in range(PARTS)]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("order", "turn"), EVERYTHING if EVERY_PROGRAM else AT_LEAST)
def test_readers_agree(cases, ops_for_math, order, turn):
    agree = Counter()
    for program, args, direction, expected in cases:
        for reader in READERS[order]:
            try:
                found = reader(program, args, direction)
            except REFUSALS:
                continue
            except Exception as error:
                raise AssertionError(program.name, reader.__name__) from error
            try:
                assert_same(found, expected)
            except Exception as error:
                raise AssertionError(program.name, reader.__name__) from error
            agree[reader] += 1
    counts = tuple(agree[reader] for reader in READERS[order])
    least = AT_LEAST.get((order, turn), (0,) * len(counts))
    assert all(count >= at_least for count, at_least in zip(counts, least, strict=True)), counts
