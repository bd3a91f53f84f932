"""The oracle itself: right where the answer is known, loud where it cannot know."""

# ruff: noqa: PLW0108 (a lambda is the program under test)

import math

import exact
import numpy as np
import oracle
import programs
import pytest
import trees

SCALE = 3.0


def helper(x):
    return math.sin(x) * SCALE


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (lambda x: helper(x), 0.7, 3 * math.cos(0.7)),
        (lambda x: math.erf(x), 1e-3, 2 / math.sqrt(math.pi) * math.exp(-1e-6)),
        (lambda x: x**x, 1.5, 1.5**1.5 * (1 + math.log(1.5))),
        (lambda x: math.tanh(x), 20.0, 1.6993417021166355e-17),
        (lambda x: abs(x) * (x if x < 0 else 2 * x), -1.5, 3.0),
    ],
)
def test_known_derivatives(function, x, expected):
    (found,) = oracle.gradient(function, x)
    assert found == pytest.approx(expected, rel=1e-14)


def test_second_derivatives():
    (found,) = oracle.hessian_times(lambda x, y: x**3 * y, (2.0, 5.0), (1.0,), wrt=(0,))
    assert found == pytest.approx(60.0, rel=1e-14)
    mixed = oracle.hessian_times(lambda x, y: x**3 * y, (2.0, 5.0), (0.0, 1.0))
    assert mixed == pytest.approx((12.0, 0.0), rel=1e-14, abs=1e-20)


def test_complex_arguments_give_the_two_partials_of_a_real_function():
    (found,) = oracle.gradient(lambda z: abs(z) ** 2 + 3 * z.imag, 1 + 2j)
    assert found == pytest.approx(2 + 7j, rel=1e-14)


def test_a_function_in_double_precision_cannot_slip_in():
    def leaks(x):
        return np.interp(x, [0.0, 1.0], [0.0, 2.0])

    with pytest.raises(exact.NotCovered, match=r"np\.interp"):
        oracle.gradient(leaks, 0.5)
    with pytest.raises(TypeError):
        float(exact.Exact(1.0))
    with pytest.raises(TypeError):
        math.sin(exact.Exact(1.0))
    with pytest.raises(exact.NotCovered, match="type"):
        oracle.gradient(lambda x: x if type(x) is float else 0.0, 0.5)


def test_the_original_function_is_left_alone():
    before = dict(helper.__globals__)
    oracle.gradient(helper, 0.3)
    assert helper.__globals__ == before
    assert helper(0.5) == math.sin(0.5) * 3


def test_not_a_number_is_close_to_nothing():
    with pytest.raises(AssertionError):
        trees.assert_close(math.nan, math.nan)
    with pytest.raises(AssertionError):
        trees.assert_close(np.array([1.0, math.nan]), np.array([1.0, 0.0]))


def test_wrong_in_the_ninth_digit_is_wrong():
    with pytest.raises(AssertionError):
        trees.assert_close(1.000000001, 1.0)


NUMPY_ONLY = [programs.arrays.logsumexp, programs.models.vectorised_rosenbrock]


@pytest.mark.parametrize("function", NUMPY_ONLY, ids=lambda f: f.__name__)
def test_the_complex_step_agrees(function):
    x = np.array([1.2, 0.7, 1.5])
    (gradient,) = oracle.gradient(function, x)
    for k, expected in enumerate(gradient):
        found = oracle.complex_step(lambda t, k=k: function(replaced(x, k, t)), x[k])
        assert found == pytest.approx(expected, rel=1e-13)


def replaced(x, k, value):
    return np.concatenate([x[:k], [value], x[k + 1 :]])


def every_point():
    for program in programs.PROGRAMS:
        for k, args in enumerate(program.points):
            yield pytest.param(program, args, id=f"{program.name}-{k}")


@pytest.mark.parametrize(("program", "args"), list(every_point()))
def test_every_program_runs_in_high_precision(program, args, capsys):
    value = program.function(*args)
    trees.assert_close(oracle.run(program.function, *args), value, rel=1e-9)
    y_bar = trees.random_like(value)
    gradient = oracle.gradient(program.function, *args, wrt=program.wrt, cotangent=y_bar)
    tangents = tuple(trees.random_like(args[i], seed=i + 1) for i in program.wrt)
    full = [dict(zip(program.wrt, tangents, strict=True)).get(i) for i in range(len(args))]
    slope = oracle.directional(program.function, args, full, y_bar)
    oracle.assert_transposed(slope, 1.0, gradient, tangents)
