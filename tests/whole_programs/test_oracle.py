"""The oracle itself: right where the answer is known, loud where it cannot know."""

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
    value = program(*args)
    trees.assert_close(oracle.run(program.function, *args), value, rel=1e-9)
    y_bar = trees.random_like(value)
    gradient = oracle.gradient(program.function, *args, wrt=program.wrt, cotangent=y_bar)
    tangents = tuple(trees.random_like(args[i], seed=i + 1) for i in program.wrt)
    full = [dict(zip(program.wrt, tangents, strict=True)).get(i) for i in range(len(args))]
    slope = oracle.directional(program.function, args, full, y_bar)
    oracle.assert_transposed(slope, 1.0, gradient, tangents)


@pytest.mark.parametrize(("program", "args"), list(every_point()))
def test_differences_of_floats_agree(program, args, capsys):
    y_bar = trees.random_like(program(*args))
    exactly = oracle.gradient(program.function, *args, wrt=program.wrt, cotangent=y_bar)
    roughly = oracle.central_gradient(program, *args, wrt=program.wrt, cotangent=y_bar)
    trees.assert_close(roughly, exactly, rel=1e-5, scale=0.1)


@pytest.mark.parametrize(("program", "args"), list(every_point()))
def test_no_point_lies_on_a_kink(program, args, capsys):
    y_bar = trees.random_like(program(*args))
    assert not oracle.is_bent(program.function, *args, wrt=program.wrt, cotangent=y_bar)


def test_a_kink_is_found():
    assert oracle.is_bent(abs, 0.0)
    assert oracle.is_bent(lambda x, y: max(x, y), 0.3, 0.1 + 0.2)
    assert not oracle.is_bent(abs, 0.1)


class Counter:
    """A class whose objects change, for the tests below."""

    made = 0

    def __init__(self, value):
        self.value = value

    def double(self):
        self.value *= 2
        return self

    @property
    def half(self):
        return math.sqrt(self.value**2) / 2


class LoudCounter(Counter):
    def double(self):
        return super().double()


TOTALS = {"sum": 0.0}
LAST = 0.0


def add_to_totals(x):
    global LAST
    LAST = x
    TOTALS["sum"] += x
    return read_last() + TOTALS["sum"]


def read_last():
    return LAST


def test_what_a_program_changes_outside_of_it_stays_as_it_was():
    assert oracle.gradient(add_to_totals, 0.5) == pytest.approx((2.0,), rel=1e-14)
    assert TOTALS == {"sum": 0.0}
    assert LAST == 0.0


def test_every_run_has_arguments_of_its_own():
    def run(counter, values, counts):
        values[0] = counter.double().value * values[1]
        counts[0] += 1
        return values[0] + counter.half * counts[0]

    counter, values, counts = LoudCounter(1.5), np.array([1.0, 3.0]), np.array([2, 1])
    found = oracle.gradient(run, counter, values, counts, wrt=(0, 1))
    assert found[0].value == pytest.approx(9.0, rel=1e-14)
    assert found[1] == pytest.approx([0.0, 3.0], rel=1e-14)
    assert (counter.value, list(values), list(counts)) == (1.5, [1.0, 3.0], [2, 1])


def test_arrays_are_changed_where_they_are():
    def run(a, b):
        view, same = a[::2], a
        view[0] = 2 * b
        same += 1
        np.add.at(a, [1, 1], b)
        np.multiply(a, 2.0, out=a)
        a[a > 5.0] = 0
        table = np.zeros((2, 2))
        table[0, 1] = a[0]
        table.T[0] += a[1]
        np.fill_diagonal(table, 1)
        table[1] = np.asarray(table)[1] + np.multiply.outer(a, a)[0, 1] * np.add.accumulate(a)[:2]
        return table[0, 1] * table[1, 0] + view[0] + a[2]

    a = np.array([0.0, -0.5, 4.5])
    value = run(a.copy(), 0.7)
    assert oracle.run(run, a, 0.7) == pytest.approx(value, rel=1e-15)
    expected = oracle.central_gradient(run, a, 0.7)
    assert trees.coordinates(oracle.gradient(run, a, 0.7)) == pytest.approx(
        trees.coordinates(expected), rel=1e-8
    )
