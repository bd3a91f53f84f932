"""Functions that are called by generated code, not inlined: recursive ones, and large ones."""

import copy
import importlib
import math
from pathlib import Path

import programs
import pytest
import trees
from differences import agree
from programs import pending

import wengert as wg
from wengert import engine

calls = importlib.import_module("wengert.frontends.calls")

# --- every function of the corpus is taken for a large one --------------------------------


@pytest.fixture
def all_are_large(monkeypatch):
    """Every function is called by itself, but for those that the rules are written with."""
    can_be_separate = calls._can_be_separate
    own = str(Path(wg.__file__).parent)
    monkeypatch.setattr(
        calls,
        "_can_be_separate",
        lambda it, closure, bound: (
            not closure.file.startswith(own) and can_be_separate(it, closure, bound)
        ),
    )
    engine._cache.clear()

    def take_for_large(large):
        engine._cache.clear()
        monkeypatch.setattr(calls, "INLINE_NODES", 0 if large else 10**6)

    yield take_for_large
    engine._cache.clear()


def calls_functions(program):
    """Whether some function is written beside the program, or inside of it."""
    code = program.function.__code__
    inside = any(hasattr(constant, "co_code") for constant in code.co_consts)
    return inside or any(callable(program.function.__globals__.get(n)) for n in code.co_names)


CALLING = [p for p in programs.PROGRAMS if calls_functions(p) and p.name not in pending.GRADIENT]


@pytest.mark.parametrize("program", CALLING, ids=lambda program: program.name)
def test_calls_find_what_inlined_code_finds(program, all_are_large):
    found = []
    for large in (True, False):
        all_are_large(large)
        value, back = wg.pullback(program.function, *copy.deepcopy(program.points[0]))
        bars = back(trees.random_like(value))
        found.append((value, [bars[i] for i in program.wrt]))
    (value, bars), (expected_value, expected) = found
    trees.assert_close(value, expected_value, rel=1e-13)
    trees.assert_close(bars, expected, rel=1e-9, scale=1.0)


# --- two functions that one definition makes ----------------------------------------------


def with_base(g):
    def product(x, n):
        if n == 0:
            return g(x)
        return product(x, n - 1) * x

    return product


def with_inner_function(g):
    def product(x, n):
        def base(y):
            return g(y)

        if n == 0:
            return base(x)
        return product(x, n - 1) * x

    return product


def with_class(shifted):
    class Plain:
        def base(self, x):
            return math.sin(x)

    class Shifted:
        def base(self, x):
            return math.cos(x)

    chosen = Shifted if shifted else Plain

    def product(x, n):
        if n == 0:
            return chosen().base(x)
        return product(x, n - 1) * x

    return product


def by_turns(g):
    def even(x, n):
        return g(x) if n == 0 else odd(x, n - 1) * x

    def odd(x, n):
        return g(2 * x) if n == 0 else even(x, n - 1) * x

    return even


def two_bases(x):
    return with_base(math.sin)(x, 3) + 10 * with_base(math.cos)(x, 3)


def two_inner_functions(x):
    return with_inner_function(math.sin)(x, 3) + 10 * with_inner_function(math.cos)(x, 3)


def two_classes(x):
    return with_class(True)(x, 3) + 10 * with_class(False)(x, 3)


def two_pairs(x):
    return by_turns(math.sin)(x, 3) + 10 * by_turns(math.cos)(x, 4)


made_before = with_base(math.sin), with_base(math.cos)


def two_made_before(x):
    first, second = made_before
    return first(x, 3) + 10 * second(x, 3)


def bases_in_a_loop(x):
    total = 0.0
    for k, g in enumerate((math.sin, math.cos, lambda t: t * x)):
        total += (k + 1) * with_base(g)(x, 3)
    return total


@pytest.mark.parametrize(
    "f", [two_bases, two_inner_functions, two_classes, two_pairs, two_made_before, bases_in_a_loop]
)
def test_two_functions_of_one_definition_are_two(f):
    agree(f, 0.7, 1.3)


# --- what a function takes from those around it -------------------------------------------


def own_names_of_an_inner_function(x):
    def half(y, n):
        i = n - 1
        if i < 0:
            return y
        return half(sum([y / 4 for j in range(2)]), i)

    total = x
    for _ in range(2):
        total = total + half(x, 3)
        for i in range(2):
            for j in range(2):
                total = total + half(x, i + j)
    return total


def test_names_that_a_function_binds_are_its_own():
    """Where the function is first called, the loops around it have not bound `i` and `j` yet."""
    agree(own_names_of_an_inner_function, 0.7)
