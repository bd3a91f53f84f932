"""Results of an integer dtype: NumPy keeps the integer part, so they have the program's value and no derivative."""

import numpy as np
import pytest
import standing_alone

import wengert as wg

I = np.array([3, 1, 2])


def some(x):
    return np.array([x, 2 * x, x * x])


CUT = [
    lambda x: np.full_like(I, x).sum() * 1.0,
    lambda x: np.full(3, x, dtype=int).sum() * 1.0,
    lambda x: np.full(3, x, dtype=I.dtype).sum() * 1.0,
    lambda x: np.insert(I, 1, x).sum() * 1.0,
    lambda x: np.pad(I, 1, constant_values=x).sum() * 1.0,
    lambda x: np.piecewise(I, [I > 1, I <= 1], [lambda t: t * x, x]).sum() * 1.0,
    lambda x: np.array([1, x, 2], dtype=int).sum() * 1.0,
    lambda x: np.asarray(some(x), dtype="int32").sum() * 1.0,
    lambda x: some(x).astype(int).sum() * 1.0,
    lambda x: np.sum(some(x), dtype=int) * 1.0,
    lambda x: some(x).sum(dtype=np.int32) * 1.0,
    lambda x: np.cumsum(some(x), dtype=int).sum() * 1.0,
    lambda x: np.prod(some(x), dtype=int) * 1.0,
    lambda x: np.cumprod(some(x), dtype=np.dtype("int64")).sum() * 1.0,
    lambda x: np.mean(some(x), dtype=int) * 1.0,
    lambda x: np.sum(I, initial=x) * 1.0,
    lambda x: np.prod([1, 2], initial=x) * 1.0,
    lambda x: I.sum(where=[True, False, True], initial=x) * 1.0,
    lambda x: np.min(I, initial=x / 2) * 1.0,
    lambda x: np.max(I, initial=3 * x, where=[True, False, True]) * 1.0,
    lambda x: np.maximum.reduce(I, initial=3 * x) * 1.0,
    lambda x: np.nansum(I, initial=x) * 1.0,
    lambda x: np.fromiter([x, x], int).sum() * 1.0,
    lambda x: np.int64(x) * 1.0,
    lambda x: np.float64(np.uint8(x)),
    lambda x: np.bool_(x) * 1.0,
    lambda x: np.int32(some(x)).sum() * 1.0,
]


def of_the_first_lane(x):
    """The first result is an integer, and so is what NumPy collects the others in."""
    rows = np.outer(some(x), [1.0, 1.0])
    return np.apply_along_axis(lambda r: 1 if r[0] < 2 else r.sum() * x, 1, rows).sum() * 1.0


@pytest.mark.parametrize("f", [*CUT, of_the_first_lane])
def test_there_is_no_derivative(f):
    value, gradient = wg.value_and_grad(f)(1.37)
    assert value == f(1.37)
    assert gradient == 0.0
    value, push = wg.pushforward(f, 1.37)
    assert value == f(1.37)
    assert push(1.0) == 0.0


@pytest.mark.parametrize("f", CUT)
def test_nor_in_general_source(f):
    found = standing_alone.unless_refused(lambda: standing_alone.alone(wg.grad(f))(1.37))
    assert found in (0.0, None)


OF_ARGUMENTS = [
    lambda x, a: np.full_like(a, x).sum() * 1.0,
    lambda x, a: np.full(2, x, dtype=a.dtype).sum() * 1.0,
    lambda x, a: some(x).astype(a.dtype).sum() * 1.0,
    lambda x, a: np.sum(some(x), dtype=a.dtype) * 1.0,
    lambda x, a: np.sum(a, initial=x) * 1.0,
    lambda x, a: np.max(a, initial=3 * x) * 1.0,
    lambda x, a: np.pad(a, 1, constant_values=x).sum() * 1.0,
    lambda x, a: np.piecewise(a, [a > 1, a <= 1], [lambda t: t * x, x]).sum() * 1.0,
]


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("f", OF_ARGUMENTS)
def test_the_dtype_of_an_argument(f, general):
    gradient = standing_alone.alone(wg.grad(f)) if general else wg.grad(f)
    for a in (I, I * 1.0):
        slope = (f(1.37 + 1e-6, a) - f(1.37 - 1e-6, a)) / 2e-6
        assert gradient(1.37, a) == pytest.approx(slope, rel=1e-8)


def test_objects_of_a_function_of_numbers_stay_what_they_are():
    def f(x):
        return np.frompyfunc(lambda t: 1 if t < 2 else t * t, 1, 1)(some(x)).sum() * 1.0

    wg.testing.check_gradient(f, 1.37)


def asked_or_not(x, dtype=None):
    return np.abs(np.sum(x * x, dtype=dtype) + np.full(2, x[0], dtype=dtype).sum())


@pytest.mark.parametrize("general", [False, True])
@pytest.mark.parametrize("x", [some(0.7), some(0.7) + 1j * I, some(np.float32(0.7))])
def test_a_dtype_that_is_not_asked_for_is_that_of_what_is_computed(x, general):
    gradient = standing_alone.alone(wg.grad(asked_or_not)) if general else wg.grad(asked_or_not)
    found = gradient(x, None)
    assert found.dtype == x.dtype
    np.testing.assert_allclose(found, wg.grad(lambda x: asked_or_not(x))(x), rtol=1e-6)
    wg.testing.check_gradient(lambda x: asked_or_not(x), some(0.7))
