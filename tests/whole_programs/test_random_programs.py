"""Programs that nobody wrote: drawn by Hypothesis, differentiated, held against the oracle."""

import math

import oracle
import pytest
import trees
from hypothesis import assume, given, settings
from random_programs import random_programs

import wengert as wg

EXAMPLES = settings.default.max_examples // 2  # each is differentiated in six ways
REL = 1e-9  # a drawn program may be badly conditioned; a wrong derivative is wrong by far more


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("drawn")


def reference(program, point):
    """Value and gradient by the oracle; programs with a kink or blown-up values are left out."""
    try:
        value = program(*point)
        gradient = oracle.gradient(program, *point)
    except (OverflowError, ZeroDivisionError):
        assume(False)
    # the value depends on branches taken: near a kink both precisions might part
    assume(abs(value) < 1e3 and all(math.isfinite(x) and abs(x) < 1e4 for x in gradient))
    trees.assert_close(oracle.run(program, *point), value, rel=1e-9)
    return value, gradient


@pytest.mark.filterwarnings("ignore:.*what this loop finds")  # drawn loops may look like searches
@settings(max_examples=EXAMPLES)
@given(drawn=random_programs())
def test_first_derivatives(folder, drawn):
    program, (x, y) = drawn.load(folder), drawn.point
    value, gradient = reference(program, drawn.point)
    found_value, found = wg.value_and_grad(program, argnums=(0, 1))(x, y)
    assert found_value == value
    trees.assert_close(found, gradient, rel=REL)
    recorded_value, found = wg.value_and_grad(program, argnums=(0, 1), tier="recorded")(x, y)
    assert recorded_value == value
    trees.assert_close(found, gradient, rel=REL)
    specialised = wg.grad(program, argnums=(0, 1)).specialize(x, y)
    trees.assert_close(specialised(x, y), gradient, rel=REL)
    pushed_value, push = wg.pushforward(program, x, y)
    assert pushed_value == value
    trees.assert_close(push(1.0, -0.5), gradient[0] - 0.5 * gradient[1], rel=REL)
    _, back = wg.pullback(program, x, y)
    trees.assert_close(back(2.0), (2 * gradient[0], 2 * gradient[1]), rel=REL)


@pytest.mark.filterwarnings("ignore:.*what this loop finds")  # drawn loops may look like searches
@settings(max_examples=EXAMPLES)
@given(drawn=random_programs())
def test_second_derivatives(folder, drawn):
    program, point = drawn.load(folder), drawn.point
    reference(program, point)
    bend = oracle.hessian_times(program, point, (1.0, 0.5))
    assume(all(abs(x) < 1e5 for x in bend))
    for argnum in (0, 1):
        expected = oracle.hessian_times(program, point, (2.0,), wrt=(argnum,))
        found = wg.hvp(program, argnums=argnum)(*point, 2.0)
        trees.assert_close((found,), expected, rel=10 * REL)

    def slope(x, y):
        x_bar, y_bar = wg.grad(program, argnums=(0, 1))(x, y)
        return x_bar + 0.5 * y_bar

    trees.assert_close(wg.grad(slope, argnums=(0, 1))(*point), bend, rel=10 * REL)
