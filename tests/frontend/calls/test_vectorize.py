"""`np.vectorize`: functions of entries and of parts of arrays, with its options and its errors."""

import math

import numpy as np
import pytest
from error_texts import last_line

import wengert as wg

X = np.array([0.5, 1.2, 2.3])
PROGRAMS = []


def program(function):
    PROGRAMS.append(function)
    return function


@program
def two_results(x):
    product, difference = np.vectorize(lambda t, u: (t * u, t - u))(x, x[:, None] ** 2)
    return (product * difference).sum()


@program
def parts_of_arrays(x):
    matrices = np.stack([np.outer(x, x), np.outer(x, x) ** 2])
    return (np.vectorize(lambda m, v: m @ v, signature="(m,n),(n)->(m)")(matrices, x) ** 2).sum()


@program
def numbers_of_parts(x):
    return (np.vectorize(lambda v: v.sum() ** 2, signature="(n)->()")(np.outer(x, x)) * x).sum()


sum_and_scaled = np.vectorize(lambda v, c: (v.sum(), v * c), signature="(n), () -> (), (n)")


@program
def two_results_of_parts(x):
    sums, scaled = sum_and_scaled(np.outer(x, x), x)
    return sums @ x + (scaled**2).sum()


@program
def an_argument_left_alone(x):
    return np.vectorize(lambda t, p: t * p[0] + p[1] ** 2, excluded={1})(x, x).sum()


@program
def arguments_by_name(x):
    f = np.vectorize(lambda t, p, q=1.0: t * p[0] + q**2, excluded=["p"])
    return f(x, p=x, q=x[::-1]).sum()


@np.vectorize
def either(t, u):
    return math.sin(t) * u if t > u else u**2


@program
def decorated(x):
    return either(x, x[:, None]).sum()


@program
def decorated_inside(x):
    @np.vectorize(otypes=[float])
    def rectified(t):
        return t * t if t > 1 else 0

    return rectified(x).sum() + float(rectified(x[1]))


@program
def entries_are_numbers_of_python(x):
    return np.vectorize(lambda t: t**2 if type(t) is float else t)(x).sum()


@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f):
    wg.testing.check_gradient(f, X)
    slope = wg.pushforward(f, X)[1](np.array([1.0, -2.0, 0.5]))
    assert slope == pytest.approx(wg.grad(f)(X) @ [1.0, -2.0, 0.5], rel=1e-12)


def rectified(x, *options):
    return np.vectorize(lambda t: 0 if t < 1 else t**2, *options)(x).sum()


def test_the_first_result_says_of_which_dtype_all_are():
    """The rest is cut to integers, as NumPy does, so that nothing changes with it."""
    value, gradient = wg.value_and_grad(rectified)(X)
    assert value == rectified(X) == 1 + 5
    np.testing.assert_array_equal(gradient, 0.0)
    np.testing.assert_array_equal(wg.grad(lambda x: rectified(x, "d"))(X), [0.0, 2.4, 4.6])
    np.testing.assert_array_equal(wg.grad(rectified)(X[1:]), 2 * X[1:])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.vectorize(lambda t: t**2)(x[:0]).sum(),
        lambda x: np.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(x, x[:2]).sum(),
        lambda x: np.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(x).sum(),
        lambda x: np.apply_along_axis(np.sum, 0, np.outer(x, x)[:, :0]).sum(),
    ],
)
def test_wrong_arguments(f):
    with pytest.raises((ValueError, TypeError)) as raised:
        f(X)
    with pytest.raises(raised.type) as found:
        wg.grad(f)(X)
    assert str(found.value) == str(raised.value)
    assert "lambda x: np." in last_line(found.value)


def test_integers_are_differentiated_like_the_numbers_that_they_are():
    squares = np.vectorize(lambda t: t * t)
    counts = np.array([1, 2, 3])
    np.testing.assert_array_equal(wg.grad(lambda a: squares(a).sum())(counts), [2.0, 4.0, 6.0])


def test_nothing_of_a_dtype_that_is_asked_for():
    def f(x):
        sums, _ = np.vectorize(lambda t: (t + 1, t * t), otypes="dd")(x[:0])
        return np.vectorize(lambda t: t**2, otypes=[float])(x[:0]).sum() + sums.sum() + x[0]

    wg.testing.check_gradient(f, X)


CALLS = []


def counted(t):
    CALLS.append(type(t).__name__)
    return t * t


@pytest.mark.parametrize("options", [{}, {"otypes": [float]}, {"cache": True}], ids=str)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_first_entry_is_asked_for_the_dtype_as_in_NumPy(options, dtype):
    f = lambda a: np.sum(np.vectorize(counted, **options)(a)) + len(CALLS) * a[0]
    a = np.array([1.1, 2.2], dtype)
    CALLS.clear()
    expected, calls = f(a), len(CALLS)
    CALLS.clear()
    value, found = wg.value_and_grad(f)(a)
    assert len(CALLS) == calls
    np.testing.assert_allclose(value, expected, rtol=1e-7)
    np.testing.assert_allclose(found, [2.2 + calls, 4.4], rtol=1e-6)
