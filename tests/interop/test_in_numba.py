"""Derivatives and native functions called in code of Numba's."""

import importlib
import math

import numpy as np
import pytest

import wengert as wg

numba = pytest.importorskip("numba")
pytest.importorskip("llvmlite")


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("WENGERT_CACHE", str(tmp_path_factory.getbasetemp() / "native"))


def wave(x):
    return math.sin(x * x)


slope_of_wave = wg.value_and_grad(wave)


def test_a_derivative_of_numbers():
    @numba.njit
    def total(n):
        result = 0.0
        for k in range(n):
            value, slope = slope_of_wave(0.1 * k)
            result += value * slope
        return result

    expected = sum(math.prod(slope_of_wave(0.1 * k)) for k in range(20))
    assert math.isclose(total(20), expected, rel_tol=1e-13)


def loss(w, x):
    return (np.tanh(x @ w) ** 2).sum()


slope_of_loss = wg.value_and_grad(loss)


@numba.njit
def descended(w, x, steps):
    value = 0.0
    for _ in range(steps):
        value, slope = slope_of_loss(w, x)
        w = w - 0.1 * slope
    return value, w


def in_python(w, x, steps):
    value = 0.0
    for _ in range(steps):
        value, slope = slope_of_loss(w, x)
        w = w - 0.1 * slope
    return value, w


def numbers(*shape):
    return np.random.default_rng(len(shape)).random(shape)


@pytest.mark.parametrize(
    "x",
    [
        numbers(7, 4), numbers(4, 4), numbers(1, 4), numbers(7, 4)[::-1], numbers(7, 8)[:, ::2],
        np.asfortranarray(numbers(5, 4)), numbers(0, 4),
    ],
    ids=["tall", "square", "one row", "reversed", "strided", "by columns", "empty"],
)  # fmt: skip
def test_arrays_of_any_size_and_order(x):
    w = numbers(4)
    value, found = descended(w, x, 5)
    wanted_value, wanted = in_python(w, x, 5)
    assert math.isclose(value, wanted_value, rel_tol=1e-12)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_two_gradients_and_single_precision():
    both = wg.grad(lambda a, b: (a * np.exp(b)).sum(), argnums=(0, 1))

    @numba.njit
    def run(a, b):
        return both(a, b)

    for dtype, rel in ((np.float64, 1e-13), (np.float32, 1e-5)):
        a, b = numbers(3, 2).astype(dtype), numbers(2).astype(dtype)
        for found, expected in zip(run(a, b), both(a, b), strict=True):
            assert found.dtype == expected.dtype
            np.testing.assert_allclose(found, expected, rtol=rel)


def reciprocal(x):
    return 1.0 / x


@numba.njit
def cube(x):
    return x**3


def test_derivatives_that_are_taken_inside():
    @numba.njit
    def run(x):
        return wg.value_and_grad(cube)(x), wg.grad(cube)(x)

    importlib.import_module("wengert.interop.numba_extension").register()
    assert run(2.0) == ((8.0, 12.0), 12.0)


def test_a_native_function_and_its_gradient():
    native = wg.jit(wave)
    slope = wg.grad(native)

    @numba.njit
    def run(x):
        return native(x) + slope(x=x)

    assert math.isclose(run(0.7), wave(0.7) + wg.grad(wave)(0.7), rel_tol=1e-13)


def test_exceptions_are_those_of_the_python_form():
    slope = wg.value_and_grad(reciprocal)

    @numba.njit
    def run(x):
        return slope(x)

    assert run(2.0) == (0.5, -0.25)
    with pytest.raises(ZeroDivisionError) as expected:
        slope(0.0)
    with pytest.raises(ZeroDivisionError) as found:
        run(0.0)
    assert str(found.value) == str(expected.value)
    assert run(4.0) == (0.25, -0.0625)


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError, match=r"size|shape|mismatch"):
        descended(numbers(3), numbers(7, 4), 1)


def test_captured_values_and_integers():
    scale, table = 2.5, numbers(6)

    def picked(x, k):
        return scale * x * table[k]

    slope = wg.value_and_grad(picked)

    @numba.njit
    def run(x, k):
        return slope(x, k)

    assert run(1.5, 3) == pytest.approx(slope(1.5, 3), rel=1e-14)
    with pytest.raises(IndexError):
        run(1.5, 6)


def test_what_has_no_native_form_is_refused_when_it_is_compiled():
    slope = wg.grad(lambda x: np.abs(np.fft.fft(np.array([x, 1.0, 2.0]))).sum())

    @numba.njit
    def run(x):
        return slope(x)

    with pytest.raises(numba.errors.TypingError, match="no native form"):
        run(1.5)


def test_in_parallel_loops():
    @numba.njit(parallel=True)
    def run(n):
        result = np.zeros(n)
        for k in numba.prange(n):
            result[k] = slope_of_wave(0.01 * k)[1]
        return result

    expected = [slope_of_wave(0.01 * k)[1] for k in range(200)]
    np.testing.assert_allclose(run(200), expected, rtol=1e-13)
