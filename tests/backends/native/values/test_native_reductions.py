"""Reductions and functions of numbers under `jit`, where NumPy's, Python's and `math`'s own rules part."""

import math

import numpy as np
import pytest
from native_outcomes import outcome

import wengert as wg

pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def same_as_python(f, *args):
    assert outcome(wg.jit(f), *args) == outcome(f, *args)


NAN = math.nan
VECTORS = [[1.0, NAN], [NAN, 1.0], [1.0, NAN, 3.0], [-0.0, 0.0], [0.0, -0.0], []]


@pytest.mark.parametrize("x", VECTORS)
def test_python_s_own_extremes_of_a_vector(x):
    same_as_python(lambda x: max(x), np.array(x))
    same_as_python(lambda x: min(x), np.array(x))


def test_python_s_own_extremes_of_other_arrays():
    same_as_python(lambda x: max(x), np.array([1, 5, 2]))
    same_as_python(lambda x: max(x), np.array([1, 5, 2], np.float32))
    same_as_python(lambda x: max(x), np.ones((2, 2)))
    same_as_python(lambda x: max(x, default=3.0), np.array([]))


@pytest.mark.parametrize("n", [3, -2, True, 2**62, np.float32(1.1)])
def test_functions_of_math_give_floats(n):
    same_as_python(lambda n: math.pow(n, 2), n)
    same_as_python(lambda n: math.fabs(n), n)


def test_the_norm_of_integers():
    same_as_python(lambda a: np.linalg.norm(a), np.array([2**33, 1]))
    same_as_python(lambda a: np.linalg.norm(a), np.array([True, True]))


@pytest.mark.parametrize("ddof", [0, 4, 5, 7])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_variances_of_too_few_numbers(n, ddof):
    x = np.zeros(n) + 2.0
    same_as_python(lambda x: np.var(x, ddof=ddof), x)
    same_as_python(lambda x: x.std(ddof=ddof), x)
    same_as_python(lambda x: x.var(axis=0, ddof=ddof), np.ones((n, 3)))


def test_truth_values_are_counted():
    same_as_python(lambda x: np.trace(x > 0), np.ones((3, 3)))
    for x in (2.0, np.array(2.0), np.float64(2.0)):
        same_as_python(lambda x: np.sum(x > 1), x)
        same_as_python(lambda x: np.prod(x > 1), x)
        same_as_python(lambda x: np.max(x > 1), x)


def test_options_of_reductions_of_numbers():
    for x in (2.0, np.array(2.0)):
        same_as_python(lambda x: np.sum(x, keepdims=True), x)
        same_as_python(lambda x: np.sum(x, axis=0), x)


@pytest.mark.parametrize("spread", [0.01, 1.0])
def test_running_products_of_many_numbers_with_and_without_zeros(spread):
    x = np.exp(spread * np.random.default_rng(0).normal(size=(20_000, 2)))
    x[700, 1] = 0.0

    def f(x):
        return np.sum(np.log1p(np.cumprod(x, axis=0)))

    before, y = np.ones_like(x), np.cumprod(x, axis=0)
    before[1:] = y[:-1]
    x_bar, later = np.empty_like(x), np.zeros(2)
    for k in reversed(range(len(x))):
        later = later * (x[k + 1] if k + 1 < len(x) else 0.0) + 1 / (1 + y[k])
        x_bar[k] = before[k] * later
    for gradient in (wg.grad(f), wg.jit(wg.grad(f))):
        np.testing.assert_allclose(gradient(x), x_bar, rtol=1e-9)


def test_second_derivatives_of_running_products():
    x = np.array([[1.5, 0.0, -2.0], [0.5, 3.0, 0.0]])

    def f(x):
        return np.sum(np.cumprod(x) ** 2) + np.sum(np.cumprod(x, axis=1) ** 3)

    native = wg.jit(wg.hessian(f))(x)
    np.testing.assert_allclose(native, wg.jacobian(wg.grad(f), mode="forward")(x))
    np.testing.assert_allclose(native, wg.jacobian(wg.grad(f), mode="reverse")(x))
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = 1e-6
        differences = (wg.grad(f)(x + step) - wg.grad(f)(x - step)) / 2e-6
        np.testing.assert_allclose(native[at], differences, atol=1e-5)
